#include "router/transforms/float_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum {
    DIGITS_FLOAT32 = 9, /* always enough */
    DIGITS_FLOAT64 = 17,
    TEXT_SIZE_MAX = 400, /* of a number: 1e308 written out, and some */
};

/* The process never leaves the C locale, which strtod() goes by. */
static double read_back(const char *text, bool is_float32)
{
    return is_float32 ? (double)strtof(text, NULL) : strtod(text, NULL);
}

struct wr_slice float_text(double value, bool is_float32, struct wr_arena *arena)
{
    const int digits_max = is_float32 ? DIGITS_FLOAT32 : DIGITS_FLOAT64;
    char text[32];
    int digits = 0;

    if (isnan(value)) {
        return WR_SLICE("NaN");
    }
    if (isinf(value)) {
        return value < 0 ? WR_SLICE("-Infinity") : WR_SLICE("Infinity");
    }
    do {
        digits++;
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
    } while (digits < digits_max && read_back(text, is_float32) != value);

    const char *copy = wr_arena_strdup(arena, text);
    return copy == NULL ? (struct wr_slice){0} : wr_slice_str(copy);
}

static struct wr_slice trim(struct wr_slice text)
{
    while (text.size > 0 && (unsigned char)text.data[0] <= ' ') { /* as String.trim() */
        text.data++;
        text.size--;
    }
    while (text.size > 0 && (unsigned char)text.data[text.size - 1] <= ' ') {
        text.size--;
    }
    return text;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit somewhere before the e. */
static bool is_decimal(const char *next)
{
    next += *next == '+' || *next == '-' ? 1 : 0;
    size_t whole = strspn(next, "0123456789");
    next += whole;
    size_t fraction = *next == '.' ? strspn(next + 1, "0123456789") : 0;
    next += *next == '.' ? fraction + 1 : 0;
    if (whole + fraction == 0) {
        return false;
    }
    if (*next == 'e' || *next == 'E') {
        next += next[1] == '+' || next[1] == '-' ? 2 : 1;
        size_t exponent = strspn(next, "0123456789");
        next += exponent;
        if (exponent == 0) {
            return false;
        }
    }
    return *next == '\0';
}

bool float_read(struct wr_slice text, bool is_float32, double *out)
{
    char c_text[TEXT_SIZE_MAX + 1];

    text = trim(text);
    if (text.size == 0 || text.size > TEXT_SIZE_MAX) {
        return false;
    }
    memcpy(c_text, text.data, text.size);
    c_text[text.size] = '\0';
    const char *word = c_text + (c_text[0] == '+' || c_text[0] == '-' ? 1 : 0);
    if (strcmp(word, "NaN") != 0 && strcmp(word, "Infinity") != 0) {
        if (strchr("fFdD", c_text[text.size - 1]) != NULL) {
            c_text[text.size - 1] = '\0';
        }
        if (!is_decimal(c_text)) {
            return false;
        }
    }
    *out = read_back(c_text, is_float32);
    return true;
}
