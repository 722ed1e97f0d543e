/* decoder/scan.h - bounds-checked reading of one value's text. */
#ifndef WR_DECODER_SCAN_H
#define WR_DECODER_SCAN_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/slice.h"

/*
 * Read-only cursor over text. The first thing that is not as expected latches `failed` and empties
 * the cursor; callers read straight through and check once, with scan_done().
 */
struct scan {
    const char *next;
    const char *end;
    bool failed;
};

static inline struct scan scan_start(struct wr_slice text)
{
    const char *start = text.size == 0 ? "" : text.data;

    return (struct scan){.next = start, .end = start + text.size};
}

static inline size_t scan_left(const struct scan *s)
{
    return (size_t)(s->end - s->next);
}

static inline bool scan_done(const struct scan *s)
{
    return !s->failed && s->next == s->end;
}

static inline void scan_fail(struct scan *s)
{
    s->next = s->end;
    s->failed = true;
}

static inline bool scan_at(const struct scan *s, char c)
{
    return s->next < s->end && *s->next == c;
}

static inline bool scan_at_digit(const struct scan *s)
{
    return s->next < s->end && *s->next >= '0' && *s->next <= '9';
}

static inline bool scan_accept(struct scan *s, char c)
{
    bool is_there = scan_at(s, c);

    s->next += is_there;
    return is_there;
}

static inline bool scan_accept_text(struct scan *s, const char *text)
{
    size_t size = strlen(text);

    if (scan_left(s) < size || memcmp(s->next, text, size) != 0) {
        return false;
    }
    s->next += size;
    return true;
}

static inline void scan_expect(struct scan *s, char c)
{
    if (!scan_accept(s, c)) {
        scan_fail(s);
    }
}

/* A number of `count_min` to `count_max` digits, at most 9. */
static inline uint32_t scan_digits(struct scan *s, size_t count_min, size_t count_max)
{
    const char *start = s->next;
    uint32_t value = 0;

    assert(count_max <= 9);
    while (scan_at_digit(s) && (size_t)(s->next - start) < count_max) {
        value = value * 10 + (uint32_t)(*s->next - '0');
        s->next++;
    }
    if ((size_t)(s->next - start) < count_min) {
        scan_fail(s);
    }
    return value;
}

/* Exactly two digits: what dates and times are made of, so without a loop. */
static inline uint32_t scan_pair(struct scan *s)
{
    if (scan_left(s) < 2) {
        scan_fail(s);
        return 0;
    }
    uint32_t tens = (uint32_t)(s->next[0] - '0');
    uint32_t ones = (uint32_t)(s->next[1] - '0');
    if (tens > 9 || ones > 9) {
        scan_fail(s);
        return 0;
    }
    s->next += 2;
    return tens * 10 + ones;
}

/* What follows a decimal point, if one is there: 1 to 6 digits, as microseconds. */
static inline uint32_t scan_fraction_us(struct scan *s)
{
    if (!scan_accept(s, '.')) {
        return 0;
    }
    const char *start = s->next;
    uint32_t value = scan_digits(s, 1, 6);
    for (size_t count = (size_t)(s->next - start); count < 6 && !s->failed; count++) {
        value *= 10;
    }
    return value;
}

/* Digits, as many as there are; fails where there is none. */
static inline struct wr_slice scan_digit_run(struct scan *s)
{
    const char *start = s->next;

    while (scan_at_digit(s)) {
        s->next++;
    }
    if (s->next == start) {
        scan_fail(s);
    }
    return (struct wr_slice){start, (size_t)(s->next - start)};
}

/* "-1.5", "1e-45", "NaN", "-Infinity": what PostgreSQL prints for either width of float. */
struct wr_slice scan_float(struct scan *s);

#endif /* WR_DECODER_SCAN_H */
