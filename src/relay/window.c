#include "relay/window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    NOTE_COUNT_MIN = 1024,
    NOTE_COUNT_MAX = 1 << 20, /* 16 MB */
};

/* Bit 0 of a key is free for what a note says beside it. */
#define KEY_MASK       (~UINT64_C(1))
#define NOTE_IS_WHOLE  UINT64_C(1)
#define NOTE_TRUNCATED UINT64_C(0) /* in place of a key: no key is 0 */

struct note {
    uint64_t key;
    uint32_t xid;
    uint32_t oid;
};

struct row {
    uint64_t key;
    enum window_verdict verdict;
};

struct window {
    uint64_t seed;
    bool is_noting;
    bool has_horizon;
    uint64_t generation;
    uint64_t horizon;
    struct note *notes; /* as they were delivered */
    size_t note_count, note_capacity;
    uint32_t chunk_oid;
    struct row *rows;
    size_t row_count, row_capacity;
    uint32_t *slots; /* open addressing by key: place in `rows` plus one, 0 is free */
    size_t slot_count;
};

bool window_snapshot_parse(const char *text, struct window_snapshot *out)
{
    char *end = NULL;

    *out = (struct window_snapshot){.xmin = strtoull(text, &end, 10)};
    if (end == text || *end != ':') {
        return false;
    }
    const char *start = end + 1;
    out->xmax = strtoull(start, &end, 10);
    if (end == start || *end != ':') {
        return false;
    }
    size_t capacity = 1;
    for (const char *c = end; *c != '\0'; c++) {
        capacity += *c == ',';
    }
    out->in_progress = calloc(capacity, sizeof(*out->in_progress));
    if (out->in_progress == NULL) {
        abort();
    }
    if (end[1] == '\0') {
        return true; /* nothing is in progress */
    }
    do {
        start = end + 1;
        out->in_progress[out->in_progress_count++] = strtoull(start, &end, 10);
    } while (end != start && *end == ',');
    if (end == start || *end != '\0') {
        window_snapshot_done(out);
        return false;
    }
    return true;
}

void window_snapshot_done(struct window_snapshot *snapshot)
{
    free(snapshot->in_progress);
    *snapshot = (struct window_snapshot){0};
}

/* The id with its epoch: the one that is next to `near`, since half of all ids are never alive at
 * once. */
static uint64_t with_epoch(uint32_t xid, uint64_t near)
{
    return near + (uint64_t)(int64_t)(int32_t)(xid - (uint32_t)near);
}

bool window_snapshot_sees(const struct window_snapshot *snapshot, uint32_t short_xid)
{
    uint64_t xid = with_epoch(short_xid, snapshot->xmax);
    size_t low = 0;
    size_t high = snapshot->in_progress_count;

    if (xid < snapshot->xmin || xid >= snapshot->xmax) {
        return xid < snapshot->xmin;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (snapshot->in_progress[middle] < xid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == snapshot->in_progress_count || snapshot->in_progress[low] != xid;
}

struct window *window_new(uint64_t seed)
{
    struct window *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        abort();
    }
    w->seed = seed;
    return w;
}

static void forget(struct window *w)
{
    free(w->notes);
    w->notes = NULL;
    w->note_count = w->note_capacity = 0;
    w->has_horizon = false;
    w->generation++;
}

void window_free(struct window *w)
{
    if (w != NULL) {
        forget(w);
        free(w->rows);
        free(w->slots);
        free(w);
    }
}

/* The finalizer of MurmurHash3: every bit of the input reaches every bit of the output. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

uint64_t window_key_begin(const struct window *w)
{
    return mix(w->seed + 1);
}

/* The size goes in first, so that ("ab", "c") and ("a", "bc") differ. */
uint64_t window_key_add(uint64_t key, struct wr_slice text, bool is_null)
{
    key = mix(key ^ (is_null ? UINT64_MAX : text.size));
    for (size_t i = 0; !is_null && i < text.size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, text.data + i, text.size - i < 8 ? text.size - i : 8);
        key = mix(key ^ word);
    }
    return key;
}

/* What is left of it beside the flag, and never NOTE_TRUNCATED. */
static uint64_t masked(uint64_t key)
{
    return (key & KEY_MASK) == NOTE_TRUNCATED ? 2 : key & KEY_MASK;
}

void window_begin(struct window *w)
{
    forget(w);
    w->is_noting = true;
}

void window_end(struct window *w)
{
    forget(w);
    w->is_noting = false;
}

uint64_t window_generation(const struct window *w)
{
    return w->generation;
}

void window_set_horizon(struct window *w, uint64_t generation, uint64_t xid)
{
    if (w->is_noting && w->generation == generation) {
        w->horizon = xid;
        w->has_horizon = true;
    }
}

bool window_has_horizon(const struct window *w)
{
    return w->has_horizon;
}

bool window_reaches(const struct window *w, const struct window_snapshot *snapshot)
{
    return w->has_horizon && snapshot->xmin >= w->horizon;
}

/* A place for one more; NULL after an overflow, which begins the notes anew behind itself. */
static struct note *note_new(struct window *w)
{
    if (w->note_count == NOTE_COUNT_MAX) {
        forget(w);
        return NULL;
    }
    if (w->note_count == w->note_capacity) {
        w->note_capacity = w->note_capacity == 0 ? NOTE_COUNT_MIN : w->note_capacity * 2;
        w->notes = reallocarray(w->notes, w->note_capacity, sizeof(*w->notes));
        if (w->notes == NULL) {
            abort();
        }
    }
    return &w->notes[w->note_count++];
}

static void note(struct window *w, const struct note *content)
{
    struct note *place = w->is_noting ? note_new(w) : NULL;

    if (place != NULL) {
        *place = *content;
    }
}

void window_note(struct window *w, uint32_t xid, uint32_t oid, uint64_t key, bool is_whole)
{
    note(w, &(struct note){
                .key = masked(key) | (is_whole ? NOTE_IS_WHOLE : 0), .xid = xid, .oid = oid});
}

void window_note_truncate(struct window *w, uint32_t xid, uint32_t oid)
{
    note(w, &(struct note){.key = NOTE_TRUNCATED, .xid = xid, .oid = oid});
}

size_t window_note_count(const struct window *w)
{
    return w->note_count;
}

void window_chunk_begin(struct window *w, uint32_t oid)
{
    w->chunk_oid = oid;
    w->row_count = 0;
}

void window_chunk_add(struct window *w, uint64_t key)
{
    if (w->row_count == w->row_capacity) {
        w->row_capacity = w->row_capacity == 0 ? NOTE_COUNT_MIN : w->row_capacity * 2;
        w->rows = reallocarray(w->rows, w->row_capacity, sizeof(*w->rows));
        if (w->rows == NULL) {
            abort();
        }
    }
    w->rows[w->row_count++] = (struct row){.key = masked(key), .verdict = WINDOW_KEEP};
}

static void index_rows(struct window *w)
{
    size_t wanted = NOTE_COUNT_MIN;

    while (wanted < w->row_count * 2) {
        wanted *= 2;
    }
    if (wanted > w->slot_count) {
        free(w->slots);
        w->slots = calloc(wanted, sizeof(*w->slots));
        if (w->slots == NULL) {
            abort();
        }
        w->slot_count = wanted;
    } else {
        memset(w->slots, 0, w->slot_count * sizeof(*w->slots));
    }
    for (size_t i = 0; i < w->row_count; i++) {
        size_t slot = (size_t)(w->rows[i].key >> 1) & (w->slot_count - 1);
        while (w->slots[slot] != 0) {
            slot = (slot + 1) & (w->slot_count - 1);
        }
        w->slots[slot] = (uint32_t)(i + 1);
    }
}

static void mark(struct row *row, bool is_whole)
{
    if (is_whole || row->verdict == WINDOW_DROP) {
        row->verdict = WINDOW_DROP; /* what follows only leaves out what is known by then */
    } else {
        row->verdict = WINDOW_REREAD;
    }
}

/* A table without a key may have the same row twice: all of them. */
static void apply(struct window *w, uint64_t key)
{
    size_t slot = (size_t)((key & KEY_MASK) >> 1) & (w->slot_count - 1);

    if (key == NOTE_TRUNCATED) {
        for (size_t i = 0; i < w->row_count; i++) {
            w->rows[i].verdict = WINDOW_DROP;
        }
        return;
    }
    for (; w->slots[slot] != 0; slot = (slot + 1) & (w->slot_count - 1)) {
        struct row *row = &w->rows[w->slots[slot] - 1];
        if (row->key == (key & KEY_MASK)) {
            mark(row, (key & NOTE_IS_WHOLE) != 0);
        }
    }
}

bool window_chunk_judge(struct window *w, const struct window_snapshot *snapshot)
{
    size_t kept = 0;
    uint32_t xid = 0;
    bool is_seen = true;

    if (!window_reaches(w, snapshot)) {
        return false;
    }
    index_rows(w);
    for (size_t i = 0; i < w->note_count; i++) {
        if (i == 0 || w->notes[i].xid != xid) {
            xid = w->notes[i].xid;
            is_seen = window_snapshot_sees(snapshot, xid);
        }
        if (is_seen) {
            continue; /* and by every later snapshot, too */
        }
        if (w->notes[i].oid == w->chunk_oid) {
            apply(w, w->notes[i].key);
        }
        w->notes[kept++] = w->notes[i];
    }
    w->note_count = kept;
    return true;
}

enum window_verdict window_chunk_verdict(const struct window *w, size_t row)
{
    assert(row < w->row_count);
    return w->rows[row].verdict;
}
