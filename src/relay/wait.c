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
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/state.h"
#include "streamer/catalog_pg.h"
#include "streamer/stream.h"

enum {
    CONFIRM_SOON_MS = 100,  /* after the last acknowledgement of a burst */
    CONFIRM_BUSY_MS = 1000, /* while more is in flight */
    STALLED_MS = 5000,      /* without an acknowledgement */
    RECORD_OVERHEAD = 400,  /* what librdkafka keeps beside key and value, headers included */
};

/* Acknowledgements in. */
enum wr_status relay_serve_publisher(struct relay *r, struct wr_error *err)
{
    enum wr_status status = publisher_poll(r->publisher, err);

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
    wr_lsn flush = ledger_confirmable(r->ledger);
    int64_t wait_ms = ledger_is_empty(r->ledger) ? CONFIRM_SOON_MS : CONFIRM_BUSY_MS;
    bool is_news = flush > r->reported_lsn && clock_us - r->status_sent_us >= wait_ms * 1000;

    if (!r->is_streaming || !(now || is_news || clock_us >= r->status_due_us)) {
        return WR_OK;
    }
    enum wr_status status = let_server_go(r, clock_us, err);
    if (status != WR_OK) {
        return status;
    }
    wr_lsn write = ledger_received(r->ledger);
    assert(flush >= r->reported_lsn && write >= flush);
    status = stream_confirm(r->stream, write, flush, false, err);
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
    };
    struct timespec timeout = {.tv_sec = timeout_us / 1000000,
                               .tv_nsec = timeout_us % 1000000 * 1000};

    *is_readable = false;
    int count = ppoll(fds, 3, &timeout, NULL);
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
    if (ledger_confirmable(r->ledger) > r->reported_lsn) {
        int64_t wait_ms = ledger_is_empty(r->ledger) ? CONFIRM_SOON_MS : CONFIRM_BUSY_MS;
        int64_t soon_us = r->status_sent_us + wait_ms * 1000;
        due_us = soon_us < due_us ? soon_us : due_us;
    }
    return due_us <= now_us ? 0 : due_us - now_us;
}

/* Everything but input: what a pause consists of. */
enum wr_status relay_wait_without_input(struct relay *r, int64_t timeout_us, struct wr_error *err)
{
    bool is_readable = false;
    int64_t report_us = relay_until_report_us(r);
    bool wants_write = r->stream != NULL && r->is_streaming && stream_wants_write(r->stream);
    /* A socket is polled for POLLIN as well, which would end every wait: so leave it out. */
    enum wr_status status = relay_wait_for(
        r, -1, false, report_us < timeout_us ? report_us : timeout_us, &is_readable, err);

    if (status == WR_OK && wants_write) {
        status = stream_flush(r->stream, err);
    }
    if (status == WR_OK) {
        status = relay_serve_publisher(r, err);
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

bool relay_is_paused(const struct relay *r)
{
    size_t size = publisher_inflight_bytes(r->publisher) +
                  publisher_inflight_count(r->publisher) * RECORD_OVERHEAD;

    return size >= (size_t)r->config->inflight_bytes_max || !ledger_has_room(r->ledger);
}
