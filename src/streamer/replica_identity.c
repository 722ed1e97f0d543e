/* replica.identity.autoset.values: what updates and deletes say of the row as it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/regex.h"
#include "config/config.h"
#include "streamer/catalog_pg.h"
#include "streamer/catalog_query.h"

enum { SQL_SIZE_MAX = 1024, NAME_SIZE_MAX = 256 };

/* A captured table, as the catalog tells of it. */
struct table {
    const char *schema;
    const char *name;
    const char *qualified; /* quoted */
    char identity;         /* relreplident: d, n, f or i */
    const char *index;     /* that `i` uses, else "" */
};

/* One of the configuration's rules, with its expression compiled. */
struct rule {
    const struct replica_identity_rule *config;
    struct wr_regex *table;
};

static bool rules_are_equal(const struct replica_identity_rule *a,
                            const struct replica_identity_rule *b)
{
    return a->identity == b->identity &&
           (a->identity != REPLICA_IDENTITY_INDEX || strcmp(a->index, b->index) == 0);
}

static enum wr_status find_rule(const struct rule *rules, size_t count, const struct table *table,
                                const struct replica_identity_rule **out, struct wr_error *err)
{
    char name[NAME_SIZE_MAX];

    *out = NULL;
    (void)snprintf(name, sizeof(name), "%s.%s", table->schema, table->name);
    for (size_t i = 0; i < count; i++) {
        const struct replica_identity_rule *rule = rules[i].config;
        if (!wr_regex_matches(rules[i].table, wr_slice_str(name))) {
            continue;
        }
        if (*out != NULL && !rules_are_equal(*out, rule)) {
            return wr_fail(err, WR_FATAL, "catalog",
                           "replica.identity.autoset.values: \"%s\" and \"%s\" ask for different "
                           "identities of table %s",
                           (*out)->table, rule->table, table->qualified);
        }
        *out = rule;
    }
    return WR_OK;
}

static bool has_identity(const struct table *table, const struct replica_identity_rule *rule)
{
    switch (rule->identity) {
    case REPLICA_IDENTITY_DEFAULT:
        return table->identity == 'd';
    case REPLICA_IDENTITY_NOTHING:
        return table->identity == 'n';
    case REPLICA_IDENTITY_FULL:
        return table->identity == 'f';
    case REPLICA_IDENTITY_INDEX:
        return table->identity == 'i' && strcmp(table->index, rule->index) == 0;
    }
    return false;
}

static void make_sql(const struct table *table, const struct replica_identity_rule *rule,
                     struct wr_buffer *sql)
{
    wr_buffer_init(sql, SQL_SIZE_MAX);
    WR_BUFFER_LITERAL(sql, "ALTER TABLE ");
    wr_buffer_add_str(sql, table->qualified);
    WR_BUFFER_LITERAL(sql, " REPLICA IDENTITY ");
    switch (rule->identity) {
    case REPLICA_IDENTITY_DEFAULT:
        WR_BUFFER_LITERAL(sql, "DEFAULT");
        break;
    case REPLICA_IDENTITY_NOTHING:
        WR_BUFFER_LITERAL(sql, "NOTHING");
        break;
    case REPLICA_IDENTITY_FULL:
        WR_BUFFER_LITERAL(sql, "FULL");
        break;
    case REPLICA_IDENTITY_INDEX:
        WR_BUFFER_LITERAL(sql, "USING INDEX ");
        command_add_identifier(sql, rule->index);
        break;
    }
    wr_buffer_add_char(sql, '\0');
}

static enum wr_status set_identity(struct catalog *catalog, const struct table *table,
                                   const struct replica_identity_rule *rule, struct wr_error *err)
{
    struct wr_buffer sql = {0};
    PGresult *result = NULL;

    make_sql(table, rule, &sql);
    struct command command = {.where = "catalog", .sql = sql.failed ? "" : sql.data};
    enum wr_status status = catalog_query(catalog, &command, &result, err);
    if (status == WR_FATAL && command.sqlstate[0] != '\0') {
        wr_log(WR_LOG_ERROR, "catalog",
               WR_MSG("the replica identity stays as it is; let the table's owner change it"),
               WR_STR("reason", err->text), WR_STR("sql", command.sql));
        status = WR_OK;
    } else if (status == WR_OK) {
        wr_log(WR_LOG_INFO, "catalog", WR_MSG("changed"), WR_STR("sql", command.sql));
    }
    PQclear(result);
    wr_buffer_done(&sql);
    return status;
}

static enum wr_status list_tables(struct catalog *catalog, PGresult **out, struct wr_error *err)
{
    struct command command = {
        .where = "catalog",
        .sql = "SELECT n.nspname, c.relname,"
               " pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),"
               " c.relreplident, COALESCE((SELECT x.relname FROM pg_catalog.pg_index i"
               " JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid"
               " WHERE i.indrelid = c.oid AND i.indisreplident), '')"
               " FROM pg_catalog.pg_class c"
               " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
               " WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p'"
               " AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY 1, 2",
    };

    return catalog_query(catalog, &command, out, err);
}

static enum wr_status set_identities(struct catalog *catalog, const struct table_filter *filter,
                                     const struct rule *rules, struct wr_error *err)
{
    size_t count = catalog_config(catalog)->replica_identity_count;
    PGresult *result = NULL;
    enum wr_status status = list_tables(catalog, &result, err);

    for (int row = 0; status == WR_OK && row < PQntuples(result); row++) {
        struct table table = {
            .schema = PQgetvalue(result, row, 0),
            .name = PQgetvalue(result, row, 1),
            .qualified = PQgetvalue(result, row, 2),
            .identity = PQgetvalue(result, row, 3)[0],
            .index = PQgetvalue(result, row, 4),
        };
        const struct replica_identity_rule *rule = NULL;
        if (filter->is_captured(filter->context, table.schema, table.name)) {
            status = find_rule(rules, count, &table, &rule, err);
        }
        if (status == WR_OK && rule != NULL && !has_identity(&table, rule)) {
            status = set_identity(catalog, &table, rule, err);
        }
    }
    PQclear(result);
    return status;
}

enum wr_status catalog_set_identities(struct catalog *catalog, const struct table_filter *filter,
                                      struct wr_error *err)
{
    const struct config *config = catalog_config(catalog);
    size_t count = config->replica_identity_count;
    enum wr_status status = WR_OK;

    if (count == 0) {
        return WR_OK;
    }
    struct rule *rules = calloc(count, sizeof(*rules));
    if (rules == NULL) {
        abort();
    }
    for (size_t i = 0; status == WR_OK && i < count; i++) {
        rules[i].config = &config->replica_identities[i];
        status = wr_regex_new(rules[i].config->table, true, &rules[i].table, err);
    }
    if (status == WR_OK) {
        status = set_identities(catalog, filter, rules, err);
    }
    for (size_t i = 0; i < count; i++) {
        wr_regex_free(rules[i].table);
    }
    free(rules);
    return status;
}
