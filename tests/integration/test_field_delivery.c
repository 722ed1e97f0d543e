/* Bugs that people met with positions: what is confirmed, where a restart begins, who waits. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/records.h"
#include "support/topic.h"

static struct live l;
static struct live other;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&other);
    live_close(&l);
    records_done(&records);
}

TestSuite(field_delivery, .fini = tear_down, .timeout = 300);

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

/* Rows that share an LSN: one heap record of a COPY holds many. */

enum { COPY_ROWS = 500, ALL_ROWS = 1000 };

/* The ids of public.cp in the order in which they came. */
struct ids {
    int items[4 * ALL_ROWS];
    int count;
};

static void keep_id(void *context, const rd_kafka_message_t *message)
{
    struct ids *ids = context;
    const char *after = memmem(message->payload, message->len, "\"after\":{\"id\":", 14);

    cr_assert_not_null(after);
    cr_assert_lt(ids->count, (int)(sizeof(ids->items) / sizeof(ids->items[0])));
    ids->items[ids->count++] = (int)strtol(after + 14, NULL, 10);
}

/* How many ids from the start follow one another. */
static int run_length(const struct ids *ids, int start)
{
    int length = 1;

    while (start + length < ids->count &&
           ids->items[start + length] == ids->items[start] + length) {
        length++;
    }
    return length;
}

static void wait_for_records(const char *name, int64_t count)
{
    struct topic_counter *counter = topic_counter_new(l.services.bootstrap, name);
    int64_t end_us = wr_clock_monotonic_us() + LIVE_WAIT_MS * 1000;

    while (topic_counter_now(counter) < count) {
        if (process_wait(&l.process, 0) || wr_clock_monotonic_us() >= end_us) {
            live_fail(&l, "%s has no %lld records", name, (long long)count);
        }
    }
    topic_counter_free(counter);
}

/* Dies with at least `count` rows in Kafka, and starts again. */
static void kill_behind(int count)
{
    struct ids ids = {.count = 0};

    live_open(&l, "field_same_lsn");
    live_run(&l, "create table cp (id int primary key, v text);"
                 "create publication wr_pub for table cp;");
    /* One record a request and one request at a time, so that there is a middle to die in. */
    live_set(&l, "producer.linger.ms=0");
    live_set(&l, "producer.batch.num.messages=1");
    live_set(&l, "producer.max.in.flight.requests.per.connection=1");
    live_stream(&l);
    live_run(&l, "copy cp from program 'seq 1 500 | sed \"s/$/\\tv/\"';"
                 "insert into cp select g, 'm' from generate_series(501, 1000) g;");
    wait_for_records(topic("public.cp"), count);
    live_kill(&l);
    live_set(&l, "producer.batch.num.messages=10000");
    live_set(&l, "producer.max.in.flight.requests.per.connection=5");
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    topic_read(l.services.bootstrap, topic("public.cp"), keep_id, &ids);

    int first = run_length(&ids, 0);
    cr_expect_eq(ids.items[0], 1);
    cr_expect_geq(first, count);
    cr_assert_lt(first, ALL_ROWS, "it died too late to show anything");
    int again = ids.items[first];
    cr_expect(again == 1 || (again == COPY_ROWS + 1 && first >= COPY_ROWS),
              "after row %d it went on with row %d", first, again);
    cr_expect_eq(run_length(&ids, first), ALL_ROWS - again + 1);
    cr_expect_eq(first + ALL_ROWS - again + 1, ids.count);
    live_close(&l);
}

Test(field_delivery, a_kill_amid_rows_of_one_lsn_loses_none_and_repeats_transactions_in_order)
{
    static const int counts[] = {1, 250, 499, 500, 501};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        kill_behind(counts[i]);
    }
}

/* WAL that nobody captures. */

enum { STATUS_INTERVALS_MS = 2 * 500, SLACK_MS = 4000 };

#define NOISE                                                                                      \
    "insert into noise select repeat('n', 500) from generate_series(1, 20000);"                    \
    "select pg_switch_wal();"                                                                      \
    "checkpoint;"

static void expect_slot_follows(void)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "select pg_current_wal_lsn() - confirmed_flush_lsn < 1024 * 1024"
             " from pg_replication_slots where slot_name = '%s'",
             l.name);
    cr_expect(pg_query_becomes(l.sql, sql, "t", STATUS_INTERVALS_MS + SLACK_MS),
              "the slot holds WAL back");
}

Test(field_delivery, a_slot_follows_the_wal_of_other_tables_and_other_databases)
{
    live_open(&l, "field_idle");
    live_open(&other, "field_idle_noise");
    live_run(&l, "create table cap (id int primary key);"
                 "create table noise (v text);"
                 "create publication wr_pub for table cap;");
    live_run(&other, "create table noise (v text);");
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);
    live_stream(&l);
    live_run(&l, "insert into cap values (1);" NOISE);
    expect_slot_follows();
    live_run(&other, NOISE);
    expect_slot_follows();
    live_stop(&l);

    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    cr_expect_eq(records.count, 1, "%s", events_topics(&records));
    cr_expect_str_eq(pg_query(l.sql,
                              "select count(*) from pg_class"
                              " where relkind = 'r' and relnamespace = 'public'::regnamespace"),
                     "2", "it made a table");
}

Test(field_delivery, what_is_confirmed_never_goes_back)
{
    char last[32] = "0/0";

    live_open(&l, "field_monotonic");
    live_run(&l, "create table cap (id int primary key);"
                 "create table noise (v text);"
                 "create publication wr_pub for table cap;");
    live_stream(&l);
    for (int i = 0; i < 20; i++) {
        pg_execf(l.sql, "insert into cap values (%d)", i);
        pg_exec(l.sql, "insert into noise select repeat('n', 500) from generate_series(1, 200)");
        if (i == 10) {
            live_kill(&l);
            live_stream(&l);
        }
        const char *is_behind =
            pg_queryf(l.sql,
                      "select confirmed_flush_lsn < '%s' from pg_replication_slots"
                      " where slot_name = '%s'",
                      last, l.name);
        cr_assert_str_eq(is_behind, "f", "confirmed before %s after it", last);
        snprintf(last, sizeof(last), "%s",
                 pg_queryf(l.sql,
                           "select confirmed_flush_lsn from pg_replication_slots"
                           " where slot_name = '%s'",
                           l.name));
    }
    live_wait_confirmed(&l);
}

/* Stops and starts. */

static void insert_rows(int first, int last)
{
    pg_execf(l.sql, "insert into t select generate_series(%d, %d)", first, last);
}

static int64_t count_records(void)
{
    struct topic_counter *counter = topic_counter_new(l.services.bootstrap, topic("public.t"));
    int64_t count = topic_counter_now(counter);

    topic_counter_free(counter);
    return count;
}

static void open_stops(const char *name)
{
    live_open(&l, name);
    live_run(&l, "create table t (id int primary key);"
                 "create publication wr_pub for table t;");
    /* Nothing is confirmed by timer meanwhile: what counts is the confirmation at the end. */
    live_set(&l, "status.update.interval.ms=60000");
    live_stream(&l);
}

Test(field_delivery, sigterm_confirms_so_that_a_start_repeats_nothing)
{
    open_stops("field_sigterm");
    for (int i = 0; i < 3; i++) {
        int first = 1 + 11 * i;
        insert_rows(first, first + 9);
        wait_for_records(topic("public.t"), first + 9);
        live_stop(&l);
        insert_rows(first + 10, first + 10); /* while nobody looks */
        live_stream(&l);
        wait_for_records(topic("public.t"), first + 10);
    }
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(count_records(), 33);
}

Test(field_delivery, sigterm_before_the_acknowledgement_waits_for_it)
{
    open_stops("field_sigterm_early");
    insert_rows(1, 5000);
    live_stop(&l);
    live_stream(&l);
    insert_rows(5001, 5001);
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(count_records(), 5001);
}

/* The first row of a table asks the catalog, and a lock there makes it wait for the answer. */
Test(field_delivery, sigterm_while_the_catalog_is_asked_repeats_nothing_either)
{
    open_stops("field_sigterm_catalog");
    insert_rows(1, 10);
    wait_for_records(topic("public.t"), 10);
    PGconn *locker = pg_open(&l.services, l.name);
    live_run(&l, "create table u (id int primary key); alter publication wr_pub add table u;");
    pg_exec(locker, "begin; lock table pg_catalog.pg_attrdef in access exclusive mode");
    insert_rows(11, 20);
    pg_exec(l.sql, "insert into u values (1)");
    cr_assert(pg_query_becomes(l.sql,
                               "select count(*) > 0 from pg_stat_activity"
                               " where application_name = 'walrelay' and wait_event_type = 'Lock'",
                               "t", LIVE_WAIT_MS),
              "walrelay asks the catalog nothing");
    process_signal(&l.process, SIGTERM);
    cr_expect_not(process_wait(&l.process, 300), "it did not wait for the catalog");
    pg_exec(locker, "rollback");
    PQfinish(locker);
    cr_expect_eq(live_wait_exit(&l), 0);
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(count_records(), 20);
}

Test(field_delivery, sigkill_repeats_at_most_what_was_not_confirmed)
{
    open_stops("field_sigkill");
    insert_rows(1, 10);
    wait_for_records(topic("public.t"), 10);
    live_kill(&l);
    insert_rows(11, 11);
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    int64_t count = count_records();
    cr_expect(count == 11 || count == 21, "%lld records of 11 rows", (long long)count);
}

/* The slot's position decides, and not where the server stands when somebody connects. */
Test(field_delivery, a_start_goes_on_where_the_slot_stands_however_far_the_server_is)
{
    open_stops("field_lagging");
    insert_rows(1, 10);
    live_wait_confirmed(&l);
    live_stop(&l);
    insert_rows(11, 20);
    live_run(&l, "create table noise (v text);" NOISE);
    insert_rows(21, 30);
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(count_records(), 30);
}

/* A slot that is taken, and a server that is silent. */

Test(field_delivery, a_taken_slot_is_waited_for)
{
    open_stops("field_taken");
    struct live second = l;
    snprintf(second.log_path, sizeof(second.log_path), "%s/log2", l.directory);
    live_set(&second, "slot.retry.delay.ms=200");
    live_start(&second, NULL);
    live_wait_log(&second, "is active for PID");
    insert_rows(1, 10);
    wait_for_records(topic("public.t"), 10);
    live_stop(&l);
    live_wait_log(&second, "msg=streaming");
    insert_rows(11, 20);
    live_wait_confirmed(&second);
    live_stop(&second);
    cr_expect_eq(count_records(), 20);
}

Test(field_delivery, a_walsender_that_is_silent_for_longer_than_its_timeout_loses_nothing)
{
    live_open(&l, "field_silent");
    pg_execf(l.sql, "alter database %s set wal_sender_timeout = '3s'", l.name);
    live_run(&l, "create table t (id int primary key);"
                 "create publication wr_pub for table t;");
    live_stream(&l);
    insert_rows(1, 10);
    live_wait_confirmed(&l);
    pid_t walsender = (pid_t)strtol(
        pg_queryf(l.sql, "select active_pid from pg_replication_slots where slot_name = '%s'",
                  l.name),
        NULL, 10);
    cr_assert_gt(walsender, 0);
    cr_assert_eq(kill(walsender, SIGSTOP), 0);
    insert_rows(11, 20);
    sleep_ms(8000); /* what is tried is the time itself */
    cr_assert_eq(kill(walsender, SIGCONT), 0);
    insert_rows(21, 30);
    wait_for_records(topic("public.t"), 30);
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(count_records(), 30);
}
