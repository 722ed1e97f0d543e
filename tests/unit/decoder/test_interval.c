#include "show_schema.h"

enum { INTERVAL = 1186 };

TestSuite(interval, .init = open_values, .fini = close_values);

static const struct value_case INTERVALS[] = {
    {INTERVAL, -1, "1 year 2 mons 3 days 04:05:06.789", "37091106789000"},
    {INTERVAL, -1, "-1 years -2 days -00:00:01", "-31730401000000"},
    {INTERVAL, -1, "-1 mons +1 day -00:00:00.000001", "-2543400000001"},
    {INTERVAL, -1, "838:59:58.999999", "3020398999999"},
    {INTERVAL, -1, "00:00:00", "0"},
    {INTERVAL, -1, "1 mon", "2629800000000"},
    {INTERVAL, -1, "1 day", "86400000000"},
    {INTERVAL, -1, "00:00:02", "2000000"},
    {INTERVAL, -1, "292271 years", "9223371309600000000"},
    {INTERVAL, -1, "2562047788:00:54.775807", "9223372036854775807"},
    {INTERVAL, -1, "-2562047788:00:54.775808", "-9223372036854775808"},
};

Test(interval, is_micros_with_months_of_the_average_length)
{
    EXPECT_VALUES(INTERVALS);
    FEED_PREFIXES(INTERVALS);
}

Test(interval, beyond_the_int64_is_refused_and_never_wrapped)
{
    EXPECT_REJECTS(INTERVAL, -1, "178000000 years", "-178000000 years", "292272 years",
                   "2562047788:00:54.775808", "-2562047788:00:54.775809", "9999999999:00:00",
                   "292271 years 2562047788:00:00", "2147483647 days", "-2147483648 days",
                   "infinity", "-infinity");
    cr_expect_str_eq(err.text, "interval: no right form for the value \"-infinity\"");
}

Test(interval, refuses_malformed_text)
{
    EXPECT_REJECTS(INTERVAL, -1, "", " ", "1", "1 week", "1 day ", "1 day 2", "1day", "P1Y",
                   "@ 1 year", "01:00", "01:00:00 1 day", "1 day x", "12345678901:00:00",
                   "1 days1 days", "--1 day", "01:00:00.1234567");
}

static const struct value_case TEXTS[] = {
    {INTERVAL, -1, "1 year 2 mons 3 days 04:05:06.789", "'P1Y2M3DT4H5M6.789S'"},
    {INTERVAL, -1, "-1 years -2 days -00:00:01", "'P-1Y0M-2DT0H0M-1S'"},
    {INTERVAL, -1, "-1 mons +1 day -00:00:00.000001", "'P0Y-1M1DT0H0M-0.000001S'"},
    {INTERVAL, -1, "-2 years -3 mons -04:05:06.5", "'P-2Y-3M0DT-4H-5M-6.5S'"},
    {INTERVAL, -1, "838:59:58.999999", "'P0Y0M0DT838H59M58.999999S'"},
    {INTERVAL, -1, "178000000 years", "'P178000000Y0M0DT0H0M0S'"},
    {INTERVAL, -1, "-178000000 years", "'P-178000000Y0M0DT0H0M0S'"},
    {INTERVAL, -1, "00:00:00", "'P0Y0M0DT0H0M0S'"},
    {INTERVAL, -1, "-2562047788:00:54.775808", "'P0Y0M0DT-2562047788H0M-54.775808S'"},
};

Test(interval, is_iso_text_with_a_sign_for_each_part)
{
    options.interval_handling_mode = INTERVAL_HANDLING_STRING;
    EXPECT_VALUES(TEXTS);
    FEED_PREFIXES(TEXTS);
    cr_expect_str_eq(show_schema(INTERVAL, -1), "string io.debezium.time.Interval:1");
    EXPECT_REJECTS(INTERVAL, -1, "", "infinity", "1 week", "01:00:00 1 day");
}
