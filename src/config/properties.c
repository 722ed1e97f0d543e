#include "config/properties.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/*
 * A logical line is one or more natural lines: one whose end is escaped by a backslash goes on
 * behind the leading blanks of the next. Only an unescaped '=', ':' or blank ends a key, so that
 * escapes are resolved while reading, a glyph at a time.
 */
enum glyph_kind { GLYPH_END, GLYPH_PLAIN, GLYPH_ESCAPED };

struct glyph {
    enum glyph_kind kind;
    char bytes[4]; /* UTF-8, or one byte of it */
    size_t size;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Size of the UTF-8 sequence at `bytes`, 0 when there is none. */
static size_t utf8_size(const unsigned char *bytes, size_t left)
{
    size_t size = bytes[0] < 0x80 ? 1 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;

    if (size == 1) {
        return 1;
    }
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || size > left) {
        return 0;
    }
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_overlong =
        (bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xf0 && bytes[1] < 0x90);
    bool is_surrogate = bytes[0] == 0xed && bytes[1] > 0x9f;
    bool is_beyond = bytes[0] == 0xf4 && bytes[1] > 0x8f;
    return is_overlong || is_surrogate || is_beyond ? 0 : size;
}

static bool is_utf8(struct wr_slice text)
{
    const unsigned char *bytes = (const unsigned char *)text.data;
    size_t at = 0;

    while (at < text.size) {
        size_t size = utf8_size(bytes + at, text.size - at);
        if (size == 0) {
            return false;
        }
        at += size;
    }
    return true;
}

static struct glyph glyph_make(enum glyph_kind kind, uint32_t code)
{
    struct glyph g = {.kind = kind};

    if (code < 0x80) {
        g.bytes[g.size++] = (char)code;
        return g;
    }
    if (code < 0x800) {
        g.bytes[g.size++] = (char)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            g.bytes[g.size++] = (char)(0xe0 | code >> 12);
        } else {
            g.bytes[g.size++] = (char)(0xf0 | code >> 18);
            g.bytes[g.size++] = (char)(0x80 | (code >> 12 & 0x3f));
        }
        g.bytes[g.size++] = (char)(0x80 | (code >> 6 & 0x3f));
    }
    g.bytes[g.size++] = (char)(0x80 | (code & 0x3f));
    return g;
}

/* One byte of the file: itself in UTF-8, a whole character in ISO-8859-1. */
static struct glyph glyph_take(struct properties_reader *r, enum glyph_kind kind)
{
    unsigned char byte = (unsigned char)*r->next++;

    if (byte >= 0x80 && !r->is_latin1) {
        return (struct glyph){.kind = kind, .bytes = {(char)byte}, .size = 1};
    }
    return glyph_make(kind, byte);
}

/* CR, LF or both are one line end. */
static void take_line_end(struct properties_reader *r)
{
    char first = *r->next++;

    if (first == '\r' && r->next < r->end && *r->next == '\n') {
        r->next++;
    }
    r->next_line++;
}

static void skip_blanks(struct properties_reader *r)
{
    while (r->next < r->end && is_blank(*r->next)) {
        r->next++;
    }
}

/* The four digits behind "\u". False when they are not there. */
static bool take_code_unit(struct properties_reader *r, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = r->next < r->end && *r->next != '\0' ? strchr(digits, *r->next) : NULL;
        if (digit == NULL) {
            return false;
        }
        uint32_t value = (uint32_t)(digit - digits);
        *unit = *unit << 4 | (value < 16 ? value : value - 6);
        r->next++;
    }
    return true;
}

/* Java's chars are UTF-16: a character beyond U+FFFF is written as two escapes. */
static struct glyph take_unicode(struct properties_reader *r)
{
    uint32_t code = 0;
    uint32_t low = 0;

    if (!take_code_unit(r, &code)) {
        r->problem = "\\u needs four hexadecimal digits";
        return glyph_make(GLYPH_ESCAPED, '?');
    }
    if (code >= 0xd800 && code <= 0xdbff && r->end - r->next >= 2 &&
        memcmp(r->next, "\\u", 2) == 0) {
        r->next += 2;
        bool is_pair = take_code_unit(r, &low) && low >= 0xdc00 && low <= 0xdfff;
        code = is_pair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : code;
    }
    if (code == 0 || (code >= 0xd800 && code <= 0xdfff)) {
        r->problem = code == 0 ? "\\u0000 cannot stand in a value"
                               : "\\u escape is one half of a surrogate pair";
        return glyph_make(GLYPH_ESCAPED, '?');
    }
    return glyph_make(GLYPH_ESCAPED, code);
}

static struct glyph take_escape(struct properties_reader *r)
{
    switch (*r->next) {
    case 't':
        r->next++;
        return glyph_make(GLYPH_ESCAPED, '\t');
    case 'n':
        r->next++;
        return glyph_make(GLYPH_ESCAPED, '\n');
    case 'r':
        r->next++;
        return glyph_make(GLYPH_ESCAPED, '\r');
    case 'f':
        r->next++;
        return glyph_make(GLYPH_ESCAPED, '\f');
    case 'u':
        r->next++;
        return take_unicode(r);
    default:
        return glyph_take(r, GLYPH_ESCAPED);
    }
}

/* The next glyph of the logical line, and GLYPH_END behind its last. */
static struct glyph take_glyph(struct properties_reader *r)
{
    while (r->next < r->end) {
        if (is_line_end(*r->next)) {
            take_line_end(r);
            break;
        }
        if (*r->next != '\\') {
            return glyph_take(r, GLYPH_PLAIN);
        }
        r->next++;
        if (r->next == r->end) {
            break; /* Java drops a backslash at the end of the file */
        }
        if (!is_line_end(*r->next)) {
            return take_escape(r);
        }
        take_line_end(r);
        skip_blanks(r);
    }
    return (struct glyph){.kind = GLYPH_END};
}

/* Skips blank lines and comments. False when nothing else comes. */
static bool find_property(struct properties_reader *r)
{
    for (;;) {
        skip_blanks(r);
        if (r->next == r->end) {
            return false;
        }
        if (is_line_end(*r->next)) {
            take_line_end(r);
            continue;
        }
        if (*r->next != '#' && *r->next != '!') {
            return true;
        }
        while (r->next < r->end && !is_line_end(*r->next)) {
            r->next++;
        }
    }
}

static bool is_separator(const struct glyph *g)
{
    return g->kind == GLYPH_PLAIN && (g->bytes[0] == '=' || g->bytes[0] == ':');
}

static bool is_plain_blank(const struct glyph *g)
{
    return g->kind == GLYPH_PLAIN && is_blank(g->bytes[0]);
}

bool properties_next(struct properties_reader *r)
{
    r->problem = NULL;
    wr_buffer_reset(&r->key);
    wr_buffer_reset(&r->value);
    if (!find_property(r)) {
        return false;
    }
    r->line = r->next_line;
    struct glyph g = take_glyph(r);
    while (g.kind != GLYPH_END && !is_separator(&g) && !is_plain_blank(&g)) {
        wr_buffer_add(&r->key, g.bytes, g.size);
        g = take_glyph(r);
    }
    /* One separator, with blanks around it, belongs to neither. */
    bool is_separated = false;
    while (is_plain_blank(&g) || (!is_separated && is_separator(&g))) {
        is_separated = is_separated || is_separator(&g);
        g = take_glyph(r);
    }
    while (g.kind != GLYPH_END) {
        wr_buffer_add(&r->value, g.bytes, g.size);
        g = take_glyph(r);
    }
    wr_buffer_add_char(&r->key, '\0');
    wr_buffer_add_char(&r->value, '\0');
    assert(!r->key.failed &&
           !r->value.failed); /* properties_open() sized them for the whole text */
    return true;
}

void properties_open(struct properties_reader *r, struct wr_slice text)
{
    *r = (struct properties_reader){.next = text.data, .end = text.data, .next_line = 1};
    if (text.size > 0) {
        r->end += text.size;
        r->is_latin1 = !is_utf8(text);
    }
    /* A byte of ISO-8859-1 may become two, and a NUL ends it. */
    wr_buffer_init(&r->key, 2 * text.size + 1);
    wr_buffer_init(&r->value, 2 * text.size + 1);
}

void properties_close(struct properties_reader *r)
{
    wr_buffer_done(&r->key);
    wr_buffer_done(&r->value);
}
