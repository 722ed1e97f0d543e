#include <inttypes.h>

#include <criterion/criterion.h>

#include "decoder/moment.h"

TestSuite(moment);

Test(moment, of_microseconds_is_the_way_back)
{
    /* Every 97th day over more than two 400-year cycles around 1970, and odd times of day. */
    for (int64_t day = -400000; day <= 400000; day += 97) {
        int64_t us = day * US_PER_DAY + (day * 7919 % US_PER_DAY + US_PER_DAY) % US_PER_DAY;
        struct moment m;
        moment_of_us(us, &m);
        cr_assert_eq(moment_days(&m), day, "day %" PRId64, day);
        cr_assert_eq(moment_days(&m) * US_PER_DAY + m.time_us, us);
        cr_assert(m.month >= 1 && m.month <= 12 && m.day >= 1 && m.day <= 31);
    }
}

static const char *shown(int64_t us)
{
    static char text[MOMENT_SIZE_MAX + 1];
    struct moment m;

    moment_of_us(us, &m);
    *moment_put(text, &m, 6) = '\0';
    return text;
}

Test(moment, of_microseconds_knows_leap_days_and_both_sides_of_1970)
{
    cr_expect_str_eq(shown(0), "1970-01-01T00:00:00.000000Z");
    cr_expect_str_eq(shown(-1), "1969-12-31T23:59:59.999999Z");
    cr_expect_str_eq(shown(INT64_C(951782400000000)), "2000-02-29T00:00:00.000000Z");
    cr_expect_str_eq(shown(INT64_C(951868800000000)), "2000-03-01T00:00:00.000000Z");
    cr_expect_str_eq(shown(INT64_C(4107542400000000)), "2100-03-01T00:00:00.000000Z");
    cr_expect_str_eq(shown(INT64_C(4107456000000000)), "2100-02-28T00:00:00.000000Z");
    cr_expect_str_eq(shown(INT64_C(1798761599999999)), "2026-12-31T23:59:59.999999Z");
}
