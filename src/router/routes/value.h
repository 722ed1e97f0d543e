/* router/routes/value.h - a column, or a part of a JSON column, as routes take it from a row. */
#ifndef WR_ROUTER_ROUTES_VALUE_H
#define WR_ROUTER_ROUTES_VALUE_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "decoder/natural.h"
#include "router/plan.h"
#include "router/record.h"

struct filter;
struct relation;
struct wr_arena;

struct route_value {
    const struct column_plan *column;
    const struct natural_type *type;
    const struct wr_slice *path; /* into the column's JSON */
    size_t path_count;
};

/* How much a row says of a value. Unknown: an unchanged TOAST value, or no part of an old key. */
enum value_state { VALUE_KNOWN, VALUE_NULL, VALUE_UNKNOWN };

/* A relation whose plan has its columns and key, and what may be seen of it. */
struct route_source {
    struct relation *relation;
    const struct filter *filter;
    struct wr_slice *missing; /* takes the name that no column has */
};

/*
 * Finds "column" or "column.path"; of a name with dots the longest that is a column counts. A key
 * column is taken as the key has it, neither masked nor cut. WR_REJECT, naming table and column:
 * there is none, it is left out by column.exclude.list, or a path leads into what is no JSON.
 * WR_FATAL: no room.
 */
WR_MUST_USE enum wr_status route_value_find(const struct route_source *source, struct wr_slice name,
                                            struct route_value *out, struct wr_error *err);

/* The value of a column of the plan. False: no room. */
bool route_value_of(struct relation *relation, const struct column_plan *column,
                    struct route_value *out);

/* The column's own text, where it is known. Says nothing of a path. */
enum value_state route_value_cell(const struct route_value *value, const struct row_view *row,
                                  struct wr_slice *text);

/*
 * The text that is to be written: of the column's type where no rule of the configuration changes
 * it, otherwise just text; less what a path leaves out. For what writes values in a form of its
 * own.
 */
WR_MUST_USE enum wr_status route_value_take(const struct route_value *value,
                                            const struct row_view *row, struct wr_arena *scratch,
                                            struct wr_slice *text, enum value_state *state,
                                            struct wr_error *err);
/* Puts table and column to what a type said; `status` itself. */
enum wr_status route_value_blame(const struct route_value *value, const struct row_view *row,
                                 enum wr_status status, struct wr_error *err);
/* True when no rule of the configuration changes the column's text. */
bool route_value_is_plain(const struct route_value *value);

/*
 * Append the value where it is known: as JSON, as plain text. A path that leads nowhere is
 * VALUE_NULL. WR_REJECT as the type says, naming table and column.
 */
WR_MUST_USE enum wr_status route_value_json(const struct route_value *value,
                                            const struct row_view *row, struct wr_arena *scratch,
                                            struct wr_buffer *out, enum value_state *state,
                                            struct wr_error *err);
WR_MUST_USE enum wr_status route_value_text(const struct route_value *value,
                                            const struct row_view *row, struct wr_arena *scratch,
                                            struct wr_buffer *out, enum value_state *state,
                                            struct wr_error *err);

#endif /* WR_ROUTER_ROUTES_VALUE_H */
