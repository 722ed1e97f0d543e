#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/date_format.h"

TestSuite(date_format);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MOMENT_COUNT = 4 };

/* 2026-01-02T03:04:05.006Z, the beginning of 1970, just before it, the end of 9999. */
static const int64_t MOMENTS[MOMENT_COUNT] = {1767323045006, 0, -1, 253402300799999};

static struct wr_date_format *compile(const char *pattern)
{
    struct wr_date_format *format = NULL;
    struct wr_error err = {0};

    cr_assert_eq(wr_date_format_new(pattern, &format, &err), WR_OK, "%s", err.text);
    return format;
}

static void expect_text(const char *pattern, int64_t time_ms, const char *expected)
{
    struct wr_date_format *format = compile(pattern);
    struct wr_buffer out;

    wr_buffer_init(&out, 1000);
    cr_assert(wr_date_format_write(format, time_ms, &out), "%s", pattern);
    cr_expect(wr_slice_is(wr_buffer_slice(&out), expected), "%s: %.*s, not %s", pattern,
              (int)out.size, out.data, expected);
    wr_buffer_done(&out);
    wr_date_format_free(format);
}

static bool read_ms(const char *pattern, const char *text, int64_t *out)
{
    struct wr_date_format *format = compile(pattern);
    char *copy = strndup(text, strlen(text)); /* on the heap, for AddressSanitizer */
    bool is_read = wr_date_format_read(format, wr_slice_str(copy), out);

    free(copy);
    wr_date_format_free(format);
    return is_read;
}

static void expect_moment(const char *pattern, const char *text, int64_t expected)
{
    int64_t time_ms = 0;

    cr_expect(read_ms(pattern, text, &time_ms), "%s <- %s", pattern, text);
    cr_expect_eq(time_ms, expected, "%s <- %s: %" PRId64, pattern, text, time_ms);
}

static void expect_unreadable(const char *pattern, const char *text)
{
    int64_t time_ms = 0;

    cr_expect_not(read_ms(pattern, text, &time_ms), "%s <- %s: %" PRId64, pattern, text, time_ms);
}

/* What SimpleDateFormat of Java 17 wrote. */
Test(date_format, writes_as_java_does)
{
    static const struct {
        const char *pattern;
        const char *texts[MOMENT_COUNT];
    } cases[] = {
        {"yyyy-MM-dd'T'HH:mm:ss.SSS'Z'",
         {"2026-01-02T03:04:05.006Z", "1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z",
          "9999-12-31T23:59:59.999Z"}},
        {"yyyyMMdd", {"20260102", "19700101", "19691231", "99991231"}},
        {"yy", {"26", "70", "69", "99"}},
        {"y", {"2026", "1970", "1969", "9999"}},
        {"yyyyy", {"02026", "01970", "01969", "09999"}},
        {"M/MM/MMM/MMMM",
         {"1/01/Jan/January", "1/01/Jan/January", "12/12/Dec/December", "12/12/Dec/December"}},
        {"L LLL", {"1 Jan", "1 Jan", "12 Dec", "12 Dec"}},
        {"d dd D DDD", {"2 02 2 002", "1 01 1 001", "31 31 365 365", "31 31 365 365"}},
        {"E EEEE u", {"Fri Friday 5", "Thu Thursday 4", "Wed Wednesday 3", "Fri Friday 5"}},
        {"h:mm a", {"3:04 AM", "12:00 AM", "11:59 PM", "11:59 PM"}},
        {"H k K h", {"3 3 3 3", "0 24 0 12", "23 23 11 11", "23 23 11 11"}},
        {"S SS SSS", {"6 06 006", "0 00 000", "999 999 999", "999 999 999"}},
        {"z zzzz Z X XXX",
         {"UTC Coordinated Universal Time +0000 Z Z", "UTC Coordinated Universal Time +0000 Z Z",
          "UTC Coordinated Universal Time +0000 Z Z", "UTC Coordinated Universal Time +0000 Z Z"}},
        {"'o''clock' '' \xc3\xa9",
         {"o'clock ' \xc3\xa9", "o'clock ' \xc3\xa9", "o'clock ' \xc3\xa9", "o'clock ' \xc3\xa9"}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t j = 0; j < MOMENT_COUNT; j++) {
            expect_text(cases[i].pattern, MOMENTS[j], cases[i].texts[j]);
        }
    }
}

Test(date_format, writes_long_fractions_as_fractions)
{
    expect_text("ss.SSSSSS", 5006, "05.006000");
    expect_text("ss.SSSSSSSSS", 5123, "05.123000000");
}

Test(date_format, writes_days_as_postgresql_counts_them)
{
    expect_text("yyyy-MM-dd", -62135596800000, "0001-01-01");
    expect_text("yyyy-MM-dd", -12219292800000 - 86400000, "1582-10-14");
    expect_text("yyyy-MM-dd D", 951782400000, "2000-02-29 60");
    expect_text("yyyy-MM-dd", 4107542400000, "2100-03-01");
}

Test(date_format, writes_nothing_before_the_year_1)
{
    struct wr_date_format *format = compile("yyyy");
    struct wr_buffer out;

    wr_buffer_init(&out, 100);
    cr_expect_not(wr_date_format_write(format, -62135596800001, &out));
    cr_expect_eq(out.size, 0);
    cr_expect_not(wr_date_format_write(format, INT64_MIN, &out));
    cr_expect(wr_date_format_write(format, INT64_MAX, &out));
    wr_buffer_done(&out);
    wr_date_format_free(format);
}

/* What SimpleDateFormat of Java 17 read. */
Test(date_format, reads_as_java_does)
{
    expect_moment("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", "2026-01-02T03:04:05.006Z", 1767323045006);
    expect_moment("yyyy-MM-dd", "2026-1-2", 1767312000000);
    expect_moment("yyyy-MM-dd", "2026-01-02T03:04", 1767312000000);
    expect_moment("yyyy-MM-dd", " 2026-01-02", 1767312000000);
    expect_moment("yyyyMMdd", "20260102", 1767312000000);
    expect_moment("yyyyMMdd", "2026112", 1793577600000);
    expect_moment("yyyyMMddHHmmss", "20260102030405", 1767323045000);
    expect_moment("MMM d, yyyy", "Jan 2, 2026", 1767312000000);
    expect_moment("MMM d, yyyy", "january 2, 2026", 1767312000000);
    expect_moment("MMMM", "Jan", 0);
    expect_moment("EEE, d MMM yyyy HH:mm:ss Z", "Fri, 2 Jan 2026 03:04:05 +0200", 1767315845000);
    expect_moment("EEE MMM dd HH:mm:ss zzz yyyy", "Fri Jan 02 03:04:05 UTC 2026", 1767323045000);
    expect_moment("yyyy-MM-dd HH:mm:ssX", "2026-01-02 03:04:05+02", 1767315845000);
    expect_moment("yyyy-MM-dd HH:mm:ssXXX", "2026-01-02 03:04:05+02:30", 1767314045000);
    expect_moment("yyyy-MM-dd HH:mm:ssXXX", "2026-01-02 03:04:05Z", 1767323045000);
    expect_moment("yyyy-MM-dd HH:mm:ssz", "2026-01-02 03:04:05GMT+02:00", 1767315845000);
    expect_moment("hh:mm a", "03:04 PM", 54240000);
    expect_moment("hh:mm a", "12:04 AM", 240000);
    expect_moment("KK:mm a", "00:04 pm", 43440000);
    expect_moment("HH:mm", "24:00", 86400000);
    expect_moment("k", "24", 0);
    expect_moment("yyyy-DDD", "2026-032", 1769904000000);
    expect_moment("u yyyy-MM-dd", "5 2026-01-02", 1767312000000);
    expect_moment("HH:mm:ss.SSS", "03:04:05.5", 11045005);
    expect_moment("yyyy MM", "2026  02", 1769904000000);
    expect_moment("yyyy", "1969", -31536000000);
}

Test(date_format, reads_long_fractions_as_fractions)
{
    expect_moment("ss.SSSSSS", "05.123456", 5123);
    expect_moment("ss.SSSSSS", "05.5", 5500);
    expect_moment("ss.SSS", "05.123456", 5123);
    expect_moment("ss.SSSSSSSSS", "05.000000001", 5000);
}

Test(date_format, reads_the_whole_of_an_offset)
{
    expect_moment("yyyy-MM-dd HH:mm:ssX", "2026-01-02 03:04:05+02:30", 1767314045000);
    expect_moment("yyyy-MM-dd HH:mm:ssX", "2026-01-02 03:04:05-0230", 1767332045000);
}

Test(date_format, does_not_read_what_is_no_moment)
{
    expect_unreadable("yyyy-MM-dd", "2026-13-01");
    expect_unreadable("yyyy-MM-dd", "2026-02-29");
    expect_unreadable("yyyy-MM-dd", "2026-00-10");
    expect_unreadable("yyyy-DDD", "2026-366");
    expect_unreadable("HH:mm", "25:00");
    expect_unreadable("HH:mm", "24:01");
    expect_unreadable("HH:mm", "10:60");
    expect_unreadable("yyyy-MM-dd", "yesterday");
    expect_unreadable("yyyy-MM-dd'T'HH", "2026-01-02 03");
    expect_unreadable("yyyy-MM-dd", "2026-01-");
    expect_unreadable("yyyy-MM-dd", "");
    expect_unreadable("MMM", "Foo");
    expect_unreadable("a", "XM");
    expect_unreadable("X", "+2x:00y");
    expect_unreadable("X", "+24");
    expect_unreadable("z", "PST");
    expect_unreadable("yyyy", "99999999999999999999999");
    expect_unreadable("yyyy", "999999999");
    expect_unreadable("yyyy", "0");
    expect_unreadable("yy-MM-dd", "26-01-02");
}

Test(date_format, reads_what_it_wrote)
{
    for (int64_t day = -700000; day < 3000000; day += 997) {
        struct wr_date_format *format = compile("yyyy-MM-dd HH:mm:ss.SSS");
        struct wr_buffer out;
        int64_t time_ms = day * 86400000 + day % 86400 * 1000 + 7;
        int64_t again = 0;

        wr_buffer_init(&out, 100);
        cr_assert(wr_date_format_write(format, time_ms, &out));
        cr_assert(wr_date_format_read(format, wr_buffer_slice(&out), &again));
        cr_assert_eq(again, time_ms, "%.*s", (int)out.size, out.data);
        wr_buffer_done(&out);
        wr_date_format_free(format);
    }
}

Test(date_format, refuses_patterns_that_cannot_work)
{
    static const struct {
        const char *pattern, *problem;
    } cases[] = {
        {"YYYY-MM-dd", "years of weeks (Y)"},
        {"G", "the letter G, which is not built in"},
        {"ww", "the letter w"},
        {"oclock", "o, which is no letter of a date"},
        {"yyyy'", "a quote that is not closed"},
        {"XXXX", "more than three X"},
    };
    struct wr_date_format *format = NULL;
    struct wr_error err = {0};

    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(wr_date_format_new(cases[i].pattern, &format, &err), WR_FATAL);
        cr_expect_null(format);
        cr_expect_not_null(strstr(err.text, cases[i].problem), "%s", err.text);
    }
}
