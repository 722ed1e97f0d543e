#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "publisher/publisher.h"
#include "relay/delivery.h"
#include "relay/incremental.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/progress.h"
#include "relay/state.h"
#include "streamer/catalog_pg.h"
#include "streamer/stream.h"

enum {
    CONFIRM_SOON_MS = 100,  /* after the last acknowledgement of a burst */
    CONFIRM_BUSY_MS = 1000, /* while more is in flight */
    STALLED_MS = 5000,      /* without an acknowledgement */
    SEND_MS = 1,            /* for librdkafka's thread to see a flush */
    BURST_US = 10000,       /* how long a busy stream's burst may grow */
    BURSTS_SIZE = 2800000,  /* makes, with RECORD_OVERHEAD, twice some 900 kB of records */
    SLOW_ANSWER_US = 20000, /* a Kafka that is far away, or has much to do */
    /* For another flush: after part of an answer, and after none on a quiet or a busy stream. */
    PART_RETRY_US = 2000,
    QUIET_RETRY_US = 10000,
    BUSY_RETRY_US = 50000,
    RETRY_US_MAX = 400000,
    RECORD_OVERHEAD = 400, /* what librdkafka keeps beside key and value, headers included */
};

/* Acknowledgements in. */
enum wr_status relay_serve_publisher(struct relay *r, struct wr_error *err)
{
    enum wr_status status = publisher_poll(r->publisher, err);

    if (status == WR_OK && r->delivery != NULL) {
        delivery_serve(r);
    }
    if (status == WR_OK && r->failure.status != WR_OK) {
        *err = r->failure;
        status = err->status;
    }
    return status;
}

void relay_read_signals(struct relay *r)
{
    struct signalfd_siginfo info;

    while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (!r->stop_wanted) {
            wr_log(WR_LOG_INFO, "relay", WR_MSG("stopping"),
                   WR_STR("signal", strsignal((int)info.ssi_signo)));
            r->stop_by_us = wr_clock_monotonic_us() + r->config->flush_timeout_ms * 1000;
        }
        r->stop_wanted = true;
    }
}

/*
 * A server that shuts down ends its SQL sessions, and then waits until its streams have confirmed
 * everything: for ever, while Kafka acknowledges nothing and status updates keep the stream alive.
 */
static enum wr_status let_server_go(struct relay *r, int64_t clock_us, struct wr_error *err)
{
    size_t waiting = publisher_inflight_count(r->publisher);
    uint64_t acknowledged = intake_record_count(r->intake) - waiting;

    if (waiting == 0 || acknowledged != r->acknowledged_count) {
        r->acknowledged_count = acknowledged;
        r->acknowledged_us = clock_us;
    }
    if (clock_us - r->acknowledged_us < (int64_t)STALLED_MS * 1000 ||
        !catalog_was_ended(r->catalog)) {
        return WR_OK;
    }
    return wr_fail(err, WR_RETRY, "relay",
                   "the server has ended the other connection, and Kafka acknowledges nothing: "
                   "letting go of the stream, so that a shutdown need not wait");
}

/*
 * A status update when it is due: by timer, on request, and soon after something new may be
 * confirmed. `confirmed` moves only by what the ledger says.
 */
enum wr_status relay_report(struct relay *r, bool now, struct wr_error *err)
{
    int64_t clock_us = wr_clock_monotonic_us();
    enum wr_status status = relay_note_position(r, err);
    if (status != WR_OK) {
        return status;
    }
    wr_lsn flush = relay_confirmable(r);
    int64_t wait_ms = ledger_is_empty(r->ledger) ? CONFIRM_SOON_MS : CONFIRM_BUSY_MS;
    bool is_news = flush > r->reported_lsn && clock_us - r->status_sent_us >= wait_ms * 1000;

    if (!r->is_streaming || !(now || is_news || clock_us >= r->status_due_us)) {
        return WR_OK;
    }
    status = let_server_go(r, clock_us, err);
    if (status != WR_OK) {
        return status;
    }
    wr_lsn write = ledger_received(r->ledger);
    assert(flush >= r->reported_lsn && write >= flush);
    assert(flush <= ledger_confirmable(r->ledger) || flush <= r->progress.slot_lsn);
    bool is_manual = r->config->lsn_flush_mode == LSN_FLUSH_MANUAL || !r->config->flush_lsn_source;
    status = stream_confirm(r->stream, write, is_manual ? 0 : flush, false, err);
    if (status == WR_OK) {
        r->reported_lsn = flush;
        r->status_sent_us = clock_us;
        r->status_due_us = clock_us + r->status_interval_us;
    }
    return status;
}

/* Until something happens: `with_input` says whether new rows may come in. */
enum wr_status relay_wait_for(struct relay *r, int input_fd, bool wants_write, int64_t timeout_us,
                              bool *is_readable, struct wr_error *err)
{
    struct pollfd fds[] = {
        {.fd = r->signal_fd, .events = POLLIN},
        {.fd = publisher_fd(r->publisher), .events = POLLIN},
        {.fd = input_fd, .events = (short)(POLLIN | (wants_write ? POLLOUT : 0))},
        {.fd = -1}, /* the session of an incremental snapshot: a turn takes what it says */
        {.fd = -1}, /* the topic of signals, likewise */
    };
    struct timespec timeout = {.tv_sec = timeout_us / 1000000,
                               .tv_nsec = timeout_us % 1000000 * 1000};

    *is_readable = false;
    if (input_fd >= 0 && r->is_streaming && incremental_fd(r->incremental) >= 0) {
        bool has_more = incremental_wants_write(r->incremental);
        fds[3] = (struct pollfd){.fd = incremental_fd(r->incremental),
                                 .events = (short)(POLLIN | (has_more ? POLLOUT : 0))};
    }
    if (input_fd >= 0 && r->is_streaming) {
        fds[4] = (struct pollfd){.fd = incremental_channel_fd(r->incremental), .events = POLLIN};
    }
    int count = ppoll(fds, 5, &timeout, NULL);
    if (count < 0 && errno != EINTR) {
        return wr_fail(err, WR_FATAL, "relay", "ppoll: %s", strerror(errno));
    }
    if (count > 0) {
        *is_readable = (fds[2].revents & ~POLLOUT) != 0;
        if (fds[0].revents != 0) {
            relay_read_signals(r);
        }
        if ((fds[2].revents & POLLOUT) != 0) {
            return stream_flush(r->stream, err);
        }
    }
    return WR_OK;
}

int64_t relay_until_report_us(const struct relay *r)
{
    int64_t now_us = wr_clock_monotonic_us();
    int64_t due_us = r->status_due_us;

    if (!r->is_streaming) {
        return 1000000;
    }
    if (relay_confirmable(r) > r->reported_lsn) {
        int64_t wait_ms = ledger_is_empty(r->ledger) ? CONFIRM_SOON_MS : CONFIRM_BUSY_MS;
        int64_t soon_us = r->status_sent_us + wait_ms * 1000;
        due_us = soon_us < due_us ? soon_us : due_us;
    }
    int64_t note_us = relay_until_note_us(r);
    int64_t report_us = due_us <= now_us ? 0 : due_us - now_us;
    return note_us < report_us ? note_us : report_us;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Everything but input: what a pause consists of. */
enum wr_status relay_wait_without_input(struct relay *r, int64_t timeout_us, struct wr_error *err)
{
    bool is_readable = false;
    int64_t report_us = relay_until_report_us(r);
    int64_t send_us = r->delivery == NULL ? INT64_MAX : delivery_until_send_us(r);
    bool wants_write = r->stream != NULL && r->is_streaming && stream_wants_write(r->stream);
    /* A socket is polled for POLLIN as well, which would end every wait: so leave it out. */
    enum wr_status status = relay_wait_for(
        r, -1, false, least(timeout_us, least(report_us, send_us)), &is_readable, err);

    if (status == WR_OK && wants_write) {
        status = stream_flush(r->stream, err);
    }
    if (status == WR_OK) {
        status = relay_serve_publisher(r, err);
    }
    if (status == WR_OK) {
        status = relay_send(r, true, err);
    }
    return status == WR_OK ? relay_report(r, false, err) : status;
}

/* Waits until nothing is in flight. WR_AGAIN: not within `timeout_ms` (-1: no limit). */
enum wr_status relay_drain(struct relay *r, int64_t timeout_ms, bool until_stop,
                           struct wr_error *err)
{
    int64_t deadline_us = wr_clock_monotonic_us() + timeout_ms * 1000;

    while (publisher_inflight_count(r->publisher) > 0) {
        if ((timeout_ms >= 0 && wr_clock_monotonic_us() >= deadline_us) ||
            (until_stop && r->stop_wanted)) {
            return WR_AGAIN;
        }
        enum wr_status status = relay_wait_without_input(r, 100000, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return relay_serve_publisher(r, err);
}

/* Records that were produced after the last send, and so wait for the next. */
static size_t waiting_count(const struct relay *r)
{
    size_t produced = (size_t)(intake_record_count(r->intake) - r->burst.sent_until);
    size_t in_flight = publisher_inflight_count(r->publisher);

    return produced < in_flight ? produced : in_flight;
}

bool relay_is_paused(const struct relay *r)
{
    if (r->delivery != NULL) {
        return delivery_is_full(r) || !ledger_has_room(r->ledger);
    }
    size_t size = publisher_inflight_bytes(r->publisher) +
                  publisher_inflight_count(r->publisher) * RECORD_OVERHEAD;

    return size >= r->burst.size_max || !ledger_has_room(r->ledger);
}

/*
 * Two bursts, each as large as one request may be, while Kafka is near. When its answers take long,
 * more partitions at once make up for it, up to max.queue.size.in.bytes.
 */
static void burst_resize(struct relay *r, int64_t took_us)
{
    size_t bound = (size_t)r->config->inflight_bytes_max;

    r->burst.size_max = took_us < SLOW_ANSWER_US && bound > BURSTS_SIZE ? BURSTS_SIZE : bound;
}

void relay_burst_reset(struct relay *r)
{
    burst_resize(r, 0);
}

/*
 * Whether the last burst is acknowledged; if so, how long it took has its say on the next one. Part
 * of it: the next request of a partition may go, so the wait for another try starts over.
 */
static bool is_answered(struct relay *r, size_t waiting)
{
    size_t unanswered = publisher_inflight_count(r->publisher) - waiting;

    if (unanswered < r->burst.unanswered_count) {
        r->burst.unanswered_count = unanswered;
        r->burst.retry_us = QUIET_RETRY_US;
        r->burst.retry_at_us = wr_clock_monotonic_us() + PART_RETRY_US;
    }
    if (unanswered == 0 && r->burst.is_sent) {
        burst_resize(r, wr_clock_monotonic_us() - r->burst.sent_us);
        r->burst.is_sent = false;
    }
    return unanswered == 0;
}

/*
 * librdkafka has one request of an idempotent producer in flight for a partition; as long as more
 * waits behind it whose linger.ms is over, its thread spins. So linger.ms is never over, and what
 * waits is sent when the answer is here: by rd_kafka_flush(), during which linger.ms does not
 * count. A flush may end before librdkafka's thread has seen it: then it is done again.
 */
enum wr_status relay_send(struct relay *r, bool is_quiet, struct wr_error *err)
{
    if (r->delivery != NULL) {
        return delivery_send(r, is_quiet, err);
    }
    size_t waiting = waiting_count(r);
    int64_t now_us = wr_clock_monotonic_us();

    if (publisher_inflight_count(r->publisher) == 0) {
        r->burst.since_us = now_us;
    }
    bool is_due = is_answered(r, waiting) ? waiting > 0 : now_us >= r->burst.retry_at_us;
    bool is_grown = is_quiet || relay_is_paused(r) || now_us - r->burst.since_us >= BURST_US;
    if (!is_due || !(is_grown || r->burst.is_sent)) {
        return WR_OK;
    }
    if (!r->burst.is_sent) {
        r->burst.retry_us = is_quiet ? QUIET_RETRY_US : BUSY_RETRY_US;
    } else if (r->burst.retry_us < RETRY_US_MAX) {
        r->burst.retry_us *= 2;
    }
    r->burst.retry_at_us = now_us + r->burst.retry_us;
    r->burst.is_sent = true;
    r->burst.sent_us = now_us;
    r->burst.since_us = now_us;
    r->burst.sent_until = intake_record_count(r->intake);
    r->burst.unanswered_count = publisher_inflight_count(r->publisher);
    enum wr_status status = publisher_flush(r->publisher, SEND_MS, err);
    return status == WR_AGAIN ? WR_OK : status;
}

int64_t relay_until_send_us(const struct relay *r)
{
    if (r->delivery != NULL) {
        return delivery_until_send_us(r);
    }
    if (publisher_inflight_count(r->publisher) == 0) {
        return INT64_MAX;
    }
    int64_t left_us = r->burst.retry_at_us - wr_clock_monotonic_us();
    return left_us > 0 ? left_us : 0;
}
