/* decoder/postgis.h - PostGIS's geometry and geography. */
#ifndef WR_DECODER_POSTGIS_H
#define WR_DECODER_POSTGIS_H

#include "decoder/types.h"

/*
 * The hexadecimal EWKB that both print, as io.debezium.data.geometry.Geometry: a struct of the
 * bytes as they are (wkb) and the reference system that stands in their head (srid), or null.
 * WR_REJECT for what is not hexadecimal or has no whole head; the shape itself is not looked at.
 */
WR_MUST_USE enum wr_status postgis_parse(const struct column_type *type, struct wr_slice text,
                                         struct wr_arena *arena, struct datum *out,
                                         struct wr_error *err);

#endif /* WR_DECODER_POSTGIS_H */
