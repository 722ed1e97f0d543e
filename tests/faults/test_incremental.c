/*
 * Snapshots while sixteen writers change the same rows: what a consumer makes of the topic must be
 * the table, and no row may come behind something newer. The same with kill -9 in the middle.
 * WALRELAY_TEST_UPDATES says how many changes there are to be, for runs that take longer.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/hot.h"
#include "support/live.h"
#include "support/postgres.h"

enum { ROW_COUNT = 3000, CHANGE_COUNT = 40000, WRITER_COUNT = 16, TIMEOUT_S = 1800 };

static struct live l;
static struct hot h;

static void tear_down(void)
{
    live_close(&l);
}

TestSuite(incremental_faults, .fini = tear_down, .timeout = TIMEOUT_S);

static int64_t change_count(void)
{
    const char *text = getenv("WALRELAY_TEST_UPDATES");

    return text == NULL ? CHANGE_COUNT : strtoll(text, NULL, 10);
}

static void open_hot_table(const char *name)
{
    live_open(&l, name);
    live_set(&l, "incremental.snapshot.chunk.size=100");
    hot_create(&h, &l, ROW_COUNT);
}

static void ask(const char *option)
{
    static char settings[LIVE_PATH_SIZE + 32];
    const char *const arguments[] = {l.services.binary, "snapshot", "-c", settings, option, NULL};

    snprintf(settings, sizeof(settings), "%s/relay.properties", l.directory);
    cr_assert_eq(process_run(arguments, l.log_path), 0, "%s", live_log(&l));
}

static size_t completed_count(void)
{
    return live_log_count(&l, "table is complete");
}

/* Until one more snapshot is complete. */
static void wait_for_completion(size_t before)
{
    int64_t end_us = wr_clock_monotonic_us() + LIVE_WAIT_MS * 2000;

    while (completed_count() <= before) {
        if (process_wait(&l.process, 20) || wr_clock_monotonic_us() >= end_us) {
            live_fail(&l, "the snapshot is not complete");
        }
    }
}

static void expect_topic_is_table(void)
{
    live_wait_confirmed(&l);
    struct hot_result result = hot_check(&h);
    printf("%lld records, %lld of them read, %lld stale, %lld resurrected, %zu snapshots\n",
           (long long)result.record_count, (long long)result.read_count,
           (long long)result.stale_count, (long long)result.resurrected_count, completed_count());
    cr_expect_gt(result.read_count, ROW_COUNT / 2);
    cr_expect_eq(result.stale_count, 0);
    cr_expect_eq(result.resurrected_count, 0);
}

/* Snapshot after snapshot, as long as there is something to change. */
Test(incremental_faults, no_row_goes_back_while_sixteen_writers_change_it)
{
    open_hot_table("wr_incremental_hot");
    live_stream(&l);
    hot_start(&h, WRITER_COUNT);
    do {
        size_t before = completed_count();
        ask("public.hot");
        wait_for_completion(before);
    } while (hot_change_count(&h) < change_count());
    hot_stop(&h);
    expect_topic_is_table();
    live_stop(&l);
}

Test(incremental_faults, a_snapshot_goes_on_after_a_crash_and_no_row_goes_back)
{
    int kill_count = 0;

    open_hot_table("wr_incremental_kill");
    live_set(&l, "incremental.snapshot.chunk.size=20");
    live_set(&l, "notification.enabled.channels=log");
    live_stream(&l);
    hot_start(&h, WRITER_COUNT);
    ask("public.hot");
    live_wait_log(&l, "type=IN_PROGRESS");
    while (completed_count() == 0 && kill_count < 3) {
        size_t before = live_log_count(&l, "type=IN_PROGRESS");
        while (live_log_count(&l, "type=IN_PROGRESS") < before + 20 && completed_count() == 0) {
            cr_assert_not(process_wait(&l.process, 5), "%s", live_log(&l));
        }
        if (completed_count() > 0) {
            break;
        }
        live_kill(&l);
        kill_count++;
        live_stream(&l);
        live_wait_log(&l, "a snapshot of an earlier run goes on");
    }
    cr_expect_gt(kill_count, 0);
    wait_for_completion(0);
    cr_expect_eq(live_log_count(&l, "type=STARTED"), 1);
    hot_stop(&h);
    expect_topic_is_table();
    live_stop(&l);
}
