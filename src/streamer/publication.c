/* The publication: made, or brought up to what the filter captures, and looked over. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/log.h"
#include "config/config.h"
#include "streamer/catalog_pg.h"
#include "streamer/catalog_query.h"

enum {
    SQL_SIZE_MAX = 64 << 20, /* some 100,000 tables with long names */
    TABLES_SIZE_MAX = 64 << 20,
};

struct publication {
    bool exists;
    bool has_all_tables;
    bool is_via_root;
};

/* A table that could be published. */
struct candidate {
    uint32_t oid;
    uint32_t parent_oid; /* of a partition, else 0 */
    const char *name;    /* quoted, with its schema; borrowed from the result */
    bool is_captured;    /* by the filter */
    bool is_listed;      /* named in the publication */
    bool is_published;   /* listed, or in it by way of its schema or its root */
};

struct candidates {
    struct candidate *items; /* by oid */
    size_t count;
};

static enum wr_status query_publication(struct catalog *catalog, const char *sql, PGresult **out,
                                        struct wr_error *err)
{
    const char *name = catalog_config(catalog)->publication_name;
    struct command command = {
        .where = "publication", .sql = sql, .values = &name, .value_count = 1};

    return catalog_query(catalog, &command, out, err);
}

static enum wr_status find_publication(struct catalog *catalog, struct publication *out,
                                       struct wr_error *err)
{
    PGresult *result = NULL;
    enum wr_status status =
        query_publication(catalog,
                          "SELECT puballtables, pg_catalog.to_jsonb(p) ->> 'pubviaroot'"
                          " FROM pg_catalog.pg_publication p WHERE pubname = $1",
                          &result, err);

    if (status == WR_OK && PQntuples(result) > 0) {
        out->exists = true;
        out->has_all_tables = PQgetvalue(result, 0, 0)[0] == 't';
        out->is_via_root = PQgetvalue(result, 0, 1)[0] == 't';
    }
    PQclear(result);
    return status;
}

static void begin_sql(struct catalog *catalog, const char *verb, struct wr_buffer *sql)
{
    wr_buffer_init(sql, SQL_SIZE_MAX);
    wr_buffer_add_str(sql, verb);
    command_add_identifier(sql, catalog_config(catalog)->publication_name);
}

/* Operations that are skipped need not leave the server; routes skip none. */
static void add_options(const struct config *config, struct wr_buffer *sql)
{
    const struct {
        const char *name;
        bool is_skipped;
    } operations[] = {
        {"insert", config->skip_create},
        {"update", config->skip_update},
        {"delete", config->skip_delete},
        {"truncate", config->skip_truncate},
    };
    const char *separator = "";

    WR_BUFFER_LITERAL(sql, " WITH (publish = '");
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (!operations[i].is_skipped || config->route_count > 0) {
            wr_buffer_add_str(sql, separator);
            wr_buffer_add_str(sql, operations[i].name);
            separator = ", ";
        }
    }
    wr_buffer_add_str(
        sql, config->publish_via_partition_root ? "', publish_via_partition_root = true)" : "')");
}

/* Runs the statement and lets go of it. */
static enum wr_status finish_sql(struct catalog *catalog, struct wr_buffer *sql,
                                 struct wr_error *err)
{
    PGresult *result = NULL;
    enum wr_status status = WR_OK;

    wr_buffer_add_char(sql, '\0');
    if (sql->failed) {
        status =
            wr_fail(err, WR_FATAL, "publication", "%s: more tables than fit in %d bytes of SQL",
                    catalog_config(catalog)->publication_name, SQL_SIZE_MAX);
    } else {
        struct command command = {.where = "publication", .sql = sql->data};
        status = catalog_query(catalog, &command, &result, err);
        if (strcmp(command.sqlstate, "42501") == 0) {
            command_advise(err, "role %s may not do this; let a superuser or the owner run: %s;",
                           catalog_role(catalog), sql->data);
        } else if (status == WR_OK) {
            wr_log(WR_LOG_INFO, "publication", WR_MSG("changed"), WR_STR("sql", sql->data));
        }
    }
    PQclear(result);
    wr_buffer_done(sql);
    return status;
}

static enum wr_status create(struct catalog *catalog, const char *tables, struct wr_error *err)
{
    struct wr_buffer sql = {0};

    begin_sql(catalog, "CREATE PUBLICATION ", &sql);
    wr_buffer_add_str(&sql, tables);
    add_options(catalog_config(catalog), &sql);
    return finish_sql(catalog, &sql, err);
}

static enum wr_status refuse_missing(struct catalog *catalog, struct wr_error *err)
{
    struct wr_buffer sql = {0};

    begin_sql(catalog, "CREATE PUBLICATION ", &sql);
    WR_BUFFER_LITERAL(&sql, " FOR ALL TABLES");
    add_options(catalog_config(catalog), &sql);
    wr_buffer_add_char(&sql, '\0');
    enum wr_status status =
        wr_fail(err, WR_FATAL, "publication",
                "publication %s does not exist, and publication.autocreate.mode is disabled; run: "
                "%s; or name its tables",
                catalog_config(catalog)->publication_name, sql.failed ? "" : sql.data);
    wr_buffer_done(&sql);
    return status;
}

static void warn_of_options(struct catalog *catalog, const struct publication *publication)
{
    const struct config *config = catalog_config(catalog);

    if (publication->is_via_root != config->publish_via_partition_root) {
        wr_log(WR_LOG_WARN, "publication",
               WR_MSG("exists with another publish_via_partition_root than configured; the "
                      "publication's counts (ALTER PUBLICATION … SET (…) changes it)"),
               WR_STR("publication", config->publication_name),
               WR_STR("publish_via_partition_root", publication->is_via_root ? "true" : "false"));
    }
}

static enum wr_status list_candidates(struct catalog *catalog, PGresult **out, struct wr_error *err)
{
    return query_publication(
        catalog,
        "SELECT c.oid, COALESCE(i.inhparent, 0), n.nspname, c.relname,"
        " pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),"
        " r.prrelid IS NOT NULL, r.prrelid IS NOT NULL OR t.tablename IS NOT NULL"
        " FROM pg_catalog.pg_class c"
        " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
        " LEFT JOIN pg_catalog.pg_inherits i ON i.inhrelid = c.oid AND c.relispartition"
        " LEFT JOIN (pg_catalog.pg_publication p"
        " JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid)"
        " ON p.pubname = $1 AND r.prrelid = c.oid"
        " LEFT JOIN pg_catalog.pg_publication_tables t"
        " ON t.pubname = $1 AND t.schemaname = n.nspname AND t.tablename = c.relname"
        " WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p'"
        " AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY c.oid",
        out, err);
}

static void take_candidate(const PGresult *result, int row, const struct table_filter *filter,
                           struct candidate *out)
{
    out->oid = (uint32_t)strtoul(PQgetvalue(result, row, 0), NULL, 10);
    out->parent_oid = (uint32_t)strtoul(PQgetvalue(result, row, 1), NULL, 10);
    out->is_captured = filter->is_captured(filter->context, PQgetvalue(result, row, 2),
                                           PQgetvalue(result, row, 3));
    out->name = PQgetvalue(result, row, 4);
    out->is_listed = PQgetvalue(result, row, 5)[0] == 't';
    out->is_published = PQgetvalue(result, row, 6)[0] == 't';
}

static int compare_oids(const void *key, const void *item)
{
    uint32_t oid = *(const uint32_t *)key;
    uint32_t other = ((const struct candidate *)item)->oid;

    return (oid > other) - (oid < other);
}

static const struct candidate *find_candidate(const struct candidates *all, uint32_t oid)
{
    return oid == 0 ? NULL
                    : bsearch(&oid, all->items, all->count, sizeof(*all->items), compare_oids);
}

/* Captured, and not within a partitioned table that is. */
static bool is_wanted(const struct candidates *all, const struct candidate *table)
{
    const struct candidate *above = find_candidate(all, table->parent_oid);

    while (above != NULL && !above->is_captured) {
        above = find_candidate(all, above->parent_oid);
    }
    return table->is_captured && above == NULL;
}

/* Published by way of its schema. A listed root publishes it too, but may be about to go. */
static bool is_covered(const struct candidates *all, const struct candidate *table)
{
    const struct candidate *above = find_candidate(all, table->parent_oid);

    while (above != NULL && !above->is_listed) {
        above = find_candidate(all, above->parent_oid);
    }
    return table->is_published && above == NULL;
}

enum change { CHANGE_CREATE, CHANGE_ADD, CHANGE_DROP };

static bool belongs(const struct candidates *all, const struct candidate *table, enum change change)
{
    bool wanted = is_wanted(all, table);

    switch (change) {
    case CHANGE_CREATE:
        return wanted;
    case CHANGE_ADD:
        return wanted && !table->is_listed && !is_covered(all, table);
    case CHANGE_DROP:
        return table->is_listed && !wanted;
    }
    return false;
}

static size_t add_tables(const struct candidates *all, enum change change, struct wr_buffer *sql)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++) {
        if (belongs(all, &all->items[i], change)) {
            wr_buffer_add_str(sql, count == 0 ? " " : ", ");
            wr_buffer_add_str(sql, all->items[i].name);
            count++;
        }
    }
    return count;
}

static enum wr_status create_filtered(struct catalog *catalog, const struct candidates *all,
                                      struct wr_error *err)
{
    struct wr_buffer sql = {0};

    begin_sql(catalog, "CREATE PUBLICATION ", &sql);
    WR_BUFFER_LITERAL(&sql, " FOR TABLE");
    (void)add_tables(all, CHANGE_CREATE, &sql);
    add_options(catalog_config(catalog), &sql);
    return finish_sql(catalog, &sql, err);
}

/* By difference rather than SET TABLE, which would take column lists and row filters away from the
 * tables that stay, and publish what somebody had hidden. */
static enum wr_status alter(struct catalog *catalog, const struct candidates *all,
                            enum change change, struct wr_error *err)
{
    struct wr_buffer sql = {0};

    begin_sql(catalog, "ALTER PUBLICATION ", &sql);
    wr_buffer_add_str(&sql, change == CHANGE_ADD ? " ADD TABLE" : " DROP TABLE");
    if (add_tables(all, change, &sql) == 0) {
        wr_buffer_done(&sql);
        return WR_OK;
    }
    return finish_sql(catalog, &sql, err);
}

static enum wr_status apply_filter(struct catalog *catalog, const struct publication *publication,
                                   const struct candidates *all, struct wr_error *err)
{
    bool is_any = false;

    for (size_t i = 0; i < all->count; i++) {
        is_any = is_any || all->items[i].is_captured;
    }
    if (!is_any) {
        return wr_fail(err, WR_FATAL, "publication",
                       "none of the %zu tables of the database is captured: check "
                       "table.include.list, schema.include.list and the exclude lists",
                       all->count);
    }
    if (!publication->exists) {
        return create_filtered(catalog, all, err);
    }
    /* In this order, so that no table is without the publication in between. */
    enum wr_status status = alter(catalog, all, CHANGE_ADD, err);
    return status == WR_OK ? alter(catalog, all, CHANGE_DROP, err) : status;
}

static enum wr_status prepare_filtered(struct catalog *catalog,
                                       const struct publication *publication,
                                       const struct table_filter *filter, struct wr_error *err)
{
    PGresult *result = NULL;

    if (publication->has_all_tables) {
        return WR_OK; /* more than is captured, and the router leaves the rest out */
    }
    enum wr_status status = list_candidates(catalog, &result, err);
    if (status != WR_OK) {
        return status;
    }
    struct wr_arena *arena = wr_arena_new(TABLES_SIZE_MAX);
    struct candidates all = {.count = (size_t)PQntuples(result)};
    all.items = wr_arena_alloc(arena, all.count + 1, sizeof(*all.items));
    if (all.items == NULL) {
        status = wr_fail(err, WR_FATAL, "publication", "more tables than fit in %d bytes",
                         TABLES_SIZE_MAX);
    } else {
        for (size_t i = 0; i < all.count; i++) {
            take_candidate(result, (int)i, filter, &all.items[i]);
        }
        status = apply_filter(catalog, publication, &all, err);
    }
    wr_arena_free(arena);
    PQclear(result);
    return status;
}

enum wr_status catalog_prepare_publication(struct catalog *catalog,
                                           const struct table_filter *filter, struct wr_error *err)
{
    struct publication publication = {0};
    enum wr_status status = find_publication(catalog, &publication, err);

    if (status != WR_OK) {
        return status;
    }
    if (publication.exists) {
        warn_of_options(catalog, &publication);
    }
    switch (catalog_config(catalog)->publication_autocreate_mode) {
    case AUTOCREATE_DISABLED:
        return publication.exists ? WR_OK : refuse_missing(catalog, err);
    case AUTOCREATE_ALL_TABLES:
        return publication.exists ? WR_OK : create(catalog, " FOR ALL TABLES", err);
    case AUTOCREATE_NO_TABLES:
        return publication.exists ? WR_OK : create(catalog, "", err);
    case AUTOCREATE_FILTERED:
        return prepare_filtered(catalog, &publication, filter, err);
    }
    return wr_fail(err, WR_FATAL, "publication", "unknown publication.autocreate.mode");
}

/* guardrail.collections.max */
static enum wr_status check_count(struct catalog *catalog, const struct table_filter *filter,
                                  struct wr_error *err)
{
    const struct config *config = catalog_config(catalog);
    PGresult *result = NULL;
    int64_t count = 0;

    if (config->guardrail_collections_max == 0) {
        return WR_OK;
    }
    enum wr_status status = query_publication(
        catalog,
        "SELECT schemaname, tablename FROM pg_catalog.pg_publication_tables WHERE pubname = $1",
        &result, err);
    for (int row = 0; status == WR_OK && row < PQntuples(result); row++) {
        count += filter->is_captured(filter->context, PQgetvalue(result, row, 0),
                                     PQgetvalue(result, row, 1))
                     ? 1
                     : 0;
    }
    PQclear(result);
    if (status != WR_OK || count <= config->guardrail_collections_max) {
        return status;
    }
    if (config->guardrail_fails) {
        return wr_fail(err, WR_FATAL, "catalog",
                       "%" PRId64
                       " tables are captured, more than guardrail.collections.max=%" PRId64
                       ": raise it, or narrow table.include.list",
                       count, config->guardrail_collections_max);
    }
    wr_log(WR_LOG_WARN, "catalog",
           WR_MSG("more tables are captured than guardrail.collections.max"),
           WR_INT("tables", count), WR_INT("max", config->guardrail_collections_max));
    return WR_OK;
}

static enum wr_status warn_of_identities(struct catalog *catalog, const struct table_filter *filter,
                                         struct wr_error *err)
{
    PGresult *result = NULL;
    /* FULL and USING INDEX identify a row without a primary key; DEFAULT does not. */
    enum wr_status status = query_publication(
        catalog,
        "SELECT n.nspname, c.relname,"
        " pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)"
        " FROM pg_catalog.pg_publication_tables t"
        " JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname"
        " JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename"
        " WHERE t.pubname = $1 AND (c.relreplident = 'n' OR c.relreplident = 'd' AND NOT EXISTS"
        " (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary))"
        " ORDER BY 1, 2",
        &result, err);

    for (int row = 0; status == WR_OK && row < PQntuples(result); row++) {
        if (filter->is_captured(filter->context, PQgetvalue(result, row, 0),
                                PQgetvalue(result, row, 1))) {
            wr_log(WR_LOG_WARN, "catalog",
                   WR_MSG("insert only: without a primary key its updates and deletes cannot be "
                          "published (ALTER TABLE … REPLICA IDENTITY FULL would do)"),
                   WR_STR("table", PQgetvalue(result, row, 2)));
        }
    }
    PQclear(result);
    return status;
}

enum wr_status catalog_check_tables(struct catalog *catalog, const struct table_filter *filter,
                                    struct wr_error *err)
{
    enum wr_status status = check_count(catalog, filter, err);

    return status == WR_OK ? warn_of_identities(catalog, filter, err) : status;
}
