/*
 * What versions of PostgreSQL do in ways of their own, and what somebody may change about slots,
 * publications and identities while the stream runs. A test that needs a later version than the
 * one of this run is skipped; tests/run runs this file on each of them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/process.h"
#include "support/records.h"
#include "support/server.h"

enum { INVALIDATED_TIMEOUT_MS = 60000 };

static struct live l;
static struct server server;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&l);
    server_close(&server);
    records_done(&records);
}

TestSuite(versions, .fini = tear_down, .timeout = 300);

static bool is_since(int version)
{
    return atoi(pg_query(l.sql, "show server_version_num")) >= version * 10000;
}

/* For a test that makes no sense on what came before. */
static void need(int version)
{
    if (!is_since(version)) {
        cr_skip_test("needs PostgreSQL %d", version);
    }
}

/* Everything that is published from the start of walrelay to the end of `script`. */
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

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

/* Generated columns. */

#define GENERATED                                                                                  \
    "create table p (id int primary key, name text,"                                               \
    " up text generated always as (upper(name)) stored, age int);"

Test(versions, generated_columns_stay_out_of_snapshot_and_stream)
{
    live_open(&l, "versions_generated_none");
    live_set(&l, "snapshot.mode=initial");
    live_run(&l, GENERATED "create publication wr_pub for table p;"
                           "insert into p values (1, 'ann', default, 30);");
    publish("insert into p values (2, 'bob', default, 40);"
            "update p set name = 'bo' where id = 2;");
    expect_events(&records, topic("public.p"),
                  "{\"id\":1} r null -> {\"id\":1,\"name\":\"ann\",\"age\":30}\n"
                  "{\"id\":2} c null -> {\"id\":2,\"name\":\"bob\",\"age\":40}\n"
                  "{\"id\":2} u null -> {\"id\":2,\"name\":\"bo\",\"age\":40}\n");
}

Test(versions, generated_columns_come_where_the_publication_says_so)
{
    live_open(&l, "versions_generated_stored");
    need(18);
    live_set(&l, "snapshot.mode=initial");
    live_run(&l, GENERATED "alter table p add virt text generated always as (lower(name)) virtual;"
                           "create publication wr_pub for table p"
                           " with (publish_generated_columns = stored);"
                           "insert into p values (1, 'Ann', default, 30);");
    publish("insert into p values (2, 'Bob', default, 40);"
            "alter publication wr_pub set (publish_generated_columns = none);"
            "insert into p values (3, 'Cid', default, 50);"
            "alter publication wr_pub set (publish_generated_columns = stored);"
            "update p set name = 'Cy' where id = 3;");
    expect_events(&records, topic("public.p"),
                  "{\"id\":1} r null -> {\"id\":1,\"name\":\"Ann\",\"up\":\"ANN\",\"age\":30}\n"
                  "{\"id\":2} c null -> {\"id\":2,\"name\":\"Bob\",\"up\":\"BOB\",\"age\":40}\n"
                  "{\"id\":3} c null -> {\"id\":3,\"name\":\"Cid\",\"age\":50}\n"
                  "{\"id\":3} u null -> {\"id\":3,\"name\":\"Cy\",\"up\":\"CY\",\"age\":50}\n");
}

/* A column list counts more than publish_generated_columns. */
Test(versions, a_column_list_may_name_a_generated_column)
{
    live_open(&l, "versions_generated_list");
    need(18);
    live_set(&l, "snapshot.mode=initial");
    live_run(&l, GENERATED "create publication wr_pub for table p (id, up);"
                           "insert into p values (1, 'ann', default, 30);");
    publish("insert into p values (2, 'bob', default, 40);");
    expect_events(&records, topic("public.p"),
                  "{\"id\":1} r null -> {\"id\":1,\"up\":\"ANN\"}\n"
                  "{\"id\":2} c null -> {\"id\":2,\"up\":\"BOB\"}\n");
}

/*
 * Publications.
 *
 * Before 18 the server ends the stream at the first change that no publication decides. Since 18
 * it warns, sends nothing of the change, and goes on: who took no notice would lose it.
 */
Test(versions, a_publication_that_is_dropped_in_mid_stream_stops_before_the_next_change)
{
    live_open(&l, "versions_dropped");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    live_stream(&l);
    live_run(&l, "insert into t values (1);");
    live_wait_confirmed(&l);
    live_run(&l, "drop publication wr_pub; insert into t values (2);");
    const char *lsn = pg_query(l.sql, "select pg_current_wal_flush_lsn()");
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "wr_pub");
    expect_log(&l, "drop the slot and start again");
    cr_expect_str_eq(pg_queryf(l.sql,
                               "select confirmed_flush_lsn < '%s' from pg_replication_slots"
                               " where slot_name = '%s'",
                               lsn, l.slot),
                     "t");
}

Test(versions, a_publication_made_after_the_changes_does_not_pass_over_them)
{
    live_open(&l, "versions_late");
    live_run(&l, "create table t (id int primary key);");
    pg_queryf(l.sql, "select pg_create_logical_replication_slot('%s', 'pgoutput')", l.slot);
    live_run(&l, "insert into t values (1); create publication wr_pub for table t;"
                 "insert into t values (2);");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "drop the slot and start again");
}

Test(versions, column_lists_and_row_filters_that_change_count_from_there_on)
{
    live_open(&l, "versions_lists");
    live_set(&l, "snapshot.mode=initial");
    live_run(&l, "create table p (id int primary key, ssn text, name text);"
                 "create publication wr_pub for table p (id, name) where (id < 100);"
                 "insert into p values (1, 'secret', 'ann'), (101, 'secret', 'out');");
    publish("insert into p values (2, 'secret', 'bob'), (102, 'secret', 'out');"
            "update p set id = 103 where id = 2;" /* it leaves the filter */
            "update p set id = 3 where id = 102;" /* it comes in */
            "alter publication wr_pub set table p (id) where (id > 100);"
            "update p set ssn = 's2' where id in (1, 101);"
            "alter publication wr_pub set table p;"
            "update p set ssn = 's3' where id = 1;");
    expect_events(&records, topic("public.p"),
                  "{\"id\":1} r null -> {\"id\":1,\"name\":\"ann\"}\n"
                  "{\"id\":2} c null -> {\"id\":2,\"name\":\"bob\"}\n"
                  "{\"id\":2} d {\"id\":2,\"name\":null} -> null\n"
                  "{\"id\":2} -\n"
                  "{\"id\":3} c null -> {\"id\":3,\"name\":\"out\"}\n"
                  "{\"id\":101} u null -> {\"id\":101}\n"
                  "{\"id\":1} u null -> {\"id\":1,\"ssn\":\"s3\",\"name\":\"ann\"}\n");
}

/* Identities. */

Test(versions, an_identity_that_changes_in_mid_stream_counts_from_there_on)
{
    live_open(&l, "versions_identity");
    live_run(&l, "create table t (id int primary key, code text not null, v text);"
                 "create unique index t_code on t (code);"
                 "create publication wr_pub for table t;");
    publish("insert into t values (1, 'c1', 'x');"
            "update t set v = 'y';"
            "alter table t replica identity full;"
            "update t set v = 'z';"
            "alter table t replica identity using index t_code;"
            "update t set v = 'w';"
            "alter table t replica identity nothing;"
            "insert into t values (2, 'c2', 'n');"
            "alter table t replica identity default;"
            "delete from t where id = 1;");
    expect_events(&records, topic("public.t"),
                  "{\"id\":1} c null -> {\"id\":1,\"code\":\"c1\",\"v\":\"x\"}\n"
                  "{\"id\":1} u null -> {\"id\":1,\"code\":\"c1\",\"v\":\"y\"}\n"
                  "{\"id\":1} u {\"id\":1,\"code\":\"c1\",\"v\":\"y\"} ->"
                  " {\"id\":1,\"code\":\"c1\",\"v\":\"z\"}\n"
                  "{\"code\":\"c1\"} u null -> {\"id\":1,\"code\":\"c1\",\"v\":\"w\"}\n"
                  "{\"id\":2} c null -> {\"id\":2,\"code\":\"c2\",\"v\":\"n\"}\n"
                  "{\"id\":1} d {\"id\":1,\"code\":\"\",\"v\":null} -> null\n"
                  "{\"id\":1} -\n");
}

/* Partitions: with its columns in another order, one that was cast aside, and a change of view. */

#define PARTITIONS                                                                                 \
    "create table m (id int, region text, v text, primary key (id, region))"                       \
    " partition by list (region);"                                                                 \
    "create table m_eu partition of m for values in ('eu');"                                       \
    "create table m_us (v text, gone int, region text not null, id int not null);"                 \
    "alter table m_us drop column gone;"

Test(versions, partitions_are_published_as_their_root_in_its_order_of_columns)
{
    live_open(&l, "versions_root");
    live_set(&l, "snapshot.mode=initial");
    live_run(&l, PARTITIONS "alter table m attach partition m_us for values in ('us');"
                            "create publication wr_pub for table m"
                            " with (publish_via_partition_root = true);"
                            "insert into m values (1, 'us', 'a');");
    publish("insert into m values (2, 'us', 'b'), (3, 'eu', 'c');"
            "update m set region = 'us' where id = 3;" /* it moves from one to the other */
            "create table m_cn (region text not null, v text, id int not null);"
            "alter table m attach partition m_cn for values in ('cn');"
            "insert into m values (4, 'cn', 'd');"
            "alter table m detach partition m_eu;"
            "insert into m_eu values (5, 'eu', 'e');" /* nobody's any more */
            "insert into m values (6, 'us', 'f');");
    expect_events(
        &records, topic("public.m"),
        "{\"id\":1,\"region\":\"us\"} r null -> {\"id\":1,\"region\":\"us\",\"v\":\"a\"}\n"
        "{\"id\":2,\"region\":\"us\"} c null -> {\"id\":2,\"region\":\"us\",\"v\":\"b\"}\n"
        "{\"id\":3,\"region\":\"eu\"} c null -> {\"id\":3,\"region\":\"eu\",\"v\":\"c\"}\n"
        "{\"id\":3,\"region\":\"eu\"} d {\"id\":3,\"region\":\"eu\",\"v\":null} -> null\n"
        "{\"id\":3,\"region\":\"eu\"} -\n"
        "{\"id\":3,\"region\":\"us\"} c null -> {\"id\":3,\"region\":\"us\",\"v\":\"c\"}\n"
        "{\"id\":4,\"region\":\"cn\"} c null -> {\"id\":4,\"region\":\"cn\",\"v\":\"d\"}\n"
        "{\"id\":6,\"region\":\"us\"} c null -> {\"id\":6,\"region\":\"us\",\"v\":\"f\"}\n");
    cr_expect_str_eq(events_of(&records, topic("public.m_eu")), "");
    cr_expect_str_eq(events_of(&records, topic("public.m_us")), "");
}

Test(versions, a_publication_that_changes_to_its_roots_changes_the_topics)
{
    live_open(&l, "versions_leaves");
    live_run(&l, PARTITIONS "alter table m attach partition m_us for values in ('us');"
                            "create publication wr_pub for table m;");
    publish("insert into m values (1, 'us', 'a');"
            "alter publication wr_pub set (publish_via_partition_root = true);"
            "insert into m values (2, 'us', 'b');");
    expect_events(&records, topic("public.m_us"),
                  "{\"id\":1,\"region\":\"us\"} c null ->"
                  " {\"v\":\"a\",\"region\":\"us\",\"id\":1}\n");
    expect_events(&records, topic("public.m"),
                  "{\"id\":2,\"region\":\"us\"} c null ->"
                  " {\"id\":2,\"region\":\"us\",\"v\":\"b\"}\n");
}

/* Slots. */

static void open_on_own_server(const char *name, const char *const *settings)
{
    struct services services = *services_or_skip();

    server_open(&server, SERVER_POSTGRES, settings);
    services.pg_port = server.port;
    l.services = services;
    live_open(&l, name);
}

/* A slot that has streamed, and nobody who reads it. */
static void leave_a_slot(void)
{
    live_run(&l, "create table t (v text); create publication wr_pub for table t;");
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
}

static void wait_until_lost(void)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "select wal_status = 'lost' from pg_replication_slots where slot_name = '%s'", l.slot);
    for (int waited_ms = 0; waited_ms < INVALIDATED_TIMEOUT_MS; waited_ms += 100) {
        pg_exec(l.sql, "insert into t select repeat('w', 1000) from generate_series(1, 1000)");
        pg_exec(l.sql, "select pg_switch_wal()");
        pg_exec(l.sql, "checkpoint");
        if (strcmp(pg_query(l.sql, sql), "t") == 0) {
            return;
        }
        sleep_ms(100);
    }
    cr_assert(false, "the slot is not invalidated");
}

static void expect_refused_as_lost(const char *reason)
{
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "wal_status=lost");
    expect_log(&l, "pg_drop_replication_slot");
    expect_log(&l, l.slot);
    if (is_since(17)) {
        expect_log(&l, reason);
    }
    cr_expect_str_eq(pg_queryf(l.sql,
                               "select wal_status from pg_replication_slots"
                               " where slot_name = '%s'",
                               l.slot),
                     "lost", "the slot was made anew");
}

Test(versions, a_slot_whose_wal_is_gone_is_refused_with_the_reason)
{
    open_on_own_server("versions_wal_removed",
                       (const char *const[]){"max_slot_wal_keep_size=1MB", NULL});
    leave_a_slot();
    wait_until_lost();
    expect_refused_as_lost("wal_removed");
}

Test(versions, a_slot_that_nobody_used_for_too_long_is_refused_with_the_reason)
{
    live_open(&l, "versions_idle_probe");
    need(18);
    live_close(&l);
    l = (struct live){0};
    open_on_own_server("versions_idle",
                       (const char *const[]){"idle_replication_slot_timeout=1s", NULL});
    leave_a_slot();
    wait_until_lost();
    expect_refused_as_lost("idle_timeout");
}

Test(versions, a_slot_that_is_invalidated_in_mid_stream_stops)
{
    open_on_own_server("versions_wal_removed_live",
                       (const char *const[]){"max_slot_wal_keep_size=1MB", NULL});
    live_run(&l, "create table t (v text); create publication wr_pub for table t;");
    live_stream(&l);
    process_signal(&l.process, SIGSTOP);
    wait_until_lost();
    process_signal(&l.process, SIGCONT);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "lost");
}

Test(versions, a_two_phase_slot_is_refused_by_name)
{
    live_open(&l, "versions_two_phase");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    pg_queryf(l.sql, "select pg_create_logical_replication_slot('%s', 'pgoutput', false, true)",
              l.slot);
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "versions_two_phase was made with TWO_PHASE");
}
