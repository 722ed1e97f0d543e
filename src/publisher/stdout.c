#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "publisher/backend.h"
#include "publisher/publisher.h"

enum {
    LINES_COUNT_MAX = 4096,    /* records that wait for their write */
    LINES_SIZE_FULL = 1 << 18, /* from here on, the next record has to wait */
};

/* A line is acknowledged when all up to its end is written. */
struct line {
    uint64_t ticket;
    size_t end; /* in `lines` */
    size_t record_size;
};

struct stdout_publisher {
    struct publisher base;
    struct publisher_events events;
    bool is_file; /* takes any number of bytes at once, without making us wait for a reader */
    struct wr_buffer lines;
    size_t written;     /* of `lines` */
    size_t acked_count; /* of `pending` */
    size_t pending_count;
    struct line pending[LINES_COUNT_MAX];
};

static struct stdout_publisher *stdout_publisher(struct publisher *p)
{
    return (struct stdout_publisher *)p;
}

static void add_text_or_null(struct wr_buffer *out, struct wr_slice text, bool is_null)
{
    if (is_null) {
        WR_BUFFER_LITERAL(out, "null");
    } else {
        wr_json_string(out, text);
    }
}

static void add_headers(struct wr_buffer *out, const struct publisher_record *r)
{
    wr_buffer_add_char(out, '{');
    for (size_t i = 0; i < r->header_count; i++) {
        const struct publisher_header *header = &r->headers[i];
        if (i > 0) {
            wr_buffer_add_char(out, ',');
        }
        wr_json_string(out, wr_slice_str(header->name));
        wr_buffer_add_char(out, ':');
        add_text_or_null(out, header->value, header->is_null);
    }
    wr_buffer_add_char(out, '}');
}

static void add_line(struct wr_buffer *out, const struct publisher_record *r)
{
    WR_BUFFER_LITERAL(out, "{\"topic\":");
    wr_json_string(out, r->topic);
    WR_BUFFER_LITERAL(out, ",\"partition\":");
    wr_json_int(out, r->partition < 0 ? 0 : r->partition);
    WR_BUFFER_LITERAL(out, ",\"key\":");
    add_text_or_null(out, r->key, r->key_is_null);
    WR_BUFFER_LITERAL(out, ",\"headers\":");
    add_headers(out, r);
    WR_BUFFER_LITERAL(out, ",\"value\":");
    add_text_or_null(out, r->value, r->value_is_null);
    WR_BUFFER_LITERAL(out, "}\n");
}

static enum wr_status stdout_produce(struct publisher *base, const struct publisher_record *r,
                                     struct wr_error *err)
{
    struct stdout_publisher *p = stdout_publisher(base);
    size_t start = p->lines.size;

    if (!publisher_topic_is_valid(r->topic.data, r->topic.size)) {
        return publisher_reject(r, "stdout", "invalid topic name", err);
    }
    if (start >= LINES_SIZE_FULL || p->pending_count == LINES_COUNT_MAX) {
        return wr_fail(err, WR_AGAIN, "stdout", "the buffer is full");
    }
    add_line(&p->lines, r);
    if (p->lines.failed) {
        p->lines.size = start;
        p->lines.failed = false;
        return publisher_reject(r, "stdout", "larger than WR_RECORD_SIZE_MAX", err);
    }
    p->pending[p->pending_count++] = (struct line){
        .ticket = r->ticket,
        .end = p->lines.size,
        .record_size = publisher_record_size(r),
    };
    p->base.inflight_count++;
    p->base.inflight_bytes += publisher_record_size(r);
    return WR_OK;
}

static void acknowledge_written(struct stdout_publisher *p)
{
    while (p->acked_count < p->pending_count && p->pending[p->acked_count].end <= p->written) {
        struct line line = p->pending[p->acked_count++];
        p->base.inflight_count--;
        p->base.inflight_bytes -= line.record_size;
        p->events.acknowledged(p->events.context, line.ticket);
    }
    if (p->acked_count == p->pending_count) {
        wr_buffer_reset(&p->lines);
        p->written = 0;
        p->acked_count = 0;
        p->pending_count = 0;
    }
}

/* True when a write of PIPE_BUF bytes would not block, or would fail. */
static bool wait_writable(int timeout_ms)
{
    struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&fd, 1, timeout_ms) > 0;
}

/*
 * Writes as much as the reader takes without waiting. The fd may be shared with a terminal or a
 * shell, so it is left blocking: where there is a reader, only as much is written at once as poll()
 * has promised room for.
 */
static enum wr_status write_lines(struct stdout_publisher *p, struct wr_error *err)
{
    while (p->written < p->lines.size && wait_writable(0)) {
        size_t left = p->lines.size - p->written;
        size_t chunk = p->is_file || left < PIPE_BUF ? left : PIPE_BUF;
        ssize_t size = write(STDOUT_FILENO, p->lines.data + p->written, chunk);
        if (size < 0 && errno != EINTR && errno != EAGAIN) {
            return wr_fail(err, WR_FATAL, "stdout", "cannot write to standard output: %s",
                           strerror(errno));
        }
        p->written += size > 0 ? (size_t)size : 0;
    }
    return WR_OK;
}

static enum wr_status stdout_poll(struct publisher *base, struct wr_error *err)
{
    struct stdout_publisher *p = stdout_publisher(base);
    enum wr_status status = write_lines(p, err);

    acknowledge_written(p);
    return status;
}

static enum wr_status stdout_flush(struct publisher *base, int64_t timeout_ms, struct wr_error *err)
{
    int64_t end_us = wr_clock_monotonic_us() + timeout_ms * 1000;
    enum wr_status status = stdout_poll(base, err);

    while (status == WR_OK && base->inflight_count > 0) {
        int64_t left_ms = (end_us - wr_clock_monotonic_us() + 999) / 1000;
        if (left_ms <= 0) {
            return wr_fail(err, WR_AGAIN, "stdout", "%zu records not written within %lld ms",
                           base->inflight_count, (long long)timeout_ms);
        }
        (void)wait_writable(left_ms < INT_MAX ? (int)left_ms : INT_MAX);
        status = stdout_poll(base, err);
    }
    return status;
}

static void stdout_close(struct publisher *base)
{
    struct stdout_publisher *p = stdout_publisher(base);

    wr_buffer_done(&p->lines);
    free(p);
}

static const struct publisher_backend stdout_backend = {
    .produce = stdout_produce,
    .poll = stdout_poll,
    .flush = stdout_flush,
    .close = stdout_close,
};

enum wr_status publisher_stdout_open(const struct publisher_events *events, struct publisher **out,
                                     struct wr_error *err)
{
    struct stat status;

    *out = NULL;
    if (fstat(STDOUT_FILENO, &status) != 0) {
        return wr_fail(err, WR_FATAL, "stdout", "standard output: %s", strerror(errno));
    }
    /* A reader that goes away shall be an error with a text, not the end by a signal. */
    (void)signal(SIGPIPE, SIG_IGN);
    struct stdout_publisher *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        abort();
    }
    p->base = (struct publisher){.backend = &stdout_backend, .fd = -1};
    p->events = *events;
    p->is_file = S_ISREG(status.st_mode);
    wr_buffer_init(&p->lines, WR_RECORD_SIZE_MAX);
    *out = &p->base;
    return WR_OK;
}
