/*
 * The initial snapshot: when one is taken, and how it joins the stream.
 *
 *   no slot yet     a slot of another name is made with the snapshot that belongs to its place in
 *                   the WAL; the rows are published; the slot is kept under its own name, and its
 *                   stream goes on at that place
 *   a slot exists   (snapshot.mode=always) a passing slot is made for the sake of its snapshot; the
 *                   stream is published up to there, then the rows, then the stream goes on
 *   an unfinished   the same, with the stream of the slot of the other name, and the rows that are
 *   snapshot        not yet published
 *
 * So a row of the snapshot never comes behind a newer change of it, and none is missing: see
 * docs/adr/0004.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/regex.h"
#include "config/config.h"
#include "relay/delivery.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/notify.h"
#include "relay/progress.h"
#include "relay/relay.h"
#include "relay/snapshot_notes.h"
#include "relay/snapshot_report.h"
#include "relay/snapshot_state.h"
#include "relay/state.h"
#include "streamer/catalog_pg.h"
#include "streamer/snapshot.h"
#include "streamer/stream.h"

enum {
    ROWS_A_TURN = 256,      /* between two looks at acknowledgements and timers */
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
    bool is_missing = !slot->exists && (r->was_connected || r->position.is_known);

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
        r->position = (struct position){.txn_no = r->position.txn_no};
    }
    return status;
}

/* Exactly once: the note is in the Kafka transaction that the part ends with. */
static enum wr_status take_part(struct relay *r, const struct snapshot_mark *mark,
                                struct wr_error *err)
{
    enum wr_status status = WR_OK;

    wr_failpoint_at(WR_FAILPOINT_SNAPSHOT_PART);
    if (r->notes != NULL && r->delivery == NULL) {
        snapshot_notes_add(r->notes, r, mark);
    } else if (r->notes != NULL) {
        status = snapshot_notes_put(r->notes, r, mark, err);
    }
    if (r->delivery != NULL) {
        delivery_mark(r);
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
        return take_part(r, &event->mark, err);
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

static enum wr_status copy_rows(struct relay *r, struct snapshot_report *report,
                                struct wr_error *err)
{
    enum wr_status status = WR_OK;
    bool is_done = false;

    while (status == WR_OK && !is_done) {
        status = copy_step(r, &is_done, err);
        if (status == WR_OK) {
            status = relay_serve_publisher(r, err);
        }
        if (status == WR_OK && r->notes != NULL) {
            status = snapshot_notes_write(r->notes, r, err);
        }
        if (status == WR_OK && r->stop_wanted) {
            return wr_fail(err, WR_RETRY, "snapshot", "interrupted");
        }
        snapshot_report_step(report, r);
    }
    return status;
}

/* Reads the snapshot to its end, and waits until Kafka has all of it. */
static enum wr_status copy_tables(struct relay *r, wr_lsn lsn, struct wr_error *err)
{
    struct snapshot_report report;

    ledger_restart(r->ledger, 0);
    intake_restart(r->intake);
    intake_clock(r->intake, wr_clock_realtime_ns());
    intake_snapshot_begin(r->intake, lsn, snapshot_xid(r->snapshot));
    snapshot_report_begin(&report, r);
    enum wr_status status = notify_initial(r, "STARTED", err);
    if (status == WR_OK) {
        status = copy_rows(r, &report, err);
    }
    snapshot_report_end(&report);
    if (status == WR_OK) {
        status = notify_initial(r, "COMPLETED", err);
    }
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
               WR_INT("records", intake_record_count(r->intake) - report.first_count),
               WR_INT("ms", (wr_clock_monotonic_us() - report.started_us) / 1000),
               WR_LSN("lsn", lsn));
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
    if (status == WR_OK) {
        status = stream_lock_snapshot(r->stream, err);
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
        status = relay_settle_position(r, -1, err);
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

/* How one snapshot is taken. */
struct attempt {
    const struct slot_state *slot;
    enum snapshot_slot kind;      /* of the slot that exports the snapshot */
    bool has_stream;              /* the changes are published, too */
    bool catches_up;              /* first those that came before the snapshot */
    struct snapshot_state *state; /* that survives a crash, or NULL */
    bool is_resumed;              /* an earlier one is gone on with */
};

static enum wr_status open_rows(struct relay *r, const struct attempt *attempt,
                                const char *snapshot_name, struct wr_error *err)
{
    struct snapshot_options options = {
        .snapshot_name = snapshot_name,
        .filter = {.context = r, .is_captured = is_wanted},
        .context = attempt->state,
        .find_mark = attempt->is_resumed ? snapshot_state_find : NULL,
    };

    return snapshot_open(r->config, &options, &r->snapshot, err);
}

/* The slot that was made for the snapshot becomes the slot. */
static enum wr_status keep_slot(struct relay *r, const struct attempt *attempt, wr_lsn lsn,
                                struct wr_error *err)
{
    enum snapshot_slot kind =
        attempt->state != NULL ? SNAPSHOT_SLOT_LASTING : SNAPSHOT_SLOT_TEMPORARY;
    enum wr_status status = relay_set_position(r, lsn, err);

    wr_failpoint_at(WR_FAILPOINT_KEEP_SLOT);
    if (status == WR_OK) {
        status = catalog_keep_slot(r->catalog, kind, err);
    }

    if (!attempt->is_resumed) {
        r->start_lsn = lsn;
    }
    if (status == WR_OK) {
        status = stream_drop_snapshot_slot(r->stream, kind, err);
    }
    return status == WR_OK && r->notes != NULL ? snapshot_notes_begin(r->notes, r, 0, err) : status;
}

/* The snapshot's connections hold what they see from here on: its slot is needed no more. */
static enum wr_status join_stream(struct relay *r, const struct attempt *attempt, wr_lsn lsn,
                                  struct wr_error *err)
{
    enum wr_status status = stream_drop_snapshot_slot(r->stream, SNAPSHOT_SLOT_TEMPORARY, err);

    if (status == WR_OK && attempt->is_resumed) {
        stream_use_snapshot_slot(r->stream);
    }
    return status == WR_OK ? catch_up(r, lsn, err) : status;
}

/* Somebody else's slot may have that name. */
static enum wr_status check_snapshot_slot(const struct relay *r, const struct slot_state *slot,
                                          struct wr_error *err)
{
    if (slot->exists && (strcmp(slot->plugin, "pgoutput") != 0 ||
                         strcmp(slot->database, r->config->database_dbname) != 0)) {
        return wr_fail(err, WR_FATAL, "snapshot",
                       "the slot %s_snapshot is another's: it is of plugin \"%s\" and database "
                       "\"%s\"; set another slot.name, since a snapshot needs this one",
                       r->config->slot_name, slot->plugin, slot->database);
    }
    return WR_OK;
}

enum wr_status relay_drop_leftover(struct relay *r, struct wr_error *err)
{
    struct slot_state slot;
    enum wr_status status = catalog_snapshot_slot(r->catalog, &slot, err);

    if (status != WR_OK || !slot.exists || check_snapshot_slot(r, &slot, err) != WR_OK) {
        return status;
    }
    status = stream_lock_snapshot(r->stream, err); /* whoever holds it is using the slot */
    if (status != WR_OK) {
        return status;
    }
    wr_log(WR_LOG_INFO, "snapshot",
           WR_MSG("dropping the slot of a snapshot that is not gone on "
                  "with"),
           WR_STR("slot.name", r->config->slot_name));
    return stream_drop_snapshot_slot(r->stream, SNAPSHOT_SLOT_LASTING, err);
}

/* From what an earlier run has left: goes on with its snapshot, or clears it away. */
static enum wr_status look_back(struct relay *r, struct attempt *attempt, struct wr_error *err)
{
    struct slot_state left;
    enum wr_status status = catalog_snapshot_slot(r->catalog, &left, err);

    if (status == WR_OK) {
        status = check_snapshot_slot(r, &left, err);
    }
    if (status != WR_OK) {
        return status;
    }
    attempt->is_resumed = left.exists && strcmp(left.wal_status, "lost") != 0 &&
                          snapshot_state_lsn(attempt->state) != 0;
    if (attempt->is_resumed) {
        attempt->catches_up = true;
        r->start_lsn =
            left.confirmed_flush_lsn > r->start_lsn ? left.confirmed_flush_lsn : r->start_lsn;
        return WR_OK;
    }
    attempt->kind = SNAPSHOT_SLOT_LASTING;
    if (left.exists) {
        wr_log(WR_LOG_WARN, "snapshot",
               WR_MSG("an earlier snapshot cannot be gone on with, and starts anew"),
               WR_STR("slot.name", r->config->slot_name),
               WR_STR("reason", snapshot_state_lsn(attempt->state) == 0
                                    ? "the state topic does not know it"
                                    : "its slot is lost"));
        status = stream_drop_snapshot_slot(r->stream, SNAPSHOT_SLOT_LASTING, err);
    }
    return status == WR_OK ? snapshot_notes_begin(r->notes, r, 0, err) : status;
}

static enum wr_status plan(struct relay *r, struct attempt *attempt, struct wr_error *err)
{
    attempt->kind = SNAPSHOT_SLOT_TEMPORARY;
    attempt->has_stream = r->config->snapshot_mode != SNAPSHOT_INITIAL_ONLY;
    attempt->catches_up = attempt->slot->exists && attempt->has_stream;
    enum wr_status status = stream_lock_snapshot(r->stream, err);
    if (status != WR_OK || !attempt->has_stream || attempt->slot->exists || r->options->to_stdout) {
        return status;
    }
    attempt->state = snapshot_state_new(r->config, r->system_identifier);
    status = snapshot_state_load(attempt->state, err);
    if (status == WR_REJECT) {
        wr_log(WR_LOG_WARN, "snapshot", WR_MSG("a crash will start the snapshot anew"),
               WR_STR("reason", err->text));
        snapshot_state_free(attempt->state);
        attempt->state = NULL;
        return WR_OK;
    }
    r->notes = snapshot_notes_new(attempt->state);
    return status == WR_OK ? look_back(r, attempt, err) : status;
}

static enum wr_status begin(struct relay *r, const struct attempt *attempt, wr_lsn *lsn,
                            struct wr_error *err)
{
    const char *name = NULL;
    enum wr_status status = stream_create_snapshot_slot(r->stream, attempt->kind, &name, lsn, err);

    if (status == WR_OK) {
        wr_log(
            WR_LOG_INFO, "snapshot",
            WR_MSG(attempt->is_resumed ? "snapshot goes on where it stopped" : "snapshot begins"),
            WR_STR("slot.name", r->config->slot_name), WR_LSN("lsn", *lsn));
        status = open_rows(r, attempt, name, err);
    }
    if (status == WR_OK && attempt->kind == SNAPSHOT_SLOT_LASTING) {
        status = snapshot_notes_begin(r->notes, r, *lsn, err);
    }
    if (status == WR_OK && attempt->catches_up) {
        status = join_stream(r, attempt, *lsn, err);
    }
    return status;
}

static enum wr_status take(struct relay *r, const struct slot_state *slot, struct wr_error *err)
{
    struct attempt attempt = {.slot = slot};
    wr_lsn lsn = 0;
    enum wr_status status = plan(r, &attempt, err);

    if (status == WR_OK) {
        status = begin(r, &attempt, &lsn, err);
    }
    if (status == WR_OK) {
        status = copy_tables(r, lsn, err);
    }
    snapshot_close(r->snapshot);
    r->snapshot = NULL;
    if (status == WR_OK && attempt.has_stream && !slot->exists) {
        status = keep_slot(r, &attempt, lsn, err);
    }
    snapshot_notes_free(r->notes);
    r->notes = NULL;
    snapshot_state_free(attempt.state);
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
