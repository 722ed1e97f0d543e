/* router/transforms/float_text.h - floats of C as the text that a DATUM_FLOAT32 or DATUM_FLOAT64
 * holds. */
#ifndef WR_ROUTER_TRANSFORMS_FLOAT_TEXT_H
#define WR_ROUTER_TRANSFORMS_FLOAT_TEXT_H

#include <stdbool.h>

#include "base/slice.h"

struct wr_arena;

/* The fewest digits that read back as `value`, or "NaN" and the infinities. Data NULL: no room. */
struct wr_slice float_text(double value, bool is_float32, struct wr_arena *arena);

/*
 * Reads a decimal number, "NaN", "Infinity" or "-Infinity" as Java's Double.parseDouble(), less the
 * hexadecimal form; blanks around it, and an f or d behind it, count for nothing. As float32 it is
 * rounded once, to the nearest float. False: it is no number, or longer than any sensible one.
 */
bool float_read(struct wr_slice text, bool is_float32, double *out);

#endif /* WR_ROUTER_TRANSFORMS_FLOAT_TEXT_H */
