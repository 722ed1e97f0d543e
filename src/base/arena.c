#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 16,
    BLOCK_SIZE_MIN = 4096,
    BLOCK_SIZE_MAX = 1 << 20, /* blocks double up to here; a larger request gets its own */
};

struct block {
    struct block *older;
    size_t used;
    size_t size;
    alignas(ALIGNMENT) unsigned char bytes[];
};

struct wr_arena {
    struct block *newest;
    size_t held; /* the sizes of all blocks */
    size_t size_max;
};

struct wr_arena *wr_arena_new(size_t size_max)
{
    struct wr_arena *arena = calloc(1, sizeof(*arena));

    if (arena == NULL) {
        abort();
    }
    arena->size_max = size_max;
    return arena;
}

static void free_newest(struct wr_arena *arena)
{
    struct block *block = arena->newest;

    arena->newest = block->older;
    arena->held -= block->size;
    free(block);
}

void wr_arena_reset(struct wr_arena *arena)
{
    if (arena->newest == NULL) {
        return;
    }
    while (arena->newest->older != NULL) {
        free_newest(arena);
    }
    arena->newest->used = 0;
}

void wr_arena_free(struct wr_arena *arena)
{
    if (arena == NULL) {
        return;
    }
    while (arena->newest != NULL) {
        free_newest(arena);
    }
    free(arena);
}

static bool add_block(struct wr_arena *arena, size_t wanted)
{
    size_t left = arena->size_max - arena->held;
    size_t size = arena->newest == NULL ? BLOCK_SIZE_MIN : arena->newest->size * 2;

    if (wanted > left) {
        return false;
    }
    if (size > BLOCK_SIZE_MAX) {
        size = BLOCK_SIZE_MAX;
    }
    if (size < wanted) {
        size = wanted;
    }
    if (size > left) {
        size = left;
    }
    struct block *block = malloc(sizeof(*block) + size);
    if (block == NULL) {
        abort();
    }
    block->older = arena->newest;
    block->used = 0;
    block->size = size;
    arena->newest = block;
    arena->held += size;
    return true;
}

void *wr_arena_alloc_raw(struct wr_arena *arena, size_t count, size_t size)
{
    assert(size > 0);

    if (count > (SIZE_MAX - ALIGNMENT) / size) {
        return NULL;
    }
    size_t wanted = (count * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct block *block = arena->newest;
    if (block == NULL || wanted > block->size - block->used) {
        if (!add_block(arena, wanted)) {
            return NULL;
        }
        block = arena->newest;
    }
    void *memory = block->bytes + block->used;
    block->used += wanted;
    return memory;
}

void *wr_arena_alloc(struct wr_arena *arena, size_t count, size_t size)
{
    void *memory = wr_arena_alloc_raw(arena, count, size);

    return memory == NULL ? NULL : memset(memory, 0, count * size);
}

const char *wr_arena_strndup(struct wr_arena *arena, const char *text, size_t size)
{
    char *copy = size == SIZE_MAX ? NULL : wr_arena_alloc_raw(arena, size + 1, 1);

    if (copy == NULL) {
        return NULL;
    }
    if (size > 0) {
        memcpy(copy, text, size);
    }
    copy[size] = '\0';
    return copy;
}

const char *wr_arena_strdup(struct wr_arena *arena, const char *text)
{
    return wr_arena_strndup(arena, text, strlen(text));
}

const char *wr_arena_printf(struct wr_arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(size >= 0);
    char *text = wr_arena_alloc_raw(arena, (size_t)size + 1, 1);
    if (text != NULL) {
        va_start(args, format);
        (void)vsnprintf(text, (size_t)size + 1, format, args);
        va_end(args);
    }
    return text;
}
