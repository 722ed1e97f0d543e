#include "decoder/interval.h"

#include <inttypes.h>

#include "base/arena.h"
#include "decoder/moment.h"
#include "decoder/scan.h"
#include "decoder/schema_known.h"

#define US_PER_MONTH (US_PER_DAY * 487 / 16) /* 30.4375 days */

enum { NUMBER_DIGITS_MAX = 10 };

struct interval {
    int64_t months;
    int64_t days;
    int64_t time_us;
};

/* Hours go up to 2,562,047,788, one digit more than scan_digits() takes. */
static int64_t scan_number(struct scan *in)
{
    const char *start = in->next;
    int64_t hours = 0;

    while (scan_at_digit(in) && in->next - start < NUMBER_DIGITS_MAX) {
        hours = hours * 10 + (*in->next - '0');
        in->next++;
    }
    if (in->next == start) {
        scan_fail(in);
    }
    return hours;
}

/* "04:05:06.789"; the sign before it counts for all of it, and the most negative has no other. */
static int64_t scan_clock(struct scan *in, int64_t hours, bool is_negative)
{
    scan_expect(in, ':');
    uint32_t minutes = scan_digits(in, 2, 2);
    scan_expect(in, ':');
    uint32_t seconds = scan_digits(in, 2, 2);
    uint32_t fraction_us = scan_fraction_us(in);
    int64_t time_us = 0;

    int64_t whole = hours * 3600 + (int64_t)minutes * 60 + seconds;
    int64_t sign = is_negative ? -1 : 1;
    if (__builtin_mul_overflow(whole, sign * US_PER_SECOND, &time_us) ||
        __builtin_add_overflow(time_us, sign * fraction_us, &time_us)) {
        scan_fail(in);
    }
    return time_us;
}

static void scan_unit(struct scan *in, int64_t count, struct interval *out)
{
    if (scan_accept_text(in, " year")) {
        out->months += count * 12;
    } else if (scan_accept_text(in, " mon")) {
        out->months += count;
    } else if (scan_accept_text(in, " day")) {
        out->days += count;
    } else {
        scan_fail(in);
    }
    (void)scan_accept(in, 's');
}

/* "1 year 2 mons -3 days +04:05:06.789": parts with their own signs, the clock last. */
static bool interval_read(struct wr_slice text, struct interval *out)
{
    struct scan in = scan_start(text);

    *out = (struct interval){0};
    do {
        bool is_negative = scan_accept(&in, '-');
        if (!is_negative) {
            (void)scan_accept(&in, '+');
        }
        int64_t number = scan_number(&in);
        if (scan_at(&in, ':')) {
            out->time_us = scan_clock(&in, number, is_negative);
            break;
        }
        scan_unit(&in, is_negative ? -number : number, out);
    } while (scan_accept(&in, ' '));
    return scan_done(&in);
}

bool interval_settle(struct column_type *type, struct wr_arena *arena)
{
    bool is_text = type->options->interval_handling_mode == INTERVAL_HANDLING_STRING;

    (void)arena;
    type->parse = is_text ? interval_parse_iso : interval_parse_micros;
    type->schema = schema_known(is_text ? KNOWN_INTERVAL : KNOWN_MICRO_DURATION);
    return true;
}

enum wr_status interval_parse_micros(const struct column_type *type, struct wr_slice text,
                                     struct wr_arena *arena, struct datum *out,
                                     struct wr_error *err)
{
    struct interval i;
    int64_t micros = 0;
    int64_t days_us = 0;

    (void)arena;
    if (!interval_read(text, &i) || __builtin_mul_overflow(i.months, US_PER_MONTH, &micros) ||
        __builtin_mul_overflow(i.days, US_PER_DAY, &days_us) ||
        __builtin_add_overflow(micros, days_us, &micros) ||
        __builtin_add_overflow(micros, i.time_us, &micros)) {
        return type_reject(type, text, err);
    }
    *out = (struct datum){.kind = DATUM_INT, .as.integer = micros};
    return WR_OK;
}

/* All parts of a clock have the sign of the whole; a second's fraction has no zeros at its end. */
enum wr_status interval_parse_iso(const struct column_type *type, struct wr_slice text,
                                  struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct interval i;

    if (!interval_read(text, &i)) {
        return type_reject(type, text, err);
    }
    int64_t seconds = i.time_us / US_PER_SECOND;
    int64_t fraction_us = i.time_us % US_PER_SECOND;
    bool is_negative = i.time_us < 0;
    char fraction[sizeof(".000000")] = "";
    fraction_us = is_negative ? -fraction_us : fraction_us;
    (void)moment_put_fraction(fraction, fraction_us, moment_fraction_digits(fraction_us));
    const char *iso = wr_arena_printf(
        arena, "P%" PRId64 "Y%" PRId64 "M%" PRId64 "DT%" PRId64 "H%" PRId64 "M%s%" PRId64 "%sS",
        i.months / 12, i.months % 12, i.days, seconds / 3600, seconds / 60 % 60,
        is_negative && seconds % 60 == 0 && fraction[0] != '\0' ? "-" : "", seconds % 60, fraction);
    if (iso == NULL) {
        return type_no_room(type, err);
    }
    *out = (struct datum){.kind = DATUM_STRING, .as.bytes = wr_slice_str(iso)};
    return WR_OK;
}
