/* org.apache.kafka.connect.transforms.InsertField: what is known of the record becomes fields. */
#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/reshape.h"
#include "router/transforms/smt.h"

enum { INSERTED_COUNT_MAX = 4 };

/* org.apache.kafka.connect.data.Timestamp */
static const struct schema *timestamp_schema(struct wr_arena *arena)
{
    struct schema *schema = schema_new(arena, SCHEMA_INT64);

    if (schema != NULL) {
        schema->name = "org.apache.kafka.connect.data.Timestamp";
        schema->version = 1;
    }
    return schema;
}

/* Appends the field, when there is one to be added. */
static enum wr_status insert(const struct smt_call *call, struct reshape *reshape,
                             const struct inserted_field *field, const struct schema *schema,
                             struct wr_arena *arena, struct wr_error *err)
{
    if (field->name == NULL) {
        return WR_OK;
    }
    schema = schema_with_optional(arena, schema, !field->is_required);
    if (schema == NULL) {
        return smt_no_room(call, err);
    }
    if (!reshape_add(reshape, wr_slice_str(field->name), schema, RESHAPE_NEW, NULL)) {
        return smt_reject(call, err, "there is a field %s already", field->name);
    }
    return WR_OK;
}

static enum wr_status insert_plan(const struct smt_call *call, struct wr_arena *arena, void **plan,
                                  struct wr_error *err)
{
    const struct insert_field_config *c = &call->transform->config->as.insert_field;
    const struct schema *old = call->schema;
    struct reshape *reshape = wr_arena_alloc(arena, 1, sizeof(*reshape));

    if (reshape == NULL ||
        !reshape_init(reshape, old, old, old->field_count + INSERTED_COUNT_MAX, arena)) {
        return smt_no_room(call, err);
    }
    for (size_t i = 0; i < old->field_count; i++) {
        if (!reshape_keep(reshape, i, c->replace_null_with_default)) {
            return smt_reject(call, err, "field %.*s is there twice", (int)old->fields[i].name.size,
                              old->fields[i].name.data);
        }
    }
    const struct schema *text = schema_new(arena, SCHEMA_STRING);
    enum wr_status status = insert(call, reshape, &c->topic, text, arena, err);
    if (status == WR_OK) {
        status = insert(call, reshape, &c->partition, schema_new(arena, SCHEMA_INT32), arena, err);
    }
    if (status == WR_OK) {
        status = insert(call, reshape, &c->timestamp, timestamp_schema(arena), arena, err);
    }
    if (status == WR_OK) {
        status = insert(call, reshape, &c->fixed, text, arena, err);
    }
    *plan = reshape;
    return status;
}

/* The number, or null where it is not known, which a required field must not be. */
static enum wr_status fill_number(const struct smt_call *call, const struct inserted_field *field,
                                  int64_t value, struct datum_field **next, struct wr_error *err)
{
    if (field->name == NULL) {
        return WR_OK;
    }
    if (value >= 0) {
        (*next)->value = (struct datum){.kind = DATUM_INT, .as.integer = value};
    } else if (field->is_required) {
        return smt_reject(call, err,
                          "field %s is required, and the record has none: take the ! off",
                          field->name);
    }
    (*next)++;
    return WR_OK;
}

static void fill_text(const struct inserted_field *field, struct wr_slice text,
                      struct datum_field **next)
{
    if (field->name != NULL) {
        (*next)->value = (struct datum){.kind = DATUM_STRING, .as.bytes = text};
        (*next)++;
    }
}

static enum wr_status insert_field_apply(const struct transform *t, const void *compiled,
                                         struct record *record, struct wr_arena *scratch,
                                         bool *keep, struct wr_error *err)
{
    const struct insert_field_config *c = &t->config->as.insert_field;
    struct smt_call call;
    struct datum_field *fields = NULL;
    const void *plan = NULL;
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    if (status == WR_OK) {
        status = smt_reshape(&call, insert_plan, &plan, &fields, err);
    }
    if (status != WR_OK || fields == NULL) {
        return status;
    }
    struct datum_field *next = fields + call.schema->field_count;
    fill_text(&c->topic, record->topic, &next);
    status = fill_number(&call, &c->partition, record->partition, &next, err);
    if (status == WR_OK) {
        status = fill_number(&call, &c->timestamp, record->timestamp_ms, &next, err);
    }
    if (status == WR_OK && c->fixed.name != NULL) {
        fill_text(&c->fixed, wr_slice_str(c->static_value), &next);
    }
    return status;
}

const struct transform_ops insert_field_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = insert_field_apply,
};
