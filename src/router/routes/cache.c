/*
 * Keys that are no longer right: those of the old row and those of the new one, each once. A key
 * with a NULL in it is none: nothing is cached under what is not there. On a truncate the keys are
 * globs, with walrelay.op=t.
 */
#include "base/arena.h"
#include "decoder/relation.h"
#include "router/router.h"
#include "router/routes/route.h"

struct rendered {
    size_t start, size;
    bool is_new; /* the new row has it */
};

/* All keys of one row behind those that are there, each once. */
static enum wr_status render_row(const struct route_call *call, const struct row_view *row,
                                 bool is_new, struct rendered *keys, size_t *count,
                                 struct wr_error *err)
{
    for (size_t i = 0; i < call->route->key_count; i++) {
        const struct template *t = &call->route->keys[i];
        const struct relation *relation = call->change->relation;
        struct rendered key = {.start = call->keys->size, .is_new = is_new};
        enum value_state state;
        enum wr_status status = template_render(t, row, call->scratch, call->keys, &state, err);
        if (status != WR_OK) {
            return status;
        }
        if (state == VALUE_UNKNOWN && is_new) {
            return wr_fail(err, WR_REJECT, "router",
                           "%s.%s: the key %s is made of an unchanged TOAST value, which was not "
                           "sent: REPLICA IDENTITY FULL sends it",
                           relation->schema, relation->table, t->text);
        }
        if (state != VALUE_KNOWN) {
            continue; /* an old one that is not known has had its notice with the relation */
        }
        key.size = call->keys->size - key.start;
        keys[(*count)++] = key;
    }
    return WR_OK;
}

static struct wr_slice text_of(const struct route_call *call, const struct rendered *key)
{
    return (struct wr_slice){call->keys->data + key->start, key->size};
}

static bool is_repeated(const struct route_call *call, const struct rendered *keys, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (wr_slice_eq(text_of(call, &keys[i]), text_of(call, &keys[index]))) {
            return true;
        }
    }
    return false;
}

static enum wr_status emit(const struct route_call *call, struct wr_slice key, bool has_document,
                           struct wr_error *err)
{
    const struct document *document = &call->route->document;
    struct record record;
    enum wr_status status = route_record_start(call, &record, err);

    record.key = route_verbatim(key);
    if (has_document && status == WR_OK) {
        record.value.kind = PART_DOCUMENT;
        record.value.as.document.shape = document;
        record.value.as.document.row = call->after;
        status = route_add_unknown(call, document, &call->after, &record, err);
    }
    return status == WR_OK ? call->sink->emit(call->sink->context, &record, err) : status;
}

static enum wr_status emit_globs(const struct route_call *call, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    for (size_t i = 0; status == WR_OK && i < call->route->key_count; i++) {
        wr_buffer_reset(call->keys);
        template_glob(&call->route->keys[i], call->keys);
        status = emit(call, wr_buffer_slice(call->keys), false, err);
    }
    return status;
}

enum wr_status route_cache_emit(const struct route_call *call, struct wr_error *err)
{
    size_t count = 0;
    struct rendered *keys =
        wr_arena_alloc(call->scratch, 2 * call->route->key_count + 1, sizeof(*keys));
    enum wr_status status = WR_OK;

    if (keys == NULL) {
        return wr_fail(err, WR_REJECT, "router", "more keys than there is room for");
    }
    if (call->op == OP_TRUNCATE) {
        return emit_globs(call, err);
    }
    /* What the new row has comes first, so that a key of both has the document. */
    if (call->after.columns != NULL) {
        status = render_row(call, &call->after, true, keys, &count, err);
    }
    if (status == WR_OK && call->before.columns != NULL) {
        status = render_row(call, &call->before, false, keys, &count, err);
    }
    for (size_t i = 0; status == WR_OK && i < count; i++) {
        if (!is_repeated(call, keys, i)) {
            bool has_document = keys[i].is_new && call->op != OP_DELETE &&
                                call->route->config->cache_value == CACHE_VALUE_DOCUMENT;
            status = emit(call, text_of(call, &keys[i]), has_document, err);
        }
    }
    return status;
}
