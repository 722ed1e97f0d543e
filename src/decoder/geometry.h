/* decoder/geometry.h - PostgreSQL's geometric types. */
#ifndef WR_DECODER_GEOMETRY_H
#define WR_DECODER_GEOMETRY_H

#include "decoder/types.h"

/* lseg, path, box, polygon, line and circle, but not point. */
bool geometry_is_shape(uint32_t oid);

/* io.debezium.data.geometry.Point: x, y, their little-endian WKB, and no srid. */
WR_MUST_USE enum wr_status point_parse(const struct column_type *type, struct wr_slice text,
                                       struct wr_arena *arena, struct datum *out,
                                       struct wr_error *err);

/*
 * A shape under include.unknown.datatypes: the bytes of its text, its numbers spelled as Java's
 * Double.toString() does ("(1.0,1.0),(0.0,0.0)"), since Debezium prints what its driver had parsed.
 */
WR_MUST_USE enum wr_status shape_parse(const struct column_type *type, struct wr_slice text,
                                       struct wr_arena *arena, struct datum *out,
                                       struct wr_error *err);

#endif /* WR_DECODER_GEOMETRY_H */
