#include "router/transforms/header_literal.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "decoder/schema.h"
#include "router/transforms/float_text.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* DIGITS times 10^exponent. */
struct number {
    bool is_negative;
    bool is_long; /* too many digits for `digits` */
    uint64_t digits;
    int64_t exponent;
};

enum { EXPONENT_MAX = 1000 };

/* False for what is no decimal number, or one beyond a float64. */
static bool number_read(struct wr_slice text, struct number *out)
{
    const char *next = text.data;
    const char *end = next + text.size;
    double value = 0;
    bool has_point = false;

    *out = (struct number){.is_negative = *next == '-'};
    if (!float_read(text, false, &value) || isnan(value) || isinf(value) ||
        strchr("fFdD", end[-1]) != NULL) {
        return false;
    }
    next += *next == '-' || *next == '+' ? 1 : 0;
    for (; next < end && *next != 'e' && *next != 'E'; next++) {
        if (*next == '.') {
            has_point = true;
            continue;
        }
        out->is_long |= __builtin_mul_overflow(out->digits, 10, &out->digits) ||
                        __builtin_add_overflow(out->digits, (uint64_t)(*next - '0'), &out->digits);
        out->exponent -= has_point ? 1 : 0;
    }
    int64_t sign = next + 1 < end && next[1] == '-' ? -1 : 1;
    int64_t exponent = 0;
    for (next += next < end ? 1 : 0; next < end && exponent < EXPONENT_MAX; next++) {
        exponent = is_digit(*next) ? exponent * 10 + (*next - '0') : exponent;
    }
    out->exponent += sign * exponent;
    return true;
}

/* The number as an int64; false when it is not a whole one, or too large. */
static bool number_whole(struct number n, int64_t *out)
{
    if (n.is_long) {
        return false;
    }
    while (n.exponent < 0 && n.digits % 10 == 0 && n.digits > 0) {
        n.digits /= 10;
        n.exponent++;
    }
    for (; n.exponent > 0 && n.digits > 0; n.exponent--) {
        if (__builtin_mul_overflow(n.digits, 10, &n.digits)) {
            return false;
        }
    }
    if (n.digits > 0 && n.exponent < 0) {
        return false;
    }
    if (n.digits > (uint64_t)INT64_MAX + (n.is_negative ? 1 : 0)) {
        return false;
    }
    *out = n.is_negative ? (int64_t)(0 - n.digits) : (int64_t)n.digits;
    return true;
}

static enum schema_type whole_type(int64_t value)
{
    if (value >= INT8_MIN && value <= INT8_MAX) {
        return SCHEMA_INT8;
    }
    if (value >= INT16_MIN && value <= INT16_MAX) {
        return SCHEMA_INT16;
    }
    return value >= INT32_MIN && value <= INT32_MAX ? SCHEMA_INT32 : SCHEMA_INT64;
}

/* The nearest float32, or where that is infinite, float64, whatever is lost by it. */
static bool parse_fraction(struct wr_slice text, struct wr_arena *arena, struct datum *out,
                           enum schema_type *type)
{
    double value = 0;
    bool is_float32 = float_read(text, true, &value) && !isinf(value);

    if (!is_float32) {
        (void)float_read(text, false, &value);
    }
    out->kind = is_float32 ? DATUM_FLOAT32 : DATUM_FLOAT64;
    out->as.bytes = float_text(value, is_float32, arena);
    *type = is_float32 ? SCHEMA_FLOAT32 : SCHEMA_FLOAT64;
    return out->as.bytes.data != NULL;
}

bool header_literal_parse(struct wr_slice text, struct wr_arena *arena, struct record_part *out)
{
    enum schema_type type = SCHEMA_STRING;
    struct datum value = {.kind = DATUM_STRING, .as.bytes = text};
    struct number number;
    bool is_true = wr_slice_is(text, "true");
    int64_t whole = 0;

    *out = (struct record_part){.kind = PART_NULL};
    if (wr_slice_is(text, "null")) {
        return true;
    }
    bool may_be_number = text.size > 0 && (is_digit(text.data[0]) || strchr("+-", text.data[0]));
    if (is_true || wr_slice_is(text, "false")) {
        type = SCHEMA_BOOLEAN;
        value = (struct datum){.kind = DATUM_BOOL, .as.boolean = is_true};
    } else if (may_be_number && number_read(text, &number)) {
        if (number_whole(number, &whole)) {
            type = whole_type(whole);
            value = (struct datum){.kind = DATUM_INT, .as.integer = whole};
        } else if (number.exponent == 0) {
            type = SCHEMA_STRING; /* too large: Connect's decimal, written as the same digits */
        } else if (!parse_fraction(text, arena, &value, &type)) {
            return false;
        }
    }
    struct schema *schema = schema_new(arena, type);
    *out = (struct record_part){.kind = PART_DATUM, .schema = schema, .as.datum = value};
    return schema != NULL;
}
