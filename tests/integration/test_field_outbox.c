/* Bugs that people met with outbox tables: odd payloads and keys, rows that somebody changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/records.h"
#include "support/topic.h"

static struct live l;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&l);
    records_done(&records);
}

TestSuite(field_outbox, .fini = tear_down);

static void set_router(void)
{
    live_set(&l, "transforms=outbox");
    live_set(&l, "transforms.outbox.type=io.debezium.transforms.outbox.EventRouter");
    live_set(&l, "transforms.outbox.route.topic.replacement=%s.${routedByValue}", l.prefix);
}

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

static void publish(const char *script)
{
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);

    live_stream(&l);
    live_run(&l, script);
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
}

/* Odd rows. */

static void make_odd_outbox(void)
{
    live_run(&l, "create table outbox (id bigint primary key, aggregatetype text,"
                 " aggregateid bigint, type text, payload text, created timestamptz, tenant uuid);"
                 "create publication wr_pub for table outbox;");
    set_router();
    live_set(&l, "transforms.outbox.table.field.event.timestamp=created");
    live_set(&l, "transforms.outbox.table.fields.additional.placement=type:header,tenant:header");
}

#define ROW_NULL                                                                                   \
    "insert into outbox values (9007199254740993, 'order', 77, 'Deleted', null,"                   \
    " '2024-01-02 03:04:05.678Z', '00000000-0000-0000-0000-00000000000a');"
#define ROW_EMPTY     "insert into outbox values (2, 'order', 77, 'Empty', '', 'infinity', null);"
#define ROW_NO_KEY    "insert into outbox values (3, 'or der/é', null, null, '{\"a\":1}', null, null);"
#define ROW_NO_TYPE   "insert into outbox values (4, '', 5, 'X', 'not json', null, null);"
#define ROW_NULL_TYPE "insert into outbox values (6, null, 5, 'X', '{}', null, null);"
#define ROW_NO_JSON   "insert into outbox values (5, 'order', 5, 'X', 'not json', null, null);"

Test(field_outbox, empty_payloads_are_tombstones_where_asked)
{
    live_open(&l, "outbox_tombstones");
    make_odd_outbox();
    live_set(&l, "transforms.outbox.route.tombstone.on.empty.payload=true");
    live_set(&l, "transforms.outbox.table.expand.json.payload=true");
    publish(ROW_NULL ROW_EMPTY ROW_NO_KEY ROW_NO_JSON);
    expect_events(&records, topic("order"),
                  "77 - [id=9007199254740993 type=Deleted"
                  " tenant=00000000-0000-0000-0000-00000000000a]\n"
                  "77 - [id=2 type=Empty tenant=null]\n"
                  "5 not json [id=5 type=X tenant=null]\n");
    expect_events(&records, topic("or_der__"), "null {\"a\":1} [id=3 type=null tenant=null]\n");
    expect_log(&l, "id 5");     /* no JSON to expand: said, and published as it is */
    expect_log(&l, "or der/é"); /* published to another topic than it says */
    expect_no_log(&l, "id 2");
    expect_no_log(&l, "id 9007199254740993");
}

Test(field_outbox, empty_payloads_stay_what_they_are_otherwise)
{
    live_open(&l, "outbox_empty");
    make_odd_outbox();
    publish(ROW_NULL ROW_EMPTY ROW_NO_KEY);
    expect_events(&records, topic("order"),
                  "77 - [id=9007199254740993 type=Deleted"
                  " tenant=00000000-0000-0000-0000-00000000000a]\n"
                  "77  [id=2 type=Empty tenant=null]\n");
    for (size_t i = 0; i < records.count; i++) {
        const struct kafka_header *type = &records.items[i].headers[1];
        cr_expect_eq(type->is_null, wr_slice_is(records.items[i].topic, topic("or_der__")));
    }
    expect_no_log(&l, "payload");
}

static void keep_timestamp(void *context, const rd_kafka_message_t *message)
{
    int64_t **next = context;
    rd_kafka_timestamp_type_t type;

    *(*next)++ = rd_kafka_message_timestamp(message, &type);
}

Test(field_outbox, the_time_of_a_record_is_the_column_or_the_clock)
{
    int64_t now_ms = wr_clock_realtime_ns() / 1000000;
    int64_t times_ms[2] = {0};
    int64_t *next = times_ms;

    live_open(&l, "outbox_times");
    make_odd_outbox();
    publish(ROW_NULL ROW_EMPTY);
    cr_assert_eq(topic_read(l.services.bootstrap, topic("order"), keep_timestamp, &next), 2);
    cr_expect_eq(times_ms[0], 1704164645678);
    cr_expect(times_ms[1] >= now_ms && times_ms[1] < now_ms + 600000, "%lld",
              (long long)times_ms[1]);
}

/* A row whose topic cannot be told. */

static void expect_stop_before(const char *row, const char *row_name)
{
    live_stream(&l);
    live_run(&l, "insert into outbox values (1, 'order', 1, 'X', '{}', null, null);");
    live_wait_confirmed(&l);
    const char *sql = "select pg_current_wal_insert_lsn()";
    char before[32];
    snprintf(before, sizeof(before), "%s", pg_query(l.sql, sql));
    live_run(&l, row);
    cr_expect_eq(live_wait_exit(&l), 1);
    cr_expect_eq(live_log_count(&l, "level=error"), 1, "%s", live_log(&l));
    expect_log(&l, row_name);
    cr_expect_str_eq(pg_queryf(l.sql,
                               "select confirmed_flush_lsn <= '%s' from pg_replication_slots"
                               " where slot_name = '%s'",
                               before, l.name),
                     "t", "the slot is behind the row");
}

Test(field_outbox, an_empty_aggregate_type_stops_before_its_row)
{
    live_open(&l, "outbox_no_type");
    make_odd_outbox();
    expect_stop_before(ROW_NO_TYPE, "public.outbox, id 4");
    /* It is met again, and again it is named. */
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    cr_expect_eq(live_log_count(&l, "id 4"), 2, "%s", live_log(&l));
}

Test(field_outbox, a_null_aggregate_type_stops_before_its_row)
{
    live_open(&l, "outbox_null_type");
    make_odd_outbox();
    expect_stop_before(ROW_NULL_TYPE, "public.outbox, id 6");
}

Test(field_outbox, with_tolerance_a_row_without_a_topic_is_named_and_passed_over)
{
    live_open(&l, "outbox_tolerated");
    make_odd_outbox();
    live_set(&l, "errors.tolerance=all");
    publish(ROW_NO_TYPE ROW_NO_JSON);
    expect_events(&records, topic("order"), "5 not json [id=5 type=X tenant=null]\n");
    cr_expect_eq(live_log_count(&l, "public.outbox, id 4"), 1, "%s", live_log(&l));
}

/* Rows that somebody changes. */

#define INSERT(id, type, n)                                                                        \
    "insert into outbox (aggregatetype, aggregateid, type, payload)"                               \
    " values ('order', '" id "', '" type "', '{\"n\":" n "}');"

static void make_outbox(void)
{
    live_run(&l, "create table outbox (id uuid primary key default gen_random_uuid(),"
                 " aggregatetype text not null, aggregateid text, type text, payload jsonb,"
                 " ts timestamptz default now());"
                 "create publication wr_pub for table outbox;");
    set_router();
}

/* The values alone: the ids are random. */
static void expect_three_events(void)
{
    static const char *const values[] = {"{\"n\": 1}", "{\"n\": 2}", "{\"n\": 3}"};

    cr_assert_eq(records.count, 3, "%s", events_of(&records, topic("order")));
    for (size_t i = 0; i < 3; i++) {
        cr_expect(wr_slice_is(records.items[i].topic, topic("order")));
        cr_expect(wr_slice_is(records.items[i].value, values[i]), "%s",
                  events_of(&records, topic("order")));
    }
}

static void publish_changed_rows(void)
{
    publish("begin;" INSERT("1", "A", "1") "delete from outbox; commit;" INSERT(
        "2", "B", "2") "update outbox set type = 'B2';"
                       "update outbox set id = '00000000-0000-0000-0000-00000000000b';"
                       "delete from outbox;"
                       "truncate outbox;" INSERT("3", "C", "3"));
}

Test(field_outbox, updates_are_warned_of_and_deletes_and_truncates_pass_quietly)
{
    live_open(&l, "outbox_changed");
    make_outbox();
    publish_changed_rows();
    expect_three_events();
    cr_expect_eq(live_log_count(&l, "an UPDATE of an outbox row is no event"), 2, "%s",
                 live_log(&l));
    cr_expect_eq(live_log_count(&l, "public.outbox, id "), 2, "%s", live_log(&l));
    cr_expect_eq(live_log_count(&l, "level=error"), 0);
}

Test(field_outbox, updates_under_error_are_said_too_and_nothing_stops)
{
    live_open(&l, "outbox_changed_error");
    make_outbox();
    live_run(&l, "alter table outbox replica identity full;");
    live_set(&l, "transforms.outbox.table.op.invalid.behavior=error");
    publish_changed_rows();
    expect_three_events();
    cr_expect_eq(live_log_count(&l, "an UPDATE of an outbox row is no event"), 2, "%s",
                 live_log(&l));
}

Test(field_outbox, an_update_under_fatal_stops_before_it)
{
    live_open(&l, "outbox_changed_fatal");
    make_outbox();
    live_set(&l, "transforms.outbox.table.op.invalid.behavior=fatal");
    live_stream(&l);
    live_run(&l, INSERT("1", "A", "1"));
    live_wait_confirmed(&l);
    char before[32];
    snprintf(before, sizeof(before), "%s", pg_query(l.sql, "select pg_current_wal_insert_lsn()"));
    live_run(&l, "update outbox set type = 'B';");
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "public.outbox, id ");
    expect_log(&l, "table.op.invalid.behavior=fatal");
    cr_expect_str_eq(pg_queryf(l.sql,
                               "select confirmed_flush_lsn <= '%s' from pg_replication_slots"
                               " where slot_name = '%s'",
                               before, l.name),
                     "t", "the slot is behind the update");
}
