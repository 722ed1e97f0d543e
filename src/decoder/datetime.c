#include "decoder/datetime.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "decoder/scan.h"
#include "decoder/schema_known.h"

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_DAY    (86400 * US_PER_SECOND)

/*
 * What Debezium publishes for the infinities: PGStatement's two marks, which are milliseconds,
 * taken as a day or as an instant.
 */
#define DATE_INFINITY          (-2147472692)
#define DATE_MINUS_INFINITY    (-2147472691)
#define INSTANT_INFINITY       INT64_C(9223372036825200000)
#define INSTANT_MINUS_INFINITY INT64_C(-9223372036832400000)

enum {
    FRACTION_DIGITS_MAX = 6,
    FRACTION_DIGITS_MILLIS = 3, /* adaptive: milliseconds up to here, microseconds beyond */
    YEAR_DIGITS_MAX = 7,
    YEAR_MAX = 5874897, /* of a date; timestamps end in 294276 */
    ZONED_SIZE_MAX = sizeof("+5874897-12-31T23:59:59.999999Z"),
};

struct moment {
    int64_t year; /* astronomical: 0 is 1 BC */
    uint32_t month;
    uint32_t day;
    int64_t time_us;  /* of the day, US_PER_DAY included */
    int32_t offset_s; /* east of UTC */
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

/* "+02", "-07:52" or "-07:52:58". */
static int32_t scan_offset(struct scan *in)
{
    bool is_west = scan_accept(in, '-');

    if (!is_west) {
        scan_expect(in, '+');
    }
    uint32_t seconds = scan_pair(in) * 3600;
    if (scan_accept(in, ':')) {
        seconds += scan_pair(in) * 60;
    }
    if (scan_accept(in, ':')) {
        seconds += scan_pair(in);
    }
    return is_west ? -(int32_t)seconds : (int32_t)seconds;
}

/* The era stands last, so only now is the year known, and with it the length of February. */
static bool scan_moment_end(struct scan *in, struct moment *m)
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

/* A year that begins in March ends with the leap day, and 400 years are always 146,097 days. */
static int64_t days_from_civil(int64_t year, uint32_t month, uint32_t day)
{
    int64_t march_year = month > 2 ? year : year - 1;
    int64_t era = (march_year >= 0 ? march_year : march_year - 399) / 400;
    int64_t year_of_era = march_year - era * 400;
    int64_t march_month = month > 2 ? month - 3 : month + 9;
    int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

static void civil_from_days(int64_t days, struct moment *out)
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

static int64_t floor_div(int64_t value, int64_t divisor)
{
    return value / divisor - (value % divisor < 0);
}

static bool is_infinity(struct wr_slice text, bool *is_negative)
{
    if (text.size == 0 || text.data[text.size - 1] != 'y') {
        return false; /* nearly always, and cheaper than two comparisons */
    }
    *is_negative = wr_slice_is(text, "-infinity");
    return *is_negative || wr_slice_is(text, "infinity");
}

enum wr_status date_parse(const struct column_type *type, struct wr_slice text,
                          struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct scan in = scan_start(text);
    struct moment m = {0};
    bool is_negative;

    (void)arena;
    *out = (struct datum){.kind = DATUM_INT};
    if (is_infinity(text, &is_negative)) {
        out->as.integer = is_negative ? DATE_MINUS_INFINITY : DATE_INFINITY;
        return WR_OK;
    }
    scan_date(&in, &m);
    if (!scan_moment_end(&in, &m)) {
        return type_reject(type, text, err);
    }
    out->as.integer = days_from_civil(m.year, m.month, m.day);
    return out->as.integer > INT32_MAX ? type_reject(type, text, err) : WR_OK;
}

static int32_t fraction_digits(const struct column_type *type)
{
    return type->typmod < 0 || type->typmod > FRACTION_DIGITS_MAX ? FRACTION_DIGITS_MAX
                                                                  : type->typmod;
}

bool time_settle(struct column_type *type, struct wr_arena *arena)
{
    (void)arena;
    type->scale = fraction_digits(type);
    bool is_millis = type->scale <= FRACTION_DIGITS_MILLIS;
    type->parse = is_millis ? time_parse_millis : time_parse_micros;
    type->schema = schema_known(is_millis ? KNOWN_TIME : KNOWN_MICRO_TIME);
    return true;
}

enum wr_status time_parse_micros(const struct column_type *type, struct wr_slice text,
                                 struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct scan in = scan_start(text);

    (void)arena;
    *out = (struct datum){.kind = DATUM_INT, .as.integer = scan_time(&in)};
    return scan_done(&in) ? WR_OK : type_reject(type, text, err);
}

enum wr_status time_parse_millis(const struct column_type *type, struct wr_slice text,
                                 struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    enum wr_status status = time_parse_micros(type, text, arena, out, err);

    out->as.integer /= 1000;
    return status;
}

static char *put_pair(char *p, uint32_t value)
{
    p[0] = (char)('0' + value / 10);
    p[1] = (char)('0' + value % 10);
    return p + 2;
}

static char *put_time(char *p, int64_t time_us)
{
    uint32_t seconds = (uint32_t)(time_us / US_PER_SECOND);

    p = put_pair(p, seconds / 3600);
    *p++ = ':';
    p = put_pair(p, seconds / 60 % 60);
    *p++ = ':';
    return put_pair(p, seconds % 60);
}

/* The point and the first `digits` digits of the fraction. */
static char *put_fraction(char *p, int64_t time_us, int32_t digits)
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

static int32_t fraction_digits_needed(int64_t time_us)
{
    int64_t fraction = time_us % US_PER_SECOND;
    int32_t digits = fraction == 0 ? 0 : FRACTION_DIGITS_MAX;

    for (; digits > 0 && fraction % 10 == 0; digits--) {
        fraction /= 10;
    }
    return digits;
}

enum wr_status timetz_parse(const struct column_type *type, struct wr_slice text,
                            struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct scan in = scan_start(text);
    int64_t time_us = scan_time(&in);
    int32_t offset_s = scan_offset(&in);

    if (!scan_done(&in)) {
        return type_reject(type, text, err);
    }
    /* Only 24:00 that is in UTC already stays; elsewhere the clock goes round. */
    if (offset_s != 0) {
        time_us -= offset_s * US_PER_SECOND;
        time_us -= floor_div(time_us, US_PER_DAY) * US_PER_DAY;
    }
    char *start = wr_arena_alloc_raw(arena, ZONED_SIZE_MAX, 1);
    if (start == NULL) {
        return type_no_room(type, err);
    }
    char *p = put_time(start, time_us);
    p = put_fraction(p, time_us, fraction_digits_needed(time_us));
    *p++ = 'Z';
    *out = (struct datum){.kind = DATUM_STRING, .as.bytes = {start, (size_t)(p - start)}};
    return WR_OK;
}

bool timestamp_settle(struct column_type *type, struct wr_arena *arena)
{
    (void)arena;
    type->scale = fraction_digits(type);
    bool is_millis = type->scale <= FRACTION_DIGITS_MILLIS;
    type->parse = is_millis ? timestamp_parse_millis : timestamp_parse_micros;
    type->schema = schema_known(is_millis ? KNOWN_TIMESTAMP : KNOWN_MICRO_TIMESTAMP);
    return true;
}

/* A timestamp in two parts, as microseconds of the last centuries pass the int64. */
struct instant {
    bool is_infinite;
    bool is_negative; /* where is_infinite */
    int64_t days;
    int64_t time_us;
};

static bool timestamp_read(struct wr_slice text, struct instant *out)
{
    struct scan in = scan_start(text);
    struct moment m = {0};

    *out = (struct instant){0};
    out->is_infinite = is_infinity(text, &out->is_negative);
    if (out->is_infinite) {
        return true;
    }
    scan_date(&in, &m);
    scan_expect(&in, ' ');
    out->time_us = scan_time(&in);
    if (!scan_moment_end(&in, &m)) {
        return false;
    }
    out->days = days_from_civil(m.year, m.month, m.day);
    return true;
}

bool datetime_to_us(struct wr_slice text, int64_t *out)
{
    struct scan in = scan_start(text);
    struct moment m = {0};

    scan_date(&in, &m);
    scan_expect(&in, ' ');
    m.time_us = scan_time(&in);
    if (in.next < in.end && (*in.next == '+' || *in.next == '-')) {
        m.offset_s = scan_offset(&in);
    }
    return scan_moment_end(&in, &m) &&
           !__builtin_mul_overflow(days_from_civil(m.year, m.month, m.day), US_PER_DAY, out) &&
           !__builtin_add_overflow(*out, m.time_us - m.offset_s * US_PER_SECOND, out);
}

enum wr_status timestamp_parse_micros(const struct column_type *type, struct wr_slice text,
                                      struct wr_arena *arena, struct datum *out,
                                      struct wr_error *err)
{
    struct instant t;
    int64_t micros = 0;

    (void)arena;
    if (!timestamp_read(text, &t)) {
        return type_reject(type, text, err);
    }
    if (t.is_infinite) {
        micros = t.is_negative ? INSTANT_MINUS_INFINITY : INSTANT_INFINITY;
    } else if (__builtin_mul_overflow(t.days, US_PER_DAY, &micros) ||
               __builtin_add_overflow(micros, t.time_us, &micros)) {
        return type_reject(type, text, err);
    }
    *out = (struct datum){.kind = DATUM_INT, .as.integer = micros};
    return WR_OK;
}

enum wr_status timestamp_parse_millis(const struct column_type *type, struct wr_slice text,
                                      struct wr_arena *arena, struct datum *out,
                                      struct wr_error *err)
{
    struct instant t;

    (void)arena;
    if (!timestamp_read(text, &t)) {
        return type_reject(type, text, err);
    }
    int64_t millis = t.days * (US_PER_DAY / 1000) + t.time_us / 1000;
    if (t.is_infinite) {
        millis = (t.is_negative ? INSTANT_MINUS_INFINITY : INSTANT_INFINITY) / 1000;
    }
    *out = (struct datum){.kind = DATUM_INT, .as.integer = millis};
    return WR_OK;
}

bool timestamptz_settle(struct column_type *type, struct wr_arena *arena)
{
    (void)arena;
    type->scale = fraction_digits(type);
    type->parse = timestamptz_parse;
    type->schema = schema_known(KNOWN_ZONED_TIMESTAMP);
    return true;
}

static void move_to_utc(struct moment *m)
{
    int64_t time_us = m->time_us - m->offset_s * US_PER_SECOND;
    int64_t days = floor_div(time_us, US_PER_DAY);

    civil_from_days(days_from_civil(m->year, m->month, m->day) + days, m);
    m->time_us = time_us - days * US_PER_DAY;
    m->offset_s = 0;
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

static char *put_moment(char *p, const struct moment *m, int32_t digits)
{
    p = put_year(p, m->year);
    *p++ = '-';
    p = put_pair(p, m->month);
    *p++ = '-';
    p = put_pair(p, m->day);
    *p++ = 'T';
    p = put_time(p, m->time_us);
    p = put_fraction(p, m->time_us, digits);
    *p++ = 'Z';
    return p;
}

enum wr_status timestamptz_parse(const struct column_type *type, struct wr_slice text,
                                 struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct scan in = scan_start(text);
    struct moment m = {0};
    bool is_negative;

    *out = (struct datum){.kind = DATUM_STRING, .as.bytes = text};
    if (is_infinity(text, &is_negative)) {
        return WR_OK;
    }
    scan_date(&in, &m);
    scan_expect(&in, ' ');
    m.time_us = scan_time(&in);
    m.offset_s = scan_offset(&in);
    if (!scan_moment_end(&in, &m)) {
        return type_reject(type, text, err);
    }
    if (m.offset_s != 0 || m.time_us == US_PER_DAY) {
        move_to_utc(&m);
    }
    char *start = wr_arena_alloc_raw(arena, ZONED_SIZE_MAX, 1);
    if (start == NULL) {
        return type_no_room(type, err);
    }
    char *end = put_moment(start, &m, type->scale);
    assert(end - start < ZONED_SIZE_MAX);
    out->as.bytes = (struct wr_slice){start, (size_t)(end - start)};
    return WR_OK;
}
