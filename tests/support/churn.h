/* support/churn.h - writers that change a table all the while, and whether its topic follows. */
#ifndef WR_TEST_CHURN_H
#define WR_TEST_CHURN_H

#include <stdint.h>

#include "support/live.h"

enum { CHURN_WRITERS_MAX = 8, CHURN_ROWS_MAX = 1 << 20 };

struct churn {
    struct live *live;
    int row_count;
    struct process writers[CHURN_WRITERS_MAX];
    int writer_count;
};

/*
 * The table public.churn, published by wr_pub, with rows 1 to `row_count`: `n` is a row's version,
 * and counts its updates. Blocks hold some 15 rows, so that updates move rows between them.
 */
void churn_create(struct churn *c, struct live *l, int row_count);

/* Inserts, updates and deletes of rows at random, each its own transaction. */
void churn_start(struct churn *c, int writer_count);
void churn_stop(struct churn *c);

const char *churn_topic(const struct churn *c);

struct churn_result {
    int64_t record_count;
    int64_t read_count;  /* rows of snapshots */
    int64_t stale_count; /* of these, behind a newer state of the row */
};

/*
 * Reads the topic and applies every record, as a consumer does. Aborts the test unless what comes
 * out is the table as it is now.
 */
struct churn_result churn_check(const struct churn *c);

#endif /* WR_TEST_CHURN_H */
