/* support/bed.h - a sink between a topic that the test writes and a real target. */
#ifndef WR_TEST_BED_H
#define WR_TEST_BED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "support/process.h"
#include "support/services.h"

enum { BED_PROCESS_COUNT_MAX = 4, BED_SETTING_COUNT_MAX = 48, BED_SETTING_SIZE = 512 };

/* A route's record, as docs/routes.md has it. NULL is null; what is not there has no header. */
struct bed_record {
    const char *key;
    const char *value;
    char op; /* 0: a record without any header */
    uint64_t lsn;
    uint64_t seq;
    const char *types;
    const char *unavailable;
    const char *moved_from;
    const char *table;           /* NULL: public.shows */
    size_t key_size, value_size; /* where strlen() would be wrong */
    int partition;               /* of all partitions, not by the key */
};

struct bed {
    const struct services *services;
    const char *route; /* its name and type: "search", "cache" or "warehouse" */
    char prefix[64];   /* topic.prefix: of this test alone */
    char topic[128];   /* PREFIX.ROUTE.shows */
    char group[128];
    char directory[256];
    char log_path[280];
    char settings[BED_SETTING_COUNT_MAX][BED_SETTING_SIZE];
    size_t setting_count;
    struct process processes[BED_PROCESS_COUNT_MAX];
    size_t process_count; /* started so far; the last is the one meant where none is named */
    rd_kafka_t *producer;
};

/* Makes the topic with that many partitions. Every function aborts the test when it fails. */
void bed_open(struct bed *b, const char *route, const char *url, int partitions);
void bed_close(struct bed *b); /* allowed when it was never opened */
/* "key=value", in place of an earlier value; behind "routes.ROUTE." where it begins with a dot. */
void bed_set(struct bed *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Without waiting for Kafka; bed_flush() does. */
void bed_put(struct bed *b, const struct bed_record *record);
void bed_flush(struct bed *b);

/* One more member of the group. */
void bed_start(struct bed *b);
/* The same, and waits until it has come that far that a signal is heard. */
void bed_start_reading(struct bed *b);
/* SIGTERM; it must end with exit code 0. */
void bed_stop(struct bed *b);
void bed_kill(struct bed *b);
/* Until the last one has ended by itself; the exit code. */
int bed_wait_exit(struct bed *b);
/* Until the group has committed all that is in the topic, and flushes first. */
void bed_drain(struct bed *b);
/* The committed offset of a partition; -1: none. */
int64_t bed_committed(struct bed *b, int partition);
/* The group goes on from there, in every partition; no member may run. */
void bed_rewind(struct bed *b, int64_t offset);
/* All values in a topic, one partition; each freed by the caller. Returns how many. */
size_t bed_read(struct bed *b, const char *topic, char **values, size_t most);

const char *bed_log(const struct bed *b);
size_t bed_log_count(const struct bed *b, const char *text);
void bed_wait_log(struct bed *b, const char *text);
void bed_fail(const struct bed *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* WR_TEST_BED_H */
