#include "codec/codec.h"

#include <stdlib.h>

#include "codec/json.h"
#include "codec/plain.h"
#include "config/config.h"

/* How keys, or values, are written. */
struct conversion_choice {
    enum converter_kind converter;
    enum converter_kind delegate; /* BinaryDataConverter's, for what is not bytes */
};

struct codec {
    struct conversion_choice key;
    struct conversion_choice value;
    struct json_envelope envelope;
};

struct codec *codec_new(const struct config *config, const char *version)
{
    struct codec *codec = calloc(1, sizeof(*codec));

    if (codec == NULL) {
        abort();
    }
    codec->key.converter = config->key_converter;
    codec->key.delegate = config->key_delegate_converter;
    codec->value.converter = config->value_converter;
    codec->value.delegate = config->value_delegate_converter;
    json_envelope_init(&codec->envelope, config, version);
    return codec;
}

void codec_free(struct codec *codec)
{
    if (codec == NULL) {
        return;
    }
    json_envelope_done(&codec->envelope);
    free(codec);
}

/* One key or value on its way to bytes. */
struct conversion {
    struct codec *codec;
    const struct conversion_choice *choice;
    const struct record *record;
    const struct record_part *part;
    struct wr_arena *scratch;
    struct wr_buffer *out;
    bool *is_null;
};

/* A typed null is the text null here, as a schema stands behind it in Connect. */
static enum wr_status to_json(const struct conversion *c, struct wr_error *err)
{
    switch (c->part->kind) {
    case PART_NULL:
        *c->is_null = true;
        return WR_OK;
    case PART_DATUM:
        json_datum(c->out, &c->part->as.datum);
        return WR_OK;
    case PART_ROW:
        return json_row(c->out, &c->part->as.row, c->scratch, err);
    case PART_ENVELOPE:
    case PART_MESSAGE:
        return json_envelope_write(&c->codec->envelope, c->out, c->record, c->scratch, err);
    }
    abort();
}

static bool is_typed_null(const struct record_part *part)
{
    return part->kind == PART_NULL ||
           (part->kind == PART_DATUM && part->as.datum.kind == DATUM_NULL);
}

static enum wr_status to_string(const struct conversion *c, struct wr_error *err)
{
    if (is_typed_null(c->part)) {
        *c->is_null = true;
        return WR_OK;
    }
    switch (c->part->kind) {
    case PART_DATUM:
        plain_datum(c->out, &c->part->as.datum);
        return WR_OK;
    case PART_ROW:
        return plain_row(c->out, &c->part->as.row, c->scratch, err);
    case PART_NULL:
    case PART_ENVELOPE:
    case PART_MESSAGE:
        break;
    }
    return wr_fail(err, WR_REJECT, "codec",
                   "StringConverter writes no change events: set value.converter to JsonConverter");
}

static bool is_bytes(const struct record_part *part)
{
    return part->kind == PART_DATUM && part->as.datum.kind == DATUM_BYTES;
}

static enum wr_status to_bytes(const struct conversion *c, struct wr_error *err)
{
    if (is_typed_null(c->part)) {
        *c->is_null = true;
    } else if (is_bytes(c->part)) {
        wr_buffer_add_slice(c->out, c->part->as.datum.as.bytes);
    } else {
        return wr_fail(err, WR_REJECT, "codec",
                       "ByteArrayConverter writes only bytes, and this value is of another type");
    }
    return WR_OK;
}

/* Without a converter: text and bytes verbatim, everything with an inner structure as JSON. */
static enum wr_status to_readable(const struct conversion *c, struct wr_error *err)
{
    if (is_typed_null(c->part) || is_bytes(c->part)) {
        return to_bytes(c, err);
    }
    if (c->part->kind == PART_DATUM && c->part->as.datum.kind != DATUM_STRUCT &&
        c->part->as.datum.kind != DATUM_ARRAY) {
        plain_datum(c->out, &c->part->as.datum);
        return WR_OK;
    }
    return to_json(c, err);
}

/* BinaryDataConverter writes bytes as they are, and leaves the rest to its delegate. */
static enum converter_kind converter_for(const struct conversion *c)
{
    const struct conversion_choice *choice = c->choice;
    bool is_delegated =
        choice->converter == CONVERTER_BINARY_DATA && !is_typed_null(c->part) && !is_bytes(c->part);

    return is_delegated ? choice->delegate : choice->converter;
}

static enum wr_status convert(const struct conversion *c, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    *c->is_null = false;
    switch (converter_for(c)) {
    case CONVERTER_DEFAULT:
        status = to_readable(c, err);
        break;
    case CONVERTER_JSON:
        status = to_json(c, err);
        break;
    case CONVERTER_STRING:
        status = to_string(c, err);
        break;
    case CONVERTER_BYTE_ARRAY:
    case CONVERTER_BINARY_DATA:
        status = to_bytes(c, err);
        break;
    }
    if (status == WR_OK && c->out->failed) {
        return wr_fail(err, WR_REJECT, "codec", "larger than WR_RECORD_SIZE_MAX (%zu bytes)",
                       c->out->size_max);
    }
    return status;
}

enum wr_status codec_key(struct codec *codec, const struct record *record, struct wr_arena *scratch,
                         struct wr_buffer *out, bool *is_null, struct wr_error *err)
{
    struct conversion c = {codec, &codec->key, record, &record->key, scratch, out, is_null};

    return convert(&c, err);
}

enum wr_status codec_value(struct codec *codec, const struct record *record,
                           struct wr_arena *scratch, struct wr_buffer *out, bool *is_null,
                           struct wr_error *err)
{
    struct conversion c = {codec, &codec->value, record, &record->value, scratch, out, is_null};

    return convert(&c, err);
}

enum wr_status codec_header(const struct record_header *header, struct wr_arena *scratch,
                            struct wr_buffer *out, bool *is_null, struct wr_error *err)
{
    *is_null = is_typed_null(&header->value);
    if (*is_null) {
        return WR_OK;
    }
    enum wr_status status = plain_header(out, &header->value, scratch, err);
    if (status == WR_OK && out->failed) {
        return wr_fail(err, WR_REJECT, "codec", "header %s is too large", header->name);
    }
    return status;
}
