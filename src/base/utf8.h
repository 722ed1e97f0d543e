/* base/utf8.h - one UTF-8 sequence at a time. */
#ifndef WR_BASE_UTF8_H
#define WR_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* What stands at the start of some bytes. */
struct wr_utf8 {
    size_t size;   /* bytes read: 1 to 4 */
    bool is_valid; /* when not, `size` bytes are to be replaced by one U+FFFD */
};

/*
 * Reads one character from `size` bytes, at least 1. Overlong forms, surrogates and what lies
 * beyond U+10FFFF are malformed; a malformed piece is as long as its well-formed beginning, as
 * Unicode recommends and Java's decoder does.
 */
struct wr_utf8 wr_utf8_read(const char *bytes, size_t size);

#endif /* WR_BASE_UTF8_H */
