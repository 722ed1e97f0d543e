/*
 * The loop that joins the rooms. One thread, one poll() over the replication socket, the
 * publisher's descriptor and the signals; nothing here waits for Kafka, and nothing is locked.
 *
 *   connect ─► snapshot ─► stream ─► drain ─► stop
 *      ▲           │          │
 *      └── back off, once everything in flight is acknowledged
 *
 * What keeps its promises:
 * - Only the ledger says what is confirmed, and it hears of acknowledgements only from Kafka.
 * - Records go out in bursts (wait.c): while one is on its way the next one is made, and reading
 *   pauses when that is large enough. Status updates go on by timer meanwhile, so that a slow Kafka
 *   never costs the replication connection.
 * - A lost connection is replaced only after all that is in flight was acknowledged: so the stream
 *   goes on behind the last whole transaction, and repeats only the one that was cut.
 * - A snapshot is taken with a temporary slot, which becomes the real one when all of it is
 *   acknowledged. A slot that exists therefore means a snapshot that is done.
 */
#include "relay/relay.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/regex.h"
#include "config/config.h"
#include "publisher/publisher.h"
#include "publisher/state_lookup.h"
#include "relay/delivery.h"
#include "relay/incremental.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/progress.h"
#include "relay/reselect.h"
#include "relay/state.h"
#include "streamer/catalog_pg.h"
#include "streamer/snapshot.h"
#include "streamer/stream.h"

enum {
    LEDGER_CAPACITY = 1 << 16, /* transactions in flight */
    EVENTS_A_TURN = 256,       /* between two looks at acknowledgements and timers */
    NAP_US = 200,              /* how long bytes gather once the socket was drained */
    FEW_EVENTS = 64,           /* a quiet stream: some 20 small transactions between two looks */
    STOP_TIMEOUT_MS = 5000,    /* for the server to end the stream */
};

static void on_acknowledged(void *context, uint64_t ticket)
{
    struct relay *r = context;

    if (ticket == INTAKE_ASIDE) {
        relay_position_noted(r, NULL);
        return;
    }
    ledger_acknowledge(r->ledger, intake_ledger_ticket(ticket));
    wr_failpoint_at(WR_FAILPOINT_ACKNOWLEDGED);
}

/* The record stays open in the ledger, so that nothing from it on is ever confirmed. */
static void on_failed(void *context, uint64_t ticket, const struct publisher_failure *failure)
{
    struct relay *r = context;

    if (ticket == INTAKE_ASIDE) { /* without it nothing may be confirmed any more */
        (void)wr_fail(&r->failure, WR_FATAL, "publisher",
                      "the position of the slot: topic=%.*s: %s (%s)", (int)failure->topic.size,
                      failure->topic.data, failure->reason, failure->name);
        return;
    }
    wr_lsn lsn = ledger_end_lsn(r->ledger, intake_ledger_ticket(ticket));

    if (r->config->errors_tolerance == TOLERANCE_ALL) {
        wr_log(WR_LOG_ERROR, "publisher", WR_MSG("a record was refused and is passed over"),
               WR_STR("table", intake_table_of(r->intake, ticket)),
               WR_STR("reason", failure->reason), WR_INT("size", failure->size),
               WR_LSN("lsn", lsn));
        ledger_acknowledge(r->ledger, intake_ledger_ticket(ticket));
        return;
    }
    if (r->failure.status != WR_OK) {
        return; /* the first one is the cause */
    }
    (void)wr_fail(&r->failure, WR_FATAL, "publisher",
                  "table=%s topic=%.*s key=%.*s size=%zu lsn=" WR_LSN_FMT ": %s (%s)",
                  intake_table_of(r->intake, ticket), (int)failure->topic.size, failure->topic.data,
                  (int)(failure->key.size > 80 ? 80 : failure->key.size), failure->key.data,
                  failure->size, WR_LSN_ARGS(lsn), failure->reason, failure->name);
}

/*
 * The publisher's queue is full: only acknowledgements make room. Or a topic is being made. A stop
 * waits for that as long as it waits for anything; then the transaction is left and comes again.
 */
static enum wr_status on_full(void *context, struct wr_error *err)
{
    struct relay *r = context;

    if (r->stop_wanted && wr_clock_monotonic_us() >= r->stop_by_us) {
        return wr_fail(err, WR_RETRY, "relay", "interrupted");
    }
    return relay_wait_without_input(r, 10000, err);
}

static void close_connections(struct relay *r)
{
    r->is_streaming = false;
    snapshot_close(r->snapshot);
    r->snapshot = NULL;
    stream_close(r->stream);
    r->stream = NULL;
    ledger_abandon(r->ledger);
}

/*
 * Where a transaction, or a logical message outside of one, stands; 0 for all else. It is what the
 * server goes by when a stream is started, and what a snapshot goes by.
 */
static wr_lsn begin_lsn(struct wr_slice payload)
{
    struct wr_cursor in;

    wr_cursor_init(&in, payload.data, payload.size);
    char kind = (char)wr_cursor_uint(&in, 1);
    if (kind == 'M') {
        (void)wr_cursor_uint(&in, 1); /* flags */
    }
    return kind == 'B' || kind == 'M' ? wr_cursor_uint(&in, 8) : 0;
}

static enum wr_status take_event(struct relay *r, const struct stream_event *event,
                                 struct wr_error *err)
{
    if (r->until_lsn != 0 && event->kind == STREAM_DATA && !ledger_is_open(r->ledger) &&
        begin_lsn(event->payload) >= r->until_lsn) {
        r->is_at_until = true; /* and left for the stream that starts there */
        return WR_OK;
    }
    if (event->kind == STREAM_DATA) {
        enum wr_status status = intake_message(r->intake, event->lsn, event->payload, err);
        if (r->delivery != NULL && status == WR_OK && !ledger_is_open(r->ledger)) {
            delivery_mark(r);
        }
        return status;
    }
    ledger_keepalive(r->ledger, event->wal_end);
    return event->reply_requested ? relay_report(r, true, err) : WR_OK;
}

/*
 * Whether the stream has come to `--endpos`, or a wanted stop to its place: behind the open
 * transaction, so that a clean stop repeats nothing, as long as that ends in time.
 */
static bool is_finished(const struct relay *r)
{
    if (ledger_is_open(r->ledger)) {
        return r->stop_wanted && wr_clock_monotonic_us() >= r->stop_by_us;
    }
    if (r->until_lsn != 0 && (r->is_at_until || ledger_received(r->ledger) >= r->until_lsn)) {
        return true;
    }
    return r->stop_wanted ||
           (r->options->endpos != 0 && ledger_received(r->ledger) >= r->options->endpos);
}

/* Takes in what was read. False in `is_drained`: there is more. */
static enum wr_status take_events(struct relay *r, bool *is_drained, struct wr_error *err)
{
    struct stream_event event;

    *is_drained = false;
    for (int i = 0; i < EVENTS_A_TURN; i++) {
        if (relay_is_paused(r) || is_finished(r)) {
            return WR_OK;
        }
        enum wr_status status = stream_read(r->stream, &event, err);
        if (status == WR_AGAIN) {
            *is_drained = true;
            return WR_OK;
        }
        if (status == WR_OK) {
            r->event_count++;
            status = take_event(r, &event, err);
        }
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

/* xmin.fetch.interval.ms. What is not known is not published; a stream goes on without it. */
static void fetch_xmin(struct relay *r)
{
    struct slot_state slot;
    struct wr_error err;
    int64_t interval_us = r->config->xmin_fetch_interval_ms * 1000;

    if (interval_us == 0 || wr_clock_monotonic_us() < r->xmin_due_us) {
        return;
    }
    if (catalog_slot(r->catalog, &slot, &err) != WR_OK) {
        wr_log(WR_LOG_WARN, "relay", WR_MSG("source.xmin is not known"),
               WR_STR("reason", err.text));
    }
    intake_xmin(r->intake, slot.catalog_xmin);
    r->xmin_due_us = wr_clock_monotonic_us() + interval_us;
}

static enum wr_status consume(struct relay *r, struct wr_error *err)
{
    enum wr_status status = stream_consume(r->stream, err);

    intake_clock(r->intake, wr_clock_realtime_ns());
    fetch_xmin(r);
    return status;
}

static enum wr_status wait_for_input(struct relay *r, struct wr_error *err)
{
    bool is_readable = false;
    int64_t left_us = relay_until_report_us(r);
    int64_t send_us = relay_until_send_us(r);
    int64_t beat_us = relay_until_beat_us(r);
    int64_t snapshot_us = incremental_until_us(r->incremental);
    left_us = send_us < left_us ? send_us : left_us;
    left_us = beat_us < left_us ? beat_us : left_us;
    left_us = snapshot_us < left_us ? snapshot_us : left_us;
    enum wr_status status = relay_wait_for(r, stream_fd(r->stream), stream_wants_write(r->stream),
                                           left_us, &is_readable, err);

    return status == WR_OK && is_readable ? consume(r, err) : status;
}

/*
 * The socket is drained, after `count` events. None: poll() waits for the next, or for an
 * acknowledgement. Many: bytes are left to gather for a moment, so that one system call brings many
 * rows.
 */
static enum wr_status read_more(struct relay *r, uint64_t count, struct wr_error *err)
{
    if (count == 0) {
        return wait_for_input(r, err);
    }
    if (count > FEW_EVENTS) {
        struct timespec nap = {.tv_nsec = NAP_US * 1000};
        (void)nanosleep(&nap, NULL);
    }
    relay_read_signals(r);
    return consume(r, err);
}

static enum wr_status stream_rows(struct relay *r, struct wr_error *err)
{
    enum wr_status status = WR_OK;
    uint64_t seen = 0;

    while (status == WR_OK && !is_finished(r)) {
        bool is_drained = false;
        status = relay_serve_publisher(r, err);
        if (status == WR_OK) {
            status = relay_report(r, false, err);
        }
        if (status == WR_OK) {
            status = take_events(r, &is_drained, err);
        }
        if (status == WR_OK) {
            status = relay_beat(r, err);
        }
        if (status == WR_OK) {
            status = incremental_turn(r->incremental, err);
        }
        uint64_t count = r->event_count - seen;
        if (status == WR_OK) {
            status = relay_send(r, is_drained && count <= FEW_EVENTS, err);
        }
        if (status == WR_OK && relay_is_paused(r)) {
            status = relay_wait_without_input(r, 100000, err);
        } else if (status == WR_OK && is_drained) {
            seen = r->event_count;
            status = read_more(r, count, err);
        }
    }
    return status;
}

enum wr_status relay_stream_until(struct relay *r, wr_lsn lsn, struct wr_error *err)
{
    r->until_lsn = lsn;
    r->is_at_until = false;
    enum wr_status status = stream_rows(r, err);
    r->until_lsn = 0;
    if (status == WR_OK && r->stop_wanted) {
        return wr_fail(err, WR_RETRY, "relay", "interrupted");
    }
    return status;
}

/* Everything read is acknowledged and confirmed, or the time is up: then it comes again. */
static enum wr_status finish(struct relay *r, struct wr_error *err)
{
    enum wr_status status = relay_drain(r, r->config->flush_timeout_ms, false, err);

    if (status == WR_OK) {
        status = incremental_note_rest(r->incremental, err);
    }
    if (status == WR_OK) {
        status = relay_drain(r, r->config->flush_timeout_ms, false, err);
    }
    if (status == WR_AGAIN) {
        wr_log(
            WR_LOG_WARN, "relay",
            WR_MSG(
                "stopping with records that Kafka has not acknowledged: they will be sent again"),
            WR_INT("records", publisher_inflight_count(r->publisher)),
            WR_LSN("confirmed", ledger_confirmable(r->ledger)));
        status = WR_OK;
    }
    if (status == WR_OK) {
        status = relay_settle_position(r, r->config->flush_timeout_ms, err);
    }
    if (status == WR_OK || status == WR_AGAIN) {
        status = relay_report(r, true, err);
    }
    if (status == WR_OK) {
        status = stream_stop(r->stream, STOP_TIMEOUT_MS, err);
        r->is_streaming = false;
    }
    if (status == WR_OK && r->config->slot_drop_on_stop) {
        status = stream_drop_slot(r->stream, err);
        if (status == WR_OK) {
            status = relay_forget_position(r, err);
        }
    }
    if (status == WR_OK) {
        wr_log(WR_LOG_INFO, "relay", WR_MSG("stopped"),
               WR_INT("records", intake_record_count(r->intake)),
               WR_LSN("confirmed", ledger_confirmable(r->ledger)));
    }
    return status;
}

/* One connection, from connecting to its loss or to the end of the run (WR_OK). */
static enum wr_status run_once(struct relay *r, struct wr_error *err)
{
    enum wr_status status = relay_start(r, err);

    if (status != WR_OK || r->is_over) {
        return status;
    }
    status = stream_rows(r, err);
    return status == WR_OK ? finish(r, err) : status;
}

enum wr_status relay_pause(struct relay *r, int64_t delay_ms, struct wr_error *err)
{
    int64_t until_us = wr_clock_monotonic_us() + delay_ms * 1000;
    enum wr_status status = WR_OK;

    while (status == WR_OK && !r->stop_wanted) {
        int64_t left_us = until_us - wr_clock_monotonic_us();
        if (left_us <= 0) {
            break;
        }
        status = relay_wait_without_input(r, left_us, err);
    }
    return status;
}

/* After a loss: all that is in flight must come back first, since it decides where to go on. */
static enum wr_status settle(struct relay *r, struct wr_error *err)
{
    bool was_streaming = r->is_streaming;

    close_connections(r);
    enum wr_status status =
        r->delivery == NULL ? relay_drain(r, -1, true, err) : delivery_settle(r, err);
    if (status == WR_OK && was_streaming && ledger_confirmable(r->ledger) > r->start_lsn) {
        r->start_lsn = ledger_confirmable(r->ledger);
    }
    return status == WR_AGAIN ? WR_OK : status;
}

/* How long to wait before the next try, and whether there is to be one. */
struct patience {
    int64_t delay_ms; /* doubles while a server is away */
    int64_t tries, slot_tries;
};

static void patience_reset(struct patience *p, const struct config *config)
{
    *p = (struct patience){.delay_ms = config->retry_backoff_ms_min};
}

/*
 * Of a slot that another process reads it is known how that ends: walrelay asks again and again,
 * at the same pace, and takes over as soon as it is free.
 */
static bool patience_takes(struct patience *p, const struct relay *r, int64_t *wait_ms)
{
    const struct config *config = r->config;

    if (r->is_slot_taken) {
        *wait_ms = config->slot_retry_delay_ms;
        return config->slot_max_retries < 0 || p->slot_tries++ < config->slot_max_retries;
    }
    *wait_ms = p->delay_ms;
    p->delay_ms = p->delay_ms * 2 < config->retry_backoff_ms_max ? p->delay_ms * 2
                                                                 : config->retry_backoff_ms_max;
    return config->errors_max_retries < 0 || p->tries++ < config->errors_max_retries;
}

static enum wr_status run(struct relay *r, struct wr_error *err)
{
    struct patience patience;

    patience_reset(&patience, r->config);
    for (;;) {
        uint64_t count = intake_record_count(r->intake);
        int64_t wait_ms = 0;
        enum wr_status status = run_once(r, err);
        if (status != WR_RETRY) {
            return status;
        }
        struct wr_error cause = *err;
        relay_read_signals(r); /* a stop may be what interrupted it */
        if (intake_record_count(r->intake) != count || r->is_streaming) {
            patience_reset(&patience, r->config);
        }
        bool is_last = !patience_takes(&patience, r, &wait_ms);
        if (!is_last && !r->stop_wanted) {
            wr_log(WR_LOG_WARN, cause.where, WR_MSG(cause.text), WR_INT("retry_ms", wait_ms));
        }
        status = settle(r, err); /* may take as long as Kafka is away */
        if (status != WR_OK || r->stop_wanted) {
            return status;
        }
        if (is_last) {
            *err = cause;
            return WR_FATAL;
        }
        status = relay_pause(r, wait_ms, err);
        if (status != WR_OK || r->stop_wanted) {
            return status;
        }
    }
}

static enum wr_status open_signals(struct relay *r, struct wr_error *err)
{
    sigset_t signals;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    r->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (r->signal_fd < 0) {
        return wr_fail(err, WR_FATAL, "relay", "signalfd: %s", strerror(errno));
    }
    return WR_OK;
}

static enum wr_status open_publisher(struct relay *r, const struct publisher_events *events,
                                     struct wr_error *err)
{
    if (r->options->to_stdout) {
        return publisher_stdout_open(events, &r->publisher, err);
    }
    if (r->config->exactly_once) {
        return delivery_new(r->config, events, &r->delivery, &r->publisher, err);
    }
    return publisher_kafka_open(r->config, events, &r->publisher, err);
}

static enum wr_status open_rooms(struct relay *r, struct wr_error *err)
{
    struct publisher_events events = {
        .context = r, .acknowledged = on_acknowledged, .failed = on_failed};
    enum wr_status status = open_signals(r, err);

    if (status == WR_OK) {
        status = open_publisher(r, &events, err);
    }
    if (status != WR_OK) {
        return status;
    }
    r->ledger = ledger_new(LEDGER_CAPACITY);
    relay_burst_reset(r);
    r->catalog = catalog_new(r->config);
    status = reselect_new(r->config, r->catalog, &r->reselect, err);
    if (status != WR_OK) {
        return status;
    }
    r->incremental = incremental_new(r);
    struct intake_parts parts = {
        .config = r->config,
        .ledger = r->ledger,
        .publisher = r->publisher,
        .catalog = catalog_source(r->catalog),
        .reselect = r->reselect,
        .watch = incremental_watch(r->incremental),
        .context = r,
        .wait = on_full,
    };
    relay_open_heartbeat(r);
    status = intake_new(&parts, &r->intake, err);
    if (status == WR_OK) {
        status = incremental_open(r->incremental, err);
    }
    return status == WR_OK ? relay_open_snapshot(r, err) : status;
}

enum wr_status relay_run(const struct config *config, const struct relay_options *options,
                         struct wr_error *err)
{
    struct relay r = {.config = config, .options = options, .signal_fd = -1};
    enum wr_status status = open_rooms(&r, err);

    if (status == WR_OK) {
        status = run(&r, err);
        close_connections(&r);
    }
    streamer_abort_fd(-1);
    publisher_close(r.publisher); /* its callbacks need the rest */
    delivery_free(r.delivery);
    state_lookup_free(r.progress.lookup);
    incremental_free(r.incremental);
    intake_free(r.intake);
    wr_regex_list_free(r.snapshot_tables);
    relay_close_heartbeat(&r);
    reselect_free(r.reselect);
    catalog_free(r.catalog);
    ledger_free(r.ledger);
    if (r.signal_fd >= 0) {
        (void)close(r.signal_fd);
    }
    return status;
}
