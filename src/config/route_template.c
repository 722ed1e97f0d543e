#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "config/route_text.h"

/* What is made has room from the start: see reader_init(). */
struct reader {
    const char *start;
    const char *next;
    const char *end;
    char *copies;                  /* where the next text goes */
    struct template_piece *pieces; /* where the next one goes */
    struct wr_arena *arena;
    struct route_text_error *error;
};

static bool fail(const struct reader *r, const char *reason)
{
    *r->error = (struct route_text_error){(size_t)(r->next - r->start), reason};
    return false;
}

static size_t count_of(struct wr_slice text, char c)
{
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        count += text.data[i] == c ? 1 : 0;
    }
    return count;
}

/* No text is longer than the whole; a column and a literal to each $, one more to each template. */
static bool reader_init(struct reader *r, struct wr_slice text, struct wr_arena *arena,
                        struct route_text_error *error)
{
    const char *start = text.size == 0 ? "" : text.data;
    size_t piece_count_max = 2 * count_of(text, '$') + count_of(text, ',') + 1;

    *r = (struct reader){
        .start = start,
        .next = start,
        .end = start + text.size,
        .copies = wr_arena_alloc(arena, text.size + 1, 1),
        .pieces = wr_arena_alloc(arena, piece_count_max, sizeof(*r->pieces)),
        .arena = arena,
        .error = error,
    };
    return r->copies != NULL && r->pieces != NULL;
}

static bool is_too_long(struct route_text_error *error)
{
    *error = (struct route_text_error){0, "it is too long"};
    return false;
}

static bool is_at(const struct reader *r, char c)
{
    return r->next < r->end && *r->next == c;
}

static bool is_at_column(const struct reader *r)
{
    return r->end - r->next >= 2 && r->next[0] == '$' && r->next[1] == '{';
}

/* Up to one of `ends` that no backslash protects, without the backslashes. */
static struct wr_slice take_text(struct reader *r, const char *ends, bool columns_end)
{
    struct wr_slice text = {r->copies, 0};

    while (r->next < r->end && (*r->next == '\0' || strchr(ends, *r->next) == NULL) &&
           !(columns_end && is_at_column(r))) {
        if (*r->next == '\\' && r->next + 1 < r->end) {
            r->next++;
        }
        *r->copies++ = *r->next++;
        text.size++;
    }
    return text;
}

static bool take_piece(struct reader *r, const char *ends, struct template_piece *out)
{
    out->is_column = is_at_column(r);
    if (!out->is_column) {
        out->text = take_text(r, ends, true);
        return true;
    }
    r->next += 2;
    out->text = take_text(r, "}", false);
    if (!is_at(r, '}')) {
        return fail(r, "a ${ has no } behind it");
    }
    if (out->text.size == 0) {
        return fail(r, "${} names no column");
    }
    r->next++;
    return true;
}

static void skip_blanks(struct reader *r)
{
    while (r->next < r->end && isspace((unsigned char)*r->next)) {
        r->next++;
    }
}

/* Blanks before a comma belong to the list, not to the template. */
static void trim_end(struct template_config *t, struct template_piece *pieces)
{
    struct template_piece *last = &pieces[t->piece_count - 1];

    while (!last->is_column && last->text.size > 0 &&
           isspace((unsigned char)last->text.data[last->text.size - 1])) {
        last->text.size--;
    }
}

/* One template, up to one of `ends`. */
static bool take_template(struct reader *r, const char *ends, struct template_config *out)
{
    struct template_piece *pieces = r->pieces;

    skip_blanks(r);
    const char *start = r->next;
    *out = (struct template_config){.pieces = pieces};
    while (r->next < r->end && (*r->next == '\0' || strchr(ends, *r->next) == NULL)) {
        if (!take_piece(r, ends, r->pieces++)) {
            return false;
        }
        out->piece_count++;
    }
    if (out->piece_count == 0) {
        return fail(r, "there is nothing in it");
    }
    trim_end(out, pieces);
    out->text = wr_arena_strndup(r->arena, start, (size_t)(r->next - start));
    return out->text != NULL || fail(r, "it is too long");
}

bool template_read(struct wr_slice text, struct wr_arena *arena, struct template_config *out,
                   struct route_text_error *error)
{
    struct reader r;

    return reader_init(&r, text, arena, error) ? take_template(&r, "", out) : is_too_long(error);
}

bool template_list_read(struct wr_slice text, struct wr_arena *arena,
                        const struct template_config **out, size_t *count,
                        struct route_text_error *error)
{
    struct reader r;
    struct template_config *list = wr_arena_alloc(arena, count_of(text, ',') + 1, sizeof(*list));

    *out = list;
    *count = 0;
    if (list == NULL || !reader_init(&r, text, arena, error)) {
        return is_too_long(error);
    }
    do {
        if (!take_template(&r, ",", &list[*count])) {
            return false;
        }
        (*count)++;
    } while (r.next < r.end && r.next++ != NULL);
    return true;
}

static struct wr_slice trimmed_end(struct wr_slice text)
{
    while (text.size > 0 && isspace((unsigned char)text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

static bool take_field(struct reader *r, struct document_field *out)
{
    skip_blanks(r);
    out->source = trimmed_end(take_text(r, ",:", false));
    out->name = out->source;
    if (is_at(r, ':')) {
        r->next++;
        skip_blanks(r);
        out->name = trimmed_end(take_text(r, ",:", false));
    }
    if (is_at(r, ':')) {
        return fail(r, "a field is column or column:name");
    }
    if (out->source.size == 0 || out->name.size == 0) {
        return fail(r, "a field has no name");
    }
    return true;
}

static bool has_field(const struct document_field *fields, size_t count, struct wr_slice name)
{
    for (size_t i = 0; i < count; i++) {
        if (wr_slice_eq(fields[i].name, name)) {
            return true;
        }
    }
    return false;
}

bool document_fields_read(struct wr_slice text, struct wr_arena *arena, struct document_field **out,
                          size_t *count, struct route_text_error *error)
{
    struct reader r;
    struct document_field *fields = wr_arena_alloc(arena, count_of(text, ',') + 1, sizeof(*fields));

    *out = fields;
    *count = 0;
    if (fields == NULL || !reader_init(&r, text, arena, error)) {
        return is_too_long(error);
    }
    do {
        if (!take_field(&r, &fields[*count])) {
            return false;
        }
        if (has_field(fields, *count, fields[*count].name)) {
            return fail(&r, "two fields have the same name");
        }
        (*count)++;
    } while (r.next < r.end && r.next++ != NULL);
    return true;
}
