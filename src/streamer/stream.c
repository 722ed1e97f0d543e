/*
 * The replication connection. It starts a slot's stream, hands out one pgoutput message at a time,
 * borrowed from libpq, and sends the confirmations that the caller decides on. It compares no LSNs
 * and keeps none: what may be confirmed is the ledger's business.
 *
 * Reading and answering are apart on purpose. While the caller is paused it reads nothing, so that
 * memory stays flat and the server is held back by TCP, but it goes on confirming by timer: that
 * is all the server wants to see before wal_sender_timeout.
 */
#include "streamer/stream.h"

#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "streamer/catalog_query.h"
#include "streamer/command.h"
#include "streamer/connect.h"
#include "streamer/start_sql.h"
#include "streamer/timeline.h"

enum {
    COMMAND_TIMEOUT_MS = 30 * 1000,
    COMMAND_SIZE_MAX = 1 << 16,
    STATUS_UPDATE_SIZE = 1 + 8 + 8 + 8 + 8 + 1,
    VERSION_MESSAGES = 140000,     /* the option `messages` of pgoutput */
    VERSION_SLOT_OPTIONS = 150000, /* CREATE_REPLICATION_SLOT (SNAPSHOT 'export') */
    VERSION_FAILOVER = 170000,     /* ALTER_REPLICATION_SLOT (FAILOVER) */
    SNAPSHOT_NAME_SIZE_MAX = 64,
    WARNING_SIZE_MAX = 256,
};

struct stream {
    const struct config *config;
    PGconn *conn;
    struct stream_identity identity;
    char snapshot_name[SNAPSHOT_NAME_SIZE_MAX];
    char slot_name[SNAPSHOT_SLOT_NAME_SIZE]; /* whose stream it is */
    char *message; /* libpq's copy of the last CopyData, lent to the caller */
    bool wants_write;
    bool is_slot_taken;
    PQnoticeReceiver log_notice;
    char passed_over[WARNING_SIZE_MAX]; /* the server's warning that changes are not sent, or "" */
};

/*
 * Since 18 the server does not end the stream at a change whose publication is not there: it warns,
 * sends nothing of the change, and goes on to the next. Here that must end the stream, as before
 * 18: who only logged it would confirm, and so lose, what was passed over.
 */
static void take_notice(void *context, const PGresult *notice)
{
    struct stream *s = context;
    const char *sqlstate = PQresultErrorField(notice, PG_DIAG_SQLSTATE);

    if (sqlstate != NULL && strcmp(sqlstate, "55000") == 0) {
        (void)snprintf(s->passed_over, sizeof(s->passed_over), "%s",
                       PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY));
    }
    s->log_notice(NULL, notice);
}

/* A command of the replication grammar. Its result, of one row, is for PQclear. */
static enum wr_status run(struct stream *s, struct command *command, PGresult **out,
                          struct wr_error *err)
{
    s->snapshot_name[0] = '\0'; /* the server forgets the snapshot at the next command */
    command->where = "stream";
    return command_run(s->conn, command, out, err);
}

static enum wr_status query_row(struct stream *s, const char *sql, int column_count, PGresult **out,
                                struct wr_error *err)
{
    struct command command = {.sql = sql, .timeout_ms = COMMAND_TIMEOUT_MS};
    enum wr_status status = run(s, &command, out, err);

    if (status == WR_OK && (PQntuples(*out) != 1 || PQnfields(*out) < column_count)) {
        PQclear(*out);
        *out = NULL;
        return wr_fail(err, WR_FATAL, "stream", "an odd answer to %s: is this PostgreSQL?", sql);
    }
    return status;
}

static enum wr_status read_system(struct stream *s, struct wr_error *err)
{
    PGresult *result = NULL;
    enum wr_status status = query_row(s, "IDENTIFY_SYSTEM", 3, &result, err);

    if (status != WR_OK) {
        return status;
    }
    s->identity.system_identifier = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    s->identity.timeline = (uint32_t)strtoul(PQgetvalue(result, 0, 1), NULL, 10);
    s->identity.server_version = PQserverVersion(s->conn);
    if (!wr_lsn_parse(PQgetvalue(result, 0, 2), &s->identity.wal_lsn)) {
        status = wr_fail(err, WR_FATAL, "stream", "IDENTIFY_SYSTEM: not an LSN: %s",
                         PQgetvalue(result, 0, 2));
    }
    PQclear(result);
    return status;
}

/* pg_settings gives the time-out in its base unit; SHOW would say "1min". */
static enum wr_status read_settings(struct stream *s, struct wr_error *err)
{
    PGresult *result = NULL;
    enum wr_status status =
        query_row(s,
                  "SELECT setting, pg_catalog.current_setting('wal_level')"
                  " FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'",
                  2, &result, err);

    if (status != WR_OK) {
        return status;
    }
    s->identity.wal_sender_timeout_ms = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    if (strcmp(PQgetvalue(result, 0, 1), "logical") != 0) {
        status = wr_fail(err, WR_FATAL, "stream",
                         "wal_level is %s, but logical is needed; run: ALTER SYSTEM SET wal_level "
                         "= logical; and restart the server",
                         PQgetvalue(result, 0, 1));
    }
    PQclear(result);
    return status;
}

enum wr_status stream_connect(const struct config *config, struct stream **out,
                              struct wr_error *err)
{
    struct stream *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        abort();
    }
    *out = NULL;
    s->config = config;
    (void)snprintf(s->slot_name, sizeof(s->slot_name), "%s", config->slot_name);
    enum wr_status status = connect_open(config, CONNECT_REPLICATION, &s->conn, err);
    if (status == WR_OK) {
        s->log_notice = PQsetNoticeReceiver(s->conn, take_notice, s);
        status = read_system(s, err);
    }
    if (status == WR_OK) {
        status = read_settings(s, err);
    }
    if (status == WR_OK) {
        status = timeline_read(s->conn, s->identity.timeline, &s->identity.history, err);
    }
    if (status != WR_OK) {
        stream_close(s);
        return status;
    }
    *out = s;
    return WR_OK;
}

const struct stream_identity *stream_identity(const struct stream *s)
{
    return &s->identity;
}

static enum wr_status read_created_slot(struct stream *s, const PGresult *result,
                                        bool export_snapshot, wr_lsn *consistent_lsn,
                                        struct wr_error *err)
{
    bool is_complete = PQntuples(result) == 1 && PQnfields(result) >= 3 &&
                       wr_lsn_parse(PQgetvalue(result, 0, 1), consistent_lsn) &&
                       PQgetlength(result, 0, 2) < SNAPSHOT_NAME_SIZE_MAX;

    if (!is_complete || (export_snapshot && PQgetisnull(result, 0, 2) != 0)) {
        return wr_fail(err, WR_FATAL, "stream", "slot %s: an odd answer to CREATE_REPLICATION_SLOT",
                       s->config->slot_name);
    }
    (void)snprintf(s->snapshot_name, sizeof(s->snapshot_name), "%s", PQgetvalue(result, 0, 2));
    return WR_OK;
}

static const char *slot_clause(const struct stream *s, bool is_snapshot)
{
    if (s->identity.server_version >= VERSION_SLOT_OPTIONS) {
        return is_snapshot ? " LOGICAL pgoutput (SNAPSHOT 'export')"
                           : " LOGICAL pgoutput (SNAPSHOT 'nothing')";
    }
    return is_snapshot ? " LOGICAL pgoutput EXPORT_SNAPSHOT"
                       : " LOGICAL pgoutput NOEXPORT_SNAPSHOT";
}

static enum wr_status create_slot(struct stream *s, const char *slot_name, bool is_temporary,
                                  bool is_snapshot, wr_lsn *consistent_lsn, struct wr_error *err)
{
    struct wr_buffer sql = {0};
    PGresult *result = NULL;

    wr_buffer_init(&sql, COMMAND_SIZE_MAX);
    WR_BUFFER_LITERAL(&sql, "CREATE_REPLICATION_SLOT ");
    command_add_identifier(&sql, slot_name);
    wr_buffer_add_str(&sql, is_temporary ? " TEMPORARY" : "");
    wr_buffer_add_str(&sql, slot_clause(s, is_snapshot));
    wr_buffer_add_char(&sql, '\0');
    struct command command = {
        .sql = sql.failed ? "" : sql.data,
        .note = "waiting for older transactions to finish before the slot can be created",
    };
    enum wr_status status = run(s, &command, &result, err);
    wr_buffer_done(&sql);
    if (status == WR_OK) {
        status = read_created_slot(s, result, is_snapshot, consistent_lsn, err);
    } else if (strcmp(command.sqlstate, "53400") == 0) {
        command_advise(err, "drop a slot that nobody uses, or raise max_replication_slots");
    }
    PQclear(result);
    return status;
}

enum wr_status stream_create_slot(struct stream *s, wr_lsn *consistent_lsn, struct wr_error *err)
{
    return create_slot(s, s->config->slot_name, false, false, consistent_lsn, err);
}

enum wr_status stream_lock_snapshot(struct stream *s, struct wr_error *err)
{
    char sql[256];
    PGresult *result = NULL;

    /* A slot's name needs no quoting. */
    (void)snprintf(sql, sizeof(sql),
                   "SELECT pg_catalog.pg_try_advisory_lock("
                   "pg_catalog.hashtextextended('walrelay snapshot %s', 0))",
                   s->config->slot_name);
    enum wr_status status = query_row(s, sql, 1, &result, err);
    if (status == WR_OK && PQgetvalue(result, 0, 0)[0] != 't') {
        status = wr_fail(err, WR_RETRY, "stream",
                         "another walrelay works for slot %s, or takes its snapshot",
                         s->config->slot_name);
    }
    PQclear(result);
    return status;
}

enum wr_status stream_create_snapshot_slot(struct stream *s, enum snapshot_slot kind,
                                           const char **snapshot_name, wr_lsn *consistent_lsn,
                                           struct wr_error *err)
{
    char slot_name[SNAPSHOT_SLOT_NAME_SIZE];

    snapshot_slot_name(s->config, kind, slot_name);
    *snapshot_name = s->snapshot_name;
    return create_slot(s, slot_name, kind == SNAPSHOT_SLOT_TEMPORARY, true, consistent_lsn, err);
}

static enum wr_status drop_slot(struct stream *s, const char *slot_name, struct wr_error *err)
{
    char sql[128]; /* a slot's name needs no escaping */
    PGresult *result = NULL;
    struct command command = {.sql = sql, .timeout_ms = COMMAND_TIMEOUT_MS};

    (void)snprintf(sql, sizeof(sql), "DROP_REPLICATION_SLOT \"%s\"", slot_name);
    enum wr_status status = run(s, &command, &result, err);
    PQclear(result);
    return status;
}

enum wr_status stream_set_failover(struct stream *s, struct wr_error *err)
{
    char sql[128];
    PGresult *result = NULL;
    struct command command = {.sql = sql, .timeout_ms = COMMAND_TIMEOUT_MS};

    if (s->identity.server_version < VERSION_FAILOVER) {
        wr_log(
            WR_LOG_WARN, "stream",
            WR_MSG("slot.failover needs PostgreSQL 17 or later: the slot has no copy on standbys"),
            WR_STR("slot.name", s->config->slot_name));
        return WR_OK;
    }
    /* A slot's name needs no quoting. */
    (void)snprintf(sql, sizeof(sql), "ALTER_REPLICATION_SLOT %s (FAILOVER true)",
                   s->config->slot_name);
    enum wr_status status = run(s, &command, &result, err);
    PQclear(result);
    return status;
}

enum wr_status stream_drop_snapshot_slot(struct stream *s, enum snapshot_slot kind,
                                         struct wr_error *err)
{
    char slot_name[SNAPSHOT_SLOT_NAME_SIZE];

    snapshot_slot_name(s->config, kind, slot_name);
    return drop_slot(s, slot_name, err);
}

enum wr_status stream_drop_slot(struct stream *s, struct wr_error *err)
{
    return drop_slot(s, s->config->slot_name, err);
}

static void advise(const struct stream *s, const char *sqlstate, struct wr_error *err)
{
    if (strcmp(sqlstate, "55000") == 0 || strcmp(sqlstate, "58P01") == 0) {
        command_advise(err,
                       "look at slot %s in pg_replication_slots: if it is lost, the changes since "
                       "its confirmed_flush_lsn are gone, and only dropping it and a new snapshot "
                       "help",
                       s->slot_name);
    } else if (strcmp(sqlstate, "42704") == 0) {
        command_advise(err,
                       "slot %s and publication %s must both exist, and a publication made after "
                       "its slot is not seen by older changes: drop the slot and start again",
                       s->slot_name, s->config->publication_name);
    } else if (strcmp(sqlstate, "55006") == 0) {
        command_advise(err,
                       "another process reads slot %s: it is tried again, see slot.max.retries",
                       s->slot_name);
    }
}

void stream_use_snapshot_slot(struct stream *s)
{
    snapshot_slot_name(s->config, SNAPSHOT_SLOT_LASTING, s->slot_name);
}

enum wr_status stream_start(struct stream *s, wr_lsn start, bool with_messages,
                            struct wr_error *err)
{
    struct wr_buffer sql = {0};
    PGresult *result = NULL;

    wr_buffer_init(&sql, COMMAND_SIZE_MAX);
    start_sql_write(&sql, s->config, s->slot_name, start,
                    with_messages && s->identity.server_version >= VERSION_MESSAGES);
    struct command command = {.sql = sql.failed ? "" : sql.data, .timeout_ms = COMMAND_TIMEOUT_MS};
    enum wr_status status = run(s, &command, &result, err);
    wr_buffer_done(&sql);
    if (status != WR_OK) {
        s->is_slot_taken = strcmp(command.sqlstate, "55006") == 0;
        advise(s, command.sqlstate, err);
    } else if (PQresultStatus(result) != PGRES_COPY_BOTH) {
        status = wr_fail(err, WR_FATAL, "stream", "START_REPLICATION started nothing");
    }
    PQclear(result);
    return status;
}

bool stream_slot_is_taken(const struct stream *s)
{
    return s->is_slot_taken;
}

int stream_fd(const struct stream *s)
{
    return PQsocket(s->conn);
}

bool stream_wants_write(const struct stream *s)
{
    return s->wants_write;
}

/* The stream is over: whatever the server said last is the reason. */
static enum wr_status ended(struct stream *s, struct wr_error *err)
{
    char sqlstate[6];
    PGresult *result = PQgetResult(s->conn);

    if (result != NULL && PQresultStatus(result) != PGRES_FATAL_ERROR) {
        PQclear(result);
        return wr_fail(err, WR_RETRY, "stream", "the server has ended the stream");
    }
    enum wr_status status = command_fail(s->conn, result, "stream", sqlstate, err);
    advise(s, sqlstate, err);
    PQclear(result);
    return status;
}

/* The reason may still stand behind data that nobody will read any more. */
static enum wr_status lost(struct stream *s, struct wr_error *err)
{
    char *rest = NULL;

    while (PQgetCopyData(s->conn, &rest, 1) > 0) {
        PQfreemem(rest);
    }
    return ended(s, err);
}

enum wr_status stream_consume(struct stream *s, struct wr_error *err)
{
    return PQconsumeInput(s->conn) == 1 ? WR_OK : lost(s, err);
}

/* XLogData: 'w', u64 start, u64 end, i64 time, one message. Keepalive: 'k', u64 end, i64 time, u8
 * reply. */
static enum wr_status parse(const char *bytes, size_t size, struct stream_event *out,
                            struct wr_error *err)
{
    struct wr_cursor in;

    wr_cursor_init(&in, bytes, size);
    char kind = (char)wr_cursor_uint(&in, 1);
    *out = (struct stream_event){.kind = kind == 'w' ? STREAM_DATA : STREAM_KEEPALIVE};
    switch (kind) {
    case 'w':
        out->lsn = wr_cursor_uint(&in, 8);
        (void)wr_cursor_uint(&in, 8); /* for logical replication the same again */
        break;
    case 'k':
        out->wal_end = wr_cursor_uint(&in, 8);
        break;
    default:
        return wr_fail(err, WR_FATAL, "stream", "unknown replication message 0x%02x",
                       (unsigned char)kind);
    }
    out->time_us = (int64_t)wr_cursor_uint(&in, 8) + WR_PG_EPOCH_US;
    if (kind == 'k') {
        out->reply_requested = wr_cursor_uint(&in, 1) != 0;
    } else {
        out->payload = (struct wr_slice){(const char *)in.next, wr_cursor_left(&in)};
    }
    if (in.failed || (kind == 'k' && !wr_cursor_done(&in))) {
        return wr_fail(err, WR_FATAL, "stream", "replication message '%c' of %zu bytes", kind,
                       size);
    }
    return WR_OK;
}

enum wr_status stream_read(struct stream *s, struct stream_event *out, struct wr_error *err)
{
    PQfreemem(s->message);
    s->message = NULL;
    int size = PQgetCopyData(s->conn, &s->message, 1);
    if (s->passed_over[0] != '\0') {
        wr_fail(err, WR_FATAL, "stream", "changes were not sent: %s", s->passed_over);
        advise(s, "42704", err);
        return WR_FATAL;
    }
    if (size > 0) {
        return parse(s->message, (size_t)size, out, err);
    }
    return size == 0 ? WR_AGAIN : ended(s, err);
}

static void put_uint64(uint8_t **at, uint64_t value)
{
    for (int shift = 56; shift >= 0; shift -= 8) {
        *(*at)++ = (uint8_t)(value >> shift);
    }
}

enum wr_status stream_confirm(struct stream *s, wr_lsn write, wr_lsn flush, bool request_reply,
                              struct wr_error *err)
{
    uint8_t update[STATUS_UPDATE_SIZE] = {'r'};
    uint8_t *at = update + 1;

    assert(write >= flush);
    put_uint64(&at, write);
    put_uint64(&at, flush);
    put_uint64(&at, flush); /* applied: to us the same as flushed */
    put_uint64(&at, (uint64_t)(wr_clock_realtime_ns() / 1000 - WR_PG_EPOCH_US));
    *at = request_reply ? 1 : 0;
    if (PQputCopyData(s->conn, (const char *)update, sizeof(update)) != 1) {
        return lost(s, err);
    }
    return stream_flush(s, err);
}

enum wr_status stream_flush(struct stream *s, struct wr_error *err)
{
    int unsent = PQflush(s->conn);

    s->wants_write = unsent > 0;
    return unsent < 0 ? lost(s, err) : WR_OK;
}

/* True once the server has ended the copy and the command. What is still sent was never read, so
 * it is not confirmed, and comes again. */
static bool has_ended(PGconn *conn)
{
    char *rest = NULL;
    int size = PQgetCopyData(conn, &rest, 1);

    while (size > 0) {
        PQfreemem(rest);
        size = PQgetCopyData(conn, &rest, 1);
    }
    if (size == 0) {
        return false;
    }
    while (PQisBusy(conn) == 0) {
        PGresult *result = PQgetResult(conn);
        if (result == NULL) {
            return true;
        }
        PQclear(result);
    }
    return false;
}

enum wr_status stream_stop(struct stream *s, int64_t timeout_ms, struct wr_error *err)
{
    int64_t deadline_us = wr_clock_monotonic_us() + timeout_ms * 1000;

    if (PQputCopyEnd(s->conn, NULL) != 1) {
        return lost(s, err);
    }
    while (!has_ended(s->conn)) {
        enum wr_status status = stream_flush(s, err);
        if (status != WR_OK) {
            return status;
        }
        short events = s->wants_write ? POLLIN | POLLOUT : POLLIN;
        status = command_wait(PQsocket(s->conn), events, deadline_us, COMMAND_WAIT_TO_THE_END, err);
        if (status == WR_AGAIN) {
            return wr_fail(err, WR_RETRY, "stream", "the server did not end within %lld ms",
                           (long long)timeout_ms);
        }
        if (status != WR_OK) {
            return status;
        }
        if (PQconsumeInput(s->conn) == 0) {
            return lost(s, err);
        }
    }
    return WR_OK;
}

void stream_close(struct stream *s)
{
    if (s == NULL) {
        return;
    }
    PQfreemem(s->message);
    PQfinish(s->conn);
    free(s->identity.history);
    free(s);
}
