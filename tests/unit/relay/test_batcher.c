/*
 * The batcher with what is around it - position, skipping, and a Kafka and a PostgreSQL that are
 * made up here - driven by chance: commits that fail, commits that fail only as far as we know,
 * crashes, keepalives. Whatever happens, what is committed is what was sent, once, in order, and
 * transactions are whole, but for those that had to be divided. WALRELAY_TEST_SEED runs one seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "relay/batcher.h"
#include "relay/skip.h"

enum { TRANSACTION_COUNT = 200, CHANGES_MAX = 60, LOG_MAX = TRANSACTION_COUNT * CHANGES_MAX };

/* Transaction i commits at 1000 * (i + 1), and ends 100 behind that. */
static wr_lsn commit_lsn(int transaction)
{
    return (wr_lsn)(transaction + 1) * 1000;
}

struct change {
    int transaction, number;
};

struct model {
    uint64_t random;
    int changes[TRANSACTION_COUNT];
    /* Kafka */
    struct change log[LOG_MAX];
    size_t log_count;
    struct position position;
    bool was_divided[TRANSACTION_COUNT];
    /* The relay */
    struct batcher batcher;
    struct skip skip;
    struct change filled[LOG_MAX], handed[LOG_MAX];
    size_t filled_count, handed_count, fed_count, marked_count;
    struct position next;
    bool is_busy, is_commit;
    int64_t now_us;
    wr_lsn received, end;
    /* The stream */
    int transaction, number; /* that comes next; number 0 is the begin */
    bool is_open;
};

static uint64_t draw(struct model *m, uint64_t below)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random % below;
}

/* The server sends whatever has its commit record at or behind where it is asked to start. */
static void start_again(struct model *m)
{
    wr_lsn start = m->position.last_end_lsn;

    m->skip = (struct skip){.end_lsn = start,
                            .partial_lsn = m->position.partial_lsn,
                            .partial_count = m->position.partial_count};
    batcher_reset(&m->batcher);
    m->filled_count = m->handed_count = m->fed_count = m->marked_count = 0;
    m->is_busy = false;
    m->is_open = false;
    m->number = 0;
    m->transaction = 0;
    uint64_t back = draw(m, 4); /* the slot may be behind by some transactions */
    while (m->transaction < TRANSACTION_COUNT && commit_lsn(m->transaction) < start) {
        m->transaction++;
    }
    m->transaction -= back < (uint64_t)m->transaction ? (int)back : m->transaction;
    m->received = start < m->position.acked_lsn && draw(m, 2) == 0 ? m->position.acked_lsn : start;
    m->end = start;
}

static void read_one(struct model *m)
{
    struct wr_error err;

    if (m->transaction == TRANSACTION_COUNT) {
        return;
    }
    if (!m->is_open) {
        cr_assert_eq(skip_begin(&m->skip, commit_lsn(m->transaction), &err), WR_OK, "%s", err.text);
        m->is_open = true;
        m->number = 0;
    }
    if (m->number < m->changes[m->transaction]) {
        m->skip.change_count++;
        if (!skip_covers(&m->skip)) {
            m->filled[m->filled_count++] = (struct change){m->transaction, m->number};
        }
        m->number++;
        return;
    }
    cr_assert_eq(skip_commit(&m->skip, &err), WR_OK, "%s", err.text);
    skip_done(&m->skip);
    m->is_open = false;
    m->end = commit_lsn(m->transaction) + 100;
    m->received = m->end > m->received ? m->end : m->received;
    m->marked_count = m->filled_count;
    m->transaction++;
}

/* Between transactions, up to before the next commit record. */
static void keepalive(struct model *m)
{
    wr_lsn lsn = (wr_lsn)m->transaction * 1000 + 100 + draw(m, 800);

    if (!m->is_open && lsn > m->received) {
        m->received = lsn;
    }
}

static void hand_over(struct model *m, size_t count)
{
    memcpy(m->handed + m->handed_count, m->filled, count * sizeof(m->filled[0]));
    m->handed_count += count;
    m->filled_count -= count;
    memmove(m->filled, m->filled + count, m->filled_count * sizeof(m->filled[0]));
    m->marked_count = 0;
    m->is_busy = true;
}

static void decide(struct model *m)
{
    struct batcher_view view = {
        .now_us = m->now_us,
        .is_busy = m->is_busy,
        .count = m->filled_count,
        .size = m->filled_count,
        .marked_count = m->marked_count,
        .fed_count = m->fed_count,
        .is_open = m->is_open,
        .is_quiet = draw(m, 2) == 0,
        .is_note_due = !m->is_open && draw(m, 8) == 0,
    };
    wr_lsn end = m->end < m->received ? m->end : m->received;

    enum batch_cut cut = batcher_decide(&m->batcher, &view);
    if (cut != CUT_NONE) {
        m->is_commit = cut != CUT_FEED;
    }
    switch (cut) {
    case CUT_NONE:
        return;
    case CUT_MARKED:
    case CUT_NOTE:
        m->next = batcher_position(&m->position, m->received, end);
        hand_over(m, m->marked_count);
        return;
    case CUT_PART:
        m->next = batcher_partial(&m->position, m->received, end, m->skip.commit_lsn,
                                  m->skip.change_count);
        m->was_divided[m->transaction] = true;
        hand_over(m, m->filled_count);
        return;
    case CUT_FEED:
        hand_over(m, m->filled_count);
        m->fed_count = m->handed_count;
        return;
    }
}

static void commit(struct model *m)
{
    memcpy(m->log + m->log_count, m->handed, m->handed_count * sizeof(m->handed[0]));
    m->log_count += m->handed_count;
    m->position = m->next;
    m->handed_count = 0;
    m->fed_count = 0;
}

/* What the publisher's thread was told is over. */
static void complete(struct model *m, bool may_fail)
{
    uint64_t how = may_fail ? draw(m, 40) : 39;

    if (!m->is_busy) {
        return;
    }
    m->is_busy = false;
    if (how == 0 || (how == 1 && !m->is_commit)) { /* aborted */
        start_again(m);
        return;
    }
    if (!m->is_commit) {
        return;
    }
    commit(m);
    if (how == 1) { /* committed, and we did not hear of it */
        start_again(m);
        return;
    }
    batcher_committed(&m->batcher, m->now_us);
}

static void check_log(const struct model *m, uint64_t seed)
{
    size_t at = 0;

    for (int t = 0; t < TRANSACTION_COUNT && at < m->log_count; t++) {
        for (int n = 0; n < m->changes[t] && at < m->log_count; n++, at++) {
            cr_assert(m->log[at].transaction == t && m->log[at].number == n,
                      "seed %llu: %d.%d stands where %d.%d belongs", (unsigned long long)seed,
                      m->log[at].transaction, m->log[at].number, t, n);
        }
    }
    cr_assert_eq(at, m->log_count, "seed %llu: there is more than was sent",
                 (unsigned long long)seed);
    /* What is confirmed is published; what ends amid a transaction was meant to. */
    if (m->log_count > 0) {
        const struct change *last = &m->log[m->log_count - 1];
        bool is_whole = last->number == m->changes[last->transaction] - 1;
        cr_assert(is_whole || m->was_divided[last->transaction], "seed %llu: %d is torn",
                  (unsigned long long)seed, last->transaction);
    }
    size_t confirmed = 0;
    for (int t = 0; t < TRANSACTION_COUNT && commit_lsn(t) < m->position.acked_lsn; t++) {
        confirmed += (size_t)m->changes[t];
    }
    cr_assert_leq(confirmed, m->log_count, "seed %llu: more is confirmed than published",
                  (unsigned long long)seed);
}

static void run_seed(uint64_t seed)
{
    static struct model model;
    struct model *m = &model;

    *m = (struct model){.random = seed * 2 + 1, .now_us = 1000000};
    m->batcher = (struct batcher){
        .size_max = 1 + (size_t)draw(m, 20), .fed_max = 1 + draw(m, 40), .fed_us_max = 100000};
    for (int i = 0; i < TRANSACTION_COUNT; i++) {
        m->changes[i] = (int)draw(m, draw(m, 5) == 0 ? CHANGES_MAX : 4);
    }
    start_again(m);
    for (int step = 0;
         step < 200000 && m->position.last_end_lsn < commit_lsn(TRANSACTION_COUNT - 1) + 100;
         step++) {
        bool has_faults = step < 20000; /* then it must come to an end */
        m->now_us += (int64_t)draw(m, 4000);
        uint64_t what = draw(m, 16);
        if (what < 8 && m->filled_count < m->batcher.size_max) {
            read_one(m);
        } else if (what < 9) {
            keepalive(m);
        } else if (what < 12) {
            decide(m);
        } else if (what < 15) {
            complete(m, has_faults);
            check_log(m, seed);
        } else if (has_faults && draw(m, 50) == 0) {
            start_again(m); /* a crash */
        }
    }
    size_t total = 0;
    for (int i = 0; i < TRANSACTION_COUNT; i++) {
        total += (size_t)m->changes[i];
    }
    cr_assert_eq(m->log_count, total, "seed %llu: it came to no end, %zu of %zu",
                 (unsigned long long)seed, m->log_count, total);
}

Test(batcher, publishes_everything_once_whatever_fails)
{
    const char *text = getenv("WALRELAY_TEST_SEED");

    if (text != NULL) {
        run_seed(strtoull(text, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= 300; seed++) {
        run_seed(seed);
    }
}

static struct batcher_view view(size_t count, size_t marked, bool is_open)
{
    return (struct batcher_view){.now_us = 10000000,
                                 .count = count,
                                 .size = count,
                                 .marked_count = marked,
                                 .is_open = is_open,
                                 .is_quiet = true};
}

Test(batcher, waits_behind_a_commit)
{
    struct batcher b = {.size_max = 100, .committed_us = 10000000 - BATCH_PAUSE_US + 1};
    struct batcher_view v = view(10, 10, false);

    cr_expect_eq(batcher_decide(&b, &v), CUT_NONE);
    cr_expect_eq(batcher_until_us(&b, &v), 1);
    v.now_us++;
    cr_expect_eq(batcher_until_us(&b, &v), 0);
    cr_expect_eq(batcher_decide(&b, &v), CUT_MARKED);
}

Test(batcher, hands_nothing_over_while_it_is_busy)
{
    struct batcher b = {.size_max = 10};
    struct batcher_view v = view(10, 10, false);

    v.is_busy = true;
    cr_expect_eq(batcher_decide(&b, &v), CUT_NONE);
    cr_expect_eq(batcher_until_us(&b, &v), INT64_MAX);
    cr_expect(batcher_is_full(&b, &v));
}

Test(batcher, lets_a_batch_grow_while_more_comes_in)
{
    struct batcher b = {.size_max = 100};
    struct batcher_view v = view(10, 10, false);

    v.is_quiet = false;
    cr_expect_eq(batcher_decide(&b, &v), CUT_NONE);
    v.now_us += BATCH_AGE_US;
    cr_expect_eq(batcher_decide(&b, &v), CUT_MARKED);
}

Test(batcher, feeds_what_is_larger_than_memory_and_divides_what_lasts)
{
    struct batcher b = {.size_max = 10, .fed_max = 1000, .fed_us_max = 50000};
    struct batcher_view v = view(9, 0, true);

    cr_expect_eq(batcher_decide(&b, &v), CUT_NONE, "the rest of it may come");
    cr_expect_eq(batcher_until_us(&b, &v), INT64_MAX);
    v = view(10, 0, true);
    cr_expect_eq(batcher_decide(&b, &v), CUT_FEED);
    v.fed_count = 10;
    v.now_us += 50000;
    cr_expect_eq(batcher_decide(&b, &v), CUT_PART);
    v = view(10, 0, true);
    v.fed_count = 1000;
    cr_expect_eq(batcher_decide(&b, &v), CUT_PART);
    v.is_snapshot = true;
    cr_expect_eq(batcher_decide(&b, &v), CUT_FEED, "a part of a snapshot is not divided for that");
    v.marked_count = 5;
    cr_expect_eq(batcher_decide(&b, &v), CUT_MARKED);
}
