/*
 * Whether a change takes a route, and as what.
 *
 *   the row matches `where`                             as it is; an update only when it may have
 *                                                       changed what only.when.changed names
 *   an update after which it does not match any more    a delete
 *   neither before nor after                            nothing
 *
 * What is not known of an old row may have matched: a delete too many does no harm.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/relation.h"
#include "router/plan.h"
#include "router/router.h"
#include "router/routes/route.h"
#include "router/routes/state.h"
#include "router/row.h"

struct record_part route_verbatim(struct wr_slice text)
{
    return (struct record_part){.kind = PART_VERBATIM, .as.verbatim = text};
}

static enum wr_status add_header(struct record *record, const char *name, struct wr_slice text,
                                 struct wr_error *err)
{
    const struct record_part value = route_verbatim(text);

    return record_header_add(record, name, &value, err);
}

enum wr_status route_record_start(const struct route_call *call, struct record *out,
                                  struct wr_error *err)
{
    static const char ops[] = "crudt";
    const char *op = strchr(ops, (char)call->op);

    out->change = call->change;
    out->source = &call->change->source;
    out->route = call->route->config;
    out->topic = call->route->topic;
    out->partition = -1;
    out->timestamp_ms = -1;
    out->key.kind = PART_NULL;
    out->key.schema = NULL;
    out->value.kind = PART_NULL;
    out->value.schema = NULL;
    out->header_count = 0;
    enum wr_status status = add_header(out, "walrelay.op", (struct wr_slice){op, 1}, err);
    if (status == WR_OK) {
        status = add_header(out, "walrelay.table", call->route->table, err);
    }
    return status == WR_OK ? add_header(out, "walrelay.commit", call->commit, err) : status;
}

enum wr_status route_add_types(const struct document *document, struct record *record,
                               struct wr_error *err)
{
    return add_header(record, "walrelay.types", document->types_json, err);
}

enum wr_status route_add_unknown(const struct route_call *call, const struct document *document,
                                 const struct row_view *row, struct record *record,
                                 struct wr_error *err)
{
    wr_buffer_reset(call->names);
    if (!document_unknown(document, row, call->names)) {
        return WR_OK;
    }
    return add_header(record, "walrelay.unavailable", wr_buffer_slice(call->names), err);
}

static struct row_view view_of(const struct change *change, const struct tuple *tuple, bool is_old)
{
    const struct route_plan *plan = change->relation->plan;

    return (struct row_view){
        .relation = change->relation,
        .columns = plan->value_columns,
        .column_count = plan->value_column_count,
        .tuple = tuple,
        .older = !is_old && change->old_kind == OLD_ROW ? &change->old_tuple : NULL,
        .is_key_only = is_old && change->old_kind == OLD_KEY,
    };
}

/* Whether the column's value may be another one than before. */
static bool may_differ(const struct change *change, const struct column_plan *column)
{
    const struct cell *after = &change->new_tuple.cells[column->index];

    if (after->kind == CELL_UNCHANGED) {
        return false;
    }
    if (change->old_kind == OLD_NONE) {
        return !column->is_identity; /* a moved key would have been sent */
    }
    if (change->old_kind == OLD_KEY && !column->is_identity) {
        return true;
    }
    const struct cell *before = &change->old_tuple.cells[column->index];
    return before->kind != after->kind ||
           (after->kind == CELL_TEXT && !wr_slice_eq(before->text, after->text));
}

static bool is_watched_change(const struct route_call *call)
{
    const struct table_route *route = call->route;

    for (size_t i = 0; i < route->watched_count; i++) {
        if (may_differ(call->change, route->watched[i])) {
            return true;
        }
    }
    return route->watched_count == 0;
}

static enum wr_status undecided(const struct route_call *call, struct wr_error *err)
{
    return wr_fail(err, WR_REJECT, "router",
                   "%.*s: whether the row matches \"where\" hangs on an unchanged TOAST value, "
                   "which was not sent: REPLICA IDENTITY FULL sends it",
                   (int)call->route->table.size, call->route->table.data);
}

/* An old row that was not sent has the same key as the new one. */
static void become_delete(struct route_call *call)
{
    call->op = OP_DELETE;
    call->key_row = call->before.columns != NULL ? call->before : call->after;
    if (call->route->config->type != ROUTE_CACHE) {
        call->after = (struct row_view){0};
    }
}

/* False in `takes`: the change does not take the route. */
static enum wr_status decide(struct route_call *call, bool *takes, struct wr_error *err)
{
    const struct condition *where = call->route->where;
    enum truth was =
        call->before.columns == NULL ? TRUTH_UNKNOWN : condition_holds(where, &call->before);
    enum truth is = call->after.columns == NULL ? TRUTH_NO : condition_holds(where, &call->after);

    *takes = true;
    switch (call->op) {
    case OP_CREATE:
    case OP_READ:
        *takes = is != TRUTH_NO;
        break;
    case OP_UPDATE:
        if (is == TRUTH_NO) {
            *takes = was != TRUTH_NO;
            become_delete(call);
        } else if (where == NULL || was == TRUTH_YES) {
            *takes = is_watched_change(call);
        }
        break;
    case OP_DELETE:
        *takes = was != TRUTH_NO;
        return WR_OK;
    case OP_TRUNCATE:
        return WR_OK;
    }
    return is == TRUTH_UNKNOWN ? undecided(call, err) : WR_OK;
}

static enum wr_status emit_type(const struct route_call *call, struct wr_error *err)
{
    switch (call->route->config->type) {
    case ROUTE_SEARCH:
        return route_search_emit(call, err);
    case ROUTE_CACHE:
        return route_cache_emit(call, err);
    case ROUTE_WAREHOUSE:
        return route_warehouse_emit(call, err);
    }
    abort();
}

static enum wr_status take(struct route_call *call, struct wr_error *err)
{
    bool takes = false;

    if (call->route->broken != NULL) {
        return wr_fail(err, WR_REJECT, "router", "%s", call->route->broken);
    }
    enum wr_status status = decide(call, &takes, err);
    if (status == WR_OK && takes) {
        status = emit_type(call, err);
    }
    if (status == WR_REJECT) {
        struct wr_error inner = *err;
        return wr_fail(err, WR_REJECT, inner.where, "route %s: %s", call->route->config->name,
                       inner.text);
    }
    return status;
}

static struct wr_slice commit_text(struct routes *r, int64_t commit_us)
{
    if (r->commit_us != commit_us) {
        (void)snprintf(r->commit, sizeof(r->commit), "%" PRId64, commit_us);
        r->commit_us = commit_us;
    }
    return wr_slice_str(r->commit);
}

enum wr_status routes_change(struct routes *r, const struct change *change,
                             struct wr_arena *scratch, struct wr_error *err)
{
    const struct route_plan *plan = change->relation->plan;
    struct route_call all = {
        .change = change,
        .op = change->op,
        .scratch = scratch,
        .keys = &r->keys,
        .names = &r->names,
        .commit = commit_text(r, change->source.commit_time_us),
        .sink = r->sink,
    };

    if (change->old_kind != OLD_NONE) {
        all.before = view_of(change, &change->old_tuple, true);
        all.key_row = all.before;
    }
    if (change->op != OP_DELETE && change->op != OP_TRUNCATE) {
        all.after = view_of(change, &change->new_tuple, false);
    }
    for (size_t i = 0; i < plan->route_count; i++) {
        struct route_call call = all;
        call.route = &plan->routes[i];
        wr_buffer_reset(&r->keys);
        enum wr_status status = take(&call, err);
        if (status == WR_REJECT) {
            status = r->sink->refuse(r->sink->context, change, err);
        }
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}
