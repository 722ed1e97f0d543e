/*
 * What is wrong around walrelay: each is one clear line that says what, where and how to mend it,
 * with the right exit code, and nothing is lost or confirmed.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/records.h"
#include "support/server.h"
#include "support/topic.h"

static struct live l;
static struct server postgres;
static struct server kafka;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&l);
    server_close(&postgres);
    server_close(&kafka);
    records_done(&records);
}

TestSuite(bad_input, .fini = tear_down, .timeout = 300);

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

/* A table with a key, and its publication. */
static void open_table(const char *name)
{
    live_open(&l, name);
    live_run(&l, "create table t (id int primary key, v text);"
                 "create publication wr_pub for table t;");
}

/* Where the slot stands; "" when there is none. */
static const char *slot_position(void)
{
    return pg_queryf(l.sql,
                     "select confirmed_flush_lsn from pg_replication_slots where slot_name = '%s'",
                     l.name);
}

/* It ends with one line that has both texts, and has made no slot. */
static void expect_refusal(const char *what, const char *remedy)
{
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1, "exit code %d", l.process.exit_code);
    cr_expect_eq(live_log_count(&l, "level=error"), 1, "%s", live_log(&l));
    const char *line = strstr(live_log(&l), "level=error");
    cr_assert_not_null(line, "%s", live_log(&l));
    cr_expect_not_null(strstr(line, what), "not \"%s\": %s", what, line);
    cr_expect_not_null(strstr(line, remedy), "not \"%s\": %s", remedy, line);
}

static void expect_refusal_without_slot(const char *what, const char *remedy)
{
    expect_refusal(what, remedy);
    cr_expect_str_empty(slot_position());
}

/* The configuration. */

/* Runs it with a file of this text: exit code 2, and the log has each of `lines`. */
static void expect_usage(const char *text, const char *suffix, const char *const *lines)
{
    char path[LIVE_PATH_SIZE + 32];
    const char *const arguments[] = {"-c", path, NULL};

    live_open(&l, "bad_config");
    snprintf(path, sizeof(path), "%s/bad.%s", l.directory, suffix);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
    live_start_with(&l, arguments);
    cr_expect_eq(live_wait_exit(&l), 2, "exit code %d", l.process.exit_code);
    for (size_t i = 0; lines[i] != NULL; i++) {
        expect_log(&l, lines[i]);
    }
}

Test(bad_input, all_problems_of_a_file_are_said_at_once_with_the_nearest_name)
{
    expect_usage("topic.prefix=p\n"
                 "database.dbname=postgres\n"
                 "databse.hostname=127.0.0.1\n"
                 "snapshot.mode=sometimes\n"
                 "database.port=many\n",
                 "properties",
                 (const char *const[]){"bad.properties:3: databse.hostname", "database.hostname",
                                       "bad.properties:4: snapshot.mode=sometimes", "no_data",
                                       "bad.properties:5: database.port=many", NULL});
    expect_no_log(&l, "level=");
}

Test(bad_input, what_is_not_built_yet_is_refused_and_not_ignored)
{
    expect_usage("topic.prefix=p\n"
                 "database.dbname=postgres\n"
                 "snapshot.mode=custom\n"
                 "http.listen=:8080\n",
                 "properties", (const char *const[]){"snapshot.mode=custom", "http.listen", NULL});
}

Test(bad_input, json_that_is_cut_off_is_named_with_its_line)
{
    expect_usage("{\"name\": \"x\",\n \"config\": {\"topic.prefix\": \"p\",\n", "json",
                 (const char *const[]){"bad.json", NULL});
}

Test(bad_input, a_secret_that_is_not_there_is_named_and_a_secret_that_is_is_not_shown)
{
    expect_usage("topic.prefix=p\n"
                 "database.dbname=postgres\n"
                 "database.user=${env:WALRELAY_TEST_NOT_SET}\n"
                 "database.password=hunter2-${env:WALRELAY_TEST_NOT_SET}\n",
                 "properties", (const char *const[]){"WALRELAY_TEST_NOT_SET", NULL});
    expect_no_log(&l, "hunter2");
}

Test(bad_input, a_file_that_is_not_there_is_named)
{
    live_open(&l, "bad_config");
    live_start_with(&l, (const char *const[]){"-c", "/nowhere/relay.json", NULL});
    cr_expect_eq(live_wait_exit(&l), 2);
    expect_log(&l, "/nowhere/relay.json");
}

/* PostgreSQL. */

Test(bad_input, a_server_that_is_away_is_tried_again_until_it_is_there)
{
    open_table("bad_away");
    live_set(&l, "database.port=1");
    live_start(&l, NULL);
    live_wait_log(&l, "retry_ms=600");
    expect_log(&l, "127.0.0.1");
    expect_log(&l, "Connection refused");
    process_signal(&l.process, SIGTERM);
    cr_expect_eq(live_wait_exit(&l), 0, "a wait for the server is interrupted by SIGTERM");
}

/* A port where the kernel takes connections and nobody answers; close it in the end. */
static int open_silent_port(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    cr_assert_eq(bind(fd, (const struct sockaddr *)&address, size), 0);
    cr_assert_eq(listen(fd, 8), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

Test(bad_input, a_server_that_does_not_answer_is_not_waited_for_for_ever)
{
    int port = 0;
    int fd = open_silent_port(&port);

    open_table("bad_silent");
    live_set(&l, "database.port=%d", port);
    live_set(&l, "database.connectTimeout=1");
    live_start(&l, NULL);
    live_wait_log(&l, "does not answer in time");
    live_stop(&l);
    close(fd);
}

Test(bad_input, a_server_that_stays_away_is_given_up_where_retries_are_bounded)
{
    open_table("bad_away_bounded");
    live_set(&l, "database.port=1");
    live_set(&l, "errors.max.retries=2");
    expect_refusal_without_slot("Connection refused", "127.0.0.1");
    cr_expect_eq(live_log_count(&l, "retry_ms="), 2, "%s", live_log(&l));
}

Test(bad_input, a_database_that_does_not_exist_stops)
{
    open_table("bad_database");
    live_set(&l, "database.dbname=nobody_made_this");
    expect_refusal_without_slot("nobody_made_this", "check database.dbname");
}

Test(bad_input, a_role_without_the_right_to_replicate_is_told_the_grant)
{
    open_table("bad_role");
    live_run(&l, "drop role if exists wr_low; create role wr_low login;");
    live_set(&l, "database.user=wr_low");
    expect_refusal_without_slot("wr_low", "ALTER ROLE \\\"wr_low\\\" REPLICATION;");
    live_run(&l, "drop role wr_low;");
}

/* A server of its own, whose settings are wrong. */
static void open_with_own_postgres(const char *name, const char *setting)
{
    server_open(&postgres, SERVER_POSTGRES, (const char *const[]){setting, NULL});
    l.services = *services_or_skip();
    l.services.pg_host = "127.0.0.1";
    l.services.pg_port = postgres.port;
    open_table(name);
}

Test(bad_input, wal_level_and_password_are_named_with_their_remedies)
{
    open_with_own_postgres("bad_server", "wal_level=replica");
    expect_refusal_without_slot("wal_level is replica", "ALTER SYSTEM SET wal_level = logical;");

    pg_exec(l.sql, "create role locked login replication password 'right'");
    pg_execf(l.sql,
             "copy (values ('host all postgres 127.0.0.1/32 trust'),"
             " ('host all locked 127.0.0.1/32 scram-sha-256')) to '%s/data/pg_hba.conf'",
             postgres.directory);
    pg_exec(l.sql, "select pg_reload_conf()");
    cr_assert(pg_query_becomes(l.sql,
                               "select count(*) from pg_hba_file_rules where user_name = '{locked}'"
                               " and pg_conf_load_time() > now() - interval '1 minute'",
                               "1", LIVE_WAIT_MS));
    unlink(l.log_path);
    live_set(&l, "database.user=locked");
    live_set(&l, "database.password=wrong-secret");
    expect_refusal_without_slot("password authentication failed", "check database.user");
    expect_no_log(&l, "wrong-secret");
}

Test(bad_input, a_missing_publication_is_told_the_statement)
{
    live_open(&l, "bad_publication");
    live_run(&l, "create table t (id int primary key);");
    live_set(&l, "publication.autocreate.mode=disabled");
    expect_refusal_without_slot("publication wr_pub does not exist", "CREATE PUBLICATION");
}

Test(bad_input, a_filter_that_no_table_passes_stops)
{
    open_table("bad_filter");
    live_set(&l, "publication.name=wr_other");
    live_set(&l, "publication.autocreate.mode=filtered");
    live_set(&l, "table.include.list=public.nothing_like_it");
    expect_refusal_without_slot("none of the", "table.include.list");
}

Test(bad_input, a_slot_of_another_plugin_stays_as_it_is)
{
    open_table("bad_plugin");
    pg_execf(l.sql, "select pg_create_logical_replication_slot('%s', 'test_decoding')", l.name);
    char before[32];
    snprintf(before, sizeof(before), "%s", slot_position());
    expect_refusal("test_decoding", "pg_drop_replication_slot");
    cr_expect_str_eq(slot_position(), before);
}

Test(bad_input, a_slot_of_another_database_stays_as_it_is)
{
    open_table("bad_slot_home");
    PGconn *elsewhere = pg_open(&l.services, "postgres");
    pg_exec(elsewhere, "select pg_create_logical_replication_slot('elsewhere', 'pgoutput')");
    live_set(&l, "slot.name=elsewhere");
    expect_refusal("database \\\"postgres\\\"", "slot.name");
    pg_exec(elsewhere, "select pg_drop_replication_slot('elsewhere')");
    PQfinish(elsewhere);
}

Test(bad_input, a_slot_that_vanishes_meanwhile_is_not_made_again)
{
    open_table("bad_slot_gone");
    live_stream(&l);
    pg_exec(l.sql, "insert into t values (1)");
    live_wait_confirmed(&l);
    while (pg_query(l.sql, "select count(*) from pg_replication_slots where slot_name ="
                           " 'bad_slot_gone'")[0] != '0') {
        /* Its walsender comes back at once, so both are said in one statement until it works. */
        PQclear(PQexec(l.sql, "select pg_terminate_backend(active_pid) from pg_replication_slots"
                              " where slot_name = 'bad_slot_gone' and active_pid is not null"));
        PQclear(PQexec(l.sql, "select pg_drop_replication_slot('bad_slot_gone')"));
    }
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "bad_slot_gone");
    expect_log(&l, "level=error");
    cr_expect_str_empty(slot_position());
}

/* Columns of types that nobody has heard of. */

Test(bad_input, a_column_of_an_unknown_type_is_left_out_and_said_once)
{
    live_open(&l, "bad_type");
    live_run(&l, "create type pair as (a int, b text);"
                 "create table t (id int primary key, p pair, v text);"
                 "create publication wr_pub for table t;");
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);
    live_stream(&l);
    live_run(&l,
             "insert into t values (1, (1, 'x'), 'y'); insert into t values (2, (2, 'x'), 'z');");
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    expect_events(&records, topic("public.t"),
                  "{\"id\":1} c null -> {\"id\":1,\"v\":\"y\"}\n"
                  "{\"id\":2} c null -> {\"id\":2,\"v\":\"z\"}\n");
    cr_expect_eq(live_log_count(&l, "pair"), 1, "%s", live_log(&l));
    expect_log(&l, "include.unknown.datatypes");
}

/* Kafka. */

/* Until walrelay says that it has everything up to now; it may have confirmed less. */
static void wait_until_read(void)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "select coalesce(bool_or(write_lsn >= '%s'), false) from pg_stat_replication"
             " where pid = (select active_pid from pg_replication_slots where slot_name = '%s')",
             pg_query(l.sql, "select pg_current_wal_flush_lsn()"), l.name);
    cr_assert(pg_query_becomes(l.sql, sql, "t", LIVE_WAIT_MS), "walrelay does not read");
}

Test(bad_input, a_kafka_that_is_away_at_the_start_is_waited_for_and_nothing_is_confirmed)
{
    open_table("bad_kafka_away");
    live_set(&l, "bootstrap.servers=127.0.0.1:1");
    live_set(&l, "shutdown.timeout.ms=500");
    live_stream(&l);
    char before[32];
    snprintf(before, sizeof(before), "%s", slot_position());
    pg_exec(l.sql, "insert into t values (1)");
    wait_until_read();
    live_wait_log(&l, "kafka is unreachable, records wait");
    expect_log(&l, "127.0.0.1:1");
    live_stop(&l);
    expect_log(&l, "stopping with records that Kafka has not acknowledged");
    cr_expect_str_eq(slot_position(), before);

    /* What it could not send comes with the next start. */
    live_set(&l, "bootstrap.servers=%s", l.services.bootstrap);
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    expect_events(&records, topic("public.t"), "{\"id\":1} c null -> {\"id\":1,\"v\":null}\n");
}

/* It stops on its second row, with one line that has all of `texts`, and the slot before it. */
static void expect_stop_on_second_row(const char *const *texts)
{
    live_stream(&l);
    pg_exec(l.sql, "insert into t values (1, 'fits')");
    live_wait_confirmed(&l);
    char before[32];
    snprintf(before, sizeof(before), "%s", pg_query(l.sql, "select pg_current_wal_insert_lsn()"));
    pg_exec(l.sql, "insert into t values (2, repeat('x', 300000))");
    pg_exec(l.sql, "insert into t values (3, 'fits')");
    cr_expect_eq(live_wait_exit(&l), 1);
    cr_expect_eq(live_log_count(&l, "level=error"), 1, "%s", live_log(&l));
    const char *line = strstr(live_log(&l), "level=error");
    cr_assert_not_null(line, "%s", live_log(&l));
    for (size_t i = 0; texts[i] != NULL; i++) {
        cr_expect_not_null(strstr(line, texts[i]), "not \"%s\": %s", texts[i], line);
    }
    cr_expect_str_eq(pg_queryf(l.sql, "select '%s'::pg_lsn <= '%s'", slot_position(), before), "t");
}

/* Then the limit is raised, and all of it comes. */
static void expect_all_after_mending(void)
{
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);

    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    cr_assert_geq(records.count, 2);
    cr_expect(wr_slice_is(records.items[records.count - 2].key, "{\"id\":2}"));
    cr_expect(wr_slice_is(records.items[records.count - 1].key, "{\"id\":3}"));
}

Test(bad_input, a_record_too_large_for_the_producer_stops_before_it)
{
    open_table("bad_size_here");
    live_set(&l, "producer.message.max.bytes=100000");
    expect_stop_on_second_row((const char *const[]){"table=public.t", "key={\\\"id\\\":2}", "size=",
                                                    "lsn=", topic("public.t"), "max.bytes", NULL});
    live_set(&l, "producer.message.max.bytes=1000000");
    expect_all_after_mending();
}

Test(bad_input, a_record_too_large_for_the_topic_stops_before_it)
{
    open_table("bad_size_there");
    topic_create(l.services.bootstrap, topic("public.t"), 1, "max.message.bytes=100000");
    live_set(&l, "producer.compression.type=none");
    expect_stop_on_second_row((const char *const[]){"table=public.t", "key={\\\"id\\\":2}",
                                                    "size=", "lsn=", topic("public.t"),
                                                    "max.message.bytes", NULL});
    topic_set(l.services.bootstrap, topic("public.t"), "max.message.bytes", "1000000");
    expect_all_after_mending();
}

Test(bad_input, with_tolerance_what_is_too_large_is_kept_aside_and_the_rest_comes)
{
    open_table("bad_size_tolerated");
    char letters[128];
    snprintf(letters, sizeof(letters), "%s", topic("dead-letters"));
    live_set(&l, "producer.message.max.bytes=100000");
    live_set(&l, "errors.tolerance=all");
    live_set(&l, "errors.deadletterqueue.topic.name=%s", letters);
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);
    live_stream(&l);
    live_run(&l, "insert into t values (1, 'a');"
                 "insert into t values (2, repeat('x', 300000));"
                 "insert into t values (3, 'c');");
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    expect_events(&records, topic("public.t"),
                  "{\"id\":1} c null -> {\"id\":1,\"v\":\"a\"}\n"
                  "{\"id\":3} c null -> {\"id\":3,\"v\":\"c\"}\n");
    const char *dead = events_of(&records, letters);
    cr_expect_not_null(strstr(dead, "{\"id\":2} - [__connect.errors.topic="), "%s", dead);
    cr_expect_not_null(strstr(dead, topic("public.t")), "%s", dead);
    cr_expect_eq(live_log_count(&l, "level=error"), 1, "%s", live_log(&l));
}

Test(bad_input, a_topic_that_nobody_makes_is_named_and_comes_when_it_is_made)
{
    server_open(&kafka, SERVER_KAFKA,
                (const char *const[]){"auto.create.topics.enable=false", NULL});
    l.services = *services_or_skip();
    l.services.bootstrap = kafka.address;
    open_table("bad_no_topic");
    live_set(&l, "producer.topic.metadata.propagation.max.ms=1000");
    live_stream(&l);
    char before[32];
    snprintf(before, sizeof(before), "%s", pg_query(l.sql, "select pg_current_wal_insert_lsn()"));
    pg_exec(l.sql, "insert into t values (1)");
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, topic("public.t"));
    expect_log(&l, "auto.create.topics.enable=true");
    cr_expect_str_eq(pg_queryf(l.sql, "select '%s'::pg_lsn <= '%s'", slot_position(), before), "t");

    topic_create(kafka.address, topic("public.t"), 1, NULL);
    live_stream(&l);
    live_wait_confirmed(&l);
    struct topic_counter *counter = topic_counter_new(kafka.address, topic("public.t"));
    cr_expect_eq(topic_counter_now(counter), 1);
    topic_counter_free(counter);
}

/* Names of topics. */

Test(bad_input, a_topic_name_that_is_too_long_stops_before_its_row)
{
    open_table("bad_long_topic");
    live_set(&l, "topic.prefix=%0241d", 1);
    live_stream(&l);
    char before[32];
    snprintf(before, sizeof(before), "%s", pg_query(l.sql, "select pg_current_wal_insert_lsn()"));
    pg_exec(l.sql, "insert into t values (1)");
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "249");
    expect_log(&l, "public.t");
    cr_expect_str_eq(pg_queryf(l.sql, "select '%s'::pg_lsn <= '%s'", slot_position(), before), "t");
}

Test(bad_input, an_outbox_row_that_names_no_possible_topic_stops_before_it)
{
    live_open(&l, "bad_routed_topic");
    live_run(&l, "create table outbox (id bigserial primary key, aggregate_id text not null,"
                 " topic text not null, payload jsonb not null);"
                 "create publication wr_pub for table outbox;");
    live_set(&l, "transforms=outbox");
    live_set(&l, "transforms.outbox.type=io.debezium.transforms.outbox.EventRouter");
    live_set(&l, "transforms.outbox.route.by.field=topic");
    live_set(&l, "transforms.outbox.table.field.event.key=aggregate_id");
    live_set(&l, "transforms.outbox.route.topic.replacement=${routedByValue}");
    live_stream(&l);
    char before[32];
    snprintf(before, sizeof(before), "%s", pg_query(l.sql, "select pg_current_wal_insert_lsn()"));
    live_run(&l, "insert into outbox (aggregate_id, topic, payload) values ('1', '..', '{}');");
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "public.outbox, id 1");
    expect_log(&l, "may not be . or ..");
    cr_expect_str_eq(pg_queryf(l.sql, "select '%s'::pg_lsn <= '%s'", slot_position(), before), "t");
}

Test(bad_input, an_outbox_row_with_a_null_key_is_an_event_without_a_key)
{
    live_open(&l, "bad_null_key");
    live_run(&l, "create table outbox (id bigserial primary key, aggregate_id text,"
                 " topic text not null, payload jsonb not null);"
                 "create publication wr_pub for table outbox;");
    live_set(&l, "transforms=outbox");
    live_set(&l, "transforms.outbox.type=io.debezium.transforms.outbox.EventRouter");
    live_set(&l, "transforms.outbox.route.by.field=topic");
    live_set(&l, "transforms.outbox.table.field.event.key=aggregate_id");
    live_set(&l, "transforms.outbox.route.topic.replacement=%s.${routedByValue}", l.prefix);
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);
    live_stream(&l);
    live_run(&l, "insert into outbox (topic, payload) values ('x', '{}');");
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    expect_events(&records, topic("x"), "null {} [id=1]\n");
}

Test(bad_input, an_outbox_table_without_a_column_that_is_needed_says_which)
{
    live_open(&l, "bad_outbox_column");
    live_run(&l, "create table outbox (id bigserial primary key, topic text, payload jsonb);"
                 "create publication wr_pub for table outbox;");
    live_set(&l, "transforms=outbox");
    live_set(&l, "transforms.outbox.type=io.debezium.transforms.outbox.EventRouter");
    live_set(&l, "transforms.outbox.route.by.field=topic");
    live_stream(&l);
    char before[32];
    snprintf(before, sizeof(before), "%s", pg_query(l.sql, "select pg_current_wal_insert_lsn()"));
    live_run(&l, "insert into outbox (topic, payload) values ('x', '{}');");
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "public.outbox has no column aggregateid (table.field.event.key)");
    cr_expect_str_eq(pg_queryf(l.sql, "select '%s'::pg_lsn <= '%s'", slot_position(), before), "t");
}
