#include "relay/batcher.h"

#include <assert.h>

bool batcher_is_full(const struct batcher *b, const struct batcher_view *v)
{
    return v->size >= b->size_max;
}

/* The open Kafka transaction has lasted long, or holds as much as one may. */
static bool is_fed_up(const struct batcher *b, const struct batcher_view *v)
{
    if (v->fed_count == 0) {
        return false;
    }
    return v->now_us - b->fed_us >= b->fed_us_max ||
           (!v->is_snapshot && v->fed_count >= b->fed_max);
}

/* A large batch costs less a record: while rows keep coming it waits for some more of them. */
static bool is_ripe(const struct batcher *b, const struct batcher_view *v)
{
    return v->is_quiet || v->size >= b->size_max / 2 || v->fed_count > 0 ||
           v->now_us - b->filled_us >= BATCH_AGE_US;
}

static enum batch_cut decide(const struct batcher *b, const struct batcher_view *v)
{
    if (v->is_busy || v->now_us - b->committed_us < BATCH_PAUSE_US) {
        return CUT_NONE;
    }
    if (v->marked_count > 0 || (!v->is_open && v->fed_count > 0)) {
        return is_ripe(b, v) || v->is_note_due ? CUT_MARKED : CUT_NONE;
    }
    if (is_fed_up(b, v)) {
        return CUT_PART;
    }
    if (batcher_is_full(b, v)) {
        return CUT_FEED;
    }
    return v->is_note_due && v->fed_count == 0 ? CUT_NOTE : CUT_NONE;
}

enum batch_cut batcher_decide(struct batcher *b, const struct batcher_view *v)
{
    if (v->count > 0 && b->filled_us == 0) {
        b->filled_us = v->now_us;
    }
    enum batch_cut cut = decide(b, v);

    assert(cut != CUT_MARKED || v->marked_count <= v->count);
    if (cut == CUT_FEED && v->fed_count == 0) {
        b->fed_us = v->now_us;
    }
    if (cut != CUT_NONE) {
        b->filled_us = 0;
    }
    return cut;
}

int64_t batcher_until_us(const struct batcher *b, const struct batcher_view *v)
{
    if (v->is_busy || (v->count == 0 && v->fed_count == 0)) {
        return INT64_MAX;
    }
    int64_t due_us = b->committed_us + BATCH_PAUSE_US;
    if (v->marked_count == 0 && v->is_open && v->fed_count == 0 && !batcher_is_full(b, v)) {
        return INT64_MAX; /* only more of the transaction makes a difference */
    }
    if (v->marked_count == 0 && v->is_open && !batcher_is_full(b, v)) {
        due_us = b->fed_us + b->fed_us_max;
    }
    return due_us > v->now_us ? due_us - v->now_us : 0;
}

void batcher_committed(struct batcher *b, int64_t now_us)
{
    b->committed_us = now_us;
    b->fed_us = 0;
}

void batcher_reset(struct batcher *b)
{
    b->filled_us = 0;
    b->fed_us = 0;
}

struct position batcher_position(const struct position *last, wr_lsn received_lsn, wr_lsn end_lsn)
{
    struct position next = *last;

    next.is_known = true;
    next.txn_no++;
    if (end_lsn > next.last_end_lsn) {
        next.last_end_lsn = end_lsn;
    }
    if (received_lsn > next.acked_lsn) {
        next.acked_lsn = received_lsn;
    }
    if (next.last_end_lsn > next.partial_lsn) { /* it was published to its end */
        next.partial_lsn = 0;
        next.partial_count = 0;
    }
    assert(next.last_end_lsn <= next.acked_lsn);
    return next;
}

struct position batcher_partial(const struct position *last, wr_lsn received_lsn, wr_lsn end_lsn,
                                wr_lsn lsn, uint64_t count)
{
    struct position next = batcher_position(last, received_lsn, end_lsn);

    assert(lsn >= next.last_end_lsn && (lsn != last->partial_lsn || count >= last->partial_count));
    next.partial_lsn = lsn;
    next.partial_count = count;
    return next;
}
