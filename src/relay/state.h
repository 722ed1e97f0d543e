/* relay/state.h - the run of one relay, for the files of this room only. */
#ifndef WR_RELAY_STATE_H
#define WR_RELAY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/status.h"
#include "relay/position.h"
#include "relay/progress.h"
#include "relay/relay.h"

struct catalog;
struct config;
struct delivery;
struct heartbeat;
struct incremental;
struct intake;
struct ledger;
struct publisher;
struct reselect;
struct slot_state;
struct snapshot;
struct snapshot_notes;
struct stream;
struct wr_regex_list;

struct relay {
    const struct config *config;
    const struct relay_options *options;
    struct publisher *publisher;
    struct ledger *ledger;
    struct intake *intake;
    struct incremental *incremental;
    struct catalog *catalog;
    struct stream *stream;
    struct snapshot *snapshot;
    int signal_fd;
    bool stop_wanted;
    int64_t stop_by_us; /* when a wanted stop no longer waits for the open transaction */
    bool is_streaming;  /* the connection takes status updates */
    bool was_connected;
    bool is_slot_taken;           /* why the last try failed: another process reads the slot */
    bool has_snapshot;            /* this process has taken one to its end */
    bool is_over;                 /* nothing is to be streamed */
    struct snapshot_notes *notes; /* of a snapshot that survives a crash; else NULL */
    struct wr_regex_list *snapshot_tables; /* snapshot.include.collection.list, NULL: all */
    wr_lsn until_lsn;                      /* where a stream ends of itself, 0: never */
    bool is_at_until;                      /* what comes next belongs behind it */
    uint64_t system_identifier;
    wr_lsn start_lsn;    /* where a new connection goes on, 0: where the slot stands */
    wr_lsn reported_lsn; /* of the last status update */
    int64_t status_due_us;
    int64_t status_sent_us;
    int64_t status_interval_us;
    uint64_t acknowledged_count; /* records, as of the last status update that knew of more */
    int64_t acknowledged_us;     /* when that was */
    uint64_t event_count;
    struct reselect *reselect;   /* post.processors; NULL: none */
    struct heartbeat *heartbeat; /* heartbeat.interval.ms; NULL: none */
    int64_t xmin_due_us;         /* xmin.fetch.interval.ms */
    struct {
        size_t size_max;     /* of records in flight, with what each costs beside its bytes */
        uint64_t sent_until; /* intake_record_count() at the last send */
        size_t unanswered_count;
        int64_t sent_us;
        int64_t since_us;              /* how old what waits is */
        int64_t retry_us, retry_at_us; /* when a flush is tried again, without an answer */
        bool is_sent;                  /* and not yet answered */
    } burst;
    struct delivery *delivery; /* exactly once; NULL: at least once */
    struct position position;  /* that Kafka has, is_known once it does */
    struct progress progress;
    struct wr_error failure; /* of a delivery, found in a callback; status WR_OK: none */
};

/*
 * From nothing to a stream that runs (start.c): connects, checks what answers, makes publication
 * and slot where they are missing, with a snapshot before the slot, and starts the stream.
 */
WR_MUST_USE enum wr_status relay_start(struct relay *r, struct wr_error *err);
/* Starts the stream at `start_lsn`, with nothing known or awaited of an earlier one. */
WR_MUST_USE enum wr_status relay_begin_stream(struct relay *r, struct wr_error *err);
bool relay_captures(void *relay, const char *schema, const char *table);

/* The initial snapshot (snapshot_run.c). */
WR_MUST_USE enum wr_status relay_open_snapshot(struct relay *r, struct wr_error *err);
/* Whether one is to be taken before the stream, from what the slot looks like. */
bool relay_wants_snapshot(const struct relay *r, const struct slot_state *slot);
/* snapshot.mode=when_needed: a slot whose changes are lost is dropped, as if there never was one.
 */
WR_MUST_USE enum wr_status relay_renew_slot(struct relay *r, struct slot_state *slot,
                                            struct wr_error *err);
/* The slot of an unfinished snapshot, where none is to be taken, would hold back the WAL for ever.
 */
WR_MUST_USE enum wr_status relay_drop_leftover(struct relay *r, struct wr_error *err);
/* Takes it, and sees to it that a slot is there whose stream goes on behind it, at `start_lsn`. */
WR_MUST_USE enum wr_status relay_take_snapshot(struct relay *r, const struct slot_state *slot,
                                               struct wr_error *err);

/* Streaming (relay.c). Up to all that was committed before `lsn`; nothing of it is taken twice or
 * left out when the stream goes on there. WR_RETRY "interrupted" when a stop is wanted. */
WR_MUST_USE enum wr_status relay_stream_until(struct relay *r, wr_lsn lsn, struct wr_error *err);
/* A pause that ends early when a stop is wanted. */
WR_MUST_USE enum wr_status relay_pause(struct relay *r, int64_t delay_ms, struct wr_error *err);

/* Heartbeats (heartbeat.c). */
void relay_open_heartbeat(struct relay *r);
void relay_close_heartbeat(struct relay *r);
/* Publishes one when it is due; to be called on every turn of the stream. Never waits. */
WR_MUST_USE enum wr_status relay_beat(struct relay *r, struct wr_error *err);
/* How long that need not be called when nothing happens. */
int64_t relay_until_beat_us(const struct relay *r);

/* Waiting (wait.c). Every wait goes on serving acknowledgements, status updates and signals. */

/* Takes acknowledgements in. WR_FATAL: a record was refused. */
WR_MUST_USE enum wr_status relay_serve_publisher(struct relay *r, struct wr_error *err);
/*
 * A status update when it is due: `now`, by timer, or soon after something new may be confirmed.
 * What is confirmed is what the ledger says.
 */
WR_MUST_USE enum wr_status relay_report(struct relay *r, bool now, struct wr_error *err);
int64_t relay_until_report_us(const struct relay *r);
/* Until `input_fd` is readable, or anything else happened, or the time is up. */
WR_MUST_USE enum wr_status relay_wait_for(struct relay *r, int input_fd, bool wants_write,
                                          int64_t timeout_us, bool *is_readable,
                                          struct wr_error *err);
/* One wait of a pause: everything is served but input. */
WR_MUST_USE enum wr_status relay_wait_without_input(struct relay *r, int64_t timeout_us,
                                                    struct wr_error *err);
/* Until nothing is in flight. WR_AGAIN: not within `timeout_ms` (-1: no limit), or a stop is wanted
 * and `until_stop` is set. */
WR_MUST_USE enum wr_status relay_drain(struct relay *r, int64_t timeout_ms, bool until_stop,
                                       struct wr_error *err);
/* Reading pauses: as much is in flight as may be. */
bool relay_is_paused(const struct relay *r);
/*
 * Sends what was produced, once the burst before it is acknowledged and, on a stream that is not
 * `is_quiet`, it is large or old enough. To be called on every turn; waits a millisecond at most.
 */
WR_MUST_USE enum wr_status relay_send(struct relay *r, bool is_quiet, struct wr_error *err);
/* How long relay_send() need not be called when nothing happens. */
int64_t relay_until_send_us(const struct relay *r);
void relay_burst_reset(struct relay *r);
void relay_read_signals(struct relay *r);

#endif /* WR_RELAY_STATE_H */
