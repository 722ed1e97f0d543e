/* heartbeat.interval.ms: records by timer, and the statement that goes with them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/records.h"

static struct live l;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&l);
    records_done(&records);
}

TestSuite(heartbeat, .fini = tear_down, .timeout = 300);

static void open_with_heartbeats(const char *name, int interval_ms)
{
    live_open(&l, name);
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    live_set(&l, "heartbeat.interval.ms=%d", interval_ms);
}

static size_t count_of(const char *topic)
{
    size_t count = 0;

    for (size_t i = 0; i < records.count; i++) {
        count += wr_slice_is(records.items[i].topic, topic);
    }
    return count;
}

/* The first record of the topic. */
static const struct kafka_record *record_of(const char *topic)
{
    for (size_t i = 0; i < records.count; i++) {
        if (wr_slice_is(records.items[i].topic, topic)) {
            return &records.items[i];
        }
    }
    cr_assert(false, "nothing in %s", topic);
    return NULL;
}

static bool has_text(struct wr_slice bytes, const char *text)
{
    return wr_slice_is(bytes, text);
}

static void run_for(int ms)
{
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);

    records_done(&records);
    live_stream(&l);
    sleep_ms(ms);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
}

Test(heartbeat, is_published_by_timer_beside_an_idle_stream)
{
    char topic[128];
    char key[128];

    open_with_heartbeats("heartbeat_idle", 200);
    live_set(&l, "transforms=outbox"); /* which lets it pass */
    live_set(&l, "transforms.outbox.type=io.debezium.transforms.outbox.EventRouter");
    live_set(&l, "value.converter=org.apache.kafka.connect.json.JsonConverter");
    live_set(&l, "value.converter.schemas.enable=false");
    live_set(&l, "key.converter=org.apache.kafka.connect.json.JsonConverter");
    live_set(&l, "key.converter.schemas.enable=false");
    run_for(2100);
    snprintf(topic, sizeof(topic), "__debezium-heartbeat.%s", l.prefix);
    snprintf(key, sizeof(key), "{\"serverName\":\"%s\"}", l.prefix);
    cr_expect_geq(count_of(topic), 5, "%zu", count_of(topic));
    cr_expect_leq(count_of(topic), 11, "%zu", count_of(topic));
    const struct kafka_record *record = record_of(topic);
    cr_expect(has_text(record->key, key), "%.*s", (int)record->key.size, record->key.data);
    cr_expect_eq(record->value.size, strlen("{\"ts_ms\":1796131470524}"));
    cr_expect_eq(strncmp(record->value.data, "{\"ts_ms\":", 9), 0, "%.*s", (int)record->value.size,
                 record->value.data);
    cr_expect_eq(record->partition, 0);
    cr_expect_eq(record->header_count, 0);
}

Test(heartbeat, has_a_schema_and_a_name_of_its_own)
{
    char key[512];

    open_with_heartbeats("heartbeat_schema", 300);
    live_set(&l, "topic.heartbeat.name=beats_of_%s", l.prefix);
    live_set(&l, "value.converter=org.apache.kafka.connect.json.JsonConverter");
    live_set(&l, "key.converter=org.apache.kafka.connect.json.JsonConverter");
    run_for(1200);
    char topic[128];
    snprintf(topic, sizeof(topic), "beats_of_%s", l.prefix);
    snprintf(key, sizeof(key),
             "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"string\",\"optional\":false,"
             "\"field\":\"serverName\"}],\"optional\":false,"
             "\"name\":\"io.debezium.connector.common.ServerNameKey\",\"version\":1},"
             "\"payload\":{\"serverName\":\"%s\"}}",
             l.prefix);
    const struct kafka_record *record = record_of(topic);
    cr_expect(has_text(record->key, key), "%.*s", (int)record->key.size, record->key.data);
    static const char SCHEMA[] =
        "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"type\":\"int64\",\"optional\":false,"
        "\"field\":\"ts_ms\"}],\"optional\":false,"
        "\"name\":\"io.debezium.connector.common.Heartbeat\",\"version\":1},\"payload\":";
    cr_expect(record->value.size > sizeof(SCHEMA) &&
                  memcmp(record->value.data, SCHEMA, sizeof(SCHEMA) - 1) == 0,
              "%.*s", (int)record->value.size, record->value.data);
}

Test(heartbeat, is_off_where_it_is_not_asked_for)
{
    char topic[128];

    open_with_heartbeats("heartbeat_off", 0);
    live_set(&l, "heartbeat.action.query=insert into t values (1)");
    run_for(1000);
    snprintf(topic, sizeof(topic), "__debezium-heartbeat.%s", l.prefix);
    cr_expect_eq(count_of(topic), 0);
    cr_expect_str_eq(pg_query(l.sql, "select count(*) from t"), "0");
}

/* They take part in what is confirmed, and hold nothing up. */
static void beat_among_rows(const char *name, const char *setting)
{
    open_with_heartbeats(name, 1);
    live_set(&l, "%s", setting);
    live_stream(&l);
    for (int i = 0; i < 50; i++) {
        pg_execf(l.sql, "insert into t select g from generate_series(%d, %d) g", i * 100,
                 i * 100 + 99);
    }
    live_wait_confirmed(&l);
    live_kill(&l);
    cr_expect_eq(live_log_count(&l, "level=error"), 0);
}

Test(heartbeat, confirms_no_row_that_is_not_acknowledged_and_all_that_are)
{
    beat_among_rows("heartbeat_rows", "exactly.once.support=requested");
}

Test(heartbeat, takes_part_in_transactions)
{
    beat_among_rows("heartbeat_eos", "exactly.once.support=required");
}

/* heartbeat.action.query */

Test(heartbeat, runs_its_statement_each_time_with_the_roles_own_settings)
{
    char topic[128];

    open_with_heartbeats("heartbeat_action", 200);
    live_run(&l, "create table beats (id serial primary key, at timestamptz default now());"
                 "alter publication wr_pub add table beats;");
    live_set(&l, "database.initial.statements=set application_name = 'beating'");
    live_set(&l, "heartbeat.action.query=insert into beats default values");
    run_for(2100);
    snprintf(topic, sizeof(topic), "%s.public.beats", l.prefix);
    int rows = atoi(pg_query(l.sql, "select count(*) from beats"));
    cr_expect(rows >= 4 && rows <= 11, "%d rows", rows);
    cr_expect_geq(count_of(topic), (size_t)rows - 1);
    expect_no_log(&l, "heartbeat.action.query failed");
}

Test(heartbeat, survives_a_statement_that_fails_and_runs_it_again)
{
    open_with_heartbeats("heartbeat_fails", 200);
    live_set(&l, "heartbeat.action.query=insert into beats values (1)");
    live_stream(&l);
    live_wait_log(&l, "heartbeat.action.query failed");
    expect_log(&l, "relation \\\"beats\\\" does not exist");
    live_run(&l, "create table beats (id int);");
    cr_expect(pg_query_becomes(l.sql, "select count(*) > 1 from beats", "t", 10000));
    pg_exec(l.sql, "select pg_terminate_backend(pid) from pg_stat_activity where datname ="
                   " current_database() and query like 'insert into beats%' and pid <>"
                   " pg_backend_pid()");
    live_run(&l, "truncate beats;");
    cr_expect(pg_query_becomes(l.sql, "select count(*) > 1 from beats", "t", 10000));
    live_run(&l, "insert into t values (1);");
    live_wait_confirmed(&l);
    live_stop(&l);
}

/* A lock that somebody holds: neither rows nor heartbeats wait for it. */
Test(heartbeat, does_not_wait_for_its_statement)
{
    open_with_heartbeats("heartbeat_waits", 200);
    live_run(&l, "create table beats (id int);");
    live_set(&l, "heartbeat.action.query=insert into beats values (1)");
    live_stream(&l);
    PGconn *holder = pg_open(&l.services, l.name);
    pg_exec(holder, "begin");
    pg_exec(holder, "lock table beats in access exclusive mode");
    live_wait_log(&l, "the last one has not ended; this one is left out");
    live_run(&l, "insert into t values (1);");
    live_wait_confirmed(&l);
    pg_exec(holder, "commit");
    cr_expect(pg_query_becomes(l.sql, "select count(*) > 1 from beats", "t", 10000));
    live_stop(&l);
    PQfinish(holder);
}
