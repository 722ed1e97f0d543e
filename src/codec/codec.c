#include "codec/codec.h"

#include <stdlib.h>

#include "codec/json.h"
#include "codec/json_schema.h"
#include "codec/plain.h"
#include "codec/warehouse_json.h"
#include "codec/warehouse_proto.h"
#include "config/config.h"
#include "router/routes/route.h"
#include "router/tree.h"

/* How keys, values or headers are written. */
struct conversion_choice {
    enum converter_kind converter;
    enum converter_kind delegate; /* BinaryDataConverter's, for what is not bytes */
    bool has_schemas;             /* whatever writes JSON writes its schema, too */
};

struct codec {
    struct conversion_choice key;
    struct conversion_choice value;
    struct conversion_choice header;
    bool headers_are_simple; /* SimpleHeaderConverter */
    struct json_envelope envelope;
    struct json_schemas *schemas; /* NULL: none are written */
};

static enum converter_kind header_converter(const struct config *config)
{
    switch (config->header_converter) {
    case HEADER_CONVERTER_SIMPLE:
    case HEADER_CONVERTER_STRING:
        return CONVERTER_STRING;
    case HEADER_CONVERTER_JSON:
        return CONVERTER_JSON;
    case HEADER_CONVERTER_BYTE_ARRAY:
        return CONVERTER_BYTE_ARRAY;
    }
    abort();
}

struct codec *codec_new(const struct config *config, const char *version)
{
    struct codec *codec = calloc(1, sizeof(*codec));

    if (codec == NULL) {
        abort();
    }
    codec->key = (struct conversion_choice){config->key_converter, config->key_delegate_converter,
                                            config->key_schemas_enable};
    codec->value = (struct conversion_choice){
        config->value_converter, config->value_delegate_converter, config->value_schemas_enable};
    codec->header = (struct conversion_choice){header_converter(config), CONVERTER_DEFAULT,
                                               config->header_schemas_enable};
    codec->headers_are_simple = config->header_converter == HEADER_CONVERTER_SIMPLE;
    if (codec->key.has_schemas || codec->value.has_schemas || codec->header.has_schemas) {
        codec->schemas = json_schemas_new();
    }
    json_envelope_init(&codec->envelope, config, version);
    return codec;
}

void codec_free(struct codec *codec)
{
    if (codec == NULL) {
        return;
    }
    json_envelope_done(&codec->envelope);
    json_schemas_free(codec->schemas);
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

static enum wr_status payload_to_json(const struct conversion *c, struct wr_error *err)
{
    switch (c->part->kind) {
    case PART_DATUM:
        json_datum(c->out, &c->part->as.datum);
        return WR_OK;
    case PART_ROW:
        return json_row(c->out, &c->part->as.row, c->scratch, err);
    case PART_ENVELOPE:
    case PART_MESSAGE:
        return json_envelope_write(&c->codec->envelope, c->out, c->record, c->scratch, err);
    case PART_NULL:
    case PART_VERBATIM:
    case PART_DOCUMENT:
    case PART_WAREHOUSE:
        break;
    }
    abort();
}

/* A typed null is the text null here, as a schema stands behind it in Connect. */
static enum wr_status to_json(const struct conversion *c, struct wr_error *err)
{
    if (c->part->kind == PART_NULL) {
        *c->is_null = true;
        return WR_OK;
    }
    if (!c->choice->has_schemas) {
        return payload_to_json(c, err);
    }
    WR_BUFFER_LITERAL(c->out, "{\"schema\":");
    json_schemas_add(c->codec->schemas, c->out, c->part->schema);
    WR_BUFFER_LITERAL(c->out, ",\"payload\":");
    enum wr_status status = payload_to_json(c, err);
    wr_buffer_add_char(c->out, '}');
    return status;
}

static bool is_typed_null(const struct record_part *part)
{
    return part->kind == PART_NULL ||
           (part->kind == PART_DATUM && part->as.datum.kind == DATUM_NULL);
}

static enum wr_status to_string(const struct conversion *c, struct wr_error *err)
{
    struct record_part tree = *c->part;

    if (is_typed_null(c->part)) {
        *c->is_null = true;
        return WR_OK;
    }
    if (tree.kind == PART_ROW) {
        return plain_row(c->out, &tree.as.row, c->scratch, err);
    }
    enum wr_status status = part_expand(c->record, &tree, c->scratch, err);
    if (status == WR_OK) {
        plain_datum(c->out, &tree.as.datum);
    }
    return status;
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

static bool is_of_route(const struct record_part *part)
{
    return part->kind >= PART_VERBATIM;
}

/* What a route made has its own form, whatever the converters are. */
static enum wr_status to_route(const struct conversion *c, struct wr_error *err)
{
    const struct record_part *part = c->part;

    if (part->kind == PART_VERBATIM) {
        wr_buffer_add_slice(c->out, part->as.verbatim);
        return WR_OK;
    }
    if (part->kind == PART_DOCUMENT) {
        return document_write(part->as.document.shape, &part->as.document.row, c->scratch, c->out,
                              err);
    }
    return part->as.warehouse.shape->format == ROUTE_FORMAT_JSON
               ? warehouse_json_write(c->out, c->record, c->scratch, err)
               : warehouse_proto_write(c->out, c->record, c->scratch, err);
}

static enum wr_status to_configured(const struct conversion *c, struct wr_error *err)
{
    enum wr_status status = WR_OK;

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
    return status;
}

static enum wr_status convert(const struct conversion *c, struct wr_error *err)
{
    *c->is_null = false;
    enum wr_status status = is_of_route(c->part) ? to_route(c, err) : to_configured(c, err);
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

enum wr_status codec_header(struct codec *codec, const struct record_header *header,
                            struct wr_arena *scratch, struct wr_buffer *out, bool *is_null,
                            struct wr_error *err)
{
    struct conversion c = {codec, &codec->header, NULL, &header->value, scratch, out, is_null};
    enum wr_status status = WR_OK;

    *is_null = codec->headers_are_simple && is_typed_null(&header->value);
    if (*is_null) {
        return WR_OK;
    }
    if (codec->headers_are_simple && !is_of_route(&header->value)) {
        status = plain_header(out, &header->value, scratch, err);
    } else {
        status = convert(&c, err);
    }
    if (out->failed) {
        return wr_fail(err, WR_REJECT, "codec", "header %s is too large", header->name);
    }
    if (status != WR_OK) {
        struct wr_error inner = *err;
        return wr_fail(err, WR_REJECT, "codec", "header %s: %s", header->name, inner.text);
    }
    return WR_OK;
}
