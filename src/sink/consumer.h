/* sink/consumer.h - Kafka's side of a sink: a member of a consumer group, and the dead letters. */
#ifndef WR_SINK_CONSUMER_H
#define WR_SINK_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

struct config;
struct consumer;
struct consumer_message; /* Kafka's, with the bytes that a record borrows */
struct sink_record;

/* One partition of the member's share. */
struct consumer_partition {
    const char *topic;
    int32_t number;
    int64_t next;      /* everything below is in the target: what may be committed */
    int64_t read;      /* everything below was handed out */
    int64_t committed; /* -1: nothing yet */
    /* The newest version that a record had, and the newest that the target had instead. */
    uint64_t version, version_there;
    bool is_at_end; /* `read` was the end when Kafka last said so */
};

/* Called from consumer_poll(). Partitions are named by their place in consumer_partitions(). */
struct consumer_events {
    void *context;
    /*
     * Where to go on in a partition that has been assigned: `*offset` is the committed one (-1:
     * none) and may be changed. WR_FATAL ends the consumer.
     */
    enum wr_status (*assign)(void *context, const char *topic, int32_t partition, int64_t *offset,
                             struct wr_error *err);
    /*
     * All partitions go. What is on its way to the target is waited for or given up here, and
     * consumer_applied() called for what is there; messages that are still held stay readable.
     * `is_lost`: the group has given them to somebody else already.
     */
    void (*revoke)(void *context, bool is_lost);
};

struct consumer_settings {
    const struct config *config;
    const char *group;         /* group.id */
    const char *topic_pattern; /* "^…": a POSIX extended expression */
    struct consumer_events events;
};

WR_MUST_USE enum wr_status consumer_new(const struct consumer_settings *settings,
                                        struct consumer **out, struct wr_error *err);
/* Leaves the group, after a commit of what was applied. NULL is allowed. */
void consumer_free(struct consumer *c);

/* Readable when consumer_poll() has something to do. */
int consumer_fd(const struct consumer *c);
/*
 * The next record, which borrows from `*message`; WR_AGAIN when there is none now. The message is
 * the caller's, until consumer_message_free().
 */
WR_MUST_USE enum wr_status consumer_poll(struct consumer *c, struct sink_record *record,
                                         struct consumer_message **message, struct wr_error *err);
/* Not NULL when it is no route's record, or one of the future: why. */
const char *consumer_message_fault(const struct consumer_message *m);
/* One to pass over: a tombstone that no route has written. */
bool consumer_message_is_skipped(const struct consumer_message *m);
const char *consumer_message_topic(const struct consumer_message *m);
int32_t consumer_message_number(const struct consumer_message *m);
int64_t consumer_message_offset(const struct consumer_message *m);
struct wr_slice consumer_message_key(const struct consumer_message *m);
size_t consumer_message_size(const struct consumer_message *m);
/* The partition it came from; SIZE_MAX once that has been revoked. */
size_t consumer_message_partition(const struct consumer *c, const struct consumer_message *m);
void consumer_message_free(struct consumer *c, struct consumer_message *m);

struct consumer_partition *consumer_partitions(struct consumer *c, size_t *count);
/* Everything below `offset` of that partition is in the target, or need not be. */
void consumer_applied(struct consumer *c, size_t partition, int64_t offset);
/* Commits what was applied since the last time; `waits` for the answer. */
void consumer_commit(struct consumer *c, bool waits);
/* Stops and resumes fetching; consumer_poll() keeps the membership alive meanwhile. */
void consumer_pause(struct consumer *c, bool is_paused);
/* Records that Kafka has behind `next`, of all partitions; -1 while that is not known. */
int64_t consumer_lag(struct consumer *c);

/*
 * The record as it came, with the reason in headers, to the topic of dead letters; waits until
 * Kafka has it. WR_FATAL when that fails: then the record's offset must not be committed.
 */
WR_MUST_USE enum wr_status consumer_dead_letter(struct consumer *c, struct consumer_message *m,
                                                const char *reason, struct wr_error *err);

#endif /* WR_SINK_CONSUMER_H */
