/* router/transforms/cast_value.h - a value of one simple type as one of another, as Kafka's Cast
 * does it. */
#ifndef WR_ROUTER_TRANSFORMS_CAST_VALUE_H
#define WR_ROUTER_TRANSFORMS_CAST_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "decoder/datum.h"
#include "decoder/schema.h"

struct wr_arena;

/* Whether `schema` is of org.apache.kafka.connect.data.Decimal; its scale then. */
bool schema_is_decimal(const struct schema *schema, int32_t *scale);

/* Whether values of `from` can be cast: not of structures; bytes that are no decimal to text alone.
 */
bool cast_is_possible(const struct schema *from, enum schema_type to);

/*
 * Casts `value`, which is not null. A fraction is cut off on the way to a whole number. NULL on
 * success, else what is wrong with the value: text that is no such number, and, where Java would
 * wrap around, a number that the type does not have. `out` lives in `arena` or borrows `value`.
 */
const char *cast_value(const struct schema *from, const struct datum *value, enum schema_type to,
                       struct wr_arena *arena, struct datum *out);

/* BigDecimal.toString() of big-endian two's complement and a scale. Data NULL: no room. */
struct wr_slice decimal_text(struct wr_slice unscaled, int32_t scale, struct wr_arena *arena);

#endif /* WR_ROUTER_TRANSFORMS_CAST_VALUE_H */
