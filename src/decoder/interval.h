/* decoder/interval.h - intervals as a number of microseconds. */
#ifndef WR_DECODER_INTERVAL_H
#define WR_DECODER_INTERVAL_H

#include "decoder/types.h"

/*
 * interval.handling.mode=numeric (io.debezium.time.MicroDuration): a month has 365.25 / 12 days.
 * Reads IntervalStyle postgres. WR_REJECT when the int64 is too small, and for an infinite one.
 */
WR_MUST_USE enum wr_status interval_parse_micros(const struct column_type *type,
                                                 struct wr_slice text, struct wr_arena *arena,
                                                 struct datum *out, struct wr_error *err);

#endif /* WR_DECODER_INTERVAL_H */
