/*
 * Incremental snapshots: chunk after chunk is read by a session of its own while the stream goes
 * on, and published where the stream comes to the watermark behind it. What of a chunk may still be
 * published is window.c's to say; docs/adr/0008 says why it is right.
 *
 *   low watermark ─► old transactions have ended ─► highest key ─► chunk … chunk ─► next table
 *
 * Nothing here waits, but for look-ups in the catalog: each turn takes what the session has
 * answered, and asks for the next. The stream is never held up by a table that is locked.
 */
#include "relay/incremental.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "publisher/state_lookup.h"
#include "relay/incremental_run.h"
#include "relay/ledger.h"
#include "relay/signal_channel.h"
#include "relay/state.h"
#include "relay/table_tags.h"
#include "relay/window.h"
#include "streamer/chunk_reader.h"

enum {
    WAIT_US_MIN = 10 * 1000, /* for old transactions to end */
    WAIT_US_MAX = 1000 * 1000,
    RETRY_US = 1000 * 1000, /* for a session that was lost */
};

struct incremental *incremental_new(struct relay *r)
{
    struct incremental *inc = calloc(1, sizeof(*inc));
    uint64_t random[3] = {0};

    if (inc == NULL || getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        abort();
    }
    inc->r = r;
    /* Standard output remembers nothing. */
    inc->note.is_known = inc->note.is_off = r->options->to_stdout;
    inc->window = window_new(random[0]);
    (void)snprintf(inc->nonce, sizeof(inc->nonce), "%016" PRIx64 "%016" PRIx64, random[1],
                   random[2]);
    wr_buffer_init(&inc->note.key, WR_CONFIG_SIZE_MAX);
    wr_buffer_init(&inc->note.value, WR_CONFIG_SIZE_MAX);
    return inc;
}

/* Exactly once asks later, when nobody else can write any more. */
enum wr_status incremental_open(struct incremental *inc, struct wr_error *err)
{
    if (inc->r->delivery == NULL) {
        incremental_ask_note(inc);
    }
    return signal_channel_open(inc->r, &inc->channel, err);
}

void incremental_free(struct incremental *inc)
{
    if (inc == NULL) {
        return;
    }
    incremental_forget_table(inc);
    signal_channel_close(inc->channel);
    state_lookup_free(inc->note.lookup);
    chunk_reader_close(inc->reader);
    window_free(inc->window);
    incremental_state_done(&inc->state);
    incremental_progress_done(&inc->progress);
    incremental_progress_done(&inc->note.pending);
    incremental_progress_done(&inc->note.done);
    wr_buffer_done(&inc->note.key);
    wr_buffer_done(&inc->note.value);
    free(inc->is_watched);
    free(inc);
}

void incremental_forget(struct incremental *inc)
{
    incremental_void_chunk(inc);
    incremental_forget_table(inc);
    inc->table.has_failed = inc->table.nulls_read = false;
    incremental_state_done(&inc->state);
    incremental_progress_done(&inc->progress);
    incremental_progress_done(&inc->note.pending);
    incremental_progress_done(&inc->note.done);
    inc->note.is_known = inc->note.is_wanted = inc->note.is_pending = false;
}

const struct incremental_item *incremental_current(const struct incremental *inc)
{
    return incremental_state_find(&inc->state, inc->progress.serial);
}

/* Tables that were asked for are watched from now on, all of them. */
void incremental_begin_notes(struct incremental *inc)
{
    if (inc->is_watched == NULL) {
        inc->is_watched = calloc(TABLE_TAG_COUNT_MAX, sizeof(*inc->is_watched));
        if (inc->is_watched == NULL) {
            abort();
        }
    }
    memset(inc->is_watched, 0, TABLE_TAG_COUNT_MAX * sizeof(*inc->is_watched));
    for (size_t i = 0; i < inc->state.count; i++) {
        inc->is_watched[intake_tag_of(inc->r->intake, inc->state.items[i].name)] = true;
    }
    window_begin(inc->window);
    intake_watch_rows(inc->r->intake, true);
    inc->is_running = true;
    inc->has_reached = false;
    inc->wait_us = WAIT_US_MIN;
    inc->started_us = wr_clock_monotonic_us();
}

static void end_notes(struct incremental *inc)
{
    window_end(inc->window);
    intake_watch_rows(inc->r->intake, false);
    free(inc->is_watched);
    inc->is_watched = NULL;
    inc->is_running = false;
}

void incremental_void_chunk(struct incremental *inc)
{
    inc->mark[0] = '\0';
    inc->phase = INCREMENTAL_IDLE;
    inc->reread_count = 0;
    if (inc->reader != NULL && chunk_reader_is_busy(inc->reader)) {
        chunk_reader_close(inc->reader);
        inc->reader = NULL;
    }
}

void incremental_lose_reader(struct incremental *inc, const struct wr_error *cause)
{
    wr_log(WR_LOG_WARN, cause->where, WR_MSG(cause->text), WR_INT("retry_ms", RETRY_US / 1000));
    incremental_void_chunk(inc);
    chunk_reader_close(inc->reader);
    inc->reader = NULL;
    inc->wait_until_us = wr_clock_monotonic_us() + RETRY_US;
}

void incremental_restart(struct incremental *inc)
{
    incremental_void_chunk(inc);
    chunk_reader_close(inc->reader);
    inc->reader = NULL;
    if (inc->is_running || (incremental_current(inc) != NULL && !inc->state.is_paused)) {
        incremental_begin_notes(inc);
    }
}

/* Asking. */

static const char *next_mark(struct incremental *inc, const char *kind, char *out)
{
    (void)snprintf(out, INCREMENTAL_MARK_SIZE, "%s %s %" PRIu64, kind, inc->nonce,
                   ++inc->mark_count);
    return out;
}

static enum wr_status ask_mark(struct incremental *inc, struct wr_error *err)
{
    char mark[INCREMENTAL_MARK_SIZE];

    inc->phase = INCREMENTAL_MARKING;
    inc->has_reached = false;
    inc->asked_generation = window_generation(inc->window);
    return chunk_reader_mark(inc->reader, next_mark(inc, "low", mark), err);
}

static void begin_table(struct incremental *inc, const struct incremental_item *item)
{
    incremental_progress_done(&inc->progress);
    inc->progress.serial = item->serial;
    incremental_forget_table(inc);
}

static enum wr_status ask_reread(struct incremental *inc, const char *mark, struct wr_error *err)
{
    const struct incremental_keys *reread = &inc->progress.reread;
    uint16_t width = chunk_table_key_count(inc->table.chunks);
    size_t limit = (size_t)inc->table.row_limit;
    size_t count = reread->count < limit ? reread->count : limit;
    const char **texts = calloc(count * width, sizeof(*texts));

    if (texts == NULL) {
        abort();
    }
    uint32_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        if (reread->items[i].count == width) { /* else the table has another key by now */
            memcpy(texts + (size_t)asked++ * width, reread->items[i].texts, width * sizeof(*texts));
        }
    }
    inc->reread_count = count;
    enum wr_status status = chunk_reader_read(
        inc->reader, inc->table.chunks,
        &(struct chunk_range){.keys = texts, .key_count = asked, .is_listed = true}, mark, err);
    free(texts);
    return status;
}

/* Whether all other rows were read. */
static bool is_range_done(const struct incremental *inc)
{
    return inc->progress.is_behind_max &&
           (inc->table.nulls_read || !chunk_table_has_nulls(inc->table.chunks));
}

static enum wr_status ask_chunk(struct incremental *inc, struct wr_error *err)
{
    struct incremental_progress *progress = &inc->progress;

    inc->phase = INCREMENTAL_READING;
    inc->table.has_changed = false;
    next_mark(inc, "high", inc->mark);
    if (progress->reread.count > 0 && (!inc->was_reread || is_range_done(inc))) {
        return ask_reread(inc, inc->mark, err);
    }
    struct chunk_range range = {
        .last = progress->last.count == 0 ? NULL : (const char *const *)progress->last.texts,
        .max = (const char *const *)progress->max.texts,
        .limit = inc->table.row_limit,
        .only_nulls = progress->is_behind_max,
    };
    return chunk_reader_read(inc->reader, inc->table.chunks, &range, inc->mark, err);
}

/* What comes next of the table that is open. */
static enum wr_status ask_rows(struct incremental *inc, struct wr_error *err)
{
    if (inc->progress.max.count == 0 && !inc->progress.is_behind_max) {
        inc->phase = INCREMENTAL_MAXING;
        return chunk_reader_max(inc->reader, inc->table.chunks, err);
    }
    if (inc->progress.reread.count == 0 && is_range_done(inc)) {
        return incremental_table_over(inc, inc->progress.row_count == 0 ? "EMPTY" : "SUCCEEDED",
                                      err);
    }
    return ask_chunk(inc, err);
}

static enum wr_status ask(struct incremental *inc, struct wr_error *err)
{
    const struct incremental_item *item = incremental_current(inc);

    if (inc->reader == NULL) {
        return chunk_reader_open(inc->r->config, &inc->reader, err);
    }
    if (item->is_expression) {
        inc->phase = INCREMENTAL_FINDING;
        return chunk_reader_list(inc->reader, err);
    }
    if (!window_has_horizon(inc->window)) {
        return ask_mark(inc, err);
    }
    if (!inc->has_reached) {
        inc->phase = INCREMENTAL_LOOKING;
        return chunk_reader_look(inc->reader, err);
    }
    if (item->serial != inc->progress.serial) {
        begin_table(inc, item);
    }
    return inc->table.chunks == NULL ? incremental_table_open(inc, err) : ask_rows(inc, err);
}

/* Answers. */

static enum wr_status take_look(struct incremental *inc, struct wr_error *err)
{
    struct window_snapshot snapshot;
    const char *text = chunk_reader_snapshot(inc->reader);

    if (!window_snapshot_parse(text, &snapshot)) {
        return wr_fail(err, WR_FATAL, "incremental", "an odd snapshot of the server: %s", text);
    }
    inc->has_reached = window_reaches(inc->window, &snapshot);
    if (!inc->has_reached) {
        int64_t now_us = wr_clock_monotonic_us();
        if (inc->wait_us >= WAIT_US_MAX && inc->started_us != 0) {
            wr_log(WR_LOG_INFO, "incremental",
                   WR_MSG("waiting for transactions to end that were open when the snapshot was "
                          "asked for"),
                   WR_INT("xmin", snapshot.xmin));
            inc->started_us = 0; /* said once */
        }
        inc->wait_until_us = now_us + inc->wait_us;
        inc->wait_us = inc->wait_us * 2 > WAIT_US_MAX ? WAIT_US_MAX : inc->wait_us * 2;
    }
    window_snapshot_done(&snapshot);
    return WR_OK;
}

static void take_max(struct incremental *inc)
{
    struct incremental_key key = {.count = 0};

    if (chunk_reader_row_count(inc->reader) == 0) {
        inc->progress.is_behind_max = true; /* but for rows without a key */
        return;
    }
    for (uint16_t i = 0; i < chunk_table_key_count(inc->table.chunks); i++) {
        const char *text = chunk_reader_value(inc->reader, 0, i);
        key.texts[key.count] = strdup(text == NULL ? "" : text);
        if (key.texts[key.count++] == NULL) {
            abort();
        }
    }
    incremental_key_copy(&inc->progress.max, &key);
    incremental_key_done(&key);
}

/* The server has refused: perhaps for the table has changed meanwhile, so it is looked up anew. */
static enum wr_status take_refusal(struct incremental *inc, struct wr_error *err)
{
    struct wr_error cause = *err;

    incremental_void_chunk(inc);
    if (!inc->table.has_failed) {
        inc->table.has_failed = true;
        incremental_forget_table(inc);
        return WR_OK;
    }
    return incremental_table_refuse(inc, "SQL_EXCEPTION", &cause, err);
}

static enum wr_status take_answer(struct incremental *inc, struct wr_error *err)
{
    switch (inc->phase) {
    case INCREMENTAL_FINDING:
        inc->phase = INCREMENTAL_IDLE;
        return incremental_found(inc, err);
    case INCREMENTAL_MARKING:
        window_set_horizon(inc->window, inc->asked_generation, chunk_reader_xid(inc->reader));
        break;
    case INCREMENTAL_LOOKING:
        inc->phase = INCREMENTAL_IDLE;
        return take_look(inc, err);
    case INCREMENTAL_LOCKING:
        inc->table.is_free = true;
        break;
    case INCREMENTAL_MAXING:
        take_max(inc);
        break;
    case INCREMENTAL_READING:
        return WR_OK; /* until the stream comes to its watermark */
    case INCREMENTAL_IDLE:
        break;
    }
    inc->phase = INCREMENTAL_IDLE;
    return WR_OK;
}

static enum wr_status step(struct incremental *inc, struct wr_error *err)
{
    enum wr_status status = chunk_reader_step(inc->reader, err);

    switch (status) {
    case WR_AGAIN:
        return WR_OK;
    case WR_OK:
        return take_answer(inc, err);
    case WR_REJECT:
        return take_refusal(inc, err);
    case WR_RETRY:
    case WR_FATAL:
        break;
    }
    return status;
}

static bool is_due(const struct incremental *inc)
{
    return inc->wait_until_us == 0 || wr_clock_monotonic_us() >= inc->wait_until_us;
}

/* Nothing more is to be read, or not now. */
static void rest(struct incremental *inc)
{
    if (inc->is_running) {
        end_notes(inc);
    }
    chunk_reader_close(inc->reader);
    inc->reader = NULL;
    if (incremental_current(inc) == NULL) {
        incremental_forget_table(inc);
    }
}

static enum wr_status go_on(struct incremental *inc, struct wr_error *err)
{
    bool is_busy = inc->reader != NULL && chunk_reader_is_busy(inc->reader);

    if (is_busy) {
        return step(inc, err);
    }
    if (inc->phase == INCREMENTAL_READING || !is_due(inc)) {
        return WR_OK;
    }
    if (inc->state.is_paused || incremental_current(inc) == NULL) {
        rest(inc);
        return WR_OK;
    }
    if (!inc->is_running) {
        incremental_begin_notes(inc);
    }
    inc->wait_until_us = 0;
    return ask(inc, err);
}

enum wr_status incremental_turn(struct incremental *inc, struct wr_error *err)
{
    enum wr_status status = signal_channel_turn(inc->channel, err);

    incremental_recall_late(inc);
    if (status != WR_OK || (inc->state.count == 0 && !inc->is_running)) {
        return status;
    }
    if (!ledger_has_room(inc->r->ledger)) {
        return WR_OK; /* for what is told of it */
    }
    status = incremental_note_turn(inc, err);
    if (status == WR_OK) {
        status = go_on(inc, err);
    }
    if (status == WR_RETRY) {
        incremental_lose_reader(inc, err);
        return WR_OK;
    }
    return status;
}

int incremental_channel_fd(const struct incremental *inc)
{
    return signal_channel_fd(inc->channel);
}

int incremental_fd(const struct incremental *inc)
{
    return inc->reader == NULL || !chunk_reader_is_busy(inc->reader) ? -1
                                                                     : chunk_reader_fd(inc->reader);
}

bool incremental_wants_write(const struct incremental *inc)
{
    return chunk_reader_wants_write(inc->reader);
}

/* 0: there is something to ask for. */
int64_t incremental_until_us(const struct incremental *inc)
{
    bool is_busy = inc->reader != NULL && chunk_reader_is_busy(inc->reader);

    if ((inc->state.count == 0 && !inc->is_running) || is_busy ||
        inc->phase == INCREMENTAL_READING) {
        return INT64_MAX;
    }
    if (inc->state.is_paused || incremental_current(inc) == NULL) {
        return inc->is_running ? 0 : INT64_MAX;
    }
    int64_t left_us = inc->wait_until_us - wr_clock_monotonic_us();
    return left_us > 0 ? left_us : 0;
}
