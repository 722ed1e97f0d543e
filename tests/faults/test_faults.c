/*
 * Everything that can die does, under load: walrelay, Kafka, PostgreSQL, single connections. Then
 * every row must have come, each key's rows in their order, and none twice unless walrelay itself
 * was killed, but for the one transaction that a lost connection cuts. WALRELAY_TEST_KILLS says how
 * often things die, for runs that take longer.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/live.h"
#include "support/load.h"
#include "support/postgres.h"
#include "support/server.h"
#include "support/topic.h"

enum {
    ROW_COUNT = 100000,
    KILL_COUNT = 3,
    RESIDENT_KB_MAX = 40 * 1024, /* what walrelay promises, whatever happens */
};

#ifdef __SANITIZE_ADDRESS__
enum { MEMORY_IS_MEASURED = 0 }; /* the sanitizer's own memory would be measured */
#else
enum { MEMORY_IS_MEASURED = 1 };
#endif

static struct live l;
static struct server postgres;
static struct server kafka;

static void tear_down(void)
{
    live_close(&l);
    server_close(&postgres);
    server_close(&kafka);
}

TestSuite(faults, .fini = tear_down, .timeout = 600);

static int kill_count(void)
{
    const char *text = getenv("WALRELAY_TEST_KILLS");

    return text == NULL ? KILL_COUNT : (int)strtol(text, NULL, 10);
}

/* Until the topic of the load has `count` records, as long as walrelay runs. */
static void wait_for_records(const char *topic, int64_t count)
{
    struct topic_counter *counter = topic_counter_new(l.services.bootstrap, topic);
    int64_t end_us = wr_clock_monotonic_us() + LIVE_WAIT_MS * 1000;

    while (topic_counter_now(counter) < count) {
        if (process_wait(&l.process, 0) || wr_clock_monotonic_us() >= end_us) {
            live_fail(&l, "%s has no %lld records", topic, (long long)count);
        }
    }
    topic_counter_free(counter);
}

/* Everything that was written is confirmed; then it stops, and the topic is looked over. */
static struct load_result finish(struct process *writer, int row_count)
{
    load_wait(&l, writer);
    live_wait_confirmed(&l);
    live_stop(&l);
    return load_check(&l, row_count);
}

static void expect_each_row_once(struct load_result result, int row_count)
{
    cr_expect_eq(result.record_count, row_count);
    cr_expect_eq(result.repeated_count, 0);
    cr_expect_eq(result.step_back_count, 0);
}

/* A connection that is lost amid a transaction brings that one again, and no other. */
static void expect_cut_transactions_again(struct load_result result, int row_count, int loss_count)
{
    cr_expect_eq(result.record_count, row_count + result.repeated_count);
    cr_expect_leq(result.repeated_count, loss_count * LOAD_TRANSACTION_ROWS,
                  "more was repeated than the transactions that were cut");
}

/* The process of the server that sends to walrelay: another one is another connection. */
static int walsender(void)
{
    return (int)strtol(pg_queryf(l.sql,
                                 "select active_pid from pg_replication_slots"
                                 " where slot_name = '%s'",
                                 l.name),
                       NULL, 10);
}

/* The most that it ever had, from /proc. */
static void expect_little_memory(void)
{
    char path[64];
    char line[256];
    int size_kb = -1;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)l.process.pid);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            size_kb = (int)strtol(line + 6, NULL, 10);
        }
    }
    fclose(file);
    cr_assert_gt(size_kb, 0);
    if (MEMORY_IS_MEASURED) {
        cr_expect_leq(size_kb, RESIDENT_KB_MAX, "%d kB", size_kb);
    }
}

/* walrelay dies. */

Test(faults, kill_9_under_load_loses_nothing_and_keeps_the_order_of_each_key)
{
    int kills = kill_count();

    live_open(&l, "fault_kill");
    load_create(&l);
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    for (int i = 1; i <= kills; i++) {
        int count = ROW_COUNT / (kills + 1) * i;
        wait_for_records(load_topic(&l), count);
        live_kill(&l);
        live_stream(&l);
    }
    struct load_result result = finish(&writer, ROW_COUNT);
    cr_expect_eq(result.record_count, ROW_COUNT + result.repeated_count);
    cr_expect_leq(result.step_back_count, kills * LOAD_KEY_COUNT,
                  "a key went back more often than walrelay died");
}

Test(faults, sigterm_under_load_loses_nothing_and_repeats_nothing)
{
    int stops = kill_count();

    live_open(&l, "fault_stop");
    load_create(&l);
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    for (int i = 1; i <= stops; i++) {
        wait_for_records(load_topic(&l), ROW_COUNT / (stops + 1) * i);
        live_stop(&l);
        live_stream(&l);
    }
    expect_each_row_once(finish(&writer, ROW_COUNT), ROW_COUNT);
}

/* Kafka stops. */

enum { BIG_TRANSACTION_ROWS = 100000, KAFKA_SILENT_MS = 20000 };

static void open_with_own_kafka(const char *name)
{
    server_open(&kafka, SERVER_KAFKA, NULL);
    l.services = *services_or_skip();
    l.services.bootstrap = kafka.address;
    live_open(&l, name);
    load_create(&l);
    pg_execf(l.sql, "alter database %s set wal_sender_timeout = '5s'", l.name);
}

Test(faults, a_silent_kafka_costs_neither_the_connection_nor_memory)
{
    open_with_own_kafka("fault_kafka_silent");
    live_set(&l, "producer.queue.buffering.max.messages=1000");
    live_stream(&l);
    int sender = walsender();
    pg_execf(l.sql,
             "insert into load select g, g %% %d, repeat('v', 100)"
             " from generate_series(1, %d) g",
             LOAD_KEY_COUNT, BIG_TRANSACTION_ROWS);
    wait_for_records(load_topic(&l), 1000);
    server_signal(&kafka, SIGSTOP);
    struct process writer = load_start(&l, BIG_TRANSACTION_ROWS + 10000);
    sleep_ms(KAFKA_SILENT_MS); /* what is tried is the time itself: four times the timeout */
    cr_expect_eq(walsender(), sender, "PostgreSQL has dropped the connection");
    server_signal(&kafka, SIGCONT);
    load_wait(&l, &writer);
    live_wait_confirmed(&l);
    cr_expect_eq(walsender(), sender, "PostgreSQL has dropped the connection");
    expect_little_memory();
    live_stop(&l);
    expect_each_row_once(load_check(&l, BIG_TRANSACTION_ROWS + 10000),
                         BIG_TRANSACTION_ROWS + 10000);
}

Test(faults, a_kafka_that_dies_and_comes_back_gets_each_row_once)
{
    open_with_own_kafka("fault_kafka_dies");
    live_stream(&l);
    int sender = walsender();
    struct process writer = load_start(&l, ROW_COUNT);
    wait_for_records(load_topic(&l), ROW_COUNT / 4);
    server_stop(&kafka, true);
    live_wait_log(&l, "kafka is unreachable, records wait");
    server_start_again(&kafka, NULL);
    load_wait(&l, &writer);
    live_wait_confirmed(&l);
    expect_log(&l, "kafka is reachable again");
    cr_expect_eq(walsender(), sender, "PostgreSQL has dropped the connection");
    expect_little_memory();
    live_stop(&l);
    expect_each_row_once(load_check(&l, ROW_COUNT), ROW_COUNT);
}

/* PostgreSQL stops. */

static void restart_postgres(bool at_once)
{
    PQfinish(l.sql);
    server_stop(&postgres, at_once);
    server_start_again(&postgres, NULL);
    l.sql = pg_open(&l.services, l.name);
}

/* The restart has cut the writer off as well: another goes on. */
static struct process write_on(struct process *writer)
{
    cr_assert(process_wait(writer, LIVE_WAIT_MS));
    return load_start(&l, ROW_COUNT);
}

Test(faults, a_postgres_that_restarts_under_load_is_found_again)
{
    server_open(&postgres, SERVER_POSTGRES, NULL);
    l.services = *services_or_skip();
    l.services.pg_host = "127.0.0.1";
    l.services.pg_port = postgres.port;
    live_open(&l, "fault_postgres");
    load_create(&l);
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    for (int i = 1; i <= 2; i++) {
        wait_for_records(load_topic(&l), ROW_COUNT / 4 * i);
        restart_postgres(i == 2);
        live_wait_streaming(&l);
        writer = write_on(&writer);
    }
    expect_cut_transactions_again(finish(&writer, ROW_COUNT), ROW_COUNT, 2);
}

/* A stream that is kept alive and confirms nothing would hold the shutdown up for ever: while a few
 * records wait, and while so many do that nothing more is read. */
Test(faults, a_postgres_that_shuts_down_is_let_go_while_kafka_is_away)
{
    static const int row_counts[] = {1000, 50000};
    struct process writer = {0};

    server_open(&postgres, SERVER_POSTGRES, NULL);
    l.services = *services_or_skip();
    l.services.pg_host = "127.0.0.1";
    l.services.pg_port = postgres.port;
    live_open(&l, "fault_shutdown");
    load_create(&l);
    live_set(&l, "bootstrap.servers=127.0.0.1:1");
    for (size_t i = 0; i < 2; i++) {
        live_stream(&l);
        writer = load_start(&l, row_counts[i]);
        load_wait(&l, &writer);
        restart_postgres(false);
        live_stop(&l);
        cr_expect_eq(live_log_count(&l, "letting go of the stream"), i + 1, "%s", live_log(&l));
    }
    live_set(&l, "bootstrap.servers=%s", l.services.bootstrap);
    live_stream(&l);
    expect_each_row_once(finish(&writer, row_counts[1]), row_counts[1]);
}

Test(faults, walsenders_that_are_terminated_under_load_cost_nothing)
{
    int kills = kill_count();

    live_open(&l, "fault_terminated");
    load_create(&l);
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    for (int i = 1; i <= kills; i++) {
        wait_for_records(load_topic(&l), ROW_COUNT / (kills + 1) * i);
        int sender = walsender();
        pg_execf(l.sql, "select pg_terminate_backend(%d)", sender);
        while (walsender() == sender) {
            sleep_ms(10);
        }
        live_wait_streaming(&l);
    }
    expect_cut_transactions_again(finish(&writer, ROW_COUNT), ROW_COUNT, kills);
    cr_expect_geq(live_log_count(&l, "retry_ms="), (size_t)kills, "%s", live_log(&l));
}
