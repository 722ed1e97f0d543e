/* base/buffer.h - bytes being written. */
#ifndef WR_BASE_BUFFER_H
#define WR_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/slice.h"

/*
 * Grows up to `size_max`. A write past it latches `failed` and writes nothing; the writer goes
 * straight on and checks once, at the end. Aborts when the system has no memory.
 */
struct wr_buffer {
    char *data;
    size_t size;
    size_t capacity;
    size_t size_max;
    bool failed;
};

void wr_buffer_init(struct wr_buffer *b, size_t size_max);
void wr_buffer_done(struct wr_buffer *b);
/* Empties it and clears `failed`; gives memory back when one huge row had made it large. */
void wr_buffer_reset(struct wr_buffer *b);

/* Makes room for `size` more bytes, out of line. False, and `failed`, past size_max. */
bool wr_buffer_grow(struct wr_buffer *b, size_t size);

/* A place for at most `size` bytes, or NULL. Advance with wr_buffer_advance(). */
static inline char *wr_buffer_reserve(struct wr_buffer *b, size_t size)
{
    if (size > b->capacity - b->size && !wr_buffer_grow(b, size)) {
        return NULL;
    }
    return b->data + b->size;
}

static inline void wr_buffer_advance(struct wr_buffer *b, size_t size)
{
    b->size += size;
}

static inline void wr_buffer_add(struct wr_buffer *b, const void *bytes, size_t size)
{
    char *place = size == 0 ? NULL : wr_buffer_reserve(b, size);

    if (place != NULL) {
        memcpy(place, bytes, size);
        b->size += size;
    }
}

static inline void wr_buffer_add_char(struct wr_buffer *b, char c)
{
    char *place = wr_buffer_reserve(b, 1);

    if (place != NULL) {
        *place = c;
        b->size++;
    }
}

static inline void wr_buffer_add_slice(struct wr_buffer *b, struct wr_slice s)
{
    wr_buffer_add(b, s.data, s.size);
}

static inline void wr_buffer_add_str(struct wr_buffer *b, const char *text)
{
    wr_buffer_add(b, text, strlen(text));
}

#define WR_BUFFER_LITERAL(b, literal) wr_buffer_add((b), (literal), sizeof(literal) - 1)

static inline struct wr_slice wr_buffer_slice(const struct wr_buffer *b)
{
    return (struct wr_slice){b->data, b->size};
}

#endif /* WR_BASE_BUFFER_H */
