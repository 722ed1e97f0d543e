/* relay/batcher.h - what goes into the next Kafka transaction, and when. Pure. */
#ifndef WR_RELAY_BATCHER_H
#define WR_RELAY_BATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lsn.h"
#include "relay/position.h"

enum {
    BATCH_PAUSE_US = 5000, /* behind a commit: the brokers write its markers meanwhile */
    BATCH_AGE_US = 20000,  /* of what goes although more is coming in */
};

/*
 * Kafka transactions hold whole PostgreSQL transactions. One that is larger than memory is fed into
 * a Kafka transaction that stays open; only when that has lasted too long is it committed as a
 * part, with the place in the transaction where the next one goes on.
 */
struct batcher {
    size_t size_max;    /* of what is filled: reading pauses there */
    uint64_t fed_max;   /* records that one Kafka transaction is fed with, beside the last batch */
    int64_t fed_us_max; /* how long it may stay open */
    int64_t committed_us; /* when the last commit ended */
    int64_t filled_us;    /* when what is filled began, 0: nothing is */
    int64_t fed_us;       /* when the open Kafka transaction began, 0: none is */
};

struct batcher_view {
    int64_t now_us;
    bool is_busy; /* the last one is not done */
    /* What is filled; `marked_count` of it may be committed, up to the end of the last transaction.
     */
    size_t count, size, marked_count, fed_count;
    bool is_open;     /* a transaction has not ended */
    bool is_snapshot; /* it is not to be divided, unless Kafka would abort it */
    bool is_quiet;    /* nothing more is coming in just now */
    bool is_note_due; /* the position alone is worth a transaction */
};

enum batch_cut {
    CUT_NONE,
    CUT_MARKED, /* commit up to the mark */
    CUT_PART,   /* commit everything, amid a transaction */
    CUT_FEED,   /* everything, without a commit */
    CUT_NOTE,   /* commit nothing but the position */
};

enum batch_cut batcher_decide(struct batcher *b, const struct batcher_view *view);
/* How long nothing changes by the time alone. */
int64_t batcher_until_us(const struct batcher *b, const struct batcher_view *view);
bool batcher_is_full(const struct batcher *b, const struct batcher_view *view);
/* A commit has ended. */
void batcher_committed(struct batcher *b, int64_t now_us);
/* All is dropped. */
void batcher_reset(struct batcher *b);

/*
 * The position that goes into a commit, from the last one: `received_lsn` is the end of everything
 * that was received before the transaction that is open, `end_lsn` of the last one that is whole.
 */
struct position batcher_position(const struct position *last, wr_lsn received_lsn, wr_lsn end_lsn);
/* The same for a part: `count` changes of the transaction whose commit record stands at `lsn`. */
struct position batcher_partial(const struct position *last, wr_lsn received_lsn, wr_lsn end_lsn,
                                wr_lsn lsn, uint64_t count);

#endif /* WR_RELAY_BATCHER_H */
