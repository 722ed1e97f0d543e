/*
 * A document by its id.
 *
 *   create, read, update  the document; where its id moved, null under the old one before it
 *   delete                null
 *   truncate              an empty id and null, with walrelay.op=t
 */
#include "decoder/relation.h"
#include "router/router.h"
#include "router/routes/route.h"

static enum wr_status render_id(const struct route_call *call, const struct row_view *row,
                                size_t *start, struct wr_error *err)
{
    enum value_state state;
    const struct relation *relation = call->change->relation;

    *start = call->keys->size;
    enum wr_status status =
        template_render(&call->route->id, row, call->scratch, call->keys, &state, err);
    if (status == WR_OK && (state != VALUE_KNOWN || call->keys->size == *start)) {
        return wr_fail(err, WR_REJECT, "router", "%s.%s: the document's id %s is %s",
                       relation->schema, relation->table, call->route->id.text,
                       state == VALUE_KNOWN  ? "empty"
                       : state == VALUE_NULL ? "null"
                                             : "not known: REPLICA IDENTITY FULL tells it");
    }
    return status;
}

/* `row` NULL: there is none any more; `old_id` NULL: it has not moved. */
static enum wr_status emit(const struct route_call *call, struct wr_slice id,
                           const struct wr_slice *old_id, const struct row_view *row,
                           struct wr_error *err)
{
    struct record record;
    enum wr_status status = route_record_start(call, &record, err);

    record.key = route_verbatim(id);
    if (row != NULL) {
        record.value.kind = PART_DOCUMENT;
        record.value.as.document.shape = &call->route->document;
        record.value.as.document.row = *row;
        if (status == WR_OK) {
            status = route_add_types(&call->route->document, &record, err);
        }
        if (status == WR_OK) {
            status = route_add_unknown(call, &call->route->document, row, &record, err);
        }
        if (status == WR_OK && old_id != NULL) {
            const struct record_part from = route_verbatim(*old_id);
            status = record_header_add(&record, ROUTE_MOVED_FROM, &from, err);
        }
    }
    return status == WR_OK ? call->sink->emit(call->sink->context, &record, err) : status;
}

/* An old row that is known may have had another id. */
static enum wr_status emit_upsert(const struct route_call *call, struct wr_error *err)
{
    size_t new_start = 0;
    size_t old_start = 0;
    bool has_old = call->before.columns != NULL && call->op == OP_UPDATE;
    enum wr_status status = render_id(call, &call->after, &new_start, err);

    if (status == WR_OK && has_old) {
        status = render_id(call, &call->before, &old_start, err);
    }
    if (status != WR_OK) {
        return status;
    }
    const char *ids = call->keys->data;
    size_t new_size = (has_old ? old_start : call->keys->size) - new_start;
    struct wr_slice new_id = {ids + new_start, new_size};
    struct wr_slice old_id = {ids + old_start, call->keys->size - old_start};
    bool is_moved = has_old && !wr_slice_eq(old_id, new_id);
    if (is_moved) {
        struct route_call gone = *call;
        gone.op = OP_DELETE;
        status = emit(&gone, old_id, NULL, NULL, err);
    }
    return status == WR_OK ? emit(call, new_id, is_moved ? &old_id : NULL, &call->after, err)
                           : status;
}

enum wr_status route_search_emit(const struct route_call *call, struct wr_error *err)
{
    size_t start = 0;
    enum wr_status status = WR_OK;

    switch (call->op) {
    case OP_CREATE:
    case OP_READ:
    case OP_UPDATE:
        return emit_upsert(call, err);
    case OP_DELETE:
        status = render_id(call, &call->key_row, &start, err);
        break;
    case OP_TRUNCATE:
        return emit(call, WR_SLICE(""), NULL, NULL, err);
    }
    return status == WR_OK ? emit(call, wr_buffer_slice(call->keys), NULL, NULL, err) : status;
}
