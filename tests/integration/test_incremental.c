/* Snapshots while streaming: how they are asked for, what of a table they publish, and what is told
 * of them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/topic.h"

static struct live l;

static void tear_down(void)
{
    live_close(&l);
}

TestSuite(incremental, .fini = tear_down, .timeout = 180);

/* A table public.t of ten rows, with a relay that streams. */
static void open_table(const char *name, const char *columns)
{
    char sql[1024];

    live_open(&l, name);
    live_set(&l, "incremental.snapshot.chunk.size=4");
    live_set(&l, "notification.enabled.channels=sink,log");
    live_set(&l, "notification.sink.topic.name=%s.told", l.prefix);
    live_set(&l, "signal.data.collection=public.signals");
    snprintf(sql, sizeof(sql),
             "create table slow (id int primary key); insert into slow values (1);"
             "create table t (%s); create publication wr_pub for all tables;"
             "create table signals (id varchar(42) primary key, type varchar(32) not null,"
             " data varchar(2048));",
             columns);
    live_run(&l, sql);
}

static const char TEN[] = "insert into t select g, 'v' || g from generate_series(1, 10) g;";

/* `walrelay snapshot` with this relay's configuration; its exit code. */
static int ask(const char *first, const char *second, const char *third)
{
    static char settings[LIVE_PATH_SIZE + 32];
    const char *const arguments[] = {
        l.services.binary, "snapshot", "-c", settings, first, second, third, NULL};

    snprintf(settings, sizeof(settings), "%s/relay.properties", l.directory);
    return process_run(arguments, l.log_path);
}

static void wait_count(const char *text, size_t count)
{
    int64_t end_us = wr_clock_monotonic_us() + LIVE_WAIT_MS * 1000;

    while (live_log_count(&l, text) < count) {
        if (process_wait(&l.process, 20) || wr_clock_monotonic_us() >= end_us) {
            live_fail(&l, "not %zu times \"%s\"", count, text);
        }
    }
}

static void wait_completed(size_t count)
{
    wait_count("type=COMPLETED", count);
    live_wait_confirmed(&l);
}

/* What the topic of a table holds of `op`. */
struct tally {
    const char *needle;
    size_t count;
    char ids[4096];
    char last[65536];
};

static void tally(void *context, const rd_kafka_message_t *message)
{
    struct tally *t = context;

    if (message->payload == NULL ||
        memmem(message->payload, message->len, t->needle, strlen(t->needle)) == NULL) {
        return;
    }
    const char *id =
        message->key == NULL ? NULL : memmem(message->key, message->key_len, "\"id\":", 5);
    size_t used = strlen(t->ids);
    snprintf(t->ids + used, sizeof(t->ids) - used, "%s%d", used == 0 ? "" : ",",
             id == NULL ? 0 : (int)strtol(id + 5, NULL, 10));
    snprintf(t->last, sizeof(t->last), "%.*s", (int)message->len, (const char *)message->payload);
    t->count++;
}

static const struct tally *read_topic(const char *name, const char *needle)
{
    static struct tally t;
    char topic[256];

    t = (struct tally){.needle = needle};
    snprintf(topic, sizeof(topic), "%s.%s", l.prefix, name);
    (void)topic_read(l.services.bootstrap, topic, tally, &t);
    return &t;
}

static const char *read_ids(void)
{
    return read_topic("public.t", "\"op\":\"r\"")->ids;
}

#define ALL "1,2,3,4,5,6,7,8,9,10"

Test(incremental, is_asked_for_without_a_signal_table)
{
    open_table("wr_incremental_ask", "id int primary key, v text");
    live_run(&l, TEN);
    live_stream(&l);
    cr_expect_eq(ask("public.t", NULL, NULL), 0);
    wait_completed(1);
    expect_log(&l, "asked for a snapshot of public.t");
    cr_expect_str_eq(read_ids(), ALL);
    cr_expect_not_null(
        strstr(read_topic("public.t", "\"id\":10")->last, "\"snapshot\":\"incremental\""));
    cr_expect_eq(read_topic("message", "op")->count, 0, "a watermark is no event");
    live_stop(&l);
}

Test(incremental, says_when_nobody_reads_and_is_carried_out_by_the_next)
{
    open_table("wr_incremental_late", "id int primary key, v text");
    live_run(&l, TEN);
    live_start(&l, NULL);
    live_wait_streaming(&l);
    live_stop(&l);
    cr_expect_eq(ask("public.t", NULL, NULL), 0);
    expect_log(&l, "no relay reads the slot wr_incremental_late now");
    live_stream(&l);
    wait_completed(1);
    cr_expect_str_eq(read_ids(), ALL);
    live_stop(&l);
}

Test(incremental, is_refused_without_a_slot)
{
    open_table("wr_incremental_noslot", "id int primary key, v text");
    live_set(&l, "slot.name=wr_incremental_nobody");
    live_start(&l, "--help"); /* writes the configuration, and ends */
    cr_expect_eq(live_wait_exit(&l), 0);
    cr_expect_eq(ask("public.t", NULL, NULL), 1);
    expect_log(&l, "there is no slot wr_incremental_nobody");
}

Test(incremental, has_usage_errors)
{
    open_table("wr_incremental_usage", "id int primary key, v text");
    live_start(&l, "--help");
    (void)live_wait_exit(&l);
    cr_expect_eq(ask(NULL, NULL, NULL), 2);
    expect_log(&l, "snapshot wants a table");
    cr_expect_eq(ask("--pause", "public.t", NULL), 2);
    cr_expect_eq(ask("public.t", "--filter", "public.t"), 2);
    cr_expect_eq(ask("--stop", "--filter", "t=x"), 2);
    cr_expect_eq(ask("--nonsense", NULL, NULL), 2);
}

Test(incremental, reads_only_the_rows_of_a_condition)
{
    open_table("wr_incremental_where", "id int primary key, v text");
    live_set(&l, "signal.message.secret=between us");
    live_run(&l, TEN);
    live_stream(&l);
    cr_expect_eq(ask("public.t", "--filter", "public.t=id > 3 -- and no more"), 0);
    wait_completed(1);
    cr_expect_str_eq(read_ids(), "4,5,6,7,8,9,10");
    expect_log(&l, "total_rows_scanned=7");
    live_stop(&l);
}

/* Anybody may write logical messages. */
Test(incremental, believes_no_message_that_is_not_signed)
{
    open_table("wr_incremental_forged", "id int primary key, v text");
    live_set(&l, "signal.message.secret=between us");
    live_run(&l, TEN);
    live_stream(&l);
    live_run(&l, "select pg_logical_emit_message(true, 'walrelay.signal', '- {\"type\":"
                 "\"execute-snapshot\",\"data\":{\"data-collections\":[\"public.t\"]}}');"
                 "select pg_logical_emit_message(true, 'walrelay', 'high 0 1');");
    live_wait_log(&l, "is not signed with the secret");
    live_wait_confirmed(&l);
    cr_expect_str_eq(read_ids(), "");
    live_stop(&l);
}

Test(incremental, a_condition_cannot_be_more_than_a_condition)
{
    open_table("wr_incremental_inject", "id int primary key, v text");
    live_run(&l, TEN);
    live_stream(&l);
    live_run(&l, "insert into signals values ('s1', 'execute-snapshot', '{\"data-collections\":"
                 "[\"public.t\"],\"additional-conditions\":[{\"data-collection\":\"public.t\","
                 "\"filter\":\"true); drop table t; --\"}]}');");
    live_wait_log(&l, "status=SQL_EXCEPTION");
    cr_expect_str_eq(pg_query(l.sql, "select count(*) from t"), "10");
    live_run(&l, "insert into signals values ('s2', 'execute-snapshot', '{\"data-collections\":"
                 "[\"public.t\"],\"additional-conditions\":[{\"data-collection\":\"public.t\","
                 "\"filter\":\"set_config(''a.b'', ''c'', false) is null\"}]}');");
    wait_completed(2);
    live_stop(&l);
}

Test(incremental, goes_by_another_column_where_there_is_no_primary_key)
{
    open_table("wr_incremental_surrogate", "id int, v text");
    live_run(&l, "insert into t select g / 3, 'v' || g from generate_series(1, 20) g;"
                 "insert into t values (null, 'a'), (null, 'b');");
    live_stream(&l);
    cr_expect_eq(ask("public.t", NULL, NULL), 0);
    live_wait_log(&l, "status=NO_PRIMARY_KEY");
    cr_expect_eq(ask("public.t", "--surrogate-key", "id"), 0);
    wait_completed(2);
    cr_expect_eq(read_topic("public.t", "\"op\":\"r\"")->count, 22,
                 "rows of the same value and of none are read, too");
    cr_expect_eq(ask("public.t", "--surrogate-key", "nothing"), 0);
    wait_completed(3);
    expect_log(&l, "has no column nothing");
    live_stop(&l);
}

/* Until a session of walrelay waits for the lock. */
static void wait_blocked(void)
{
    cr_assert(pg_query_becomes(l.sql,
                               "select count(*) from pg_stat_activity where application_name ="
                               " 'walrelay' and wait_event_type = 'Lock'",
                               "1", LIVE_WAIT_MS),
              "nobody waits for the lock");
}

/*
 * Asks for the table behind another one that takes seconds, and locks it meanwhile: a transaction
 * from before would be waited for in any case. Returns the session that has the lock.
 */
static PGconn *ask_for_a_locked_table(void)
{
    PGconn *other = pg_open(&l.services, l.name);

    live_run(&l,
             "insert into signals values (clock_timestamp(), 'execute-snapshot',"
             " '{\"data-collections\":[\"public.slow\",\"public.t\"],\"additional-conditions\":"
             "[{\"data-collection\":\"public.slow\",\"filter\":\"pg_sleep(1) is not null\"}]}');");
    cr_assert(pg_query_becomes(l.sql,
                               "select count(*) from pg_stat_activity where application_name ="
                               " 'walrelay' and wait_event = 'PgSleep'",
                               "1", LIVE_WAIT_MS));
    pg_exec(other, "begin; lock table t in access exclusive mode");
    wait_blocked();
    return other;
}

/* While it waits for a lock the stream goes on, and so it does while it is paused. */
Test(incremental, pauses_resumes_and_stops)
{
    open_table("wr_incremental_pause", "id int primary key, v text");
    live_run(&l, TEN);
    live_run(&l, "create table other (id int primary key);");
    live_stream(&l);
    PGconn *other = ask_for_a_locked_table();
    live_run(&l, "insert into other values (1);");
    live_wait_confirmed(&l);
    cr_expect_eq(read_topic("public.other", "\"op\":\"c\"")->count, 1, "the stream is not held up");
    cr_expect_eq(ask("--pause", NULL, NULL), 0);
    live_wait_log(&l, "type=PAUSED");
    pg_exec(other, "commit");
    sleep_ms(1000);
    expect_no_log(&l, "type=COMPLETED");
    live_run(&l, "insert into signals values ('s1', 'resume-snapshot', '{}');");
    wait_completed(1);
    expect_log(&l, "type=RESUMED");
    cr_expect_str_eq(read_ids(), ALL);
    PQfinish(other);
    other = ask_for_a_locked_table();
    cr_expect_eq(ask("public.other", NULL, NULL), 0);
    wait_count("snapshot is asked for", 3);
    cr_expect_eq(ask("--stop", "public.t", NULL), 0);
    live_wait_log(&l, "type=ABORTED");
    pg_exec(other, "commit");
    wait_completed(2);
    PQfinish(other);
    cr_expect_str_eq(read_ids(), ALL, "of t nothing more");
    cr_expect_eq(read_topic("public.other", "\"op\":\"r\"")->count, 1);
    cr_expect_eq(ask("--stop", NULL, NULL), 0);
    live_wait_log(&l, "no snapshot is under way");
    live_stop(&l);
}

Test(incremental, a_pause_and_a_snapshot_outlive_the_process)
{
    open_table("wr_incremental_outlive", "id int primary key, v text");
    live_run(&l, TEN);
    live_stream(&l);
    PGconn *other = ask_for_a_locked_table();
    cr_expect_eq(ask("--pause", NULL, NULL), 0);
    live_wait_log(&l, "type=PAUSED");
    live_stop(&l);
    pg_exec(other, "commit");
    PQfinish(other);
    live_stream(&l);
    live_wait_log(&l, "a snapshot of an earlier run is paused");
    cr_expect_eq(ask("--resume", NULL, NULL), 0);
    wait_completed(1);
    cr_expect_str_eq(read_ids(), ALL);
    live_stop(&l);
    live_stream(&l);
    sleep_ms(500);
    expect_no_log(&l, "of an earlier run goes on");
    live_stop(&l);
}

Test(incremental, logs_what_it_is_told_to)
{
    open_table("wr_incremental_log", "id int primary key, v text");
    live_stream(&l);
    live_run(&l, "insert into signals values ('s1', 'log', '{\"message\":\"hello from a row\"}'),"
                 " ('s2', 'nonsense', '{}'), ('s3', 'execute-snapshot', 'x');");
    live_wait_log(&l, "hello from a row");
    live_wait_log(&l, "no signal of that type is known");
    live_wait_log(&l, "its data is no JSON");
    live_wait_confirmed(&l);
    cr_expect_eq(read_topic("public.signals", "\"op\":\"c\"")->count, 3);
    live_stop(&l);
}

Test(incremental, takes_expressions_and_says_what_it_does_not_know)
{
    open_table("wr_incremental_names", "id int primary key, v text");
    live_run(&l, "create table t2 (id int primary key); create table \"T 3\" (id int primary key);"
                 "insert into t2 values (1); insert into \"T 3\" values (1);");
    live_stream(&l);
    cr_expect_eq(ask("public\\.(t2|T 3)", "public.t", "public.nowhere"), 0);
    wait_completed(1);
    cr_expect_eq(read_topic("public.t2", "\"op\":\"r\"")->count, 1);
    cr_expect_eq(read_topic("public.T_3", "\"op\":\"r\"")->count, 1);
    expect_log(&l, "scanned_collection=public.nowhere total_rows_scanned=0 status=UNKNOWN_SCHEMA");
    expect_log(&l, "scanned_collection=public.t total_rows_scanned=0 status=EMPTY");
    live_stop(&l);
}

/* Kafka has no fence against whoever may write into the topic: the key says whom it is for. */
Test(incremental, is_asked_for_by_kafka)
{
    char topic[128];

    open_table("wr_incremental_kafka", "id int primary key, v text");
    snprintf(topic, sizeof(topic), "%s.asks", l.prefix);
    live_set(&l, "signal.enabled.channels=source,kafka");
    live_set(&l, "signal.kafka.topic=%s", topic);
    live_set(&l, "signal.kafka.groupId=%s", l.prefix);
    live_run(&l, TEN);
    topic_create(l.services.bootstrap, topic, 1, NULL);
    topic_write(l.services.bootstrap, topic, "somebody else",
                "{\"type\":\"log\",\"data\":{\"message\":\"not for us\"}}");
    topic_write(l.services.bootstrap, topic, l.prefix,
                "{\"id\":\"k1\",\"type\":\"execute-snapshot\",\"data\":"
                "{\"data-collections\":[\"public.t\"],\"type\":\"INCREMENTAL\"}}");
    live_stream(&l);
    wait_completed(1);
    cr_expect_str_eq(read_ids(), ALL);
    expect_log(&l, "id=k1");
    expect_no_log(&l, "not for us");
    topic_write(l.services.bootstrap, topic, l.prefix,
                "{\"id\":\"k2\",\"type\":\"log\",\"data\":{\"message\":\"the second\"}}");
    live_wait_log(&l, "the second");
    sleep_ms(500);
    live_stop(&l);
    live_stream(&l);
    topic_write(l.services.bootstrap, topic, l.prefix,
                "{\"id\":\"k3\",\"type\":\"log\",\"data\":{\"message\":\"the third\"}}");
    live_wait_log(&l, "the third");
    cr_expect_eq(live_log_count(&l, "the second"), 1, "what was read once is not read again");
    cr_expect_eq(live_log_count(&l, "snapshot is asked for"), 1);
    live_stop(&l);
}

/* A transaction that is open when a snapshot is asked for has to end before rows are read. */
Test(incremental, waits_for_transactions_that_are_open)
{
    open_table("wr_incremental_open", "id int primary key, v text");
    live_run(&l, TEN);
    live_stream(&l);
    PGconn *other = pg_open(&l.services, l.name);
    pg_exec(other, "begin; update t set v = 'late' where id = 5");
    cr_expect_eq(ask("public.t", NULL, NULL), 0);
    live_wait_log(&l, "waiting for transactions to end");
    cr_expect_str_eq(read_ids(), "");
    pg_exec(other, "commit");
    PQfinish(other);
    wait_completed(1);
    cr_expect_str_eq(read_ids(), ALL);
    cr_expect_not_null(strstr(read_topic("public.t", "{\"id\":5,")->last, "\"v\":\"late\""));
    live_stop(&l);
}

/* Holds the table, changes it while the snapshot waits for it, and lets go. */
static void change_in_the_middle(const char *sql)
{
    live_stream(&l);
    PGconn *other = ask_for_a_locked_table();
    pg_exec(other, sql);
    pg_exec(other, "commit");
    PQfinish(other);
    wait_completed(1);
}

Test(incremental, reads_a_table_that_changes_its_columns_as_it_is_then)
{
    open_table("wr_incremental_ddl", "id int primary key, v text, gone int");
    live_run(&l, "insert into t select g, 'v' || g, 0 from generate_series(1, 10) g;");
    change_in_the_middle("alter table t drop column gone; alter table t add column w int default 7;"
                         "alter table t alter column v type varchar(20)");
    cr_expect_str_eq(read_ids(), ALL);
    cr_expect_not_null(
        strstr(read_topic("public.t", "\"op\":\"r\"")->last, "{\"id\":10,\"v\":\"v10\",\"w\":7}"));
    live_stop(&l);
}

Test(incremental, does_not_take_a_table_that_is_rewritten_for_an_empty_one)
{
    open_table("wr_incremental_rewrite", "id int primary key, v text");
    live_run(&l, TEN);
    change_in_the_middle("alter table t alter column v type text using v || '!'");
    cr_expect_str_eq(read_ids(), ALL);
    cr_expect_not_null(strstr(read_topic("public.t", "\"op\":\"r\"")->last, "\"v10!\""));
    live_stop(&l);
}

Test(incremental, publishes_no_row_of_before_a_truncate)
{
    open_table("wr_incremental_truncate", "id int primary key, v text");
    live_run(&l, TEN);
    change_in_the_middle("truncate t; insert into t values (3, 'new')");
    cr_expect_str_eq(read_ids(), "3");
    live_stop(&l);
}

Test(incremental, reads_a_table_that_is_dropped_as_unknown)
{
    open_table("wr_incremental_drop", "id int primary key, v text");
    live_run(&l, TEN);
    change_in_the_middle("drop table t");
    expect_log(&l, "status=UNKNOWN_SCHEMA");
    live_stop(&l);
}

Test(incremental, reads_large_tables_of_several_key_columns_and_odd_values)
{
    open_table("wr_incremental_keys", "a text, b numeric, id int, primary key (a, b, id)");
    live_run(&l, "insert into t select case g % 3 when 0 then E'it''s \\\\ \"' when 1 then '' else"
                 " 'é☃' end, g % 4 / 2.0, g from generate_series(1, 50) g;");
    live_stream(&l);
    cr_expect_eq(ask("public.t", NULL, NULL), 0);
    wait_completed(1);
    cr_expect_eq(read_topic("public.t", "\"op\":\"r\"")->count, 50);
    live_stop(&l);
}

Test(incremental, has_the_columns_and_rows_of_the_publication)
{
    open_table("wr_incremental_publication", "id int primary key, v text, hidden text");
    if (strtol(pg_query(l.sql, "show server_version_num"), NULL, 10) < 150000) {
        cr_skip_test("no column lists");
    }
    live_run(&l, "insert into t select g, 'v' || g, 'x' from generate_series(1, 10) g;"
                 "drop publication wr_pub;"
                 "create publication wr_pub for table t (id, v) where (id % 2 = 0);");
    live_stream(&l);
    cr_expect_eq(ask("public.t", NULL, NULL), 0);
    wait_completed(1);
    cr_expect_str_eq(read_ids(), "2,4,6,8,10");
    cr_expect_null(strstr(read_topic("public.t", "\"op\":\"r\"")->last, "hidden"));
    live_stop(&l);
}

Test(incremental, a_role_that_may_not_read_a_table_loses_nothing_but_the_snapshot)
{
    open_table("wr_incremental_grants", "id int primary key, v text");
    live_run(&l, TEN);
    live_run(&l, "drop role if exists wr_incremental_low;"
                 "create role wr_incremental_low login replication;");
    live_set(&l, "database.user=wr_incremental_low");
    live_set(&l, "publication.autocreate.mode=disabled");
    live_stream(&l);
    cr_expect_eq(ask("public.t", NULL, NULL), 0);
    live_wait_log(&l, "GRANT SELECT ON public.t TO");
    live_run(&l, "grant select on t to wr_incremental_low;");
    cr_expect_eq(ask("public.t", NULL, NULL), 0);
    wait_completed(1);
    cr_expect_str_eq(read_ids(), ALL);
    live_stop(&l);
    live_run(&l, "drop owned by wr_incremental_low; drop role wr_incremental_low;");
}

Test(incremental, goes_on_when_its_session_or_the_stream_is_lost)
{
    open_table("wr_incremental_lost", "id int primary key, v text");
    live_run(&l, TEN);
    live_stream(&l);
    PGconn *other = ask_for_a_locked_table();
    pg_exec(other, "select pg_terminate_backend(pid) from pg_stat_activity"
                   " where application_name = 'walrelay' and wait_event_type = 'Lock'");
    live_wait_log(&l, "level=warn at=incremental");
    pg_exec(other, "select pg_terminate_backend(active_pid) from pg_replication_slots"
                   " where slot_name = 'wr_incremental_lost'");
    pg_exec(other, "commit");
    PQfinish(other);
    wait_completed(1);
    cr_expect_str_eq(read_ids(), ALL);
    live_stop(&l);
}

Test(incremental, refuses_a_blocking_snapshot)
{
    open_table("wr_incremental_blocking", "id int primary key, v text");
    live_stream(&l);
    live_run(&l, "insert into signals values ('s1', 'execute-snapshot', '{\"data-collections\":"
                 "[\"public.t\"],\"type\":\"blocking\"}');");
    live_wait_log(&l, "a blocking snapshot is not supported");
    live_stop(&l);
}

/* The rows of a chunk and how far it was read are in one transaction of Kafka. */
Test(incremental, publishes_each_row_once_where_delivery_is_exactly_once)
{
    open_table("wr_incremental_once", "id int primary key, v text");
    live_set(&l, "exactly.once.support=required");
    live_run(&l, "insert into t select g, 'v' || g from generate_series(1, 400) g;");
    live_stream(&l);
    cr_expect_eq(ask("public.t", NULL, NULL), 0);
    wait_count("type=IN_PROGRESS", 20);
    live_kill(&l);
    live_stream(&l);
    wait_completed(1);
    cr_expect_eq(read_topic("public.t", "\"op\":\"r\"")->count, 400);
    live_stop(&l);
}
