#include "router/routes/template.h"

#include <string.h>

#include "base/arena.h"
#include "config/route_config.h"
#include "decoder/relation.h"

static enum wr_status no_room(const struct relation *relation, struct wr_error *err)
{
    return wr_fail(err, WR_FATAL, "router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                   relation->schema, relation->table);
}

enum wr_status template_compile(const struct template_config *config,
                                const struct route_source *source, struct template *out,
                                struct wr_error *err)
{
    struct template_part *parts =
        wr_arena_alloc(source->relation->arena, config->piece_count + 1, sizeof(*parts));

    if (parts == NULL) {
        return no_room(source->relation, err);
    }
    *out =
        (struct template){.text = config->text, .parts = parts, .part_count = config->piece_count};
    for (size_t i = 0; i < config->piece_count; i++) {
        parts[i].literal = config->pieces[i].text;
        if (!config->pieces[i].is_column) {
            continue;
        }
        enum wr_status status =
            route_value_find(source, config->pieces[i].text, &parts[i].value, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

enum wr_status template_of_key(struct relation *relation, struct template *out,
                               struct wr_error *err)
{
    const struct route_plan *plan = relation->plan;
    struct template_part *parts =
        wr_arena_alloc(relation->arena, 2 * plan->key_column_count + 1, sizeof(*parts));

    if (parts == NULL) {
        return no_room(relation, err);
    }
    *out = (struct template){
        .text = "(the key)", .parts = parts, .is_escaped = plan->key_column_count > 1};
    for (size_t i = 0; i < plan->key_column_count; i++) {
        if (i > 0) {
            parts[out->part_count++].literal = WR_SLICE("_");
        }
        if (!route_value_of(relation, plan->key_columns[i], &parts[out->part_count++].value)) {
            return no_room(relation, err);
        }
    }
    return WR_OK;
}

const struct route_value *template_outside_identity(const struct template *t)
{
    for (size_t i = 0; i < t->part_count; i++) {
        const struct route_value *value = &t->parts[i].value;
        if (value->column != NULL && !value->column->is_identity) {
            return value;
        }
    }
    return NULL;
}

/* Makes room for the escapes of what stands behind `start`. */
static void escape(struct wr_buffer *out, size_t start, struct wr_arena *scratch)
{
    size_t size = out->size - start;
    const char *copy = NULL;

    if (out->failed || (memchr(out->data + start, '_', size) == NULL &&
                        memchr(out->data + start, '%', size) == NULL)) {
        return;
    }
    copy = wr_arena_strndup(scratch, out->data + start, size);
    out->size = start;
    for (size_t i = 0; copy != NULL && i < size; i++) {
        if (copy[i] == '_') {
            WR_BUFFER_LITERAL(out, "%5F");
        } else if (copy[i] == '%') {
            WR_BUFFER_LITERAL(out, "%25");
        } else {
            wr_buffer_add_char(out, copy[i]);
        }
    }
    out->failed = out->failed || copy == NULL;
}

enum wr_status template_render(const struct template *t, const struct row_view *row,
                               struct wr_arena *scratch, struct wr_buffer *out,
                               enum value_state *state, struct wr_error *err)
{
    size_t start = out->size;

    *state = VALUE_KNOWN;
    for (size_t i = 0; i < t->part_count; i++) {
        const struct template_part *part = &t->parts[i];
        size_t part_start = out->size;
        if (part->value.column == NULL) {
            wr_buffer_add_slice(out, part->literal);
            continue;
        }
        enum wr_status status = route_value_text(&part->value, row, scratch, out, state, err);
        if (status != WR_OK || *state != VALUE_KNOWN) {
            out->size = start;
            return status;
        }
        if (t->is_escaped) {
            escape(out, part_start, scratch);
        }
    }
    if (out->failed) {
        return wr_fail(err, WR_REJECT, "router", "%s.%s: %s is larger than %zu bytes",
                       row->relation->schema, row->relation->table, t->text, out->size_max);
    }
    return WR_OK;
}

void template_glob(const struct template *t, struct wr_buffer *out)
{
    for (size_t i = 0; i < t->part_count; i++) {
        const struct template_part *part = &t->parts[i];
        if (part->value.column != NULL) {
            wr_buffer_add_char(out, '*');
            continue;
        }
        for (size_t j = 0; j < part->literal.size; j++) {
            char c = part->literal.data[j];
            if (c != '\0' && strchr("*?[]\\", c) != NULL) {
                wr_buffer_add_char(out, '\\');
            }
            wr_buffer_add_char(out, c);
        }
    }
}
