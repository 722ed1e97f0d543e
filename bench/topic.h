/* bench/topic.h - one topic of one partition, seen by whoever measures what arrives there. */
#ifndef WR_BENCH_TOPIC_H
#define WR_BENCH_TOPIC_H

#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "base/status.h"

struct topic {
    rd_kafka_t *client; /* a consumer without a group's protocol: it assigns by itself */
    const char *name;   /* the caller's, as long as the topic is open */
};

/* Connects to `bootstrap`. End with topic_close(), once in a process, before it exits. */
WR_MUST_USE enum wr_status topic_open(struct topic *t, const char *bootstrap, const char *name,
                                      struct wr_error *err);
void topic_close(struct topic *t);

/*
 * One partition, and the broker's time of appending as each record's timestamp: that is the same
 * clock for everyone who is measured, and none of them has a hand in it.
 */
WR_MUST_USE enum wr_status topic_create(struct topic *t, struct wr_error *err);
/* For the end of a run; a topic that cannot be deleted goes with the broker's directory. */
void topic_delete(struct topic *t);

/* How many records stand in it; those of a broker that does not answer in time are -1. */
int64_t topic_count(struct topic *t);

/* When the broker appended the record at `offset`, in milliseconds since 1970. */
WR_MUST_USE enum wr_status topic_append_time_ms(struct topic *t, int64_t offset, int64_t *out_ms,
                                                struct wr_error *err);

/* From now on topic_next() returns what comes at and after `offset` (or RD_KAFKA_OFFSET_END). */
WR_MUST_USE enum wr_status topic_seek(struct topic *t, int64_t offset, struct wr_error *err);
/* The next record, or NULL after `timeout_ms`. Destroy it with rd_kafka_message_destroy(). */
rd_kafka_message_t *topic_next(struct topic *t, int timeout_ms);

#endif /* WR_BENCH_TOPIC_H */
