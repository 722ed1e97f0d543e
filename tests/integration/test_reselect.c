/* Values that the stream does not hold, read from the table (post.processors), and events that
 * cannot be made (event.processing.failure.handling.mode). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/events.h"
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

TestSuite(reselect, .fini = tear_down, .timeout = 300);

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

/* Two values that are stored out of line, so that an update of another column does not send them.
 */
#define TABLE                                                                                      \
    "create table \"My T\" (\"Id\" int, part text, big text, other text, n int, tail char(3),"     \
    " primary key (\"Id\", part));"                                                                \
    "alter table \"My T\" alter big set storage external, alter other set storage external;"       \
    "create publication wr_pub for all tables;"

static void open_table(const char *name)
{
    live_open(&l, name);
    live_run(&l, TABLE);
    live_set(&l, "post.processors=again");
    live_set(&l, "again.type=io.debezium.processors.reselect.ReselectColumnsPostProcessor");
}

/* Everything that is published from `insert` on; `meanwhile` is done before walrelay sees it. */
static void publish(const char *script, const char *meanwhile)
{
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);

    live_stream(&l);
    live_wait_confirmed(&l);
    if (meanwhile != NULL) {
        live_stop(&l);
    }
    live_run(&l, script);
    if (meanwhile != NULL) {
        live_run(&l, meanwhile);
        live_stream(&l);
    }
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
}

static bool has(const char *text)
{
    return strstr(events_of(&records, topic("public.My_T")), text) != NULL;
}

static size_t count_placeholders(void)
{
    const char *text = events_of(&records, topic("public.My_T"));
    size_t count = 0;

    while ((text = strstr(text, "__debezium_unavailable_value")) != NULL) {
        count++;
        text++;
    }
    return count;
}

#define INSERT                                                                                     \
    "insert into \"My T\" values (1, 'a''b', repeat('x', 5000) || 'END', repeat('y', 5000),"       \
    " null, 'z');"

Test(reselect, values_that_an_update_did_not_send_are_read_from_the_table)
{
    open_table("reselect_toast");
    live_set(&l, "again.reselect.null.values=false");
    publish(INSERT "update \"My T\" set n = 7;", NULL);
    cr_expect_eq(count_placeholders(), 0, "%zu", count_placeholders());
    cr_expect(has("xxxEND\",\"other\":\"yyyy"));
    cr_expect(has("yyyy\",\"n\":7,\"tail\":\"z  \"}"));
}

Test(reselect, only_the_columns_that_were_named_are_read)
{
    open_table("reselect_named");
    live_set(&l, "again.reselect.columns.include.list=public.My T:big");
    publish(INSERT "update \"My T\" set n = 7;", NULL);
    cr_expect_eq(count_placeholders(), 1);
    cr_expect(has("xxxEND\",\"other\":\"__debezium_unavailable_value\",\"n\":7"));
}

Test(reselect, what_is_null_is_read_too)
{
    open_table("reselect_null");
    publish(INSERT, "update \"My T\" set n = 9;");
    cr_expect(has(" c null -> {\"Id\":1,\"part\":\"a'b\""));
    cr_expect_not(has("\"n\":null"));
    cr_expect(has("\"n\":9"));
}

Test(reselect, a_row_that_is_gone_keeps_what_was_sent)
{
    open_table("reselect_gone");
    publish(INSERT "update \"My T\" set n = 7;", "delete from \"My T\";");
    cr_expect_eq(count_placeholders(), 2);
    expect_log(&l, "there is no such row any more");
    expect_log(&l, "level=warn");
}

/* Then nothing needs to be read. */
Test(reselect, what_the_old_row_holds_is_not_read)
{
    open_table("reselect_full");
    live_run(&l, "alter table \"My T\" replica identity full;");
    live_set(&l, "again.reselect.null.values=false");
    publish(INSERT "update \"My T\" set n = 7;", "delete from \"My T\";");
    cr_expect_eq(count_placeholders(), 0);
    expect_no_log(&l, "could not be read again");
}

Test(reselect, a_row_that_is_gone_stops_where_that_was_asked_for)
{
    open_table("reselect_fails");
    live_set(&l, "again.reselect.null.values=false");
    live_set(&l, "again.reselect.error.handling.mode=fail");
    live_stream(&l);
    live_stop(&l);
    live_run(&l, INSERT "update \"My T\" set n = 7; delete from \"My T\";");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "there is no such row any more");
    live_set(&l, "event.processing.failure.handling.mode=warn");
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    expect_log(&l, "event.processing.failure.handling.mode=warn");
}

Test(reselect, a_table_that_is_gone_is_no_reason_to_stop)
{
    open_table("reselect_dropped");
    publish(INSERT "update \"My T\" set n = 7;", "alter table \"My T\" drop column other;");
    cr_expect_geq(count_placeholders(), 2);
    expect_log(&l, "column \\\"other\\\" does not exist");
}

/* event.processing.failure.handling.mode */

Test(reselect, an_event_that_cannot_be_made_is_passed_over_where_that_was_asked_for)
{
    live_open(&l, "event_failure");
    live_run(&l, "create table t (id int primary key, n numeric);"
                 "create publication wr_pub for table t;");
    live_set(&l, "event.processing.failure.handling.mode=warn");
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);
    live_stream(&l);
    live_run(&l, "insert into t values (1, 'NaN'), (2, null);");
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    expect_events(&records, topic("public.t"), "{\"id\":2} c null -> {\"id\":2,\"n\":null}\n");
    expect_log(&l, "event.processing.failure.handling.mode=warn");
    expect_log(&l, "public.t");
    live_set(&l, "event.processing.failure.handling.mode=fail");
    live_stream(&l);
    live_run(&l, "insert into t values (3, 'NaN');");
    cr_expect_eq(live_wait_exit(&l), 1);
}

/* What Kafka refuses is not such an event. */
Test(reselect, a_record_that_kafka_refuses_is_never_passed_over_by_that)
{
    live_open(&l, "event_failure_kafka");
    live_run(&l, "create table t (id int primary key, v text);"
                 "create publication wr_pub for table t;");
    live_set(&l, "event.processing.failure.handling.mode=skip");
    live_stream(&l);
    live_run(&l, "insert into t values (1, repeat('x', 3000000));");
    cr_expect_eq(live_wait_exit(&l), 1);
}
