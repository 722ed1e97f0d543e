/* base/arena.h - memory that dies all at once. */
#ifndef WR_BASE_ARENA_H
#define WR_BASE_ARENA_H

#include <stddef.h>

#include "base/slice.h"

struct wr_arena;

/*
 * An arena grows by chained blocks and never holds more than `size_max` bytes. Reset keeps the
 * first block, so that a message arena settles into no allocation at all. Aborts when the system
 * has no memory.
 */
struct wr_arena *wr_arena_new(size_t size_max);
void wr_arena_reset(struct wr_arena *arena);
void wr_arena_free(struct wr_arena *arena); /* NULL is allowed */

/* 16-byte aligned; NULL when the arena's bound would be passed. wr_arena_alloc zeroes. */
void *wr_arena_alloc(struct wr_arena *arena, size_t count, size_t size);
void *wr_arena_alloc_raw(struct wr_arena *arena, size_t count, size_t size);

/* Copies that end with a NUL. NULL when the arena's bound would be passed. */
const char *wr_arena_strdup(struct wr_arena *arena, const char *text);
const char *wr_arena_strndup(struct wr_arena *arena, const char *text, size_t size);
const char *wr_arena_printf(struct wr_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* WR_BASE_ARENA_H */
