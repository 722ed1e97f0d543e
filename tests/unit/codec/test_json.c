#include "fixture.h"

static struct json_envelope envelope;

static void open_json(void)
{
    open_codec();
    json_envelope_init(&envelope, &config, "1.2.3");
}

static void close_json(void)
{
    json_envelope_done(&envelope);
    close_codec();
}

TestSuite(json, .init = open_json, .fini = close_json);

static void expect_json(struct datum datum, const char *expected)
{
    wr_buffer_reset(&written);
    json_datum(&written, &datum);
    EXPECT_WRITTEN(expected);
}

Test(json, writes_every_kind_of_value)
{
    expect_json((struct datum){0}, "null");
    expect_json((struct datum){.kind = DATUM_BOOL, .as.boolean = true}, "true");
    expect_json(an_int(INT64_MIN), "-9223372036854775808");
    expect_json(a_float(DATUM_FLOAT32, "1e-45"), "1.4E-45");
    expect_json(a_float(DATUM_FLOAT64, "1.5"), "1.5");
    expect_json(a_float(DATUM_FLOAT64, "NaN"), "\"NaN\"");
    expect_json(a_string("a\"\n\xf0\x9f\x8e\x9f"), "\"a\\\"\\n\\uD83C\\uDF9F\"");
    expect_json(some_bytes("abcd"), "\"YWJjZA==\"");
    expect_json(a_json("{\"a\":1.10}"), "{\"a\":1.10}");
    expect_json(an_array(), "[1,null,\"x\"]");
    expect_json(a_struct(), "{\"a\":1,\"n\\\"\":null,\"b\":\"x\"}");
    expect_json((struct datum){.kind = DATUM_ARRAY}, "[]");
    expect_json((struct datum){.kind = DATUM_STRUCT}, "{}");
}

static const struct fixture_column COLUMNS[] = {{"id", INT4, true}, {"na\"me", TEXT, false}};

static struct relation *events(void)
{
    return compile(MAKE_RELATION("public", "events", 'd', COLUMNS));
}

/* A change of the table above; a row that is NULL is none. */
static struct change a_change(const struct relation *relation, enum change_op op)
{
    return (struct change){
        .op = op,
        .relation = relation,
        .source = {.commit_time_us = 1777665600123456,
                   .lsn = 0x16B3748,
                   .last_commit_lsn = 0x16B3700,
                   .xid = 731,
                   .now_ns = 1777665601234567890},
    };
}

static struct row_view a_row(const struct relation *relation, const char *const *texts)
{
    static struct tuple tuples[16];
    static size_t used;
    struct tuple *tuple = &tuples[used++ % COUNT(tuples)];

    *tuple = make_tuple(relation, texts);
    return (struct row_view){.relation = relation,
                             .columns = relation->plan->value_columns,
                             .column_count = relation->plan->value_column_count,
                             .tuple = tuple};
}

static enum wr_status write_envelope(const struct change *change, struct row_view before,
                                     struct row_view after)
{
    struct record record = {
        .change = change,
        .source = &change->source,
        .value = {.kind = PART_ENVELOPE, .as.envelope = {change->op, before, after}},
    };

    wr_buffer_reset(&written);
    return json_envelope_write(&envelope, &written, &record, scratch, &err);
}

#define NO_ROW ((struct row_view){0})

/* What stands around the parts that a test is about. */
#define SOURCE_HEAD                                                                                \
    "\"source\":{\"version\":\"1.2.3\",\"connector\":\"postgresql\",\"name\":\"shop\""
#define SOURCE                                                                                     \
    SOURCE_HEAD                                                                                    \
    ",\"ts_ms\":1777665600123,\"snapshot\":\"false\",\"db\":\"shop\","                             \
    "\"sequence\":\"[\\\"23803648\\\",\\\"23803720\\\"]\",\"ts_us\":1777665600123456,"             \
    "\"ts_ns\":1777665600123456000,\"schema\":\"public\",\"table\":\"events\",\"txId\":731,"       \
    "\"lsn\":23803720,\"xmin\":null,\"origin\":null,\"origin_lsn\":null}"
#define TAIL "\"ts_ms\":1777665601234,\"ts_us\":1777665601234567,\"ts_ns\":1777665601234567890}"

Test(json, writes_the_envelope_of_an_insert)
{
    struct relation *relation = events();
    struct change change = a_change(relation, OP_CREATE);

    cr_assert_eq(write_envelope(&change, NO_ROW, a_row(relation, ROW("7", "a\"b"))), WR_OK);
    EXPECT_WRITTEN("{\"before\":null,\"after\":{\"id\":7,\"na\\\"me\":\"a\\\"b\"}," SOURCE
                   ",\"transaction\":null,\"op\":\"c\"," TAIL);
}

Test(json, writes_the_envelopes_of_the_other_operations)
{
    struct relation *relation = events();
    struct change change = a_change(relation, OP_UPDATE);

    cr_assert_eq(
        write_envelope(&change, a_row(relation, ROW("7", NULL)), a_row(relation, ROW("7", "b"))),
        WR_OK);
    EXPECT_WRITTEN("{\"before\":{\"id\":7,\"na\\\"me\":null},\"after\":{\"id\":7,\"na\\\"me\":"
                   "\"b\"}," SOURCE ",\"transaction\":null,\"op\":\"u\"," TAIL);
    change.op = OP_DELETE;
    cr_assert_eq(write_envelope(&change, a_row(relation, ROW("7", NULL)), NO_ROW), WR_OK);
    EXPECT_WRITTEN("{\"before\":{\"id\":7,\"na\\\"me\":null},\"after\":null," SOURCE
                   ",\"transaction\":null,\"op\":\"d\"," TAIL);
    change.op = OP_TRUNCATE;
    cr_assert_eq(write_envelope(&change, NO_ROW, NO_ROW), WR_OK);
    EXPECT_WRITTEN("{\"before\":null,\"after\":null," SOURCE
                   ",\"transaction\":null,\"op\":\"t\"," TAIL);
}

/* The record's operation, which is not the change's when a key has moved. */
Test(json, writes_the_operation_of_the_record)
{
    struct change change = a_change(events(), OP_UPDATE);
    struct record record = {.change = &change,
                            .source = &change.source,
                            .value = {.kind = PART_ENVELOPE, .as.envelope.op = OP_DELETE}};

    cr_assert_eq(json_envelope_write(&envelope, &written, &record, scratch, &err), WR_OK);
    wr_buffer_add_char(&written, '\0');
    cr_expect_not_null(strstr(written.data, "\"op\":\"d\""));
}

static void expect_part(const struct change *change, const char *expected)
{
    cr_assert_eq(write_envelope(change, NO_ROW, NO_ROW), WR_OK);
    wr_buffer_add_char(&written, '\0');
    cr_expect_not_null(strstr(written.data, expected), "no %s in %s", expected, written.data);
}

/* What does not change inside a transaction is kept as text: it must change with each part of it.
 */
Test(json, writes_each_part_of_the_source_anew_when_it_changes)
{
    struct change change = a_change(events(), OP_CREATE);

    expect_part(&change, SOURCE);
    change.source.lsn = 5;
    expect_part(&change, "\\\"23803648\\\",\\\"5\\\"]\"");
    expect_part(&change, ",\"lsn\":5,");
    change.source.xid = 9;
    expect_part(&change, "\"txId\":9,");
    change.source.last_commit_lsn = 4;
    expect_part(&change, "\"sequence\":\"[\\\"4\\\",\\\"5\\\"]\"");
    change.source.commit_time_us = 1000;
    expect_part(&change, "\"name\":\"shop\",\"ts_ms\":1,");
    expect_part(&change, "\"ts_us\":1000,\"ts_ns\":1000000,");
    change.source.snapshot = SNAPSHOT_MARKER_LAST;
    expect_part(&change, "\"snapshot\":\"last\"");
    change.source.now_ns = 2000000;
    expect_part(&change, "\"op\":\"c\",\"ts_ms\":2,\"ts_us\":2000,\"ts_ns\":2000000}");
    change.source.now_ns = 1777665601234567890;
    change.source.snapshot = SNAPSHOT_MARKER_FALSE;
    change.source.commit_time_us = 1777665600123456;
    change.source.last_commit_lsn = 0x16B3700;
    change.source.lsn = 0x16B3748;
    change.source.xid = 731;
    expect_part(&change, SOURCE ",\"transaction\":null,\"op\":\"c\"," TAIL);
}

Test(json, writes_null_for_what_the_source_does_not_have)
{
    struct change change = a_change(events(), OP_CREATE);

    change.source.last_commit_lsn = 0;
    expect_part(&change, "\"sequence\":\"[null,\\\"23803720\\\"]\"");
    change.source.xid = 0;
    expect_part(&change, "\"txId\":null,");
}

Test(json, writes_the_origin_of_a_replicated_change)
{
    struct change change = a_change(events(), OP_CREATE);

    change.source.origin = "ber\"lin";
    change.source.origin_lsn = 42;
    expect_part(&change, "\"xmin\":null,\"origin\":\"ber\\\"lin\",\"origin_lsn\":42}");
    change.source.origin = NULL;
    expect_part(&change, "\"xmin\":null,\"origin\":null,\"origin_lsn\":null}");
}

Test(json, writes_each_snapshot_marker)
{
    static const char *const MARKERS[] = {
        [SNAPSHOT_MARKER_FALSE] = "false",
        [SNAPSHOT_MARKER_TRUE] = "true",
        [SNAPSHOT_MARKER_FIRST] = "first",
        [SNAPSHOT_MARKER_FIRST_IN_DATA_COLLECTION] = "first_in_data_collection",
        [SNAPSHOT_MARKER_LAST_IN_DATA_COLLECTION] = "last_in_data_collection",
        [SNAPSHOT_MARKER_LAST] = "last",
    };
    struct change change = a_change(events(), OP_READ);
    char expected[64];

    for (size_t i = 0; i < COUNT(MARKERS); i++) {
        change.source.snapshot = (enum snapshot_marker)i;
        snprintf(expected, sizeof(expected), "\"snapshot\":\"%s\"", MARKERS[i]);
        expect_part(&change, expected);
    }
}

Test(json, rounds_times_down_also_before_1970)
{
    struct change change = a_change(events(), OP_CREATE);

    change.source.commit_time_us = -1;
    expect_part(&change, "\"ts_ms\":-1,");
    expect_part(&change, "\"ts_us\":-1,\"ts_ns\":-1000,");
    change.source.commit_time_us = 0;
    expect_part(&change, "\"ts_us\":0,\"ts_ns\":0,");
}

Test(json, writes_a_logical_message)
{
    struct change_source source = a_change(NULL, OP_CREATE).source;
    struct record record = {
        .source = &source,
        .value = {.kind = PART_MESSAGE, .as.message = {WR_SLICE("au\"dit"), WR_SLICE("abcd")}},
    };

    cr_assert_eq(json_envelope_write(&envelope, &written, &record, scratch, &err), WR_OK);
    EXPECT_WRITTEN("{\"op\":\"m\",\"ts_ms\":1777665601234," SOURCE_HEAD
                   ",\"ts_ms\":1777665600123,\"snapshot\":\"false\",\"db\":\"shop\","
                   "\"sequence\":\"[\\\"23803648\\\",\\\"23803720\\\"]\","
                   "\"ts_us\":1777665600123456,\"ts_ns\":1777665600123456000,\"schema\":\"\","
                   "\"table\":\"\",\"txId\":731,\"lsn\":23803720,\"xmin\":null,\"origin\":null,"
                   "\"origin_lsn\":null},\"transaction\":null,"
                   "\"message\":{\"prefix\":\"au\\\"dit\",\"content\":\"YWJjZA==\"}}");
}

Test(json, hands_on_that_a_value_has_no_right_form)
{
    struct relation *relation = events();
    struct change change = a_change(relation, OP_UPDATE);

    cr_expect_eq(write_envelope(&change, a_row(relation, ROW("x", NULL)), NO_ROW), WR_REJECT);
    cr_expect_eq(write_envelope(&change, NO_ROW, a_row(relation, ROW("x", NULL))), WR_REJECT);
    cr_expect_not_null(strstr(err.text, "public.events.id: "), "%s", err.text);
}

Test(json, writes_a_row_without_columns)
{
    struct relation *relation = compile(make_relation("public", "none", 'd', COLUMNS, 0));
    struct row_view row = a_row(relation, ROW(NULL));

    cr_assert_eq(json_row(&written, &row, scratch, &err), WR_OK);
    EXPECT_WRITTEN("{}");
}
