/* decoder/datetime.h - dates, times and timestamps, in the forms of time.precision.mode. */
#ifndef WR_DECODER_DATETIME_H
#define WR_DECODER_DATETIME_H

#include "decoder/types.h"

/*
 * All read ISO text (DateStyle ISO) of the proleptic Gregorian calendar, with "BC" behind it where
 * it has one, and know "infinity". A value that leaves the int64 is WR_REJECT, never wrapped.
 */

/*
 * Fill type->scale (fraction digits, 6 without a typmod) and choose the parse function and the
 * schema. They never fail.
 */
WR_MUST_USE bool date_settle(struct column_type *type, struct wr_arena *arena);
WR_MUST_USE bool time_settle(struct column_type *type, struct wr_arena *arena);
WR_MUST_USE bool timestamp_settle(struct column_type *type, struct wr_arena *arena);
WR_MUST_USE bool timestamptz_settle(struct column_type *type, struct wr_arena *arena);

/* Days since 1970-01-01. */
WR_MUST_USE enum wr_status date_parse(const struct column_type *type, struct wr_slice text,
                                      struct wr_arena *arena, struct datum *out,
                                      struct wr_error *err);
/*
 * "2026-05-01Z". The infinities are Debezium's marks here, too, written as the day that they would
 * be: "-5877611-06-21Z" and "-5877611-06-22Z".
 */
WR_MUST_USE enum wr_status date_parse_iso(const struct column_type *type, struct wr_slice text,
                                          struct wr_arena *arena, struct datum *out,
                                          struct wr_error *err);

/* Since midnight; 24:00 is a time, too. */
WR_MUST_USE enum wr_status time_parse_millis(const struct column_type *type, struct wr_slice text,
                                             struct wr_arena *arena, struct datum *out,
                                             struct wr_error *err);
WR_MUST_USE enum wr_status time_parse_micros(const struct column_type *type, struct wr_slice text,
                                             struct wr_arena *arena, struct datum *out,
                                             struct wr_error *err);
WR_MUST_USE enum wr_status time_parse_nanos(const struct column_type *type, struct wr_slice text,
                                            struct wr_arena *arena, struct datum *out,
                                            struct wr_error *err);
/* "12:34:56.789Z", without zeros at the end of the fraction; 24:00 is "24:00:00Z". */
WR_MUST_USE enum wr_status time_parse_iso(const struct column_type *type, struct wr_slice text,
                                          struct wr_arena *arena, struct datum *out,
                                          struct wr_error *err);

/* "10:34:56.789012Z": moved to UTC, without zeros at the end of the fraction. */
WR_MUST_USE enum wr_status timetz_parse(const struct column_type *type, struct wr_slice text,
                                        struct wr_arena *arena, struct datum *out,
                                        struct wr_error *err);

/* Since 1970-01-01 00:00; rounded down. */
WR_MUST_USE enum wr_status timestamp_parse_millis(const struct column_type *type,
                                                  struct wr_slice text, struct wr_arena *arena,
                                                  struct datum *out, struct wr_error *err);
WR_MUST_USE enum wr_status timestamp_parse_micros(const struct column_type *type,
                                                  struct wr_slice text, struct wr_arena *arena,
                                                  struct datum *out, struct wr_error *err);
WR_MUST_USE enum wr_status timestamp_parse_nanos(const struct column_type *type,
                                                 struct wr_slice text, struct wr_arena *arena,
                                                 struct datum *out, struct wr_error *err);
/* "2026-05-01T12:34:56.789Z", without zeros at the end of the fraction; infinities as above. */
WR_MUST_USE enum wr_status timestamp_parse_iso(const struct column_type *type, struct wr_slice text,
                                               struct wr_arena *arena, struct datum *out,
                                               struct wr_error *err);

/* "2026-05-01T20:00:00.000000Z", with as many fraction digits as the column has. */
WR_MUST_USE enum wr_status timestamptz_parse(const struct column_type *type, struct wr_slice text,
                                             struct wr_arena *arena, struct datum *out,
                                             struct wr_error *err);

/*
 * The instant of a timestamp (taken as UTC) or timestamptz, in microseconds since 1970. False for
 * the infinities, for what leaves the int64 and for what is neither.
 */
bool datetime_to_us(struct wr_slice text, int64_t *out);

#endif /* WR_DECODER_DATETIME_H */
