#include "sink/batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sink/consumer.h"

static void *grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity == 0 ? 256 : *capacity * 2;
    items = reallocarray(items, *capacity, size);
    assert(items != NULL);
    return items;
}

static void add_message(struct batch *b, int64_t offset, struct consumer_message *m)
{
    size_t capacity = b->message_capacity;

    b->offsets = grow(b->offsets, b->message_count, &capacity, sizeof(*b->offsets));
    b->messages = grow(b->messages, b->message_count, &b->message_capacity, sizeof(*b->messages));
    b->offsets[b->message_count] = offset;
    b->messages[b->message_count++] = m;
}

static void add_record(struct batch *b, const struct sink_record *record)
{
    size_t capacity = b->record_capacity;

    b->newer = grow(b->newer, b->record_count, &capacity, sizeof(*b->newer));
    b->newer[b->record_count] = 0;
    capacity = b->record_capacity;
    b->record_messages =
        grow(b->record_messages, b->record_count, &capacity, sizeof(*b->record_messages));
    b->records = grow(b->records, b->record_count, &b->record_capacity, sizeof(*b->records));
    b->record_messages[b->record_count] = b->message_count - 1;
    b->records[b->record_count++] = *record;
}

void batch_add(struct batch *b, const struct sink_record *record, struct consumer_message *m)
{
    if (b->message_count == 0) {
        b->started_us = wr_clock_monotonic_us();
    }
    add_message(b, record->offset, m);
    b->bytes += consumer_message_size(m);
    if (consumer_message_is_skipped(m)) {
        b->skipped++;
    } else if (consumer_message_fault(m) != NULL) {
        batch_refuse(b, b->message_count - 1, consumer_message_fault(m));
        b->fault_count = b->refusal_count;
    } else {
        add_record(b, record);
    }
}

void batch_refuse(struct batch *b, size_t message, const char *reason)
{
    b->refusals = grow(b->refusals, b->refusal_count, &b->refusal_capacity, sizeof(*b->refusals));
    b->refusals[b->refusal_count++] = (struct batch_refusal){message, strdup(reason)};
}

void batch_rewind(struct batch *b)
{
    while (b->refusal_count > b->fault_count) {
        free(b->refusals[--b->refusal_count].reason);
    }
    b->superseded = 0;
    if (b->record_count > 0) {
        memset(b->newer, 0, b->record_count * sizeof(*b->newer));
    }
}

void batch_reset(struct batch *b, struct consumer *c)
{
    b->fault_count = 0;
    batch_rewind(b);
    for (size_t i = 0; i < b->message_count; i++) {
        consumer_message_free(c, b->messages[i]);
    }
    b->message_count = 0;
    b->record_count = 0;
    b->skipped = 0;
    b->bytes = 0;
}

void batch_done(struct batch *b, struct consumer *c)
{
    batch_reset(b, c);
    free(b->messages);
    free(b->offsets);
    free(b->records);
    free(b->record_messages);
    free(b->newer);
    free(b->refusals);
    *b = (struct batch){0};
}
