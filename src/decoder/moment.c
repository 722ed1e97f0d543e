#include "decoder/moment.h"

#include <string.h>

#include "decoder/scan.h"

enum {
    YEAR_DIGITS_MAX = 7,
    YEAR_MAX = 5874897, /* of a date; timestamps end in 294276 */
};

static uint32_t month_days(int64_t year, uint32_t month)
{
    static const uint8_t DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && is_leap ? 29 : DAYS[month - 1];
}

static void scan_date(struct scan *in, struct moment *out)
{
    uint32_t century = scan_pair(in);
    out->year = century * 100 + scan_pair(in);
    while (scan_at_digit(in) && out->year < YEAR_MAX) {
        out->year = out->year * 10 + *in->next++ - '0';
    }
    if (out->year > YEAR_MAX) {
        scan_fail(in);
    }
    scan_expect(in, '-');
    out->month = scan_pair(in);
    scan_expect(in, '-');
    out->day = scan_pair(in);
}

/* Up to 24:00:00, which PostgreSQL takes for a time. */
static int64_t scan_time(struct scan *in)
{
    uint32_t hour = scan_pair(in);
    scan_expect(in, ':');
    uint32_t minute = scan_pair(in);
    scan_expect(in, ':');
    uint32_t second = scan_pair(in);
    int64_t time_us = (hour * 3600 + minute * 60 + second) * US_PER_SECOND + scan_fraction_us(in);

    if (minute > 59 || second > 59 || time_us > US_PER_DAY) {
        scan_fail(in);
    }
    return time_us;
}

/* "+02", "-07:52" or "-07:52:58", or nothing. */
static void scan_offset(struct scan *in, struct moment *out)
{
    out->offset_s = 0;
    out->has_offset = scan_at(in, '+') || scan_at(in, '-');
    bool is_utc = scan_left(in) == 3 && memcmp(in->next, "+00", 3) == 0;
    if (is_utc) {
        in->next = in->end; /* as nearly always: walrelay's connections are in UTC */
    }
    if (is_utc || !out->has_offset) {
        return;
    }
    bool is_west = *in->next++ == '-';
    uint32_t seconds = scan_pair(in) * 3600;
    if (scan_accept(in, ':')) {
        seconds += scan_pair(in) * 60;
    }
    if (scan_accept(in, ':')) {
        seconds += scan_pair(in);
    }
    out->offset_s = is_west ? -(int32_t)seconds : (int32_t)seconds;
}

/* The era stands last, so only now is the year known, and with it the length of February. */
static bool scan_end(struct scan *in, struct moment *m)
{
    if (m->year == 0) {
        scan_fail(in);
    }
    if (scan_accept_text(in, " BC")) {
        m->year = 1 - m->year;
    }
    return scan_done(in) && m->month >= 1 && m->month <= 12 && m->day >= 1 &&
           m->day <= month_days(m->year, m->month);
}

bool moment_read_date(struct wr_slice text, struct moment *out)
{
    struct scan in = scan_start(text);

    scan_date(&in, out);
    return scan_end(&in, out);
}

bool moment_read_time(struct wr_slice text, struct moment *out)
{
    struct scan in = scan_start(text);

    out->time_us = scan_time(&in);
    scan_offset(&in, out);
    return scan_done(&in);
}

bool moment_read_timestamp(struct wr_slice text, struct moment *out)
{
    struct scan in = scan_start(text);

    scan_date(&in, out);
    scan_expect(&in, ' ');
    out->time_us = scan_time(&in);
    scan_offset(&in, out);
    return scan_end(&in, out);
}

/* A year that begins in March ends with the leap day, and 400 years are always 146,097 days. */
int64_t moment_days(const struct moment *m)
{
    int64_t march_year = m->month > 2 ? m->year : m->year - 1;
    int64_t era = (march_year >= 0 ? march_year : march_year - 399) / 400;
    int64_t year_of_era = march_year - era * 400;
    int64_t march_month = m->month > 2 ? m->month - 3 : m->month + 9;
    int64_t day_of_year = (153 * march_month + 2) / 5 + m->day - 1;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

static void set_days(struct moment *out, int64_t days)
{
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * day_of_year + 2) / 153;

    out->day = (uint32_t)(day_of_year - (153 * march_month + 2) / 5 + 1);
    out->month = (uint32_t)(march_month < 10 ? march_month + 3 : march_month - 9);
    out->year = year_of_era + era * 400 + (out->month <= 2);
}

/* Years are counted from March, so that a leap day is the last; 400 of them have 146097 days. */
void moment_of_us(int64_t us, struct moment *out)
{
    enum { ERA_DAYS = 146097, DAYS_TO_1970 = 719468 }; /* from 0000-03-01 */
    int64_t time_us = us % US_PER_DAY;
    int64_t days = us / US_PER_DAY + DAYS_TO_1970;

    if (time_us < 0) {
        time_us += US_PER_DAY;
        days--;
    }
    int64_t era = (days >= 0 ? days : days - (ERA_DAYS - 1)) / ERA_DAYS;
    int64_t day = days - era * ERA_DAYS;
    int64_t year = (day - day / 1460 + day / 36524 - day / (ERA_DAYS - 1)) / 365;
    int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    bool is_next_year = month >= 10;

    *out = (struct moment){
        .year = year + era * 400 + is_next_year,
        .month = (uint32_t)(is_next_year ? month - 9 : month + 3),
        .day = (uint32_t)(day_of_year - (153 * month + 2) / 5 + 1),
        .time_us = time_us,
    };
}

void moment_to_utc(struct moment *m)
{
    int64_t time_us = m->time_us - m->offset_s * US_PER_SECOND;
    int64_t days = time_us / US_PER_DAY - (time_us % US_PER_DAY < 0);

    m->offset_s = 0;
    m->time_us = time_us - days * US_PER_DAY;
    if (days != 0) {
        set_days(m, moment_days(m) + days);
    }
}

static char *put_pair(char *p, uint32_t value)
{
    p[0] = (char)('0' + value / 10);
    p[1] = (char)('0' + value % 10);
    return p + 2;
}

char *moment_put_fraction(char *p, int64_t time_us, int32_t digits)
{
    uint32_t fraction = (uint32_t)(time_us % US_PER_SECOND);
    char all[FRACTION_DIGITS_MAX];

    if (digits == 0) {
        return p;
    }
    char *rest = put_pair(all, fraction / 10000);
    rest = put_pair(rest, fraction / 100 % 100);
    (void)put_pair(rest, fraction % 100);
    *p++ = '.';
    memcpy(p, all, (size_t)digits);
    return p + digits;
}

char *moment_put_time(char *p, int64_t time_us, int32_t fraction_digits)
{
    uint32_t seconds = (uint32_t)(time_us / US_PER_SECOND);

    p = put_pair(p, seconds / 3600);
    *p++ = ':';
    p = put_pair(p, seconds / 60 % 60);
    *p++ = ':';
    p = put_pair(p, seconds % 60);
    return moment_put_fraction(p, time_us, fraction_digits);
}

int32_t moment_fraction_digits(int64_t time_us)
{
    int64_t fraction = time_us % US_PER_SECOND;
    int32_t digits = fraction == 0 ? 0 : FRACTION_DIGITS_MAX;

    for (; digits > 0 && fraction % 10 == 0; digits--) {
        fraction /= 10;
    }
    return digits;
}

/* As Java's ISO-8601: four digits at least, a sign before 0000 and behind 9999. */
static char *put_year(char *p, int64_t year)
{
    uint32_t magnitude = (uint32_t)(year < 0 ? -year : year);

    if (year < 0) {
        *p++ = '-';
    } else if (magnitude > 9999) {
        *p++ = '+';
    }
    char digits[YEAR_DIGITS_MAX];
    size_t count = 0;
    for (uint32_t rest = magnitude / 10000; rest > 0; rest /= 10) {
        digits[count++] = (char)('0' + rest % 10);
    }
    while (count > 0) {
        *p++ = digits[--count];
    }
    p = put_pair(p, magnitude / 100 % 100);
    return put_pair(p, magnitude % 100);
}

char *moment_put_date(char *p, const struct moment *m)
{
    p = put_year(p, m->year);
    *p++ = '-';
    p = put_pair(p, m->month);
    *p++ = '-';
    return put_pair(p, m->day);
}

char *moment_put(char *p, const struct moment *m, int32_t fraction_digits)
{
    p = moment_put_date(p, m);
    *p++ = 'T';
    p = moment_put_time(p, m->time_us, fraction_digits);
    *p++ = 'Z';
    return p;
}
