#include "support/records.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "support/varying.h"

enum { RECORD_BYTES_MAX = 1 << 30 };

void records_done(struct kafka_records *list)
{
    wr_arena_free(list->arena);
    free(list->items);
    *list = (struct kafka_records){0};
}

/* How many bytes of `text` are one UTF-8 character; 0 when none starts there. */
static size_t character_size(struct wr_slice text)
{
    const unsigned char *p = (const unsigned char *)text.data;
    size_t size = p[0] < 0x80                   ? 1
                  : p[0] >= 0xf0 && p[0] < 0xf8 ? 4
                  : p[0] >= 0xe0                ? 3
                  : p[0] >= 0xc2                ? 2
                                                : 0;

    if (size == 0 || p[0] >= 0xf8 || size > text.size) {
        return 0;
    }
    for (size_t i = 1; i < size; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return size;
}

static void add_as_utf8(struct wr_buffer *out, struct wr_slice text)
{
    while (text.size > 0) {
        size_t size = character_size(text);

        if (size == 0) {
            WR_BUFFER_LITERAL(out, "\xef\xbf\xbd");
            size = 1;
        } else {
            wr_buffer_add(out, text.data, size);
        }
        text.data += size;
        text.size -= size;
    }
}

static struct wr_slice keep(struct kafka_records *list, struct wr_slice bytes)
{
    const char *data = bytes.size == 0 ? "" : bytes.data;

    return (struct wr_slice){wr_arena_strndup(list->arena, data, bytes.size), bytes.size};
}

static struct wr_slice keep_as_utf8(struct kafka_records *list, struct wr_slice bytes)
{
    struct wr_buffer text;

    wr_buffer_init(&text, RECORD_BYTES_MAX);
    add_as_utf8(&text, bytes);
    struct wr_slice kept = keep(list, wr_buffer_slice(&text));
    wr_buffer_done(&text);
    return kept;
}

static struct wr_slice keep_value(struct kafka_records *list, struct wr_slice topic,
                                  struct wr_slice bytes)
{
    struct wr_buffer text;

    wr_buffer_init(&text, RECORD_BYTES_MAX);
    varying_blot(topic, bytes, &text);
    struct wr_slice kept = keep_as_utf8(list, wr_buffer_slice(&text));
    wr_buffer_done(&text);
    return kept;
}

static bool starts_with(struct wr_slice text, const char *prefix)
{
    size_t size = strlen(prefix);

    return text.size >= size && memcmp(text.data, prefix, size) == 0;
}

static bool ends_with(struct wr_slice text, const char *suffix)
{
    size_t size = strlen(suffix);

    return text.size >= size && memcmp(text.data + text.size - size, suffix, size) == 0;
}

/* Where the record stood in its run. */
static bool is_position(struct wr_slice header)
{
    return wr_slice_is(header, "walrelay.lsn") || wr_slice_is(header, "walrelay.seq") ||
           wr_slice_is(header, "walrelay.commit");
}

static void keep_headers(struct kafka_records *list, const struct kafka_record *from,
                         struct kafka_record *to)
{
    to->header_count = 0;
    for (size_t i = 0; i < from->header_count; i++) {
        const struct kafka_header *header = &from->headers[i];

        if (starts_with(header->name, "__debezium.context.") || is_position(header->name)) {
            continue;
        }
        to->headers[to->header_count++] = (struct kafka_header){
            .name = keep(list, header->name),
            .value = header->is_null ? WR_SLICE("") : keep_as_utf8(list, header->value),
            .is_null = header->is_null,
        };
    }
}

void records_add(struct kafka_records *list, const struct kafka_record *record)
{
    if (list->arena == NULL) {
        list->arena = wr_arena_new(RECORD_BYTES_MAX);
    }
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        list->items = reallocarray(list->items, list->capacity, sizeof(*list->items));
        if (list->items == NULL) {
            abort();
        }
    }
    struct kafka_record *kept = &list->items[list->count++];
    *kept = (struct kafka_record){
        .topic = keep(list, record->topic),
        .partition = record->partition,
        .key_is_null = record->key_is_null,
        .value_is_null = record->value_is_null,
    };
    if (!record->key_is_null) {
        kept->key = ends_with(record->topic, ".transaction")
                        ? keep_value(list, record->topic, record->key)
                        : keep_as_utf8(list, record->key);
    }
    if (!record->value_is_null) {
        kept->value = keep_value(list, record->topic, record->value);
    }
    keep_headers(list, record, kept);
}

static struct wr_slice text_of(const json_t *value)
{
    return (struct wr_slice){json_string_value(value), json_string_length(value)};
}

static bool headers_from_json(json_t *headers, struct kafka_record *out)
{
    const char *name;
    json_t *value;

    json_object_foreach(headers, name, value)
    {
        if (out->header_count == KAFKA_HEADER_COUNT_MAX) {
            return false;
        }
        out->headers[out->header_count++] = (struct kafka_header){
            .name = wr_slice_str(name),
            .value = text_of(value),
            .is_null = json_is_null(value),
        };
    }
    return true;
}

static bool add_line(struct kafka_records *list, const char *line, size_t size)
{
    json_t *json = json_loadb(line, size, JSON_ALLOW_NUL, NULL);
    const json_t *key = json_object_get(json, "key");
    const json_t *value = json_object_get(json, "value");
    struct kafka_record record = {
        .topic = text_of(json_object_get(json, "topic")),
        .partition = (int32_t)json_integer_value(json_object_get(json, "partition")),
        .key = text_of(key),
        .key_is_null = json_is_null(key),
        .value = text_of(value),
        .value_is_null = json_is_null(value),
    };
    bool is_record = record.topic.data != NULL && (json_is_string(key) || json_is_null(key)) &&
                     (json_is_string(value) || json_is_null(value)) &&
                     headers_from_json(json_object_get(json, "headers"), &record);

    if (is_record) {
        records_add(list, &record);
    }
    json_decref(json);
    return is_record;
}

bool records_read(struct kafka_records *list, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    bool is_good = file != NULL;

    while (is_good && (size = getline(&line, &capacity, file)) > 0) {
        is_good = add_line(list, line, (size_t)size);
    }
    if (!is_good) {
        fprintf(stderr, "%s: %s\n", path, file == NULL ? "cannot be opened" : line);
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return is_good;
}

static bool text_equal(bool a_is_null, struct wr_slice a, bool b_is_null, struct wr_slice b)
{
    return a_is_null == b_is_null && (a_is_null || wr_slice_eq(a, b));
}

static bool record_equal(const struct kafka_record *a, const struct kafka_record *b)
{
    if (a->partition != b->partition || a->header_count != b->header_count ||
        !text_equal(a->key_is_null, a->key, b->key_is_null, b->key) ||
        !text_equal(a->value_is_null, a->value, b->value_is_null, b->value)) {
        return false;
    }
    for (size_t i = 0; i < a->header_count; i++) {
        const struct kafka_header *x = &a->headers[i];
        const struct kafka_header *y = &b->headers[i];

        if (!wr_slice_eq(x->name, y->name) ||
            !text_equal(x->is_null, x->value, y->is_null, y->value)) {
            return false;
        }
    }
    return true;
}

static void print_text(FILE *out, const char *name, bool is_null, struct wr_slice text)
{
    if (is_null) {
        fprintf(out, "    %s: null\n", name);
        return;
    }
    fprintf(out, "    %s: \"", name);
    fwrite(text.data, 1, text.size, out);
    fprintf(out, "\"\n");
}

static void print_record(FILE *out, const char *side, const struct kafka_record *record)
{
    if (record == NULL) {
        fprintf(out, "  %s: no record\n", side);
        return;
    }
    fprintf(out, "  %s: partition %d\n", side, record->partition);
    print_text(out, "key", record->key_is_null, record->key);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct kafka_header *header = &record->headers[i];
        char name[256];

        snprintf(name, sizeof(name), "header %.*s", (int)header->name.size, header->name.data);
        print_text(out, name, header->is_null, header->value);
    }
    print_text(out, "value", record->value_is_null, record->value);
}

/* The next record of `topic` at or after *index, which then stands behind it; NULL at the end. */
static const struct kafka_record *next_of_topic(const struct kafka_records *list,
                                                struct wr_slice topic, size_t *index)
{
    while (*index < list->count) {
        const struct kafka_record *record = &list->items[(*index)++];

        if (wr_slice_eq(record->topic, topic)) {
            return record;
        }
    }
    return NULL;
}

static bool topic_equal(const struct kafka_records *expected, const struct kafka_records *actual,
                        struct wr_slice topic, FILE *out)
{
    size_t expected_index = 0;
    size_t actual_index = 0;

    for (int place = 0;; place++) {
        const struct kafka_record *a = next_of_topic(expected, topic, &expected_index);
        const struct kafka_record *b = next_of_topic(actual, topic, &actual_index);

        if (a == NULL && b == NULL) {
            return true;
        }
        if (a == NULL || b == NULL || !record_equal(a, b)) {
            fprintf(out, "topic %.*s, record %d differs\n", (int)topic.size, topic.data, place);
            print_record(out, "expected", a);
            print_record(out, "actual", b);
            return false;
        }
    }
}

bool records_equal(const struct kafka_records *expected, const struct kafka_records *actual,
                   FILE *out)
{
    for (size_t i = 0; i < expected->count; i++) {
        if (!topic_equal(expected, actual, expected->items[i].topic, out)) {
            return false;
        }
    }
    /* What is left are topics that nobody expected. */
    for (size_t i = 0; i < actual->count; i++) {
        if (!topic_equal(expected, actual, actual->items[i].topic, out)) {
            return false;
        }
    }
    return true;
}
