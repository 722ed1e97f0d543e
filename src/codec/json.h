/* codec/json.h - Kafka Connect's JsonConverter with schemas.enable=false, byte for byte. */
#ifndef WR_CODEC_JSON_H
#define WR_CODEC_JSON_H

#include "base/buffer.h"
#include "base/status.h"
#include "router/record.h"

struct config;
struct wr_arena;

/* What envelopes share: constant text, and text that changes only with the transaction. */
struct json_envelope {
    struct wr_buffer constant;   /* "source":{ … up to the value of ts_ms */
    struct wr_buffer database;   /* the database's name, quoted */
    struct wr_buffer head;       /* ts_ms … up to the change's own LSN in sequence */
    struct wr_buffer middle;     /* the rest of sequence, ts_us, ts_ns */
    struct wr_buffer tail;       /* ts_ms, ts_us, ts_ns of the envelope */
    struct change_source cached; /* what head and middle were made from */
    int64_t tail_ns;             /* what tail was made from */
};

void json_envelope_init(struct json_envelope *e, const struct config *config, const char *version);
void json_envelope_done(struct json_envelope *e);

void json_datum(struct wr_buffer *out, const struct datum *datum);
/* The row's columns as an object. Statuses as row_datum(). */
WR_MUST_USE enum wr_status json_row(struct wr_buffer *out, const struct row_view *row,
                                    struct wr_arena *scratch, struct wr_error *err);
/* `record->value`, which is an envelope or a logical message. */
WR_MUST_USE enum wr_status json_envelope_write(struct json_envelope *e, struct wr_buffer *out,
                                               const struct record *record,
                                               struct wr_arena *scratch, struct wr_error *err);

#endif /* WR_CODEC_JSON_H */
