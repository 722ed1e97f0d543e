#include "publisher/record_batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    CAPACITY_MIN = 1 << 16,
    CAPACITY_KEPT = 16 << 20, /* what a batch of huge rows has grown to goes back */
    ALIGNMENT = 8,
};

struct record_batch {
    char *data;
    size_t size, capacity;
    size_t count;
};

/* Before the name, with its NUL, and the value of a header. */
struct header {
    uint32_t name_size, value_size;
    uint32_t is_null;
};

static void *must(void *memory)
{
    if (memory == NULL) {
        abort();
    }
    return memory;
}

struct record_batch *record_batch_new(void)
{
    return must(calloc(1, sizeof(struct record_batch)));
}

void record_batch_free(struct record_batch *b)
{
    if (b != NULL) {
        free(b->data);
        free(b);
    }
}

void record_batch_reset(struct record_batch *b)
{
    b->size = 0;
    b->count = 0;
    if (b->capacity > CAPACITY_KEPT) {
        free(b->data);
        b->data = NULL;
        b->capacity = 0;
    }
}

size_t record_batch_count(const struct record_batch *b)
{
    return b->count;
}

size_t record_batch_size(const struct record_batch *b)
{
    return b->size;
}

static char *reserve(struct record_batch *b, size_t size)
{
    if (size > b->capacity - b->size) {
        size_t capacity = b->capacity == 0 ? CAPACITY_MIN : b->capacity;
        while (capacity - b->size < size) {
            capacity *= 2;
        }
        b->data = must(realloc(b->data, capacity));
        b->capacity = capacity;
    }
    return b->data + b->size;
}

static char *put(char *at, const void *bytes, size_t size)
{
    if (size > 0) {
        memcpy(at, bytes, size);
    }
    return at + size;
}

static char *put_header(char *at, const struct publisher_header *h)
{
    struct header header = {
        .name_size = (uint32_t)strlen(h->name) + 1,
        .value_size = h->is_null ? 0 : (uint32_t)h->value.size,
        .is_null = h->is_null,
    };

    at = put(at, &header, sizeof(header));
    at = put(at, h->name, header.name_size);
    return put(at, h->value.data, header.value_size);
}

static size_t headers_size(const struct publisher_record *r)
{
    size_t size = 0;

    for (size_t i = 0; i < r->header_count; i++) {
        const struct publisher_header *h = &r->headers[i];
        size += sizeof(struct header) + strlen(h->name) + 1 + (h->is_null ? 0 : h->value.size);
    }
    return size;
}

void record_batch_add(struct record_batch *b, const struct publisher_record *r)
{
    struct batch_record record = {
        .ticket = r->ticket,
        .timestamp_ms = r->timestamp_ms,
        .key_size = r->key_is_null ? 0 : (uint32_t)r->key.size,
        .value_size = r->value_is_null ? 0 : (uint32_t)r->value.size,
        .partition = r->partition,
        .topic_size = (uint16_t)r->topic.size,
        .header_count = (uint16_t)r->header_count,
        .key_is_null = r->key_is_null,
        .value_is_null = r->value_is_null,
    };
    size_t size = sizeof(record) + r->topic.size + record.key_size + record.value_size +
                  headers_size(r) + ALIGNMENT - 1;

    size &= ~(size_t)(ALIGNMENT - 1);
    assert(size <= UINT32_MAX && r->header_count <= UINT16_MAX && r->topic.size <= UINT16_MAX);
    record.size = (uint32_t)size;
    char *at = put(reserve(b, size), &record, sizeof(record));
    at = put(at, r->topic.data, r->topic.size);
    at = put(at, r->key.data, record.key_size);
    at = put(at, r->value.data, record.value_size);
    for (size_t i = 0; i < r->header_count; i++) {
        at = put_header(at, &r->headers[i]);
    }
    b->size += size;
    b->count++;
}

struct batch_record *record_batch_next(const struct record_batch *b,
                                       const struct batch_record *last)
{
    const char *next = last == NULL ? b->data : (const char *)last + last->size;

    return b->count == 0 || next == b->data + b->size
               ? NULL
               : (struct batch_record *)(void *)(b->data + (next - b->data));
}

const struct batch_record *record_batch_at(const struct record_batch *b, size_t size)
{
    assert(size < b->size);
    return (const struct batch_record *)(const void *)(b->data + size);
}

void batch_record_read(const struct batch_record *record, struct publisher_record *out,
                       struct publisher_header *headers)
{
    const char *at = (const char *)record + sizeof(*record);
    const char *key = at + record->topic_size;
    const char *value = key + record->key_size;

    *out = (struct publisher_record){
        .topic = {at, record->topic_size},
        .partition = record->partition,
        .timestamp_ms = record->timestamp_ms,
        .key = {key, record->key_size},
        .value = {value, record->value_size},
        .key_is_null = record->key_is_null,
        .value_is_null = record->value_is_null,
        .headers = headers,
        .header_count = headers == NULL ? 0 : record->header_count,
        .ticket = record->ticket,
    };
    at = value + record->value_size;
    for (size_t i = 0; i < out->header_count; i++) {
        struct header header;
        memcpy(&header, at, sizeof(header));
        at += sizeof(header);
        headers[i] = (struct publisher_header){
            .name = at,
            .value = {at + header.name_size, header.value_size},
            .is_null = header.is_null != 0,
        };
        at += header.name_size + header.value_size;
    }
}

void record_batch_split(struct record_batch *b, size_t count, size_t size, struct record_batch *to)
{
    size_t moved = b->size - size;

    assert(count <= b->count && size <= b->size && (count < b->count || moved == 0));
    (void)put(reserve(to, moved), b->data + size, moved);
    to->size += moved;
    to->count += b->count - count;
    b->size = size;
    b->count = count;
}
