/* base/slice.h - borrowed bytes. */
#ifndef WR_BASE_SLICE_H
#define WR_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* `size` bytes that somebody else owns; no NUL is promised. `data` may be NULL when size is 0. */
struct wr_slice {
    const char *data;
    size_t size;
};

#define WR_SLICE(literal) ((struct wr_slice){(literal), sizeof(literal) - 1})

static inline struct wr_slice wr_slice_str(const char *text)
{
    return (struct wr_slice){text, strlen(text)};
}

static inline bool wr_slice_eq(struct wr_slice a, struct wr_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool wr_slice_is(struct wr_slice a, const char *text)
{
    return wr_slice_eq(a, wr_slice_str(text));
}

#endif /* WR_BASE_SLICE_H */
