#include "decoder/binary.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "decoder/scan.h"
#include "decoder/schema.h"
#include "decoder/schema_known.h"

enum { BITS_LENGTH_MAX = INT32_MAX }; /* what Java says of a varbit without a length */

static int hex_value(char c, char ten)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= ten && c <= ten + 5 ? c - ten + 10 : -1;
}

/* Inline, so that `ten` is a constant in either loop. */
static inline bool hex_decode(struct wr_slice hex, char ten, unsigned char *out)
{
    int bad = 0;

    for (size_t i = 0; i + 1 < hex.size; i += 2) {
        int high = hex_value(hex.data[i], ten);
        int low = hex_value(hex.data[i + 1], ten);
        bad |= high | low; /* negative as soon as one of them is */
        out[i / 2] = (unsigned char)((unsigned)high << 4 | (unsigned)low);
    }
    return bad >= 0 && hex.size % 2 == 0;
}

enum wr_status binary_decode_hex(const struct column_type *type, struct wr_slice text,
                                 struct wr_arena *arena, struct wr_slice *out, struct wr_error *err)
{
    unsigned char *bytes = wr_arena_alloc_raw(arena, text.size / 2 + 1, 1);

    if (bytes == NULL) {
        return type_no_room(type, err);
    }
    *out = (struct wr_slice){(const char *)bytes, text.size / 2};
    return hex_decode(text, 'A', bytes) ? WR_OK : type_reject(type, text, err);
}

static struct wr_slice hex_encode(struct wr_slice bytes, struct wr_arena *arena)
{
    char *text = wr_arena_alloc_raw(arena, bytes.size * 2 + 1, 1);

    if (text == NULL) {
        return (struct wr_slice){0};
    }
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char byte = (unsigned char)bytes.data[i];
        text[i * 2] = "0123456789abcdef"[byte >> 4];
        text[i * 2 + 1] = "0123456789abcdef"[byte & 15];
    }
    return (struct wr_slice){text, bytes.size * 2};
}

static struct wr_slice base64_encode(struct wr_slice bytes, bool is_url_safe,
                                     struct wr_arena *arena)
{
    static const char STANDARD[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    static const char URL_SAFE[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=";
    const char *alphabet = is_url_safe ? URL_SAFE : STANDARD;
    size_t size = (bytes.size + 2) / 3 * 4;
    char *text = wr_arena_alloc_raw(arena, size + 1, 1);

    if (text == NULL) {
        return (struct wr_slice){0};
    }
    char *p = text;
    for (size_t i = 0; i < bytes.size; i += 3) {
        size_t left = bytes.size - i;
        uint32_t group = (uint32_t)(unsigned char)bytes.data[i] << 16;
        group |= left > 1 ? (uint32_t)(unsigned char)bytes.data[i + 1] << 8 : 0;
        group |= left > 2 ? (uint32_t)(unsigned char)bytes.data[i + 2] : 0;
        *p++ = alphabet[group >> 18];
        *p++ = alphabet[group >> 12 & 63];
        *p++ = alphabet[left > 1 ? group >> 6 & 63 : 64];
        *p++ = alphabet[left > 2 ? group & 63 : 64];
    }
    return (struct wr_slice){text, size};
}

/* Bytes in the form that binary.handling.mode gives them. */
static enum wr_status set_binary(const struct column_type *type, struct wr_slice bytes,
                                 struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    *out = (struct datum){.kind = DATUM_STRING};
    switch (type->options->binary_handling_mode) {
    case BINARY_HANDLING_BYTES:
        *out = (struct datum){.kind = DATUM_BYTES, .as.bytes = bytes};
        return WR_OK;
    case BINARY_HANDLING_BASE64:
        out->as.bytes = base64_encode(bytes, false, arena);
        break;
    case BINARY_HANDLING_BASE64_URL_SAFE:
        out->as.bytes = base64_encode(bytes, true, arena);
        break;
    case BINARY_HANDLING_HEX:
        out->as.bytes = hex_encode(bytes, arena);
        break;
    }
    return out->as.bytes.data == NULL ? type_no_room(type, err) : WR_OK;
}

enum wr_status bytea_parse(const struct column_type *type, struct wr_slice text,
                           struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    if (text.size < 2 || memcmp(text.data, "\\x", 2) != 0) {
        return type_reject(type, text, err);
    }
    struct wr_slice hex = {text.data + 2, text.size - 2};
    unsigned char *bytes = wr_arena_alloc_raw(arena, hex.size / 2 + 1, 1);
    if (bytes == NULL) {
        return type_no_room(type, err);
    }
    if (!hex_decode(hex, 'a', bytes)) {
        return type_reject(type, text, err);
    }
    return set_binary(type, (struct wr_slice){(const char *)bytes, hex.size / 2}, arena, out, err);
}

enum wr_status opaque_parse(const struct column_type *type, struct wr_slice text,
                            struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    return set_binary(type, text, arena, out, err);
}

static const struct schema *binary_schema(const struct column_type *type)
{
    bool is_bytes = type->options->binary_handling_mode == BINARY_HANDLING_BYTES;

    return schema_known(is_bytes ? KNOWN_BYTES : KNOWN_STRING);
}

bool bytea_settle(struct column_type *type, struct wr_arena *arena)
{
    (void)arena;
    type->parse = bytea_parse;
    type->schema = binary_schema(type);
    return true;
}

bool opaque_settle(struct column_type *type, struct wr_arena *arena)
{
    (void)arena;
    type->parse = opaque_parse;
    type->schema = binary_schema(type);
    return true;
}

/* io.debezium.data.Bits, whose length is a parameter. */
static const struct schema *bits_schema(int32_t length, struct wr_arena *arena)
{
    struct schema *schema = schema_new(arena, SCHEMA_BYTES);
    struct schema_parameter *parameter = wr_arena_alloc(arena, 1, sizeof(*parameter));
    const char *value = wr_arena_printf(arena, "%" PRId32, length);

    if (schema == NULL || parameter == NULL || value == NULL) {
        return NULL;
    }
    *parameter = (struct schema_parameter){"length", value};
    schema->name = "io.debezium.data.Bits";
    schema->version = 1;
    schema->parameters = parameter;
    schema->parameter_count = 1;
    return schema;
}

bool bits_settle(struct column_type *type, struct wr_arena *arena)
{
    if (type->typmod == 1) {
        type->parse = bits_parse_bool;
        type->schema = schema_known(KNOWN_BOOLEAN);
    } else {
        type->parse = bits_parse_bytes;
        type->schema = bits_schema(type->typmod < 0 ? BITS_LENGTH_MAX : type->typmod, arena);
    }
    return type->schema != NULL;
}

static bool is_bit_string(struct wr_slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '0' && text.data[i] != '1') {
            return false;
        }
    }
    return true;
}

enum wr_status bits_parse_bool(const struct column_type *type, struct wr_slice text,
                               struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    (void)arena;
    if (text.size > 1 || !is_bit_string(text)) {
        return type_reject(type, text, err);
    }
    *out = (struct datum){.kind = DATUM_BOOL, .as.boolean = wr_slice_is(text, "1")};
    return WR_OK;
}

enum wr_status bits_parse_bytes(const struct column_type *type, struct wr_slice text,
                                struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    size_t size = (text.size + 7) / 8;
    unsigned char *bytes = wr_arena_alloc(arena, size + 1, 1);

    if (bytes == NULL) {
        return type_no_room(type, err);
    }
    if (!is_bit_string(text)) {
        return type_reject(type, text, err);
    }
    for (size_t i = 0; i < text.size; i++) {
        size_t place = text.size - 1 - i;
        bytes[place / 8] |= (unsigned char)((text.data[i] - '0') << place % 8);
    }
    while (size > 0 && bytes[size - 1] == 0) {
        size--;
    }
    *out = (struct datum){.kind = DATUM_BYTES, .as.bytes = {(const char *)bytes, size}};
    return WR_OK;
}
