/* codec/proto_value.h - one column's value as walrelay.v1.Value (proto/walrelay/v1/change.proto).
 */
#ifndef WR_CODEC_PROTO_VALUE_H
#define WR_CODEC_PROTO_VALUE_H

#include "base/buffer.h"
#include "base/status.h"
#include "router/routes/value.h"

struct wr_arena;

/* Appends the message's content. Statuses as route_value_json(). */
WR_MUST_USE enum wr_status proto_value(const struct route_value *value, const struct row_view *row,
                                       struct wr_arena *scratch, struct wr_buffer *out,
                                       enum value_state *state, struct wr_error *err);

#endif /* WR_CODEC_PROTO_VALUE_H */
