#include "base/buffer.h"

#include <assert.h>
#include <stdlib.h>

enum {
    CAPACITY_MIN = 1024,
    CAPACITY_KEPT = 1 << 20, /* what a reset lets stand */
};

void wr_buffer_init(struct wr_buffer *b, size_t size_max)
{
    *b = (struct wr_buffer){.size_max = size_max};
}

void wr_buffer_done(struct wr_buffer *b)
{
    free(b->data);
    *b = (struct wr_buffer){0};
}

void wr_buffer_reset(struct wr_buffer *b)
{
    if (b->capacity > CAPACITY_KEPT) {
        free(b->data);
        b->data = NULL;
        b->capacity = 0;
    }
    b->size = 0;
    b->failed = false;
}

bool wr_buffer_grow(struct wr_buffer *b, size_t size)
{
    assert(b->size <= b->size_max);

    if (b->failed || size > b->size_max - b->size) {
        b->failed = true;
        return false;
    }
    size_t wanted = b->size + size;
    size_t capacity = b->capacity < CAPACITY_MIN ? CAPACITY_MIN : b->capacity;
    while (capacity < wanted) {
        capacity *= 2;
    }
    if (capacity > b->size_max) {
        capacity = b->size_max;
    }
    char *data = realloc(b->data, capacity);
    if (data == NULL) {
        abort();
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}
