/* publisher/publisher.h - records out, acknowledgements back. */
#ifndef WR_PUBLISHER_PUBLISHER_H
#define WR_PUBLISHER_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

struct config;
struct publisher;

struct publisher_header {
    const char *name;
    struct wr_slice value;
    bool is_null;
};

/* Everything is borrowed for the call alone: the publisher copies what it keeps. */
struct publisher_record {
    struct wr_slice topic;
    int32_t partition;    /* -1: by the key, as Java's default partitioner (murmur2) */
    int64_t timestamp_ms; /* since 1970, or -1: now */
    struct wr_slice key, value;
    bool key_is_null, value_is_null;
    const struct publisher_header *headers;
    size_t header_count;
    uint64_t ticket; /* comes back with the acknowledgement; never interpreted */
};

/* Why a record was not acknowledged. Borrowed for the callback. */
struct publisher_failure {
    const char *reason; /* Kafka's text */
    const char *name;   /* Kafka's error name, as MSG_SIZE_TOO_LARGE */
    struct wr_slice topic, key;
    size_t size; /* of key and value */
};

/* Called from publisher_poll() and publisher_flush() on the caller's thread. */
struct publisher_events {
    void *context;
    void (*acknowledged)(void *context, uint64_t ticket);
    void (*failed)(void *context, uint64_t ticket, const struct publisher_failure *failure);
};

/* Kafka, and the same interface over standard output (one JSON line a record, as kcat -J shows it).
 */
WR_MUST_USE enum wr_status publisher_kafka_open(const struct config *config,
                                                const struct publisher_events *events,
                                                struct publisher **out, struct wr_error *err);
WR_MUST_USE enum wr_status publisher_stdout_open(const struct publisher_events *events,
                                                 struct publisher **out, struct wr_error *err);

/*
 * WR_AGAIN: the queue is full, poll and come again with the same record. WR_REJECT: this record
 * can never be published (too large, invalid topic): nothing was queued, no callback comes. A
 * record stays until publisher_flush(), be it a short one.
 */
WR_MUST_USE enum wr_status publisher_produce(struct publisher *p, const struct publisher_record *r,
                                             struct wr_error *err);
/* Serves the callbacks, never blocks. WR_FATAL when Kafka says that nothing more can be sent. */
WR_MUST_USE enum wr_status publisher_poll(struct publisher *p, struct wr_error *err);
/* Readable when publisher_poll() has something to serve; -1 when it never has (stdout). */
int publisher_fd(const struct publisher *p);
size_t publisher_inflight_count(const struct publisher *p);
size_t publisher_inflight_bytes(const struct publisher *p);
/* Waits until nothing is in flight, at most timeout_ms. WR_AGAIN when some still is. */
WR_MUST_USE enum wr_status publisher_flush(struct publisher *p, int64_t timeout_ms,
                                           struct wr_error *err);
/* Drops what is in flight. NULL is allowed. */
void publisher_close(struct publisher *p);

#endif /* WR_PUBLISHER_PUBLISHER_H */
