#include "base/json_write.h"

#include <endian.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define ONES UINT64_C(0x0101010101010101)

enum {
    ESCAPE_SIZE_MAX = 6,   /* \\u001F: no byte of the input makes more of the output */
    CHUNK_SIZE = 16384,    /* of input, for which room is made at once */
    CHUNK_SLACK = 8,       /* the last step of a chunk may take up to a word more */
    INT_SIZE_MAX = 20,     /* -9223372036854775808 */
    FLOAT_DIGITS_MAX = 32, /* PostgreSQL writes 17 at most */
    FLOAT_TEXT_MAX = 64,
    FLOAT_EXPONENT_MAX = 9999,
};

/*
 * Of eight bytes, the top bit of the first one that is a control character, a quote, a backslash or
 * above 0x7f is set, and of none before it; 0 when there is none. (Behind the first, a borrow may
 * set bits that mean nothing.)
 */
static uint64_t special_bits(const char *bytes)
{
    uint64_t word = 0;

    memcpy(&word, bytes, sizeof(word));
    word = le64toh(word);
    uint64_t quote = word ^ (ONES * '"');
    uint64_t backslash = word ^ (ONES * '\\');
    /* Each subtraction leaves the top bit in the byte that it was meant to find. */
    uint64_t found = word | (word - ONES * ' ') | (quote - ONES) | (backslash - ONES);
    return found & (ONES * 0x80);
}

static bool is_plain(char c)
{
    uint8_t byte = (uint8_t)c;

    return byte >= ' ' && byte < 0x80 && byte != '"' && byte != '\\';
}

static char *put_unit(char *to, uint32_t unit)
{
    static const char hex[] = "0123456789ABCDEF";
    const char escape[6] = {
        '\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]};

    memcpy(to, escape, sizeof(escape));
    return to + sizeof(escape);
}

static char *put_ascii_escape(char *to, char c)
{
    static const char letters[128] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',  ['\f'] = 'f',
        ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\',
    };
    char letter = letters[(uint8_t)c];

    if (letter == 0) {
        return put_unit(to, (uint8_t)c);
    }
    *to++ = '\\';
    *to++ = letter;
    return to;
}

/* The character at `*from`, which is not plain, as it goes out. */
static char *put_special(char *to, const char **from, const char *end)
{
    const uint8_t *bytes = (const uint8_t *)*from;

    if (bytes[0] < 0x80) {
        return put_ascii_escape(to, *(*from)++);
    }
    struct wr_utf8 read = wr_utf8_read(*from, (size_t)(end - *from));
    *from += read.size;
    if (!read.is_valid) {
        memcpy(to, "\xef\xbf\xbd", 3);
        return to + 3;
    }
    if (read.size < 4) {
        memcpy(to, bytes, read.size);
        return to + read.size;
    }
    /* Two UTF-16 units, as Jackson writes them. */
    uint32_t code = (bytes[0] & 0x07U) << 18 | (bytes[1] & 0x3fU) << 12 | (bytes[2] & 0x3fU) << 6 |
                    (bytes[3] & 0x3fU);
    to = put_unit(to, 0xd800 + ((code - 0x10000) >> 10));
    return put_unit(to, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

/* Writes from `*from` on until `stop` is reached or passed; `to` has room for the worst case. */
static char *put_escaped(char *to, const char **from, const char *stop, const char *end)
{
    while (*from < stop) {
        if (end - *from >= (ptrdiff_t)sizeof(uint64_t)) {
            uint64_t special = special_bits(*from);
            size_t plain = special == 0 ? sizeof(uint64_t) : (size_t)__builtin_ctzll(special) / 8;
            memcpy(to, *from, sizeof(uint64_t)); /* what is too much is written over */
            to += plain;
            *from += plain;
            if (special == 0) {
                continue;
            }
        } else if (is_plain(**from)) {
            *to++ = *(*from)++;
            continue;
        }
        to = put_special(to, from, end);
    }
    return to;
}

void wr_json_escaped(struct wr_buffer *out, struct wr_slice text)
{
    const char *from = text.data;
    const char *end = text.size == 0 ? from : from + text.size;

    while (from < end) {
        size_t size = (size_t)(end - from) < CHUNK_SIZE ? (size_t)(end - from) : CHUNK_SIZE;
        char *place = wr_buffer_reserve(out, (size + CHUNK_SLACK) * ESCAPE_SIZE_MAX);
        if (place == NULL) {
            return;
        }
        wr_buffer_advance(out, (size_t)(put_escaped(place, &from, from + size, end) - place));
    }
}

void wr_json_string(struct wr_buffer *out, struct wr_slice text)
{
    wr_buffer_add_char(out, '"');
    wr_json_escaped(out, text);
    wr_buffer_add_char(out, '"');
}

void wr_json_int(struct wr_buffer *out, int64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char text[INT_SIZE_MAX];
    char *start = text + sizeof(text);
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    while (rest >= 100) {
        start -= 2;
        memcpy(start, pairs + rest % 100 * 2, 2);
        rest /= 100;
    }
    if (rest >= 10) {
        start -= 2;
        memcpy(start, pairs + rest * 2, 2);
    } else {
        *--start = (char)('0' + rest);
    }
    if (value < 0) {
        *--start = '-';
    }
    wr_buffer_add(out, start, (size_t)(text + sizeof(text) - start));
}

void wr_json_bool(struct wr_buffer *out, bool value)
{
    if (value) {
        WR_BUFFER_LITERAL(out, "true");
    } else {
        WR_BUFFER_LITERAL(out, "false");
    }
}

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The last one or two bytes, which padding makes a whole group. */
static void base64_tail(char *place, const uint8_t *bytes, size_t left)
{
    uint32_t group = (uint32_t)bytes[0] << 16;

    if (left == 2) {
        group |= (uint32_t)bytes[1] << 8;
    }
    place[0] = base64_digits[group >> 18];
    place[1] = base64_digits[group >> 12 & 63];
    place[2] = left == 2 ? base64_digits[group >> 6 & 63] : '=';
    place[3] = '=';
}

void wr_json_base64(struct wr_buffer *out, struct wr_slice bytes)
{
    const uint8_t *next = (const uint8_t *)bytes.data;
    size_t left = bytes.size;
    /* Divided first, so that no size can overflow. */
    size_t size = (left / 3 + (left % 3 > 0)) * 4;

    wr_buffer_add_char(out, '"');
    char *place = wr_buffer_reserve(out, size);
    if (place == NULL) {
        return;
    }
    for (; left >= 3; left -= 3, next += 3, place += 4) {
        uint32_t group = (uint32_t)next[0] << 16 | (uint32_t)next[1] << 8 | next[2];
        place[0] = base64_digits[group >> 18];
        place[1] = base64_digits[group >> 12 & 63];
        place[2] = base64_digits[group >> 6 & 63];
        place[3] = base64_digits[group & 63];
    }
    if (left > 0) {
        base64_tail(place, next, left);
    }
    wr_buffer_advance(out, size);
    wr_buffer_add_char(out, '"');
}

/* 0.d1 d2 d3 … × 10^point, without zeros at either end; no digits at all is zero. */
struct decimal {
    bool is_negative;
    char digits[FLOAT_DIGITS_MAX];
    size_t count;
    int32_t point;
};

/* Takes the digits up to anything else; false when there are more than any float has. */
static bool decimal_digits(struct decimal *d, struct wr_slice *text, bool is_fraction, bool *any)
{
    while (text->size > 0 && text->data[0] >= '0' && text->data[0] <= '9') {
        char digit = text->data[0];
        bool leads = d->count == 0 && digit == '0';
        *any = true;
        if (!leads && d->count == FLOAT_DIGITS_MAX) {
            return false;
        }
        if (!leads) {
            d->digits[d->count++] = digit;
        }
        if (is_fraction == leads) {
            d->point += is_fraction ? -1 : 1;
        }
        text->data++;
        text->size--;
    }
    return true;
}

static bool skip_char(struct wr_slice *text, char c)
{
    if (text->size == 0 || text->data[0] != c) {
        return false;
    }
    text->data++;
    text->size--;
    return true;
}

/* The exponent's value after its 'e'; false when there is no number or a senseless one. */
static bool decimal_exponent(struct decimal *d, struct wr_slice *text)
{
    bool is_negative = skip_char(text, '-');
    int32_t exponent = 0;

    if (!is_negative) {
        (void)skip_char(text, '+');
    }
    if (text->size == 0) {
        return false;
    }
    for (; text->size > 0; text->data++, text->size--) {
        char digit = text->data[0];
        if (digit < '0' || digit > '9' || exponent > FLOAT_EXPONENT_MAX) {
            return false;
        }
        exponent = exponent * 10 + (digit - '0');
    }
    d->point += is_negative ? -exponent : exponent;
    return true;
}

static bool decimal_parse(struct decimal *d, struct wr_slice text)
{
    bool any = false;

    *d = (struct decimal){.is_negative = skip_char(&text, '-')};
    if (!decimal_digits(d, &text, false, &any)) {
        return false;
    }
    if (skip_char(&text, '.') && !decimal_digits(d, &text, true, &any)) {
        return false;
    }
    if (!any) {
        return false;
    }
    if ((skip_char(&text, 'e') || skip_char(&text, 'E')) && !decimal_exponent(d, &text)) {
        return false;
    }
    while (d->count > 0 && d->digits[d->count - 1] == '0') {
        d->count--;
    }
    return text.size == 0;
}

/*
 * Java never writes one digit alone: it takes the two digits that lie nearest to the value. They
 * are the one digit and a zero, except where a float is so small that it has only a few bits left
 * (4.9E-324, where PostgreSQL writes 5e-324), so the C library is asked for those alone.
 */
static void decimal_two_digits(struct decimal *d, bool is_float32)
{
    const int32_t few_bits_below = is_float32 ? -40 : -318;
    char text[FLOAT_TEXT_MAX];

    if (d->count != 1 || d->point > few_bits_below) {
        return;
    }
    (void)snprintf(text, sizeof(text), "0.%ce%" PRId32, d->digits[0], d->point);
    double value = is_float32 ? (double)strtof(text, NULL) : strtod(text, NULL);
    (void)snprintf(text, sizeof(text), "%.1e", value);
    bool is_negative = d->is_negative;
    if (decimal_parse(d, wr_slice_str(text))) {
        d->is_negative = is_negative;
    }
}

/* A digit of the decimal form or of the mantissa; zeros stand on both sides of those there are. */
static char decimal_digit(const struct decimal *d, int32_t index)
{
    return index >= 0 && index < (int32_t)d->count ? d->digits[index] : '0';
}

/* Digits from `first` on, a point before digit `point`, and at least one digit after it. */
static void add_pointed(struct wr_buffer *out, const struct decimal *d, int32_t first,
                        int32_t point)
{
    int32_t end = (int32_t)d->count > point + 1 ? (int32_t)d->count : point + 1;

    for (int32_t index = first; index < end; index++) {
        if (index == point) {
            wr_buffer_add_char(out, '.');
        }
        wr_buffer_add_char(out, decimal_digit(d, index));
    }
}

void wr_json_float(struct wr_buffer *out, struct wr_slice text, bool is_float32)
{
    struct decimal d;

    if (!decimal_parse(&d, text)) {
        wr_json_string(out, text); /* NaN and the infinities */
        return;
    }
    decimal_two_digits(&d, is_float32);
    if (d.is_negative) {
        wr_buffer_add_char(out, '-');
    }
    if (d.count == 0) {
        WR_BUFFER_LITERAL(out, "0.0");
    } else if (d.point > -3 && d.point <= 7) { /* 0.001 up to, not with, 10,000,000 */
        add_pointed(out, &d, d.point > 0 ? 0 : d.point - 1, d.point);
    } else {
        add_pointed(out, &d, 0, 1);
        wr_buffer_add_char(out, 'E');
        wr_json_int(out, d.point - 1);
    }
}
