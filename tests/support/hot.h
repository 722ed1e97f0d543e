/* support/hot.h - many writers on few rows, and whether the topic ever goes back. */
#ifndef WR_TEST_HOT_H
#define WR_TEST_HOT_H

#include <stdint.h>

#include "support/live.h"

enum { HOT_WRITERS_MAX = 16 };

struct hot {
    struct live *live;
    int row_count;
    int pause_ms; /* of a writer behind each change; WALRELAY_TEST_PAUSE_MS */
    struct process writers[HOT_WRITERS_MAX];
    int writer_count;
};

/*
 * The table public.hot, published by wr_pub, with rows 1 to `row_count`. A row's version only
 * grows, through updates, moves of its key (to its negative and back), and when it is deleted and
 * inserted again. Every third row has a value that is kept outside the table and seldom changes.
 */
void hot_create(struct hot *h, struct live *l, int row_count);
void hot_start(struct hot *h, int writer_count);
void hot_stop(struct hot *h);
/* How many changes were made until now. */
int64_t hot_change_count(const struct hot *h);

struct hot_result {
    int64_t record_count, read_count; /* records; rows of snapshots among them */
    int64_t stale_count;              /* of these, behind something newer of the same row */
    int64_t resurrected_count;        /* of these, behind a delete */
};

/*
 * Reads the topic and applies every record, as a consumer does that keeps a value which is left
 * out. Aborts the test unless what comes out is the table as it is now.
 */
struct hot_result hot_check(const struct hot *h);

#endif /* WR_TEST_HOT_H */
