/* codec/codec.h - a record's key, value and headers as the bytes that Kafka gets. */
#ifndef WR_CODEC_CODEC_H
#define WR_CODEC_CODEC_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/status.h"
#include "router/record.h"

struct codec;
struct config;
struct wr_arena;

/* `version` is what `source.version` says. */
struct codec *codec_new(const struct config *config, const char *version);
void codec_free(struct codec *codec); /* NULL is allowed */

/*
 * Append to `out`, or set `is_null` and append nothing, as key.converter, value.converter and
 * header.converter write the record. WR_REJECT: the converter cannot write this kind of value, a
 * column has no right form, or the result is larger than `out` may be; what was appended is then
 * void.
 */
WR_MUST_USE enum wr_status codec_key(struct codec *codec, const struct record *record,
                                     struct wr_arena *scratch, struct wr_buffer *out, bool *is_null,
                                     struct wr_error *err);
WR_MUST_USE enum wr_status codec_value(struct codec *codec, const struct record *record,
                                       struct wr_arena *scratch, struct wr_buffer *out,
                                       bool *is_null, struct wr_error *err);
WR_MUST_USE enum wr_status codec_header(struct codec *codec, const struct record_header *header,
                                        struct wr_arena *scratch, struct wr_buffer *out,
                                        bool *is_null, struct wr_error *err);

#endif /* WR_CODEC_CODEC_H */
