/*
 * The typed row, with what happened to it. A moved key is a delete under the old one and a create
 * under the new one, so that each key has its own history.
 */
#include "router/plan.h"
#include "router/router.h"
#include "router/routes/route.h"
#include "router/row.h"

static struct record_part key_of(const struct route_call *call, const struct row_view *row)
{
    const struct document *key = &call->route->warehouse.key;

    if (call->op == OP_TRUNCATE) {
        return route_verbatim(WR_SLICE(""));
    }
    if (key->member_count == 0) {
        return (struct record_part){.kind = PART_NULL};
    }
    return (struct record_part){.kind = PART_DOCUMENT, .as.document = {key, *row}};
}

/* `old_row` NULL: its key has not moved. */
static enum wr_status emit(const struct route_call *call, const struct row_view *old_row,
                           struct wr_error *err)
{
    const struct table_route *route = call->route;
    const struct row_view *row = call->after.columns != NULL ? &call->after : &call->key_row;
    const struct warehouse_rows rows = {call->op, *row, call->before, call->after};
    struct record record;
    enum wr_status status = route_record_start(call, &record, err);

    record.key = key_of(call, row);
    record.value.kind = PART_WAREHOUSE;
    record.value.as.warehouse.shape = &route->warehouse;
    record.value.as.warehouse.rows = &rows;
    if (status == WR_OK && route->warehouse.format == ROUTE_FORMAT_JSON) {
        status = route_add_types(&route->warehouse.columns, &record, err);
    }
    if (status == WR_OK && call->after.columns != NULL) {
        status = route_add_unknown(call, &route->warehouse.columns, &call->after, &record, err);
    }
    if (status == WR_OK && old_row != NULL) {
        const struct record_part from = key_of(call, old_row);
        status = record_header_add(&record, ROUTE_MOVED_FROM, &from, err);
    }
    return status == WR_OK ? call->sink->emit(call->sink->context, &record, err) : status;
}

/* An old row that was sent has the whole key. */
static bool key_moved(const struct route_call *call)
{
    const struct document *key = &call->route->warehouse.key;

    for (size_t i = 0; i < key->member_count; i++) {
        struct wr_slice was, is;
        const struct route_value *value = &key->members[i].value;
        enum value_state before = route_value_cell(value, &call->before, &was);
        enum value_state after = route_value_cell(value, &call->after, &is);
        if (before != after || (before == VALUE_KNOWN && !wr_slice_eq(was, is))) {
            return true;
        }
    }
    return false;
}

enum wr_status route_warehouse_emit(const struct route_call *call, struct wr_error *err)
{
    struct route_call part = *call;

    if (call->op != OP_UPDATE || call->before.columns == NULL || !key_moved(call)) {
        return emit(call, NULL, err);
    }
    part.op = OP_DELETE;
    part.after = (struct row_view){0};
    enum wr_status status = emit(&part, NULL, err);
    part.op = OP_CREATE;
    part.before = (struct row_view){0};
    part.after = call->after;
    return status == WR_OK ? emit(&part, &call->before, err) : status;
}
