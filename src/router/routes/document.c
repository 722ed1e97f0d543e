#include "router/routes/document.h"

#include "base/arena.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "config/route_config.h"
#include "decoder/relation.h"
#include "router/filter.h"

static enum wr_status no_room(const struct relation *relation, struct wr_error *err)
{
    return wr_fail(err, WR_FATAL, "router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                   relation->schema, relation->table);
}

static struct wr_slice keep(struct wr_arena *arena, struct wr_buffer *text)
{
    const char *copy = wr_arena_strndup(arena, text->data, text->size);
    size_t size = text->size;

    wr_buffer_done(text);
    return (struct wr_slice){copy, copy == NULL ? 0 : size};
}

static struct wr_slice json_name(struct wr_arena *arena, struct wr_slice name)
{
    struct wr_buffer text;

    wr_buffer_init(&text, WR_RELATION_SIZE_MAX);
    wr_json_string(&text, name);
    wr_buffer_add_char(&text, ':');
    return keep(arena, &text);
}

/* A part of a JSON column is JSON, of whatever type. */
static struct wr_slice types_json(struct wr_arena *arena, const struct document *document)
{
    struct wr_buffer text;

    wr_buffer_init(&text, WR_RELATION_SIZE_MAX);
    wr_buffer_add_char(&text, '{');
    for (size_t i = 0; i < document->member_count; i++) {
        const struct document_member *member = &document->members[i];
        if (i > 0) {
            wr_buffer_add_char(&text, ',');
        }
        wr_buffer_add_slice(&text, member->json_name);
        wr_json_string(&text, wr_slice_str(member->value.type->name));
    }
    wr_buffer_add_char(&text, '}');
    return keep(arena, &text);
}

static enum wr_status finish(struct relation *relation, struct document *out,
                             struct document_member *members, size_t count, struct wr_error *err)
{
    *out = (struct document){.members = members, .member_count = count};
    for (size_t i = 0; i < count; i++) {
        if (members[i].json_name.size == 0) {
            return no_room(relation, err);
        }
    }
    out->types_json = types_json(relation->arena, out);
    return out->types_json.size == 0 ? no_room(relation, err) : WR_OK;
}

enum wr_status document_compile(const struct document_field *fields, size_t count,
                                const struct route_source *source, struct document *out,
                                struct wr_error *err)
{
    struct relation *relation = source->relation;
    struct document_member *members = wr_arena_alloc(relation->arena, count + 1, sizeof(*members));

    if (members == NULL) {
        return no_room(relation, err);
    }
    for (size_t i = 0; i < count; i++) {
        enum wr_status status = route_value_find(source, fields[i].source, &members[i].value, err);
        if (status != WR_OK) {
            return status;
        }
        members[i].json_name = json_name(relation->arena, fields[i].name);
    }
    return finish(relation, out, members, count, err);
}

enum wr_status document_of_row(const struct route_source *source, struct document *out,
                               struct wr_error *err)
{
    struct relation *relation = source->relation;
    struct document_member *members =
        wr_arena_alloc(relation->arena, relation->column_count + (size_t)1, sizeof(*members));
    size_t count = 0;

    if (members == NULL) {
        return no_room(relation, err);
    }
    for (size_t i = 0; i < relation->column_count; i++) {
        const struct column_plan *column = &relation->plan->columns[i];
        if (!filter_has_column(source->filter, relation->schema, relation->table,
                               relation->columns[i].name)) {
            continue;
        }
        members[count].json_name = column->json_name;
        if (!route_value_of(relation, column, &members[count++].value)) {
            return no_room(relation, err);
        }
    }
    return finish(relation, out, members, count, err);
}

enum wr_status document_of_key(struct relation *relation, struct document *out,
                               struct wr_error *err)
{
    const struct route_plan *plan = relation->plan;
    struct document_member *members =
        wr_arena_alloc(relation->arena, plan->key_column_count + 1, sizeof(*members));

    if (members == NULL) {
        return no_room(relation, err);
    }
    for (size_t i = 0; i < plan->key_column_count; i++) {
        members[i].json_name = plan->key_columns[i]->json_name;
        if (!route_value_of(relation, plan->key_columns[i], &members[i].value)) {
            return no_room(relation, err);
        }
    }
    return finish(relation, out, members, plan->key_column_count, err);
}

bool document_unknown(const struct document *document, const struct row_view *row,
                      struct wr_buffer *out)
{
    bool is_found = false;

    for (size_t i = 0; i < document->member_count; i++) {
        const struct document_member *member = &document->members[i];
        struct wr_slice text;
        if (member->value.column->mask != NULL ||
            route_value_cell(&member->value, row, &text) != VALUE_UNKNOWN) {
            continue;
        }
        wr_buffer_add_char(out, is_found ? ',' : '[');
        wr_buffer_add(out, member->json_name.data, member->json_name.size - 1);
        is_found = true;
    }
    if (is_found) {
        wr_buffer_add_char(out, ']');
    }
    return is_found;
}

enum wr_status document_write(const struct document *document, const struct row_view *row,
                              struct wr_arena *scratch, struct wr_buffer *out, struct wr_error *err)
{
    char before = '{';

    for (size_t i = 0; i < document->member_count; i++) {
        const struct document_member *member = &document->members[i];
        enum value_state state;
        size_t start = out->size;
        wr_buffer_add_char(out, before);
        wr_buffer_add_slice(out, member->json_name);
        enum wr_status status = route_value_json(&member->value, row, scratch, out, &state, err);
        if (status != WR_OK) {
            return status;
        }
        if (state == VALUE_UNKNOWN) {
            out->size = start;
            continue;
        }
        if (state == VALUE_NULL) {
            WR_BUFFER_LITERAL(out, "null");
        }
        before = ',';
    }
    if (before == '{') {
        wr_buffer_add_char(out, '{');
    }
    wr_buffer_add_char(out, '}');
    return WR_OK;
}
