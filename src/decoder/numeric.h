/* decoder/numeric.h - numeric and money, in the three forms of decimal.handling.mode. */
#ifndef WR_DECODER_NUMERIC_H
#define WR_DECODER_NUMERIC_H

#include "decoder/types.h"

/*
 * Fill type->scale, from the typmod or the mode, and choose the parse function and the schema.
 * False: the arena is full.
 */
WR_MUST_USE bool numeric_settle(struct column_type *type, struct wr_arena *arena);
WR_MUST_USE bool money_settle(struct column_type *type, struct wr_arena *arena);

/*
 * precise: the unscaled value as the shortest big-endian two's complement, at type->scale; without
 * a typmod a struct of scale and value. NaN and the infinities have no such form: WR_REJECT.
 * double: the nearest double, in PostgreSQL's spelling. string: the text; NAN, POSITIVE_INFINITY
 * and NEGATIVE_INFINITY are Debezium's words.
 */
WR_MUST_USE enum wr_status numeric_parse_precise(const struct column_type *type,
                                                 struct wr_slice text, struct wr_arena *arena,
                                                 struct datum *out, struct wr_error *err);
WR_MUST_USE enum wr_status numeric_parse_variable(const struct column_type *type,
                                                  struct wr_slice text, struct wr_arena *arena,
                                                  struct datum *out, struct wr_error *err);
WR_MUST_USE enum wr_status numeric_parse_double(const struct column_type *type,
                                                struct wr_slice text, struct wr_arena *arena,
                                                struct datum *out, struct wr_error *err);
WR_MUST_USE enum wr_status numeric_parse_string(const struct column_type *type,
                                                struct wr_slice text, struct wr_arena *arena,
                                                struct datum *out, struct wr_error *err);

/* Text as under lc_monetary C: "-$1,234.56". */
WR_MUST_USE enum wr_status money_parse_precise(const struct column_type *type, struct wr_slice text,
                                               struct wr_arena *arena, struct datum *out,
                                               struct wr_error *err);
WR_MUST_USE enum wr_status money_parse_double(const struct column_type *type, struct wr_slice text,
                                              struct wr_arena *arena, struct datum *out,
                                              struct wr_error *err);
WR_MUST_USE enum wr_status money_parse_string(const struct column_type *type, struct wr_slice text,
                                              struct wr_arena *arena, struct datum *out,
                                              struct wr_error *err);

#endif /* WR_DECODER_NUMERIC_H */
