/* org.apache.kafka.connect.transforms.Flatten: structures in structures become fields of one. */
#include <string.h>

#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/smt.h"

/* The flat schema while it is made. */
struct flat {
    const struct smt_call *call;
    struct wr_arena *arena;
    struct schema_field *fields;
    struct schema *schema;
};

static size_t leaf_count(const struct schema *schema)
{
    size_t count = 0;

    for (size_t i = 0; i < schema->field_count; i++) {
        const struct schema *field = schema->fields[i].schema;
        count += field->type == SCHEMA_STRUCT ? leaf_count(field) : 1;
    }
    return count;
}

static struct wr_slice join(const struct flat *flat, struct wr_slice prefix, struct wr_slice name)
{
    const char *delimiter = flat->call->transform->config->as.flatten.delimiter;

    if (prefix.size == 0) {
        return name;
    }
    const char *joined =
        wr_arena_printf(flat->arena, "%.*s%s%.*s", (int)prefix.size, prefix.data,
                        delimiter == NULL ? "" : delimiter, (int)name.size, name.data);
    return joined == NULL ? (struct wr_slice){0} : wr_slice_str(joined);
}

static enum wr_status add_leaf(struct flat *flat, struct wr_slice name, const struct schema *schema,
                               bool is_optional, struct wr_error *err)
{
    if (schema->type == SCHEMA_MAP) {
        return smt_reject(flat->call, err, "field %.*s is a map, which has no fixed fields",
                          (int)name.size, name.data);
    }
    if (smt_field_index(flat->schema, name) != SMT_NO_FIELD) {
        return smt_reject(flat->call, err, "two fields would have the name %.*s", (int)name.size,
                          name.data);
    }
    const struct schema *made =
        schema_with_optional(flat->arena, schema, is_optional || schema->is_optional);
    if (made == NULL) {
        return smt_no_room(flat->call, err);
    }
    flat->fields[flat->schema->field_count++] = (struct schema_field){.name = name, .schema = made};
    return WR_OK;
}

/* A field below a structure that may be missing may be missing, too. */
static enum wr_status add_fields(struct flat *flat, struct wr_slice prefix,
                                 const struct schema *schema, bool is_optional,
                                 struct wr_error *err)
{
    enum wr_status status = WR_OK;

    for (size_t i = 0; status == WR_OK && i < schema->field_count; i++) {
        const struct schema *field = schema->fields[i].schema;
        struct wr_slice name = join(flat, prefix, schema->fields[i].name);
        if (name.data == NULL) {
            return smt_no_room(flat->call, err);
        }
        if (field->type == SCHEMA_STRUCT) {
            status = add_fields(flat, name, field, is_optional || field->is_optional, err);
        } else {
            status = add_leaf(flat, name, field, is_optional, err);
        }
    }
    return status;
}

static enum wr_status flatten_plan(const struct smt_call *call, struct wr_arena *arena, void **plan,
                                   struct wr_error *err)
{
    const struct schema *old = call->schema;
    struct flat flat = {
        .call = call,
        .arena = arena,
        .schema = schema_copy(arena, old),
        .fields = wr_arena_alloc(arena, leaf_count(old) + 1, sizeof(*flat.fields)),
    };

    if (flat.schema == NULL || flat.fields == NULL) {
        return smt_no_room(call, err);
    }
    flat.schema->is_optional = false;
    flat.schema->default_value = NULL;
    flat.schema->fields = flat.fields;
    flat.schema->field_count = 0;
    *plan = flat.schema;
    return add_fields(&flat, (struct wr_slice){0}, old, old->is_optional, err);
}

/* The leaves in the order of the flat schema; `structure` NULL: all of them are null. */
static void add_values(const struct schema *schema, const struct datum *structure,
                       struct datum_field **next)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct schema *field = schema->fields[i].schema;
        const struct datum *value =
            structure == NULL ? NULL : smt_field_value(schema, structure, i);
        if (field->type == SCHEMA_STRUCT) {
            add_values(field, value == NULL || value->kind != DATUM_STRUCT ? NULL : value, next);
            continue;
        }
        if (value != NULL && value->kind == DATUM_NULL && field->default_value != NULL) {
            value = field->default_value; /* Struct.get(); there is no option against it */
        }
        if (value != NULL) {
            (*next)->value = *value;
        }
        (*next)++;
    }
}

static enum wr_status flatten_apply(const struct transform *t, const void *compiled,
                                    struct record *record, struct wr_arena *scratch, bool *keep,
                                    struct wr_error *err)
{
    struct smt_call call;
    const void *plan = NULL;
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    if (status != WR_OK || call.is_null) {
        return status;
    }
    status = smt_need_structure(&call, err);
    if (status == WR_OK) {
        status = smt_plan(&call, flatten_plan, &plan, err);
    }
    if (status != WR_OK) {
        return status;
    }
    const struct schema *schema = plan;
    struct datum_field *fields = wr_arena_alloc(scratch, schema->field_count + 1, sizeof(*fields));
    if (fields == NULL) {
        return smt_no_room(&call, err);
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        fields[i].name = schema->fields[i].name;
    }
    struct datum_field *next = fields;
    add_values(call.schema, &call.part->as.datum, &next);
    *call.part =
        smt_part(&call, schema,
                 (struct datum){.kind = DATUM_STRUCT,
                                .as.structure = {.fields = fields, .count = schema->field_count}});
    return WR_OK;
}

const struct transform_ops flatten_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = flatten_apply,
};
