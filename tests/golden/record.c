/*
 * Records the replay form of the golden cases: `tests/run --record`. For each, in a fresh database:
 *
 *   stream.bin      what pgoutput sends for script.sql, in frames of u32 size and payload
 *   snapshot.bin    where a snapshot is taken: the same for setup.sql, the rows of the snapshot
 *   catalog.ndjson  what the catalog says of the tables and types: struct table_info, type_info
 *
 * Needs PostgreSQL alone, and nothing of walrelay: what is replayed later was not made by the code
 * under test. A Criterion program, so that it can use what the tests use; CTest does not run it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "support/golden.h"
#include "support/postgres.h"
#include "support/recorder.h"
#include "support/services.h"

static const char TABLES_SQL[] =
    "select json_build_object('table', json_build_object('oid', c.oid::int8, 'columns',"
    " (select coalesce(json_agg(json_build_object('name', a.attname, 'not_null', a.attnotnull,"
    "   'default', pg_get_expr(d.adbin, d.adrelid)) order by a.attnum), '[]')"
    "  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid"
    "   and d.adnum = a.attnum and a.attgenerated = ''"
    "  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), 'key',"
    " (select coalesce(json_agg(a.attname order by k.place), '[]')"
    "  from pg_index i, unnest(i.indkey::int2[]) with ordinality as k (attnum, place),"
    "   pg_attribute a"
    "  where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid"
    "   and a.attnum = k.attnum and k.place <= i.indnkeyatts)))"
    " from pg_class c join pg_namespace n on n.oid = c.relnamespace"
    " where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'"
    " order by c.oid";

/* Of the built-in types, those of columns: the catalog is asked of some that are unknown. */
static const char TYPES_SQL[] =
    "select json_build_object('type', json_build_object('oid', t.oid::int8,"
    " 'schema', n.nspname, 'name', t.typname, 'typtype', t.typtype,"
    " 'base_oid', t.typbasetype::int8, 'base_typmod', t.typtypmod, 'element_oid',"
    " case when t.typcategory = 'A' then t.typelem::int8 else 0 end, 'labels',"
    " (select string_agg(e.enumlabel, ',' order by e.enumsortorder) from pg_enum e"
    "  where e.enumtypid = t.oid), 'delimiter', t.typdelim))"
    " from pg_type t join pg_namespace n on n.oid = t.typnamespace"
    " where t.oid >= 16384 or t.oid in (select a.atttypid from pg_attribute a"
    "  where a.attrelid >= 16384 and a.attnum > 0 and not a.attisdropped) order by t.oid";

static void append_rows(PGconn *connection, const char *sql, FILE *file)
{
    PGresult *result = PQexec(connection, sql);

    cr_assert_eq(PQresultStatus(result), PGRES_TUPLES_OK, "%s", PQerrorMessage(connection));
    for (int row = 0; row < PQntuples(result); row++) {
        fprintf(file, "%s\n", PQgetvalue(result, row, 0));
    }
    PQclear(result);
}

static void write_catalog(const struct golden_case *c, PGconn *connection)
{
    char path[GOLDEN_PATH_SIZE];

    golden_path(c, "catalog.ndjson", path);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s cannot be written", path);
    pg_exec(connection, "set search_path = pg_catalog"); /* as walrelay asks */
    append_rows(connection, TABLES_SQL, file);
    append_rows(connection, TYPES_SQL, file);
    cr_assert_eq(fclose(file), 0, "%s cannot be written", path);
}

/* As walrelay would make it from the case's configuration. */
static void create_publication(const struct golden_case *c, PGconn *connection)
{
    char mode[64];
    char root[16];

    snprintf(mode, sizeof(mode), "%s",
             golden_property(c, "publication.autocreate.mode", "all_tables"));
    snprintf(root, sizeof(root), "%s", golden_property(c, "publish.via.partition.root", "false"));
    bool is_filtered = strcmp(mode, "filtered") == 0;
    pg_execf(connection, "create publication stream for %s %s with (publish_via_partition_root=%s)",
             is_filtered ? "table" : "all tables",
             is_filtered ? golden_property(c, "table.include.list", "") : "", root);
}

/* As walrelay would, of a case that names one table and FULL. */
static void set_replica_identity(const struct golden_case *c, PGconn *connection)
{
    const char *rule = golden_property(c, "replica.identity.autoset.values", "");
    int table_size = (int)strcspn(rule, ":");

    if (strcmp(rule + table_size, ":FULL") == 0) {
        pg_execf(connection, "alter table %.*s replica identity full", table_size, rule);
    }
}

static void run_sql(const struct services *services, const struct golden_case *c, const char *file)
{
    char path[GOLDEN_PATH_SIZE];

    golden_path(c, file, path);
    pg_run_file(services, c->dbname, path);
}

static void write_slot(const struct services *services, const struct golden_case *c,
                       const char *slot, const char *file)
{
    char path[GOLDEN_PATH_SIZE];

    golden_path(c, file, path);
    int count = recorder_write(services, c->dbname, slot, slot, path);
    printf("%s: %s, %d messages\n", c->name, file, count);
}

static void record(const struct services *services, const struct golden_case *c)
{
    bool is_alone = golden_is_snapshot_alone(c);
    bool with_snapshot =
        is_alone || strcmp(golden_property(c, "snapshot.mode", "initial"), "initial") == 0;

    if (!golden_is_replayed(c)) {
        return;
    }
    pg_create_database(services, c->dbname);
    PGconn *connection = pg_open(services, c->dbname);
    if (with_snapshot) {
        pg_exec(connection, "create publication snapshot for all tables");
        recorder_create_slot(services, c->dbname, "snapshot");
    }
    run_sql(services, c, "setup.sql");
    create_publication(c, connection);
    set_replica_identity(c, connection);
    if (!is_alone) {
        recorder_create_slot(services, c->dbname, "stream");
    }
    if (with_snapshot) {
        write_slot(services, c, "snapshot", "snapshot.bin");
    }
    run_sql(services, c, "script.sql");
    if (!is_alone) {
        write_slot(services, c, "stream", "stream.bin");
    }
    write_catalog(c, connection);
    PQfinish(connection);
    pg_drop_database(services, c->dbname);
}

ParameterizedTestParameters(golden, record)
{
    return golden_parameters();
}

ParameterizedTest(struct golden_case *c, golden, record)
{
    record(services_or_skip(), c);
}
