#include "relay/progress.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "publisher/publisher.h"
#include "publisher/state_lookup.h"
#include "relay/batcher.h"
#include "relay/delivery.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/position.h"
#include "relay/state.h"
#include "streamer/catalog_pg.h"
#include "streamer/stream.h"
#include "streamer/timeline.h"

enum {
    ANSWER_MS = 2000,    /* then the stream goes on without */
    WAIT_MS = 20,        /* how late a signal is seen */
    NOTE_SOON_MS = 100,  /* behind the last acknowledgement of a burst */
    NOTE_BUSY_MS = 1000, /* while more is in flight */
    NOTE_IDLE_MS = 1000, /* the first time that only the end of the WAL has moved */
};

enum wr_status relay_wait_for_answer(struct relay *r, struct state_lookup *lookup,
                                     struct wr_error *err)
{
    int64_t end_us = wr_clock_monotonic_us() + ANSWER_MS * INT64_C(1000);

    while (!state_lookup_wait(lookup, WAIT_MS)) {
        relay_read_signals(r);
        if (r->stop_wanted) {
            return wr_fail(err, WR_RETRY, "relay", "interrupted");
        }
        if (r->delivery == NULL && wr_clock_monotonic_us() >= end_us) {
            return WR_AGAIN;
        }
    }
    return WR_OK;
}

/* Takes in the answer of the lookup, once there is one. */
static enum wr_status take_answer(struct relay *r, struct wr_error *err)
{
    struct wr_slice value = {0};
    enum wr_status status = state_lookup_result(r->progress.lookup, &value, err);

    r->progress.is_kept = status == WR_OK;
    if (status == WR_OK) {
        (void)position_read(value, &r->position);
    } else if (status == WR_REJECT && r->delivery == NULL) {
        wr_log(WR_LOG_WARN, "position",
               WR_MSG("without a state topic nobody will notice when the slot is moved by somebody "
                      "else"),
               WR_STR("reason", err->text));
        status = WR_OK;
    } else if (status == WR_REJECT) {
        err->status = WR_FATAL;
        status = WR_FATAL;
    }
    state_lookup_free(r->progress.lookup);
    r->progress.lookup = NULL;
    return status;
}

void relay_ask_position(struct relay *r)
{
    char topic[POSITION_NAME_SIZE];
    char key[POSITION_NAME_SIZE];

    position_topic(r->config, topic);
    position_key(r->config, key);
    state_lookup_free(r->progress.lookup);
    r->progress.lookup = state_lookup_start(r->config, topic, key);
}

enum wr_status relay_load_position(struct relay *r, struct wr_error *err)
{
    if (r->progress.lookup == NULL) {
        relay_ask_position(r);
    }
    enum wr_status status = relay_wait_for_answer(r, r->progress.lookup, err);
    if (status == WR_AGAIN) {
        wr_log(WR_LOG_WARN, "position",
               WR_MSG("kafka does not answer: nothing is confirmed until it has said how far the "
                      "stream was"));
        r->progress.is_kept = true;
        return WR_OK;
    }
    return status == WR_OK ? take_answer(r, err) : status;
}

static enum wr_status find_switch(struct relay *r, wr_lsn *lsn, struct wr_error *err)
{
    *lsn = 0;
    return r->position.is_known && stream_identity(r->stream)->timeline > r->position.timeline
               ? timeline_end(stream_identity(r->stream)->history, r->position.timeline, lsn, err)
               : WR_OK;
}

/* A position of what is here now, with nothing published of it. */
static void begin_anew(struct relay *r)
{
    uint64_t txn_no = r->position.txn_no;

    r->position = (struct position){
        .system_identifier = r->system_identifier,
        .timeline = stream_identity(r->stream)->timeline,
        .txn_no = txn_no,
    };
}

enum wr_status relay_check_position(struct relay *r, const struct slot_state *slot,
                                    struct wr_error *err)
{
    struct position_server server = {
        .system_identifier = stream_identity(r->stream)->system_identifier,
        .timeline = stream_identity(r->stream)->timeline,
        .wal_lsn = stream_identity(r->stream)->wal_lsn,
        .slot_name = r->config->slot_name,
        .has_slot = slot->exists,
        .confirmed_lsn = slot->confirmed_flush_lsn,
    };
    struct slot_state snapshot = {0};
    enum wr_status status = WR_OK;

    r->progress.slot = *slot;
    r->progress.slot_lsn = slot->confirmed_flush_lsn;
    if (r->progress.lookup != NULL) {
        return WR_OK; /* nothing is known yet; the rest when it is */
    }
    if (r->position.is_known && !slot->exists) {
        status = catalog_snapshot_slot(r->catalog, &snapshot, err);
        server.has_snapshot_slot = snapshot.exists;
    }
    if (status == WR_OK) {
        status = find_switch(r, &server.switch_lsn, err);
    }
    if (status != WR_OK) {
        return status;
    }
    status = position_check(&r->position, &server, err);
    if (status == WR_FATAL && r->options->accept_gap && !r->progress.is_gap_used) {
        wr_log(WR_LOG_WARN, "position", WR_MSG("going on in spite of this (--accept-gap)"),
               WR_STR("gap", err->text));
        begin_anew(r);
        r->progress.is_gap_accepted = true;
        r->progress.is_gap_used = true;
        status = WR_OK;
    }
    if (status == WR_OK && !r->position.is_known) {
        begin_anew(r);
    }
    r->position.timeline = server.timeline;
    return status;
}

/* The answer that did not come at the start. */
static enum wr_status take_late_answer(struct relay *r, struct wr_error *err)
{
    if (r->progress.lookup == NULL || !r->is_streaming ||
        !state_lookup_wait(r->progress.lookup, 0)) {
        return WR_OK;
    }
    enum wr_status status = take_answer(r, err);
    return status == WR_OK && r->progress.is_kept ? relay_check_position(r, &r->progress.slot, err)
                                                  : status;
}

wr_lsn relay_confirmable(const struct relay *r)
{
    wr_lsn lsn = ledger_confirmable(r->ledger);
    wr_lsn known = r->progress.slot_lsn;

    if (known < r->position.acked_lsn) {
        known = r->position.acked_lsn;
    }
    return r->progress.is_kept && lsn > known ? known : lsn;
}

/* Nothing was published since the last note; only the end of the WAL has moved. */
static bool is_idle(const struct relay *r)
{
    return intake_end_lsn(r->intake) <= r->position.acked_lsn;
}

static int64_t due_us(const struct relay *r)
{
    if (!r->progress.is_kept || r->progress.lookup != NULL || r->progress.is_noting ||
        !r->is_streaming || ledger_confirmable(r->ledger) <= r->position.acked_lsn) {
        return INT64_MAX;
    }
    if (!is_idle(r)) {
        return r->progress.noted_us +
               (ledger_is_empty(r->ledger) ? NOTE_SOON_MS : NOTE_BUSY_MS) * INT64_C(1000);
    }
    int64_t wait_us = NOTE_IDLE_MS * INT64_C(1000);
    if (r->progress.was_idle || r->status_interval_us < wait_us) {
        wait_us = r->status_interval_us;
    }
    return r->progress.noted_us + wait_us;
}

int64_t relay_until_note_us(const struct relay *r)
{
    int64_t now_us = wr_clock_monotonic_us();
    int64_t at_us = due_us(r);

    return at_us == INT64_MAX ? INT64_MAX : at_us <= now_us ? 0 : at_us - now_us;
}

/* Beside the records of the tables: it belongs to no transaction of the ledger. */
static enum wr_status produce(struct relay *r, const struct position *next, struct wr_error *err)
{
    char topic[POSITION_NAME_SIZE];
    char key[POSITION_NAME_SIZE];
    char value[POSITION_VALUE_SIZE];
    size_t size = next == NULL ? 0 : position_write(next, value);

    position_topic(r->config, topic);
    position_key(r->config, key);
    struct publisher_record record = {.topic = wr_slice_str(topic),
                                      .partition = 0,
                                      .timestamp_ms = -1,
                                      .key = wr_slice_str(key),
                                      .value = {value, size},
                                      .value_is_null = next == NULL,
                                      .ticket = INTAKE_ASIDE};
    enum wr_status status = publisher_produce(r->publisher, &record, err);
    if (status == WR_OK) {
        intake_count_aside(r->intake);
        r->progress.is_noting = true;
    }
    return status;
}

static enum wr_status write_now(struct relay *r, struct wr_error *err)
{
    if (r->delivery != NULL) {
        r->progress.is_noting = true;
        delivery_want_note(r);
        return WR_OK;
    }
    wr_lsn confirmable = ledger_confirmable(r->ledger);
    wr_lsn end = intake_end_lsn(r->intake);
    r->progress.next =
        batcher_position(&r->position, confirmable, end < confirmable ? end : confirmable);
    enum wr_status status = produce(r, &r->progress.next, err);
    return status == WR_AGAIN ? WR_OK : status; /* once there is room */
}

enum wr_status relay_note_position(struct relay *r, struct wr_error *err)
{
    enum wr_status status = take_late_answer(r, err);

    return status == WR_OK && relay_until_note_us(r) == 0 ? write_now(r, err) : status;
}

void relay_position_noted(struct relay *r, const struct position *position)
{
    const struct position *now = position == NULL ? &r->progress.next : position;

    assert(now->acked_lsn >= r->position.acked_lsn);
    r->progress.was_idle = now->last_end_lsn == r->position.last_end_lsn;
    r->position = *now;
    r->progress.is_noting = false;
    r->progress.noted_us = wr_clock_monotonic_us();
}

/* Serves everything until nothing is being written. */
static enum wr_status wait_until_noted(struct relay *r, int64_t end_us, struct wr_error *err)
{
    while (r->progress.is_noting) {
        if (wr_clock_monotonic_us() >= end_us) {
            return WR_AGAIN;
        }
        enum wr_status status = relay_wait_without_input(r, 20000, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

enum wr_status relay_settle_position(struct relay *r, int64_t timeout_ms, struct wr_error *err)
{
    int64_t end_us = timeout_ms < 0 ? INT64_MAX : wr_clock_monotonic_us() + timeout_ms * 1000;
    enum wr_status status = WR_OK;

    while (status == WR_OK && r->progress.is_kept && r->progress.lookup == NULL &&
           r->is_streaming && ledger_confirmable(r->ledger) > r->position.acked_lsn) {
        if (!r->progress.is_noting) {
            status = write_now(r, err);
        }
        if (status == WR_OK) {
            status = wait_until_noted(r, end_us, err);
        }
    }
    return status;
}

/* Exactly once: with the position in place, a transaction of that alone writes it. */
enum wr_status relay_set_position(struct relay *r, wr_lsn lsn, struct wr_error *err)
{
    if (!r->progress.is_kept || r->progress.lookup != NULL) {
        return WR_OK;
    }
    struct position next = batcher_position(&r->position, lsn, lsn);
    next.partial_lsn = 0;
    next.partial_count = 0;
    r->progress.next = next;
    enum wr_status status =
        r->delivery != NULL ? delivery_put_position(r, &next, err) : produce(r, &next, err);
    return status == WR_OK ? wait_until_noted(r, INT64_MAX, err) : status;
}

enum wr_status relay_forget_position(struct relay *r, struct wr_error *err)
{
    if (!r->progress.is_kept || r->progress.lookup != NULL) {
        return WR_OK;
    }
    if (r->delivery != NULL) {
        return delivery_forget_position(r, err);
    }
    r->progress.next = r->position;
    enum wr_status status = produce(r, NULL, err);
    return status == WR_OK ? wait_until_noted(r, INT64_MAX, err) : status;
}
