#include "decoder/array.h"

#include <string.h>

#include "base/arena.h"
#include "decoder/scan.h"

enum { DIMENSION_COUNT_MAX = 6 }; /* PostgreSQL's MAXDIM */

struct array_parser {
    const struct column_type *type;
    struct wr_slice text; /* the whole of it, for error texts */
    struct scan in;
    struct wr_arena *arena;
    struct wr_error *err;
    char delimiter;
};

static enum wr_status reject(struct array_parser *p)
{
    return type_reject(p->type, p->text, p->err);
}

/* "[1:2][-3:4]=" */
static void skip_bounds(struct scan *in)
{
    if (!scan_at(in, '[')) {
        return;
    }
    while (scan_accept(in, '[')) {
        const char *end = memchr(in->next, ']', scan_left(in));
        in->next = end == NULL ? in->end : end + 1;
    }
    scan_expect(in, '=');
}

/* Past the next byte that means something, which is returned; '\0' at the end of the text. */
static char next_mark(struct scan *in)
{
    bool is_quoted = false;

    while (in->next < in->end) {
        char c = *in->next++;
        if (c == '\\') {
            in->next += in->next < in->end;
        } else if (c == '"') {
            is_quoted = !is_quoted;
        } else if (!is_quoted) {
            return c;
        }
    }
    return '\0';
}

/*
 * How many elements the level has whose brace was just opened: one more than its delimiters. Ends
 * at its closing brace, or at the end of text that lacks one; parsing finds out.
 */
static size_t count_elements(const struct array_parser *p)
{
    struct scan in = p->in;
    size_t count = 1;
    size_t depth = 1;

    while (depth > 0 && in.next < in.end) {
        char c = next_mark(&in);
        depth += c == '{';
        depth -= c == '}';
        count += c == p->delimiter && depth == 1;
    }
    return count;
}

/* Copies `count` bytes without the backslashes that protect the byte after them. */
static struct wr_slice unescape(const char *start, size_t count, struct wr_arena *arena)
{
    char *copy = wr_arena_alloc_raw(arena, count + 1, 1);
    size_t size = 0;

    if (copy == NULL) {
        return (struct wr_slice){0};
    }
    for (size_t i = 0; i < count; i++) {
        i += start[i] == '\\';
        copy[size++] = start[i];
    }
    return (struct wr_slice){copy, size};
}

/* Up to the closing quote; false when there is none. */
static bool scan_quoted(struct scan *in, struct wr_slice *raw, bool *has_escape)
{
    const char *start = in->next;

    *has_escape = false;
    while (in->next < in->end && *in->next != '"') {
        if (*in->next == '\\') {
            *has_escape = true;
            in->next++;
        }
        in->next += in->next < in->end;
    }
    *raw = (struct wr_slice){start, (size_t)(in->next - start)};
    return scan_accept(in, '"');
}

static enum wr_status parse_quoted(struct array_parser *p, struct datum *out)
{
    struct wr_slice element;
    bool has_escape;

    if (!scan_quoted(&p->in, &element, &has_escape)) {
        return reject(p);
    }
    if (has_escape) {
        element = unescape(element.data, element.size, p->arena);
        if (element.data == NULL) {
            return type_no_room(p->type, p->err);
        }
    }
    return p->type->element->parse(p->type->element, element, p->arena, out, p->err);
}

static enum wr_status parse_plain(struct array_parser *p, struct datum *out)
{
    const char *start = p->in.next;

    while (p->in.next < p->in.end && !scan_at(&p->in, p->delimiter) && !scan_at(&p->in, '}')) {
        p->in.next++;
    }
    struct wr_slice element = {start, (size_t)(p->in.next - start)};
    if (element.size == 0) {
        return reject(p);
    }
    if (wr_slice_is(element, "NULL")) {
        *out = (struct datum){.kind = DATUM_NULL};
        return WR_OK;
    }
    return p->type->element->parse(p->type->element, element, p->arena, out, p->err);
}

/* One level, its opening brace already read. `depth` counts the levels around it. */
static enum wr_status parse_level(struct array_parser *p, int depth, struct datum *out)
{
    *out = (struct datum){.kind = DATUM_ARRAY};
    if (scan_accept(&p->in, '}')) {
        return WR_OK;
    }
    size_t count = count_elements(p);
    struct datum *items = wr_arena_alloc(p->arena, count, sizeof(*items));
    if (items == NULL) {
        return type_no_room(p->type, p->err);
    }
    for (size_t i = 0; i < count; i++) {
        enum wr_status status;
        if (i > 0) {
            scan_expect(&p->in, p->delimiter);
        }
        if (scan_accept(&p->in, '{')) {
            status =
                depth + 1 < DIMENSION_COUNT_MAX ? parse_level(p, depth + 1, &items[i]) : reject(p);
        } else if (scan_accept(&p->in, '"')) {
            status = parse_quoted(p, &items[i]);
        } else {
            status = parse_plain(p, &items[i]);
        }
        if (status != WR_OK) {
            return status;
        }
    }
    scan_expect(&p->in, '}');
    out->as.array.items = items;
    out->as.array.count = count;
    return p->in.failed ? reject(p) : WR_OK;
}

enum wr_status array_parse(const struct column_type *type, struct wr_slice text,
                           struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct array_parser p = {.type = type,
                             .text = text,
                             .in = scan_start(text),
                             .arena = arena,
                             .err = err,
                             .delimiter = type->element->delimiter};

    skip_bounds(&p.in);
    scan_expect(&p.in, '{');
    if (p.in.failed) {
        return reject(&p);
    }
    enum wr_status status = parse_level(&p, 0, out);
    return status == WR_OK && !scan_done(&p.in) ? reject(&p) : status;
}
