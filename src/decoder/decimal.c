#include "decoder/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "decoder/scan.h"

enum {
    DIGITS_INT64 = 18,    /* that many digits always fit an int64 */
    DIGITS_LIMB = 9,      /* and that many a uint32 */
    DIGITS_EXACT = 15,    /* that many digits survive the way through a double (DBL_DIG) */
    DIGITS_DOUBLE = 17,   /* and that many tell any two doubles apart */
    EXPONENT_EXACT = 290, /* up to here a double is normal, and keeps DIGITS_EXACT digits */
};

bool decimal_split(struct wr_slice text, struct decimal *out)
{
    struct scan in = scan_start(text);

    *out = (struct decimal){.is_negative = scan_accept(&in, '-')};
    out->whole = scan_digit_run(&in);
    if (scan_accept(&in, '.')) {
        out->fraction = scan_digit_run(&in);
    }
    return scan_done(&in);
}

void decimal_trim(struct decimal *d)
{
    while (d->fraction.size > 0 && d->fraction.data[d->fraction.size - 1] == '0') {
        d->fraction.size--;
    }
}

static bool is_zeros(const char *digits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (digits[i] != '0') {
            return false;
        }
    }
    return true;
}

bool decimal_fits(const struct decimal *d, int32_t scale)
{
    if (scale >= 0) {
        size_t kept = (size_t)scale;
        return d->fraction.size <= kept ||
               is_zeros(d->fraction.data + kept, d->fraction.size - kept);
    }
    size_t dropped = (size_t)-scale;
    size_t kept = d->whole.size > dropped ? d->whole.size - dropped : 0;
    return is_zeros(d->whole.data + kept, d->whole.size - kept) &&
           (d->fraction.size == 0 || is_zeros(d->fraction.data, d->fraction.size));
}

/* The digits of the unscaled value: two runs of the text, then zeros. */
struct digits {
    struct wr_slice whole;
    struct wr_slice fraction;
    size_t count;
};

static struct digits unscaled_digits(const struct decimal *d, int32_t scale)
{
    struct digits digits = {.whole = d->whole, .fraction = d->fraction};

    if (scale < 0) {
        size_t dropped = (size_t)-scale;
        digits.whole.size = dropped < d->whole.size ? d->whole.size - dropped : 0;
        digits.fraction.size = 0;
        digits.count = digits.whole.size;
        return digits;
    }
    if (digits.fraction.size > (size_t)scale) {
        digits.fraction.size = (size_t)scale;
    }
    digits.count = digits.whole.size + (size_t)scale;
    return digits;
}

static uint32_t digit_at(const struct digits *digits, size_t index)
{
    if (index < digits->whole.size) {
        return (uint32_t)(digits->whole.data[index] - '0');
    }
    index -= digits->whole.size;
    return index < digits->fraction.size ? (uint32_t)(digits->fraction.data[index] - '0') : 0;
}

static int64_t digits_int64(const struct digits *digits)
{
    int64_t value = 0;

    assert(digits->count <= DIGITS_INT64);
    for (size_t i = 0; i < digits->count; i++) {
        value = value * 10 + digit_at(digits, i);
    }
    return value;
}

struct wr_slice decimal_int_bytes(int64_t value, struct wr_arena *arena)
{
    /* clrsb counts the leading bits that only repeat the sign. */
    size_t size = (size_t)(64 - __builtin_clrsbll(value) + 7) / 8;
    unsigned char *bytes = wr_arena_alloc_raw(arena, size, 1);

    if (bytes == NULL) {
        return (struct wr_slice){0};
    }
    for (size_t i = size; i > 0; i--) {
        bytes[i - 1] = (unsigned char)((uint64_t)value & 0xff);
        value >>= 8;
    }
    return (struct wr_slice){(const char *)bytes, size};
}

/* A natural number as limbs of 32 bits, the lowest first. */
struct natural {
    uint32_t *limbs;
    size_t count;
};

static void natural_multiply_add(struct natural *n, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;

    for (size_t i = 0; i < n->count; i++) {
        carry += (uint64_t)n->limbs[i] * factor;
        n->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry > 0) {
        n->limbs[n->count++] = (uint32_t)carry;
    }
}

/* Nine digits at a time; the last turn takes what is left. */
static void natural_read(struct natural *n, const struct digits *digits)
{
    uint32_t factor = 1;
    uint32_t addend = 0;

    for (size_t i = 0; i < digits->count; i++) {
        factor *= 10;
        addend = addend * 10 + digit_at(digits, i);
        if ((i + 1) % DIGITS_LIMB == 0 || i + 1 == digits->count) {
            natural_multiply_add(n, factor, addend);
            factor = 1;
            addend = 0;
        }
    }
}

static void negate(unsigned char *bytes, size_t size)
{
    unsigned carry = 1;

    for (size_t i = size; i > 0; i--) {
        carry += (unsigned char)~bytes[i - 1];
        bytes[i - 1] = (unsigned char)(carry & 0xff);
        carry >>= 8;
    }
}

/* One byte more than the limbs fill, so that there is always room for the sign. */
static struct wr_slice natural_bytes(const struct natural *n, bool is_negative,
                                     struct wr_arena *arena)
{
    size_t size = n->count * sizeof(uint32_t) + 1;
    unsigned char *bytes = wr_arena_alloc(arena, size, 1);

    if (bytes == NULL) {
        return (struct wr_slice){0};
    }
    for (size_t i = 0; i < size - 1; i++) {
        bytes[size - 1 - i] = (unsigned char)(n->limbs[i / 4] >> (i % 4 * 8) & 0xff);
    }
    if (is_negative) {
        negate(bytes, size);
    }
    /* A first byte that only repeats the sign of the next one says nothing. */
    while (size > 1 &&
           ((bytes[0] == 0x00 && bytes[1] < 0x80) || (bytes[0] == 0xff && bytes[1] >= 0x80))) {
        bytes++;
        size--;
    }
    return (struct wr_slice){(const char *)bytes, size};
}

struct wr_slice decimal_unscaled(const struct decimal *d, int32_t scale, struct wr_arena *arena)
{
    assert(decimal_fits(d, scale));

    struct digits digits = unscaled_digits(d, scale);
    if (digits.count <= DIGITS_INT64) {
        int64_t value = digits_int64(&digits);
        return decimal_int_bytes(d->is_negative ? -value : value, arena);
    }
    struct natural n = {
        .limbs = wr_arena_alloc_raw(arena, digits.count / DIGITS_LIMB + 1, sizeof(*n.limbs))};
    if (n.limbs == NULL) {
        return (struct wr_slice){0};
    }
    natural_read(&n, &digits);
    return natural_bytes(&n, d->is_negative, arena);
}

/* 0.DIGITS times 10^exponent, neither the first nor the last digit 0; no digits for zero. */
struct significant {
    char digits[DIGITS_DOUBLE + 1];
    size_t count;
    int exponent;
};

/* False when there are more digits than a double surely keeps. */
static bool significant_exact(const struct decimal *d, struct significant *out)
{
    const struct digits all = unscaled_digits(d, (int32_t)d->fraction.size);
    size_t first = 0;
    size_t end = all.count;

    while (first < end && digit_at(&all, first) == 0) {
        first++;
    }
    while (end > first && digit_at(&all, end - 1) == 0) {
        end--;
    }
    *out = (struct significant){.count = end - first, .exponent = (int)d->whole.size - (int)first};
    if (out->count > DIGITS_EXACT || abs(out->exponent) > EXPONENT_EXACT) {
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        out->digits[i] = (char)('0' + digit_at(&all, first + i));
    }
    return true;
}

/* The fewest digits that read back as `value`, which is finite, positive and not 0. */
static void significant_shortest(double value, struct significant *out)
{
    char text[DIGITS_DOUBLE + sizeof("1.e-324")];
    int precision = 0;

    do {
        (void)snprintf(text, sizeof(text), "%.*e", precision, value);
        precision++;
    } while (precision < DIGITS_DOUBLE && strtod(text, NULL) != value);

    *out = (struct significant){0};
    const char *p = text;
    for (; *p != 'e'; p++) {
        if (*p != '.') {
            out->digits[out->count++] = *p;
        }
    }
    out->exponent = (int)strtol(p + 1, NULL, 10) + 1;
}

/* As PostgreSQL prints a float8: with an exponent below 1e-4 and from 1e15 on. */
static struct wr_slice significant_print(const struct significant *s, bool is_negative,
                                         struct wr_arena *arena)
{
    const char *sign = is_negative ? "-" : "";
    int count = (int)s->count;
    const char *text;

    if (count == 0) {
        text = wr_arena_strdup(arena, is_negative ? "-0" : "0");
    } else if (s->exponent < -3 || s->exponent > DIGITS_EXACT) {
        text = wr_arena_printf(arena, "%s%c%s%.*se%+03d", sign, s->digits[0], count > 1 ? "." : "",
                               count - 1, s->digits + 1, s->exponent - 1);
    } else if (s->exponent <= 0) {
        text = wr_arena_printf(arena, "%s0.%.*s%.*s", sign, -s->exponent, "000", count, s->digits);
    } else if (count > s->exponent) {
        text = wr_arena_printf(arena, "%s%.*s.%s", sign, s->exponent, s->digits,
                               s->digits + s->exponent);
    } else {
        text = wr_arena_printf(arena, "%s%s%.*s", sign, s->digits, s->exponent - count,
                               "00000000000000");
    }
    return text == NULL ? (struct wr_slice){0} : wr_slice_str(text);
}

/* strtod wants a NUL, and the process never leaves the C locale. */
static const char *decimal_c_text(const struct decimal *d, struct wr_arena *arena)
{
    struct digits all = unscaled_digits(d, (int32_t)d->fraction.size);
    char *text = wr_arena_alloc(arena, all.count + sizeof("."), 1);

    if (text == NULL) {
        return NULL;
    }
    memcpy(text, all.whole.data, all.whole.size);
    text[all.whole.size] = '.';
    if (all.fraction.size > 0) {
        memcpy(text + all.whole.size + 1, all.fraction.data, all.fraction.size);
    }
    return text;
}

struct wr_slice decimal_double(const struct decimal *d, struct wr_arena *arena)
{
    struct significant s;

    if (significant_exact(d, &s)) {
        return significant_print(&s, d->is_negative && s.count > 0, arena);
    }
    const char *text = decimal_c_text(d, arena);
    if (text == NULL) {
        return (struct wr_slice){0};
    }
    double value = strtod(text, NULL);
    if (isinf(value)) {
        return d->is_negative ? WR_SLICE("-Infinity") : WR_SLICE("Infinity");
    }
    if (value == 0) {
        s = (struct significant){0};
    } else {
        significant_shortest(value, &s);
    }
    return significant_print(&s, d->is_negative, arena);
}
