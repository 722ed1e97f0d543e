/* org.apache.kafka.connect.transforms.SetSchemaMetadata: the schema gets a name, a version or both.
 */
#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/reshape.h"
#include "router/transforms/smt.h"

struct metadata {
    struct reshape reshape; /* of a structure, whose nulls may become defaults */
    const struct schema *schema;
};

static enum wr_status metadata_plan(const struct smt_call *call, struct wr_arena *arena,
                                    void **plan, struct wr_error *err)
{
    const struct set_schema_metadata_config *c = &call->transform->config->as.set_schema_metadata;
    const struct schema *old = call->schema;
    struct metadata *metadata = wr_arena_alloc(arena, 1, sizeof(*metadata));
    struct schema *schema = schema_copy(arena, old);

    if (metadata == NULL || schema == NULL ||
        !reshape_init(&metadata->reshape, old, old, old->field_count, arena)) {
        return smt_no_room(call, err);
    }
    schema->name = c->schema_name != NULL ? c->schema_name : schema->name;
    schema->version = c->schema_version >= 0 ? (int32_t)c->schema_version : schema->version;
    metadata->schema = schema;
    for (size_t i = 0; i < old->field_count; i++) {
        (void)reshape_keep(&metadata->reshape, i, c->replace_null_with_default);
    }
    *plan = metadata;
    return WR_OK;
}

static enum wr_status set_schema_metadata_apply(const struct transform *t, const void *compiled,
                                                struct record *record, struct wr_arena *scratch,
                                                bool *keep, struct wr_error *err)
{
    struct smt_call call;
    const void *plan = NULL;
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    if (status != WR_OK || call.schema == NULL) {
        return status;
    }
    if (!call.has_schema) {
        return smt_reject(&call, err, "there is no schema to name");
    }
    status = smt_plan(&call, metadata_plan, &plan, err);
    if (status != WR_OK) {
        return status;
    }
    const struct metadata *metadata = plan;
    struct datum *value = &call.part->as.datum;
    if (value->kind == DATUM_STRUCT && call.schema->type == SCHEMA_STRUCT &&
        reshape_apply(&metadata->reshape, value, scratch, value) == NULL) {
        return smt_no_room(&call, err);
    }
    call.part->schema = metadata->schema;
    return WR_OK;
}

const struct transform_ops set_schema_metadata_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = set_schema_metadata_apply,
};
