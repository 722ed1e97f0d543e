/*
 * What a start refuses because changes would be missing: the slot was moved or dropped, or another
 * server answers. In both ways of delivery; and --accept-gap goes on in spite of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "support/live.h"
#include "support/postgres.h"
#include "support/server.h"
#include "support/topic.h"

static struct live l;
static struct server postgres;
static struct server other;

static void tear_down(void)
{
    live_close(&l);
    server_close(&postgres);
    server_close(&other);
}

TestSuite(start_checks, .fini = tear_down, .timeout = 300);

static char deliveries[][16] = {"requested", "required"};

/* It has run once, has published a row, and has stopped. */
static void publish_a_row(const char *name, const char *support)
{
    live_open(&l, name);
    live_set(&l, "exactly.once.support=%s", support);
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    live_stream(&l);
    live_run(&l, "insert into t values (1);");
    live_wait_confirmed(&l);
    live_stop(&l);
}

static void expect_refused(const char *text)
{
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    cr_expect_eq(live_log_count(&l, text), 1, "\"%s\" is not refused:\n%s", text, live_log(&l));
    cr_expect_eq(live_log_count(&l, "--accept-gap"), 1, "%s", live_log(&l));
}

static void ignore(void *context, const rd_kafka_message_t *message)
{
    (void)context;
    (void)message;
}

static int64_t count_published(void)
{
    char topic[128];

    snprintf(topic, sizeof(topic), "%s.public.t", l.prefix);
    return topic_read(l.services.bootstrap, topic, ignore, NULL);
}

/* It goes on, and no longer needs to be told to. */
static void expect_accepted(void)
{
    int64_t before = count_published();

    live_start(&l, "--accept-gap");
    live_wait_streaming(&l);
    live_run(&l, "insert into t values (1001);");
    live_wait_confirmed(&l);
    live_stop(&l);
    expect_log(&l, "going on in spite of this");
    live_stream(&l);
    live_run(&l, "insert into t values (1002);");
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_geq(count_published(), before + 2);
}

ParameterizedTestParameters(start_checks, a_slot_that_was_advanced)
{
    return cr_make_param_array(char[16], deliveries, 2);
}

ParameterizedTest(char support[16], start_checks, a_slot_that_was_advanced)
{
    publish_a_row("checks_advanced", support);
    live_run(&l, "insert into t values (2);"
                 "select pg_replication_slot_advance('checks_advanced', pg_current_wal_lsn());");
    expect_refused("slot checks_advanced is ahead");
    expect_accepted();
}

ParameterizedTestParameters(start_checks, a_slot_that_was_made_anew)
{
    return cr_make_param_array(char[16], deliveries, 2);
}

ParameterizedTest(char support[16], start_checks, a_slot_that_was_made_anew)
{
    publish_a_row("checks_anew", support);
    live_run(&l, "select pg_drop_replication_slot('checks_anew');"
                 "insert into t values (2);"
                 "select pg_create_logical_replication_slot('checks_anew', 'pgoutput');");
    expect_refused("slot checks_anew is ahead");
    expect_accepted();
}

ParameterizedTestParameters(start_checks, a_slot_that_is_missing)
{
    return cr_make_param_array(char[16], deliveries, 2);
}

ParameterizedTest(char support[16], start_checks, a_slot_that_is_missing)
{
    publish_a_row("checks_missing", support);
    live_run(&l, "select pg_drop_replication_slot('checks_missing'); insert into t values (2);");
    expect_refused("slot checks_missing is missing");
    live_set(&l, "snapshot.mode=initial"); /* the way back to a whole picture */
    expect_accepted();
    expect_log(&l, "snapshot is complete");
}

/* The state is as old as a crash leaves it: nothing is noted at the end. */
Test(start_checks, a_slot_that_is_missing_after_a_crash)
{
    publish_a_row("checks_crash", "requested");
    live_stream(&l);
    live_run(&l, "insert into t values (2);");
    live_wait_confirmed(&l);
    live_kill(&l);
    live_stream(&l); /* no false alarm */
    live_kill(&l);
    live_run(&l, "select pg_drop_replication_slot('checks_crash');");
    expect_refused("slot checks_crash is missing");
}

/* slot.drop.on.stop: it is gone because we have dropped it. */
ParameterizedTestParameters(start_checks, a_slot_that_was_dropped_on_stop_is_not_missed)
{
    return cr_make_param_array(char[16], deliveries, 2);
}

ParameterizedTest(char support[16], start_checks, a_slot_that_was_dropped_on_stop_is_not_missed)
{
    live_open(&l, "checks_dropped");
    live_set(&l, "exactly.once.support=%s", support);
    live_set(&l, "slot.drop.on.stop=true");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    for (int i = 1; i <= 2; i++) {
        live_stream(&l);
        pg_execf(l.sql, "insert into t values (%d)", i);
        live_wait_confirmed(&l);
        live_stop(&l);
    }
    cr_expect_eq(count_published(), 2);
}

static void use_server(struct server *s)
{
    PQfinish(l.sql);
    l.services.pg_host = "127.0.0.1";
    l.services.pg_port = s->port;
    live_set(&l, "database.port=%s", s->port);
    l.sql = pg_open(&l.services, NULL);
}

static void make_table(void)
{
    pg_create_database(&l.services, l.name);
    PQfinish(l.sql);
    l.sql = pg_open(&l.services, l.name);
    pg_exec(l.sql, "create table t (id int primary key)");
    pg_exec(l.sql, "create publication wr_pub for table t");
}

Test(start_checks, another_cluster)
{
    live_open(&l, "checks_cluster");
    server_open(&postgres, SERVER_POSTGRES, NULL);
    server_open(&other, SERVER_POSTGRES, NULL);
    use_server(&postgres);
    make_table();
    live_stream(&l);
    live_run(&l, "insert into t values (1);");
    live_wait_confirmed(&l);
    live_stop(&l);
    use_server(&other);
    make_table();
    expect_refused("another cluster");
    expect_accepted();
}

static void copy_directory(const char *from, const char *to)
{
    const char *const remove[] = {"rm", "-rf", to, NULL};
    const char *const copy[] = {"cp", "-a", from, to, NULL};

    cr_assert_eq(process_run(remove, NULL), 0);
    cr_assert_eq(process_run(copy, NULL), 0);
}

/* A backup of the server from before the last row was published. */
static void open_with_backup(const char *name, char backup[300])
{
    live_open(&l, name);
    server_open(&postgres, SERVER_POSTGRES, NULL);
    use_server(&postgres);
    make_table();
    live_stream(&l);
    live_run(&l, "insert into t values (1);");
    live_wait_confirmed(&l);
    live_stop(&l);
    PQfinish(l.sql);
    l.sql = NULL;
    server_stop(&postgres, false);
    snprintf(backup, 300, "%s.backup", postgres.directory);
    copy_directory(postgres.directory, backup);
    server_start_again(&postgres, NULL);
    l.sql = pg_open(&l.services, l.name);
    live_stream(&l);
    live_run(&l, "insert into t select g from generate_series(2, 500) g;");
    live_wait_confirmed(&l);
    live_stop(&l);
    PQfinish(l.sql);
    l.sql = NULL;
    server_stop(&postgres, false);
}

static void restore(const char *backup)
{
    const char *const remove[] = {"rm", "-rf", backup, NULL};

    copy_directory(backup, postgres.directory);
    (void)process_run(remove, NULL);
}

Test(start_checks, a_server_that_was_restored)
{
    char backup[300];

    open_with_backup("checks_restored", backup);
    restore(backup);
    server_start_again(&postgres, NULL);
    l.sql = pg_open(&l.services, l.name);
    expect_refused("an older server");
    expect_accepted();
}

/* The standby was behind what we had published when it was promoted. */
Test(start_checks, a_failover_that_lost_what_was_published)
{
    char backup[300];
    char path[400];

    open_with_backup("checks_failover", backup);
    restore(backup);
    snprintf(path, sizeof(path), "%s/data/standby.signal", postgres.directory);
    const char *const touch[] = {"install", "-o", "postgres", "-m", "600", "/dev/null", path, NULL};
    cr_assert_eq(process_run(touch, NULL), 0);
    server_start_again(&postgres, NULL);
    l.sql = pg_open(&l.services, l.name);
    pg_exec(l.sql, "select pg_promote()");
    cr_assert(pg_query_becomes(l.sql, "select pg_is_in_recovery()", "f", 30000));
    live_run(&l, "insert into t select g from generate_series(10000, 12000) g; checkpoint;");
    expect_refused("has left timeline 1 at");
    expect_accepted();
}
