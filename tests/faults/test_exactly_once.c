/*
 * exactly.once.support=required: whatever dies, a reader with isolation.level=read_committed (as
 * librdkafka's are by themselves) gets every row once, in order, and every transaction whole. Also
 * what at least once owes at the same points. WALRELAY_TEST_KILLS says how often things die, for
 * runs that take longer.
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
    ROW_COUNT = 60000,
    LONG_ROW_COUNT = 600000,
    KILL_COUNT = 20,
    GIANT_ROWS = 120000,
    SNAPSHOT_ROWS = 60000
};

static struct live l;
static struct live second;
static struct server kafka;

static void tear_down(void)
{
    unsetenv("WALRELAY_FAILPOINT");
    if (second.process.pid > 0) {
        process_signal(&second.process, SIGCONT);
        live_kill(&second);
    }
    live_close(&l);
    server_close(&kafka);
}

TestSuite(exactly_once, .fini = tear_down, .timeout = 600);

static int kill_count(void)
{
    const char *text = getenv("WALRELAY_TEST_KILLS");

    return text == NULL ? KILL_COUNT : (int)strtol(text, NULL, 10);
}

static void open_load(const char *name)
{
    live_open(&l, name);
    load_create(&l);
    live_set(&l, "exactly.once.support=required");
}

/* How many rows of each transaction of the load a reader sees. */
struct torn {
    struct {
        uint64_t lsn;
        int count;
    } seen[1 << 16];
    size_t torn_count;
};

static void count_row(void *context, const rd_kafka_message_t *message)
{
    struct torn *torn = context;
    rd_kafka_headers_t *headers = NULL;
    const void *value = NULL;
    size_t size = 0;
    char text[32];

    cr_assert_eq(rd_kafka_message_headers(message, &headers), RD_KAFKA_RESP_ERR_NO_ERROR);
    cr_assert_eq(rd_kafka_header_get_last(headers, "walrelay.lsn", &value, &size),
                 RD_KAFKA_RESP_ERR_NO_ERROR);
    snprintf(text, sizeof(text), "%.*s", (int)size, (const char *)value);
    uint64_t lsn = strtoull(text, NULL, 10);
    size_t at = (size_t)(lsn * UINT64_C(0x9E3779B97F4A7C15) >> 48);
    while (torn->seen[at].lsn != 0 && torn->seen[at].lsn != lsn) {
        at = (at + 1) & 0xffff;
    }
    torn->seen[at].lsn = lsn;
    torn->seen[at].count++;
}

static size_t count_torn(void)
{
    struct torn *torn = calloc(1, sizeof(*torn));

    cr_assert_not_null(torn);
    (void)topic_read(l.services.bootstrap, load_topic(&l), count_row, torn);
    for (size_t i = 0; i < sizeof(torn->seen) / sizeof(torn->seen[0]); i++) {
        torn->torn_count += torn->seen[i].lsn != 0 && torn->seen[i].count != LOAD_TRANSACTION_ROWS;
    }
    size_t count = torn->torn_count;
    free(torn);
    return count;
}

/* A commit may be on its way through the partitions for a moment, whoever asked for it. */
static void expect_no_torn_transaction(void)
{
    int64_t end_us = wr_clock_monotonic_us() + 10000000;

    while (count_torn() > 0) {
        cr_assert_lt(wr_clock_monotonic_us(), end_us, "a transaction is visible in part");
        sleep_ms(20);
    }
}

static void expect_each_row_once(int row_count)
{
    struct load_result result = load_check(&l, row_count);

    cr_expect_eq(result.record_count, row_count);
    cr_expect_eq(result.repeated_count, 0);
    cr_expect_eq(result.step_back_count, 0);
}

static void finish(struct process *writer, int row_count)
{
    load_wait(&l, writer);
    live_wait_confirmed(&l);
    live_stop(&l);
    expect_no_torn_transaction();
    expect_each_row_once(row_count);
}

/* Pseudo-random and the same in every run of this seed, which a failure prints. */
static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245U + 12345U;
    return *seed >> 16 & 0x7fff;
}

static unsigned random_seed(void)
{
    const char *text = getenv("WALRELAY_TEST_SEED");
    unsigned seed =
        text == NULL ? (unsigned)wr_clock_realtime_ns() : (unsigned)strtoul(text, NULL, 10);

    fprintf(stderr, "seed %u\n", seed);
    return seed;
}

Test(exactly_once, kill_9_at_random_repeats_loses_and_tears_nothing)
{
    unsigned seed = random_seed();
    int kills = kill_count();
    int rows = kills > KILL_COUNT ? LONG_ROW_COUNT : ROW_COUNT;

    open_load("eos_kill");
    live_stream(&l);
    struct process writer = load_start(&l, rows);
    for (int i = 0; i < kills; i++) {
        sleep_ms((int)(next_random(&seed) % 300));
        live_kill(&l);
        if (i % 4 == 0) {
            expect_no_torn_transaction();
        }
        live_start(&l, NULL);
        if (i % 3 != 0) {
            live_wait_streaming(&l);
        }
    }
    live_wait_streaming(&l);
    finish(&writer, rows);
}

static const char *const stream_points[] = {"produced:9000", "state_record:1", "state_record:5",
                                            "committed:1",   "committed:4",    "acknowledged:2000"};

/* Dies at the point, whatever that takes of the load; false where it is never reached. */
static void die_at(const char *point)
{
    cr_assert_eq(setenv("WALRELAY_FAILPOINT", point, 1), 0);
    live_start(&l, NULL);
    unsetenv("WALRELAY_FAILPOINT");
    cr_expect_eq(live_wait_exit(&l), 128 + SIGKILL, "%s was not reached", point);
}

Test(exactly_once, kill_9_at_each_failpoint_repeats_and_loses_nothing)
{
    size_t count = sizeof(stream_points) / sizeof(stream_points[0]);

    open_load("eos_points");
    live_stream(&l);
    live_stop(&l);
    int rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += 20000;
        struct process writer = load_start(&l, rows);
        die_at(stream_points[i]);
        load_wait(&l, &writer);
        expect_no_torn_transaction();
    }
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    expect_no_torn_transaction();
    expect_each_row_once(rows);
}

Test(exactly_once, sigterm_repeats_nothing)
{
    open_load("eos_stop");
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    for (int i = 0; i < 3; i++) {
        sleep_ms(200);
        live_stop(&l);
        live_stream(&l);
    }
    finish(&writer, ROW_COUNT);
}

/* The connection is the lease: without it what is open must not be committed later. */
Test(exactly_once, walsenders_that_are_terminated_repeat_nothing)
{
    open_load("eos_terminated");
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    for (int i = 0; i < 5; i++) {
        sleep_ms(150);
        pg_execf(l.sql,
                 "select pg_terminate_backend(active_pid) from pg_replication_slots"
                 " where slot_name = '%s' and active",
                 l.name);
    }
    live_wait_streaming(&l);
    finish(&writer, ROW_COUNT);
}

/* PostgreSQL's own memory of the slot goes back in a crash; ours does not. */
Test(exactly_once, a_slot_that_went_back_repeats_nothing)
{
    open_load("eos_back");
    live_stream(&l);
    pg_execf(l.sql, "select pg_copy_logical_replication_slot('%s', 'eos_older')", l.name);
    struct process writer = load_start(&l, 20000);
    load_wait(&l, &writer);
    live_wait_confirmed(&l);
    live_stop(&l);
    pg_execf(l.sql, "select pg_drop_replication_slot('%s')", l.name);
    pg_execf(l.sql, "select pg_copy_logical_replication_slot('eos_older', '%s')", l.name);
    pg_exec(l.sql, "select pg_drop_replication_slot('eos_older')");
    live_stream(&l);
    writer = load_start(&l, 40000);
    finish(&writer, 40000);
}

static void write_giant(void)
{
    pg_execf(l.sql,
             "insert into load select g, g %% %d, repeat('v', 100) from generate_series(1, %d) g",
             LOAD_KEY_COUNT, GIANT_ROWS);
}

/* Larger than memory, but not than a Kafka transaction: it is fed, and still one. */
Test(exactly_once, a_large_transaction_is_one_of_kafka_too)
{
    open_load("eos_large");
    live_stream(&l);
    write_giant();
    live_wait_confirmed(&l);
    live_stop(&l);
    expect_each_row_once(GIANT_ROWS);
}

Test(exactly_once, a_transaction_in_parts_goes_on_behind_the_last_part)
{
    open_load("eos_parts");
    live_set(&l,
             "producer.transaction.timeout.ms=2000"); /* so that a part ends after half a second */
    live_stream(&l);
    live_stop(&l);
    write_giant();
    for (int i = 0; i < 3; i++) {
        die_at(i % 2 == 0 ? "committed:2" : "state_record:2");
    }
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    expect_each_row_once(GIANT_ROWS);
}

/* A second one that waits for the first, takes over when that hangs, and is not disturbed when it
 * comes back. */
Test(exactly_once, a_zombie_writes_nothing_beside_its_successor)
{
    open_load("eos_zombie");
    pg_execf(l.sql, "alter database %s set wal_sender_timeout = '2s'", l.name);
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    second = l;
    snprintf(second.log_path, sizeof(second.log_path), "%s/log2", l.directory);
    live_start(&second, NULL);
    live_wait_log(&second, "another walrelay works for slot");
    for (int i = 0; i < 3; i++) {
        struct live *hung = i % 2 == 0 ? &l : &second;
        struct live *next = i % 2 == 0 ? &second : &l;
        size_t before = live_log_count(next, "msg=streaming");
        process_signal(&hung->process, SIGSTOP);
        while (live_log_count(next, "msg=streaming") == before) {
            cr_assert_not(process_wait(&next->process, 20));
        }
        process_signal(&hung->process, SIGCONT);
        sleep_ms(500);
        cr_assert_not(process_wait(&hung->process, 0), "it waits for its turn again");
    }
    load_wait(&l, &writer);
    live_wait_confirmed(&second);
    process_signal(&second.process, SIGTERM);
    process_signal(&l.process, SIGTERM);
    cr_expect_eq(live_wait_exit(&second), 0);
    cr_expect_eq(live_wait_exit(&l), 0);
    expect_no_torn_transaction();
    expect_each_row_once(ROW_COUNT);
}

static void open_with_own_kafka(const char *name)
{
    server_open(&kafka, SERVER_KAFKA, NULL);
    l.services = *services_or_skip();
    l.services.bootstrap = kafka.address;
    open_load(name);
}

Test(exactly_once, a_kafka_that_dies_and_comes_back_gets_each_row_once)
{
    open_with_own_kafka("eos_kafka_dies");
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    sleep_ms(700);
    server_stop(&kafka, true);
    sleep_ms(1000);
    server_start_again(&kafka, NULL);
    finish(&writer, ROW_COUNT);
}

/* Status updates go on while Kafka is silent, and must not say more than Kafka has: whoever is
 * killed then has confirmed nothing of it. */
static void expect_nothing_confirmed_of_what_kafka_lacks(const char *name, const char *support)
{
    open_with_own_kafka(name);
    live_set(&l, "exactly.once.support=%s", support);
    live_stream(&l);
    struct process writer = load_start(&l, 1000);
    load_wait(&l, &writer);
    live_wait_confirmed(&l);
    server_signal(&kafka, SIGSTOP);
    pg_exec(l.sql, "create table mark as select pg_current_wal_lsn() as lsn");
    writer = load_start(&l, 5000);
    load_wait(&l, &writer);
    sleep_ms(3000); /* six updates */
    cr_expect_str_eq(pg_queryf(l.sql,
                               "select confirmed_flush_lsn <= lsn from pg_replication_slots, mark"
                               " where slot_name = '%s'",
                               l.name),
                     "t", "what Kafka lacks is confirmed");
    live_kill(&l);
    server_signal(&kafka, SIGCONT);
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
}

Test(exactly_once, nothing_is_confirmed_that_kafka_lacks)
{
    expect_nothing_confirmed_of_what_kafka_lacks("eos_silent", "required");
    expect_each_row_once(5000);
}

Test(exactly_once, nothing_is_confirmed_that_kafka_lacks_at_least_once)
{
    expect_nothing_confirmed_of_what_kafka_lacks("alo_silent", "requested");
    (void)load_check(&l, 5000);
}

/* Longer than a transaction may take: the brokers abort it, which looks as if another producer had
 * taken over. The slot is still ours, so it goes on. */
Test(exactly_once, a_kafka_that_hangs_longer_than_a_transaction_may_last)
{
    open_with_own_kafka("eos_kafka_hangs");
    live_set(&l, "producer.transaction.timeout.ms=3000");
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    sleep_ms(700);
    server_signal(&kafka, SIGSTOP);
    sleep_ms(8000); /* what is tried is the time itself */
    server_signal(&kafka, SIGCONT);
    finish(&writer, ROW_COUNT);
}

/* Beside the rows: they take part in the same transactions. */
Test(exactly_once, heartbeats_and_topics_that_are_made_go_with_the_rows)
{
    open_load("eos_heartbeats");
    live_set(&l, "heartbeat.interval.ms=1");
    live_set(&l, "topic.creation.default.partitions=2");
    live_set(&l, "topic.creation.default.replication.factor=1");
    live_stream(&l);
    struct process writer = load_start(&l, ROW_COUNT);
    sleep_ms(500);
    live_kill(&l);
    live_stream(&l);
    finish(&writer, ROW_COUNT);
    expect_log(&l, "a topic was created");
}

/* The initial snapshot. */

static int read_counts[SNAPSHOT_ROWS * 2];

static void count_read(void *context, const rd_kafka_message_t *message)
{
    const char *after = memmem(message->payload, message->len, "\"after\":{\"id\":", 14);

    (void)context;
    cr_assert_not_null(after);
    read_counts[(int)strtol(after + 14, NULL, 10)]++;
}

Test(exactly_once, a_snapshot_that_is_cut_repeats_and_loses_no_row)
{
    static const char *const points[] = {"snapshot_part:2", "state_record:1", "committed:2",
                                         "snapshot_part:5", "produced:9000",  "keep_slot"};
    char topic[128];

    live_open(&l, "eos_snapshot");
    live_set(&l, "snapshot.mode=initial");
    live_set(&l, "exactly.once.support=required");
    pg_execf(l.sql,
             "create table t (id int primary key, v text); create publication wr_pub for table t;"
             "insert into t select g, repeat('v', 400) from generate_series(1, %d) g",
             SNAPSHOT_ROWS);
    snprintf(topic, sizeof(topic), "%s.public.t", l.prefix);
    topic_create(l.services.bootstrap, topic, 1, NULL);
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        die_at(points[i]);
        pg_execf(l.sql, "insert into t values (%d, 'meanwhile')", SNAPSHOT_ROWS + 1 + (int)i);
    }
    live_stream(&l);
    pg_execf(l.sql, "insert into t values (%d, 'behind')", SNAPSHOT_ROWS + 100);
    live_wait_confirmed(&l);
    live_stop(&l);
    (void)topic_read(l.services.bootstrap, topic, count_read, NULL);
    for (int id = 1; id <= SNAPSHOT_ROWS; id++) {
        cr_assert_eq(read_counts[id], 1, "row %d came %d times", id, read_counts[id]);
    }
    cr_expect_eq(read_counts[SNAPSHOT_ROWS + 100], 1);
}

/* At least once, which has fewer of the points. */
Test(exactly_once, at_least_once_repeats_only_what_was_not_confirmed)
{
    static const char *const points[] = {"acknowledged:1", "acknowledged:500", "produced:2000",
                                         "acknowledged:3000"};

    live_open(&l, "alo_points");
    load_create(&l);
    live_stream(&l);
    live_stop(&l);
    int rows = 0;
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        rows += 10000;
        struct process writer = load_start(&l, rows);
        die_at(points[i]);
        load_wait(&l, &writer);
    }
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    struct load_result result = load_check(&l, rows); /* in order, without a gap */
    cr_expect_eq(result.record_count, rows + result.repeated_count);
    cr_expect_leq(result.step_back_count, 4 * LOAD_KEY_COUNT);
}
