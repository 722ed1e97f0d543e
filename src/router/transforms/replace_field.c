/* org.apache.kafka.connect.transforms.ReplaceField: fields are left out and renamed. */
#include <string.h>

#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/reshape.h"
#include "router/transforms/smt.h"

static bool is_kept(const struct replace_field_config *c, struct wr_slice name)
{
    return !smt_has_name(&c->exclude, name) &&
           (c->include.count == 0 || smt_has_name(&c->include, name));
}

static struct wr_slice renamed(const struct replace_field_config *c, struct wr_slice name)
{
    for (size_t i = c->renames.count; i > 0; i--) { /* of two for one field the last counts */
        if (wr_slice_is(name, c->renames.items[i - 1].name)) {
            return wr_slice_str(c->renames.items[i - 1].value);
        }
    }
    return name;
}

static enum wr_status replace_plan(const struct smt_call *call, struct wr_arena *arena, void **plan,
                                   struct wr_error *err)
{
    const struct replace_field_config *c = &call->transform->config->as.replace_field;
    const struct schema *old = call->schema;
    struct reshape *reshape = wr_arena_alloc(arena, 1, sizeof(*reshape));

    if (reshape == NULL || !reshape_init(reshape, old, old, old->field_count, arena)) {
        return smt_no_room(call, err);
    }
    for (size_t i = 0; i < old->field_count; i++) {
        const struct schema_field *field = &old->fields[i];
        if (!is_kept(c, field->name)) {
            continue;
        }
        struct wr_slice name = renamed(c, field->name);
        if (!reshape_add(reshape, name, field->schema, (ptrdiff_t)i,
                         smt_default(field->schema, c->replace_null_with_default))) {
            return smt_reject(call, err, "two fields would have the name %.*s", (int)name.size,
                              name.data);
        }
    }
    *plan = reshape;
    return WR_OK;
}

static enum wr_status replace_field_apply(const struct transform *t, const void *compiled,
                                          struct record *record, struct wr_arena *scratch,
                                          bool *keep, struct wr_error *err)
{
    struct smt_call call;
    struct datum_field *fields = NULL;
    const void *plan = NULL;
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    return status == WR_OK ? smt_reshape(&call, replace_plan, &plan, &fields, err) : status;
}

const struct transform_ops replace_field_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = replace_field_apply,
};
