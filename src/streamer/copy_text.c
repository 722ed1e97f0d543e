/*
 * The text format of COPY: cells between tabs, "\N" for NULL, and a backslash before what would be
 * misread: \b \f \n \r \t \v for control characters, \\ for itself. A tab or a line feed of a
 * value never stands there as itself, so that cells are found before anything is unescaped.
 */
#include "streamer/copy_text.h"

#include <stdbool.h>
#include <string.h>

#include "decoder/pgoutput.h"

/* The character that "\c" stands for; '\0' for an escape that COPY does not write. */
static char unescaped(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'v':
        return '\v';
    case '\\':
        return '\\';
    default:
        return '\0';
    }
}

/* The new size; the text only gets shorter. SIZE_MAX when an escape is malformed. */
static size_t unescape(char *text, size_t size)
{
    char *escape = memchr(text, '\\', size);
    const char *const end = text + size;

    if (escape == NULL) {
        return size;
    }
    char *out = escape;
    for (const char *in = escape; in < end; in++) {
        if (*in != '\\') {
            *out++ = *in;
            continue;
        }
        in++;
        if (in == end || unescaped(*in) == '\0') {
            return SIZE_MAX;
        }
        *out++ = unescaped(*in);
    }
    return (size_t)(out - text);
}

static bool take_cell(char *text, size_t size, struct cell *out)
{
    if (size == 2 && memcmp(text, "\\N", 2) == 0) {
        *out = (struct cell){.kind = CELL_NULL};
        return true;
    }
    *out = (struct cell){.kind = CELL_TEXT, .text = {text, unescape(text, size)}};
    return out->text.size != SIZE_MAX;
}

enum wr_status copy_text_split(char *line, size_t size, struct cell *cells, uint16_t count,
                               struct wr_error *err)
{
    if (size == 0 || line[size - 1] != '\n') {
        return wr_fail(err, WR_FATAL, "copy_text", "a line without its end");
    }
    char *next = line;
    char *const end = line + size - 1;
    for (uint16_t i = 0; i < count; i++) {
        char *tab = memchr(next, '\t', (size_t)(end - next));
        bool is_last = i + 1 == count;
        if (is_last != (tab == NULL)) {
            return wr_fail(err, WR_FATAL, "copy_text", "%s than %u cells",
                           is_last ? "more" : "fewer", count);
        }
        char *cell_end = tab == NULL ? end : tab;
        if (!take_cell(next, (size_t)(cell_end - next), &cells[i])) {
            return wr_fail(err, WR_FATAL, "copy_text", "cell %u: a malformed escape", i + 1);
        }
        next = tab == NULL ? end : tab + 1;
    }
    if (next != end) {
        return wr_fail(err, WR_FATAL, "copy_text", "more than %u cells", count);
    }
    return WR_OK;
}
