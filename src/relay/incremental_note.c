/*
 * What has to be known again after a crash: one record of the state topic,
 *
 *   incremental-snapshot/<slot.name>/<topic.prefix>   {"cluster":…,"paused":…,"tables":[…],…}
 *
 * What was asked for is noted in the transaction that asked for it, so that this is confirmed only
 * when Kafka has the note. How far a table is read is noted once its rows are acknowledged; with
 * exactly once in the Kafka transaction of its rows.
 */
#include <stdio.h>

#include "base/log.h"
#include "config/config.h"
#include "publisher/state_lookup.h"
#include "relay/incremental_run.h"
#include "relay/ledger.h"
#include "relay/own.h"
#include "relay/progress.h"
#include "relay/state.h"

enum { ANSWER_WAIT_MS = 20 }; /* how late an answer is seen */

static void make_key(struct incremental *inc)
{
    const struct config *config = inc->r->config;
    char key[1024];

    (void)snprintf(inc->note.topic, sizeof(inc->note.topic), "walrelay.state.%s",
                   config->slot_name);
    (void)snprintf(key, sizeof(key), "incremental-snapshot/%s/%s", config->slot_name,
                   config->topic_prefix);
    wr_buffer_reset(&inc->note.key);
    wr_buffer_add_str(&inc->note.key, key);
    wr_buffer_add_char(&inc->note.key, '\0');
    inc->note.key.size--;
}

void incremental_ask_note(struct incremental *inc)
{
    if (!inc->note.is_off && inc->note.lookup == NULL) {
        make_key(inc);
        inc->note.lookup = state_lookup_start(inc->r->config, inc->note.topic, inc->note.key.data);
    }
}

/* Of another cluster, tables and places mean nothing. */
static void take_note(struct incremental *inc, struct wr_slice value)
{
    if (value.data == NULL) {
        return;
    }
    if (!incremental_state_read(value, &inc->state, &inc->progress)) {
        wr_log(WR_LOG_WARN, "incremental",
               WR_MSG("a note of an earlier snapshot is not understood"),
               WR_STR("topic", inc->note.topic));
    } else if (inc->state.system_identifier != inc->r->system_identifier) {
        incremental_state_done(&inc->state);
        incremental_progress_done(&inc->progress);
    }
}

static void know(struct incremental *inc)
{
    const struct incremental_item *item = incremental_current(inc);

    incremental_progress_copy(&inc->note.done, &inc->progress);
    for (size_t i = 0; i < inc->state.count; i++) {
        inc->next_run =
            inc->state.items[i].run > inc->next_run ? inc->state.items[i].run : inc->next_run;
    }
    if (item != NULL) {
        wr_log(WR_LOG_INFO, "incremental",
               WR_MSG(inc->state.is_paused ? "a snapshot of an earlier run is paused"
                                           : "a snapshot of an earlier run goes on"),
               WR_STR("table", item->name), WR_INT("rows", inc->progress.row_count));
    }
}

static void take_answer(struct incremental *inc)
{
    struct wr_slice value = {NULL, 0};
    struct wr_error err;

    if (state_lookup_result(inc->note.lookup, &value, &err) == WR_OK) {
        take_note(inc, value);
    } else {
        wr_log(WR_LOG_WARN, "incremental",
               WR_MSG("a crash will forget a snapshot that is asked for"),
               WR_STR("reason", err.text));
        inc->note.is_off = true;
    }
    state_lookup_free(inc->note.lookup);
    inc->note.lookup = NULL;
    inc->note.is_known = true;
    know(inc);
}

enum wr_status incremental_recall(struct incremental *inc, struct wr_error *err)
{
    if (inc->r->delivery != NULL) { /* what Kafka has is what counts: the rest was dropped */
        incremental_forget(inc);
    }
    if (inc->note.is_known || inc->note.is_off) {
        return WR_OK;
    }
    incremental_ask_note(inc);
    enum wr_status status = relay_wait_for_answer(inc->r, inc->note.lookup, err);
    if (status == WR_OK) {
        take_answer(inc);
    }
    return status == WR_AGAIN ? WR_OK : status;
}

void incremental_recall_late(struct incremental *inc)
{
    if (inc->note.lookup != NULL && state_lookup_wait(inc->note.lookup, 0)) {
        take_answer(inc);
        incremental_restart(inc);
    }
}

enum wr_status incremental_need_note(struct incremental *inc, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    while (status == WR_OK && inc->note.lookup != NULL) {
        status = relay_wait_without_input(inc->r, ANSWER_WAIT_MS * INT64_C(1000), err);
        incremental_recall_late(inc);
        if (status == WR_OK && inc->note.lookup != NULL && inc->r->stop_wanted) {
            status = wr_fail(err, WR_RETRY, "incremental", "interrupted");
        }
    }
    return status;
}

enum wr_status incremental_remember(struct incremental *inc, struct wr_error *err)
{
    static const struct incremental_keys none;

    if (inc->note.is_off) {
        return WR_OK;
    }
    inc->state.system_identifier = inc->r->system_identifier;
    wr_buffer_reset(&inc->note.value);
    /* The rows that wait to be read once more, as of then and of now. */
    incremental_state_write(&inc->state, &inc->note.done,
                            inc->progress.serial == inc->note.done.serial ? &inc->progress.reread
                                                                          : &none,
                            &inc->note.value);
    if (inc->note.value.failed) {
        return wr_fail(err, WR_FATAL, "incremental",
                       "the tables of its snapshots do not fit %d bytes", WR_CONFIG_SIZE_MAX);
    }
    bool is_own = relay_own_begin(inc->r);
    enum wr_status status =
        intake_note(inc->r->intake, inc->note.topic, wr_buffer_slice(&inc->note.key),
                    wr_buffer_slice(&inc->note.value), err);
    relay_own_end(inc->r, is_own);
    return status;
}

static enum wr_status note_done(struct incremental *inc, struct wr_error *err)
{
    incremental_progress_copy(&inc->note.done, &inc->note.pending);
    incremental_state_drop_below(&inc->state, inc->note.done.serial);
    inc->note.is_pending = false;
    return incremental_remember(inc, err);
}

/* Kafka has the rows of this transaction with the note, or neither. */
enum wr_status incremental_note_with_rows(struct incremental *inc, struct wr_error *err)
{
    inc->note.is_wanted = inc->r->delivery == NULL;
    if (inc->note.is_wanted) {
        return WR_OK;
    }
    incremental_progress_copy(&inc->note.done, &inc->progress);
    incremental_state_drop_below(&inc->state, inc->note.done.serial);
    return incremental_remember(inc, err);
}

static void note_begin(struct incremental *inc)
{
    if (!inc->note.is_wanted || inc->note.is_pending || ledger_is_open(inc->r->ledger)) {
        return;
    }
    incremental_progress_copy(&inc->note.pending, &inc->progress);
    inc->note.behind = ledger_mark(inc->r->ledger);
    inc->note.is_pending = true;
    inc->note.is_wanted = false;
}

enum wr_status incremental_note_turn(struct incremental *inc, struct wr_error *err)
{
    note_begin(inc);
    if (inc->note.is_pending && ledger_has_passed(inc->r->ledger, inc->note.behind)) {
        return note_done(inc, err);
    }
    return WR_OK;
}

enum wr_status incremental_note_rest(struct incremental *inc, struct wr_error *err)
{
    if (ledger_is_open(inc->r->ledger)) {
        return WR_OK;
    }
    for (int i = 0; i < 2; i++) { /* what was pending, and what came since */
        enum wr_status status = incremental_note_turn(inc, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}
