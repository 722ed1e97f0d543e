#include "show_value.h"

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
    {INTERVAL, -1, "-2562047788:00:54.775807", "-9223372036854775807"},
};

Test(interval, is_micros_with_months_of_the_average_length)
{
    EXPECT_VALUES(INTERVALS);
    FEED_PREFIXES(INTERVALS);
}

Test(interval, beyond_the_int64_is_refused_and_never_wrapped)
{
    EXPECT_REJECTS(INTERVAL, -1, "178000000 years", "-178000000 years", "292272 years",
                   "2562047788:00:54.775808", "9999999999:00:00", "292271 years 2562047788:00:00",
                   "2147483647 days", "-2147483648 days", "infinity", "-infinity");
    cr_expect_str_eq(err.text, "interval: no right form for the value \"-infinity\"");
}

Test(interval, refuses_malformed_text)
{
    EXPECT_REJECTS(INTERVAL, -1, "", " ", "1", "1 week", "1 day ", "1 day 2", "1day", "P1Y",
                   "@ 1 year", "01:00", "01:00:00 1 day", "1 day x", "12345678901:00:00",
                   "1 days1 days", "--1 day", "01:00:00.1234567");
}
