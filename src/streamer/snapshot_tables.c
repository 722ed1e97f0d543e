#include "streamer/snapshot_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "streamer/catalog_pg.h"
#include "streamer/command.h"

enum {
    TABLES_SIZE_MAX = 64 << 20,
    GRANTS_SIZE_MAX = 4096, /* an error text holds less */
    TIMEOUT_MS = 60 * 1000,
    VERSION_COLUMN_LISTS = 150000,
    VERSION_GENERATED_COLUMNS = 180000, /* publish_generated_columns */
};

/* By way of jsonb: servers before 15 have no row filters. The order is that of bytes, as
 * Debezium's. */
static const char *const LIST_SQL =
    "SELECT c.oid, n.nspname, c.relname,"
    " pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),"
    " pg_catalog.to_jsonb(t) ->> 'rowfilter',"
    " pg_catalog.has_schema_privilege(n.oid, 'USAGE'),"
    " pg_catalog.has_any_column_privilege(c.oid, 'SELECT'), pg_catalog.quote_ident(n.nspname)"
    " FROM pg_catalog.pg_publication_tables t"
    " JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname"
    " JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename"
    " WHERE t.pubname = $1 ORDER BY n.nspname COLLATE \"C\", c.relname COLLATE \"C\"";

struct grants {
    struct wr_buffer sql;
    const char *last_schema; /* the rows are sorted: a schema is asked for once */
    const char *role;
};

static void add_grant(struct grants *grants, const char *what, const char *object)
{
    wr_buffer_add_str(&grants->sql, what);
    wr_buffer_add_str(&grants->sql, object);
    WR_BUFFER_LITERAL(&grants->sql, " TO ");
    command_add_identifier(&grants->sql, grants->role);
    WR_BUFFER_LITERAL(&grants->sql, "; ");
}

static void check_rights(const PGresult *result, int row, struct grants *grants)
{
    const char *schema = PQgetvalue(result, row, 7);
    bool is_new_schema = grants->last_schema == NULL || strcmp(grants->last_schema, schema) != 0;

    if (PQgetvalue(result, row, 5)[0] == 'f' && is_new_schema) {
        add_grant(grants, "GRANT USAGE ON SCHEMA ", schema);
    }
    if (PQgetvalue(result, row, 6)[0] == 'f') {
        add_grant(grants, "GRANT SELECT ON ", PQgetvalue(result, row, 3));
    }
    grants->last_schema = schema;
}

/* False when the arena is full. */
static bool take_table(struct snapshot_tables *tables, const PGresult *result, int row)
{
    struct snapshot_table *table = &tables->items[tables->count];

    table->oid = (uint32_t)strtoul(PQgetvalue(result, row, 0), NULL, 10);
    table->qualified = wr_arena_strdup(tables->arena, PQgetvalue(result, row, 3));
    if (PQgetisnull(result, row, 4) == 0) {
        table->row_filter = wr_arena_strdup(tables->arena, PQgetvalue(result, row, 4));
        if (table->row_filter == NULL) {
            return false;
        }
    }
    tables->count++;
    return table->qualified != NULL;
}

static enum wr_status take_tables(struct snapshot_tables *tables, const PGresult *result,
                                  const struct table_filter *filter, struct grants *grants,
                                  struct wr_error *err)
{
    size_t size = (size_t)PQntuples(result) + 1;

    tables->items = wr_arena_alloc(tables->arena, size, sizeof(*tables->items));
    bool stored = tables->items != NULL;
    for (int row = 0; stored && row < PQntuples(result); row++) {
        if (filter->is_captured(filter->context, PQgetvalue(result, row, 1),
                                PQgetvalue(result, row, 2))) {
            check_rights(result, row, grants);
            stored = take_table(tables, result, row);
        }
    }
    if (!stored) {
        return wr_fail(err, WR_FATAL, "snapshot", "more tables than fit in %d bytes",
                       TABLES_SIZE_MAX);
    }
    wr_buffer_add_char(&grants->sql, '\0');
    if (grants->sql.size > 1) {
        return wr_fail(err, WR_FATAL, "snapshot", "role %s may not read what is captured; run: %s",
                       grants->role, grants->sql.data);
    }
    return WR_OK;
}

enum wr_status snapshot_tables_list(struct snapshot_tables *tables, PGconn *conn,
                                    const struct config *config, const struct table_filter *filter,
                                    struct wr_error *err)
{
    struct command command = {.where = "snapshot",
                              .sql = LIST_SQL,
                              .values = &config->publication_name,
                              .value_count = 1,
                              .timeout_ms = TIMEOUT_MS};
    struct grants grants = {.role = PQuser(conn)};
    PGresult *result = NULL;

    *tables = (struct snapshot_tables){.arena = wr_arena_new(TABLES_SIZE_MAX)};
    wr_buffer_init(&grants.sql, GRANTS_SIZE_MAX);
    enum wr_status status = command_run(conn, &command, &result, err);
    if (status == WR_OK) {
        status = take_tables(tables, result, filter, &grants, err);
    }
    wr_buffer_done(&grants.sql);
    PQclear(result);
    return status;
}

void snapshot_tables_done(struct snapshot_tables *tables)
{
    wr_arena_free(tables->arena);
    *tables = (struct snapshot_tables){0};
}

/*
 * One row a column, the table's own facts in each: what pgoutput puts into a Relation message. The
 * key flag follows the server: every column with REPLICA IDENTITY FULL, else those of the index
 * that identifies a row, which is valid and immediate.
 */
#define DESCRIBE_SQL(is_published)                                                                 \
    "SELECT n.nspname, c.relname, c.relreplident, c.relkind, a.attname,"                           \
    " pg_catalog.quote_ident(a.attname), a.atttypid, a.atttypmod, c.relreplident = 'f' OR EXISTS"  \
    " (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisvalid"                \
    " AND i.indimmediate AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])"             \
    " AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident"         \
    " ELSE false END)"                                                                             \
    " FROM pg_catalog.pg_class c"                                                                  \
    " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"                                    \
    " LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0"                  \
    " AND NOT a.attisdropped AND " is_published " WHERE c.oid = $1 ORDER BY a.attnum"

/* attnames: the publication's column list, or all columns that it publishes. */
#define IS_LISTED                                                                                  \
    "a.attname = ANY ((SELECT t.attnames FROM pg_catalog.pg_publication_tables t"                  \
    " WHERE t.pubname = $2 AND t.schemaname = n.nspname AND t.tablename = c.relname)::name[])"
#define IS_NOT_GENERATED "a.attgenerated = ''"

static const char *describe_sql(const PGconn *conn)
{
    if (PQserverVersion(conn) >= VERSION_GENERATED_COLUMNS) {
        return DESCRIBE_SQL(IS_LISTED);
    }
    if (PQserverVersion(conn) >= VERSION_COLUMN_LISTS) {
        return DESCRIBE_SQL(IS_NOT_GENERATED " AND " IS_LISTED);
    }
    return DESCRIBE_SQL(IS_NOT_GENERATED " AND $2::text IS NOT NULL");
}

/* NULL when the relation would be larger than its arena. */
static struct relation *take_relation(const PGresult *result, uint32_t oid)
{
    struct wr_arena *arena = wr_arena_new(WR_RELATION_SIZE_MAX);
    struct relation *relation = wr_arena_alloc(arena, 1, sizeof(*relation));
    bool has_columns = PQgetisnull(result, 0, 4) == 0;
    int count = has_columns ? PQntuples(result) : 0;

    if (relation == NULL) {
        wr_arena_free(arena);
        return NULL;
    }
    relation->arena = arena;
    relation->oid = oid;
    relation->schema = wr_arena_strdup(arena, PQgetvalue(result, 0, 0));
    relation->table = wr_arena_strdup(arena, PQgetvalue(result, 0, 1));
    relation->replica_identity = PQgetvalue(result, 0, 2)[0];
    relation->column_count = (uint16_t)count;
    relation->columns = wr_arena_alloc(arena, (size_t)count + 1, sizeof(*relation->columns));
    bool stored = relation->schema != NULL && relation->table != NULL && relation->columns != NULL;
    for (int i = 0; stored && i < count; i++) {
        struct column *column = &relation->columns[i];
        column->name = wr_arena_strdup(arena, PQgetvalue(result, i, 4));
        column->type_oid = (uint32_t)strtoul(PQgetvalue(result, i, 6), NULL, 10);
        column->type_mod = (int32_t)strtol(PQgetvalue(result, i, 7), NULL, 10);
        column->is_key = PQgetvalue(result, i, 8)[0] == 't';
        stored = column->name != NULL;
    }
    if (!stored) {
        wr_arena_free(arena);
        return NULL;
    }
    return relation;
}

/* ONLY, since rows of an inheriting table come under its own name; a partitioned table has none
 * without its partitions. */
static void make_copy(const PGresult *result, const struct snapshot_table *table,
                      uint16_t column_count, struct wr_buffer *sql)
{
    bool is_partitioned = PQgetvalue(result, 0, 3)[0] == 'p';

    WR_BUFFER_LITERAL(sql, "COPY (SELECT ");
    for (uint16_t i = 0; i < column_count; i++) {
        wr_buffer_add_str(sql, i == 0 ? "" : ", ");
        wr_buffer_add_str(sql, PQgetvalue(result, i, 5));
    }
    wr_buffer_add_str(sql, is_partitioned ? " FROM " : " FROM ONLY ");
    wr_buffer_add_str(sql, table->qualified);
    if (table->row_filter != NULL) {
        WR_BUFFER_LITERAL(sql, " WHERE ");
        wr_buffer_add_str(sql, table->row_filter);
    }
    WR_BUFFER_LITERAL(sql, ") TO STDOUT");
    wr_buffer_add_char(sql, '\0');
}

static enum wr_status describe(const struct snapshot_table *table, const PGresult *result,
                               struct relation **out, struct wr_buffer *copy, struct wr_error *err)
{
    if (PQntuples(result) == 0) {
        return wr_fail(err, WR_RETRY, "snapshot", "table %s was dropped meanwhile",
                       table->qualified);
    }
    if (PQntuples(result) > WR_COLUMN_COUNT_MAX) {
        return wr_fail(err, WR_FATAL, "snapshot", "table %s: more than %d columns",
                       table->qualified, WR_COLUMN_COUNT_MAX);
    }
    struct relation *relation = take_relation(result, table->oid);
    if (relation == NULL) {
        return wr_fail(err, WR_FATAL, "snapshot", "table %s: larger than %d bytes",
                       table->qualified, WR_RELATION_SIZE_MAX);
    }
    make_copy(result, table, relation->column_count, copy);
    if (copy->failed) {
        wr_arena_free(relation->arena);
        return wr_fail(err, WR_FATAL, "snapshot", "table %s: its COPY is larger than %zu bytes",
                       table->qualified, copy->size_max);
    }
    *out = relation;
    return WR_OK;
}

enum wr_status snapshot_table_describe(const struct snapshot_table *table, PGconn *conn,
                                       const struct config *config, struct relation **out,
                                       struct wr_buffer *copy, struct wr_error *err)
{
    char oid[16];
    PGresult *result = NULL;

    (void)snprintf(oid, sizeof(oid), "%u", table->oid);
    const char *const values[] = {oid, config->publication_name};
    struct command command = {.where = "snapshot",
                              .sql = describe_sql(conn),
                              .values = values,
                              .value_count = 2,
                              .timeout_ms = TIMEOUT_MS};
    *out = NULL;
    enum wr_status status = command_run(conn, &command, &result, err);
    if (status == WR_OK) {
        status = describe(table, result, out, copy, err);
    }
    PQclear(result);
    return status;
}
