#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "relay/delivery.h"
#include "relay/incremental.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/notify.h"
#include "relay/progress.h"
#include "relay/skip.h"
#include "relay/state.h"
#include "streamer/catalog_pg.h"
#include "streamer/snapshot.h"
#include "streamer/stream.h"

bool relay_captures(void *relay, const char *schema, const char *table)
{
    const struct relay *r = relay;

    return intake_captures(r->intake, schema, table);
}

static struct table_filter table_filter(struct relay *r)
{
    return (struct table_filter){.context = r, .is_captured = relay_captures};
}

static enum wr_status check_identity(struct relay *r, struct wr_error *err)
{
    const struct stream_identity *identity = stream_identity(r->stream);

    if (r->was_connected && identity->system_identifier != r->system_identifier) {
        return wr_fail(err, WR_FATAL, "relay",
                       "another cluster answers now: system identifier %" PRIu64
                       " instead of %" PRIu64 "; start anew when that is meant",
                       identity->system_identifier, r->system_identifier);
    }
    if (r->was_connected && r->start_lsn > identity->wal_lsn) {
        return wr_fail(err, WR_FATAL, "relay",
                       "the server stands at " WR_LSN_FMT ", before what was published (" WR_LSN_FMT
                       "): it was restored or failed over to an older state; take a new snapshot",
                       WR_LSN_ARGS(identity->wal_lsn), WR_LSN_ARGS(r->start_lsn));
    }
    r->system_identifier = identity->system_identifier;
    return WR_OK;
}

static enum wr_status check_slot(const struct relay *r, const struct slot_state *slot,
                                 struct wr_error *err)
{
    const char *name = r->config->slot_name;

    if (!slot->exists) {
        if (r->was_connected) {
            return wr_fail(err, WR_FATAL, "relay",
                           "slot %s is gone: changes after " WR_LSN_FMT
                           " may be lost; start anew to make it again with a new snapshot",
                           name, WR_LSN_ARGS(r->start_lsn));
        }
        return WR_OK;
    }
    if (r->was_connected && slot->confirmed_flush_lsn > r->start_lsn) {
        return wr_fail(err, WR_FATAL, "relay",
                       "slot %s was moved to " WR_LSN_FMT " by somebody else, beyond what was "
                       "published (" WR_LSN_FMT "): changes between are lost; take a new snapshot",
                       name, WR_LSN_ARGS(slot->confirmed_flush_lsn), WR_LSN_ARGS(r->start_lsn));
    }
    if (strcmp(slot->plugin, "pgoutput") != 0) {
        return wr_fail(
            err, WR_FATAL, "relay",
            "slot %s is of the plugin \"%s\", not pgoutput: set another slot.name, or drop "
            "it with SELECT pg_drop_replication_slot('%s')",
            name, slot->plugin, name);
    }
    if (strcmp(slot->database, r->config->database_dbname) != 0) {
        return wr_fail(err, WR_FATAL, "relay",
                       "slot %s is of the database \"%s\", not \"%s\": set another slot.name", name,
                       slot->database, r->config->database_dbname);
    }
    if (strcmp(slot->wal_status, "lost") == 0) {
        return wr_fail(
            err, WR_FATAL, "relay",
            "slot %s is lost (wal_status=lost%s%s): changes after " WR_LSN_FMT
            " are gone; drop it with SELECT pg_drop_replication_slot('%s'), and start anew "
            "for a new snapshot",
            name, slot->invalidation_reason[0] == '\0' ? "" : ", ", slot->invalidation_reason,
            WR_LSN_ARGS(slot->confirmed_flush_lsn), name);
    }
    if (slot->two_phase) {
        return wr_fail(
            err, WR_FATAL, "relay",
            "slot %s was made with TWO_PHASE, which is not supported: drop it with SELECT "
            "pg_drop_replication_slot('%s') and let walrelay make it",
            name, name);
    }
    return WR_OK;
}

/*
 * What Kafka knows may be newer than what we do: another walrelay has had the slot meanwhile.
 * Exactly once has read it for every connection; at least once does so when the slot has moved.
 */
static enum wr_status learn_of_others(struct relay *r, const struct slot_state *slot,
                                      struct wr_error *err)
{
    enum wr_status status = WR_OK;

    if (r->delivery == NULL && r->was_connected && r->progress.is_kept && slot->exists &&
        slot->confirmed_flush_lsn > r->start_lsn) {
        status = relay_load_position(r, err);
    }
    if (status == WR_OK && r->was_connected && r->position.acked_lsn > r->start_lsn) {
        r->start_lsn = r->position.acked_lsn;
    }
    return status;
}

/* The slot, made where it is missing: with a snapshot before it, or without. */
static enum wr_status prepare_slot(struct relay *r, struct wr_error *err)
{
    struct slot_state slot;
    enum wr_status status = catalog_slot(r->catalog, &slot, err);

    if (status == WR_OK) {
        status = relay_renew_slot(r, &slot, err);
    }
    if (status == WR_OK) {
        status = learn_of_others(r, &slot, err);
    }
    if (status == WR_OK) {
        status = check_slot(r, &slot, err);
    }
    if (status == WR_OK && r->progress.is_kept &&
        r->config->snapshot_mode != SNAPSHOT_INITIAL_ONLY) {
        status = relay_check_position(r, &slot, err);
    }
    if (status != WR_OK) {
        return status;
    }
    if (slot.exists && slot.confirmed_flush_lsn > r->start_lsn) {
        r->start_lsn = slot.confirmed_flush_lsn;
    }
    if (relay_wants_snapshot(r, &slot)) {
        return relay_take_snapshot(r, &slot, err);
    }
    if (!r->was_connected) {
        status = relay_drop_leftover(r, err);
    }
    if (status == WR_OK && !slot.exists) {
        status = stream_create_slot(r->stream, &r->start_lsn, err);
        r->progress.slot_lsn = r->start_lsn;
    }
    if (status == WR_OK && (!slot.exists || r->progress.is_gap_accepted)) {
        status = relay_set_position(r, r->start_lsn, err);
        r->progress.is_gap_accepted = false;
    }
    return status;
}

static void plan_reports(struct relay *r)
{
    int64_t timeout_ms = stream_identity(r->stream)->wal_sender_timeout_ms;
    int64_t interval_ms = r->config->status_update_interval_ms;

    if (timeout_ms > 0 && interval_ms > timeout_ms / 3) {
        interval_ms = timeout_ms / 3;
    }
    r->status_interval_us = interval_ms * 1000;
    r->status_due_us = 0; /* one at once: the server learns that somebody is there */
    r->reported_lsn = 0;
    r->acknowledged_us = wr_clock_monotonic_us();
}

enum wr_status relay_begin_stream(struct relay *r, struct wr_error *err)
{
    bool with_messages = stream_identity(r->stream)->server_version >= 140000;

    ledger_restart(r->ledger, r->start_lsn);
    intake_restart(r->intake);
    if (r->delivery != NULL) {
        *intake_skip(r->intake) = (struct skip){
            .end_lsn = r->position.last_end_lsn,
            .partial_lsn = r->position.partial_lsn,
            .partial_count = r->position.partial_count,
        };
    }
    enum wr_status status = incremental_recall(r->incremental, err);
    if (status != WR_OK) {
        return status;
    }
    incremental_restart(r->incremental);
    status = stream_start(r->stream, r->start_lsn, with_messages, err);
    if (status == WR_OK) {
        r->is_streaming = true;
        plan_reports(r);
        wr_log(WR_LOG_INFO, "relay", WR_MSG("streaming"), WR_STR("slot.name", r->config->slot_name),
               WR_STR("publication.name", r->config->publication_name),
               WR_LSN("lsn", r->start_lsn));
    }
    return status;
}

/* A slot that another process reads is left as it is: the server would wait until it is free. */
static enum wr_status set_failover(struct relay *r, struct wr_error *err)
{
    struct slot_state slot;
    enum wr_status status = catalog_slot(r->catalog, &slot, err);

    if (status != WR_OK || slot.is_failover || slot.is_active) {
        return status;
    }
    if (slot.is_on_standby) {
        wr_log(WR_LOG_WARN, "relay",
               WR_MSG("slot.failover needs a primary: the slot of a standby has no copies"),
               WR_STR("slot.name", r->config->slot_name));
        return WR_OK;
    }
    return stream_set_failover(r->stream, err);
}

/* At least once asks before anything else, so that nobody waits; exactly once under the lock. */
static bool wants_position(const struct relay *r)
{
    return r->delivery == NULL && !r->options->to_stdout && !r->was_connected &&
           r->config->snapshot_mode != SNAPSHOT_INITIAL_ONLY;
}

/*
 * Exactly once, in this order: the lock, so that nobody else does the same now; the fence, so that
 * nothing of whoever held it before can still come; only then what Kafka has. The lock belongs to
 * the connection that will hold the slot, and goes with it.
 */
static enum wr_status prepare_delivery(struct relay *r, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    if (r->delivery != NULL) {
        status = stream_lock_snapshot(r->stream, err);
        if (status == WR_OK) {
            status = delivery_open(r, err);
        }
    }
    return status == WR_OK && (r->progress.lookup != NULL || r->delivery != NULL)
               ? relay_load_position(r, err)
               : status;
}

enum wr_status relay_start(struct relay *r, struct wr_error *err)
{
    struct table_filter filter = table_filter(r);

    streamer_abort_fd(r->signal_fd);
    if (wants_position(r) && r->progress.lookup == NULL) {
        relay_ask_position(r);
    }
    enum wr_status status = stream_connect(r->config, &r->stream, err);

    r->is_slot_taken = false;
    if (status == WR_OK) {
        status = check_identity(r, err);
    }
    if (status == WR_OK) {
        status = prepare_delivery(r, err);
    }
    if (status == WR_OK) {
        status = catalog_prepare_publication(r->catalog, &filter, err);
    }
    if (status == WR_OK && !r->was_connected) {
        status = catalog_set_identities(r->catalog, &filter, err);
    }
    intake_restart(r->intake);
    if (status == WR_OK) {
        status = prepare_slot(r, err);
    }
    if (status == WR_OK && !r->is_over && r->config->slot_failover) {
        status = set_failover(r, err);
    }
    if (status == WR_OK && !r->was_connected) {
        status = catalog_check_tables(r->catalog, &filter, err);
    }
    if (status != WR_OK) {
        return status;
    }
    if (r->is_over) {
        return WR_OK;
    }
    status = relay_begin_stream(r, err);
    r->is_slot_taken = stream_slot_is_taken(r->stream);
    if (status == WR_OK && !r->was_connected && !r->has_snapshot) {
        status = notify_initial(r, "SKIPPED", err);
    }
    if (status == WR_OK) {
        /* From here on a stop drains and confirms first, so the catalog answers to its end. */
        streamer_abort_fd(-1);
        r->was_connected = true;
    }
    return status;
}
