#include "router/routes/value.h"

#include "base/arena.h"
#include "base/json_path.h"
#include "base/json_write.h"
#include "decoder/relation.h"
#include "router/filter.h"
#include "router/row.h"

static enum wr_status no_room(const struct relation *relation, struct wr_error *err)
{
    return wr_fail(err, WR_FATAL, "router",
                   "%s.%s does not fit WR_RELATION_SIZE_MAX with its "
                   "routes",
                   relation->schema, relation->table);
}

static enum wr_status unusable(const struct relation *relation, struct wr_slice name,
                               const char *why, struct wr_error *err)
{
    return wr_fail(err, WR_REJECT, "router", "%s.%s %s %.*s", relation->schema, relation->table,
                   why, (int)name.size, name.data);
}

bool route_value_of(struct relation *relation, const struct column_plan *column,
                    struct route_value *out)
{
    *out = (struct route_value){
        .column = column,
        .type = natural_type_new(&column->type, relation->arena),
    };
    return out->type != NULL;
}

/* The index of the column of that name; -1: none. */
static int index_of(const struct relation *relation, struct wr_slice name)
{
    for (int i = 0; i < relation->column_count; i++) {
        if (wr_slice_is(name, relation->columns[i].name)) {
            return i;
        }
    }
    return -1;
}

/* The longest beginning of `name` that is a column's; `path` is what stands behind its dot. */
static int column_in(const struct relation *relation, struct wr_slice name, struct wr_slice *path)
{
    int index = index_of(relation, name);

    *path = (struct wr_slice){NULL, 0};
    for (size_t i = name.size; index < 0 && i > 0; i--) {
        if (name.data[i - 1] == '.') {
            index = index_of(relation, (struct wr_slice){name.data, i - 1});
            *path = (struct wr_slice){name.data + i, name.size - i};
        }
    }
    return index;
}

static const struct column_plan *visible_column(const struct route_source *source, int index)
{
    const struct relation *relation = source->relation;
    const struct route_plan *plan = relation->plan;

    for (size_t i = 0; i < plan->key_column_count; i++) {
        if (plan->key_columns[i]->index == index) {
            return plan->key_columns[i];
        }
    }
    bool is_visible = filter_has_column(source->filter, relation->schema, relation->table,
                                        relation->columns[index].name);
    return is_visible ? &plan->columns[index] : NULL;
}

/* "a.b" as its members. */
static enum wr_status path_split(struct relation *relation, struct wr_slice path,
                                 struct route_value *out, struct wr_error *err)
{
    size_t count = 1;

    for (size_t i = 0; i < path.size; i++) {
        count += path.data[i] == '.';
    }
    struct wr_slice *members = wr_arena_alloc(relation->arena, count, sizeof(*members));
    const char *copy = wr_arena_strndup(relation->arena, path.data, path.size);
    if (members == NULL || copy == NULL) {
        return no_room(relation, err);
    }
    out->path = members;
    members[0].data = copy;
    for (size_t i = 0; i < path.size; i++) {
        if (copy[i] == '.') {
            members[++out->path_count].data = copy + i + 1;
        } else {
            members[out->path_count].size++;
        }
    }
    out->path_count++;
    return WR_OK;
}

enum wr_status route_value_find(const struct route_source *source, struct wr_slice name,
                                struct route_value *out, struct wr_error *err)
{
    struct relation *relation = source->relation;
    struct wr_slice path;
    int index = column_in(relation, name, &path);

    if (index < 0) {
        *source->missing = name;
        return unusable(relation, name, "has no column", err);
    }
    const struct column_plan *column = visible_column(source, index);
    if (column == NULL) {
        return unusable(relation, name,
                        "does not show, by column.include.list or "
                        "column.exclude.list, its column",
                        err);
    }
    if (!route_value_of(relation, column, out)) {
        return no_room(relation, err);
    }
    if (path.data == NULL) {
        return WR_OK;
    }
    if (out->type->kind != NATURAL_JSON) {
        return unusable(relation, name, "has no JSON in the column of", err);
    }
    return path_split(relation, path, out, err);
}

bool route_value_is_plain(const struct route_value *value)
{
    const struct column_plan *column = value->column;

    return column->mask == NULL && column->hash == NULL && column->truncate_size == 0;
}

enum value_state route_value_cell(const struct route_value *value, const struct row_view *row,
                                  struct wr_slice *text)
{
    const struct cell *cell = row_cell(row, value->column);

    *text = cell->text;
    switch (cell->kind) {
    case CELL_TEXT:
        return VALUE_KNOWN;
    case CELL_UNCHANGED:
        return VALUE_UNKNOWN;
    case CELL_NULL:
        break;
    }
    return row->is_key_only && !value->column->is_identity ? VALUE_UNKNOWN : VALUE_NULL;
}

enum wr_status route_value_blame(const struct route_value *value, const struct row_view *row,
                                 enum wr_status status, struct wr_error *err)
{
    if (status == WR_OK) {
        return WR_OK;
    }
    struct wr_error inner = *err;
    return wr_fail(err, status, "router", "%s.%s.%s: %s", row->relation->schema,
                   row->relation->table, row->relation->columns[value->column->index].name,
                   inner.text);
}

/* A text that a rule masks, hashes or cuts; `is_there` is false for a null. */
static enum wr_status ruled_text(const struct route_value *value, const struct row_view *row,
                                 struct wr_arena *scratch, struct wr_slice *text,
                                 enum value_state *state, struct wr_error *err)
{
    struct datum datum;
    enum wr_status status = row_datum(row, value->column, scratch, &datum, err);

    if (status == WR_OK) {
        *state = datum.kind == DATUM_STRING ? VALUE_KNOWN : VALUE_NULL;
        *text = datum.as.bytes;
    }
    return status;
}

enum wr_status route_value_take(const struct route_value *value, const struct row_view *row,
                                struct wr_arena *scratch, struct wr_slice *text,
                                enum value_state *state, struct wr_error *err)
{
    *state = route_value_cell(value, row, text);
    if (value->column->mask != NULL || (*state == VALUE_KNOWN && !route_value_is_plain(value))) {
        return ruled_text(value, row, scratch, text, state, err);
    }
    if (*state == VALUE_KNOWN && value->path_count > 0 &&
        (!wr_json_find(*text, value->path, value->path_count, text) || wr_json_is_null(*text))) {
        *state = VALUE_NULL;
    }
    return WR_OK;
}

enum wr_status route_value_json(const struct route_value *value, const struct row_view *row,
                                struct wr_arena *scratch, struct wr_buffer *out,
                                enum value_state *state, struct wr_error *err)
{
    struct wr_slice text;
    enum wr_status status = route_value_take(value, row, scratch, &text, state, err);

    if (status != WR_OK || *state != VALUE_KNOWN) {
        return status;
    }
    if (!route_value_is_plain(value)) {
        wr_json_string(out, text);
        return WR_OK;
    }
    return route_value_blame(value, row, natural_json(value->type, text, scratch, out, err), err);
}

enum wr_status route_value_text(const struct route_value *value, const struct row_view *row,
                                struct wr_arena *scratch, struct wr_buffer *out,
                                enum value_state *state, struct wr_error *err)
{
    struct wr_slice text;
    enum wr_status status = route_value_take(value, row, scratch, &text, state, err);

    if (status != WR_OK || *state != VALUE_KNOWN) {
        return status;
    }
    if (!route_value_is_plain(value)) {
        wr_buffer_add_slice(out, text);
        return WR_OK;
    }
    return route_value_blame(value, row, natural_text(value->type, text, scratch, out, err), err);
}
