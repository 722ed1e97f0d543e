/*
 * Each request is a pipeline: its statements are sent at once, and answered in one go. All of them
 * go by the extended protocol, which takes one statement at a time: so a condition that somebody
 * wrote into a signal stays a condition. Rows are read in READ ONLY transactions.
 */
#include "streamer/chunk_reader.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "config/config.h"
#include "streamer/command.h"
#include "streamer/connect.h"

enum {
    STATEMENT_MAX = 6,
    SQL_SIZE_MAX = 64 << 20,
    FINISH_TIMEOUT_MS = 60 * 1000,
};

/* Which statement of a request brings what; -1: none. */
struct reading {
    int xid, snapshot, rows;
};

struct chunk_reader {
    const struct config *config;
    PGconn *conn;
    bool is_busy;
    bool wants_write;
    struct reading reading;
    PGresult *results[STATEMENT_MAX];
    int statement_count;     /* that were sent */
    int result_count;        /* that were answered */
    struct wr_error failure; /* the first one of the request; WR_OK: none */
    struct wr_buffer sql;
};

static const char *const BEGIN_SQL = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
static const char *const MARK_SQL =
    "SELECT pg_catalog.pg_logical_emit_message(true, '" CHUNK_MARK_PREFIX "', $1::text),"
    " pg_catalog.pg_current_xact_id()";

/* By way of jsonb: servers before 15 have no row filters. */
static const char *const LIST_SQL =
    "SELECT c.oid, n.nspname, c.relname,"
    " pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),"
    " pg_catalog.to_jsonb(t) ->> 'rowfilter',"
    " CASE WHEN pg_catalog.has_schema_privilege(n.oid, 'USAGE') THEN '' ELSE"
    "  'GRANT USAGE ON SCHEMA ' || pg_catalog.quote_ident(n.nspname) || ' TO '"
    "  || pg_catalog.quote_ident(current_user) || '; ' END"
    " || CASE WHEN pg_catalog.has_any_column_privilege(c.oid, 'SELECT') THEN '' ELSE"
    "  'GRANT SELECT ON ' || pg_catalog.quote_ident(n.nspname) || '.'"
    "  || pg_catalog.quote_ident(c.relname) || ' TO '"
    "  || pg_catalog.quote_ident(current_user) || '; ' END"
    " FROM pg_catalog.pg_publication_tables t"
    " JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname"
    " JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename"
    " WHERE t.pubname = $1 ORDER BY n.nspname COLLATE \"C\", c.relname COLLATE \"C\"";

enum list_column {
    LIST_OID,
    LIST_SCHEMA,
    LIST_TABLE,
    LIST_QUALIFIED,
    LIST_ROW_FILTER,
    LIST_GRANTS
};

enum wr_status chunk_reader_open(const struct config *config, struct chunk_reader **out,
                                 struct wr_error *err)
{
    struct chunk_reader *reader = calloc(1, sizeof(*reader));

    if (reader == NULL) {
        abort();
    }
    reader->config = config;
    wr_buffer_init(&reader->sql, SQL_SIZE_MAX);
    enum wr_status status = connect_open(config, CONNECT_QUERY, &reader->conn, err);
    if (status != WR_OK) {
        chunk_reader_close(reader);
        reader = NULL;
    }
    *out = reader;
    return status;
}

static void clear_results(struct chunk_reader *reader)
{
    for (int i = 0; i < STATEMENT_MAX; i++) {
        PQclear(reader->results[i]);
        reader->results[i] = NULL;
    }
    reader->statement_count = reader->result_count = 0;
    reader->failure.status = WR_OK;
}

void chunk_reader_close(struct chunk_reader *reader)
{
    if (reader != NULL) {
        clear_results(reader);
        PQfinish(reader->conn);
        wr_buffer_done(&reader->sql);
        free(reader);
    }
}

/* Waiting for an answer is for the simple way. */
static enum wr_status leave_pipeline(struct chunk_reader *reader, struct wr_error *err)
{
    char sqlstate[6];

    assert(!reader->is_busy);
    return PQexitPipelineMode(reader->conn) == 1
               ? WR_OK
               : command_fail(reader->conn, NULL, "incremental", sqlstate, err);
}

enum wr_status chunk_reader_describe(struct chunk_reader *reader, const struct chunk_target *target,
                                     struct chunk_table **out, struct relation **relation,
                                     struct wr_error *err)
{
    enum wr_status status = leave_pipeline(reader, err);

    *out = NULL;
    *relation = NULL;
    return status == WR_OK
               ? chunk_table_open(reader->config, reader->conn, target, out, relation, err)
               : status;
}

/* Sending. */

static enum wr_status failed(struct chunk_reader *reader, struct wr_error *err)
{
    char sqlstate[6];

    return command_fail(reader->conn, NULL, "incremental", sqlstate, err);
}

static enum wr_status begin(struct chunk_reader *reader, struct wr_error *err)
{
    assert(!reader->is_busy);
    clear_results(reader);
    reader->reading = (struct reading){-1, -1, -1};
    return PQenterPipelineMode(reader->conn) == 1 ? WR_OK : failed(reader, err);
}

/* Adds a statement; its place goes to `place` where that is wanted. */
static enum wr_status send(struct chunk_reader *reader, const char *sql, const char *value,
                           int *place, struct wr_error *err)
{
    assert(reader->statement_count < STATEMENT_MAX);
    if (PQsendQueryParams(reader->conn, sql, value == NULL ? 0 : 1, NULL, &value, NULL, NULL, 0) !=
        1) {
        return failed(reader, err);
    }
    if (place != NULL) {
        *place = reader->statement_count;
    }
    reader->statement_count++;
    return WR_OK;
}

static enum wr_status send_made(struct chunk_reader *reader, int *place, struct wr_error *err)
{
    if (reader->sql.failed) {
        return wr_fail(err, WR_REJECT, "incremental", "a statement is larger than %d bytes",
                       SQL_SIZE_MAX);
    }
    enum wr_status status = send(reader, reader->sql.data, NULL, place, err);
    wr_buffer_reset(&reader->sql);
    return status;
}

static enum wr_status flush(struct chunk_reader *reader, struct wr_error *err)
{
    int unsent = PQflush(reader->conn);

    reader->wants_write = unsent > 0;
    return unsent < 0 ? failed(reader, err) : WR_OK;
}

static enum wr_status end(struct chunk_reader *reader, struct wr_error *err)
{
    if (PQpipelineSync(reader->conn) != 1) {
        return failed(reader, err);
    }
    reader->is_busy = true;
    return flush(reader, err);
}

enum wr_status chunk_reader_mark(struct chunk_reader *reader, const char *mark,
                                 struct wr_error *err)
{
    enum wr_status status = begin(reader, err);

    if (status == WR_OK) {
        status = send(reader, MARK_SQL, mark, &reader->reading.xid, err);
    }
    return status == WR_OK ? end(reader, err) : status;
}

enum wr_status chunk_reader_list(struct chunk_reader *reader, struct wr_error *err)
{
    enum wr_status status = begin(reader, err);

    if (status == WR_OK) {
        status =
            send(reader, LIST_SQL, reader->config->publication_name, &reader->reading.rows, err);
    }
    return status == WR_OK ? end(reader, err) : status;
}

enum wr_status chunk_reader_look(struct chunk_reader *reader, struct wr_error *err)
{
    enum wr_status status = begin(reader, err);

    if (status == WR_OK) {
        status = send(reader, "SELECT pg_catalog.pg_current_snapshot(), ''", NULL,
                      &reader->reading.snapshot, err);
    }
    return status == WR_OK ? end(reader, err) : status;
}

enum wr_status chunk_reader_lock(struct chunk_reader *reader, const char *qualified,
                                 struct wr_error *err)
{
    enum wr_status status = begin(reader, err);

    if (status == WR_OK) {
        status = send(reader, BEGIN_SQL, NULL, NULL, err);
    }
    if (status == WR_OK) {
        WR_BUFFER_LITERAL(&reader->sql, "LOCK TABLE ONLY ");
        wr_buffer_add_str(&reader->sql, qualified);
        WR_BUFFER_LITERAL(&reader->sql, " IN ACCESS SHARE MODE");
        wr_buffer_add_char(&reader->sql, '\0');
        status = send_made(reader, NULL, err);
    }
    if (status == WR_OK) {
        status = send(reader, "COMMIT", NULL, NULL, err);
    }
    return status == WR_OK ? end(reader, err) : status;
}

/* Up to the snapshot. The lock comes first: it waits, and the snapshot must see for what. */
static enum wr_status begin_read(struct chunk_reader *reader, const struct chunk_table *table,
                                 struct wr_error *err)
{
    enum wr_status status = begin(reader, err);

    if (status == WR_OK) {
        status = send(reader, BEGIN_SQL, NULL, NULL, err);
    }
    if (status == WR_OK) {
        chunk_table_lock_sql(table, &reader->sql);
        status = send_made(reader, NULL, err);
    }
    if (status == WR_OK) {
        chunk_table_snapshot_sql(table, &reader->sql);
        status = send_made(reader, &reader->reading.snapshot, err);
    }
    return status;
}

enum wr_status chunk_reader_max(struct chunk_reader *reader, const struct chunk_table *table,
                                struct wr_error *err)
{
    enum wr_status status = begin_read(reader, table, err);

    if (status == WR_OK) {
        chunk_table_max_sql(table, &reader->sql);
        status = send_made(reader, &reader->reading.rows, err);
    }
    if (status == WR_OK) {
        status = send(reader, "COMMIT", NULL, NULL, err);
    }
    return status == WR_OK ? end(reader, err) : status;
}

enum wr_status chunk_reader_read(struct chunk_reader *reader, const struct chunk_table *table,
                                 const struct chunk_range *range, const char *mark,
                                 struct wr_error *err)
{
    enum wr_status status = begin_read(reader, table, err);

    if (status == WR_OK) {
        chunk_table_read_sql(table, range, &reader->sql);
        status = send_made(reader, &reader->reading.rows, err);
    }
    if (status == WR_OK) {
        status = send(reader, "COMMIT", NULL, NULL, err);
    }
    if (status == WR_OK) {
        status = send(reader, MARK_SQL, mark, NULL, err);
    }
    return status == WR_OK ? end(reader, err) : status;
}

/* Receiving. */

/* What the server refused is refused to this snapshot alone, and not to the stream. */
static void take_failure(struct chunk_reader *reader, const PGresult *result)
{
    char sqlstate[6];
    struct wr_error err;

    if (reader->failure.status != WR_OK) {
        return;
    }
    enum wr_status status = command_fail(reader->conn, result, "incremental", sqlstate, &err);
    if (status == WR_FATAL) {
        err.status = WR_REJECT;
    }
    reader->failure = err;
}

/* True at the end of the request. */
static bool take_result(struct chunk_reader *reader, PGresult *result)
{
    ExecStatusType kind = PQresultStatus(result);

    if (kind == PGRES_PIPELINE_SYNC) {
        PQclear(result);
        return true;
    }
    if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK) {
        if (kind != PGRES_PIPELINE_ABORTED) {
            take_failure(reader, result);
        }
        PQclear(result);
        return false;
    }
    assert(reader->result_count < STATEMENT_MAX);
    reader->results[reader->result_count++] = result;
    return false;
}

/* A transaction that failed is left behind, whatever comes next. */
static enum wr_status clean_up(struct chunk_reader *reader, struct wr_error *err)
{
    reader->is_busy = false;
    *err = reader->failure;
    if (err->status != WR_REJECT) {
        return err->status;
    }
    struct wr_error cause = *err;
    struct command command = {
        .where = "incremental", .sql = "ROLLBACK", .timeout_ms = FINISH_TIMEOUT_MS};
    PGresult *result = NULL;
    enum wr_status status = leave_pipeline(reader, err);
    if (status == WR_OK) {
        status = command_run(reader->conn, &command, &result, err);
    }
    PQclear(result);
    if (status == WR_OK) {
        *err = cause;
        status = WR_REJECT;
    }
    return status;
}

enum wr_status chunk_reader_step(struct chunk_reader *reader, struct wr_error *err)
{
    assert(reader->is_busy);
    if (PQconsumeInput(reader->conn) == 0) {
        return failed(reader, err);
    }
    enum wr_status status = flush(reader, err);
    while (status == WR_OK && PQisBusy(reader->conn) == 0) {
        PGresult *result = PQgetResult(reader->conn);
        if (result == NULL) {
            if (PQstatus(reader->conn) != CONNECTION_OK) {
                return failed(reader, err);
            }
            continue; /* between the answers to two statements */
        }
        if (take_result(reader, result)) {
            return clean_up(reader, err);
        }
        if (reader->failure.status == WR_RETRY && PQstatus(reader->conn) != CONNECTION_OK) {
            *err = reader->failure;
            return WR_RETRY;
        }
    }
    return status == WR_OK ? WR_AGAIN : status;
}

enum wr_status chunk_reader_finish(struct chunk_reader *reader, struct wr_error *err)
{
    int64_t deadline_us = wr_clock_monotonic_us() + FINISH_TIMEOUT_MS * (int64_t)1000;

    for (;;) {
        enum wr_status status = chunk_reader_step(reader, err);
        if (status != WR_AGAIN) {
            return status;
        }
        short events = (short)(POLLIN | (reader->wants_write ? POLLOUT : 0));
        status =
            command_wait(PQsocket(reader->conn), events, deadline_us, COMMAND_WAIT_ABORTABLE, err);
        if (status == WR_AGAIN) {
            return wr_fail(err, WR_RETRY, "incremental", "no answer from the server within %d ms",
                           FINISH_TIMEOUT_MS);
        }
        if (status != WR_OK) {
            return status;
        }
    }
}

bool chunk_reader_is_busy(const struct chunk_reader *reader)
{
    return reader->is_busy;
}

int chunk_reader_fd(const struct chunk_reader *reader)
{
    return PQsocket(reader->conn);
}

bool chunk_reader_wants_write(const struct chunk_reader *reader)
{
    return reader->wants_write;
}

/* Answers. */

static const PGresult *rows_of(const struct chunk_reader *reader)
{
    assert(!reader->is_busy && reader->reading.rows >= 0);
    return reader->results[reader->reading.rows];
}

uint64_t chunk_reader_xid(const struct chunk_reader *reader)
{
    assert(!reader->is_busy && reader->reading.xid >= 0);
    return strtoull(PQgetvalue(reader->results[reader->reading.xid], 0, 1), NULL, 10);
}

const char *chunk_reader_snapshot(const struct chunk_reader *reader)
{
    assert(!reader->is_busy && reader->reading.snapshot >= 0);
    return PQgetvalue(reader->results[reader->reading.snapshot], 0, 0);
}

const char *chunk_reader_shape(const struct chunk_reader *reader)
{
    assert(!reader->is_busy && reader->reading.snapshot >= 0);
    return PQgetvalue(reader->results[reader->reading.snapshot], 0, 1);
}

size_t chunk_reader_row_count(const struct chunk_reader *reader)
{
    return (size_t)PQntuples(rows_of(reader));
}

struct chunk_found chunk_reader_found(const struct chunk_reader *reader, size_t row)
{
    const char *oid = chunk_reader_value(reader, row, LIST_OID);

    return (struct chunk_found){
        .oid = (uint32_t)strtoul(oid, NULL, 10),
        .schema = chunk_reader_value(reader, row, LIST_SCHEMA),
        .table = chunk_reader_value(reader, row, LIST_TABLE),
        .qualified = chunk_reader_value(reader, row, LIST_QUALIFIED),
        .row_filter = chunk_reader_value(reader, row, LIST_ROW_FILTER),
        .grants = chunk_reader_value(reader, row, LIST_GRANTS),
    };
}

const char *chunk_reader_value(const struct chunk_reader *reader, size_t row, uint16_t column)
{
    const PGresult *rows = rows_of(reader);

    return PQgetisnull(rows, (int)row, column) != 0 ? NULL : PQgetvalue(rows, (int)row, column);
}

void chunk_reader_cells(const struct chunk_reader *reader, size_t row, uint16_t count,
                        struct cell *out)
{
    const PGresult *rows = rows_of(reader);

    for (uint16_t i = 0; i < count; i++) {
        if (PQgetisnull(rows, (int)row, i) != 0) {
            out[i] = (struct cell){.kind = CELL_NULL};
        } else {
            out[i] = (struct cell){
                .kind = CELL_TEXT,
                .text = {PQgetvalue(rows, (int)row, i), (size_t)PQgetlength(rows, (int)row, i)}};
        }
    }
}

size_t chunk_reader_size(const struct chunk_reader *reader)
{
    return PQresultMemorySize(rows_of(reader));
}
