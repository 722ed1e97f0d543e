#include "streamer/snapshot_reader.h"

#include <assert.h>
#include <string.h>

#include "base/buffer.h"
#include "streamer/command.h"
#include "streamer/connect.h"

enum {
    BEGIN_TIMEOUT_MS = 60 * 1000,
    BEGIN_SIZE_MAX = 1024,
    READS_A_TURN = 4, /* let libpq's buffer grow to what one system call can then fill */
};

/* Invalid parameter (before 17) or undefined object: the exporting connection is gone. Undefined
 * table: it was dropped. */
static enum wr_status judge(enum wr_status status, const char *sqlstate, struct wr_error *err)
{
    if (status != WR_OK && (strcmp(sqlstate, "22023") == 0 || strcmp(sqlstate, "42704") == 0 ||
                            strcmp(sqlstate, "42P01") == 0)) {
        err->status = WR_RETRY;
        return WR_RETRY;
    }
    return status;
}

enum wr_status snapshot_reader_run(struct snapshot_reader *reader, const char *sql,
                                   int64_t timeout_ms, PGresult **out, struct wr_error *err)
{
    struct command command = {.where = "snapshot", .sql = sql, .timeout_ms = timeout_ms};

    assert(reader->phase == READER_IDLE);
    enum wr_status status = command_run(reader->conn, &command, out, err);
    return judge(status, command.sqlstate, err);
}

static enum wr_status begin(struct snapshot_reader *reader, const char *snapshot_name,
                            struct wr_error *err)
{
    struct wr_buffer sql = {0};
    PGresult *result = NULL;

    wr_buffer_init(&sql, BEGIN_SIZE_MAX);
    WR_BUFFER_LITERAL(&sql, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;"
                            " SET TRANSACTION SNAPSHOT ");
    command_add_literal(&sql, snapshot_name);
    wr_buffer_add_char(&sql, '\0');
    assert(!sql.failed);
    enum wr_status status = snapshot_reader_run(reader, sql.data, BEGIN_TIMEOUT_MS, &result, err);
    wr_buffer_done(&sql);
    PQclear(result);
    return status;
}

enum wr_status snapshot_reader_open(struct snapshot_reader *reader, const struct config *config,
                                    const char *snapshot_name, struct wr_error *err)
{
    *reader = (struct snapshot_reader){.phase = READER_IDLE};
    enum wr_status status = connect_open(config, CONNECT_QUERY, &reader->conn, err);
    return status == WR_OK ? begin(reader, snapshot_name, err) : status;
}

void snapshot_reader_close(struct snapshot_reader *reader)
{
    PQfinish(reader->conn);
    *reader = (struct snapshot_reader){0};
}

enum wr_status snapshot_reader_copy(struct snapshot_reader *reader, const char *sql,
                                    struct wr_error *err)
{
    char sqlstate[6];

    assert(reader->phase == READER_IDLE);
    if (PQsendQuery(reader->conn, sql) == 0) {
        return command_fail(reader->conn, NULL, "snapshot", sqlstate, err);
    }
    reader->phase = READER_STARTING;
    reader->size = 0;
    return WR_OK;
}

/* The COPY's first result: that rows follow, or why not. */
static enum wr_status take_start(struct snapshot_reader *reader, struct wr_error *err)
{
    if (PQflush(reader->conn) > 0 || PQisBusy(reader->conn) != 0) {
        return WR_AGAIN;
    }
    PGresult *result = PQgetResult(reader->conn);
    enum wr_status status = WR_OK;
    if (PQresultStatus(result) == PGRES_COPY_OUT) {
        reader->phase = READER_ROWS;
    } else {
        status = command_fail(reader->conn, result, "snapshot", reader->sqlstate, err);
        status = judge(status, reader->sqlstate, err);
    }
    PQclear(result);
    return status;
}

static enum wr_status take_line(struct snapshot_reader *reader, char **data, size_t *size)
{
    int count = PQgetCopyData(reader->conn, data, 1);

    if (count == 0) {
        return WR_AGAIN;
    }
    if (count < 0) {
        reader->phase = READER_ENDING;
        return WR_OK;
    }
    *size = (size_t)count;
    reader->size += (uint64_t)count;
    return WR_OK;
}

static enum wr_status take_end(struct snapshot_reader *reader, struct wr_error *err)
{
    char sqlstate[6];

    if (PQisBusy(reader->conn) != 0) {
        return WR_AGAIN;
    }
    PGresult *result = PQgetResult(reader->conn);
    enum wr_status status = WR_OK;
    if (result == NULL) {
        reader->phase = READER_IDLE;
    } else if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        status = command_fail(reader->conn, result, "snapshot", sqlstate, err);
    }
    PQclear(result);
    return status;
}

enum wr_status snapshot_reader_line(struct snapshot_reader *reader, char **data, size_t *size,
                                    struct wr_error *err)
{
    enum wr_status status = WR_OK;

    *data = NULL;
    while (status == WR_OK && *data == NULL) {
        switch (reader->phase) {
        case READER_IDLE:
            return WR_OK;
        case READER_STARTING:
            status = take_start(reader, err);
            break;
        case READER_ROWS:
            status = take_line(reader, data, size);
            break;
        case READER_ENDING:
            status = take_end(reader, err);
            break;
        }
    }
    return status;
}

enum wr_status snapshot_reader_consume(struct snapshot_reader *reader, struct wr_error *err)
{
    char sqlstate[6];

    for (int i = 0; i < READS_A_TURN; i++) {
        if (PQconsumeInput(reader->conn) == 0) {
            return command_fail(reader->conn, NULL, "snapshot", sqlstate, err);
        }
    }
    return WR_OK;
}
