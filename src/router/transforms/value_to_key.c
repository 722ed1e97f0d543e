/* org.apache.kafka.connect.transforms.ValueToKey: the key becomes some fields of the value. */
#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/reshape.h"
#include "router/transforms/smt.h"

static enum wr_status key_plan(const struct smt_call *call, struct wr_arena *arena, void **plan,
                               struct wr_error *err)
{
    const struct value_to_key_config *c = &call->transform->config->as.value_to_key;
    struct reshape *key = wr_arena_alloc(arena, 1, sizeof(*key));

    if (key == NULL || !reshape_init(key, call->schema, NULL, c->fields.count, arena)) {
        return smt_no_room(call, err);
    }
    for (size_t i = 0; i < c->fields.count; i++) {
        const struct wr_slice name = wr_slice_str(c->fields.items[i]);
        ptrdiff_t index = smt_field_index(call->schema, name);
        if (index == SMT_NO_FIELD) {
            return smt_reject(call, err, "the value has no field %s for the key",
                              c->fields.items[i]);
        }
        if (!reshape_keep(key, (size_t)index, c->replace_null_with_default)) {
            return smt_reject(call, err, "fields has %s twice", c->fields.items[i]);
        }
    }
    *plan = key;
    return WR_OK;
}

static enum wr_status value_to_key_apply(const struct transform *t, const void *compiled,
                                         struct record *record, struct wr_arena *scratch,
                                         bool *keep, struct wr_error *err)
{
    struct smt_call call;
    const void *plan = NULL;
    struct datum key;
    enum wr_status status = smt_open(&call, t, compiled, record, false, scratch, err);

    *keep = true;
    if (status == WR_OK) {
        status = smt_need_structure(&call, err);
    }
    if (status == WR_OK) {
        status = smt_plan(&call, key_plan, &plan, err);
    }
    if (status != WR_OK) {
        return status;
    }
    const struct reshape *reshape = plan;
    if (reshape_apply(reshape, &record->value.as.datum, scratch, &key) == NULL) {
        return smt_no_room(&call, err);
    }
    record->key = smt_part(&call, reshape->schema, key);
    return WR_OK;
}

const struct transform_ops value_to_key_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = value_to_key_apply,
};
