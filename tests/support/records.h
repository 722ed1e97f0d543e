/* support/records.h - Kafka records as golden cases write them, and how two lists differ. */
#ifndef WR_TEST_RECORDS_H
#define WR_TEST_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/slice.h"

struct wr_arena;

struct kafka_header {
    struct wr_slice name;
    struct wr_slice value;
    bool is_null;
};

enum { KAFKA_HEADER_COUNT_MAX = 32 };

struct kafka_record {
    struct wr_slice topic;
    int32_t partition;
    struct wr_slice key, value;
    bool key_is_null, value_is_null;
    struct kafka_header headers[KAFKA_HEADER_COUNT_MAX];
    size_t header_count;
};

/* Grows without bound: a test's own data is its bound. Init with zeroes. */
struct kafka_records {
    struct wr_arena *arena; /* owns everything, made by the first add */
    struct kafka_record *items;
    size_t count;
    size_t capacity;
};

void records_done(struct kafka_records *list);

/*
 * Adds a copy of `record` as golden/README.md says it is compared: what differs from run to run
 * (times, LSNs, transaction ids, version, database) became `*`, bytes that are not UTF-8 became
 * U+FFFD, headers of `__debezium.context.*`, `walrelay.lsn`, `walrelay.seq` and
 * `walrelay.commit` are gone. Everything else stays.
 */
void records_add(struct kafka_records *list, const struct kafka_record *record);

/* Adds the lines of an expected.ndjson, or of what `walrelay run --stdout` prints. False, with the
 * line on standard error, when the file is missing or is not of that form. */
bool records_read(struct kafka_records *list, const char *path);

/*
 * True when both hold the same records, topic by topic, in the same order. Otherwise prints the
 * first record that differs, both sides, to `out`.
 */
bool records_equal(const struct kafka_records *expected, const struct kafka_records *actual,
                   FILE *out);

#endif /* WR_TEST_RECORDS_H */
