/*
 * The initial snapshot: one COPY after the other inside one transaction that has taken over the
 * snapshot exported with the slot, so that a row is either here or in the stream.
 *
 * Rows are read one ahead. A row's marker says whether more rows of its table, and of any table,
 * follow, and the last table may be empty: so a row waits until the next one is there, or until
 * there is none, be it tables further on. Two lines of COPY are all that is ever held.
 */
#include "streamer/snapshot.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/arena.h"
#include "base/log.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "streamer/command.h"
#include "streamer/connect.h"
#include "streamer/copy_text.h"
#include "streamer/snapshot_tables.h"

enum {
    BEGIN_TIMEOUT_MS = 60 * 1000,
    SQL_SIZE_MAX = 16 << 20,
};

enum phase {
    PHASE_BETWEEN, /* tables: the next one is to be opened */
    PHASE_ROWS,    /* of a COPY come in */
    PHASE_ENDING,  /* no more rows; the COPY's result is awaited */
    PHASE_OVER,    /* no table is left */
};

/* A line of COPY. libpq makes the copy, PQfreemem lets go of it. */
struct line {
    char *data; /* NULL: there is none */
    size_t size;
    size_t table_index;
    bool is_first; /* of its table */
};

struct snapshot {
    const struct config *config;
    PGconn *conn;
    uint32_t xid;
    struct snapshot_tables tables;
    size_t table_index; /* of the table being read */
    enum phase phase;
    struct relation *relation; /* of the table being read, until its TABLE event gives it away */
    uint16_t column_count;     /* of the table whose TABLE event came last */
    bool is_line_first;        /* the next line is the first of its table */
    bool has_begun;            /* a row was handed out */
    struct line ahead;         /* read, and nothing decided */
    struct line held;          /* to be handed out as soon as `ahead` is known */
    struct line lent;          /* handed out */
    struct wr_buffer sql;
    struct cell cells[WR_COLUMN_COUNT_MAX];
};

static enum wr_status run(struct snapshot *s, const char *sql, int64_t timeout_ms, PGresult **out,
                          struct wr_error *err)
{
    struct command command = {.where = "snapshot", .sql = sql, .timeout_ms = timeout_ms};
    enum wr_status status = command_run(s->conn, &command, out, err);

    /* The exporting connection is gone, or a table was dropped: a new snapshot sees things right.
     */
    if (strcmp(command.sqlstate, "22023") == 0 || strcmp(command.sqlstate, "42P01") == 0) {
        err->status = WR_RETRY;
        return WR_RETRY;
    }
    return status;
}

static enum wr_status begin(struct snapshot *s, const char *snapshot_name, struct wr_error *err)
{
    PGresult *result = NULL;

    wr_buffer_reset(&s->sql);
    WR_BUFFER_LITERAL(&s->sql, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;"
                               " SET TRANSACTION SNAPSHOT ");
    command_add_literal(&s->sql, snapshot_name);
    wr_buffer_add_char(&s->sql, '\0');
    assert(!s->sql.failed);
    enum wr_status status = run(s, s->sql.data, BEGIN_TIMEOUT_MS, &result, err);
    PQclear(result);
    return status;
}

/* The first xid that the snapshot does not see. Debezium takes a new one (txid_current), which
 * would keep every slot made meanwhile waiting for the end of the snapshot. */
static enum wr_status read_xid(struct snapshot *s, struct wr_error *err)
{
    PGresult *result = NULL;
    enum wr_status status =
        run(s, "SELECT pg_catalog.txid_snapshot_xmax(pg_catalog.txid_current_snapshot())",
            BEGIN_TIMEOUT_MS, &result, err);

    if (status == WR_OK) {
        s->xid = (uint32_t)strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    }
    PQclear(result);
    return status;
}

enum wr_status snapshot_open(const struct config *config, const char *snapshot_name,
                             const struct table_filter *filter, struct snapshot **out,
                             struct wr_error *err)
{
    struct snapshot *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        abort();
    }
    *out = NULL;
    s->config = config;
    wr_buffer_init(&s->sql, SQL_SIZE_MAX);
    enum wr_status status = connect_open(config, CONNECT_QUERY, &s->conn, err);
    if (status == WR_OK) {
        status = begin(s, snapshot_name, err);
    }
    if (status == WR_OK) {
        status = read_xid(s, err);
    }
    if (status == WR_OK) {
        status = snapshot_tables_list(&s->tables, s->conn, config, filter, err);
    }
    if (status != WR_OK) {
        snapshot_close(s);
        return status;
    }
    *out = s;
    return WR_OK;
}

uint32_t snapshot_xid(const struct snapshot *s)
{
    return s->xid;
}

int snapshot_fd(const struct snapshot *s)
{
    return PQsocket(s->conn);
}

static const char *table_name(const struct snapshot *s, size_t table_index)
{
    return s->tables.items[table_index].qualified;
}

enum wr_status snapshot_consume(struct snapshot *s, struct wr_error *err)
{
    char sqlstate[6];

    return PQconsumeInput(s->conn) == 1 ? WR_OK
                                        : command_fail(s->conn, NULL, "snapshot", sqlstate, err);
}

static enum wr_status open_table(struct snapshot *s, struct wr_error *err)
{
    const struct snapshot_table *table = &s->tables.items[s->table_index];
    PGresult *result = NULL;

    assert(s->relation == NULL);
    wr_buffer_reset(&s->sql);
    enum wr_status status =
        snapshot_table_describe(table, s->conn, s->config, &s->relation, &s->sql, err);
    if (status != WR_OK) {
        return status;
    }
    /* No time-out: the table may be locked for as long as somebody likes. */
    status = run(s, s->sql.data, 0, &result, err);
    if (status == WR_OK && PQresultStatus(result) != PGRES_COPY_OUT) {
        status = wr_fail(err, WR_FATAL, "snapshot", "COPY of %s began nothing", table->qualified);
    } else if (status != WR_OK) {
        command_advise(err, "while copying %s", table->qualified);
    }
    PQclear(result);
    s->is_line_first = true;
    s->phase = PHASE_ROWS;
    return status;
}

static enum wr_status read_line(struct snapshot *s)
{
    int size = PQgetCopyData(s->conn, &s->ahead.data, 1);

    if (size == 0) {
        return WR_AGAIN;
    }
    if (size < 0) {
        s->phase = PHASE_ENDING;
        return WR_OK;
    }
    s->ahead.size = (size_t)size;
    s->ahead.table_index = s->table_index;
    s->ahead.is_first = s->is_line_first;
    s->is_line_first = false;
    return WR_OK;
}

static void close_table(struct snapshot *s)
{
    if (s->relation != NULL) { /* an empty table: nobody was told of it */
        wr_arena_free(s->relation->arena);
        s->relation = NULL;
    }
    s->table_index++;
    s->phase = PHASE_BETWEEN;
}

static enum wr_status end_table(struct snapshot *s, struct wr_error *err)
{
    char sqlstate[6];

    if (PQisBusy(s->conn) != 0) {
        return WR_AGAIN;
    }
    PGresult *result = PQgetResult(s->conn);
    if (result == NULL) {
        close_table(s);
        return WR_OK;
    }
    enum wr_status status = WR_OK;
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        status = command_fail(s->conn, result, "snapshot", sqlstate, err);
        command_advise(err, "while copying %s", table_name(s, s->table_index));
    }
    PQclear(result);
    return status;
}

static enum wr_status next_table(struct snapshot *s, struct wr_error *err)
{
    if (s->table_index == s->tables.count) {
        s->phase = PHASE_OVER;
        return WR_OK;
    }
    return open_table(s, err);
}

static enum wr_status step(struct snapshot *s, struct wr_error *err)
{
    switch (s->phase) {
    case PHASE_BETWEEN:
        return next_table(s, err);
    case PHASE_ROWS:
        return read_line(s);
    case PHASE_ENDING:
        return end_table(s, err);
    case PHASE_OVER:
        break;
    }
    return WR_OK;
}

/* Until `ahead` is a line, or no table is left. */
static enum wr_status read_ahead(struct snapshot *s, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    while (status == WR_OK && s->ahead.data == NULL && s->phase != PHASE_OVER) {
        status = step(s, err);
    }
    return status;
}

static enum snapshot_marker held_marker(const struct snapshot *s)
{
    if (s->ahead.data == NULL) {
        return SNAPSHOT_MARKER_LAST;
    }
    if (!s->has_begun) {
        return SNAPSHOT_MARKER_FIRST;
    }
    if (s->ahead.table_index != s->held.table_index) {
        return SNAPSHOT_MARKER_LAST_IN_DATA_COLLECTION;
    }
    return s->held.is_first ? SNAPSHOT_MARKER_FIRST_IN_DATA_COLLECTION : SNAPSHOT_MARKER_TRUE;
}

static enum wr_status hand_out_row(struct snapshot *s, struct snapshot_event *out,
                                   struct wr_error *err)
{
    *out = (struct snapshot_event){
        .kind = SNAPSHOT_ROW,
        .relation_oid = s->tables.items[s->held.table_index].oid,
        .row = {.column_count = s->column_count, .cells = s->cells},
        .marker = held_marker(s),
    };
    s->has_begun = true;
    s->lent = s->held;
    s->held = (struct line){0};
    enum wr_status status =
        copy_text_split(s->lent.data, s->lent.size, s->cells, s->column_count, err);
    if (status != WR_OK) {
        command_advise(err, "in the COPY of %s", table_name(s, s->lent.table_index));
    }
    return status;
}

/* Before the first row of a table. The relation is the caller's from here on. */
static void hand_out_table(struct snapshot *s, struct snapshot_event *out)
{
    *out = (struct snapshot_event){.kind = SNAPSHOT_TABLE, .relation = s->relation};
    s->column_count = s->relation->column_count;
    s->relation = NULL;
}

enum wr_status snapshot_next(struct snapshot *s, struct snapshot_event *out, struct wr_error *err)
{
    PQfreemem(s->lent.data);
    s->lent = (struct line){0};
    for (;;) {
        enum wr_status status = read_ahead(s, err);
        if (status != WR_OK) {
            return status;
        }
        if (s->held.data != NULL) {
            return hand_out_row(s, out, err);
        }
        if (s->ahead.data == NULL) {
            *out = (struct snapshot_event){.kind = SNAPSHOT_DONE};
            return WR_OK;
        }
        if (s->relation != NULL) {
            hand_out_table(s, out);
            return WR_OK;
        }
        s->held = s->ahead;
        s->ahead = (struct line){0};
    }
}

void snapshot_close(struct snapshot *s)
{
    if (s == NULL) {
        return;
    }
    PQfreemem(s->ahead.data);
    PQfreemem(s->held.data);
    PQfreemem(s->lent.data);
    if (s->relation != NULL) {
        wr_arena_free(s->relation->arena);
    }
    snapshot_tables_done(&s->tables);
    wr_buffer_done(&s->sql);
    PQfinish(s->conn);
    free(s);
}
