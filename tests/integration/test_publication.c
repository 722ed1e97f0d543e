/* Publications, and what the catalog says, against a real server. */
#include <stdlib.h>

#include "base/arena.h"
#include "decoder/catalog.h"
#include "integration/streamer_fixture.h"

static struct fixture f;
static struct catalog *catalog;

static void open_database(const char *dbname)
{
    fixture_open(&f, dbname);
    catalog = catalog_new(&f.config);
}

static void close_database(void)
{
    catalog_free(catalog);
    fixture_close(&f);
}

static enum wr_status prepare(enum publication_autocreate_mode mode,
                              bool (*is_captured)(void *, const char *, const char *),
                              const char *table)
{
    char context[64] = "";
    struct table_filter filter = {.context = context, .is_captured = is_captured};

    snprintf(context, sizeof(context), "%s", table);
    f.config.publication_autocreate_mode = mode;
    return catalog_prepare_publication(catalog, &filter, &f.err);
}

/* What is named in the publication itself. */
static const char *listed(void)
{
    return pg_query(f.sql, "select string_agg(prrelid::regclass::text, ' ' order by prrelid::"
                           "regclass::text) from pg_publication_rel");
}

static const char *published(void)
{
    return pg_query(f.sql, "select string_agg(tablename, ' ' order by tablename) from"
                           " pg_publication_tables where pubname = 'wr_pub'");
}

static const char *options(void)
{
    return pg_query(f.sql, "select concat_ws(' ', puballtables, pubinsert, pubupdate, pubdelete,"
                           " pubtruncate, pubviaroot) from pg_publication");
}

#define expect_text(part) cr_expect(strstr(f.err.text, (part)) != NULL, "%s", f.err.text)

Test(publication, all_tables_leaves_skipped_operations_out)
{
    open_database("publication_all");
    f.config.publish_via_partition_root = true;
    cr_assert_eq(prepare(AUTOCREATE_ALL_TABLES, capture_public, ""), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(options(), "t t t t f t");
    f.config.skip_truncate = false;
    cr_assert_eq(prepare(AUTOCREATE_ALL_TABLES, capture_public, ""), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(options(), "t t t t f t", "one that exists is left as it is");
    close_database();
}

Test(publication, has_what_routes_need_even_where_change_events_skip_it)
{
    open_database("publication_routes");
    f.config.route_count = 1;
    cr_assert_eq(prepare(AUTOCREATE_ALL_TABLES, capture_public, ""), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(options(), "t t t t t f");
    f.config.route_count = 0;
    close_database();
}

Test(publication, no_tables_is_empty_and_disabled_must_exist)
{
    open_database("publication_none");
    cr_expect_eq(prepare(AUTOCREATE_DISABLED, capture_public, ""), WR_FATAL);
    expect_text("run: CREATE PUBLICATION \"wr_pub\" FOR ALL TABLES");
    f.config.skip_truncate = false;
    cr_assert_eq(prepare(AUTOCREATE_NO_TABLES, capture_public, ""), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(options(), "f t t t t f");
    cr_expect_str_eq(published(), "");
    cr_expect_eq(prepare(AUTOCREATE_DISABLED, capture_public, ""), WR_OK);
    close_database();
}

Test(publication, filtered_is_created_and_follows_the_filter)
{
    open_database("publication_filtered");
    pg_exec(f.sql, "create table a(id int primary key); create table b(id int primary key);"
                   "create unlogged table u(id int primary key); create view v as select 1;"
                   "create schema other; create table other.c(id int primary key)");
    cr_assert_eq(prepare(AUTOCREATE_FILTERED, capture_one, "a"), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(published(), "a");
    cr_assert_eq(prepare(AUTOCREATE_FILTERED, capture_public, ""), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(published(), "a b");
    cr_assert_eq(prepare(AUTOCREATE_FILTERED, capture_one, "c"), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(published(), "c");
    cr_expect_eq(prepare(AUTOCREATE_FILTERED, capture_one, "nothing"), WR_FATAL);
    expect_text("none of the 3 tables");
    cr_expect_str_eq(published(), "c");
    close_database();
}

Test(publication, filtered_keeps_column_lists_and_row_filters)
{
    open_database("publication_lists");
    pg_exec(f.sql, "create table p(id int primary key, ssn text); create table q(id int);"
                   "create publication wr_pub for table p (id) where (id < 100)");
    cr_assert_eq(prepare(AUTOCREATE_FILTERED, capture_public, ""), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(published(), "p q");
    cr_expect_str_eq(pg_query(f.sql, "select attnames::text || rowfilter from"
                                     " pg_publication_tables where tablename = 'p'"),
                     "{id}(id < 100)");
    close_database();
}

Test(publication, filtered_leaves_all_tables_and_schemas_alone)
{
    open_database("publication_wide");
    pg_exec(f.sql, "create table a(id int primary key); create table b(id int primary key);"
                   "create publication wr_pub for tables in schema public");
    cr_assert_eq(prepare(AUTOCREATE_FILTERED, capture_one, "a"), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(published(), "a b");
    cr_expect_str_eq(listed(), "");
    pg_exec(f.sql, "drop publication wr_pub; create publication wr_pub for all tables");
    cr_assert_eq(prepare(AUTOCREATE_FILTERED, capture_one, "a"), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(published(), "a b");
    close_database();
}

Test(publication, filtered_lists_a_captured_root_so_that_later_partitions_are_published)
{
    open_database("publication_parted");
    pg_exec(f.sql, "create table parted(id int, region text, primary key (id, region))"
                   " partition by list (region);"
                   "create table parted_eu partition of parted for values in ('eu')");
    cr_assert_eq(prepare(AUTOCREATE_FILTERED, capture_public, ""), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(listed(), "parted");
    pg_exec(f.sql, "create table parted_us partition of parted for values in ('us')");
    cr_expect_str_eq(published(), "parted_eu parted_us");
    cr_assert_eq(prepare(AUTOCREATE_FILTERED, capture_one, "parted_us"), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(listed(), "parted_us");
    close_database();
}

Test(publication, takes_names_that_need_quotes)
{
    open_database("publication_names");
    pg_exec(f.sql, "create schema \"Sch.ema\"; create table \"Sch.ema\".\"Ord\"\"er s\"(id int);"
                   "create table \"select\"(id int)");
    f.config.publication_name = "Wr \"Pub',x";
    cr_assert_eq(prepare(AUTOCREATE_FILTERED, capture_all, ""), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(listed(), "\"Sch.ema\".\"Ord\"\"er s\" \"select\"");
    close_database();
}

Test(publication, a_role_without_rights_gets_the_sql_that_helps)
{
    open_database("publication_rights");
    pg_exec(f.sql, "create table a(id int primary key);"
                   "drop role if exists publication_low; create role publication_low login");
    f.pairs[2].value = "publication_low";
    cr_expect_eq(prepare(AUTOCREATE_ALL_TABLES, capture_public, ""), WR_FATAL);
    expect_text("let a superuser or the owner run: CREATE PUBLICATION \"wr_pub\" FOR ALL TABLES");
    cr_expect_eq(prepare(AUTOCREATE_FILTERED, capture_public, ""), WR_FATAL);
    expect_text("CREATE PUBLICATION \"wr_pub\" FOR TABLE public.a");
    pg_exec(f.sql, "drop role publication_low");
    close_database();
}

Test(publication, tables_without_an_identity_are_no_error)
{
    open_database("publication_identity");
    struct table_filter filter = {.is_captured = capture_public};
    pg_exec(f.sql, "create table nopk(v text); create publication wr_pub for table nopk");
    cr_expect_eq(catalog_check_tables(catalog, &filter, &f.err), WR_OK, "%s", f.err.text);
    close_database();
}

Test(catalog, knows_types_and_follows_no_domain)
{
    open_database("catalog_types");
    struct wr_arena *arena = wr_arena_new(1 << 20);
    struct catalog_source source = catalog_source(catalog);
    struct type_info type = {0};
    pg_exec(f.sql, "create schema \"S c\"; create type \"S c\".\"Mood\" as enum ('a');"
                   "create domain money2 as numeric(10, 2)");
    uint32_t oid =
        (uint32_t)strtoul(pg_query(f.sql, "select '\"S c\".\"Mood\"'::regtype::oid"), NULL, 10);
    cr_assert_eq(source.type(source.context, oid, arena, &type, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(type.schema, "S c");
    cr_expect_str_eq(type.name, "Mood");
    cr_expect_eq(type.typtype, 'e');
    cr_expect_eq(type.element_oid, 0);
    cr_expect_eq(type.base_typmod, -1);
    oid = (uint32_t)strtoul(pg_query(f.sql, "select 'money2'::regtype::oid"), NULL, 10);
    cr_assert_eq(source.type(source.context, oid, arena, &type, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_eq(type.typtype, 'd');
    cr_expect_eq(type.base_oid, 1700);
    cr_expect_eq(type.base_typmod, 4 + (10 << 16 | 2));
    oid = 1007; /* int4[] */
    cr_assert_eq(source.type(source.context, oid, arena, &type, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_eq(type.element_oid, 23);
    cr_expect_eq(source.type(source.context, 4000000000u, arena, &type, &f.err), WR_REJECT);
    wr_arena_free(arena);
    close_database();
}

Test(catalog, knows_columns_and_the_key_in_its_own_order)
{
    open_database("catalog_tables");
    struct wr_arena *arena = wr_arena_new(1 << 20);
    struct catalog_source source = catalog_source(catalog);
    struct table_info table = {0};
    pg_exec(f.sql, "create domain need as int not null;"
                   "create table t(\"V x\" text default 'it''s', id int, gone int, k int, n need,"
                   " g int generated always as (id + 1) stored,"
                   " primary key (k, id) include (\"V x\")); alter table t drop gone");
    uint32_t oid = (uint32_t)strtoul(pg_query(f.sql, "select 't'::regclass::oid"), NULL, 10);
    cr_assert_eq(source.table(source.context, oid, arena, &table, &f.err), WR_OK, "%s", f.err.text);
    cr_assert_eq(table.column_count, 5);
    cr_expect_str_eq(table.columns[0].name, "V x");
    cr_expect_str_eq(table.columns[0].default_text, "'it''s'::text");
    cr_expect_not(table.columns[0].is_not_null);
    cr_expect_str_eq(table.columns[1].name, "id");
    cr_expect(table.columns[1].is_not_null);
    cr_expect_str_eq(table.columns[3].name, "n");
    cr_expect(table.columns[3].is_not_null, "of a domain that is NOT NULL");
    cr_expect_str_eq(table.columns[4].name, "g");
    cr_expect_null(table.columns[4].default_text);
    cr_assert_eq(table.key_column_count, 2);
    cr_expect_str_eq(table.key_columns[0], "k");
    cr_expect_str_eq(table.key_columns[1], "id");
    cr_expect_eq(source.table(source.context, 4000000000u, arena, &table, &f.err), WR_REJECT);
    pg_exec(f.sql, "create table bare()");
    oid = (uint32_t)strtoul(pg_query(f.sql, "select 'bare'::regclass::oid"), NULL, 10);
    cr_assert_eq(source.table(source.context, oid, arena, &table, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_eq(table.column_count + table.key_column_count, 0);
    wr_arena_free(arena);
    close_database();
}

Test(catalog, comes_back_after_its_connection_was_ended)
{
    open_database("catalog_again");
    struct slot_state slot = {0};

    cr_assert_eq(catalog_slot(catalog, &slot, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_not(slot.exists);
    pg_exec(f.sql, "select pg_terminate_backend(pid) from pg_stat_activity"
                   " where datname = 'catalog_again' and application_name = 'walrelay'");
    cr_expect_eq(catalog_slot(catalog, &slot, &f.err), WR_OK, "%s", f.err.text);
    close_database();
}

Test(catalog, describes_the_slot)
{
    open_database("catalog_slot");
    struct slot_state slot = {0};
    pg_exec(f.sql, "select pg_create_logical_replication_slot('catalog_slot', 'test_decoding',"
                   " false, true)");
    cr_assert_eq(catalog_slot(catalog, &slot, &f.err), WR_OK, "%s", f.err.text);
    cr_expect(slot.exists && slot.two_phase && !slot.is_active && !slot.is_temporary);
    cr_expect_str_eq(slot.plugin, "test_decoding");
    cr_expect_str_eq(slot.database, "catalog_slot");
    cr_expect_str_eq(slot.wal_status, "reserved");
    cr_expect_str_eq(slot.invalidation_reason, "");
    cr_expect_gt(slot.confirmed_flush_lsn, 0);
    close_database();
}
