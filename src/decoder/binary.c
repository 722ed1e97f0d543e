#include "decoder/binary.h"

#include <string.h>

#include "base/arena.h"
#include "decoder/scan.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hex_decode(struct wr_slice hex, unsigned char *out)
{
    int bad = 0;

    for (size_t i = 0; i + 1 < hex.size; i += 2) {
        int high = hex_value(hex.data[i]);
        int low = hex_value(hex.data[i + 1]);
        bad |= high | low; /* negative as soon as one of them is */
        out[i / 2] = (unsigned char)((unsigned)high << 4 | (unsigned)low);
    }
    return bad >= 0 && hex.size % 2 == 0;
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
    if (!hex_decode(hex, bytes)) {
        return type_reject(type, text, err);
    }
    return set_binary(type, (struct wr_slice){(const char *)bytes, hex.size / 2}, arena, out, err);
}

enum wr_status opaque_parse(const struct column_type *type, struct wr_slice text,
                            struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    return set_binary(type, text, arena, out, err);
}

void bits_settle(struct column_type *type)
{
    type->parse = type->typmod == 1 ? bits_parse_bool : bits_parse_bytes;
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
