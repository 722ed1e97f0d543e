#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "router/transforms/cast_value.h"

enum {
    LIMB_DIGITS = 9, /* decimal digits taken off at a time */
    LIMB = 1000000000,
    PLAIN_EXPONENT_MIN = -6, /* BigDecimal.toString(): below, with an exponent */
};

bool schema_is_decimal(const struct schema *schema, int32_t *scale)
{
    if (schema->type != SCHEMA_BYTES || schema->name == NULL ||
        strcmp(schema->name, "org.apache.kafka.connect.data.Decimal") != 0) {
        return false;
    }
    *scale = 0;
    for (size_t i = 0; i < schema->parameter_count; i++) {
        if (strcmp(schema->parameters[i].name, "scale") == 0) {
            *scale = (int32_t)strtol(schema->parameters[i].value, NULL, 10);
        }
    }
    return true;
}

/* Divides the magnitude by a limb and gives the rest. */
static uint32_t take_limb(uint8_t *bytes, size_t size)
{
    uint64_t rest = 0;

    for (size_t i = 0; i < size; i++) {
        uint64_t part = rest << 8 | bytes[i];
        bytes[i] = (uint8_t)(part / LIMB);
        rest = part % LIMB;
    }
    return (uint32_t)rest;
}

static void negate(uint8_t *bytes, size_t size)
{
    unsigned carry = 1;

    for (size_t i = size; i > 0; i--) {
        unsigned sum = (uint8_t)~bytes[i - 1] + carry;
        bytes[i - 1] = (uint8_t)sum;
        carry = sum >> 8;
    }
}

/* The digits of a magnitude, without zeros before them. Destroys it. Data NULL: no room. */
static struct wr_slice digits_of(uint8_t *bytes, size_t size, struct wr_arena *arena)
{
    size_t room = size * 3 + LIMB_DIGITS; /* a byte makes less than 2.5 digits */
    char *text = wr_arena_alloc_raw(arena, room, 1);
    size_t first = room;
    size_t start = 0;

    if (text == NULL) {
        return (struct wr_slice){0};
    }
    while (start < size) {
        uint32_t limb = take_limb(bytes + start, size - start);
        for (int i = 0; i < LIMB_DIGITS; i++, limb /= 10) {
            text[--first] = (char)('0' + limb % 10);
        }
        while (start < size && bytes[start] == 0) {
            start++;
        }
    }
    while (first + 1 < room && text[first] == '0') {
        first++;
    }
    if (first == room) {
        text[--first] = '0';
    }
    return (struct wr_slice){text + first, room - first};
}

/* The digits with a point and zeros, or with an exponent. */
static const char *place_point(const char *sign, struct wr_slice digits, int32_t scale,
                               struct wr_arena *arena)
{
    const int64_t exponent = (int64_t)digits.size - 1 - scale;
    const int count = (int)digits.size;
    const char *d = digits.data;

    if (scale == 0) {
        return wr_arena_printf(arena, "%s%.*s", sign, count, d);
    }
    if (scale < 0 || exponent < PLAIN_EXPONENT_MIN) {
        return wr_arena_printf(arena, "%s%c%s%.*sE%+" PRId64, sign, d[0], count > 1 ? "." : "",
                               count - 1, d + 1, exponent);
    }
    if (count > scale) {
        return wr_arena_printf(arena, "%s%.*s.%.*s", sign, count - scale, d, scale,
                               d + count - scale);
    }
    /* At most five zeros, or there were an exponent. */
    return wr_arena_printf(arena, "%s0.%.*s%.*s", sign, scale - count, "00000", count, d);
}

struct wr_slice decimal_text(struct wr_slice unscaled, int32_t scale, struct wr_arena *arena)
{
    uint8_t *bytes = wr_arena_alloc_raw(arena, unscaled.size + 1, 1);

    if (bytes == NULL) {
        return (struct wr_slice){0};
    }
    if (unscaled.size > 0) {
        memcpy(bytes, unscaled.data, unscaled.size);
    }
    bool is_negative = unscaled.size > 0 && (bytes[0] & 0x80) != 0;
    if (is_negative) {
        negate(bytes, unscaled.size);
    }
    struct wr_slice digits = digits_of(bytes, unscaled.size, arena);
    if (digits.data == NULL) {
        return digits;
    }
    const char *text = place_point(is_negative ? "-" : "", digits, scale, arena);
    return text == NULL ? (struct wr_slice){0} : wr_slice_str(text);
}
