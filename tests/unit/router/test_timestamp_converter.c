#include "smt_fixture.h"

TestSuite(timestamp_converter, .init = open_smt, .fini = close_smt);

#define CONNECT(name) "org.apache.kafka.connect.data." name

static const char ISO[] = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'";

/* The moment of all tests: 2026-01-02T03:04:05.006Z. */
enum { DAY = 20455, TIME_MS = 11045006 };
static const int64_t MOMENT = 1767323045006;

static void to(enum timestamp_type type, const char *format, enum unix_precision precision)
{
    smt.as.timestamp_converter =
        (struct timestamp_converter_config){"f", type, format, precision, true};
}

static void given(const struct schema *schema, struct datum value)
{
    record.value = a_struct(GIVEN({"f", schema, value}));
}

Test(timestamp_converter, writes_text)
{
    to(TIMESTAMP_STRING, ISO, UNIX_MILLISECONDS);
    given(of_type(SCHEMA_INT64), an_int(MOMENT));
    expect_value(&timestamp_converter_ops, "Row{f string} | {f: '2026-01-02T03:04:05.006Z'}");
    given(named(SCHEMA_INT64, CONNECT("Timestamp")), an_int(MOMENT));
    expect_value(&timestamp_converter_ops, "Row{f string} | {f: '2026-01-02T03:04:05.006Z'}");
    given(named(SCHEMA_INT32, CONNECT("Date")), an_int(DAY));
    expect_value(&timestamp_converter_ops, "Row{f string} | {f: '2026-01-02T00:00:00.000Z'}");
    given(named(SCHEMA_INT32, CONNECT("Time")), an_int(TIME_MS));
    expect_value(&timestamp_converter_ops, "Row{f string} | {f: '1970-01-01T03:04:05.006Z'}");
}

Test(timestamp_converter, reads_text)
{
    to(TIMESTAMP_UNIX, ISO, UNIX_MILLISECONDS);
    given(optional_of_type(SCHEMA_STRING), a_text("2026-01-02T03:04:05.006Z"));
    expect_value(&timestamp_converter_ops, "Row{f int64?} | {f: 1767323045006}");
}

Test(timestamp_converter, makes_the_types_of_connect)
{
    to(TIMESTAMP_TIMESTAMP, NULL, UNIX_MILLISECONDS);
    given(optional_of_type(SCHEMA_INT64), an_int(MOMENT));
    expect_value(&timestamp_converter_ops, "Row{f int64 Timestamp v1?} | {f: 1767323045006}");
}

Test(timestamp_converter, makes_a_date)
{
    to(TIMESTAMP_DATE, NULL, UNIX_MILLISECONDS);
    given(of_type(SCHEMA_INT64), an_int(MOMENT));
    expect_value(&timestamp_converter_ops, "Row{f int32 Date v1} | {f: 20455}");
    given(of_type(SCHEMA_INT64), an_int(-1));
    expect_value(&timestamp_converter_ops, "Row{f int32 Date v1} | {f: -1}");
}

Test(timestamp_converter, makes_a_time)
{
    to(TIMESTAMP_TIME, NULL, UNIX_MILLISECONDS);
    given(of_type(SCHEMA_INT64), an_int(MOMENT));
    expect_value(&timestamp_converter_ops, "Row{f int32 Time v1} | {f: 11045006}");
    given(of_type(SCHEMA_INT64), an_int(-1));
    expect_value(&timestamp_converter_ops, "Row{f int32 Time v1} | {f: 86399999}");
}

/* As Debezium's MicroTimestamp and NanoTimestamp come. */
Test(timestamp_converter, reads_every_precision)
{
    static const struct {
        enum unix_precision precision;
        int64_t value;
        const char *text;
    } cases[] = {
        {UNIX_SECONDS, 1767323045, "Row{f int64 Timestamp v1} | {f: 1767323045000}"},
        {UNIX_MILLISECONDS, 1767323045006, "Row{f int64 Timestamp v1} | {f: 1767323045006}"},
        {UNIX_MICROSECONDS, 1767323045006789, "Row{f int64 Timestamp v1} | {f: 1767323045006}"},
        {UNIX_NANOSECONDS, 1767323045006789012, "Row{f int64 Timestamp v1} | {f: 1767323045006}"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        to(TIMESTAMP_TIMESTAMP, NULL, cases[i].precision);
        given(named(SCHEMA_INT64, "io.debezium.time.MicroTimestamp"), an_int(cases[i].value));
        expect_value(&timestamp_converter_ops, cases[i].text);
    }
}

Test(timestamp_converter, writes_every_precision)
{
    static const struct {
        enum unix_precision precision;
        const char *text;
    } cases[] = {
        {UNIX_SECONDS, "Row{f int64} | {f: 1767323045}"},
        {UNIX_MILLISECONDS, "Row{f int64} | {f: 1767323045006}"},
        {UNIX_MICROSECONDS, "Row{f int64} | {f: 1767323045006000}"},
        {UNIX_NANOSECONDS, "Row{f int64} | {f: 1767323045006000000}"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        to(TIMESTAMP_UNIX, NULL, cases[i].precision);
        given(named(SCHEMA_INT64, CONNECT("Timestamp")), an_int(MOMENT));
        expect_value(&timestamp_converter_ops, cases[i].text);
    }
}

Test(timestamp_converter, leaves_the_other_fields_alone)
{
    to(TIMESTAMP_DATE, NULL, UNIX_MILLISECONDS);
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_INT32, an_int(5)), A_NULL},
                                  {"f", optional_of_type(SCHEMA_INT64), A_NULL}));
    record.value.schema = schema_with_optional(smt_relation.arena, record.value.schema, true);
    expect_value(&timestamp_converter_ops, "Row{a int32?=5, f int32 Date v1?}? | {a: 5, f: NULL}");
}

Test(timestamp_converter, keeps_nulls_where_it_is_told_to)
{
    to(TIMESTAMP_DATE, NULL, UNIX_MILLISECONDS);
    smt.as.timestamp_converter.replace_null_with_default = false;
    given(with_default(SCHEMA_INT64, an_int(5)), A_NULL);
    expect_value(&timestamp_converter_ops, "Row{f int32 Date v1?} | {f: NULL}");
}

Test(timestamp_converter, does_nothing_without_the_field)
{
    to(TIMESTAMP_DATE, NULL, UNIX_MILLISECONDS);
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)}));
    expect_value(&timestamp_converter_ops, "Row{a int32} | {a: 1}");
}

Test(timestamp_converter, converts_a_whole_key)
{
    to(TIMESTAMP_STRING, "yyyyMMdd", UNIX_MILLISECONDS);
    smt.as.timestamp_converter.field = NULL;
    smt.is_key = true;
    record.key = a_part(optional_of_type(SCHEMA_INT64), an_int(MOMENT));
    cr_assert_eq(apply(&timestamp_converter_ops), WR_OK);
    EXPECT_PART(record.key, "string? | '20260102'");
    record.key = a_part(optional_of_type(SCHEMA_INT64), A_NULL);
    cr_assert_eq(apply(&timestamp_converter_ops), WR_OK);
    EXPECT_PART(record.key, "string? | NULL");
}

Test(timestamp_converter, lets_a_tombstone_pass)
{
    to(TIMESTAMP_DATE, NULL, UNIX_MILLISECONDS);
    expect_value(&timestamp_converter_ops, "null");
}

Test(timestamp_converter, works_without_a_schema)
{
    to(TIMESTAMP_STRING, "yyyy", UNIX_MILLISECONDS);
    given(of_type(SCHEMA_INT64), an_int(MOMENT));
    record.value.schema = NULL;
    expect_value(&timestamp_converter_ops, "none | {f: '2026'}");
}

Test(timestamp_converter, refuses_text_that_does_not_match)
{
    to(TIMESTAMP_UNIX, "yyyy-MM-dd", UNIX_MILLISECONDS);
    given(of_type(SCHEMA_STRING), a_text("yesterday"));
    EXPECT_REJECT(timestamp_converter_ops,
                  "field f of the value, \"yesterday\": does not match the format");
}

Test(timestamp_converter, refuses_text_without_a_format)
{
    to(TIMESTAMP_UNIX, NULL, UNIX_MILLISECONDS);
    given(of_type(SCHEMA_STRING), a_text("2026"));
    EXPECT_REJECT(timestamp_converter_ops, "field f of the value, \"2026\": text is read after a "
                                           "format, and none is set");
}

Test(timestamp_converter, refuses_what_is_no_moment)
{
    to(TIMESTAMP_UNIX, NULL, UNIX_MILLISECONDS);
    given(named(SCHEMA_INT32, "io.debezium.time.Date"), an_int(1));
    EXPECT_REJECT(timestamp_converter_ops,
                  "f: it is neither text nor an int64 nor a Date, Time or Timestamp of Connect "
                  "(time.precision.mode=connect)");
}

Test(timestamp_converter, refuses_what_leaves_the_int64)
{
    to(TIMESTAMP_UNIX, NULL, UNIX_NANOSECONDS);
    given(named(SCHEMA_INT64, CONNECT("Timestamp")), an_int(INT64_MAX / 10));
    EXPECT_REJECT(timestamp_converter_ops,
                  "field f of the value, 922337203685477580: is out of range");
}

Test(timestamp_converter, refuses_seconds_that_leave_the_int64)
{
    to(TIMESTAMP_DATE, NULL, UNIX_SECONDS);
    given(of_type(SCHEMA_INT64), an_int(INT64_MAX));
    EXPECT_REJECT(timestamp_converter_ops,
                  "field f of the value, 9223372036854775807: is out of range");
}

Test(timestamp_converter, refuses_a_moment_that_has_no_text)
{
    to(TIMESTAMP_STRING, "yyyy", UNIX_MILLISECONDS);
    given(of_type(SCHEMA_INT64), an_int(INT64_MIN));
    EXPECT_REJECT(timestamp_converter_ops,
                  "field f of the value, -9223372036854775808: has no text in this format");
}

Test(timestamp_converter, needs_a_format_to_write_text)
{
    to(TIMESTAMP_STRING, NULL, UNIX_MILLISECONDS);
    cr_expect_eq(make_transform(&timestamp_converter_ops), WR_FATAL);
    cr_expect_str_eq(err.text, "transforms.t.format is required with target.type=string");
}
