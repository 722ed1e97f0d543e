#include "streamer/snapshot_tables.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "streamer/catalog_pg.h"
#include "streamer/command.h"
#include "streamer/snapshot.h"

enum {
    TABLES_SIZE_MAX = 64 << 20,
    GRANTS_SIZE_MAX = 4096, /* an error text holds less */
    TIMEOUT_MS = 60 * 1000,
    LIST_SIZE_MAX = 4096,
    VERSION_TID_RANGES = 140000,
    VERSION_COLUMN_LISTS = 150000,
    VERSION_GENERATED_COLUMNS = 180000, /* publish_generated_columns */
};

/* By way of jsonb: servers before 15 have no row filters. A table with values outside of it, in
 * its TOAST table, cannot be left off in its middle: see take_mark(). */
static const char *const LIST_SQL =
    "SELECT c.oid, n.nspname, c.relname,"
    " pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),"
    " pg_catalog.to_jsonb(t) ->> 'rowfilter',"
    " pg_catalog.has_schema_privilege(n.oid, 'USAGE'),"
    " pg_catalog.has_any_column_privilege(c.oid, 'SELECT'), pg_catalog.quote_ident(n.nspname),"
    " c.relkind, pg_catalog.pg_relation_filenode(c.oid), c.reltuples,"
    " pg_catalog.pg_relation_size(c.oid)"
    " / pg_catalog.current_setting('block_size')::bigint,"
    " (c.relreplident = 'f' OR c.reltoastrelid = 0"
    " OR pg_catalog.pg_relation_size(c.reltoastrelid) = 0)"
    " AND (SELECT p.pubupdate FROM pg_catalog.pg_publication p WHERE p.pubname = $1),"
    " pg_catalog.current_setting('block_size')"
    " FROM pg_catalog.pg_publication_tables t"
    " JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname"
    " JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename"
    " WHERE t.pubname = $1 ORDER BY ";

/* By the order of bytes, as Debezium's. */
static const char *const BY_NAME_SQL = "n.nspname COLLATE \"C\", c.relname COLLATE \"C\"";

enum list_column {
    LIST_OID,
    LIST_SCHEMA,
    LIST_TABLE,
    LIST_QUALIFIED,
    LIST_ROW_FILTER,
    LIST_MAY_USE_SCHEMA,
    LIST_MAY_SELECT,
    LIST_QUOTED_SCHEMA,
    LIST_KIND,
    LIST_FILE_NODE,
    LIST_ROWS,
    LIST_BLOCKS,
    LIST_IS_RESUMABLE,
    LIST_BLOCK_SIZE,
};

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
    const char *schema = PQgetvalue(result, row, LIST_QUOTED_SCHEMA);
    bool is_new_schema = grants->last_schema == NULL || strcmp(grants->last_schema, schema) != 0;

    if (PQgetvalue(result, row, LIST_MAY_USE_SCHEMA)[0] == 'f' && is_new_schema) {
        add_grant(grants, "GRANT USAGE ON SCHEMA ", schema);
    }
    if (PQgetvalue(result, row, LIST_MAY_SELECT)[0] == 'f') {
        add_grant(grants, "GRANT SELECT ON ", PQgetvalue(result, row, LIST_QUALIFIED));
    }
    grants->last_schema = schema;
}

static const char *configured_select(const struct config *config, const char *schema,
                                     const char *table)
{
    size_t schema_size = strlen(schema);

    for (size_t i = 0; i < config->snapshot_selects.count; i++) {
        const struct config_pair *pair = &config->snapshot_selects.items[i];
        if (strncmp(pair->name, schema, schema_size) == 0 && pair->name[schema_size] == '.' &&
            strcmp(pair->name + schema_size + 1, table) == 0) {
            return pair->value;
        }
    }
    return NULL;
}

static uint32_t list_number(const PGresult *result, int row, enum list_column column)
{
    return (uint32_t)strtoul(PQgetvalue(result, row, (int)column), NULL, 10);
}

/* What the result says of a table. False when the arena is full. */
static bool read_table(struct snapshot_tables *tables, const PGresult *result, int row,
                       const struct config *config, struct snapshot_table *out)
{
    bool has_filter = PQgetisnull(result, row, LIST_ROW_FILTER) == 0;
    bool is_table = PQgetvalue(result, row, LIST_KIND)[0] == 'r';

    *out = (struct snapshot_table){
        .oid = list_number(result, row, LIST_OID),
        .file_node = list_number(result, row, LIST_FILE_NODE),
        .qualified = wr_arena_strdup(tables->arena, PQgetvalue(result, row, LIST_QUALIFIED)),
        .block_count = list_number(result, row, LIST_BLOCKS),
        .row_estimate = strtod(PQgetvalue(result, row, LIST_ROWS), NULL),
        .select = configured_select(config, PQgetvalue(result, row, LIST_SCHEMA),
                                    PQgetvalue(result, row, LIST_TABLE)),
    };
    out->is_divisible = is_table && out->select == NULL && tables->divides;
    tables->block_size = list_number(result, row, LIST_BLOCK_SIZE);
    if (has_filter) {
        out->row_filter = wr_arena_strdup(tables->arena, PQgetvalue(result, row, LIST_ROW_FILTER));
    }
    return out->qualified != NULL && (!has_filter || out->row_filter != NULL);
}

/*
 * Leaves out what an earlier run has published; false: all of it. In its middle a table goes on
 * only where its blocks still hold what they held, or a change that the stream has told of. A row
 * that has moved to a block before the mark was published as a change: which says nothing of a
 * large value, kept outside the table, that the change left alone. So tables that have such values
 * start over, unless the change has the old row whole (REPLICA IDENTITY FULL).
 */
static bool take_mark(struct snapshot_table *table, bool is_resumable,
                      const struct snapshot_options *options)
{
    struct snapshot_mark mark;

    if (options->find_mark == NULL || !options->find_mark(options->context, table->oid, &mark)) {
        return true;
    }
    if (mark.block_count == SNAPSHOT_TABLE_DONE) {
        return false;
    }
    if (table->is_divisible && is_resumable && mark.file_node == table->file_node) {
        table->first_block = mark.block_count;
    }
    return true;
}

/* False when the arena is full. */
static bool take_table(struct snapshot_tables *tables, const PGresult *result, int row,
                       const struct config *config, const struct snapshot_options *options)
{
    struct snapshot_table *table = &tables->items[tables->count];

    if (!read_table(tables, result, row, config, table)) {
        return false;
    }
    bool is_resumable = PQgetvalue(result, row, LIST_IS_RESUMABLE)[0] == 't' &&
                        config_publishes_all_updates(config);
    if (!take_mark(table, is_resumable, options)) {
        tables->resumed_count++;
        return true;
    }
    if (table->block_count > table->first_block) {
        tables->size += (uint64_t)(table->block_count - table->first_block) * tables->block_size;
    }
    tables->count++;
    return true;
}

static enum wr_status take_tables(struct snapshot_tables *tables, const PGresult *result,
                                  const struct config *config,
                                  const struct snapshot_options *options, struct grants *grants,
                                  struct wr_error *err)
{
    const struct table_filter *filter = &options->filter;
    size_t size = (size_t)PQntuples(result) + 1;

    tables->items = wr_arena_alloc(tables->arena, size, sizeof(*tables->items));
    bool stored = tables->items != NULL;
    for (int row = 0; stored && row < PQntuples(result); row++) {
        if (filter->is_captured(filter->context, PQgetvalue(result, row, LIST_SCHEMA),
                                PQgetvalue(result, row, LIST_TABLE))) {
            check_rights(result, row, grants);
            stored = take_table(tables, result, row, config, options);
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

static void make_list(enum snapshot_table_order order, struct wr_buffer *sql)
{
    wr_buffer_add_str(sql, LIST_SQL);
    switch (order) {
    case SNAPSHOT_BY_NAME:
        break;
    case SNAPSHOT_ASCENDING:
        WR_BUFFER_LITERAL(sql, "c.reltuples, ");
        break;
    case SNAPSHOT_DESCENDING:
        WR_BUFFER_LITERAL(sql, "c.reltuples DESC, ");
        break;
    }
    wr_buffer_add_str(sql, BY_NAME_SQL);
    wr_buffer_add_char(sql, '\0');
}

enum wr_status snapshot_tables_list(struct snapshot_tables *tables, PGconn *conn,
                                    const struct config *config,
                                    const struct snapshot_options *options, struct wr_error *err)
{
    struct grants grants = {.role = PQuser(conn)};
    struct wr_buffer sql = {0};
    PGresult *result = NULL;

    *tables = (struct snapshot_tables){.arena = wr_arena_new(TABLES_SIZE_MAX),
                                       .divides = PQserverVersion(conn) >= VERSION_TID_RANGES};
    wr_buffer_init(&grants.sql, GRANTS_SIZE_MAX);
    wr_buffer_init(&sql, LIST_SIZE_MAX);
    make_list(config->snapshot_table_order, &sql);
    assert(!sql.failed);
    struct command command = {.where = "snapshot",
                              .sql = sql.data,
                              .values = &config->publication_name,
                              .value_count = 1,
                              .timeout_ms = TIMEOUT_MS};
    enum wr_status status = command_run(conn, &command, &result, err);
    if (status == WR_OK) {
        status = take_tables(tables, result, config, options, &grants, err);
    }
    wr_buffer_done(&sql);
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

/*
 * The same without the view, which opens every table of the publication, and so waits for whoever
 * has one locked. A partition is published with its own list, never its parent's.
 */
#define OWN_LIST(what)                                                                             \
    "(SELECT " what " FROM pg_catalog.pg_publication b LEFT JOIN pg_catalog.pg_publication_rel r"  \
    " ON r.prpubid = b.oid AND r.prrelid = c.oid WHERE b.pubname = $2)"
#define IS_OWN OWN_LIST("r.prattrs IS NULL OR a.attnum = ANY (r.prattrs::int2[])")
#define IS_OWN_GENERATED                                                                           \
    OWN_LIST("CASE WHEN r.prattrs IS NOT NULL THEN a.attnum = ANY (r.prattrs::int2[])"             \
             " ELSE a.attgenerated = '' OR (b.pubgencols = 's' AND a.attgenerated = 's') END")

static const char *describe_without_lock_sql(const PGconn *conn)
{
    if (PQserverVersion(conn) >= VERSION_GENERATED_COLUMNS) {
        return DESCRIBE_SQL(IS_OWN_GENERATED);
    }
    if (PQserverVersion(conn) >= VERSION_COLUMN_LISTS) {
        return DESCRIBE_SQL(IS_NOT_GENERATED " AND " IS_OWN);
    }
    return DESCRIBE_SQL(IS_NOT_GENERATED " AND $2::text IS NOT NULL");
}

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
static void make_select(const PGresult *result, const struct snapshot_table *table,
                        uint16_t column_count, struct wr_buffer *sql)
{
    bool is_partitioned = PQgetvalue(result, 0, 3)[0] == 'p';

    WR_BUFFER_LITERAL(sql, "SELECT ");
    for (uint16_t i = 0; i < column_count; i++) {
        wr_buffer_add_str(sql, i == 0 ? "" : ", ");
        wr_buffer_add_str(sql, PQgetvalue(result, i, 5));
    }
    if (table->select != NULL) {
        WR_BUFFER_LITERAL(sql, " FROM (");
        wr_buffer_add_str(sql, table->select);
        WR_BUFFER_LITERAL(sql, "\n) AS snapshot"); /* it may end with a comment */
        return;
    }
    wr_buffer_add_str(sql, is_partitioned ? " FROM " : " FROM ONLY ");
    wr_buffer_add_str(sql, table->qualified);
}

static void add_block(struct wr_buffer *out, const char *comparison, uint32_t block)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "ctid %s '(%u,0)'", comparison, block);
    wr_buffer_add_str(out, text);
}

void snapshot_table_copy(const struct snapshot_table *table, struct wr_slice select,
                         const struct snapshot_range *range, struct wr_buffer *out)
{
    const char *before = " WHERE ";

    WR_BUFFER_LITERAL(out, "COPY (");
    wr_buffer_add_slice(out, select);
    if (table->row_filter != NULL) {
        wr_buffer_add_str(out, before);
        WR_BUFFER_LITERAL(out, "(");
        wr_buffer_add_str(out, table->row_filter);
        WR_BUFFER_LITERAL(out, ")");
        before = " AND ";
    }
    if (range->first > 0) {
        wr_buffer_add_str(out, before);
        add_block(out, ">=", range->first);
        before = " AND ";
    }
    if (range->end != SNAPSHOT_TO_THE_END) {
        wr_buffer_add_str(out, before);
        add_block(out, "<", range->end);
    }
    WR_BUFFER_LITERAL(out, ") TO STDOUT");
    wr_buffer_add_char(out, '\0');
}

static enum wr_status describe(const struct snapshot_table *table, const PGresult *result,
                               struct relation **out, struct wr_buffer *select,
                               struct wr_error *err)
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
    make_select(result, table, relation->column_count, select);
    if (select->failed) {
        wr_arena_free(relation->arena);
        return wr_fail(err, WR_FATAL, "snapshot", "table %s: its SELECT is larger than %zu bytes",
                       table->qualified, select->size_max);
    }
    *out = relation;
    return WR_OK;
}

enum wr_status snapshot_table_describe(const struct snapshot_table *table, PGconn *conn,
                                       const struct config *config, struct relation **out,
                                       struct wr_buffer *select, struct wr_error *err)
{
    char oid[16];
    PGresult *result = NULL;

    (void)snprintf(oid, sizeof(oid), "%u", table->oid);
    const char *const values[] = {oid, config->publication_name};
    struct command command = {.where = "snapshot",
                              .sql = table->takes_no_lock ? describe_without_lock_sql(conn)
                                                          : describe_sql(conn),
                              .values = values,
                              .value_count = 2,
                              .timeout_ms = TIMEOUT_MS};
    *out = NULL;
    enum wr_status status = command_run(conn, &command, &result, err);
    if (status == WR_OK) {
        status = describe(table, result, out, select, err);
    }
    PQclear(result);
    return status;
}
