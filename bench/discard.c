/*
 * bench/discard.c - reads a slot as fast as it can and throws the rows away.
 *
 * It is the ceiling: one walsender decodes on one core, and nothing that publishes the rows can be
 * faster than what only receives them. It reads without blocking and pauses when the socket is
 * drained, so that one system call brings many messages.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/lsn.h"
#include "base/status.h"
#include "result.h"

enum {
    PAUSE_NS = 200000,
    STATUS_INTERVAL_US = 1000000,
    XLOG_DATA_HEADER_SIZE = 1 + 8 + 8 + 8,
    KEEPALIVE_SIZE = 1 + 8 + 8 + 1,
    STATUS_UPDATE_SIZE = 1 + 8 + 8 + 8 + 8 + 1,
};

struct reader {
    PGconn *connection;
    wr_lsn endpos;
    wr_lsn received;
    int64_t status_due_us;
    int64_t first_cpu_us;
    bool reply_requested;
    struct result result;
};

static int64_t cpu_us(void)
{
    struct rusage usage = {0};

    (void)getrusage(RUSAGE_SELF, &usage);
    return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static int64_t now_us(void)
{
    return wr_clock_realtime_ns() / 1000;
}

static enum wr_status reader_open(struct reader *r, const char *conninfo, const char *slot,
                                  const char *publication, struct wr_error *err)
{
    char command[512];

    r->connection = PQconnectdb(conninfo);
    if (PQstatus(r->connection) != CONNECTION_OK) {
        return wr_fail(err, WR_FATAL, "discard", "%s", PQerrorMessage(r->connection));
    }
    (void)snprintf(command, sizeof(command),
                   "START_REPLICATION SLOT \"%s\" LOGICAL 0/0 "
                   "(proto_version '1', publication_names '\"%s\"')",
                   slot, publication);
    PGresult *answer = PQexec(r->connection, command);
    bool streams = PQresultStatus(answer) == PGRES_COPY_BOTH;
    PQclear(answer);
    if (!streams) {
        return wr_fail(err, WR_FATAL, "discard", "%s", PQerrorMessage(r->connection));
    }
    return WR_OK;
}

static char *put_uint64(char *place, uint64_t value)
{
    for (int shift = 56; shift >= 0; shift -= 8) {
        *place++ = (char)(unsigned char)(value >> shift);
    }
    return place;
}

/* Confirms all that was received: it is thrown away, so nothing can be lost. */
static enum wr_status send_status(struct reader *r, struct wr_error *err)
{
    char update[STATUS_UPDATE_SIZE] = {'r'};
    char *place = update + 1;

    for (int i = 0; i < 3; i++) { /* written, flushed, applied */
        place = put_uint64(place, r->received);
    }
    (void)put_uint64(place, (uint64_t)(now_us() - WR_PG_EPOCH_US));
    r->reply_requested = false;
    r->status_due_us = wr_clock_monotonic_us() + STATUS_INTERVAL_US;
    if (PQputCopyData(r->connection, update, sizeof(update)) != 1 || PQflush(r->connection) < 0) {
        return wr_fail(err, WR_FATAL, "discard", "%s", PQerrorMessage(r->connection));
    }
    return WR_OK;
}

static enum wr_status take_message(struct reader *r, const char *bytes, int size,
                                   struct wr_error *err)
{
    struct wr_cursor in;

    wr_cursor_init(&in, bytes, (size_t)size);
    char kind = (char)wr_cursor_uint(&in, 1);
    wr_lsn lsn = wr_cursor_uint(&in, 8);

    if (kind == 'w' && size > XLOG_DATA_HEADER_SIZE) {
        if (bytes[XLOG_DATA_HEADER_SIZE] == 'I') {
            r->result.row_count++;
        }
        return WR_OK;
    }
    if (kind == 'k' && size == KEEPALIVE_SIZE) {
        r->received = lsn;
        r->reply_requested = bytes[KEEPALIVE_SIZE - 1] != 0;
        return WR_OK;
    }
    return wr_fail(err, WR_FATAL, "discard", "message '%c' of %d bytes", kind, size);
}

/* Everything that the socket holds now. The clock is read once for all of it. */
static enum wr_status drain(struct reader *r, struct wr_error *err)
{
    char *bytes = NULL;
    int size = 0;
    int64_t before = r->result.row_count;

    if (PQconsumeInput(r->connection) == 0) {
        return wr_fail(err, WR_FATAL, "discard", "%s", PQerrorMessage(r->connection));
    }
    while ((size = PQgetCopyData(r->connection, &bytes, 1)) > 0) {
        enum wr_status status = take_message(r, bytes, size, err);
        PQfreemem(bytes);
        if (status != WR_OK) {
            return status;
        }
    }
    if (size < 0) {
        return wr_fail(err, WR_FATAL, "discard", "stream ended: %s", PQerrorMessage(r->connection));
    }
    if (r->result.row_count > before) {
        r->result.last_us = now_us();
        r->result.stream_cpu_us = cpu_us() - r->first_cpu_us;
    }
    if (before == 0 && r->result.row_count > 0) {
        r->result.first_us = r->result.last_us;
        r->first_cpu_us = cpu_us();
    }
    return WR_OK;
}

/* A keepalive names the place up to which everything was sent: at endpos nothing can follow. */
static enum wr_status read_until_endpos(struct reader *r, struct wr_error *err)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    while (r->received < r->endpos) {
        enum wr_status status = drain(r, err);
        if (status == WR_OK &&
            (r->reply_requested || wr_clock_monotonic_us() >= r->status_due_us)) {
            status = send_status(r, err);
        }
        if (status != WR_OK) {
            return status;
        }
        (void)nanosleep(&pause, NULL);
    }
    return send_status(r, err);
}

int main(int argc, char **argv)
{
    struct wr_error err = {0};
    struct reader reader = {.result.start_us = now_us()};

    if (argc != 5 || !wr_lsn_parse(argv[4], &reader.endpos)) {
        (void)fprintf(stderr, "usage: bench_discard CONNINFO SLOT PUBLICATION ENDPOS\n");
        return 2;
    }
    enum wr_status status = reader_open(&reader, argv[1], argv[2], argv[3], &err);
    if (status == WR_OK) {
        status = read_until_endpos(&reader, &err);
    }
    PQfinish(reader.connection);
    if (status != WR_OK) {
        (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
        return 1;
    }
    reader.result.total_cpu_us = cpu_us();
    reader.result.rss_peak_bytes = process_rss_peak_bytes(getpid());
    result_print(&reader.result);
    return 0;
}
