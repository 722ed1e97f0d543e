/* When a snapshot is taken, of what, and how it joins the stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/churn.h"
#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/records.h"
#include "support/topic.h"

static struct live l;
static struct kafka_records records;
static struct kafka_reader *reader;

static void tear_down(void)
{
    live_close(&l);
    records_done(&records);
}

TestSuite(snapshot_modes, .fini = tear_down, .timeout = 300);

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

static void open_tables(const char *name)
{
    live_open(&l, name);
    live_run(&l, "create table a (id int primary key, v text);"
                 "create table b (id int primary key, v text);"
                 "create publication wr_pub for table a, b;"
                 "insert into a values (1, 'x'), (2, 'y');"
                 "insert into b values (1, 'z');");
    reader = kafka_reader_new(l.services.bootstrap);
}

static void read_records(void)
{
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
}

/* Starts it, and waits until it has taken its snapshot, not only streamed up to it. */
static void take_snapshot(size_t count)
{
    live_start(&l, NULL);
    for (int waited_ms = 0; live_log_count(&l, "snapshot is complete") < count; waited_ms += 50) {
        if (process_wait(&l.process, 50) || waited_ms > LIVE_WAIT_MS) {
            live_fail(&l, "snapshot %zu is not taken", count);
        }
    }
    live_wait_streaming(&l);
}

static const char *slot_count(void)
{
    return pg_queryf(l.sql, "select count(*) from pg_replication_slots where database = '%s'",
                     l.name);
}

Test(snapshot_modes, always_publishes_the_changes_before_each_snapshot_and_then_the_rows)
{
    open_tables("modes_always");
    live_set(&l, "snapshot.mode=always");
    live_stream(&l);
    live_run(&l, "update a set v = 'y2' where id = 2;");
    live_wait_confirmed(&l);
    live_stop(&l);
    live_run(&l, "delete from a where id = 1; insert into a values (3, 'w');");
    take_snapshot(2);
    live_run(&l, "delete from a where id = 3;");
    live_wait_confirmed(&l);
    live_stop(&l);
    read_records();
    expect_events(&records, topic("public.a"),
                  "{\"id\":1} r null -> {\"id\":1,\"v\":\"x\"}\n"
                  "{\"id\":2} r null -> {\"id\":2,\"v\":\"y\"}\n"
                  "{\"id\":2} u null -> {\"id\":2,\"v\":\"y2\"}\n"
                  "{\"id\":1} d {\"id\":1,\"v\":null} -> null\n"
                  "{\"id\":1} -\n"
                  "{\"id\":3} c null -> {\"id\":3,\"v\":\"w\"}\n"
                  "{\"id\":2} r null -> {\"id\":2,\"v\":\"y2\"}\n"
                  "{\"id\":3} r null -> {\"id\":3,\"v\":\"w\"}\n"
                  "{\"id\":3} d {\"id\":3,\"v\":null} -> null\n"
                  "{\"id\":3} -\n");
    cr_expect_str_eq(slot_count(), "1");
}

Test(snapshot_modes, always_takes_no_other_one_after_a_lost_connection)
{
    open_tables("modes_always_once");
    live_set(&l, "snapshot.mode=always");
    live_stream(&l);
    pg_execf(l.sql,
             "select pg_terminate_backend(active_pid) from pg_replication_slots"
             " where slot_name = '%s'",
             l.name);
    live_wait_log(&l, "retry_ms=");
    live_wait_streaming(&l);
    cr_expect_eq(live_log_count(&l, "snapshot is complete"), 1);
    live_stop(&l);
    kafka_reader_free(reader);
}

Test(snapshot_modes, initial_only_ends_behind_the_snapshot_and_leaves_no_slot)
{
    open_tables("modes_initial_only");
    live_set(&l, "snapshot.mode=initial_only");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 0, "%s", live_log(&l));
    cr_expect_str_eq(slot_count(), "0");
    read_records();
    expect_events(&records, topic("public.b"), "{\"id\":1} r null -> {\"id\":1,\"v\":\"z\"}\n");
}

Test(snapshot_modes, configuration_based_is_what_its_switches_say)
{
    open_tables("modes_based");
    live_set(&l, "snapshot.mode=configuration_based");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 2);
    expect_log(&l, "does nothing without snapshot.mode.configuration.based.snapshot.data=true");
    live_set(&l, "snapshot.mode.configuration.based.snapshot.data=true");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 0, "%s", live_log(&l));
    expect_log(&l, "snapshot is complete");
    cr_expect_str_eq(slot_count(), "0", "without start.stream there is nothing to keep a slot for");
    kafka_reader_free(reader);
}

Test(snapshot_modes, when_needed_takes_one_for_a_new_slot_and_none_for_one_that_is_there)
{
    open_tables("modes_when_needed");
    live_set(&l, "snapshot.mode=when_needed");
    live_stream(&l);
    live_stop(&l);
    live_stream(&l);
    live_stop(&l);
    cr_expect_eq(live_log_count(&l, "snapshot is complete"), 1);
    pg_execf(l.sql, "select pg_drop_replication_slot('%s')", l.name);
    live_stream(&l);
    live_stop(&l);
    cr_expect_eq(live_log_count(&l, "snapshot is complete"), 2);
    kafka_reader_free(reader);
}

Test(snapshot_modes, when_needed_makes_a_slot_anew_that_was_dropped_under_way)
{
    open_tables("modes_dropped");
    live_set(&l, "snapshot.mode=when_needed");
    live_stream(&l);
    for (;;) { /* it is dropped in the moment between two connections */
        pg_execf(l.sql,
                 "select pg_terminate_backend(active_pid) from pg_replication_slots"
                 " where slot_name = '%s'",
                 l.name);
        PGresult *dropped =
            PQexec(l.sql, "select pg_drop_replication_slot(slot_name) from pg_replication_slots"
                          " where database = current_database() and not active");
        bool is_dropped = PQresultStatus(dropped) == PGRES_TUPLES_OK && PQntuples(dropped) == 1;
        PQclear(dropped);
        if (is_dropped) {
            break;
        }
    }
    live_wait_log(&l, "the slot is lost: a new one is made, with a new snapshot");
    live_wait_streaming(&l);
    cr_expect_eq(live_log_count(&l, "snapshot is complete"), 2);
    live_stop(&l);
    kafka_reader_free(reader);
}

Test(snapshot_modes, reads_listed_tables_alone_with_the_selects_that_are_given)
{
    open_tables("modes_selects");
    live_set(&l, "snapshot.mode=initial");
    live_set(&l, "snapshot.include.collection.list=public\\.(a|c)");
    live_set(&l, "snapshot.select.statement.overrides=public.a");
    live_set(&l, "snapshot.select.statement.overrides.public.a="
                 "select v, id from public.a where id > 1 order by id desc; ");
    live_run(&l, "insert into a values (3, 'w');");
    live_stream(&l);
    live_run(&l, "insert into b values (2, 'after');");
    live_wait_confirmed(&l);
    live_stop(&l);
    read_records();
    expect_events(&records, topic("public.a"),
                  "{\"id\":3} r null -> {\"id\":3,\"v\":\"w\"}\n"
                  "{\"id\":2} r null -> {\"id\":2,\"v\":\"y\"}\n");
    expect_events(&records, topic("public.b"), "{\"id\":2} c null -> {\"id\":2,\"v\":\"after\"}\n");
}

Test(snapshot_modes, a_select_without_all_columns_is_refused_by_the_name_of_its_table)
{
    open_tables("modes_select_short");
    live_set(&l, "snapshot.mode=initial");
    live_set(&l, "snapshot.select.statement.overrides=public.a");
    live_set(&l, "snapshot.select.statement.overrides.public.a=select id from public.a");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "public.a");
    expect_log(&l, "column \\\"v\\\" does not exist");
    kafka_reader_free(reader);
}

Test(snapshot_modes, a_select_that_names_a_table_without_its_schema_is_refused)
{
    open_tables("modes_select_path");
    live_set(&l, "snapshot.mode=initial");
    live_set(&l, "snapshot.select.statement.overrides=public.a");
    live_set(&l, "snapshot.select.statement.overrides.public.a=select * from a");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "while copying public.a; name tables with their schema");
    kafka_reader_free(reader);
}

/* Who alters a table cannot come in between: which is what Debezium's lock is for. */
Test(snapshot_modes, shared_locks_hold_all_tables_while_the_first_is_read)
{
    open_tables("modes_locks");
    live_set(&l, "snapshot.mode=initial");
    live_set(&l, "snapshot.locking.mode=shared");
    live_set(&l, "snapshot.select.statement.overrides=public.a");
    live_set(&l, "snapshot.select.statement.overrides.public.a="
                 "select a.* from public.a, pg_sleep(1.5)");
    live_start(&l, NULL);
    live_wait_log(&l, "snapshot begins");
    cr_expect(pg_query_becomes(l.sql,
                               "select mode from pg_locks where relation = 'b'::regclass"
                               " and pid <> pg_backend_pid()",
                               "AccessShareLock", LIVE_WAIT_MS));
    live_wait_streaming(&l);
    live_stop(&l);
    kafka_reader_free(reader);
}

Test(snapshot_modes, several_connections_share_a_table_and_lose_no_row)
{
    struct churn churn;

    live_open(&l, "modes_parallel");
    churn_create(&churn, &l, 60000);
    live_set(&l, "snapshot.mode=initial");
    live_set(&l, "snapshot.max.threads=4");
    churn_start(&churn, 4);
    sleep_ms(500);
    live_stream(&l);
    churn_stop(&churn);
    live_wait_confirmed(&l);
    live_stop(&l);
    struct churn_result result = churn_check(&churn);
    cr_expect_gt(result.read_count, 50000);
    cr_expect_eq(result.stale_count, 0);
    cr_expect_gt(result.record_count, result.read_count, "nobody wrote meanwhile");
    expect_log(&l, "vacuum keeps what is deleted meanwhile\" tables=1 tables_done=0 size_mb=");
}

Test(snapshot_modes, always_never_publishes_a_row_behind_a_newer_one)
{
    struct churn churn;

    live_open(&l, "modes_always_churn");
    churn_create(&churn, &l, 5000);
    live_set(&l, "snapshot.mode=always");
    live_set(&l, "snapshot.max.threads=2");
    churn_start(&churn, 4);
    for (size_t i = 1; i <= 3; i++) {
        take_snapshot(i);
        live_stop(&l);
    }
    take_snapshot(4);
    churn_stop(&churn);
    live_wait_confirmed(&l);
    live_stop(&l);
    struct churn_result result = churn_check(&churn);
    cr_expect_gt(result.read_count, 4 * 2000); /* half of the rows are deleted at a time */
    cr_expect_eq(result.stale_count, 0);
}
