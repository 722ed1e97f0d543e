/* decoder/decimal.h - decimal text of any length, as Java's BigDecimal and double see it. */
#ifndef WR_DECODER_DECIMAL_H
#define WR_DECODER_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct wr_arena;

/* "-12.50": negative, whole "12", fraction "50". Borrows the text. */
struct decimal {
    bool is_negative;
    struct wr_slice whole;    /* at least one digit */
    struct wr_slice fraction; /* may be empty */
};

/* False when `text` is not [-]digits[.digits]. */
bool decimal_split(struct wr_slice text, struct decimal *out);

/* Drops the zeros at the end of the fraction. */
void decimal_trim(struct decimal *d);

/* False when digits other than 0 stand behind `scale`, so that the value does not fit it. */
bool decimal_fits(const struct decimal *d, int32_t scale);

/*
 * The value times 10^scale as the shortest big-endian two's complement, like Java's
 * BigInteger.toByteArray(). The value must fit `scale`. Data is NULL when the arena is full.
 */
struct wr_slice decimal_unscaled(const struct decimal *d, int32_t scale, struct wr_arena *arena);

/* The same for an integer. */
struct wr_slice decimal_int_bytes(int64_t value, struct wr_arena *arena);

/*
 * The nearest double in its shortest spelling, as PostgreSQL prints a float8; "Infinity" when it is
 * too large for one. Data is NULL when the arena is full.
 */
struct wr_slice decimal_double(const struct decimal *d, struct wr_arena *arena);

#endif /* WR_DECODER_DECIMAL_H */
