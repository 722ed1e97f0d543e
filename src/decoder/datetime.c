#include "decoder/datetime.h"

#include <assert.h>

#include "base/arena.h"
#include "decoder/moment.h"
#include "decoder/schema_known.h"

/*
 * What Debezium publishes for the infinities: PGStatement's two marks, which are milliseconds,
 * taken as a day or as an instant.
 */
#define DATE_INFINITY          (-2147472692)
#define DATE_MINUS_INFINITY    (-2147472691)
#define INSTANT_INFINITY       INT64_C(9223372036825200000)
#define INSTANT_MINUS_INFINITY INT64_C(-9223372036832400000)

enum { FRACTION_DIGITS_MILLIS = 3 }; /* adaptive: milliseconds up to here, microseconds beyond */

static bool is_infinity(struct wr_slice text, bool *is_negative)
{
    if (text.size == 0 || text.data[text.size - 1] != 'y') {
        return false; /* nearly always, and cheaper than two comparisons */
    }
    *is_negative = wr_slice_is(text, "-infinity");
    return *is_negative || wr_slice_is(text, "infinity");
}

static int32_t fraction_digits(const struct column_type *type)
{
    return type->typmod < 0 || type->typmod > FRACTION_DIGITS_MAX ? FRACTION_DIGITS_MAX
                                                                  : type->typmod;
}

static bool set_form(struct column_type *type, type_parse parse, enum schema_known schema)
{
    type->parse = parse;
    type->schema = schema_known(schema);
    return true;
}

bool date_settle(struct column_type *type, struct wr_arena *arena)
{
    (void)arena;
    switch (type->options->time_precision_mode) {
    case TIME_PRECISION_CONNECT:
        return set_form(type, date_parse, KNOWN_CONNECT_DATE);
    case TIME_PRECISION_ISOSTRING:
        return set_form(type, date_parse_iso, KNOWN_ISO_DATE);
    case TIME_PRECISION_ADAPTIVE:
    case TIME_PRECISION_ADAPTIVE_TIME_MICROSECONDS:
    case TIME_PRECISION_MICROSECONDS:
    case TIME_PRECISION_NANOSECONDS:
        break;
    }
    return set_form(type, date_parse, KNOWN_DATE);
}

bool time_settle(struct column_type *type, struct wr_arena *arena)
{
    (void)arena;
    type->scale = fraction_digits(type);
    switch (type->options->time_precision_mode) {
    case TIME_PRECISION_ADAPTIVE:
        if (type->scale <= FRACTION_DIGITS_MILLIS) {
            return set_form(type, time_parse_millis, KNOWN_TIME);
        }
        break;
    case TIME_PRECISION_CONNECT:
        return set_form(type, time_parse_millis, KNOWN_CONNECT_TIME);
    case TIME_PRECISION_ISOSTRING:
        return set_form(type, time_parse_iso, KNOWN_ISO_TIME);
    case TIME_PRECISION_NANOSECONDS:
        return set_form(type, time_parse_nanos, KNOWN_NANO_TIME);
    case TIME_PRECISION_ADAPTIVE_TIME_MICROSECONDS:
    case TIME_PRECISION_MICROSECONDS:
        break;
    }
    return set_form(type, time_parse_micros, KNOWN_MICRO_TIME);
}

bool timestamp_settle(struct column_type *type, struct wr_arena *arena)
{
    (void)arena;
    type->scale = fraction_digits(type);
    switch (type->options->time_precision_mode) {
    case TIME_PRECISION_ADAPTIVE:
    case TIME_PRECISION_ADAPTIVE_TIME_MICROSECONDS:
        if (type->scale <= FRACTION_DIGITS_MILLIS) {
            return set_form(type, timestamp_parse_millis, KNOWN_TIMESTAMP);
        }
        break;
    case TIME_PRECISION_CONNECT:
        return set_form(type, timestamp_parse_millis, KNOWN_CONNECT_TIMESTAMP);
    case TIME_PRECISION_ISOSTRING:
        return set_form(type, timestamp_parse_iso, KNOWN_ISO_TIMESTAMP);
    case TIME_PRECISION_NANOSECONDS:
        return set_form(type, timestamp_parse_nanos, KNOWN_NANO_TIMESTAMP);
    case TIME_PRECISION_MICROSECONDS:
        break;
    }
    return set_form(type, timestamp_parse_micros, KNOWN_MICRO_TIMESTAMP);
}

bool timestamptz_settle(struct column_type *type, struct wr_arena *arena)
{
    (void)arena;
    type->scale = fraction_digits(type);
    return set_form(type, timestamptz_parse, KNOWN_ZONED_TIMESTAMP);
}

enum wr_status date_parse(const struct column_type *type, struct wr_slice text,
                          struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct moment m;
    bool is_negative;

    (void)arena;
    *out = (struct datum){.kind = DATUM_INT};
    if (is_infinity(text, &is_negative)) {
        out->as.integer = is_negative ? DATE_MINUS_INFINITY : DATE_INFINITY;
        return WR_OK;
    }
    if (!moment_read_date(text, &m)) {
        return type_reject(type, text, err);
    }
    out->as.integer = moment_days(&m);
    return out->as.integer > INT32_MAX ? type_reject(type, text, err) : WR_OK;
}

/* Text that was written from `start` on, in room that the arena gave. */
static enum wr_status set_text(const char *start, const char *end, struct datum *out)
{
    assert(end - start < MOMENT_SIZE_MAX);
    *out = (struct datum){.kind = DATUM_STRING, .as.bytes = {start, (size_t)(end - start)}};
    return WR_OK;
}

enum wr_status date_parse_iso(const struct column_type *type, struct wr_slice text,
                              struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct moment m;
    bool is_negative;

    *out = (struct datum){.kind = DATUM_STRING};
    if (is_infinity(text, &is_negative)) {
        out->as.bytes = is_negative ? WR_SLICE("-5877611-06-22Z") : WR_SLICE("-5877611-06-21Z");
        return WR_OK;
    }
    if (!moment_read_date(text, &m)) {
        return type_reject(type, text, err);
    }
    char *start = wr_arena_alloc_raw(arena, MOMENT_SIZE_MAX, 1);
    if (start == NULL) {
        return type_no_room(type, err);
    }
    char *p = moment_put_date(start, &m);
    *p++ = 'Z';
    return set_text(start, p, out);
}

enum wr_status time_parse_micros(const struct column_type *type, struct wr_slice text,
                                 struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct moment m;

    (void)arena;
    bool is_good = moment_read_time(text, &m) && !m.has_offset;
    *out = (struct datum){.kind = DATUM_INT, .as.integer = m.time_us};
    return is_good ? WR_OK : type_reject(type, text, err);
}

enum wr_status time_parse_millis(const struct column_type *type, struct wr_slice text,
                                 struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    enum wr_status status = time_parse_micros(type, text, arena, out, err);

    out->as.integer /= 1000;
    return status;
}

enum wr_status time_parse_nanos(const struct column_type *type, struct wr_slice text,
                                struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    enum wr_status status = time_parse_micros(type, text, arena, out, err);

    out->as.integer *= 1000; /* a day of them fits easily */
    return status;
}

/* "10:34:56.789012Z", without zeros at the end of the fraction. */
static enum wr_status set_time(const struct column_type *type, int64_t time_us,
                               struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    char *start = wr_arena_alloc_raw(arena, MOMENT_SIZE_MAX, 1);

    if (start == NULL) {
        return type_no_room(type, err);
    }
    char *p = moment_put_time(start, time_us, moment_fraction_digits(time_us));
    *p++ = 'Z';
    return set_text(start, p, out);
}

enum wr_status time_parse_iso(const struct column_type *type, struct wr_slice text,
                              struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct moment m;

    if (!moment_read_time(text, &m) || m.has_offset) {
        return type_reject(type, text, err);
    }
    return set_time(type, m.time_us, arena, out, err);
}

enum wr_status timetz_parse(const struct column_type *type, struct wr_slice text,
                            struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct moment m;

    if (!moment_read_time(text, &m) || !m.has_offset) {
        return type_reject(type, text, err);
    }
    /* Only 24:00 that is in UTC already stays; elsewhere the clock goes round. */
    if (m.offset_s != 0) {
        m.time_us = (m.time_us - m.offset_s * US_PER_SECOND) % US_PER_DAY;
        m.time_us += m.time_us < 0 ? US_PER_DAY : 0;
    }
    return set_time(type, m.time_us, arena, out, err);
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
    struct moment m;

    *out = (struct instant){0};
    out->is_infinite = is_infinity(text, &out->is_negative);
    if (out->is_infinite) {
        return true;
    }
    if (!moment_read_timestamp(text, &m) || m.has_offset) {
        return false;
    }
    out->days = moment_days(&m);
    out->time_us = m.time_us;
    return true;
}

bool datetime_to_us(struct wr_slice text, int64_t *out)
{
    struct moment m;

    return moment_read_timestamp(text, &m) &&
           !__builtin_mul_overflow(moment_days(&m), US_PER_DAY, out) &&
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

/* The int64 ends in 2262, and has no room for the marks of the infinities. */
enum wr_status timestamp_parse_nanos(const struct column_type *type, struct wr_slice text,
                                     struct wr_arena *arena, struct datum *out,
                                     struct wr_error *err)
{
    struct instant t;
    int64_t nanos = 0;

    (void)arena;
    if (!timestamp_read(text, &t) || t.is_infinite ||
        __builtin_mul_overflow(t.days, US_PER_DAY * 1000, &nanos) ||
        __builtin_add_overflow(nanos, t.time_us * 1000, &nanos)) {
        return type_reject(type, text, err);
    }
    *out = (struct datum){.kind = DATUM_INT, .as.integer = nanos};
    return WR_OK;
}

enum wr_status timestamp_parse_iso(const struct column_type *type, struct wr_slice text,
                                   struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct moment m;
    bool is_negative;

    *out = (struct datum){.kind = DATUM_STRING};
    if (is_infinity(text, &is_negative)) {
        out->as.bytes = is_negative ? WR_SLICE("-290308-12-21T19:59:27.6Z")
                                    : WR_SLICE("+294247-01-10T04:00:25.2Z");
        return WR_OK;
    }
    if (!moment_read_timestamp(text, &m) || m.has_offset) {
        return type_reject(type, text, err);
    }
    char *start = wr_arena_alloc_raw(arena, MOMENT_SIZE_MAX, 1);
    if (start == NULL) {
        return type_no_room(type, err);
    }
    moment_to_utc(&m);
    return set_text(start, moment_put(start, &m, moment_fraction_digits(m.time_us)), out);
}

enum wr_status timestamptz_parse(const struct column_type *type, struct wr_slice text,
                                 struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct moment m;
    bool is_negative;

    *out = (struct datum){.kind = DATUM_STRING, .as.bytes = text};
    if (is_infinity(text, &is_negative)) {
        return WR_OK;
    }
    if (!moment_read_timestamp(text, &m) || !m.has_offset) {
        return type_reject(type, text, err);
    }
    if (m.offset_s != 0 || m.time_us == US_PER_DAY) {
        moment_to_utc(&m);
    }
    char *start = wr_arena_alloc_raw(arena, MOMENT_SIZE_MAX, 1);
    if (start == NULL) {
        return type_no_room(type, err);
    }
    return set_text(start, moment_put(start, &m, type->scale), out);
}
