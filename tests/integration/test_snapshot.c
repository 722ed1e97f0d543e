/* The initial snapshot against a real server: which rows, in which order, with which markers. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "decoder/relation.h"
#include "integration/streamer_fixture.h"
#include "support/process.h"

static struct fixture f;
static struct stream *stream;
static struct wr_buffer text;

/* Opens a snapshot with a slot of its own. Rows inserted afterwards are the stream's. */
static struct snapshot *open_snapshot(bool (*is_captured)(void *, const char *, const char *))
{
    struct snapshot_options options = {.filter.is_captured = is_captured};
    struct snapshot *snapshot = NULL;
    wr_lsn lsn = 0;

    cr_assert_eq(stream_connect(&f.config, &stream, &f.err), WR_OK, "%s", f.err.text);
    cr_assert_eq(stream_create_snapshot_slot(stream, SNAPSHOT_SLOT_TEMPORARY,
                                             &options.snapshot_name, &lsn, &f.err),
                 WR_OK, "%s", f.err.text);
    cr_assert_eq(snapshot_open(&f.config, &options, &snapshot, &f.err), WR_OK, "%s", f.err.text);
    return snapshot;
}

static struct snapshot_event next(struct snapshot *snapshot)
{
    struct snapshot_event event = {0};
    enum wr_status status = snapshot_next(snapshot, &event, &f.err);

    while (status == WR_AGAIN) {
        cr_assert(wait_readable(snapshot_fd(snapshot), FIXTURE_WAIT_MS), "nothing comes");
        cr_assert_eq(snapshot_consume(snapshot, &f.err), WR_OK, "%s", f.err.text);
        status = snapshot_next(snapshot, &event, &f.err);
    }
    cr_assert_eq(status, WR_OK, "%s", f.err.text);
    return event;
}

static void print_relation(const struct relation *r)
{
    char line[128];

    snprintf(line, sizeof(line), "%s.%s %c:", r->schema, r->table, r->replica_identity);
    wr_buffer_add_str(&text, line);
    for (uint16_t i = 0; i < r->column_count; i++) {
        snprintf(line, sizeof(line), " %s%s/%u/%d", r->columns[i].is_key ? "*" : "",
                 r->columns[i].name, r->columns[i].type_oid, r->columns[i].type_mod);
        wr_buffer_add_str(&text, line);
    }
    wr_buffer_add_char(&text, '\n');
}

static void print_row(const struct snapshot_event *event)
{
    static const char *const markers[] = {"false", "true", "first", "first_in", "last_in", "last"};

    wr_buffer_add_str(&text, markers[event->marker]);
    for (uint16_t i = 0; i < event->row.column_count; i++) {
        const struct cell *cell = &event->row.cells[i];
        wr_buffer_add_char(&text, '|');
        if (cell->kind == CELL_NULL) {
            wr_buffer_add_str(&text, "NULL");
        } else {
            wr_buffer_add_slice(&text, cell->text);
        }
    }
    wr_buffer_add_char(&text, '\n');
}

/* The whole snapshot, a line an event. */
static const char *print(struct snapshot *snapshot)
{
    struct snapshot_event event = {0};
    uint32_t oid = 0;

    wr_buffer_init(&text, 1 << 20);
    for (event = next(snapshot); event.kind != SNAPSHOT_DONE; event = next(snapshot)) {
        if (event.kind == SNAPSHOT_PART) {
            continue;
        }
        if (event.kind == SNAPSHOT_TABLE) {
            oid = event.relation->oid;
            print_relation(event.relation);
            wr_arena_free(event.relation->arena);
        } else {
            cr_expect_eq(event.relation_oid, oid);
            print_row(&event);
        }
    }
    cr_expect_eq(next(snapshot).kind, SNAPSHOT_DONE, "the end stays the end");
    wr_buffer_add_char(&text, '\0');
    return text.data;
}

static void close_all(struct snapshot *snapshot)
{
    wr_buffer_done(&text);
    snapshot_close(snapshot);
    stream_close(stream);
    fixture_close(&f);
}

Test(snapshot, marks_rows_across_tables_and_skips_empty_ones)
{
    fixture_open(&f, "snapshot_markers");
    pg_exec(f.sql, "create table c(id int primary key, name text);"
                   "insert into c values (1, 'Ana'), (2, null), (3, 'Cy');"
                   "create table d_empty(id int); create table e_single(id int);"
                   "insert into e_single values (1); create table n(a int);"
                   "insert into n values (5), (5); create table z_empty(id int);"
                   "create publication wr_pub for all tables");
    struct snapshot *snapshot = open_snapshot(capture_public);
    pg_exec(f.sql, "insert into c values (4, 'after'); insert into z_empty values (1)");
    cr_expect_str_eq(print(snapshot), "public.c d: *id/23/-1 name/25/-1\n"
                                      "first|1|Ana\ntrue|2|NULL\nlast_in|3|Cy\n"
                                      "public.e_single d: id/23/-1\nlast_in|1\n"
                                      "public.n d: a/23/-1\nfirst_in|5\nlast|5\n");
    cr_expect_gt(snapshot_xid(snapshot), 0);
    close_all(snapshot);
}

Test(snapshot, a_single_row_is_the_last_and_no_row_is_done)
{
    fixture_open(&f, "snapshot_single");
    pg_exec(f.sql, "create table a(id int); create table b(id int); insert into b values (7);"
                   "create publication wr_pub for all tables");
    struct snapshot *snapshot = open_snapshot(capture_public);
    cr_expect_str_eq(print(snapshot), "public.b d: id/23/-1\nlast|7\n");
    close_all(snapshot);

    fixture_open(&f, "snapshot_single");
    pg_exec(f.sql, "create table a(id int); create publication wr_pub for all tables");
    snapshot = open_snapshot(capture_public);
    cr_expect_str_eq(print(snapshot), "");
    close_all(snapshot);
}

Test(snapshot, keeps_awkward_data_as_it_is)
{
    fixture_open(&f, "snapshot_awkward");
    pg_exec(f.sql, "create table t(id int, v text); create publication wr_pub for table t;"
                   "insert into t values (1, E'tab\\there'), (2, E'line\\nfeed\\r'),"
                   " (3, E'back\\\\slash'), (4, E'\\\\N'), (5, null), (6, ''), (7, 'q\"''é😀'),"
                   " (8, E'\\b\\f\\x0b\\x01\\x7f'), (9, E'\\\\.')");
    struct snapshot *snapshot = open_snapshot(capture_public);
    cr_expect_str_eq(print(snapshot),
                     "public.t d: id/23/-1 v/25/-1\nfirst|1|tab\there\ntrue|2|line\nfeed\r\n"
                     "true|3|back\\slash\ntrue|4|\\N\ntrue|5|NULL\ntrue|6|\ntrue|7|q\"'é😀\n"
                     "true|8|\b\f\v\x01\x7f\nlast|9|\\.\n");
    close_all(snapshot);
}

Test(snapshot, quotes_every_name)
{
    fixture_open(&f, "snapshot_names");
    pg_exec(f.sql,
            "create schema \"Sch.ema\"; create table \"Sch.ema\".\"Ord\"\"er s\""
            "(\"Id\" int primary key, \"a.b\" text, \"Ünï \"\"q\"\" ☃\" int, \"select\" text);"
            "insert into \"Sch.ema\".\"Ord\"\"er s\" values (0, 'snap', 0, 's');"
            "create table \"注文\"(id int); insert into \"注文\" values (1);"
            "create publication \"Wr Pub,x\" for all tables");
    f.config.publication_name = "Wr Pub,x";
    struct snapshot *snapshot = open_snapshot(capture_all);
    cr_expect_str_eq(print(snapshot),
                     "Sch.ema.Ord\"er s d: *Id/23/-1 a.b/25/-1 Ünï \"q\" ☃/23/-1 select/25/-1\n"
                     "first|0|snap|0|s\npublic.注文 d: id/23/-1\nlast|1\n");
    close_all(snapshot);
}

Test(snapshot, keeps_to_column_lists_row_filters_and_generated_columns)
{
    fixture_open(&f, "snapshot_lists");
    pg_exec(f.sql, "create table p(id int primary key, ssn text, name text,"
                   " up text generated always as (upper(name)) stored, age int);"
                   "insert into p values (1, 'secret', 'ann', default, 30),"
                   " (2, 'secret', 'kid', default, 5), (100, 'secret', 'out', default, 1);"
                   "create table g(id int, twice int generated always as (id * 2) stored);"
                   "insert into g values (1);"
                   "create publication wr_pub for table g, p (id, name, age) where (id < 100)");
    struct snapshot *snapshot = open_snapshot(capture_public);
    cr_expect_str_eq(print(snapshot),
                     "public.g d: id/23/-1\nfirst|1\n"
                     "public.p d: *id/23/-1 name/25/-1 age/23/-1\nfirst_in|1|ann|30\n"
                     "last|2|kid|5\n");
    close_all(snapshot);
}

/* Each table's Relation message and its snapshot relation have to say the same. */
Test(snapshot, describes_tables_as_relation_messages_do)
{
    fixture_open(&f, "snapshot_relations");
    pg_exec(
        f.sql,
        "create domain d_num as numeric(9, 3);"
        "create table r1(v varchar(7), id int, k int, gone int, primary key (k, id) include (v));"
        "alter table r1 drop gone;"
        "create table r2(a int primary key, code text not null, v d_num);"
        "create unique index r2_code on r2(code);"
        "alter table r2 replica identity using index r2_code;"
        "create table r3(v text, n timestamp(3)); alter table r3 replica identity full;"
        "create table r4(id int primary key, b bit(5)); alter table r4 replica identity nothing;"
        "create publication wr_pub for all tables with (publish = 'insert');"
        "insert into r1 values ('x', 1, 2); insert into r2 values (1, 'c', 1);"
        "insert into r3 values ('x', now()); insert into r4 values (1, '10101')");
    struct snapshot *snapshot = open_snapshot(capture_public);
    struct relation *described[4] = {0};
    size_t count = 0;
    for (struct snapshot_event e = next(snapshot); e.kind != SNAPSHOT_DONE; e = next(snapshot)) {
        if (e.kind == SNAPSHOT_TABLE) {
            cr_assert_lt(count, 4);
            described[count++] = e.relation;
        }
    }
    cr_assert_eq(count, 4);
    struct catalog *catalog = catalog_new(&f.config);
    cr_assert_eq(catalog_keep_slot(catalog, SNAPSHOT_SLOT_TEMPORARY, &f.err), WR_OK, "%s",
                 f.err.text);
    catalog_free(catalog);
    cr_assert_eq(stream_drop_snapshot_slot(stream, SNAPSHOT_SLOT_TEMPORARY, &f.err), WR_OK, "%s",
                 f.err.text);
    cr_assert_eq(stream_start(stream, 0, false, &f.err), WR_OK, "%s", f.err.text);
    pg_exec(f.sql, "insert into r1 values ('x', 2, 2); insert into r2 values (2, 'd', 1);"
                   "insert into r3 values ('x', now()); insert into r4 values (2, '10101')");
    for (size_t i = 0; i < count; i++) {
        struct stream_event event = next_message(&f, stream, 'R');
        struct wr_arena *arena = wr_arena_new(1 << 20);
        struct relation relation = {0};
        struct wr_cursor in;
        wr_cursor_init(&in, event.payload.data + 1, event.payload.size - 1);
        cr_assert_eq(relation_decode(&in, arena, &relation, &f.err), WR_OK, "%s", f.err.text);
        wr_buffer_init(&text, 1 << 16);
        print_relation(&relation);
        print_relation(described[i]);
        size_t half = text.size / 2;
        cr_expect(text.size % 2 == 0 && memcmp(text.data, text.data + half, half) == 0, "%.*s",
                  (int)text.size, text.data);
        cr_expect_eq(relation.oid, described[i]->oid);
        wr_buffer_done(&text);
        wr_arena_free(arena);
        wr_arena_free(described[i]->arena);
    }
    close_all(snapshot);
}

static const char *const PARTED = "create table parted(id int, region text) partition by list"
                                  " (region);"
                                  "create table parted_eu partition of parted for values in ('eu');"
                                  "create table parted_us partition of parted for values in ('us');"
                                  "insert into parted values (1, 'eu'), (2, 'us');"
                                  "create table base(id int); create table kid() inherits (base);"
                                  "insert into base values (3); insert into kid values (4);";

Test(snapshot, copies_leaves_and_each_inherited_row_once)
{
    fixture_open(&f, "snapshot_leaves");
    pg_exec(f.sql, PARTED);
    pg_exec(f.sql, "create publication wr_pub for all tables");
    struct snapshot *snapshot = open_snapshot(capture_public);
    cr_expect_str_eq(print(snapshot),
                     "public.base d: id/23/-1\nfirst|3\npublic.kid d: id/23/-1\nlast_in|4\n"
                     "public.parted_eu d: id/23/-1 region/25/-1\nlast_in|1|eu\n"
                     "public.parted_us d: id/23/-1 region/25/-1\nlast|2|us\n");
    close_all(snapshot);
}

Test(snapshot, copies_a_root_once)
{
    fixture_open(&f, "snapshot_root");
    pg_exec(f.sql, PARTED);
    pg_exec(f.sql, "create publication wr_pub for table parted"
                   " with (publish_via_partition_root = true)");
    struct snapshot *snapshot = open_snapshot(capture_public);
    cr_expect_str_eq(print(snapshot), "public.parted d: id/23/-1 region/25/-1\nfirst|1|eu\n"
                                      "last|2|us\n");
    close_all(snapshot);
}

Test(snapshot, ignores_timeouts_that_the_database_sets)
{
    fixture_open(&f, "snapshot_timeouts");
    pg_exec(f.sql,
            "alter database snapshot_timeouts set statement_timeout = '200ms';"
            "alter database snapshot_timeouts set idle_in_transaction_session_timeout = '200ms';"
            "create table w(id int primary key, v text);"
            "insert into w select g, repeat('w', 300) from generate_series(1, 100000) g;"
            "create publication wr_pub for table w");
    struct snapshot *snapshot = open_snapshot(capture_public);
    size_t rows = 0;
    sleep_ms(500);
    for (struct snapshot_event e = next(snapshot); e.kind != SNAPSHOT_DONE; e = next(snapshot)) {
        if (e.kind == SNAPSHOT_TABLE) {
            wr_arena_free(e.relation->arena);
        } else if (e.kind == SNAPSHOT_ROW && rows++ == 1000) {
            sleep_ms(500);
        }
    }
    cr_expect_eq(rows, 100000);
    close_all(snapshot);
}

Test(snapshot, names_every_right_that_is_missing)
{
    fixture_open(&f, "snapshot_rights");
    struct snapshot_options options = {.filter.is_captured = capture_all};
    struct snapshot *snapshot = NULL;
    wr_lsn lsn = 0;
    pg_exec(f.sql, "create table a(id int); create table b(id int); create table ok(id int);"
                   "create schema \"S\"; create table \"S\".c(id int);"
                   "drop role if exists snapshot_low; create role snapshot_low login replication;"
                   "grant select on ok to snapshot_low; create publication wr_pub for all tables");
    f.pairs[2].value = "snapshot_low";
    cr_assert_eq(stream_connect(&f.config, &stream, &f.err), WR_OK, "%s", f.err.text);
    cr_assert_eq(stream_create_snapshot_slot(stream, SNAPSHOT_SLOT_TEMPORARY,
                                             &options.snapshot_name, &lsn, &f.err),
                 WR_OK, "%s", f.err.text);
    cr_expect_eq(snapshot_open(&f.config, &options, &snapshot, &f.err), WR_FATAL);
    cr_expect(strstr(f.err.text, "run: GRANT USAGE ON SCHEMA \"S\" TO \"snapshot_low\"; "
                                 "GRANT SELECT ON \"S\".c TO \"snapshot_low\"; "
                                 "GRANT SELECT ON public.a TO \"snapshot_low\"; "
                                 "GRANT SELECT ON public.b TO \"snapshot_low\"; ") != NULL,
              "%s", f.err.text);
    pg_exec(f.sql, "drop owned by snapshot_low; drop role snapshot_low");
    close_all(snapshot);
}

Test(snapshot, a_snapshot_that_is_gone_is_tried_again)
{
    fixture_open(&f, "snapshot_gone");
    struct snapshot_options options = {.snapshot_name = "00000003-0000001B-9",
                                       .filter.is_captured = capture_all};
    struct snapshot *snapshot = NULL;

    cr_expect_eq(snapshot_open(&f.config, &options, &snapshot, &f.err), WR_RETRY);
    cr_expect_null(snapshot);
    fixture_close(&f);
}

Test(snapshot, row_security_stops_it_rather_than_hide_rows)
{
    fixture_open(&f, "snapshot_rls");
    pg_exec(f.sql, "create table t(id int); insert into t values (1);"
                   "alter table t enable row level security; create publication wr_pub for table t;"
                   "drop role if exists snapshot_rls; create role snapshot_rls login replication;"
                   "grant select on t to snapshot_rls");
    f.pairs[2].value = "snapshot_rls";
    struct snapshot *snapshot = open_snapshot(capture_public);
    struct snapshot_event event = {0};
    enum wr_status status = WR_AGAIN;
    while ((status = snapshot_next(snapshot, &event, &f.err)) == WR_AGAIN) {
        cr_assert(wait_readable(snapshot_fd(snapshot), FIXTURE_WAIT_MS), "nothing comes");
        cr_assert_eq(snapshot_consume(snapshot, &f.err), WR_OK, "%s", f.err.text);
    }
    cr_expect_eq(status, WR_FATAL);
    cr_expect(strstr(f.err.text, "public.t") != NULL, "%s", f.err.text);
    pg_exec(f.sql, "drop owned by snapshot_rls; drop role snapshot_rls");
    close_all(snapshot);
}
