#include "show_schema.h"

enum { DATE = 1082, TIME = 1083, TIMESTAMP = 1114, TIMESTAMPTZ = 1184, TIMETZ = 1266 };

TestSuite(datetime, .init = open_values, .fini = close_values);

static const struct value_case DATES[] = {
    {DATE, -1, "2026-05-01", "20574"},
    {DATE, -1, "1969-12-31", "-1"},
    {DATE, -1, "1970-01-01", "0"},
    {DATE, -1, "2000-02-29", "11016"},
    {DATE, -1, "2000-03-01", "11017"},
    {DATE, -1, "9999-12-31", "2932896"},
    {DATE, -1, "15000-01-01", "4759110"},
    {DATE, -1, "5874897-12-31", "2145042905"},
    {DATE, -1, "1582-10-10", "-141432"},
    {DATE, -1, "0001-01-01", "-719162"},
    {DATE, -1, "0001-12-31 BC", "-719163"},
    {DATE, -1, "0001-02-29 BC", "-719469"}, /* year 0 is a leap year */
    {DATE, -1, "4713-01-01 BC", "-2440550"},
    {DATE, -1, "infinity", "-2147472692"},
    {DATE, -1, "-infinity", "-2147472691"},
};

Test(datetime, date_is_days)
{
    EXPECT_VALUES(DATES);
    FEED_PREFIXES(DATES);
}

static const struct value_case TIMES[] = {
    {TIME, -1, "12:34:56.789012", "45296789012"},
    {TIME, -1, "00:00:00", "0"},
    {TIME, -1, "24:00:00", "86400000000"},
    {TIME, -1, "12:00:00.000001", "43200000001"},
    {TIME, -1, "23:59:59.999999", "86399999999"},
    {TIME, -1, "12:34:56.5", "45296500000"},
    {TIME, 6, "12:34:56.789012", "45296789012"},
    {TIME, 4, "12:34:56.7890", "45296789000"},
    {TIME, 3, "12:34:56.789", "45296789"},
    {TIME, 0, "24:00:00", "86400000"},
    {TIME, 0, "23:59:59", "86399000"},
};

Test(datetime, time_is_millis_up_to_three_digits_and_micros_beyond)
{
    EXPECT_VALUES(TIMES);
    FEED_PREFIXES(TIMES);
}

static const struct value_case TIMETZS[] = {
    {TIMETZ, -1, "12:34:56.789012+02", "'10:34:56.789012Z'"},
    {TIMETZ, -1, "00:00:00+00", "'00:00:00Z'"},
    {TIMETZ, -1, "23:59:59-12", "'11:59:59Z'"},
    {TIMETZ, -1, "24:00:00+05:30", "'18:30:00Z'"},
    {TIMETZ, -1, "24:00:00+00", "'24:00:00Z'"},
    {TIMETZ, -1, "23:59:59.999999-15:59:59", "'15:59:58.999999Z'"},
    {TIMETZ, -1, "00:30:00+01", "'23:30:00Z'"},
    {TIMETZ, -1, "12:00:00.5+00", "'12:00:00.5Z'"},
    {TIMETZ, -1, "12:00:00.000100+00", "'12:00:00.0001Z'"},
};

Test(datetime, timetz_moves_to_utc)
{
    EXPECT_VALUES(TIMETZS);
    FEED_PREFIXES(TIMETZS);
}

static const struct value_case TIMESTAMPS[] = {
    {TIMESTAMP, -1, "2026-05-01 12:34:56.789012", "1777638896789012"},
    {TIMESTAMP, -1, "1969-12-31 23:59:59.999999", "-1"},
    {TIMESTAMP, -1, "0001-12-31 23:40:28 BC", "-62135597972000000"},
    {TIMESTAMP, -1, "0001-01-01 00:00:00", "-62135596800000000"},
    {TIMESTAMP, -1, "9999-12-31 23:59:59", "253402300799000000"},
    {TIMESTAMP, -1, "15000-01-01 00:00:00", "411187104000000000"},
    {TIMESTAMP, -1, "294247-01-10 04:00:54.775807", "9223372036854775807"},
    {TIMESTAMP, -1, "4714-11-24 00:00:00 BC", "-210866803200000000"},
    {TIMESTAMP, -1, "infinity", "9223372036825200000"},
    {TIMESTAMP, -1, "-infinity", "-9223372036832400000"},
    {TIMESTAMP, 3, "2026-05-01 12:34:56.789", "1777638896789"},
    {TIMESTAMP, 3, "1969-12-31 23:59:59.999", "-1"},
    {TIMESTAMP, 3, "1970-01-01 00:00:00", "0"},
    {TIMESTAMP, 3, "294276-12-31 23:59:59.999", "9224318015999999"},
    {TIMESTAMP, 3, "infinity", "9223372036825200"},
    {TIMESTAMP, 3, "-infinity", "-9223372036832400"},
    {TIMESTAMP, 0, "2026-05-01 12:34:56", "1777638896000"},
    {TIMESTAMP, 0, "1900-01-01 00:00:00", "-2208988800000"},
};

Test(datetime, timestamp_is_millis_up_to_three_digits_and_micros_beyond)
{
    EXPECT_VALUES(TIMESTAMPS);
    FEED_PREFIXES(TIMESTAMPS);
}

Test(datetime, timestamp_beyond_the_int64_is_refused_and_never_wrapped)
{
    EXPECT_REJECTS(TIMESTAMP, -1, "294276-12-31 23:59:59.999999", "294247-01-10 04:00:54.775808");
}

static const struct value_case TIMESTAMPTZS[] = {
    {TIMESTAMPTZ, -1, "2026-05-01 20:00:00+00", "'2026-05-01T20:00:00.000000Z'"},
    {TIMESTAMPTZ, -1, "2026-05-01 12:34:56.789012+00", "'2026-05-01T12:34:56.789012Z'"},
    {TIMESTAMPTZ, -1, "2026-05-01 12:34:56.5+00", "'2026-05-01T12:34:56.500000Z'"},
    {TIMESTAMPTZ, 3, "2026-05-01 12:34:56.789+00", "'2026-05-01T12:34:56.789Z'"},
    {TIMESTAMPTZ, 3, "1900-01-01 00:00:00.001+00", "'1900-01-01T00:00:00.001Z'"},
    {TIMESTAMPTZ, 1, "2026-05-01 12:34:56+00", "'2026-05-01T12:34:56.0Z'"},
    {TIMESTAMPTZ, 0, "2026-05-01 12:34:56+00", "'2026-05-01T12:34:56Z'"},
    {TIMESTAMPTZ, -1, "1969-12-31 23:59:59.999999+00", "'1969-12-31T23:59:59.999999Z'"},
    {TIMESTAMPTZ, -1, "0044-03-15 12:00:00+00 BC", "'-0043-03-15T12:00:00.000000Z'"},
    {TIMESTAMPTZ, -1, "0001-03-15 12:00:00+00 BC", "'0000-03-15T12:00:00.000000Z'"},
    {TIMESTAMPTZ, -1, "0001-01-01 00:00:00+00", "'0001-01-01T00:00:00.000000Z'"},
    {TIMESTAMPTZ, -1, "15000-01-01 00:00:00+00", "'+15000-01-01T00:00:00.000000Z'"},
    {TIMESTAMPTZ, -1, "294276-12-31 23:59:59.999999+00", "'+294276-12-31T23:59:59.999999Z'"},
    {TIMESTAMPTZ, -1, "infinity", "'infinity'"},
    {TIMESTAMPTZ, -1, "-infinity", "'-infinity'"},
};

Test(datetime, timestamptz_is_iso_text)
{
    EXPECT_VALUES(TIMESTAMPTZS);
    FEED_PREFIXES(TIMESTAMPTZS);
}

Test(datetime, timestamptz_of_another_zone_moves_to_utc)
{
    static const struct value_case cases[] = {
        {TIMESTAMPTZ, -1, "1883-11-18 12:00:00-07:52:58", "'1883-11-18T19:52:58.000000Z'"},
        {TIMESTAMPTZ, -1, "2024-03-01 00:30:00+01", "'2024-02-29T23:30:00.000000Z'"},
        {TIMESTAMPTZ, -1, "2023-12-31 20:00:00-05:30", "'2024-01-01T01:30:00.000000Z'"},
        {TIMESTAMPTZ, -1, "0001-01-01 00:00:00+01", "'0000-12-31T23:00:00.000000Z'"},
        {TIMESTAMPTZ, -1, "9999-12-31 23:30:00-01", "'+10000-01-01T00:30:00.000000Z'"},
    };

    EXPECT_VALUES(cases);
}

/* Each first and last day of a month over the eras, there and back again. */
Test(datetime, days_go_both_ways_over_all_centuries)
{
    char text[64];
    char expected[64];

    for (int year = 1; year <= 3000; year += 1) {
        (void)snprintf(text, sizeof(text), "%04d-03-01 00:00:00+01", year);
        bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        (void)snprintf(expected, sizeof(expected), "'%04d-02-%dT23:00:00.000000Z'", year,
                       is_leap ? 29 : 28);
        cr_assert_str_eq(show_value(TIMESTAMPTZ, -1, text), expected);
        (void)snprintf(text, sizeof(text), "%04d-12-31 23:30:00-01", year);
        (void)snprintf(expected, sizeof(expected), "'%04d-01-01T00:30:00.000000Z'", year + 1);
        cr_assert_str_eq(show_value(TIMESTAMPTZ, -1, text), expected);
    }
}

Test(datetime, refuses_malformed_text)
{
    EXPECT_REJECTS(DATE, -1, "", "2026-13-01", "2026-00-01", "2026-01-00", "2026-01-32",
                   "2025-02-29", "1900-02-29", "0000-01-01", "99-01-01", "01/02/2026",
                   "2026-05-01 AD", "2026-05-01x", "202:-05-01", "12345678-01-01", "5874898-01-01",
                   "58748970-01-01", "Infinity");
    EXPECT_REJECTS(TIME, -1, "", "25:00:00", "24:00:01", "24:00:00.000001", "12:60:00", "12:00:60",
                   "12:00", "1:00:00", "12:x0:00", "12:0::00", "12:00:00.", "12:00:00.1234567",
                   "12:00:00+00", "12-00-00");
    EXPECT_REJECTS(TIMETZ, -1, "", "12:00:00", "12:00:00+", "12:00:00+1",
                   "12:00:00+01:", "12:00:00Z", "12:00:00 UTC");
    EXPECT_REJECTS(TIMESTAMP, -1, "", "2026-05-01", "2026-05-01T12:00:00", "2026-05-01 12:00",
                   "2025-02-29 00:00:00", "2026-05-01 12:00:00+00", "2026-05-01 12:00:00 B",
                   "Fri May 01 12:00:00 2026");
    EXPECT_REJECTS(TIMESTAMP, 3, "2026-05-01", "0000-05-01 12:00:00");
    EXPECT_REJECTS(TIMESTAMPTZ, -1, "", "2026-05-01 12:00:00", "2026-05-01 12:00:00 UTC",
                   "2026-05-01 12:00:00+00 AD", "2026-02-30 12:00:00+00", "- infinity",
                   "9999999-01-01 00:00:00+00", "58748970-01-01 00:00:00.000000+00",
                   "99999999999-01-01 00:00:00+00");
}

/* What one instant is in each mode; the number of digits is in the typmod. */
static const struct {
    enum time_precision_mode mode;
    uint32_t oid;
    int32_t typmod;
    const char *text;
    const char *value;
    const char *schema;
} MODES[] = {
    {TIME_PRECISION_ADAPTIVE_TIME_MICROSECONDS, 1083, 3, "12:34:56.789", "45296789000",
     "int64 io.debezium.time.MicroTime:1"},
    {TIME_PRECISION_ADAPTIVE_TIME_MICROSECONDS, 1114, 3, "1969-12-31 23:59:59.999", "-1",
     "int64 io.debezium.time.Timestamp:1"},
    {TIME_PRECISION_ADAPTIVE_TIME_MICROSECONDS, 1114, -1, "1969-12-31 23:59:59.999999", "-1",
     "int64 io.debezium.time.MicroTimestamp:1"},
    {TIME_PRECISION_CONNECT, 1082, -1, "2026-05-01", "20574",
     "int32 org.apache.kafka.connect.data.Date:1"},
    {TIME_PRECISION_CONNECT, 1083, -1, "12:34:56.789012", "45296789",
     "int32 org.apache.kafka.connect.data.Time:1"},
    {TIME_PRECISION_CONNECT, 1083, 0, "24:00:00", "86400000",
     "int32 org.apache.kafka.connect.data.Time:1"},
    {TIME_PRECISION_CONNECT, 1114, -1, "1969-12-31 23:59:59.999999", "-1",
     "int64 org.apache.kafka.connect.data.Timestamp:1"},
    {TIME_PRECISION_CONNECT, 1114, -1, "infinity", "9223372036825200",
     "int64 org.apache.kafka.connect.data.Timestamp:1"},
    {TIME_PRECISION_CONNECT, 1114, -1, "294276-12-31 23:59:59.999999", "9224318015999999",
     "int64 org.apache.kafka.connect.data.Timestamp:1"},
    {TIME_PRECISION_MICROSECONDS, 1083, 3, "12:34:56.789", "45296789000",
     "int64 io.debezium.time.MicroTime:1"},
    {TIME_PRECISION_MICROSECONDS, 1114, 3, "1969-12-31 23:59:59.999", "-1000",
     "int64 io.debezium.time.MicroTimestamp:1"},
    {TIME_PRECISION_NANOSECONDS, 1082, -1, "1969-12-31", "-1", "int32 io.debezium.time.Date:1"},
    {TIME_PRECISION_NANOSECONDS, 1083, 3, "24:00:00", "86400000000000",
     "int64 io.debezium.time.NanoTime:1"},
    {TIME_PRECISION_NANOSECONDS, 1114, -1, "1969-12-31 23:59:59.999999", "-1000",
     "int64 io.debezium.time.NanoTimestamp:1"},
    {TIME_PRECISION_NANOSECONDS, 1114, -1, "2262-04-11 23:47:16.854775", "9223372036854775000",
     "int64 io.debezium.time.NanoTimestamp:1"},
    {TIME_PRECISION_NANOSECONDS, 1184, -1, "1969-12-31 23:59:59.999999+00",
     "'1969-12-31T23:59:59.999999Z'", "string io.debezium.time.ZonedTimestamp:1"},
    {TIME_PRECISION_ISOSTRING, 1082, -1, "2026-05-01", "'2026-05-01Z'",
     "string io.debezium.time.IsoDate:1"},
    {TIME_PRECISION_ISOSTRING, 1082, -1, "5874897-12-31", "'+5874897-12-31Z'",
     "string io.debezium.time.IsoDate:1"},
    {TIME_PRECISION_ISOSTRING, 1082, -1, "4713-01-01 BC", "'-4712-01-01Z'",
     "string io.debezium.time.IsoDate:1"},
    {TIME_PRECISION_ISOSTRING, 1082, -1, "infinity", "'-5877611-06-21Z'",
     "string io.debezium.time.IsoDate:1"},
    {TIME_PRECISION_ISOSTRING, 1082, -1, "-infinity", "'-5877611-06-22Z'",
     "string io.debezium.time.IsoDate:1"},
    {TIME_PRECISION_ISOSTRING, 1083, 3, "12:34:56.7", "'12:34:56.7Z'",
     "string io.debezium.time.IsoTime:1"},
    {TIME_PRECISION_ISOSTRING, 1083, -1, "24:00:00", "'24:00:00Z'",
     "string io.debezium.time.IsoTime:1"},
    {TIME_PRECISION_ISOSTRING, 1114, -1, "2026-05-01 12:34:56", "'2026-05-01T12:34:56Z'",
     "string io.debezium.time.IsoTimestamp:1"},
    {TIME_PRECISION_ISOSTRING, 1114, 6, "15000-01-01 00:00:00.00001",
     "'+15000-01-01T00:00:00.00001Z'", "string io.debezium.time.IsoTimestamp:1"},
    {TIME_PRECISION_ISOSTRING, 1114, -1, "infinity", "'+294247-01-10T04:00:25.2Z'",
     "string io.debezium.time.IsoTimestamp:1"},
    {TIME_PRECISION_ISOSTRING, 1114, -1, "-infinity", "'-290308-12-21T19:59:27.6Z'",
     "string io.debezium.time.IsoTimestamp:1"},
    {TIME_PRECISION_ISOSTRING, 1115, -1, "{\"2026-05-01 12:34:56\",NULL}",
     "['2026-05-01T12:34:56Z', null]", "array [string? io.debezium.time.IsoTimestamp:1]"},
    {TIME_PRECISION_ISOSTRING, 1266, -1, "12:34:56.789+02", "'10:34:56.789Z'",
     "string io.debezium.time.ZonedTime:1"},
};

Test(datetime, has_the_form_and_the_schema_of_the_mode)
{
    for (size_t i = 0; i < sizeof(MODES) / sizeof(MODES[0]); i++) {
        options.time_precision_mode = MODES[i].mode;
        const char *value = show_value(MODES[i].oid, MODES[i].typmod, MODES[i].text);
        cr_expect_str_eq(value, MODES[i].value, "mode %d, '%s': %s instead of %s", MODES[i].mode,
                         MODES[i].text, value, MODES[i].value);
        const char *schema = show_schema(MODES[i].oid, MODES[i].typmod);
        cr_expect_str_eq(schema, MODES[i].schema, "mode %d, type %u: %s instead of %s",
                         MODES[i].mode, MODES[i].oid, schema, MODES[i].schema);
        for (size_t size = 0; size < strlen(MODES[i].text); size++) {
            (void)show_sized(MODES[i].oid, MODES[i].typmod, MODES[i].text, size);
        }
    }
}

Test(datetime, offsets_of_less_than_an_hour_count)
{
    cr_expect_str_eq(show_value(1266, -1, "12:00:00+00:30"), "'11:30:00Z'");
    cr_expect_str_eq(show_value(1266, -1, "12:00:00-00:00:28"), "'12:00:28Z'");
    cr_expect_str_eq(show_value(1184, 0, "1900-01-01 00:00:00+00:00:28"), "'1899-12-31T23:59:32Z'");
    cr_expect_str_eq(show_value(1184, 0, "0044-03-15 12:00:00+00 BC"), "'-0043-03-15T12:00:00Z'");
    EXPECT_REJECTS(1266, -1, "12:00:00+0", "12:00:00+0a", "12:00:00+00:", "12:00:00+00x");
}

Test(datetime, nanoseconds_beyond_the_int64_are_refused_and_never_wrapped)
{
    options.time_precision_mode = TIME_PRECISION_NANOSECONDS;
    EXPECT_REJECTS(1114, -1, "2262-04-11 23:47:16.854776", "1677-09-21 00:12:43.145223",
                   "9999-12-31 23:59:59", "infinity", "-infinity", "0001-01-01 00:00:00");
}

Test(datetime, refuses_malformed_text_in_every_mode)
{
    for (int mode = TIME_PRECISION_ADAPTIVE; mode <= TIME_PRECISION_NANOSECONDS; mode++) {
        options.time_precision_mode = (enum time_precision_mode)mode;
        EXPECT_REJECTS(1082, -1, "", "2026-02-29", "2026-05-01Z", "2026-05-01 00:00:00", "today");
        EXPECT_REJECTS(1083, -1, "", "24:00:01", "12:34", "12:34:56+02", "12:60:00");
        EXPECT_REJECTS(1114, -1, "", "2026-05-01", "2026-05-01 12:34:56+00", "2026-13-01 00:00:00");
    }
}
