/* support/load.h - many rows, and whether each of them came out. */
#ifndef WR_TEST_LOAD_H
#define WR_TEST_LOAD_H

#include <stdint.h>

#include "support/live.h"

enum { LOAD_KEY_COUNT = 100, LOAD_TRANSACTION_ROWS = 10, LOAD_ROWS_MAX = 1 << 20 };

/*
 * The table public.load, published by wr_pub: rows with ids from 1 on, LOAD_TRANSACTION_ROWS in
 * a transaction. Its message key is not the id but id modulo LOAD_KEY_COUNT, so that each key has
 * an order to keep; the topic has four partitions. Call it before live_start().
 */
void load_create(struct live *l);

/* Starts to write rows until there are `row_count`, going on behind those that are there. */
struct process load_start(const struct live *l, int row_count);
/* Waits until the writer is done; it must have succeeded. */
void load_wait(const struct live *l, struct process *writer);

const char *load_topic(const struct live *l);

struct load_result {
    int64_t record_count;
    int64_t repeated_count;  /* records of rows that had come before */
    int64_t step_back_count; /* how often a key went back to rows that had come before */
};

/*
 * Reads the topic. Aborts the test unless every row up to `row_count` came, the rows of each key
 * without a gap in their order (it may step back, and must then go on from there), each key in one
 * partition, and a row that came again with the walrelay.lsn and walrelay.seq of the first time.
 */
struct load_result load_check(const struct live *l, int row_count);

#endif /* WR_TEST_LOAD_H */
