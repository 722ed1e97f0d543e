#include "relay/encoder.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "codec/codec.h"
#include "config/config.h"
#include "router/change.h"

struct encoder {
    const struct config *config;
    struct codec *codec;
    struct wr_buffer key, value, headers;
};

struct encoder *encoder_new(const struct config *config)
{
    struct encoder *e = calloc(1, sizeof(*e));

    if (e == NULL) {
        abort();
    }
    e->config = config;
    e->codec = codec_new(config, WR_VERSION);
    wr_buffer_init(&e->key, WR_RECORD_SIZE_MAX);
    wr_buffer_init(&e->value, WR_RECORD_SIZE_MAX);
    wr_buffer_init(&e->headers, WR_RECORD_SIZE_MAX);
    return e;
}

void encoder_free(struct encoder *e)
{
    if (e == NULL) {
        return;
    }
    codec_free(e->codec);
    wr_buffer_done(&e->key);
    wr_buffer_done(&e->value);
    wr_buffer_done(&e->headers);
    free(e);
}

static void start(struct encoder *e, const struct record *record, struct encoded *out)
{
    wr_buffer_reset(&e->key);
    wr_buffer_reset(&e->value);
    wr_buffer_reset(&e->headers);
    out->record = (struct publisher_record){
        .topic = record->topic,
        .partition = record->partition,
        .timestamp_ms = record->timestamp_ms,
        .headers = out->headers,
    };
}

static void header_add(struct encoded *out, const char *name, size_t size, bool is_null)
{
    /* The place is filled in at the end: the buffer may still move. */
    out->headers[out->record.header_count++] =
        (struct publisher_header){.name = name, .value = {NULL, size}, .is_null = is_null};
}

static void header_add_number(struct encoder *e, struct encoded *out, const char *name,
                              uint64_t number)
{
    size_t begin = e->headers.size;

    wr_json_int(&e->headers, (int64_t)number);
    header_add(out, name, e->headers.size - begin, false);
}

static enum wr_status encode_headers(struct encoder *e, const struct record *record,
                                     struct wr_arena *scratch, struct encoded *out,
                                     struct wr_error *err)
{
    const struct record_position *position = record->source->position;

    for (size_t i = 0; i < record->header_count; i++) {
        size_t begin = e->headers.size;
        bool is_null = false;
        enum wr_status status =
            codec_header(e->codec, &record->headers[i], scratch, &e->headers, &is_null, err);
        if (status != WR_OK) {
            return status;
        }
        header_add(out, record->headers[i].name, e->headers.size - begin, is_null);
    }
    if (position != NULL && (record->route != NULL || e->config->extended_headers_enabled)) {
        header_add_number(e, out, "walrelay.lsn", position->version);
        header_add_number(e, out, "walrelay.seq", position->seq);
    }
    const char *next = e->headers.data;
    for (size_t i = 0; i < out->record.header_count; i++) {
        out->headers[i].value.data = next;
        next += out->headers[i].value.size;
    }
    return WR_OK;
}

enum wr_status encoder_encode(struct encoder *e, const struct record *record,
                              struct wr_arena *scratch, struct encoded *out, struct wr_error *err)
{
    struct publisher_record *r = &out->record;

    start(e, record, out);
    enum wr_status status = codec_key(e->codec, record, scratch, &e->key, &r->key_is_null, err);
    r->key = wr_buffer_slice(&e->key);
    if (status == WR_OK) {
        status = codec_value(e->codec, record, scratch, &e->value, &r->value_is_null, err);
    }
    r->value = wr_buffer_slice(&e->value);
    return status == WR_OK ? encode_headers(e, record, scratch, out, err) : status;
}
