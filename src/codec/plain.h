/* codec/plain.h - values as plain text, as StringConverter and SimpleHeaderConverter write them. */
#ifndef WR_CODEC_PLAIN_H
#define WR_CODEC_PLAIN_H

#include "base/buffer.h"
#include "base/status.h"
#include "router/record.h"

struct wr_arena;

/* Java's toString() of the value: strings as they are, structures as Struct{a=1,b=x}. */
void plain_datum(struct wr_buffer *out, const struct datum *datum);
WR_MUST_USE enum wr_status plain_row(struct wr_buffer *out, const struct row_view *row,
                                     struct wr_arena *scratch, struct wr_error *err);

/* A header's text: as above, but bytes in base64 and structures as JSON. */
WR_MUST_USE enum wr_status plain_header(struct wr_buffer *out, const struct record_part *value,
                                        struct wr_arena *scratch, struct wr_error *err);

#endif /* WR_CODEC_PLAIN_H */
