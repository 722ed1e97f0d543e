/*
 * The initial snapshot: when one is taken, and how it joins the stream.
 *
 *   no slot yet    a slot is made with the snapshot that belongs to its place in the WAL; the rows
 *                  are published; the stream goes on at that place
 *   a slot exists  (snapshot.mode=always) a passing slot is made for the sake of its snapshot; the
 *                  stream is published up to there, then the rows, then the stream goes on
 *
 * So a row of the snapshot never comes behind a newer change of it, and none is missing.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/regex.h"
#include "config/config.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/state.h"
#include "streamer/catalog_pg.h"
#include "streamer/snapshot.h"
#include "streamer/stream.h"

enum {
    ROWS_A_TURN = 256, /* between two looks at acknowledgements and timers */
    PROGRESS_INTERVAL_MS = 5000,
    STOP_TIMEOUT_MS = 5000, /* for the server to end a stream */
    NAME_SIZE_MAX = 256,    /* two identifiers of at most 63 bytes and a dot */
};

enum wr_status relay_open_snapshot(struct relay *r, struct wr_error *err)
{
    const char *list = r->config->snapshot_include_list;

    return list == NULL ? WR_OK : wr_regex_list_new(list, &r->snapshot_tables, err);
}

static bool is_wanted(void *context, const char *schema, const char *table)
{
    struct relay *r = context;
    char name[NAME_SIZE_MAX];

    if (!relay_captures(r, schema, table)) {
        return false;
    }
    (void)snprintf(name, sizeof(name), "%s.%s", schema, table);
    return r->snapshot_tables == NULL ||
           wr_regex_list_matches(r->snapshot_tables, wr_slice_str(name));
}

bool relay_wants_snapshot(const struct relay *r, const struct slot_state *slot)
{
    switch (r->config->snapshot_mode) {
    case SNAPSHOT_INITIAL:
    case SNAPSHOT_WHEN_NEEDED:
        return !slot->exists;
    case SNAPSHOT_ALWAYS:
    case SNAPSHOT_INITIAL_ONLY:
        return !slot->exists || !r->has_snapshot;
    case SNAPSHOT_NO_DATA:
    case SNAPSHOT_CONFIGURATION_BASED: /* the loader has made it into another */
        break;
    }
    return false;
}

enum wr_status relay_renew_slot(struct relay *r, struct slot_state *slot, struct wr_error *err)
{
    bool is_lost = strcmp(slot->wal_status, "lost") == 0;
    bool is_missing = !slot->exists && r->was_connected;

    if (r->config->snapshot_mode != SNAPSHOT_WHEN_NEEDED || !(is_lost || is_missing)) {
        return WR_OK;
    }
    wr_log(WR_LOG_WARN, "snapshot",
           WR_MSG("the slot is lost: a new one is made, with a new snapshot. Rows that were "
                  "deleted meanwhile stay in Kafka as they were"),
           WR_STR("slot.name", r->config->slot_name),
           WR_STR("reason", is_missing ? "it is gone" : slot->invalidation_reason),
           WR_LSN("lsn", slot->exists ? slot->confirmed_flush_lsn : r->start_lsn));
    enum wr_status status = is_lost ? stream_drop_slot(r->stream, err) : WR_OK;
    if (status == WR_OK) {
        *slot = (struct slot_state){0};
        r->start_lsn = 0;
        r->was_connected = false;
    }
    return status;
}

static enum wr_status take_event(struct relay *r, const struct snapshot_event *event,
                                 struct wr_error *err)
{
    switch (event->kind) {
    case SNAPSHOT_TABLE:
        return intake_snapshot_table(r->intake, event->relation, err);
    case SNAPSHOT_ROW:
        return intake_snapshot_row(r->intake, event->relation_oid, &event->row, event->marker, err);
    case SNAPSHOT_PART:
    case SNAPSHOT_DONE:
        break;
    }
    return WR_OK;
}

static enum wr_status wait_for_rows(struct relay *r, struct wr_error *err)
{
    bool is_readable = false;
    enum wr_status status =
        relay_wait_for(r, snapshot_fd(r->snapshot), false, 100000, &is_readable, err);

    if (status == WR_OK && is_readable) {
        intake_clock(r->intake, wr_clock_realtime_ns());
        status = snapshot_consume(r->snapshot, err);
    }
    return status;
}

static enum wr_status copy_step(struct relay *r, bool *is_done, struct wr_error *err)
{
    struct snapshot_event event;

    for (int i = 0; i < ROWS_A_TURN && !relay_is_paused(r); i++) {
        enum wr_status status = snapshot_next(r->snapshot, &event, err);
        if (status == WR_AGAIN) {
            return wait_for_rows(r, err);
        }
        if (status == WR_OK) {
            *is_done = event.kind == SNAPSHOT_DONE;
            status = take_event(r, &event, err);
        }
        if (status != WR_OK || *is_done) {
            return status;
        }
    }
    return relay_is_paused(r) ? relay_wait_without_input(r, 100000, err)
                              : relay_send(r, false, err);
}

static void say_progress(const struct relay *r, uint64_t first_count, int64_t *said_us)
{
    int64_t now_us = wr_clock_monotonic_us();

    if (now_us - *said_us >= (int64_t)PROGRESS_INTERVAL_MS * 1000) {
        *said_us = now_us;
        wr_log(WR_LOG_INFO, "snapshot", WR_MSG("snapshot goes on"),
               WR_INT("records", intake_record_count(r->intake) - first_count));
    }
}

static enum wr_status copy_rows(struct relay *r, uint64_t first_count, struct wr_error *err)
{
    int64_t said_us = wr_clock_monotonic_us();
    enum wr_status status = WR_OK;
    bool is_done = false;

    while (status == WR_OK && !is_done) {
        status = copy_step(r, &is_done, err);
        if (status == WR_OK) {
            status = relay_serve_publisher(r, err);
        }
        if (status == WR_OK && r->stop_wanted) {
            return wr_fail(err, WR_RETRY, "snapshot", "interrupted");
        }
        say_progress(r, first_count, &said_us);
    }
    return status;
}

/* Reads the snapshot to its end, and waits until Kafka has all of it. */
static enum wr_status copy_tables(struct relay *r, wr_lsn lsn, struct wr_error *err)
{
    uint64_t first_count = intake_record_count(r->intake);
    int64_t started_us = wr_clock_monotonic_us();

    ledger_restart(r->ledger, 0);
    intake_restart(r->intake);
    intake_clock(r->intake, wr_clock_realtime_ns());
    intake_snapshot_begin(r->intake, lsn, snapshot_xid(r->snapshot));
    enum wr_status status = copy_rows(r, first_count, err);
    if (status != WR_OK) {
        return status;
    }
    intake_snapshot_end(r->intake);
    status = relay_drain(r, -1, true, err);
    if (status == WR_AGAIN) {
        return wr_fail(err, WR_RETRY, "snapshot", "interrupted");
    }
    if (status == WR_OK) {
        assert(ledger_is_empty(r->ledger));
        wr_log(WR_LOG_INFO, "snapshot", WR_MSG("snapshot is complete"),
               WR_INT("records", intake_record_count(r->intake) - first_count),
               WR_INT("ms", (wr_clock_monotonic_us() - started_us) / 1000), WR_LSN("lsn", lsn));
    }
    return status;
}

/* A replication connection streams but once. */
static enum wr_status connect_again(struct relay *r, struct wr_error *err)
{
    enum wr_status status = stream_stop(r->stream, STOP_TIMEOUT_MS, err);

    r->is_streaming = false;
    if (status == WR_OK) {
        stream_close(r->stream);
        r->stream = NULL;
        status = stream_connect(r->config, &r->stream, err);
    }
    return status;
}

/*
 * Publishes the stream of the slot that is there up to `lsn`, where the snapshot belongs, and
 * confirms it. A keepalive may bring the slot on a little further: nothing was in between.
 */
static enum wr_status catch_up(struct relay *r, wr_lsn lsn, struct wr_error *err)
{
    if (r->start_lsn >= lsn) {
        return WR_OK;
    }
    wr_log(WR_LOG_INFO, "snapshot", WR_MSG("first the changes that came before the snapshot"),
           WR_LSN("from", r->start_lsn), WR_LSN("to", lsn));
    enum wr_status status = relay_begin_stream(r, err);
    if (status == WR_OK) {
        status = relay_stream_until(r, lsn, err);
    }
    if (status == WR_OK) {
        status = relay_drain(r, -1, true, err);
    }
    if (status == WR_AGAIN) {
        return wr_fail(err, WR_RETRY, "snapshot", "interrupted");
    }
    if (status == WR_OK) {
        status = relay_report(r, true, err);
    }
    if (status == WR_OK) {
        status = connect_again(r, err);
    }
    if (status == WR_OK) {
        wr_lsn confirmed = ledger_confirmable(r->ledger);
        r->start_lsn = confirmed > lsn ? confirmed : lsn;
    }
    return status;
}

static enum wr_status open_rows(struct relay *r, const char *snapshot_name, struct wr_error *err)
{
    struct snapshot_options options = {
        .snapshot_name = snapshot_name,
        .filter = {.context = r, .is_captured = is_wanted},
    };

    return snapshot_open(r->config, &options, &r->snapshot, err);
}

/* The slot that was made for the snapshot becomes the slot. */
static enum wr_status keep_slot(struct relay *r, wr_lsn lsn, struct wr_error *err)
{
    enum wr_status status = catalog_keep_slot(r->catalog, SNAPSHOT_SLOT_TEMPORARY, err);

    r->start_lsn = lsn;
    return status == WR_OK ? stream_drop_snapshot_slot(r->stream, SNAPSHOT_SLOT_TEMPORARY, err)
                           : status;
}

/* The snapshot's connections hold what they see from here on: its slot is needed no more. */
static enum wr_status join_stream(struct relay *r, wr_lsn lsn, struct wr_error *err)
{
    enum wr_status status = stream_drop_snapshot_slot(r->stream, SNAPSHOT_SLOT_TEMPORARY, err);

    return status == WR_OK ? catch_up(r, lsn, err) : status;
}

static enum wr_status take(struct relay *r, const struct slot_state *slot, struct wr_error *err)
{
    bool streams = r->config->snapshot_mode != SNAPSHOT_INITIAL_ONLY;
    const char *name = NULL;
    wr_lsn lsn = 0;
    enum wr_status status =
        stream_create_snapshot_slot(r->stream, SNAPSHOT_SLOT_TEMPORARY, &name, &lsn, err);

    if (status != WR_OK) {
        return status;
    }
    wr_log(WR_LOG_INFO, "snapshot", WR_MSG("snapshot begins"),
           WR_STR("slot.name", r->config->slot_name), WR_LSN("lsn", lsn));
    status = open_rows(r, name, err);
    if (status == WR_OK && slot->exists && streams) {
        status = join_stream(r, lsn, err);
    }
    if (status == WR_OK) {
        status = copy_tables(r, lsn, err);
    }
    snapshot_close(r->snapshot);
    r->snapshot = NULL;
    if (status == WR_OK && streams && !slot->exists) {
        status = keep_slot(r, lsn, err);
    }
    return status;
}

enum wr_status relay_take_snapshot(struct relay *r, const struct slot_state *slot,
                                   struct wr_error *err)
{
    enum wr_status status = relay_pause(r, r->config->snapshot_delay_ms, err);

    if (status == WR_OK && r->stop_wanted) {
        status = wr_fail(err, WR_RETRY, "snapshot", "interrupted");
    }
    if (status == WR_OK) {
        status = take(r, slot, err);
    }
    if (status != WR_OK) {
        return status;
    }
    r->has_snapshot = true;
    r->is_over = r->config->snapshot_mode == SNAPSHOT_INITIAL_ONLY;
    status = r->is_over ? WR_OK : relay_pause(r, r->config->streaming_delay_ms, err);
    if (status == WR_OK && r->stop_wanted && !r->is_over) {
        return wr_fail(err, WR_RETRY, "snapshot", "interrupted");
    }
    return status;
}
