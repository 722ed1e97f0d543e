/*
 * Debezium's SchemaNameAdjuster. It works on UTF-16 units, so that a character beyond U+FFFF is two
 * of them; avro replaces each by _, avro_unicode by _u and its hexadecimal digits, and the
 * underscore itself, too, which escapes there.
 */
#include "router/adjust.h"

#include <stdint.h>
#include <stdio.h>

#include "base/utf8.h"

static bool is_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_valid(enum name_adjustment_mode mode, enum adjusted_name kind, uint32_t c,
                     bool is_first)
{
    if (is_letter(c) || (c == '_' && mode == NAME_ADJUSTMENT_AVRO)) {
        return true;
    }
    return !is_first && (is_digit(c) || (c == '.' && kind == ADJUST_SCHEMA));
}

static void replace_unit(struct wr_buffer *out, enum name_adjustment_mode mode, uint32_t unit)
{
    char text[16];

    if (mode == NAME_ADJUSTMENT_AVRO) {
        wr_buffer_add_char(out, '_');
        return;
    }
    /* As there: two zeros before one or two digits, none before three. */
    (void)snprintf(text, sizeof(text), unit <= 0xff ? "_u00%x" : "_u%x", unit);
    wr_buffer_add_str(out, text);
}

static uint32_t decode(const char *bytes, struct wr_utf8 character)
{
    const unsigned char *b = (const unsigned char *)bytes;

    if (!character.is_valid) {
        return 0xfffd;
    }
    switch (character.size) {
    case 1:
        return b[0];
    case 2:
        return (b[0] & 0x1fU) << 6 | (b[1] & 0x3fU);
    case 3:
        return (b[0] & 0x0fU) << 12 | (b[1] & 0x3fU) << 6 | (b[2] & 0x3fU);
    default:
        return (b[0] & 0x07U) << 18 | (b[1] & 0x3fU) << 12 | (b[2] & 0x3fU) << 6 | (b[3] & 0x3fU);
    }
}

static void replace(struct wr_buffer *out, enum name_adjustment_mode mode, uint32_t c)
{
    if (c > 0xffff) {
        replace_unit(out, mode, 0xd800 + ((c - 0x10000) >> 10));
        replace_unit(out, mode, 0xdc00 + ((c - 0x10000) & 0x3ff));
    } else {
        replace_unit(out, mode, c);
    }
}

void adjust_name(struct wr_buffer *out, enum name_adjustment_mode mode, enum adjusted_name kind,
                 struct wr_slice name)
{
    if (mode == NAME_ADJUSTMENT_NONE) {
        wr_buffer_add_slice(out, name);
        return;
    }
    for (size_t i = 0; i < name.size;) {
        struct wr_utf8 character = wr_utf8_read(name.data + i, name.size - i);
        uint32_t c = decode(name.data + i, character);
        if (is_valid(mode, kind, c, i == 0)) {
            wr_buffer_add_char(out, (char)c);
        } else {
            replace(out, mode, c);
            if (i == 0 && is_digit(c) && mode == NAME_ADJUSTMENT_AVRO) {
                wr_buffer_add_char(out, (char)c); /* so that 1st and 2st stay two names */
            }
        }
        i += character.size;
    }
}
