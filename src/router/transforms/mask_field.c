/* org.apache.kafka.connect.transforms.MaskField: fields get an empty value, or a replacement. */
#include <string.h>

#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/decimal.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/cast_value.h"
#include "router/transforms/connect_time.h"
#include "router/transforms/float_text.h"
#include "router/transforms/reshape.h"
#include "router/transforms/smt.h"

/* What stands in the place of every value that is not null. */
struct mask {
    size_t index;
    struct datum value;
    const char *problem; /* NULL, or why there is none; wrong only when there is a value to mask */
};

struct mask_plan {
    struct reshape reshape;
    size_t mask_count;
    struct mask *masks;
};

static const char *mask_empty(const struct schema *schema, struct datum *out)
{
    int32_t scale = 0;

    switch (schema->type) {
    case SCHEMA_INT8:
    case SCHEMA_INT16:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        *out = (struct datum){.kind = DATUM_INT};
        return NULL;
    case SCHEMA_FLOAT32:
        *out = (struct datum){.kind = DATUM_FLOAT32, .as.bytes = WR_SLICE("0")};
        return NULL;
    case SCHEMA_FLOAT64:
        *out = (struct datum){.kind = DATUM_FLOAT64, .as.bytes = WR_SLICE("0")};
        return NULL;
    case SCHEMA_BOOLEAN:
        *out = (struct datum){.kind = DATUM_BOOL};
        return NULL;
    case SCHEMA_STRING:
        *out = (struct datum){.kind = DATUM_STRING, .as.bytes = WR_SLICE("")};
        return NULL;
    case SCHEMA_BYTES: /* zero is one byte of zero, whatever the scale */
        *out = (struct datum){.kind = DATUM_BYTES, .as.bytes = {"\0", 0}};
        out->as.bytes.size = schema_is_decimal(schema, &scale) ? 1 : 0;
        return NULL;
    case SCHEMA_ARRAY:
        *out = (struct datum){.kind = DATUM_ARRAY};
        return NULL;
    case SCHEMA_MAP:
        *out = (struct datum){.kind = DATUM_STRUCT};
        return NULL;
    case SCHEMA_STRUCT:
        break;
    }
    return "a structure has no empty value: use Flatten before, or leave the field out with "
           "ReplaceField";
}

static const char *mask_decimal(const char *replacement, int32_t scale, struct wr_arena *arena,
                                struct datum *out)
{
    struct decimal decimal;

    if (!decimal_split(wr_slice_str(replacement), &decimal)) {
        return "the replacement is no decimal number";
    }
    decimal_trim(&decimal);
    if (!decimal_fits(&decimal, scale)) {
        return "the replacement has more digits behind the point than the field";
    }
    *out =
        (struct datum){.kind = DATUM_BYTES, .as.bytes = decimal_unscaled(&decimal, scale, arena)};
    return out->as.bytes.data == NULL ? "the replacement is too large" : NULL;
}

static const char *mask_replacement(const struct schema *schema, const char *replacement,
                                    struct wr_arena *arena, struct datum *out)
{
    struct datum text = {.kind = DATUM_STRING, .as.bytes = wr_slice_str(replacement)};
    struct datum number = {.kind = DATUM_FLOAT64};
    double unused = 0;
    int32_t scale = 0;

    if (connect_time_of(schema) != CONNECT_TIME_NONE) {
        return "a replacement is for numbers and text, not for times";
    }
    switch (schema->type) {
    case SCHEMA_INT8:
    case SCHEMA_INT16:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        if (cast_value(schema, &text, schema->type, arena, out) == NULL) {
            return NULL;
        }
        number.as.bytes = text.as.bytes; /* 1e2 and 1.0 are whole numbers here, too */
        return float_read(text.as.bytes, false, &unused)
                   ? cast_value(schema, &number, schema->type, arena, out)
                   : "the replacement is no number";
    case SCHEMA_FLOAT32:
    case SCHEMA_FLOAT64:
    case SCHEMA_STRING:
        return cast_value(schema, &text, schema->type, arena, out);
    case SCHEMA_BYTES:
        if (schema_is_decimal(schema, &scale)) {
            return mask_decimal(replacement, scale, arena, out);
        }
        break;
    case SCHEMA_BOOLEAN:
    case SCHEMA_ARRAY:
    case SCHEMA_MAP:
    case SCHEMA_STRUCT:
        break;
    }
    return "a replacement is for numbers and text alone";
}

static enum wr_status mask_plan(const struct smt_call *call, struct wr_arena *arena, void **out,
                                struct wr_error *err)
{
    const struct mask_field_config *c = &call->transform->config->as.mask_field;
    const struct schema *old = call->schema;
    struct mask_plan *plan = wr_arena_alloc(arena, 1, sizeof(*plan));

    if (plan != NULL) {
        plan->masks = wr_arena_alloc(arena, old->field_count + 1, sizeof(*plan->masks));
    }
    if (plan == NULL || plan->masks == NULL ||
        !reshape_init(&plan->reshape, old, old, old->field_count, arena)) {
        return smt_no_room(call, err);
    }
    for (size_t i = 0; i < old->field_count; i++) {
        const struct schema *schema = old->fields[i].schema;
        (void)reshape_keep(&plan->reshape, i, c->replace_null_with_default);
        if (!smt_has_name(&c->fields, old->fields[i].name)) {
            continue;
        }
        struct mask *mask = &plan->masks[plan->mask_count++];
        mask->index = i;
        mask->problem = c->replacement == NULL
                            ? mask_empty(schema, &mask->value)
                            : mask_replacement(schema, c->replacement, arena, &mask->value);
    }
    *out = plan;
    return WR_OK;
}

static enum wr_status mask_field_apply(const struct transform *t, const void *compiled,
                                       struct record *record, struct wr_arena *scratch, bool *keep,
                                       struct wr_error *err)
{
    struct smt_call call;
    struct datum_field *fields = NULL;
    const void *made = NULL;
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    if (status == WR_OK) {
        status = smt_reshape(&call, mask_plan, &made, &fields, err);
    }
    if (status != WR_OK || fields == NULL) {
        return status; /* Kafka's fails on a tombstone, which has nothing to be masked */
    }
    const struct mask_plan *plan = made;
    for (size_t i = 0; i < plan->mask_count; i++) {
        const struct mask *mask = &plan->masks[i];
        struct datum_field *field = &fields[mask->index];
        if (field->value.kind == DATUM_NULL) {
            continue;
        }
        if (mask->problem != NULL) { /* and the value stays out of the text */
            return smt_reject(&call, err, "field %.*s: %s", (int)field->name.size, field->name.data,
                              mask->problem);
        }
        field->value = mask->value;
    }
    call.part->schema = call.has_schema ? call.schema : NULL; /* no field's type has changed */
    return WR_OK;
}

const struct transform_ops mask_field_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = mask_field_apply,
};
