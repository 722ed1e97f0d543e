/*
 * Which tables there are for incremental snapshots. It asks for nothing that would take a lock, as
 * the size of a table does: somebody waits for the answer, and with him the stream.
 */
#include "streamer/chunk_list.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "config/config.h"
#include "streamer/command.h"

enum { TIMEOUT_MS = 60 * 1000, GRANTS_SIZE_MAX = 4096 };

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

static struct chunk_found found_at(const PGresult *result, int row)
{
    return (struct chunk_found){
        .oid = (uint32_t)strtoul(PQgetvalue(result, row, LIST_OID), NULL, 10),
        .schema = PQgetvalue(result, row, LIST_SCHEMA),
        .table = PQgetvalue(result, row, LIST_TABLE),
        .qualified = PQgetvalue(result, row, LIST_QUALIFIED),
        .row_filter = PQgetisnull(result, row, LIST_ROW_FILTER) != 0
                          ? NULL
                          : PQgetvalue(result, row, LIST_ROW_FILTER),
    };
}

static enum wr_status take(const PGresult *result, const struct table_filter *filter, void *context,
                           void (*each)(void *context, const struct chunk_found *table),
                           struct wr_error *err)
{
    struct wr_buffer grants = {0};
    enum wr_status status = WR_OK;

    wr_buffer_init(&grants, GRANTS_SIZE_MAX);
    for (int row = 0; row < PQntuples(result); row++) {
        struct chunk_found found = found_at(result, row);
        if (filter->is_captured(filter->context, found.schema, found.table)) {
            wr_buffer_add_str(&grants, PQgetvalue(result, row, LIST_GRANTS));
            each(context, &found);
        }
    }
    if (grants.size > 0) {
        status =
            wr_fail(err, WR_REJECT, "incremental", "what is asked for may not be read; run: %.*s",
                    (int)grants.size, grants.data);
    }
    wr_buffer_done(&grants);
    return status;
}

enum wr_status chunk_list(const struct config *config, PGconn *conn,
                          const struct table_filter *filter, void *context,
                          void (*each)(void *context, const struct chunk_found *table),
                          struct wr_error *err)
{
    PGresult *result = NULL;
    struct command command = {.where = "incremental",
                              .sql = LIST_SQL,
                              .values = &config->publication_name,
                              .value_count = 1,
                              .timeout_ms = TIMEOUT_MS};
    enum wr_status status = command_run(conn, &command, &result, err);

    if (status == WR_OK) {
        status = take(result, filter, context, each, err);
    }
    PQclear(result);
    return status;
}
