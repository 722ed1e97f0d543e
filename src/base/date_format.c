#include "base/date_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MS_PER_SECOND = 1000,
    SECONDS_PER_DAY = 86400,
    MS_PER_DAY = 86400000,
    COUNT_MAX = 100,      /* of one letter in a row */
    DIGITS_MAX = 18,      /* what surely fits an int64 */
    FRACTION_MIN = 4,     /* letters or digits, from which on S is a fraction */
    YEAR_MAX = 292278993, /* of an int64 of milliseconds */
};

/* A run of one letter, or text that stands for itself (`letter` is 0). */
struct token {
    struct wr_slice text;
    size_t count;
    char letter;
    bool is_bounded; /* digits follow at once, so that it has `count` digits and no more */
};

struct wr_date_format {
    struct token *tokens;
    size_t token_count;
    char *text; /* what the quoted tokens borrow */
};

static const char *const MONTHS[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};
static const char *const WEEKDAYS[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};
static const char *const HALVES[] = {"AM", "PM"};

enum { SHORT_NAME_SIZE = 3, MONTH_COUNT = 12, WEEKDAY_COUNT = 7, HALF_COUNT = 2 };

/* One moment, taken apart. */
struct fields {
    int64_t year;
    int64_t month; /* from 1 */
    int64_t day;
    int64_t day_of_year; /* from 1; 0: not given */
    int64_t hour, minute, second, millisecond;
    int64_t half;         /* 1: in the afternoon; -1: not given */
    int64_t hour_of_half; /* -1: not given */
    int64_t offset_s;     /* east of UTC */
    int64_t weekday;      /* from 1, Monday; written, and read over */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_numeric(const struct token *token)
{
    if (token->letter == 'M' || token->letter == 'L') {
        return token->count < SHORT_NAME_SIZE;
    }
    return token->letter != '\0' && strchr("ydDuHkKhmsS", token->letter) != NULL;
}

static enum wr_status refuse(const char *pattern, const char *problem, struct wr_error *err)
{
    return wr_fail(err, WR_FATAL, "date_format", "the date pattern \"%s\" %s", pattern, problem);
}

static enum wr_status check_letter(const char *pattern, const struct token *token,
                                   struct wr_error *err)
{
    char problem[128];

    if (token->letter == 'Y') {
        return refuse(pattern, "has years of weeks (Y), which are not built in: y is the year",
                      err);
    }
    if (strchr("yMLdDEuaHkKhmsSzZX", token->letter) == NULL) {
        (void)snprintf(problem, sizeof(problem),
                       strchr("GwWF", token->letter) != NULL
                           ? "has the letter %c, which is not built in"
                           : "has %c, which is no letter of a date: quote text with '",
                       token->letter);
        return refuse(pattern, problem, err);
    }
    if (token->letter == 'X' && token->count > 3) {
        return refuse(pattern, "has more than three X", err);
    }
    return token->count > COUNT_MAX ? refuse(pattern, "has too many of one letter", err) : WR_OK;
}

/* Text up to the next letter, with its quotes resolved. NULL: a quote is not closed. */
static const char *take_text(const char *next, char **place, struct token *token)
{
    char *start = *place;
    bool is_quoted = false;

    for (; *next != '\0' && (is_quoted || !is_letter(*next)); next++) {
        if (*next == '\'' && next[1] == '\'') {
            next++; /* two of them are one, inside quotes and outside */
        } else if (*next == '\'') {
            is_quoted = !is_quoted;
            continue;
        }
        *(*place)++ = *next;
    }
    *token = (struct token){.text = {start, (size_t)(*place - start)}};
    return is_quoted ? NULL : next;
}

static const char *take_letters(const char *next, struct token *token)
{
    *token = (struct token){.letter = *next};
    while (*next == token->letter) {
        token->count++;
        next++;
    }
    return next;
}

static enum wr_status compile(struct wr_date_format *format, const char *pattern,
                              struct wr_error *err)
{
    const char *next = pattern;
    char *place = format->text;

    while (*next != '\0') {
        struct token *token = &format->tokens[format->token_count++];
        if (!is_letter(*next)) {
            next = take_text(next, &place, token);
            if (next == NULL) {
                return refuse(pattern, "has a quote that is not closed", err);
            }
            continue;
        }
        next = take_letters(next, token);
        enum wr_status status = check_letter(pattern, token, err);
        if (status != WR_OK) {
            return status;
        }
        if (format->token_count > 1) {
            token[-1].is_bounded = is_numeric(token);
        }
    }
    return WR_OK;
}

enum wr_status wr_date_format_new(const char *pattern, struct wr_date_format **out,
                                  struct wr_error *err)
{
    struct wr_date_format *format = calloc(1, sizeof(*format));

    if (format == NULL) {
        abort();
    }
    format->tokens = calloc(strlen(pattern) + 1, sizeof(*format->tokens));
    format->text = calloc(strlen(pattern) + 1, 1);
    if (format->tokens == NULL || format->text == NULL) {
        abort();
    }
    enum wr_status status = compile(format, pattern, err);
    if (status != WR_OK) {
        wr_date_format_free(format);
        format = NULL;
    }
    *out = format;
    return status;
}

void wr_date_format_free(struct wr_date_format *format)
{
    if (format != NULL) {
        free(format->tokens);
        free(format->text);
        free(format);
    }
}

static int64_t floor_div(int64_t value, int64_t divisor)
{
    return value / divisor - (value % divisor < 0 ? 1 : 0);
}

/* Days of the years before `year`, counted from the year 0. */
static int64_t days_before_year(int64_t year)
{
    int64_t past = year - 1;

    return 365 * year + floor_div(past, 4) - floor_div(past, 100) + floor_div(past, 400);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_before_month(int64_t year, int64_t month)
{
    static const int16_t DAYS[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

    return DAYS[month - 1] + (month > 2 && is_leap(year) ? 1 : 0);
}

static int64_t days_since_1970(int64_t year)
{
    return days_before_year(year) - days_before_year(1970);
}

static void fields_set_date(struct fields *f, int64_t days)
{
    enum { DAYS_PER_400_YEARS = 146097 };

    /* The estimate is never a year too late, and at most one too early. */
    f->year = 1970 + floor_div(days * 400, DAYS_PER_400_YEARS) - 1;
    while (days_since_1970(f->year + 1) <= days) {
        f->year++;
    }
    f->day_of_year = days - days_since_1970(f->year) + 1;
    f->month = 1;
    while (f->month < MONTH_COUNT && days_before_month(f->year, f->month + 1) < f->day_of_year) {
        f->month++;
    }
    f->day = f->day_of_year - days_before_month(f->year, f->month);
    f->weekday = days - floor_div(days + 3, WEEKDAY_COUNT) * WEEKDAY_COUNT + 3 + 1;
}

static void fields_set(struct fields *f, int64_t time_ms)
{
    int64_t days = floor_div(time_ms, MS_PER_DAY);
    int64_t rest = time_ms % MS_PER_DAY;

    rest += rest < 0 ? MS_PER_DAY : 0;
    fields_set_date(f, days);
    f->hour = rest / (3600 * MS_PER_SECOND);
    f->minute = rest / (60 * MS_PER_SECOND) % 60;
    f->second = rest / MS_PER_SECOND % 60;
    f->millisecond = rest % MS_PER_SECOND;
}

static void put_number(struct wr_buffer *out, int64_t value, size_t digits)
{
    char text[COUNT_MAX + DIGITS_MAX + 8];
    int size = snprintf(text, sizeof(text), "%0*" PRId64, (int)digits, value);

    wr_buffer_add(out, text, (size_t)size);
}

static void put_name(struct wr_buffer *out, const char *name, size_t count)
{
    wr_buffer_add(out, name, count > SHORT_NAME_SIZE ? strlen(name) : SHORT_NAME_SIZE);
}

static void put_fraction(struct wr_buffer *out, int64_t millisecond, size_t digits)
{
    if (digits < FRACTION_MIN) {
        put_number(out, millisecond, digits);
        return;
    }
    put_number(out, millisecond, FRACTION_MIN - 1);
    for (size_t i = FRACTION_MIN - 1; i < digits; i++) {
        wr_buffer_add_char(out, '0');
    }
}

static void put_field(struct wr_buffer *out, const struct token *token, const struct fields *f)
{
    switch (token->letter) {
    case '\0':
        wr_buffer_add_slice(out, token->text);
        break;
    case 'y':
        put_number(out, token->count == 2 ? f->year % 100 : f->year, token->count);
        break;
    case 'M':
    case 'L':
        if (is_numeric(token)) {
            put_number(out, f->month, token->count);
        } else {
            put_name(out, MONTHS[f->month - 1], token->count);
        }
        break;
    case 'd':
        put_number(out, f->day, token->count);
        break;
    case 'D':
        put_number(out, f->day_of_year, token->count);
        break;
    case 'E':
        put_name(out, WEEKDAYS[f->weekday - 1], token->count);
        break;
    case 'u':
        put_number(out, f->weekday, token->count);
        break;
    case 'a':
        wr_buffer_add_str(out, HALVES[f->hour / 12]);
        break;
    case 'H':
        put_number(out, f->hour, token->count);
        break;
    case 'k':
        put_number(out, f->hour == 0 ? 24 : f->hour, token->count);
        break;
    case 'K':
        put_number(out, f->hour % 12, token->count);
        break;
    case 'h':
        put_number(out, f->hour % 12 == 0 ? 12 : f->hour % 12, token->count);
        break;
    case 'm':
        put_number(out, f->minute, token->count);
        break;
    case 's':
        put_number(out, f->second, token->count);
        break;
    case 'S':
        put_fraction(out, f->millisecond, token->count);
        break;
    case 'z':
        wr_buffer_add_str(out,
                          token->count > SHORT_NAME_SIZE ? "Coordinated Universal Time" : "UTC");
        break;
    case 'Z':
        wr_buffer_add_str(out, "+0000");
        break;
    case 'X':
        wr_buffer_add_char(out, 'Z');
        break;
    default:
        abort(); /* check_letter() lets no other through */
    }
}

bool wr_date_format_write(const struct wr_date_format *format, int64_t time_ms,
                          struct wr_buffer *out)
{
    struct fields f = {0};

    fields_set(&f, time_ms);
    if (f.year < 1) {
        return false;
    }
    for (size_t i = 0; i < format->token_count; i++) {
        put_field(out, &format->tokens[i], &f);
    }
    return true;
}

/* Takes up to `count_max` digits; false when there is none, or more than any field has. */
static bool take_number(struct wr_slice *text, size_t count_max, int64_t *out, size_t *count)
{
    *out = 0;
    *count = 0;
    while (*count < count_max && text->size > 0 && is_digit(text->data[0])) {
        if (*count == DIGITS_MAX) {
            return false;
        }
        *out = *out * 10 + (text->data[0] - '0');
        (*count)++;
        text->data++;
        text->size--;
    }
    return *count > 0;
}

static bool take_prefix(struct wr_slice *text, const char *prefix, size_t size)
{
    if (text->size < size || strncasecmp(text->data, prefix, size) != 0) {
        return false;
    }
    text->data += size;
    text->size -= size;
    return true;
}

/* The place of the name in the list, from 1: in full, or by its first letters. */
static bool take_name(struct wr_slice *text, const char *const *names, size_t count, int64_t *out)
{
    for (size_t i = 0; i < count; i++) {
        if (take_prefix(text, names[i], strlen(names[i])) ||
            take_prefix(text, names[i], SHORT_NAME_SIZE)) {
            *out = (int64_t)i + 1;
            return true;
        }
    }
    return false;
}

/* +hh, +hhmm or +hh:mm. */
static bool take_offset(struct wr_slice *text, int64_t *offset_s)
{
    int64_t hours = 0, minutes = 0;
    size_t count = 0;
    int64_t sign = text->size > 0 && text->data[0] == '-' ? -1 : 1;

    if (!take_prefix(text, "+", 1) && !take_prefix(text, "-", 1)) {
        return false;
    }
    if (!take_number(text, 2, &hours, &count) || count < 2 || hours > 23) {
        return false;
    }
    struct wr_slice rest = *text;
    (void)take_prefix(&rest, ":", 1);
    if (take_number(&rest, 2, &minutes, &count) && count == 2) {
        *text = rest;
    } else {
        minutes = 0;
    }
    *offset_s = sign * (hours * 3600 + minutes * 60);
    return minutes < 60;
}

static bool take_zone(struct wr_slice *text, int64_t *offset_s)
{
    *offset_s = 0;
    if (take_prefix(text, "UTC", 3) || take_prefix(text, "GMT", 3)) {
        bool has_offset = text->size > 0 && (text->data[0] == '+' || text->data[0] == '-');
        return !has_offset || take_offset(text, offset_s);
    }
    return take_prefix(text, "Z", 1) || take_offset(text, offset_s);
}

/* More than three digits are a fraction of the second, whose rest is cut off. */
static bool take_fraction(struct wr_slice *text, const struct token *token, size_t count_max,
                          int64_t *out)
{
    size_t count = 0;

    if (!take_number(text, count_max, out, &count)) {
        return false;
    }
    if (count < FRACTION_MIN && token->count < FRACTION_MIN) {
        return true;
    }
    for (; count < FRACTION_MIN - 1; count++) {
        *out *= 10;
    }
    for (; count > FRACTION_MIN - 1; count--) {
        *out /= 10;
    }
    return true;
}

static bool in_range(int64_t value, int64_t min, int64_t max)
{
    return value >= min && value <= max;
}

static bool take_month(struct wr_slice *text, const struct token *token, size_t count_max,
                       int64_t *out)
{
    size_t count = 0;

    if (!is_numeric(token)) {
        return take_name(text, MONTHS, MONTH_COUNT, out);
    }
    return take_number(text, count_max, out, &count) && in_range(*out, 1, MONTH_COUNT);
}

static bool take_year(struct wr_slice *text, const struct token *token, size_t count_max,
                      int64_t *out)
{
    size_t count = 0;

    /* Java takes two digits for the century that is nearest to today: no rule for old data. */
    return take_number(text, count_max, out, &count) && !(token->count <= 2 && count == 2) &&
           in_range(*out, 1, YEAR_MAX);
}

static bool take_ranged(struct wr_slice *text, size_t count_max, int64_t min, int64_t max,
                        int64_t *out)
{
    size_t count = 0;

    return take_number(text, count_max, out, &count) && in_range(*out, min, max);
}

/* An hour of a clock that begins with its last one, and goes on from 1. */
static bool take_from_one(struct wr_slice *text, size_t count_max, int64_t last, int64_t *out)
{
    if (!take_ranged(text, count_max, 1, last, out)) {
        return false;
    }
    *out %= last;
    return true;
}

static bool take_half(struct wr_slice *text, int64_t *half)
{
    for (size_t i = 0; i < HALF_COUNT; i++) {
        if (take_prefix(text, HALVES[i], 2)) {
            *half = (int64_t)i;
            return true;
        }
    }
    return false;
}

static bool take_field(struct wr_slice *text, const struct token *token, struct fields *f)
{
    size_t count_max = token->is_bounded ? token->count : SIZE_MAX;

    if (token->letter == '\0') {
        bool matches = text->size >= token->text.size &&
                       memcmp(text->data, token->text.data, token->text.size) == 0;
        text->data += matches ? token->text.size : 0;
        text->size -= matches ? token->text.size : 0;
        return matches;
    }
    while (text->size > 0 && (text->data[0] == ' ' || text->data[0] == '\t')) {
        text->data++;
        text->size--;
    }
    switch (token->letter) {
    case 'y':
        return take_year(text, token, count_max, &f->year);
    case 'M':
    case 'L':
        return take_month(text, token, count_max, &f->month);
    case 'd':
        return take_ranged(text, count_max, 1, 31, &f->day);
    case 'D':
        return take_ranged(text, count_max, 1, 366, &f->day_of_year);
    case 'E':
        return take_name(text, WEEKDAYS, WEEKDAY_COUNT, &f->weekday);
    case 'u':
        return take_ranged(text, count_max, 1, WEEKDAY_COUNT, &f->weekday);
    case 'a':
        return take_half(text, &f->half);
    case 'H':
        return take_ranged(text, count_max, 0, 24, &f->hour);
    case 'k':
        return take_from_one(text, count_max, 24, &f->hour);
    case 'K':
        return take_ranged(text, count_max, 0, 11, &f->hour_of_half);
    case 'h':
        return take_from_one(text, count_max, 12, &f->hour_of_half);
    case 'm':
        return take_ranged(text, count_max, 0, 59, &f->minute);
    case 's':
        return take_ranged(text, count_max, 0, 59, &f->second);
    case 'S':
        return take_fraction(text, token, count_max, &f->millisecond);
    case 'z':
    case 'Z':
    case 'X':
        return take_zone(text, &f->offset_s);
    default:
        abort(); /* check_letter() lets no other through */
    }
}

/* The moment that the fields name; false when there is no such day or time. */
static bool fields_join(const struct fields *f, int64_t *time_ms)
{
    int64_t hour = f->hour;
    int64_t day = days_before_month(f->year, f->month) + f->day;
    int64_t last_day = days_before_month(f->year, f->month + 1);

    if (f->day_of_year > 0) {
        day = f->day_of_year;
        last_day = days_before_month(f->year, MONTH_COUNT + 1);
    }
    if (f->hour_of_half >= 0) {
        hour = f->hour_of_half + (f->half == 1 ? 12 : 0);
    }
    int64_t second = hour * 3600 + f->minute * 60 + f->second;
    *time_ms = (days_since_1970(f->year) + day - 1) * MS_PER_DAY +
               (second - f->offset_s) * MS_PER_SECOND + f->millisecond;
    return day <= last_day && second <= SECONDS_PER_DAY;
}

bool wr_date_format_read(const struct wr_date_format *format, struct wr_slice text,
                         int64_t *time_ms)
{
    struct fields f = {.year = 1970, .month = 1, .day = 1, .half = -1, .hour_of_half = -1};

    for (size_t i = 0; i < format->token_count; i++) {
        if (!take_field(&text, &format->tokens[i], &f)) {
            return false;
        }
    }
    return fields_join(&f, time_ms);
}
