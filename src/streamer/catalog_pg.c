#include "streamer/catalog_pg.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/arena.h"
#include "config/config.h"
#include "streamer/catalog_query.h"
#include "streamer/connect.h"

struct catalog {
    const struct config *config;
    PGconn *conn; /* NULL until the first query, and after a loss */
};

struct catalog *catalog_new(const struct config *config)
{
    struct catalog *catalog = calloc(1, sizeof(*catalog));

    if (catalog == NULL) {
        abort();
    }
    catalog->config = config;
    return catalog;
}

void catalog_free(struct catalog *catalog)
{
    if (catalog == NULL) {
        return;
    }
    PQfinish(catalog->conn);
    free(catalog);
}

const struct config *catalog_config(const struct catalog *catalog)
{
    return catalog->config;
}

const char *catalog_role(const struct catalog *catalog)
{
    return catalog->conn == NULL ? "" : PQuser(catalog->conn);
}

static void disconnect(struct catalog *catalog)
{
    PQfinish(catalog->conn);
    catalog->conn = NULL;
}

bool catalog_was_ended(struct catalog *catalog)
{
    if (catalog->conn == NULL) {
        return false;
    }
    struct pollfd fd = {.fd = PQsocket(catalog->conn), .events = POLLIN};
    while (PQstatus(catalog->conn) == CONNECTION_OK && poll(&fd, 1, 0) == 1) {
        (void)PQconsumeInput(catalog->conn); /* at the end of the socket the status changes */
    }
    return PQstatus(catalog->conn) != CONNECTION_OK;
}

static enum wr_status query_once(struct catalog *catalog, struct command *command, PGresult **out,
                                 struct wr_error *err)
{
    enum wr_status status = WR_OK;

    *out = NULL;
    if (catalog->conn == NULL) {
        status = connect_open(catalog->config, CONNECT_QUERY, &catalog->conn, err);
    }
    if (status == WR_OK) {
        status = command_run(catalog->conn, command, out, err);
    }
    return status;
}

enum wr_status catalog_query(struct catalog *catalog, struct command *command, PGresult **out,
                             struct wr_error *err)
{
    bool was_connected = catalog->conn != NULL;

    command->timeout_ms = catalog->config->database_query_timeout_ms;
    enum wr_status status = query_once(catalog, command, out, err);
    bool is_lost = status == WR_RETRY && was_connected &&
                   (PQstatus(catalog->conn) == CONNECTION_BAD ||
                    strncmp(command->sqlstate, "57P", 3) == 0); /* ended by the server */
    if (is_lost) {
        disconnect(catalog);
        status = query_once(catalog, command, out, err);
    }
    if (status == WR_RETRY) {
        disconnect(catalog);
    }
    return status;
}

/* A query with one parameter, an oid or a name. */
static enum wr_status look_up(struct catalog *catalog, const char *sql, const char *parameter,
                              PGresult **out, struct wr_error *err)
{
    struct command command = {
        .where = "catalog", .sql = sql, .values = &parameter, .value_count = 1};

    return catalog_query(catalog, &command, out, err);
}

static enum wr_status look_up_oid(struct catalog *catalog, const char *sql, uint32_t oid,
                                  PGresult **out, struct wr_error *err)
{
    char parameter[16];

    (void)snprintf(parameter, sizeof(parameter), "%u", oid);
    return look_up(catalog, sql, parameter, out, err);
}

static uint32_t value_oid(const PGresult *result, int row, int column)
{
    return (uint32_t)strtoul(PQgetvalue(result, row, column), NULL, 10);
}

static bool value_bool(const PGresult *result, int row, int column)
{
    return PQgetvalue(result, row, column)[0] == 't';
}

static enum wr_status find_type(void *context, uint32_t oid, struct wr_arena *arena,
                                struct type_info *out, struct wr_error *err)
{
    PGresult *result = NULL;
    enum wr_status status =
        look_up_oid(context,
                    "SELECT n.nspname, t.typname, t.typtype, t.typbasetype, t.typtypmod,"
                    " CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END,"
                    " (SELECT pg_catalog.string_agg(e.enumlabel, ',' ORDER BY e.enumsortorder)"
                    " FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid), t.typdelim"
                    " FROM pg_catalog.pg_type t"
                    " JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = $1",
                    oid, &result, err);

    if (status != WR_OK) {
        return status;
    }
    if (PQntuples(result) == 0) {
        PQclear(result);
        return wr_fail(err, WR_REJECT, "catalog", "type %u is not there", oid);
    }
    *out = (struct type_info){
        .oid = oid,
        .schema = wr_arena_strdup(arena, PQgetvalue(result, 0, 0)),
        .name = wr_arena_strdup(arena, PQgetvalue(result, 0, 1)),
        .typtype = PQgetvalue(result, 0, 2)[0],
        .base_oid = value_oid(result, 0, 3),
        .base_typmod = (int32_t)strtol(PQgetvalue(result, 0, 4), NULL, 10),
        .element_oid = value_oid(result, 0, 5),
        .labels = wr_arena_strdup(arena, PQgetvalue(result, 0, 6)),
        .delimiter = PQgetvalue(result, 0, 7)[0],
    };
    PQclear(result);
    return out->schema != NULL && out->name != NULL && out->labels != NULL
               ? WR_OK
               : wr_fail(err, WR_FATAL, "catalog", "type %u: larger than the arena", oid);
}

/* False when the arena is full. */
static bool take_columns(const PGresult *result, struct wr_arena *arena, struct table_info *out)
{
    size_t count = PQgetisnull(result, 0, 0) != 0 ? 0 : (size_t)PQntuples(result);
    bool stored = true;

    out->columns = wr_arena_alloc(arena, count + 1, sizeof(*out->columns));
    if (out->columns == NULL) {
        return false;
    }
    for (size_t i = 0; stored && i < count; i++) {
        struct column_info *column = &out->columns[i];
        int row = (int)i;
        column->name = wr_arena_strdup(arena, PQgetvalue(result, row, 0));
        column->is_not_null = value_bool(result, row, 1);
        if (PQgetisnull(result, row, 2) == 0) {
            column->default_text = wr_arena_strdup(arena, PQgetvalue(result, row, 2));
            stored = column->default_text != NULL;
        }
        stored = stored && column->name != NULL;
    }
    out->column_count = count;
    return stored;
}

static enum wr_status find_columns(struct catalog *catalog, uint32_t oid, struct wr_arena *arena,
                                   struct table_info *out, struct wr_error *err)
{
    PGresult *result = NULL;
    /* A column of a NOT NULL domain is as good as NOT NULL; a generated one has no default. */
    enum wr_status status = look_up_oid(
        catalog,
        "SELECT a.attname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull),"
        " pg_catalog.pg_get_expr(d.adbin, d.adrelid) FROM pg_catalog.pg_class c"
        " LEFT JOIN (pg_catalog.pg_attribute a"
        " JOIN pg_catalog.pg_type t ON t.oid = a.atttypid"
        " LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
        " AND a.attgenerated = '')"
        " ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.oid = $1 ORDER BY a.attnum",
        oid, &result, err);

    if (status != WR_OK) {
        return status;
    }
    if (PQntuples(result) == 0) {
        status = wr_fail(err, WR_REJECT, "catalog", "table %u is not there", oid);
    } else if (!take_columns(result, arena, out)) {
        status = wr_fail(err, WR_FATAL, "catalog", "table %u: larger than the arena", oid);
    }
    PQclear(result);
    return status;
}

static enum wr_status find_key(struct catalog *catalog, uint32_t oid, struct wr_arena *arena,
                               struct table_info *out, struct wr_error *err)
{
    PGresult *result = NULL;
    bool stored = true;
    enum wr_status status = look_up_oid(
        catalog,
        "SELECT a.attname FROM pg_catalog.pg_index i"
        " CROSS JOIN LATERAL pg_catalog.unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)"
        " JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum"
        " WHERE i.indrelid = $1 AND i.indisprimary AND k.place <= i.indnkeyatts ORDER BY k.place",
        oid, &result, err);

    if (status != WR_OK) {
        return status;
    }
    out->key_column_count = (size_t)PQntuples(result);
    out->key_columns = wr_arena_alloc(arena, out->key_column_count + 1, sizeof(*out->key_columns));
    stored = out->key_columns != NULL;
    for (size_t i = 0; stored && i < out->key_column_count; i++) {
        out->key_columns[i] = wr_arena_strdup(arena, PQgetvalue(result, (int)i, 0));
        stored = out->key_columns[i] != NULL;
    }
    PQclear(result);
    return stored ? WR_OK
                  : wr_fail(err, WR_FATAL, "catalog", "table %u: larger than the arena", oid);
}

static enum wr_status find_table(void *context, uint32_t oid, struct wr_arena *arena,
                                 struct table_info *out, struct wr_error *err)
{
    *out = (struct table_info){.oid = oid};
    enum wr_status status = find_columns(context, oid, arena, out, err);
    return status == WR_OK ? find_key(context, oid, arena, out, err) : status;
}

struct catalog_source catalog_source(struct catalog *catalog)
{
    return (struct catalog_source){.context = catalog, .type = find_type, .table = find_table};
}

static void copy_name(const PGresult *result, int column, char *out, size_t size)
{
    (void)snprintf(out, size, "%s", PQgetvalue(result, 0, column));
}

void snapshot_slot_name(const struct config *config, enum snapshot_slot kind,
                        char out[SNAPSHOT_SLOT_NAME_SIZE])
{
    (void)snprintf(out, SNAPSHOT_SLOT_NAME_SIZE, "%.54s_%s", config->slot_name,
                   kind == SNAPSHOT_SLOT_LASTING ? "snapshot" : "export");
}

enum wr_status catalog_keep_slot(struct catalog *catalog, enum snapshot_slot kind,
                                 struct wr_error *err)
{
    char snapshot_name[SNAPSHOT_SLOT_NAME_SIZE];
    const char *values[] = {snapshot_name, catalog->config->slot_name};
    PGresult *result = NULL;
    struct command command = {
        .where = "catalog",
        .sql = "SELECT pg_catalog.pg_copy_logical_replication_slot($1, $2, false)",
        .values = values,
        .value_count = 2,
    };

    snapshot_slot_name(catalog->config, kind, snapshot_name);
    enum wr_status status = catalog_query(catalog, &command, &result, err);
    PQclear(result);
    return status;
}

static enum wr_status find_slot(struct catalog *catalog, const char *name, struct slot_state *out,
                                struct wr_error *err)
{
    PGresult *result = NULL;
    /* By way of jsonb, because older servers lack some of these columns. */
    enum wr_status status =
        look_up(catalog,
                "SELECT s.active, s.plugin, s.database, s.temporary, s.confirmed_flush_lsn,"
                " pg_catalog.to_jsonb(s) ->> 'wal_status', pg_catalog.to_jsonb(s) ->> 'two_phase',"
                " pg_catalog.to_jsonb(s) ->> 'invalidation_reason',"
                " pg_catalog.to_jsonb(s) ->> 'failover', s.catalog_xmin,"
                " pg_catalog.pg_is_in_recovery()"
                " FROM pg_catalog.pg_replication_slots s WHERE s.slot_name = $1",
                name, &result, err);

    *out = (struct slot_state){0};
    if (status != WR_OK) {
        return status;
    }
    if (PQntuples(result) > 0) {
        out->exists = true;
        out->is_active = value_bool(result, 0, 0);
        copy_name(result, 1, out->plugin, sizeof(out->plugin));
        copy_name(result, 2, out->database, sizeof(out->database));
        out->is_temporary = value_bool(result, 0, 3);
        copy_name(result, 5, out->wal_status, sizeof(out->wal_status));
        out->two_phase = value_bool(result, 0, 6);
        copy_name(result, 7, out->invalidation_reason, sizeof(out->invalidation_reason));
        out->is_failover = value_bool(result, 0, 8);
        out->catalog_xmin = value_oid(result, 0, 9);
        out->is_on_standby = value_bool(result, 0, 10);
        /* A physical slot, and one that is just being made, have confirmed nothing. */
        if (!wr_lsn_parse(PQgetvalue(result, 0, 4), &out->confirmed_flush_lsn)) {
            out->confirmed_flush_lsn = 0;
        }
    }
    PQclear(result);
    return WR_OK;
}

enum wr_status catalog_slot(struct catalog *catalog, struct slot_state *out, struct wr_error *err)
{
    return find_slot(catalog, catalog->config->slot_name, out, err);
}

enum wr_status catalog_snapshot_slot(struct catalog *catalog, struct slot_state *out,
                                     struct wr_error *err)
{
    char name[SNAPSHOT_SLOT_NAME_SIZE];

    snapshot_slot_name(catalog->config, SNAPSHOT_SLOT_LASTING, name);
    return find_slot(catalog, name, out, err);
}

enum wr_status catalog_slot_wal(struct catalog *catalog, enum snapshot_slot kind,
                                struct slot_wal *out, struct wr_error *err)
{
    char name[SNAPSHOT_SLOT_NAME_SIZE];
    PGresult *result = NULL;

    snapshot_slot_name(catalog->config, kind, name);
    enum wr_status status =
        look_up(catalog,
                "SELECT pg_catalog.pg_wal_lsn_diff(CASE WHEN pg_catalog.pg_is_in_recovery()"
                " THEN pg_catalog.pg_last_wal_replay_lsn()"
                " ELSE pg_catalog.pg_current_wal_lsn() END, s.restart_lsn)::bigint,"
                " pg_catalog.to_jsonb(s) ->> 'safe_wal_size'"
                " FROM pg_catalog.pg_replication_slots s WHERE s.slot_name = $1",
                name, &result, err);

    *out = (struct slot_wal){0};
    if (status == WR_OK && PQntuples(result) > 0) {
        int64_t left = strtoll(PQgetvalue(result, 0, 1), NULL, 10);
        out->kept_size = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
        out->is_bounded = PQgetisnull(result, 0, 1) == 0;
        out->left_size = left > 0 ? (uint64_t)left : 0;
    }
    PQclear(result);
    return status;
}
