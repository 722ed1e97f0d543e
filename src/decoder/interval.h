/* decoder/interval.h - intervals as a number of microseconds, or as text. */
#ifndef WR_DECODER_INTERVAL_H
#define WR_DECODER_INTERVAL_H

#include "decoder/types.h"

/* Chooses the parse function and the schema after interval.handling.mode. */
WR_MUST_USE bool interval_settle(struct column_type *type, struct wr_arena *arena);

/*
 * interval.handling.mode=numeric (io.debezium.time.MicroDuration): a month has 365.25 / 12 days.
 * Reads IntervalStyle postgres. WR_REJECT when the int64 is too small, and for an infinite one.
 */
WR_MUST_USE enum wr_status interval_parse_micros(const struct column_type *type,
                                                 struct wr_slice text, struct wr_arena *arena,
                                                 struct datum *out, struct wr_error *err);

/*
 * interval.handling.mode=string (io.debezium.time.Interval): "P1Y2M3DT4H5M6.789S", all parts
 * always there, each with its own sign. WR_REJECT for an infinite one, which ISO 8601 has not.
 */
WR_MUST_USE enum wr_status interval_parse_iso(const struct column_type *type, struct wr_slice text,
                                              struct wr_arena *arena, struct datum *out,
                                              struct wr_error *err);

#endif /* WR_DECODER_INTERVAL_H */
