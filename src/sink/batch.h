/* sink/batch.h - records on their way to a target. */
#ifndef WR_SINK_BATCH_H
#define WR_SINK_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "sink/sink.h"

struct consumer;
struct consumer_message;

struct batch_refusal {
    size_t message;
    char *reason;
};

/* Messages in the order they were read; `records` are those of them that the target gets. */
struct batch {
    struct consumer_message **messages;
    int64_t *offsets; /* of the messages */
    size_t message_count, message_capacity;
    struct sink_record *records;
    size_t *record_messages; /* records[i] is of messages[record_messages[i]] */
    uint64_t *newer;         /* the version that the target has instead of records[i]; 0: none */
    size_t record_count, record_capacity;
    struct batch_refusal *refusals;
    size_t refusal_count, refusal_capacity;
    size_t fault_count; /* of the refusals: those from before the target, which stay */
    size_t superseded;
    size_t skipped;
    size_t bytes;
    int64_t started_us; /* when the first record came */
};

void batch_add(struct batch *b, const struct sink_record *record, struct consumer_message *m);
void batch_refuse(struct batch *b, size_t message, const char *reason);
/* Forgets what a target has said: it will see the batch again. */
void batch_rewind(struct batch *b);
/* Frees the messages and empties it. */
void batch_reset(struct batch *b, struct consumer *c);
void batch_done(struct batch *b, struct consumer *c);

#endif /* WR_SINK_BATCH_H */
