/*
 * A model of a server and of a relay that reads it, driven by a seeded generator: transactions
 * whose commits stand in the WAL before others see them, a stream that lags behind, chunks, crashes
 * that repeat part of the stream. What is published must always be the state that the stream has
 * published, and in the end all of the table. WALRELAY_TEST_SEED repeats a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>

#include "relay/window.h"

enum {
    TABLE = 1,
    KEY_COUNT = 40,
    WRITER_COUNT = 8,
    CHANGES_MAX = 3,
    WAL_MAX = 20000,
    STEP_MAX = 15000,
    CHUNK_ROWS = 7,
    RUN_COUNT = 150,
};

/* A row: `large` is a value that an update may leave alone, and then leaves out. */
struct row {
    bool exists;
    int version, large;
};

struct change {
    int key;
    struct row row;  /* as it is behind the change */
    bool leaves_out; /* the large value */
    bool is_truncate;
};

enum entry_kind { ENTRY_TRANSACTION, ENTRY_MARK };

struct entry {
    enum entry_kind kind;
    uint64_t xid;
    int count;
    struct change changes[CHANGES_MAX];
    int mark;
};

enum writer_state { WRITER_IDLE, WRITER_OPEN, WRITER_INVISIBLE };

struct writer {
    enum writer_state state;
    struct entry transaction;
};

struct consumer_row {
    bool exists, is_whole;
    int version, large;
};

struct model {
    unsigned seed;
    uint64_t next_xid, latest_completed;
    struct row table[KEY_COUNT];
    int locked[KEY_COUNT]; /* by writer plus one */
    struct writer writers[WRITER_COUNT];
    struct entry *wal;
    int wal_count, cursor;
    struct row delivered[KEY_COUNT]; /* what the stream has said, as the server knows it */
    struct consumer_row consumer[KEY_COUNT];
    /* The relay. */
    struct window *window;
    bool is_naive; /* goes by the place of changes alone */
    bool naive_hit[KEY_COUNT];
    int next_key, mark;
    bool is_reading, is_done;
    struct window_snapshot snapshot;
    int chunk_keys[KEY_COUNT];
    struct row chunk_rows[KEY_COUNT];
    int chunk_count;
    bool reread[KEY_COUNT];
    bool is_reread_chunk;
    int stale_count, chunk_total;
};

static int pick(struct model *m, int count)
{
    return (int)(rand_r(&m->seed) % (unsigned)count);
}

static uint64_t name_of(const struct model *m, int key)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", key);
    return window_key_add(window_key_begin(m->window), wr_slice_str(text), false);
}

/* The server. */

static void complete(struct model *m, uint64_t xid)
{
    if (xid > m->latest_completed) {
        m->latest_completed = xid;
    }
}

static void begin(struct model *m, struct writer *writer, int number)
{
    struct entry *t = &writer->transaction;

    *t = (struct entry){.kind = ENTRY_TRANSACTION, .xid = m->next_xid++};
    writer->state = WRITER_OPEN;
    for (int i = 0; i < 1 + pick(m, CHANGES_MAX); i++) {
        int key = pick(m, 3) == 0 ? pick(m, KEY_COUNT) : pick(m, 5); /* some are hot */
        if (m->locked[key] != 0) {
            continue;
        }
        m->locked[key] = number + 1;
        struct change *change = &t->changes[t->count++];
        *change = (struct change){.key = key, .row = m->table[key]};
        change->row.version++;
        if (!m->table[key].exists) {
            change->row.exists = true;
            change->row.large = change->row.version;
        } else if (pick(m, 6) == 0) {
            change->row.exists = false;
        } else if (pick(m, 3) == 0) {
            change->leaves_out = true;
        } else {
            change->row.large = change->row.version;
        }
    }
}

/* All rows at once, while nobody else holds one. */
static void truncate_table(struct model *m)
{
    struct entry t = {.kind = ENTRY_TRANSACTION, .xid = m->next_xid, .count = 1};

    for (int key = 0; key < KEY_COUNT; key++) {
        if (m->locked[key] != 0) {
            return;
        }
    }
    m->next_xid++;
    t.changes[0].is_truncate = true;
    m->wal[m->wal_count++] = t;
    for (int key = 0; key < KEY_COUNT; key++) {
        m->table[key].exists = false;
    }
    complete(m, t.xid);
}

static void unlock(struct model *m, int number)
{
    for (int key = 0; key < KEY_COUNT; key++) {
        m->locked[key] = m->locked[key] == number + 1 ? 0 : m->locked[key];
    }
}

static void become_visible(struct model *m, struct writer *writer, int number)
{
    for (int i = 0; i < writer->transaction.count; i++) {
        m->table[writer->transaction.changes[i].key] = writer->transaction.changes[i].row;
    }
    unlock(m, number);
    complete(m, writer->transaction.xid);
    writer->state = WRITER_IDLE;
}

static void write_something(struct model *m)
{
    int number = pick(m, WRITER_COUNT);
    struct writer *writer = &m->writers[number];

    switch (writer->state) {
    case WRITER_IDLE:
        begin(m, writer, number);
        break;
    case WRITER_OPEN:
        if (pick(m, 8) == 0) { /* rolled back */
            unlock(m, number);
            complete(m, writer->transaction.xid);
            writer->state = WRITER_IDLE;
        } else {
            m->wal[m->wal_count++] = writer->transaction;
            writer->state = WRITER_INVISIBLE;
        }
        break;
    case WRITER_INVISIBLE:
        if (pick(m, 2) == 0) { /* some wait for long, as for a standby */
            become_visible(m, writer, number);
        }
        break;
    }
}

static int compare_xids(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static struct window_snapshot take_snapshot(const struct model *m)
{
    char text[512];
    uint64_t open[WRITER_COUNT];
    int count = 0;
    uint64_t xmax = m->latest_completed + 1;
    struct window_snapshot snapshot;

    for (int i = 0; i < WRITER_COUNT; i++) {
        if (m->writers[i].state != WRITER_IDLE && m->writers[i].transaction.xid < xmax) {
            open[count++] = m->writers[i].transaction.xid;
        }
    }
    qsort(open, (size_t)count, sizeof(*open), compare_xids);
    int at =
        snprintf(text, sizeof(text), "%llu:%llu:", (unsigned long long)(count > 0 ? open[0] : xmax),
                 (unsigned long long)xmax);
    for (int i = 0; i < count; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%llu", i == 0 ? "" : ",",
                       (unsigned long long)open[i]);
    }
    cr_assert(window_snapshot_parse(text, &snapshot));
    return snapshot;
}

/* The relay. */

static uint64_t write_low_mark(struct model *m)
{
    uint64_t xid = m->next_xid++;

    complete(m, xid);
    return xid;
}

static void read_rows(struct model *m)
{
    m->chunk_count = 0;
    m->is_reread_chunk = false;
    for (int key = 0; key < KEY_COUNT; key++) {
        m->is_reread_chunk = m->is_reread_chunk || m->reread[key];
    }
    for (int key = 0; key < KEY_COUNT && m->chunk_count < CHUNK_ROWS; key++) {
        bool is_asked = m->is_reread_chunk ? m->reread[key] : key >= m->next_key;
        if (is_asked && m->table[key].exists) {
            m->chunk_keys[m->chunk_count] = key;
            m->chunk_rows[m->chunk_count++] = m->table[key];
        }
    }
}

static void read_chunk(struct model *m)
{
    if (!window_has_horizon(m->window)) {
        window_set_horizon(m->window, window_generation(m->window), write_low_mark(m));
        return;
    }
    window_snapshot_done(&m->snapshot);
    m->snapshot = take_snapshot(m);
    if (!m->is_naive && !window_reaches(m->window, &m->snapshot)) {
        return;
    }
    memset(m->naive_hit, 0, sizeof(m->naive_hit));
    read_rows(m);
    m->is_reading = true;
    m->wal[m->wal_count++] = (struct entry){.kind = ENTRY_MARK, .mark = ++m->mark};
}

static void publish_row(struct model *m, int key, const struct row *row)
{
    const struct row *truth = &m->delivered[key];
    struct consumer_row *consumer = &m->consumer[key];

    if (truth->exists != row->exists || truth->version != row->version ||
        truth->large != row->large) {
        m->stale_count++;
    }
    *consumer = (struct consumer_row){true, true, row->version, row->large};
}

static enum window_verdict verdict_of(const struct model *m, int index)
{
    if (m->is_naive) {
        return m->naive_hit[m->chunk_keys[index]] ? WINDOW_DROP : WINDOW_KEEP;
    }
    return window_chunk_verdict(m->window, (size_t)index);
}

static void advance(struct model *m)
{
    if (m->is_reread_chunk) {
        return;
    }
    m->is_done = m->chunk_count < CHUNK_ROWS;
    if (m->chunk_count > 0) {
        m->next_key = m->chunk_keys[m->chunk_count - 1] + 1;
    }
}

static bool nothing_to_reread(const struct model *m)
{
    for (int key = 0; key < KEY_COUNT; key++) {
        if (m->reread[key]) {
            return false;
        }
    }
    return true;
}

static void publish_chunk(struct model *m)
{
    m->is_reading = false;
    window_chunk_begin(m->window, TABLE);
    for (int i = 0; i < m->chunk_count; i++) {
        window_chunk_add(m->window, name_of(m, m->chunk_keys[i]));
    }
    if (!window_chunk_judge(m->window, &m->snapshot) && !m->is_naive) {
        return;
    }
    m->chunk_total++;
    if (m->is_reread_chunk) {
        memset(m->reread, 0, sizeof(m->reread));
    }
    for (int i = 0; i < m->chunk_count; i++) {
        int key = m->chunk_keys[i];
        switch (verdict_of(m, i)) {
        case WINDOW_KEEP:
            publish_row(m, key, &m->chunk_rows[i]);
            break;
        case WINDOW_DROP:
            break;
        case WINDOW_REREAD:
            m->reread[key] = true;
            break;
        }
    }
    advance(m);
}

static void deliver_change(struct model *m, uint64_t xid, const struct change *change)
{
    struct consumer_row *consumer = &m->consumer[change->key];

    if (change->is_truncate) {
        for (int key = 0; key < KEY_COUNT; key++) {
            m->delivered[key].exists = false;
            m->consumer[key] = (struct consumer_row){0};
            m->naive_hit[key] = true;
        }
        window_note_truncate(m->window, (uint32_t)xid, TABLE);
        return;
    }
    m->delivered[change->key] = change->row;
    m->naive_hit[change->key] = true;
    window_note(m->window, (uint32_t)xid, TABLE, name_of(m, change->key), !change->leaves_out);
    if (!change->row.exists) {
        *consumer = (struct consumer_row){0};
    } else if (change->leaves_out) {
        consumer->exists = true;
        consumer->version = change->row.version;
    } else {
        *consumer = (struct consumer_row){true, true, change->row.version, change->row.large};
    }
}

static void deliver(struct model *m)
{
    if (m->cursor == m->wal_count) {
        return;
    }
    const struct entry *entry = &m->wal[m->cursor++];
    if (entry->kind == ENTRY_MARK) {
        if (m->is_reading && entry->mark == m->mark) {
            publish_chunk(m);
        }
        return;
    }
    for (int i = 0; i < entry->count; i++) {
        deliver_change(m, entry->xid, &entry->changes[i]);
    }
}

/* Part of the stream comes again, and nothing that was noted is known any more. */
static void crash(struct model *m)
{
    int back = pick(m, 20);

    m->cursor = m->cursor > back ? m->cursor - back : 0;
    m->is_reading = false;
    m->mark++;
    window_begin(m->window);
}

/* What was repeated is older than what the consumer has: until it has caught up nothing is read. */
static void catch_up(struct model *m, int until)
{
    while (m->cursor < until) {
        deliver(m);
    }
}

static void step(struct model *m, bool may_crash)
{
    int what = pick(m, 100);

    if (what < 50) {
        write_something(m);
    } else if (what < 85) {
        deliver(m);
    } else if (what < 99) {
        if (!m->is_reading && (!m->is_done || !nothing_to_reread(m))) {
            read_chunk(m);
        }
    } else if (pick(m, 4) == 0) {
        truncate_table(m);
    } else if (may_crash) {
        int was_at = m->cursor;
        crash(m);
        catch_up(m, was_at);
    }
}

static void settle(struct model *m)
{
    for (int i = 0; i < WRITER_COUNT; i++) {
        struct writer *writer = &m->writers[i];
        if (writer->state == WRITER_OPEN) {
            m->wal[m->wal_count++] = writer->transaction;
            writer->state = WRITER_INVISIBLE;
        }
        if (writer->state == WRITER_INVISIBLE) {
            become_visible(m, writer, i);
        }
    }
    for (int i = 0; i < 1000 && (!m->is_done || !nothing_to_reread(m) || m->is_reading); i++) {
        if (!m->is_reading) {
            read_chunk(m);
        }
        catch_up(m, m->wal_count);
    }
    catch_up(m, m->wal_count);
}

static void run(struct model *m, unsigned seed, bool is_naive, bool may_crash)
{
    *m = (struct model){.seed = seed, .is_naive = is_naive};
    m->next_xid = UINT64_C(0x100000000) - 1000; /* an epoch ends in the middle */
    m->latest_completed = m->next_xid - 1;
    m->wal = calloc(WAL_MAX, sizeof(*m->wal));
    cr_assert_not_null(m->wal);
    m->window = window_new(seed);
    for (int key = 0; key < KEY_COUNT; key++) {
        m->table[key] = (struct row){.exists = pick(m, 4) != 0, .version = 1, .large = 1};
        m->delivered[key] = m->table[key];
    }
    for (int i = 0; i < 200; i++) { /* before anybody asks for a snapshot */
        write_something(m);
        deliver(m);
    }
    window_begin(m->window);
    for (int i = 0; i < STEP_MAX && m->wal_count < WAL_MAX - 2000; i++) {
        step(m, may_crash);
        if (m->is_done && nothing_to_reread(m) && !m->is_reading) {
            m->is_done = false; /* once more */
            m->next_key = 0;
        }
    }
    settle(m);
}

static void done(struct model *m)
{
    window_snapshot_done(&m->snapshot);
    window_free(m->window);
    free(m->wal);
}

static void expect_whole_table(const struct model *m, unsigned seed)
{
    for (int key = 0; key < KEY_COUNT; key++) {
        const struct row *row = &m->table[key];
        const struct consumer_row *consumer = &m->consumer[key];

        cr_assert_eq(consumer->exists, row->exists, "seed %u: key %d", seed, key);
        if (row->exists) {
            cr_assert(consumer->is_whole && consumer->version == row->version &&
                          consumer->large == row->large,
                      "seed %u: key %d is %d/%d%s, not %d/%d", seed, key, consumer->version,
                      consumer->large, consumer->is_whole ? "" : " and not whole", row->version,
                      row->large);
        }
    }
}

static unsigned first_seed(void)
{
    const char *text = getenv("WALRELAY_TEST_SEED");

    return text == NULL ? (unsigned)time(NULL) : (unsigned)strtoul(text, NULL, 10);
}

Test(window_model, publishes_no_stale_row_and_misses_none, .timeout = 100)
{
    unsigned first = first_seed();
    int chunk_total = 0;

    printf("seed %u\n", first);
    for (unsigned i = 0; i < RUN_COUNT; i++) {
        struct model m;
        run(&m, first + i, false, i % 2 == 1);
        cr_assert_eq(m.stale_count, 0, "seed %u: %d stale rows", first + i, m.stale_count);
        expect_whole_table(&m, first + i);
        chunk_total += m.chunk_total;
        done(&m);
    }
    cr_expect_gt(chunk_total, RUN_COUNT * 20, "%d chunks", chunk_total);
}

/* What this model is for: it finds what watermarks alone publish. */
Test(window_model, finds_the_stale_rows_of_watermarks_alone, .timeout = 100)
{
    int stale_count = 0;

    for (unsigned i = 0; i < 10; i++) {
        struct model m;
        run(&m, 1 + i, true, false);
        stale_count += m.stale_count;
        done(&m);
    }
    cr_expect_gt(stale_count, 0);
}
