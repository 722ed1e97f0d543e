#include "base/arena.h"
#include "decoder/natural.h"
#include "decoder/scan.h"

enum { DIMENSION_COUNT_MAX = 6 }; /* PostgreSQL's MAXDIM */

struct walk {
    const struct natural_type *type;
    struct wr_slice text;
    struct scan in;
    struct wr_arena *arena;
    const struct natural_visitor *visitor;
    struct wr_error *err;
    char delimiter;
};

static enum wr_status reject(const struct walk *w)
{
    return type_reject(w->type->type, w->text, w->err);
}

/* "[1:2][-3:4]=", which says where counting begins. */
static void skip_bounds(struct scan *in)
{
    while (scan_at(in, '[')) {
        const char *end = memchr(in->next, ']', scan_left(in));
        in->next = end == NULL ? in->end : end + 1;
    }
    (void)scan_accept(in, '=');
}

/* Behind the first quote: a backslash protects the byte after it. */
static enum wr_status visit_quoted(struct walk *w)
{
    char *copy = NULL;
    size_t size = 0;
    const char *start = w->in.next;

    while (w->in.next < w->in.end && *w->in.next != '"') {
        if (*w->in.next == '\\') {
            if (copy == NULL) {
                copy = wr_arena_alloc_raw(w->arena, scan_left(&w->in) + size + 1, 1);
                if (copy == NULL) {
                    return type_no_room(w->type->type, w->err);
                }
                memcpy(copy, start, size);
            }
            w->in.next += w->in.next + 1 < w->in.end;
        }
        if (copy != NULL) {
            copy[size] = *w->in.next;
        }
        size++;
        w->in.next++;
    }
    if (!scan_accept(&w->in, '"')) {
        return reject(w);
    }
    const struct wr_slice element = {copy == NULL ? start : copy, size};
    return w->visitor->element(w->visitor->context, &element, w->err);
}

static enum wr_status visit_plain(struct walk *w)
{
    const char *start = w->in.next;

    while (w->in.next < w->in.end && *w->in.next != w->delimiter && *w->in.next != '}') {
        w->in.next++;
    }
    const struct wr_slice element = {start, (size_t)(w->in.next - start)};
    if (element.size == 0) {
        return reject(w);
    }
    bool is_null = wr_slice_is(element, "NULL");
    return w->visitor->element(w->visitor->context, is_null ? NULL : &element, w->err);
}

static enum wr_status visit_level(struct walk *w, int depth);

static enum wr_status visit_item(struct walk *w, int depth)
{
    if (scan_accept(&w->in, '{')) {
        return depth < DIMENSION_COUNT_MAX ? visit_level(w, depth + 1) : reject(w);
    }
    return scan_accept(&w->in, '"') ? visit_quoted(w) : visit_plain(w);
}

/* Behind its opening brace; `depth` counts it. */
static enum wr_status visit_level(struct walk *w, int depth)
{
    enum wr_status status = w->visitor->begin(w->visitor->context, w->err);

    if (!scan_accept(&w->in, '}')) {
        do {
            if (status == WR_OK) {
                status = visit_item(w, depth);
            }
        } while (status == WR_OK && scan_accept(&w->in, w->delimiter));
        if (status == WR_OK && !scan_accept(&w->in, '}')) {
            return reject(w);
        }
    }
    return status == WR_OK ? w->visitor->end(w->visitor->context, w->err) : status;
}

enum wr_status natural_visit(const struct natural_type *type, struct wr_slice text,
                             struct wr_arena *arena, const struct natural_visitor *visitor,
                             struct wr_error *err)
{
    struct walk w = {
        .type = type,
        .text = text,
        .in = scan_start(text),
        .arena = arena,
        .visitor = visitor,
        .err = err,
        .delimiter = type->element->type->delimiter,
    };

    skip_bounds(&w.in);
    if (!scan_accept(&w.in, '{')) {
        return reject(&w);
    }
    enum wr_status status = visit_level(&w, 1);
    return status == WR_OK && !scan_done(&w.in) ? reject(&w) : status;
}
