/*
 * A snapshot that is cut: by kill -9, a stop, a lost connection, while others write. It must go on
 * behind the last part that Kafka has, and what a consumer makes of the topic must be the table.
 * WALRELAY_TEST_KILLS says how often things die, for runs that take longer.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/churn.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/topic.h"

/* Some 7 rows a block, and 28,000 a part. */
enum { ROW_COUNT = 90000, ROWS_OF_A_PART = 20000, KILL_COUNT = 3 };

static struct live l;
static int *read_counts; /* by id: how often it was published as a row of a snapshot */

static void tear_down(void)
{
    live_close(&l);
    free(read_counts);
    read_counts = NULL;
}

TestSuite(snapshot_faults, .fini = tear_down, .timeout = 600);

static int kill_count(void)
{
    const char *text = getenv("WALRELAY_TEST_KILLS");

    return text == NULL ? KILL_COUNT : (int)strtol(text, NULL, 10);
}

static const char *topic(void)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.public.t", l.prefix);
    return name;
}

static const char *state_topic(void)
{
    static char name[128];

    snprintf(name, sizeof(name), "walrelay.state.%s", l.name);
    return name;
}

static void open_wide_table(const char *name)
{
    live_open(&l, name);
    live_set(&l, "snapshot.mode=initial");
    live_run(&l, "create table t (id int primary key, v text);"
                 "create publication wr_pub for table t;"
                 "insert into t select g, repeat('v', 1000) from generate_series(1, 90000) g;");
    topic_create(l.services.bootstrap, topic(), 1, NULL);
}

static void ignore(void *context, const rd_kafka_message_t *message)
{
    (void)context;
    (void)message;
}

/* Until `name` has `count` records, as long as walrelay runs. */
static void wait_for_records(const char *name, int64_t count)
{
    struct topic_counter *counter = topic_counter_new(l.services.bootstrap, name);
    int64_t end_us = wr_clock_monotonic_us() + LIVE_WAIT_MS * 1000;

    while (topic_counter_now(counter) < count) {
        if (process_wait(&l.process, 5) || wr_clock_monotonic_us() >= end_us) {
            live_fail(&l, "%s has no %lld records", name, (long long)count);
        }
    }
    topic_counter_free(counter);
}

/* Until the first part is noted as published: the head twice, and the table. */
static void wait_for_a_part(int64_t notes_before)
{
    wait_for_records(state_topic(), notes_before + 3);
}

static int64_t note_count(void)
{
    return topic_read(l.services.bootstrap, state_topic(), ignore, NULL);
}

static void count_read(void *context, const rd_kafka_message_t *message)
{
    const char *after = memmem(message->payload, message->len, "\"after\":{\"id\":", 14);

    (void)context;
    cr_assert_not_null(after);
    if (memmem(message->payload, message->len, "\"op\":\"r\"", 8) != NULL) {
        read_counts[(int)strtol(after + 14, NULL, 10)]++;
    }
}

static void count_reads(void)
{
    read_counts = calloc(2 * ROW_COUNT, sizeof(*read_counts));
    cr_assert_not_null(read_counts);
    (void)topic_read(l.services.bootstrap, topic(), count_read, NULL);
}

static void expect_slots(const char *expected)
{
    cr_expect_str_eq(pg_queryf(l.sql,
                               "select string_agg(slot_name, ',' order by slot_name)"
                               " from pg_replication_slots where database = '%s'",
                               l.name),
                     expected);
}

Test(snapshot_faults, kill_9_repeats_no_part_that_kafka_has)
{
    open_wide_table("snapshot_kill");
    int64_t notes = note_count();
    live_start(&l, NULL);
    wait_for_a_part(notes);
    live_kill(&l);
    expect_slots("snapshot_kill_snapshot");
    live_run(&l, "insert into t values (90001, 'new');");
    live_stream(&l);
    live_run(&l, "insert into t values (90002, 'newer');");
    live_wait_confirmed(&l);
    live_stop(&l);
    expect_log(&l, "snapshot goes on where it stopped");
    expect_slots("snapshot_kill");
    count_reads();
    for (int id = 1; id <= ROWS_OF_A_PART; id++) {
        cr_assert_eq(read_counts[id], 1, "row %d was read %d times", id, read_counts[id]);
    }
    for (int id = ROWS_OF_A_PART; id <= ROW_COUNT; id++) {
        cr_assert_geq(read_counts[id], 1, "row %d was lost", id);
    }
    cr_expect_eq(read_counts[90002], 0, "it came after the snapshot");
}

Test(snapshot_faults, sigterm_ends_at_once_and_the_next_start_goes_on)
{
    open_wide_table("snapshot_term");
    int64_t notes = note_count();
    live_start(&l, NULL);
    wait_for_a_part(notes);
    live_stop(&l);
    expect_slots("snapshot_term_snapshot");
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    count_reads();
    cr_expect_eq(read_counts[1], 1);
    cr_expect_geq(read_counts[ROW_COUNT], 1);
}

Test(snapshot_faults, a_lost_connection_is_gone_on_from_as_well)
{
    open_wide_table("snapshot_cut");
    int64_t notes = note_count();
    live_start(&l, NULL);
    wait_for_a_part(notes);
    pg_exec(l.sql, "select pg_terminate_backend(pid) from pg_stat_activity"
                   " where application_name like 'walrelay%'"
                   " and datname = current_database()");
    live_wait_streaming(&l);
    live_wait_log(&l, "snapshot is complete");
    live_wait_streaming(&l);
    live_stop(&l);
    count_reads();
    cr_expect_eq(read_counts[1], 1);
    cr_expect_geq(read_counts[ROW_COUNT], 1);
}

/* A value outside its row, which a change does not repeat, is known from the snapshot alone. */
Test(snapshot_faults, a_table_with_large_values_starts_over)
{
    open_wide_table("snapshot_toast");
    live_run(&l, "alter table t alter v set storage external;"
                 "insert into t values (0, repeat('large', 1000));");
    int64_t notes = note_count();
    live_start(&l, NULL);
    wait_for_a_part(notes);
    live_kill(&l);
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    count_reads();
    cr_expect_eq(read_counts[1], 2);
    cr_expect_geq(read_counts[ROW_COUNT], 1);
}

Test(snapshot_faults, without_its_notes_a_snapshot_starts_anew)
{
    open_wide_table("snapshot_forgotten");
    int64_t notes = note_count();
    live_start(&l, NULL);
    wait_for_a_part(notes);
    live_kill(&l);
    live_set(&l, "topic.prefix=%s_other", l.prefix); /* as good as another topic of notes */
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    expect_log(&l, "starts anew");
    expect_slots("snapshot_forgotten");
}

Test(snapshot_faults, a_snapshot_that_is_given_up_leaves_no_slot)
{
    open_wide_table("snapshot_given_up");
    int64_t notes = note_count();
    live_start(&l, NULL);
    wait_for_a_part(notes);
    live_kill(&l);
    live_set(&l, "snapshot.mode=no_data");
    live_stream(&l);
    live_stop(&l);
    expect_slots("snapshot_given_up");
}

Test(snapshot_faults, kill_9_again_and_again_under_writers_gives_the_table_and_no_stale_row)
{
    struct churn churn;
    int kills = kill_count();

    live_open(&l, "snapshot_churn");
    live_set(&l, "snapshot.mode=initial");
    live_set(&l, "snapshot.max.threads=2");
    churn_create(&churn, &l, 40000);
    churn_start(&churn, 4);
    for (int i = 0; i < kills; i++) {
        live_start(&l, NULL);
        wait_for_records(churn_topic(&churn), 6000 * (i + 1));
        live_kill(&l);
    }
    live_stream(&l);
    live_wait_log(&l, "snapshot is complete");
    churn_stop(&churn);
    live_wait_streaming(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    struct churn_result result = churn_check(&churn);
    cr_expect_gt(result.read_count, 20000);
    expect_log(&l, "snapshot goes on where it stopped");
    cr_expect_eq(result.stale_count, 0);
}
