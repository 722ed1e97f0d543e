/* One row by its key, as it is now: text as the stream would send it, by the same pinned settings.
 */
#include <stdio.h>

#include <libpq-fe.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "streamer/catalog_pg.h"
#include "streamer/catalog_query.h"

enum { SQL_SIZE_MAX = 1 << 20 };

static void add_list(struct wr_buffer *sql, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wr_buffer_add_str(sql, i == 0 ? "" : ", ");
        command_add_identifier(sql, names[i]);
    }
}

static void make_sql(const struct row_query *query, struct wr_buffer *sql)
{
    WR_BUFFER_LITERAL(sql, "SELECT ");
    add_list(sql, query->columns, query->column_count);
    WR_BUFFER_LITERAL(sql, " FROM ");
    command_add_identifier(sql, query->schema);
    WR_BUFFER_LITERAL(sql, ".");
    command_add_identifier(sql, query->table);
    WR_BUFFER_LITERAL(sql, " WHERE (");
    add_list(sql, query->keys, query->key_count);
    WR_BUFFER_LITERAL(sql, ") = (");
    for (size_t i = 0; i < query->key_count; i++) {
        char number[32];
        (void)snprintf(number, sizeof(number), "%s$%zu", i == 0 ? "" : ", ", i + 1);
        wr_buffer_add_str(sql, number);
    }
    WR_BUFFER_LITERAL(sql, ") LIMIT 1");
    wr_buffer_add_char(sql, '\0');
}

static enum wr_status take_row(const PGresult *result, const struct row_query *query,
                               struct wr_arena *arena, struct row_value *out, struct wr_error *err)
{
    for (size_t i = 0; i < query->column_count; i++) {
        int column = (int)i;
        size_t size = (size_t)PQgetlength(result, 0, column);
        out[i].is_null = PQgetisnull(result, 0, column) != 0;
        out[i].text =
            (struct wr_slice){wr_arena_strndup(arena, PQgetvalue(result, 0, column), size), size};
        if (out[i].text.data == NULL) {
            return wr_fail(err, WR_FATAL, "catalog", "%s.%s: a row larger than one message may be",
                           query->schema, query->table);
        }
    }
    return WR_OK;
}

enum wr_status catalog_select_row(struct catalog *catalog, const struct row_query *query,
                                  struct wr_arena *arena, struct row_value *out, bool *is_found,
                                  struct wr_error *err)
{
    struct wr_buffer sql = {0};
    PGresult *result = NULL;

    *is_found = false;
    wr_buffer_init(&sql, SQL_SIZE_MAX);
    make_sql(query, &sql);
    struct command command = {
        .where = "catalog",
        .sql = sql.failed ? "" : sql.data,
        .values = query->key_values,
        .value_count = (int)query->key_count,
    };
    enum wr_status status = catalog_query(catalog, &command, &result, err);
    wr_buffer_done(&sql);
    if (status == WR_OK && PQntuples(result) == 1) {
        *is_found = true;
        status = take_row(result, query, arena, out, err);
    }
    PQclear(result);
    return status;
}
