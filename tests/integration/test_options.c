/* Options of Debezium's connector for the slot, the publication and the tables, one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/process.h"
#include "support/records.h"

static struct live l;
static struct live other;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&other);
    live_close(&l);
    records_done(&records);
}

TestSuite(options, .fini = tear_down, .timeout = 300);

static bool is_since(int version)
{
    return atoi(pg_query(l.sql, "show server_version_num")) >= version * 10000;
}

static const char *identity_of(const char *table)
{
    return pg_queryf(l.sql, "select relreplident from pg_class where oid = '%s'::regclass", table);
}

/* replica.identity.autoset.values */

Test(options, replica_identities_are_set_by_expression_and_only_of_captured_tables)
{
    live_open(&l, "options_identity");
    live_run(&l,
             "create table \"Order Lines\" (id int primary key, v text);"
             "create table orders (id int primary key, code text not null);"
             "create unique index \"Code\" on orders (code);"
             "create table events (id int primary key); alter table events replica identity full;"
             "create table plain (id int primary key); create table other (id int primary key);"
             "create publication wr_pub for all tables;");
    live_set(&l, "table.exclude.list=public\\.other");
    live_set(&l,
             "replica.identity.autoset.values= PUBLIC.Order L.*:full , public.orders:INDEX Code,"
             "public.events:DEFAULT,public.plain:NOTHING,public.other:FULL");
    live_stream(&l);
    cr_expect_str_eq(identity_of("\"Order Lines\""), "f");
    cr_expect_str_eq(identity_of("orders"), "i");
    cr_expect_str_eq(identity_of("events"), "d");
    cr_expect_str_eq(identity_of("plain"), "n");
    cr_expect_str_eq(identity_of("other"), "d", "a table that is not captured was changed");
    cr_expect_eq(live_log_count(&l, "sql=\"ALTER TABLE"), 4);
    live_stop(&l);
    live_stream(&l);
    cr_expect_eq(live_log_count(&l, "sql=\"ALTER TABLE"), 4, "what was right was changed again");
}

/* As with Debezium it is no reason to stop; the log has what the owner must run. */
Test(options, a_replica_identity_that_may_not_be_changed_is_logged_with_its_sql)
{
    live_open(&l, "options_identity_owner");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;"
                 "drop role if exists options_reader; create role options_reader login replication;"
                 "grant select on t to options_reader;");
    live_set(&l, "database.user=options_reader");
    live_set(&l, "replica.identity.autoset.values=public.t:FULL");
    live_stream(&l);
    expect_log(&l, "must be owner of table t");
    expect_log(&l, "ALTER TABLE public.t REPLICA IDENTITY FULL");
    live_stop(&l);
    live_set(&l, "database.user=postgres");
    live_set(&l, "replica.identity.autoset.values=public.t:INDEX nowhere");
    live_stream(&l);
    expect_log(&l, "index \\\"nowhere\\\" for table \\\"t\\\" does not exist");
}

Test(options, two_replica_identities_for_one_table_are_refused)
{
    live_open(&l, "options_identity_two");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    live_set(&l, "replica.identity.autoset.values=public.t:FULL,public.*:DEFAULT");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "ask for different identities of table public.t");
    cr_expect_str_eq(identity_of("t"), "d");
}

/* slot.stream.params */

Test(options, stream_parameters_reach_the_output_plugin)
{
    live_open(&l, "options_params");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);
    live_set(&l, "slot.stream.params=%s",
             is_since(16) ? "messages=off;origin=none" : "messages=off");
    live_stream(&l);
    live_run(&l, "select pg_logical_emit_message(true, 'p', 'unseen'); insert into t values (1);"
                 "do $$ begin perform pg_replication_origin_create('options_far');"
                 "perform pg_replication_origin_session_setup('options_far');"
                 "insert into t values (2); end $$; select pg_replication_origin_session_reset();"
                 "select pg_replication_origin_drop('options_far'); insert into t values (3);");
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    /* The rows alone; since 16 without the one that came from elsewhere. */
    cr_expect_eq(records.count, is_since(16) ? 2 : 3, "%zu records", records.count);
    for (size_t i = 0; i < records.count; i++) {
        struct wr_slice name = records.items[i].topic;
        cr_expect_not_null(memmem(name.data, name.size, ".public.t", 9), "%.*s", (int)name.size,
                           name.data);
    }
}

Test(options, a_stream_parameter_that_the_server_does_not_know_is_its_error)
{
    live_open(&l, "options_params_wrong");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    live_set(&l, "slot.stream.params=colour=blue");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "unrecognized pgoutput option: colour");
}

/* slot.failover */

Test(options, a_slot_may_have_copies_on_standbys_however_it_was_made)
{
    static const char HAS_FAILOVER[] =
        "select to_jsonb(s) ->> 'failover' from"
        " pg_replication_slots s where slot_name = 'options_failover'";

    live_open(&l, "options_failover");
    live_run(&l, "create table t (id int primary key); insert into t values (1);"
                 "create publication wr_pub for table t;");
    live_set(&l, "slot.failover=true");
    live_set(&l, "snapshot.mode=initial"); /* the slot is a copy of another then */
    live_stream(&l);
    if (!is_since(17)) {
        expect_log(&l, "slot.failover needs PostgreSQL 17 or later");
        return;
    }
    cr_expect_str_eq(pg_query(l.sql, HAS_FAILOVER), "true");
    live_stop(&l);
    pg_exec(l.sql, "select pg_drop_replication_slot('options_failover')");
    pg_exec(l.sql, "select pg_create_logical_replication_slot('options_failover', 'pgoutput')");
    live_start(&l, "--accept-gap"); /* it is not the slot whose place is in Kafka */
    live_wait_streaming(&l);
    cr_expect_str_eq(pg_query(l.sql, HAS_FAILOVER), "true", "a slot that was there stays without");
}

/* guardrail.collections.max */

Test(options, too_many_tables_are_warned_of_or_refused)
{
    live_open(&l, "options_guardrail");
    live_run(&l, "create table a (id int primary key); create table b (id int primary key);"
                 "create table c (id int primary key); create publication wr_pub for all tables;");
    live_set(&l, "table.exclude.list=public.c");
    live_set(&l, "guardrail.collections.max=2");
    live_set(&l, "guardrail.collections.limit.action=fail");
    live_stream(&l);
    live_stop(&l);
    live_set(&l, "guardrail.collections.max=1");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "2 tables are captured, more than guardrail.collections.max=1");
    live_set(&l, "guardrail.collections.limit.action=warn");
    live_stream(&l);
    expect_log(&l, "more tables are captured than guardrail.collections.max");
}

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

/* lsn.flush.mode */

static const char *confirmed(void)
{
    return pg_queryf(l.sql,
                     "select confirmed_flush_lsn from pg_replication_slots where slot_name = '%s'",
                     l.slot);
}

static void publish_manually(const char *setting)
{
    char before[32];
    struct kafka_reader *reader = NULL;

    live_open(&l, "options_manual");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    live_set(&l, "%s", setting);
    live_stream(&l);
    snprintf(before, sizeof(before), "%s", confirmed());
    reader = kafka_reader_new(l.services.bootstrap);
    live_run(&l, "insert into t values (1);");
    sleep_ms(1500); /* three status updates */
    cr_expect_str_eq(confirmed(), before);
    live_stop(&l);
    cr_expect_str_eq(confirmed(), before);
    live_stream(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    expect_events(&records, topic("public.t"),
                  "{\"id\":1} c null -> {\"id\":1}\n{\"id\":1} c null -> {\"id\":1}\n");
    pg_queryf(l.sql, "select pg_replication_slot_advance('%s', pg_current_wal_lsn())", l.slot);
    records_done(&records);
    reader = kafka_reader_new(l.services.bootstrap);
    live_stream(&l);
    live_run(&l, "insert into t values (2);");
    sleep_ms(500);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    expect_events(&records, topic("public.t"), "{\"id\":2} c null -> {\"id\":2}\n");
    live_close(&l);
    l = (struct live){0};
}

Test(options, a_slot_that_somebody_else_moves_is_confirmed_nothing)
{
    publish_manually("lsn.flush.mode=manual");
    publish_manually("flush.lsn.source=false");
}

/* slot.max.retries, slot.retry.delay.ms */

static void open_second(void)
{
    live_open(&l, "options_second");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    live_stream(&l);
    live_open(&other, "options_second_idle");
    live_set(&other, "database.dbname=options_second");
    live_set(&other, "slot.name=options_second");
    live_set(&other, "topic.prefix=%s", l.prefix);
    other.slot = l.slot;
}

Test(options, a_second_walrelay_takes_over_when_the_first_is_gone)
{
    open_second();
    live_start(&other, NULL);
    live_wait_log(&other, "another process reads slot options_second");
    live_stop(&l);
    live_wait_streaming(&other);
    live_stop(&other);
    expect_log(&other, "retry_ms=1000");
}

Test(options, a_second_walrelay_gives_up_after_as_many_tries_as_it_was_told)
{
    open_second();
    live_set(&other, "slot.max.retries=2");
    live_set(&other, "slot.retry.delay.ms=100");
    live_start(&other, NULL);
    cr_expect_eq(live_wait_exit(&other), 1);
    cr_expect_eq(live_log_count(&other, "retry_ms=100"), 2);
    expect_log(&other, "level=error");
    live_stop(&l);
}

/* xmin.fetch.interval.ms */

Test(options, the_slots_xmin_is_published_when_it_is_asked_for)
{
    char name[128];
    struct kafka_reader *reader = NULL;

    live_open(&l, "options_xmin");
    live_run(&l, "create table t (id int primary key); create publication wr_pub for table t;");
    live_set(&l, "xmin.fetch.interval.ms=100");
    live_set(&l, "transforms=u");
    live_set(&l, "transforms.u.type=io.debezium.transforms.ExtractNewRecordState");
    live_set(&l, "transforms.u.add.headers=source.xmin");
    snprintf(name, sizeof(name), "%s", topic("public.t"));
    reader = kafka_reader_new(l.services.bootstrap);
    live_stream(&l);
    live_run(&l, "insert into t values (1);");
    live_wait_confirmed(&l);
    const char *xmin = pg_query(l.sql, "select catalog_xmin from pg_replication_slots"
                                       " where slot_name = 'options_xmin'");
    cr_assert_neq(atoi(xmin), 0);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    cr_assert_eq(records.count, 1);
    cr_expect_eq(records.items[0].header_count, 1);
    cr_expect(!records.items[0].headers[0].is_null);
    cr_expect_gt(atoi(records.items[0].headers[0].value.data), 700);
    cr_expect_leq(atoi(records.items[0].headers[0].value.data), atoi(xmin));
}
