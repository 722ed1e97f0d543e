/* codec/warehouse_proto.h - a warehouse row as walrelay.v1.Change (proto/walrelay/v1/change.proto).
 */
#ifndef WR_CODEC_WAREHOUSE_PROTO_H
#define WR_CODEC_WAREHOUSE_PROTO_H

#include "base/buffer.h"
#include "base/status.h"
#include "router/record.h"

struct wr_arena;

/* Statuses as route_value_json(). */
WR_MUST_USE enum wr_status warehouse_proto_write(struct wr_buffer *out, const struct record *record,
                                                 struct wr_arena *scratch, struct wr_error *err);

#endif /* WR_CODEC_WAREHOUSE_PROTO_H */
