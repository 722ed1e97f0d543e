/* org.apache.kafka.connect.transforms.Cast: fields, or the whole key or value, of another type. */
#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/cast_value.h"
#include "router/transforms/reshape.h"
#include "router/transforms/smt.h"

struct cast_step {
    size_t index;
    const struct schema *from;
    enum schema_type to;
};

struct cast_plan {
    struct reshape reshape;
    size_t step_count;
    struct cast_step *steps; /* of fields that are there; others in the specification are not */
};

static enum schema_type target(enum cast_type type)
{
    static const enum schema_type TYPES[] = {
        [CAST_INT8] = SCHEMA_INT8,       [CAST_INT16] = SCHEMA_INT16,
        [CAST_INT32] = SCHEMA_INT32,     [CAST_INT64] = SCHEMA_INT64,
        [CAST_FLOAT32] = SCHEMA_FLOAT32, [CAST_FLOAT64] = SCHEMA_FLOAT64,
        [CAST_BOOLEAN] = SCHEMA_BOOLEAN, [CAST_STRING] = SCHEMA_STRING,
    };

    return TYPES[type];
}

/* The default of `old` as that of `schema`. A structure that is the whole value has none. */
static enum wr_status cast_default(const struct smt_call *call, struct wr_slice field,
                                   const struct schema *old, struct schema *schema,
                                   struct wr_arena *arena, struct wr_error *err)
{
    if (old->default_value == NULL || old->default_value->kind == DATUM_NULL) {
        return WR_OK;
    }
    struct datum *value = wr_arena_alloc(arena, 1, sizeof(*value));
    if (value == NULL) {
        return smt_no_room(call, err);
    }
    const char *problem = cast_value(old, old->default_value, schema->type, arena, value);
    schema->default_value = value;
    return problem == NULL ? WR_OK
                           : smt_reject_value(call, field, old->default_value, problem, err);
}

static enum wr_status check_type(const struct smt_call *call, struct wr_slice field,
                                 const struct schema *old, enum schema_type to,
                                 struct wr_error *err)
{
    if (cast_is_possible(old, to)) {
        return WR_OK;
    }
    return smt_reject(call, err, "%.*s%sa value of this type cannot be cast%s", (int)field.size,
                      field.data, field.size > 0 ? ": " : "",
                      old->type == SCHEMA_BYTES ? " but to string" : "");
}

static enum wr_status field_schema(const struct smt_call *call, const struct schema_field *field,
                                   enum schema_type to, struct wr_arena *arena, struct schema **out,
                                   struct wr_error *err)
{
    struct schema *schema = schema_new(arena, to);

    if (schema == NULL) {
        return smt_no_room(call, err);
    }
    schema->is_optional = field->schema->is_optional;
    *out = schema;
    enum wr_status status = check_type(call, field->name, field->schema, to, err);
    return status == WR_OK ? cast_default(call, field->name, field->schema, schema, arena, err)
                           : status;
}

static const struct cast_field *find_cast(const struct cast_config *c, struct wr_slice name)
{
    for (size_t i = c->field_count; i > 0; i--) { /* of two for one field the last counts */
        if (wr_slice_is(name, c->fields[i - 1].name)) {
            return &c->fields[i - 1];
        }
    }
    return NULL;
}

static enum wr_status fields_plan(const struct smt_call *call, struct wr_arena *arena, void **out,
                                  struct wr_error *err)
{
    const struct cast_config *c = &call->transform->config->as.cast;
    const struct schema *old = call->schema;
    struct cast_plan *plan = wr_arena_alloc(arena, 1, sizeof(*plan));

    if (plan != NULL) {
        plan->steps = wr_arena_alloc(arena, old->field_count + 1, sizeof(*plan->steps));
    }
    if (plan == NULL || plan->steps == NULL ||
        !reshape_init(&plan->reshape, old, old, old->field_count, arena)) {
        return smt_no_room(call, err);
    }
    plan->reshape.schema->is_optional = old->is_optional;
    for (size_t i = 0; i < old->field_count; i++) {
        const struct cast_field *cast = find_cast(c, old->fields[i].name);
        struct schema *schema = NULL;
        (void)reshape_keep(&plan->reshape, i, c->replace_null_with_default);
        if (cast == NULL) {
            continue;
        }
        enum schema_type to = target(cast->type);
        enum wr_status status = field_schema(call, &old->fields[i], to, arena, &schema, err);
        if (status != WR_OK) {
            return status;
        }
        plan->reshape.fields[i].schema = schema;
        plan->steps[plan->step_count++] =
            (struct cast_step){.index = i, .from = old->fields[i].schema, .to = to};
    }
    *out = plan;
    return WR_OK;
}

static enum wr_status whole_plan(const struct smt_call *call, struct wr_arena *arena, void **out,
                                 struct wr_error *err)
{
    const struct cast_config *c = &call->transform->config->as.cast;
    const struct schema *old = call->schema;
    struct schema *schema = schema_copy(arena, old);

    if (schema == NULL) {
        return smt_no_room(call, err);
    }
    schema->type = target(c->fields[0].type);
    schema->default_value = NULL;
    *out = schema;
    enum wr_status status = check_type(call, (struct wr_slice){0}, old, schema->type, err);
    return status == WR_OK ? cast_default(call, (struct wr_slice){0}, old, schema, arena, err)
                           : status;
}

static enum wr_status cast_whole(const struct smt_call *call, struct wr_error *err)
{
    const void *plan = NULL;
    struct datum value;
    enum wr_status status = smt_plan(call, whole_plan, &plan, err);

    if (status != WR_OK) {
        return status;
    }
    const struct schema *schema = plan;
    const char *problem =
        cast_value(call->schema, &call->part->as.datum, schema->type, call->scratch, &value);
    if (problem != NULL) {
        return smt_reject_value(call, (struct wr_slice){0}, &call->part->as.datum, problem, err);
    }
    *call->part = smt_part(call, schema, value);
    return WR_OK;
}

static enum wr_status cast_fields(struct smt_call *call, struct wr_error *err)
{
    struct datum_field *fields = NULL;
    const void *made = NULL;
    enum wr_status status = smt_reshape(call, fields_plan, &made, &fields, err);

    if (status != WR_OK) {
        return status;
    }
    const struct cast_plan *plan = made;
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct cast_step *step = &plan->steps[i];
        struct datum_field *field = &fields[step->index];
        struct datum value;
        if (field->value.kind == DATUM_NULL) {
            continue;
        }
        const char *problem =
            cast_value(step->from, &field->value, step->to, call->scratch, &value);
        if (problem != NULL) {
            return smt_reject_value(call, field->name, &field->value, problem, err);
        }
        field->value = value;
    }
    return WR_OK;
}

static enum wr_status cast_apply(const struct transform *t, const void *compiled,
                                 struct record *record, struct wr_arena *scratch, bool *keep,
                                 struct wr_error *err)
{
    struct smt_call call;
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    if (status != WR_OK || call.is_null) {
        return status;
    }
    return t->config->as.cast.fields[0].name == NULL ? cast_whole(&call, err)
                                                     : cast_fields(&call, err);
}

const struct transform_ops cast_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = cast_apply,
};
