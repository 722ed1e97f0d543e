/* decoder/scalar.h - the types whose value is near to their text. */
#ifndef WR_DECODER_SCALAR_H
#define WR_DECODER_SCALAR_H

#include "decoder/types.h"

/* Every type that is published as its text: DATUM_STRING, borrowed. Takes any bytes. */
WR_MUST_USE enum wr_status text_parse(const struct column_type *type, struct wr_slice text,
                                      struct wr_arena *arena, struct datum *out,
                                      struct wr_error *err);

/* "t" and "f". */
WR_MUST_USE enum wr_status bool_parse(const struct column_type *type, struct wr_slice text,
                                      struct wr_arena *arena, struct datum *out,
                                      struct wr_error *err);

WR_MUST_USE enum wr_status int2_parse(const struct column_type *type, struct wr_slice text,
                                      struct wr_arena *arena, struct datum *out,
                                      struct wr_error *err);
WR_MUST_USE enum wr_status int4_parse(const struct column_type *type, struct wr_slice text,
                                      struct wr_arena *arena, struct datum *out,
                                      struct wr_error *err);
WR_MUST_USE enum wr_status int8_parse(const struct column_type *type, struct wr_slice text,
                                      struct wr_arena *arena, struct datum *out,
                                      struct wr_error *err);
WR_MUST_USE enum wr_status oid_parse(const struct column_type *type, struct wr_slice text,
                                     struct wr_arena *arena, struct datum *out,
                                     struct wr_error *err);

/* The text is kept, since it is the shortest that tells the value. */
WR_MUST_USE enum wr_status float4_parse(const struct column_type *type, struct wr_slice text,
                                        struct wr_arena *arena, struct datum *out,
                                        struct wr_error *err);
WR_MUST_USE enum wr_status float8_parse(const struct column_type *type, struct wr_slice text,
                                        struct wr_arena *arena, struct datum *out,
                                        struct wr_error *err);

#endif /* WR_DECODER_SCALAR_H */
