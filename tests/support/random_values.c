#include "support/random_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define US_PER_DAY INT64_C(86400000000)

enum { TEXT_PIECES_MAX = 24, LARGE_TEXT_PARTS_MAX = 400 };

/* splitmix64: every seed, 0 too, is as good as any other. */
uint64_t random_next(struct random *r)
{
    r->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = r->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct random random_start(uint64_t seed)
{
    return (struct random){seed};
}

int random_below(struct random *r, int count)
{
    return (int)(random_next(r) % (uint64_t)count);
}

bool random_once_in(struct random *r, int count)
{
    return random_below(r, count) == 0;
}

static int64_t random_between(struct random *r, int64_t low, int64_t high)
{
    return low + (int64_t)(random_next(r) % (uint64_t)(high - low + 1));
}

void value_make_boolean(struct random *r, char out[VALUE_SIZE_MAX])
{
    (void)snprintf(out, VALUE_SIZE_MAX, "%s", random_once_in(r, 2) ? "true" : "false");
}

/* Of every length in bits. In quotes, since the least int8 is no SQL number with a sign before it.
 */
static void make_signed(struct random *r, int bits, char out[VALUE_SIZE_MAX])
{
    int64_t value = (int64_t)random_next(r) >> (64 - 1 - random_below(r, bits));

    (void)snprintf(out, VALUE_SIZE_MAX, "'%" PRId64 "'", value);
}

void value_make_int2(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_signed(r, 16, out);
}

void value_make_int4(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_signed(r, 32, out);
}

void value_make_int8(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_signed(r, 64, out);
}

void value_make_oid(struct random *r, char out[VALUE_SIZE_MAX])
{
    (void)snprintf(out, VALUE_SIZE_MAX, "'%" PRIu32 "'", (uint32_t)random_next(r));
}

/* Any bits that are a number, so that exponents are as likely as digits. */
void value_make_float4(struct random *r, char out[VALUE_SIZE_MAX])
{
    uint32_t bits = (uint32_t)random_next(r);
    float value;

    if ((bits >> 23 & 0xff) == 0xff) {
        bits ^= UINT32_C(1) << 23; /* an infinity or NaN */
    }
    memcpy(&value, &bits, sizeof(value));
    (void)snprintf(out, VALUE_SIZE_MAX, "'%.9g'::float4", (double)value);
}

void value_make_float8(struct random *r, char out[VALUE_SIZE_MAX])
{
    uint64_t bits = random_next(r);
    double value;

    if ((bits >> 52 & 0x7ff) == 0x7ff) {
        bits ^= UINT64_C(1) << 52;
    }
    memcpy(&value, &bits, sizeof(value));
    (void)snprintf(out, VALUE_SIZE_MAX, "'%.17g'::float8", value);
}

static char *put_digits(struct random *r, char *p, int count)
{
    for (int i = 0; i < count; i++) {
        *p++ = (char)('0' + random_below(r, 10));
    }
    return p;
}

static void make_decimal(struct random *r, int whole, int fraction, char out[VALUE_SIZE_MAX])
{
    char *p = out;

    *p++ = '\'';
    if (random_once_in(r, 2)) {
        *p++ = '-';
    }
    p = put_digits(r, p, 1 + random_below(r, whole));
    if (fraction > 0 && !random_once_in(r, 3)) {
        *p++ = '.';
        p = put_digits(r, p, 1 + random_below(r, fraction));
    }
    (void)snprintf(p, 2, "'");
}

void value_make_numeric(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_decimal(r, 60, 30, out);
}

void value_make_numeric_8_3(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_decimal(r, 4, 5, out);
}

void value_make_money(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_decimal(r, 16, 2, out);
}

/* As pieces of an E'' literal: whatever JSON, arrays, composites or COPY must quote. */
static const char *const PIECES[] = {
    "a",    "Z",      "7",      " ",   "''",      "\\\"", "\\\\",    "\\n",     "\\t",
    "\\r",  "\\b",    "\\f",    "/",   "</",      ",",    "{",       "}",       "(",
    ")",    "NULL",   "null",   ":",   "=>",      "\\.",  "ß",       "\\u00e9", "\\u65e5",
    "\\x1", "\\x1f ", "\\x7f ", "\\v", "\\u2028", "😀",    "\\u0080", "\\ufeff", "N",
};

static void make_text(struct random *r, int pieces_max, const char *prefix, const char *suffix,
                      char out[VALUE_SIZE_MAX])
{
    size_t count = (size_t)random_below(r, pieces_max + 1);
    size_t used = (size_t)snprintf(out, VALUE_SIZE_MAX, "%sE'", prefix);

    for (size_t i = 0; i < count; i++) {
        const char *piece = PIECES[random_below(r, (int)(sizeof(PIECES) / sizeof(PIECES[0])))];
        used += (size_t)snprintf(out + used, VALUE_SIZE_MAX - used, "%s", piece);
    }
    (void)snprintf(out + used, VALUE_SIZE_MAX - used, "'%s", suffix);
}

void value_make_text(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_text(r, TEXT_PIECES_MAX, "", "", out);
}

void value_make_text_10(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_text(r, 12, "left(", ", 10)", out);
}

void value_make_large_text(struct random *r, char out[VALUE_SIZE_MAX])
{
    (void)snprintf(out, VALUE_SIZE_MAX,
                   "(select string_agg(md5((g::bigint * %" PRId64 ")::text), '')"
                   " from generate_series(1, %d) g)",
                   random_between(r, 1, 1 << 30), 1 + random_below(r, LARGE_TEXT_PARTS_MAX));
}

void value_make_json(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_text(r, 8, "(select json_build_object('k', ", "::text, 'a', array[1.50, null])::text)",
              out);
}

void value_make_bytes(struct random *r, char out[VALUE_SIZE_MAX])
{
    int count = random_below(r, 40);
    size_t used = (size_t)snprintf(out, VALUE_SIZE_MAX, "decode('");

    for (int i = 0; i < count; i++) {
        used += (size_t)snprintf(out + used, VALUE_SIZE_MAX - used, "%02x", random_below(r, 256));
    }
    (void)snprintf(out + used, VALUE_SIZE_MAX - used, "', 'hex')");
}

static void make_bits(struct random *r, int count, char out[VALUE_SIZE_MAX])
{
    char *p = out;

    *p++ = 'B';
    *p++ = '\'';
    for (int i = 0; i < count; i++) {
        *p++ = random_once_in(r, 2) ? '1' : '0';
    }
    (void)snprintf(p, 2, "'");
}

void value_make_bits(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_bits(r, random_below(r, 100), out);
}

void value_make_bits_12(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_bits(r, 12, out);
}

void value_make_uuid(struct random *r, char out[VALUE_SIZE_MAX])
{
    (void)snprintf(out, VALUE_SIZE_MAX, "'%016" PRIx64 "%016" PRIx64 "'", random_next(r),
                   random_next(r));
}

void value_make_date(struct random *r, char out[VALUE_SIZE_MAX])
{
    (void)snprintf(out, VALUE_SIZE_MAX, "(date '1970-01-01' + %d)",
                   (int)random_between(r, -98000, 105000));
}

void value_make_time(struct random *r, char out[VALUE_SIZE_MAX])
{
    (void)snprintf(out, VALUE_SIZE_MAX, "(time '00:00' + interval '%" PRId64 " us')",
                   random_between(r, 0, US_PER_DAY - 1));
}

static void make_timestamp(struct random *r, int64_t first_day, int64_t last_day,
                           char out[VALUE_SIZE_MAX])
{
    (void)snprintf(out, VALUE_SIZE_MAX,
                   "(timestamp '1970-01-01' + interval '%" PRId64 " days %" PRId64 " us')",
                   random_between(r, first_day, last_day), random_between(r, 0, US_PER_DAY - 1));
}

void value_make_timestamp(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_timestamp(r, -98000, 105000, out);
}

void value_make_any_timestamp(struct random *r, char out[VALUE_SIZE_MAX])
{
    make_timestamp(r, -2180000, 72000000, out);
}

/* Each part with a sign of its own; it fits the int64 of microseconds. */
void value_make_interval(struct random *r, char out[VALUE_SIZE_MAX])
{
    (void)snprintf(out, VALUE_SIZE_MAX,
                   "'%" PRId64 " months %" PRId64 " days %" PRId64 " us'::interval",
                   random_between(r, -30000, 30000), random_between(r, -400, 400),
                   random_between(r, -INT64_C(5000000000000), INT64_C(5000000000000)));
}

void value_make_point(struct random *r, char out[VALUE_SIZE_MAX])
{
    char x[VALUE_SIZE_MAX];
    char y[VALUE_SIZE_MAX];

    value_make_float8(r, x);
    value_make_float8(r, y);
    (void)snprintf(out, VALUE_SIZE_MAX, "point(%.100s, %.100s)", x, y);
}

void value_make_hstore(struct random *r, char out[VALUE_SIZE_MAX])
{
    char key[VALUE_SIZE_MAX];
    char value[VALUE_SIZE_MAX];

    make_text(r, 6, "", "", key);
    make_text(r, 6, "", "", value);
    (void)snprintf(out, VALUE_SIZE_MAX, "hstore(array[%.200s, 'n'], array[%.200s, %s])", key, value,
                   random_once_in(r, 2) ? "null" : "'NULL'");
}

void value_make_int4range(struct random *r, char out[VALUE_SIZE_MAX])
{
    int64_t low = random_between(r, -1000, 1000);

    (void)snprintf(out, VALUE_SIZE_MAX, "int4range(%" PRId64 ", %" PRId64 ", '%s')", low,
                   low + random_below(r, 100), random_once_in(r, 2) ? "[]" : "(]");
}
