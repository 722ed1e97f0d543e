/*
 * Bugs that people met in relays of this kind: keys and identities, truncates, odd names, odd
 * outbox rows. Each case in the field is one kind; its tests here try the kind, not its one report.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/records.h"
#include "support/topic.h"

static struct live l;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&l);
    records_done(&records);
}

TestSuite(field_cases, .fini = tear_down);

/* Streams while `script` runs, until all of it is confirmed; then its records are in `records`. */
static void publish(const char *script)
{
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);

    live_stream(&l);
    live_run(&l, script);
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
}

/* "<topic.prefix>.<rest>" */
static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

/* Identities and keys. */

Test(field_cases, full_identity_keeps_the_primary_key_as_key)
{
    live_open(&l, "field_identity_full");
    live_run(&l, "create table rf (gone int, v text, id int, k int, primary key (k, id));"
                 "alter table rf drop column gone;"
                 "alter table rf replica identity full;"
                 "create publication wr_pub for table rf;");
    publish("insert into rf values ('x', 1, 2);"
            "update rf set v = 'y';"
            "update rf set id = 7;"
            "delete from rf;");
    expect_events(&records, topic("public.rf"),
                  "{\"k\":2,\"id\":1} c null -> {\"v\":\"x\",\"id\":1,\"k\":2}\n"
                  "{\"k\":2,\"id\":1} u {\"v\":\"x\",\"id\":1,\"k\":2} ->"
                  " {\"v\":\"y\",\"id\":1,\"k\":2}\n"
                  "{\"k\":2,\"id\":1} d {\"v\":\"y\",\"id\":1,\"k\":2} -> null"
                  " [__debezium.newkey={\"k\":2,\"id\":7}]\n"
                  "{\"k\":2,\"id\":1} - [__debezium.newkey={\"k\":2,\"id\":7}]\n"
                  "{\"k\":2,\"id\":7} c null -> {\"v\":\"y\",\"id\":7,\"k\":2}"
                  " [__debezium.oldkey={\"k\":2,\"id\":1}]\n"
                  "{\"k\":2,\"id\":7} d {\"v\":\"y\",\"id\":7,\"k\":2} -> null\n"
                  "{\"k\":2,\"id\":7} -\n");
}

Test(field_cases, index_identity_gives_a_row_one_key_for_life)
{
    live_open(&l, "field_identity_index");
    live_run(&l, "create table ri (a int primary key, code text not null, v text);"
                 "create unique index ri_code on ri (code);"
                 "alter table ri replica identity using index ri_code;"
                 "create publication wr_pub for table ri;");
    publish("insert into ri values (1, 'c1', 'x');"
            "update ri set v = 'y';"
            "update ri set a = 9;"
            "delete from ri;");
    expect_events(&records, topic("public.ri"),
                  "{\"code\":\"c1\"} c null -> {\"a\":1,\"code\":\"c1\",\"v\":\"x\"}\n"
                  "{\"code\":\"c1\"} u null -> {\"a\":1,\"code\":\"c1\",\"v\":\"y\"}\n"
                  "{\"code\":\"c1\"} u null -> {\"a\":9,\"code\":\"c1\",\"v\":\"y\"}\n"
                  "{\"code\":\"c1\"} d {\"a\":0,\"code\":\"c1\",\"v\":null} -> null\n"
                  "{\"code\":\"c1\"} -\n");
}

Test(field_cases, full_identity_without_a_key_has_whole_rows_and_no_tombstones)
{
    live_open(&l, "field_identity_nokey");
    live_run(&l, "create table nopkf (v text, n int);"
                 "alter table nopkf replica identity full;"
                 "create publication wr_pub for table nopkf;");
    publish("insert into nopkf values ('d', 1), ('d', 1);"
            "delete from nopkf where ctid = (select min(ctid) from nopkf);"
            "update nopkf set n = 2;");
    expect_events(&records, topic("public.nopkf"),
                  "null c null -> {\"v\":\"d\",\"n\":1}\n"
                  "null c null -> {\"v\":\"d\",\"n\":1}\n"
                  "null d {\"v\":\"d\",\"n\":1} -> null\n"
                  "null u {\"v\":\"d\",\"n\":1} -> {\"v\":\"d\",\"n\":2}\n");
    expect_no_log(&l, "insert only");
}

/* Their updates cannot be published: PostgreSQL itself has no row to name. Said once, at the start.
 */
Test(field_cases, tables_whose_updates_cannot_be_published_are_named)
{
    live_open(&l, "field_identity_none");
    live_run(&l, "create table nopk (v text, n int);"
                 "create table nothing (id int primary key, n int);"
                 "alter table nothing replica identity nothing;"
                 "create table fine (id int primary key);"
                 "create publication wr_pub for table nopk, nothing, fine"
                 " with (publish = 'insert');");
    publish("insert into nopk values ('x', 1);"
            "update nopk set n = 2;"
            "insert into nothing values (1, 1);"
            "update nothing set n = 2;");
    expect_events(&records, topic("public.nopk"), "null c null -> {\"v\":\"x\",\"n\":1}\n");
    expect_events(&records, topic("public.nothing"), "{\"id\":1} c null -> {\"id\":1,\"n\":1}\n");
    cr_expect_eq(live_log_count(&l, "insert only"), 2, "%s", live_log(&l));
    expect_log(&l, "table=public.nopk");
    expect_log(&l, "table=public.nothing");
    expect_no_log(&l, "table=public.fine");
}

/* Keys that move. */

#define KEY_MOVES                                                                                  \
    "update pk set b = 'z' where a = 2;"                                                           \
    "update pk set a = a, v = 'v2b' where a = 2;"                                                  \
    "begin;"                                                                                       \
    "update pk set a = 3 where a = 1;"                                                             \
    "update pk set a = 1, b = 'x' where a = 2;"                                                    \
    "update pk set a = 2, b = 'z' where a = 3;"                                                    \
    "commit;"

static void make_moving_keys(void)
{
    live_run(&l, "create table pk (a int, b text, v text, primary key (a, b));"
                 "create publication wr_pub for table pk;"
                 "insert into pk values (1, 'x', 'v1'), (2, 'x', 'v2');");
}

Test(field_cases, a_moved_key_is_deleted_and_made_anew_before_anything_else)
{
    live_open(&l, "field_key_moves");
    make_moving_keys();
    publish(KEY_MOVES);
#define MOVED(a1, b1, a2, b2, v)                                                                   \
    "{\"a\":" a1 ",\"b\":\"" b1 "\"} d {\"a\":" a1 ",\"b\":\"" b1 "\",\"v\":null} -> null"         \
    " [__debezium.newkey={\"a\":" a2 ",\"b\":\"" b2 "\"}]\n"                                       \
    "{\"a\":" a1 ",\"b\":\"" b1 "\"} -"                                                            \
    " [__debezium.newkey={\"a\":" a2 ",\"b\":\"" b2 "\"}]\n"                                       \
    "{\"a\":" a2 ",\"b\":\"" b2 "\"} c null -> {\"a\":" a2 ",\"b\":\"" b2 "\",\"v\":\"" v "\"}"    \
    " [__debezium.oldkey={\"a\":" a1 ",\"b\":\"" b1 "\"}]\n"
    expect_events(&records, topic("public.pk"),
                  MOVED("2", "x", "2", "z", "v2") "{\"a\":2,\"b\":\"z\"} u null -> "
                                                  "{\"a\":2,\"b\":\"z\",\"v\":\"v2b\"}\n" MOVED(
                                                      "1", "x", "3", "x", "v1")
                                                      MOVED("2", "z", "1", "x", "v2b")
                                                          MOVED("3", "x", "2", "z", "v1"));
#undef MOVED
}

/* What a consumer holds of a key that has read its partition to the end; "" when it was deleted. */
static const char *last_of(const char *name, const char *key)
{
    static char value[4096];

    value[0] = '\0';
    for (size_t i = 0; i < records.count; i++) {
        const struct kafka_record *record = &records.items[i];
        if (wr_slice_is(record->topic, name) && wr_slice_is(record->key, key)) {
            snprintf(value, sizeof(value), "%.*s", (int)record->value.size, record->value.data);
        }
    }
    return value;
}

Test(field_cases, a_map_of_last_values_is_the_table_after_swapped_keys)
{
    live_open(&l, "field_key_swaps");
    make_moving_keys();
    live_set(&l, "snapshot.mode=initial");
    topic_create(l.services.bootstrap, topic("public.pk"), 4, NULL);
    publish(KEY_MOVES);
    cr_expect_not_null(strstr(last_of(topic("public.pk"), "{\"a\":1,\"b\":\"x\"}"), "\"v2b\""));
    cr_expect_not_null(strstr(last_of(topic("public.pk"), "{\"a\":2,\"b\":\"z\"}"), "\"v1\""));
    cr_expect_str_empty(last_of(topic("public.pk"), "{\"a\":2,\"b\":\"x\"}"));
    cr_expect_str_empty(last_of(topic("public.pk"), "{\"a\":3,\"b\":\"x\"}"));
}

Test(field_cases, a_moved_key_needs_no_tombstone_to_be_two_events)
{
    live_open(&l, "field_key_no_tombstone");
    live_run(&l, "create table pk (id int primary key);"
                 "create publication wr_pub for table pk;");
    live_set(&l, "tombstones.on.delete=false");
    publish("insert into pk values (1); update pk set id = 2; delete from pk;");
    expect_events(&records, topic("public.pk"),
                  "{\"id\":1} c null -> {\"id\":1}\n"
                  "{\"id\":1} d {\"id\":1} -> null [__debezium.newkey={\"id\":2}]\n"
                  "{\"id\":2} c null -> {\"id\":2} [__debezium.oldkey={\"id\":1}]\n"
                  "{\"id\":2} d {\"id\":2} -> null\n");
}

/* TRUNCATE. */

#define TRUNCATES                                                                                  \
    "begin;"                                                                                       \
    "insert into par values (2);"                                                                  \
    "truncate par, other restart identity cascade;"                                                \
    "insert into par values (3);"                                                                  \
    "commit;"                                                                                      \
    "truncate other;"

static void make_truncated_tables(void)
{
    live_run(&l, "create table par (id int primary key);"
                 "create table kid (id int primary key, p int references par);"
                 "create table other (id int);"
                 "create publication wr_pub for table par, kid;"
                 "insert into par values (1);"
                 "insert into kid values (1, 1);");
}

Test(field_cases, a_skipped_truncate_names_its_tables_and_the_slot_moves_on)
{
    live_open(&l, "field_truncate_skipped");
    make_truncated_tables();
    publish(TRUNCATES);
    expect_events(&records, topic("public.par"),
                  "{\"id\":2} c null -> {\"id\":2}\n{\"id\":3} c null -> {\"id\":3}\n");
    expect_events(&records, topic("public.kid"), "");
    expect_log(&l, "table=public.par");
    expect_log(&l, "table=public.kid");
    expect_no_log(&l, "public.other");
}

Test(field_cases, a_truncate_is_one_event_a_published_table_in_its_place)
{
    live_open(&l, "field_truncate");
    make_truncated_tables();
    live_set(&l, "skipped.operations=none");
    publish(TRUNCATES);
    expect_events(&records, topic("public.par"),
                  "{\"id\":2} c null -> {\"id\":2}\n"
                  "null t null -> null\n"
                  "{\"id\":3} c null -> {\"id\":3}\n");
    expect_events(&records, topic("public.kid"), "null t null -> null\n");
    expect_events(&records, topic("public.other"), "");
}

Test(field_cases, a_truncate_of_a_table_that_is_filtered_out_stays_quiet)
{
    live_open(&l, "field_truncate_filtered");
    make_truncated_tables();
    live_set(&l, "skipped.operations=none");
    live_set(&l, "table.include.list=public.par");
    publish(TRUNCATES);
    expect_events(&records, topic("public.kid"), "");
    cr_expect_not_null(strstr(events_of(&records, topic("public.par")), "null t null -> null\n"));
}

/* Names. */

#define ODD_TABLE "\"Sch.ema\".\"Ord\"\"er s\""

static void make_odd_tables(void)
{
    live_run(&l, "create schema \"Sch.ema\";"
                 "create table " ODD_TABLE " (\"Id\" int primary key, \"a.b\" text,"
                 " \"Ünï \"\"q\"\" ☃\" int, \"select\" text);"
                 "create table \"foo@bar\" (id int primary key);"
                 "create table \"foo$bar\" (id int primary key);"
                 "create table \"注文\" (id int primary key);"
                 "create table \"注文2\" (id int primary key);"
                 "insert into " ODD_TABLE " values (0, 'snap', 0, 's');");
}

#define ODD_ROW(id, ab, snow, select)                                                              \
    "{\"Id\":" id ",\"a.b\":\"" ab "\",\"Ünï \\\"q\\\" ☃\":" snow ",\"select\":" select "}"

Test(field_cases, names_are_quoted_for_sql_exact_in_json_and_made_valid_for_topics)
{
    live_open(&l, "field_names");
    make_odd_tables();
    live_run(&l, "create publication \"Wr Pub,x\" for all tables;");
    live_set(&l, "publication.name=Wr Pub,x");
    live_set(&l, "snapshot.mode=initial");
    publish("insert into " ODD_TABLE " values (1, 'x', 2, 'y');"
            "update " ODD_TABLE " set \"select\" = null;"
            "insert into \"foo@bar\" values (1);"
            "insert into \"foo$bar\" values (2);"
            "insert into \"注文\" values (1);"
            "insert into \"注文2\" values (1);");
    expect_events(
        &records, topic("Sch.ema.Ord_er_s"),
        "{\"Id\":0} r null -> " ODD_ROW(
            "0", "snap", "0", "\"s\"") "\n"
                                       "{\"Id\":1} c null -> " ODD_ROW(
                                           "1", "x", "2",
                                           "\"y\"") "\n"
                                                    "{\"Id\":0} u null -> " ODD_ROW(
                                                        "0", "snap", "0",
                                                        "null") "\n"
                                                                "{\"Id\":1} u null -> " ODD_ROW(
                                                                    "1", "x", "2", "null") "\n");
    expect_events(&records, topic("public.__"), "{\"id\":1} c null -> {\"id\":1}\n");
    expect_events(&records, topic("public.__2"), "{\"id\":1} c null -> {\"id\":1}\n");
    const char *value = last_of(topic("Sch.ema.Ord_er_s"), "{\"Id\":0}");
    cr_expect_not_null(strstr(value, "\"schema\":\"Sch.ema\",\"table\":\"Ord\\\"er s\""), "%s",
                       value);
}

/* Two tables of one topic would merge without anyone noticing. */
Test(field_cases, names_that_become_one_topic_are_said_with_both_tables)
{
    live_open(&l, "field_names_merge");
    make_odd_tables();
    live_run(&l, "create publication wr_pub for all tables;");
    publish("insert into \"foo@bar\" values (1);"
            "insert into \"foo$bar\" values (2);"
            "insert into \"foo@bar\" values (3);"
            "insert into \"注文\" values (1);");
    expect_events(&records, topic("public.foo_bar"),
                  "{\"id\":1} c null -> {\"id\":1}\n"
                  "{\"id\":2} c null -> {\"id\":2}\n"
                  "{\"id\":3} c null -> {\"id\":3}\n");
    const char *both = strstr(live_log(&l), "foo$bar");
    cr_assert_not_null(both, "%s", live_log(&l));
    cr_expect_not_null(strstr(live_log(&l), "foo@bar"), "%s", live_log(&l));
    cr_expect_eq(live_log_count(&l, "注文"), 1, "%s", live_log(&l));
}

Test(field_cases, lists_can_name_what_has_quotes_dots_and_blanks)
{
    live_open(&l, "field_names_lists");
    make_odd_tables();
    live_set(&l, "publication.autocreate.mode=filtered");
    live_set(&l, "table.include.list=Sch\\.ema\\.Ord\"er s,public\\.foo@bar");
    live_set(&l, "column.exclude.list=Sch\\.ema\\.Ord\"er s\\.a\\.b");
    publish("insert into " ODD_TABLE " values (1, 'x', 2, 'y');"
            "insert into \"foo@bar\" values (1);"
            "insert into \"foo$bar\" values (2);");
    expect_events(&records, topic("Sch.ema.Ord_er_s"),
                  "{\"Id\":1} c null -> {\"Id\":1,\"Ünï \\\"q\\\" ☃\":2,\"select\":\"y\"}\n");
    expect_events(&records, topic("public.foo_bar"), "{\"id\":1} c null -> {\"id\":1}\n");
    cr_expect_str_eq(pg_query(l.sql, "select string_agg(tablename, ' ' order by tablename)"
                                     " from pg_publication_tables where pubname = 'wr_pub'"),
                     "Ord\"er s foo@bar");
}
