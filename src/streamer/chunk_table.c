#include "streamer/chunk_table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/limits.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "streamer/command.h"
#include "streamer/snapshot_tables.h"

enum {
    TIMEOUT_MS = 60 * 1000,
    TABLE_SIZE_MAX = 4 << 20,
    SELECT_SIZE_MAX = 1 << 20,
};

struct key_column {
    const char *name;
    const char *quoted;
};

struct chunk_table {
    struct wr_arena *arena; /* owns everything here, this struct too */
    struct chunk_target target;
    const char *shape;
    const char *select; /* the columns of the relation, with commas */
    bool is_partitioned;
    bool has_nulls;
    bool may_have_ties; /* a surrogate key need not be unique */
    uint16_t column_count;
    uint16_t key_count;
    struct key_column keys[CHUNK_KEY_COLUMN_MAX];
};

/* What a row of it looks like: with the lock on the table it changes no more. */
#define SHAPE_SQL                                                                                  \
    "(SELECT c.relreplident::text || pg_catalog.md5(pg_catalog.string_agg(pg_catalog.concat_ws(' " \
    "',"                                                                                           \
    " a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull), ',' ORDER BY a.attnum))"        \
    " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid"             \
    " WHERE c.oid = %s AND a.attnum > 0 AND NOT a.attisdropped GROUP BY c.relreplident)"

/*
 * Its shape, its kind, and the columns to go by: the one that was named, else those of the primary
 * key, else those that identify a row by another index.
 */
#define KEY_SQL(shape)                                                                             \
    "SELECT " shape ", c.relkind, a.attname, pg_catalog.quote_ident(a.attname), a.attnotnull"      \
    " FROM pg_catalog.pg_class c"                                                                  \
    " LEFT JOIN LATERAL (SELECT i.indkey, i.indnkeyatts FROM pg_catalog.pg_index i"                \
    "  WHERE i.indrelid = c.oid AND i.indisvalid AND (i.indisprimary"                              \
    "  OR (i.indisreplident AND c.relreplident = 'i')) ORDER BY i.indisprimary DESC LIMIT 1)"      \
    " i ON $2::text IS NULL"                                                                       \
    " LEFT JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY k (attnum, place)"     \
    " ON k.place <= i.indnkeyatts"                                                                 \
    " LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0"                  \
    "  AND NOT a.attisdropped AND (a.attnum = k.attnum OR a.attname = $2::text)"                   \
    " WHERE c.oid = $1 ORDER BY k.place"

enum key_sql_column { KEY_SHAPE, KEY_KIND, KEY_NAME, KEY_QUOTED, KEY_NOT_NULL };

static enum wr_status query_keys(PGconn *conn, const struct chunk_target *target, PGresult **out,
                                 struct wr_error *err)
{
    char oid[16];
    char sql[4096];

    (void)snprintf(oid, sizeof(oid), "%" PRIu32, target->oid);
    (void)snprintf(sql, sizeof(sql), KEY_SQL(SHAPE_SQL), oid);
    const char *const values[] = {oid, target->surrogate_key};
    struct command command = {.where = "incremental",
                              .sql = sql,
                              .values = values,
                              .value_count = 2,
                              .timeout_ms = TIMEOUT_MS};
    enum wr_status status = command_run(conn, &command, out, err);
    if (status == WR_OK && PQntuples(*out) == 0) {
        PQclear(*out);
        *out = NULL;
        status = wr_fail(err, WR_RETRY, "incremental", "table %s was dropped meanwhile",
                         target->qualified);
    }
    return status;
}

/* False when the arena is full. */
static bool take_keys(struct chunk_table *table, const PGresult *result)
{
    table->shape = wr_arena_strdup(table->arena, PQgetvalue(result, 0, KEY_SHAPE));
    table->is_partitioned = PQgetvalue(result, 0, KEY_KIND)[0] == 'p';
    table->may_have_ties = table->target.surrogate_key != NULL;
    for (int row = 0; row < PQntuples(result) && row < CHUNK_KEY_COLUMN_MAX; row++) {
        struct key_column *key = &table->keys[table->key_count];
        if (PQgetisnull(result, row, KEY_NAME) != 0) {
            break;
        }
        key->name = wr_arena_strdup(table->arena, PQgetvalue(result, row, KEY_NAME));
        key->quoted = wr_arena_strdup(table->arena, PQgetvalue(result, row, KEY_QUOTED));
        if (key->name == NULL || key->quoted == NULL) {
            return false;
        }
        table->has_nulls = table->has_nulls || PQgetvalue(result, row, KEY_NOT_NULL)[0] == 'f';
        table->key_count++;
    }
    return table->shape != NULL;
}

static enum wr_status find_keys(struct chunk_table *table, PGconn *conn, struct wr_error *err)
{
    PGresult *result = NULL;
    enum wr_status status = query_keys(conn, &table->target, &result, err);

    if (status != WR_OK) {
        return status;
    }
    if (!take_keys(table, result)) {
        status = wr_fail(err, WR_FATAL, "incremental", "table %s: larger than %d bytes",
                         table->target.qualified, TABLE_SIZE_MAX);
    } else if (table->key_count == 0 && table->target.surrogate_key != NULL) {
        status = wr_fail(err, WR_REJECT, "incremental", "table %s has no column %s",
                         table->target.qualified, table->target.surrogate_key);
    } else if (table->key_count == 0) {
        status = wr_fail(err, WR_REJECT, "incremental",
                         "table %s has no primary key: name a column with surrogate-key",
                         table->target.qualified);
    }
    PQclear(result);
    return status;
}

static bool take_columns(struct chunk_table *table, const struct relation *relation)
{
    struct wr_buffer columns = {0};

    wr_buffer_init(&columns, SELECT_SIZE_MAX);
    for (uint16_t i = 0; i < relation->column_count; i++) {
        wr_buffer_add_str(&columns, i == 0 ? "" : ", ");
        command_add_identifier(&columns, relation->columns[i].name);
    }
    table->column_count = relation->column_count;
    table->select = columns.failed || columns.size == 0
                        ? NULL
                        : wr_arena_strndup(table->arena, columns.data, columns.size);
    wr_buffer_done(&columns);
    return table->select != NULL;
}

static const char *copy_of(struct wr_arena *arena, const char *text)
{
    return text == NULL ? NULL : wr_arena_strdup(arena, text);
}

static struct chunk_table *table_new(const struct chunk_target *target)
{
    struct wr_arena *arena = wr_arena_new(TABLE_SIZE_MAX);
    struct chunk_table *table = wr_arena_alloc(arena, 1, sizeof(*table));

    if (table == NULL) {
        abort();
    }
    table->arena = arena;
    table->target = (struct chunk_target){
        .oid = target->oid,
        .qualified = copy_of(arena, target->qualified),
        .row_filter = copy_of(arena, target->row_filter),
        .condition = copy_of(arena, target->condition),
        .surrogate_key = copy_of(arena, target->surrogate_key),
    };
    return table;
}

/* A condition that does not fit must not become none. */
static bool has_all(const struct chunk_table *table, const struct chunk_target *target)
{
    const struct chunk_target *own = &table->target;

    return own->qualified != NULL && (own->row_filter != NULL || target->row_filter == NULL) &&
           (own->condition != NULL || target->condition == NULL) &&
           (own->surrogate_key != NULL || target->surrogate_key == NULL);
}

enum wr_status chunk_table_open(const struct config *config, PGconn *conn,
                                const struct chunk_target *target, struct chunk_table **out,
                                struct relation **relation, struct wr_error *err)
{
    struct snapshot_table described = {
        .oid = target->oid, .qualified = target->qualified, .takes_no_lock = true};
    struct chunk_table *table = table_new(target);
    struct wr_buffer select = {0};

    *relation = NULL;
    wr_buffer_init(&select, SELECT_SIZE_MAX);
    enum wr_status status =
        has_all(table, target)
            ? find_keys(table, conn, err)
            : wr_fail(err, WR_FATAL, "incremental", "table %s: its condition is larger than %d",
                      target->qualified, TABLE_SIZE_MAX);
    if (status == WR_OK) {
        status = snapshot_table_describe(&described, conn, config, relation, &select, err);
    }
    if (status == WR_OK && !take_columns(table, *relation)) {
        wr_arena_free((*relation)->arena);
        *relation = NULL;
        status = wr_fail(err, WR_FATAL, "incremental", "table %s: no columns that fit %d bytes",
                         target->qualified, SELECT_SIZE_MAX);
    }
    wr_buffer_done(&select);
    if (status != WR_OK) {
        chunk_table_free(table);
        table = NULL;
    }
    *out = table;
    return status;
}

void chunk_table_free(struct chunk_table *table)
{
    if (table != NULL) {
        wr_arena_free(table->arena);
    }
}

uint16_t chunk_table_column_count(const struct chunk_table *table)
{
    return table->column_count;
}

uint16_t chunk_table_key_count(const struct chunk_table *table)
{
    return table->key_count;
}

const char *chunk_table_key_name(const struct chunk_table *table, uint16_t index)
{
    assert(index < table->key_count);
    return table->keys[index].name;
}

const char *chunk_table_shape(const struct chunk_table *table)
{
    return table->shape;
}

bool chunk_table_has_nulls(const struct chunk_table *table)
{
    return table->has_nulls;
}

/* ONLY, as in the initial snapshot: rows of an inheriting table come under its own name. */
static void add_from(const struct chunk_table *table, struct wr_buffer *out)
{
    wr_buffer_add_str(out, table->is_partitioned ? "" : "ONLY ");
    wr_buffer_add_str(out, table->target.qualified);
}

static void add_keys(const struct chunk_table *table, const char *suffix, struct wr_buffer *out)
{
    for (uint16_t i = 0; i < table->key_count; i++) {
        wr_buffer_add_str(out, i == 0 ? "" : ", ");
        wr_buffer_add_str(out, table->keys[i].quoted);
        wr_buffer_add_str(out, suffix);
    }
}

static void add_values(const struct chunk_table *table, const char *const *values,
                       struct wr_buffer *out)
{
    wr_buffer_add_char(out, '(');
    for (uint16_t i = 0; i < table->key_count; i++) {
        wr_buffer_add_str(out, i == 0 ? "" : ", ");
        command_add_literal(out, values[i]);
    }
    wr_buffer_add_char(out, ')');
}

static void add_comparison(const struct chunk_table *table, const char *operator,
                           const char * const * values, struct wr_buffer *out)
{
    WR_BUFFER_LITERAL(out, " AND (");
    add_keys(table, "", out);
    WR_BUFFER_LITERAL(out, ") ");
    wr_buffer_add_str(out, operator);
    wr_buffer_add_char(out, ' ');
    add_values(table, values, out);
}

/* What the publication and the signal let through. A condition may end with a comment. */
static void add_conditions(const struct chunk_table *table, struct wr_buffer *out)
{
    const char *const conditions[] = {table->target.row_filter, table->target.condition};

    WR_BUFFER_LITERAL(out, " WHERE true");
    for (size_t i = 0; i < 2; i++) {
        if (conditions[i] != NULL) {
            WR_BUFFER_LITERAL(out, " AND (");
            wr_buffer_add_str(out, conditions[i]);
            WR_BUFFER_LITERAL(out, "\n)");
        }
    }
}

/* Before the snapshot is taken: a table that is rewritten looks empty to a snapshot from before. */
void chunk_table_lock_sql(const struct chunk_table *table, struct wr_buffer *out)
{
    WR_BUFFER_LITERAL(out, "LOCK TABLE ");
    add_from(table, out);
    WR_BUFFER_LITERAL(out, " IN ACCESS SHARE MODE");
    wr_buffer_add_char(out, '\0');
}

void chunk_table_snapshot_sql(const struct chunk_table *table, struct wr_buffer *out)
{
    char oid[16];
    char sql[1024];

    (void)snprintf(oid, sizeof(oid), "%" PRIu32, table->target.oid);
    (void)snprintf(sql, sizeof(sql), "SELECT pg_catalog.pg_current_snapshot(), " SHAPE_SQL, oid);
    wr_buffer_add_str(out, sql);
    wr_buffer_add_char(out, '\0');
}

void chunk_table_max_sql(const struct chunk_table *table, struct wr_buffer *out)
{
    WR_BUFFER_LITERAL(out, "SELECT ");
    add_keys(table, "", out);
    WR_BUFFER_LITERAL(out, " FROM ");
    add_from(table, out);
    add_conditions(table, out);
    if (table->has_nulls) {
        WR_BUFFER_LITERAL(out, " AND ");
        add_keys(table, " IS NOT NULL", out);
    }
    WR_BUFFER_LITERAL(out, " ORDER BY ");
    add_keys(table, " DESC", out);
    WR_BUFFER_LITERAL(out, " LIMIT 1");
    wr_buffer_add_char(out, '\0');
}

static void add_listed(const struct chunk_table *table, const struct chunk_range *range,
                       struct wr_buffer *out)
{
    if (range->key_count == 0) {
        WR_BUFFER_LITERAL(out, " AND false");
        return;
    }
    WR_BUFFER_LITERAL(out, " AND (");
    add_keys(table, "", out);
    WR_BUFFER_LITERAL(out, ") IN (");
    for (uint32_t i = 0; i < range->key_count; i++) {
        wr_buffer_add_str(out, i == 0 ? "" : ", ");
        add_values(table, range->keys + (size_t)i * table->key_count, out);
    }
    wr_buffer_add_char(out, ')');
}

static void add_range(const struct chunk_table *table, const struct chunk_range *range,
                      struct wr_buffer *out)
{
    char limit[64];

    if (range->last != NULL) {
        add_comparison(table, ">", range->last, out);
    }
    add_comparison(table, "<=", range->max, out);
    WR_BUFFER_LITERAL(out, " ORDER BY ");
    add_keys(table, "", out);
    (void)snprintf(limit, sizeof(limit), " FETCH FIRST %" PRId64 " ROWS %s", range->limit,
                   table->may_have_ties ? "WITH TIES" : "ONLY");
    wr_buffer_add_str(out, limit);
}

void chunk_table_read_sql(const struct chunk_table *table, const struct chunk_range *range,
                          struct wr_buffer *out)
{
    WR_BUFFER_LITERAL(out, "SELECT ");
    wr_buffer_add_str(out, table->select);
    WR_BUFFER_LITERAL(out, ", ");
    add_keys(table, "", out);
    WR_BUFFER_LITERAL(out, " FROM ");
    add_from(table, out);
    add_conditions(table, out);
    if (range->only_nulls) {
        WR_BUFFER_LITERAL(out, " AND ");
        add_keys(table, " IS NULL", out);
    } else if (range->is_listed) {
        add_listed(table, range, out);
    } else {
        add_range(table, range, out);
    }
    wr_buffer_add_char(out, '\0');
}
