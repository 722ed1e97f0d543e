/* decoder/vector.h - pgvector's types, from their text. */
#ifndef WR_DECODER_VECTOR_H
#define WR_DECODER_VECTOR_H

#include "decoder/types.h"

/* vector, "[1,2.5]": io.debezium.data.DoubleVector, an array of doubles. */
WR_MUST_USE enum wr_status vector_parse(const struct column_type *type, struct wr_slice text,
                                        struct wr_arena *arena, struct datum *out,
                                        struct wr_error *err);
/* halfvec, likewise: io.debezium.data.FloatVector, an array of floats. */
WR_MUST_USE enum wr_status halfvec_parse(const struct column_type *type, struct wr_slice text,
                                         struct wr_arena *arena, struct datum *out,
                                         struct wr_error *err);
/*
 * sparsevec, "{1:1.5,3:2}/5": io.debezium.data.SparseDoubleVector, a struct of the dimensions and a
 * map from index to double. A map whose keys are no strings is an array of pairs, as in Connect's
 * JSON; they stay in the order of the text. Debezium has both as INT16: more is WR_REJECT.
 */
WR_MUST_USE enum wr_status sparsevec_parse(const struct column_type *type, struct wr_slice text,
                                           struct wr_arena *arena, struct datum *out,
                                           struct wr_error *err);

#endif /* WR_DECODER_VECTOR_H */
