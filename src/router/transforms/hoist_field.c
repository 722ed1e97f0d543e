/* org.apache.kafka.connect.transforms.HoistField: the key or value becomes the one field of a
 * structure. A null without a schema, as of a tombstone, does as well. */
#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/smt.h"

static enum wr_status hoist_plan(const struct smt_call *call, struct wr_arena *arena, void **plan,
                                 struct wr_error *err)
{
    struct schema *schema = schema_new(arena, SCHEMA_STRUCT);
    struct schema_field *field = wr_arena_alloc(arena, 1, sizeof(*field));

    if (schema == NULL || field == NULL) {
        return smt_no_room(call, err);
    }
    field->name = wr_slice_str(call->transform->config->as.hoist_field.field);
    field->schema = call->schema;
    schema->fields = field;
    schema->field_count = 1;
    *plan = schema;
    return WR_OK;
}

static enum wr_status hoist_field_apply(const struct transform *t, const void *compiled,
                                        struct record *record, struct wr_arena *scratch, bool *keep,
                                        struct wr_error *err)
{
    struct smt_call call;
    const void *schema = NULL;
    struct datum_field *field = wr_arena_alloc(scratch, 1, sizeof(*field));
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    if (status != WR_OK) {
        return status;
    }
    if (field == NULL) {
        return smt_no_room(&call, err);
    }
    if (call.has_schema) {
        status = smt_plan(&call, hoist_plan, &schema, err);
    }
    field->name = wr_slice_str(t->config->as.hoist_field.field);
    if (!call.is_null) {
        field->value = call.part->as.datum;
    }
    if (status == WR_OK) {
        *call.part = smt_part(
            &call, schema,
            (struct datum){.kind = DATUM_STRUCT, .as.structure = {.fields = field, .count = 1}});
    }
    return status;
}

const struct transform_ops hoist_field_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = hoist_field_apply,
};
