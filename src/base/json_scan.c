#include "base/json_scan.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/json_write.h"
#include "base/utf8.h"

/* What stands next in the text. */
enum step {
    STEP_VALUE, /* a value must follow */
    STEP_AFTER, /* a value has just ended */
    STEP_WRONG,
};

/*
 * The containers around the place are a row of their closing brackets, so that depth costs a byte
 * each and no stack. `out` is NULL when the text is only checked.
 */
struct scanner {
    const char *next;
    const char *end;
    struct wr_buffer *out;
    struct wr_json_compact_options options;
    size_t member_start; /* where the last member's comma or key begins in `out` */
    size_t depth;
    char closers[WR_JSON_DEPTH_MAX];
};

static void emit(struct scanner *s, const char *bytes, size_t size)
{
    if (s->out != NULL) {
        wr_buffer_add(s->out, bytes, size);
    }
}

/* The next byte; 0, which no rule allows outside strings, at the end. */
static char peek(const struct scanner *s)
{
    return s->next < s->end ? *s->next : '\0';
}

static bool take(struct scanner *s, char c)
{
    if (s->next == s->end || *s->next != c) {
        return false;
    }
    s->next++;
    return true;
}

static void skip_blanks(struct scanner *s)
{
    while (s->next < s->end &&
           (*s->next == ' ' || *s->next == '\t' || *s->next == '\n' || *s->next == '\r')) {
        s->next++;
    }
}

static size_t take_digits(struct scanner *s)
{
    const char *start = s->next;

    while (peek(s) >= '0' && peek(s) <= '9') {
        s->next++;
    }
    return (size_t)(s->next - start);
}

static enum step scan_number(struct scanner *s)
{
    const char *start = s->next;

    (void)take(s, '-');
    if (!take(s, '0') && take_digits(s) == 0) {
        return STEP_WRONG;
    }
    if (take(s, '.') && take_digits(s) == 0) {
        return STEP_WRONG;
    }
    if (take(s, 'e') || take(s, 'E')) {
        (void)(take(s, '+') || take(s, '-'));
        if (take_digits(s) == 0) {
            return STEP_WRONG;
        }
    }
    emit(s, start, (size_t)(s->next - start));
    return STEP_AFTER;
}

static bool take_word(struct scanner *s, const char *word)
{
    size_t size = strlen(word);

    if ((size_t)(s->end - s->next) < size || memcmp(s->next, word, size) != 0) {
        return false;
    }
    s->next += size;
    return true;
}

static enum step scan_word(struct scanner *s, const char *word)
{
    if (!take_word(s, word)) {
        return STEP_WRONG;
    }
    emit(s, word, strlen(word));
    return STEP_AFTER;
}

/* Characters up to a quote, a backslash or the end; false when they are not allowed. */
static bool scan_run(struct scanner *s)
{
    const char *start = s->next;
    bool is_ascii = true;

    while (s->next < s->end && *s->next != '"' && *s->next != '\\') {
        struct wr_utf8 read = {.size = 1, .is_valid = (uint8_t)*s->next >= ' '};
        if ((uint8_t)*s->next >= 0x80) {
            read = wr_utf8_read(s->next, (size_t)(s->end - s->next));
            is_ascii = false;
        }
        if (!read.is_valid) {
            return false;
        }
        s->next += read.size;
    }
    if (is_ascii) {
        emit(s, start, (size_t)(s->next - start));
    } else if (s->out != NULL) {
        wr_json_escaped(s->out, (struct wr_slice){start, (size_t)(s->next - start)});
    }
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One UTF-16 unit goes out as its character; half of a pair stays an escape, as does its twin. */
static void emit_unit(struct scanner *s, uint32_t unit)
{
    static const char hex[] = "0123456789ABCDEF";

    if (unit >= 0xd800 && unit <= 0xdfff) {
        const char escape[] = {
            '\\', 'u', hex[unit >> 12], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]};
        emit(s, escape, sizeof(escape));
        return;
    }
    char utf8[3] = {(char)unit};
    size_t size = 1;
    if (unit >= 0x800) {
        utf8[0] = (char)(0xe0 | unit >> 12);
        utf8[1] = (char)(0x80 | (unit >> 6 & 0x3f));
        utf8[2] = (char)(0x80 | (unit & 0x3f));
        size = 3;
    } else if (unit >= 0x80) {
        utf8[0] = (char)(0xc0 | unit >> 6);
        utf8[1] = (char)(0x80 | (unit & 0x3f));
        size = 2;
    }
    if (s->out != NULL) {
        wr_json_escaped(s->out, (struct wr_slice){utf8, size});
    }
}

/* The four digits of \uXXXX. */
static bool scan_unit(struct scanner *s)
{
    uint32_t unit = 0;

    for (int i = 0; i < 4; i++) {
        int digit = hex_value(peek(s));
        if (digit < 0) {
            return false;
        }
        unit = unit << 4 | (uint32_t)digit;
        s->next++;
    }
    emit_unit(s, unit);
    return true;
}

/* What follows a backslash. */
static bool scan_escape(struct scanner *s)
{
    char c = peek(s);

    if (c == '\0' || strchr("\"\\/bfnrtu", c) == NULL) {
        return false;
    }
    s->next++;
    if (c == 'u') {
        return scan_unit(s);
    }
    const char escape[] = {'\\', c};
    emit(s, c == '/' ? "/" : escape, c == '/' ? 1 : 2);
    return true;
}

static enum step scan_string(struct scanner *s)
{
    if (!take(s, '"')) {
        return STEP_WRONG;
    }
    emit(s, "\"", 1);
    while (scan_run(s)) {
        if (take(s, '"')) {
            emit(s, "\"", 1);
            return STEP_AFTER;
        }
        if (!take(s, '\\') || !scan_escape(s)) {
            return STEP_WRONG;
        }
    }
    return STEP_WRONG;
}

/*
 * A comma goes before all but a container's first item. Whether this is the first shows in what
 * was written: only there does the text end in the opening bracket, because no value ends so.
 */
static void emit_comma(struct scanner *s)
{
    if (s->out == NULL || s->out->size == 0) {
        return;
    }
    char last = s->out->data[s->out->size - 1];
    if (last != '{' && last != '[') {
        emit(s, ",", 1);
    }
}

static bool is_in_object(const struct scanner *s)
{
    return s->depth > 0 && s->closers[s->depth - 1] == '}';
}

/* Goes to the value of the next item: past the key in an object. */
static enum step scan_item(struct scanner *s)
{
    if (s->out != NULL) {
        s->member_start = s->out->size;
    }
    emit_comma(s);
    if (!is_in_object(s)) {
        return STEP_VALUE;
    }
    skip_blanks(s);
    if (scan_string(s) == STEP_WRONG) {
        return STEP_WRONG;
    }
    skip_blanks(s);
    if (!take(s, ':')) {
        return STEP_WRONG;
    }
    emit(s, ":", 1);
    return STEP_VALUE;
}

/* Takes back the member whose value has just been read. */
static void drop_member(struct scanner *s)
{
    if (s->out != NULL && is_in_object(s)) {
        s->out->size = s->member_start;
    }
}

static enum step scan_null(struct scanner *s)
{
    enum step step = scan_word(s, "null");

    if (step == STEP_AFTER && s->options.drop_null_members) {
        drop_member(s);
    }
    return step;
}

/* Enters an array or object; an empty one is left again at once. */
static enum step scan_open(struct scanner *s, const char *brackets)
{
    s->next++;
    skip_blanks(s);
    if (s->depth == WR_JSON_DEPTH_MAX) {
        return STEP_WRONG;
    }
    if (!take(s, brackets[1])) {
        emit(s, brackets, 1);
        s->closers[s->depth++] = brackets[1];
        return scan_item(s);
    }
    emit(s, brackets, 2);
    if (brackets[0] == '[' && s->options.drop_empty_array_members) {
        drop_member(s);
    }
    return STEP_AFTER;
}

static enum step scan_value(struct scanner *s)
{
    skip_blanks(s);
    switch (peek(s)) {
    case '{':
        return scan_open(s, "{}");
    case '[':
        return scan_open(s, "[]");
    case '"':
        return scan_string(s);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        return scan_null(s);
    default:
        return scan_number(s);
    }
}

/* After a value inside a container: the next item, or the container's end. */
static enum step scan_after(struct scanner *s)
{
    skip_blanks(s);
    if (take(s, ',')) {
        return scan_item(s);
    }
    const char *closer = &s->closers[s->depth - 1];
    if (!take(s, *closer)) {
        return STEP_WRONG;
    }
    emit(s, closer, 1);
    s->depth--;
    return STEP_AFTER;
}

static bool scan_text(struct scanner *s)
{
    enum step step = STEP_VALUE;

    while (step == STEP_VALUE || (step == STEP_AFTER && s->depth > 0)) {
        step = step == STEP_VALUE ? scan_value(s) : scan_after(s);
    }
    skip_blanks(s);
    return step == STEP_AFTER && s->next == s->end;
}

static void scanner_init(struct scanner *s, struct wr_slice text)
{
    /* Not an initialiser: it would clear a thousand closers for a text that has a few. */
    s->next = text.size > 0 ? text.data : "";
    s->end = s->next + text.size;
    s->out = NULL;
    s->options = (struct wr_json_compact_options){0};
    s->member_start = 0;
    s->depth = 0;
}

bool wr_json_compact(struct wr_slice text, const struct wr_json_compact_options *options,
                     struct wr_buffer *out)
{
    struct scanner s;
    size_t start = out->size;

    scanner_init(&s, text);
    s.out = out;
    s.options = *options;
    if (!scan_text(&s)) {
        out->size = start;
        return false;
    }
    return true;
}

bool wr_json_is_valid(struct wr_slice text)
{
    struct scanner s;

    scanner_init(&s, text);
    return scan_text(&s);
}
