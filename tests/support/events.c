#include "support/events.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "support/records.h"

enum { TEXT_SIZE_MAX = 1 << 20 };

/* Cut off where it is too long: then the comparison fails, and shows it. */
static char text[TEXT_SIZE_MAX];

static const char *take_text(struct wr_buffer *out)
{
    size_t size = out->size < sizeof(text) - 1 ? out->size : sizeof(text) - 1;

    memcpy(text, out->data == NULL ? "" : out->data, size);
    text[size] = '\0';
    wr_buffer_done(out);
    return text;
}

static void add(struct wr_buffer *out, bool is_null, struct wr_slice bytes)
{
    wr_buffer_add_slice(out, is_null ? WR_SLICE("null") : bytes);
}

/* What stands between `before` and `after` in `in`; empty where they do not. */
static struct wr_slice between(struct wr_slice in, const char *before, const char *after)
{
    const char *start = in.size == 0 ? NULL : memmem(in.data, in.size, before, strlen(before));

    if (start == NULL) {
        return (struct wr_slice){NULL, 0};
    }
    start += strlen(before);
    const char *end = memmem(start, (size_t)(in.data + in.size - start), after, strlen(after));
    return end == NULL ? (struct wr_slice){NULL, 0}
                       : (struct wr_slice){start, (size_t)(end - start)};
}

static void add_value(struct wr_buffer *out, const struct kafka_record *record)
{
    struct wr_slice before = between(record->value, "{\"before\":", ",\"after\":");
    struct wr_slice after = between(record->value, ",\"after\":", ",\"source\":{");
    struct wr_slice op = between(record->value, ",\"op\":\"", "\"");

    if (record->value_is_null) {
        wr_buffer_add_char(out, '-');
    } else if (op.size == 0) {
        wr_buffer_add_slice(out, record->value);
    } else {
        wr_buffer_add_slice(out, op);
        wr_buffer_add_char(out, ' ');
        wr_buffer_add_slice(out, before);
        wr_buffer_add_str(out, " -> ");
        wr_buffer_add_slice(out, after);
    }
}

static void add_record(struct wr_buffer *out, const struct kafka_record *record)
{
    add(out, record->key_is_null, record->key);
    wr_buffer_add_char(out, ' ');
    add_value(out, record);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct kafka_header *header = &record->headers[i];

        wr_buffer_add_str(out, i == 0 ? " [" : " ");
        wr_buffer_add_slice(out, header->name);
        wr_buffer_add_char(out, '=');
        add(out, header->is_null, header->value);
    }
    wr_buffer_add_str(out, record->header_count > 0 ? "]\n" : "\n");
}

const char *events_of(const struct kafka_records *records, const char *topic)
{
    struct wr_buffer out = {0};

    wr_buffer_init(&out, TEXT_SIZE_MAX);
    for (size_t i = 0; i < records->count; i++) {
        if (wr_slice_is(records->items[i].topic, topic)) {
            add_record(&out, &records->items[i]);
        }
    }
    return take_text(&out);
}

static int compare_topics(const void *a, const void *b)
{
    struct wr_slice x = ((const struct kafka_record *)a)->topic;
    struct wr_slice y = ((const struct kafka_record *)b)->topic;
    int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);

    return order != 0 ? order : (x.size > y.size) - (x.size < y.size);
}

const char *events_topics(const struct kafka_records *records)
{
    struct wr_buffer out = {0};
    struct kafka_record *sorted = calloc(records->count + 1, sizeof(*sorted));

    if (sorted == NULL) {
        abort();
    }
    if (records->count > 0) {
        memcpy(sorted, records->items, records->count * sizeof(*sorted));
    }
    qsort(sorted, records->count, sizeof(*sorted), compare_topics);
    wr_buffer_init(&out, TEXT_SIZE_MAX);
    for (size_t i = 0; i < records->count; i++) {
        if (i == 0 || !wr_slice_eq(sorted[i].topic, sorted[i - 1].topic)) {
            wr_buffer_add_slice(&out, sorted[i].topic);
            wr_buffer_add_char(&out, '\n');
        }
    }
    free(sorted);
    return take_text(&out);
}
