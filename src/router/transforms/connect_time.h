/* router/transforms/connect_time.h - Kafka Connect's own Date, Time and Timestamp. */
#ifndef WR_ROUTER_TRANSFORMS_CONNECT_TIME_H
#define WR_ROUTER_TRANSFORMS_CONNECT_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct schema;
struct wr_arena;

enum connect_time {
    CONNECT_TIME_NONE,
    CONNECT_TIME_DATE,      /* days since 1970 */
    CONNECT_TIME_TIME,      /* milliseconds since midnight */
    CONNECT_TIME_TIMESTAMP, /* milliseconds since 1970 */
};

enum connect_time connect_time_of(const struct schema *schema);

/* A schema of that type; NULL: no room. `type` is not CONNECT_TIME_NONE. */
const struct schema *connect_time_schema(enum connect_time type, bool is_optional,
                                         struct wr_arena *arena);

/* The value as milliseconds since 1970. False: out of the range of an int64. */
bool connect_time_ms(enum connect_time type, int64_t value, int64_t *time_ms);
/* The other way round, rounded down: the day, or the time of the day. */
int64_t connect_time_value(enum connect_time type, int64_t time_ms);

/*
 * The value as Connect writes it: 2026-05-01, 20:00:00.000Z or 2026-05-01T20:00:00.000Z. False: it
 * lies before the year 1. Data in `out` is NULL when `arena` has no room.
 */
bool connect_time_write(enum connect_time type, int64_t value, struct wr_arena *arena,
                        struct wr_slice *out);

#endif /* WR_ROUTER_TRANSFORMS_CONNECT_TIME_H */
