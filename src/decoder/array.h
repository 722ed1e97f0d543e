/* decoder/array.h - arrays of any type and any number of dimensions. */
#ifndef WR_DECODER_ARRAY_H
#define WR_DECODER_ARRAY_H

#include "decoder/types.h"

/*
 * "{1,NULL,{2}}" with quoted elements, and with bounds before it ("[0:1]={1,2}"), which are
 * dropped. More dimensions become arrays of arrays. Elements are parsed by type->element.
 */
WR_MUST_USE enum wr_status array_parse(const struct column_type *type, struct wr_slice text,
                                       struct wr_arena *arena, struct datum *out,
                                       struct wr_error *err);

#endif /* WR_DECODER_ARRAY_H */
