#include "router/transforms/smt.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/relation.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/reshape.h"
#include "router/tree.h"

enum {
    MEMO_COUNT = 16,     /* schemas of one table under one transform: before an unwrap, and after */
    SHOWN_SIZE_MAX = 64, /* of a value in an error text */
};

/* Plans by the id of the schema that they are for. Lives in the relation's arena, as they do. */
struct smt_memo {
    struct wr_arena *arena;
    size_t count;
    struct {
        uint64_t schema_id;
        const void *plan;
    } entries[MEMO_COUNT];
};

enum wr_status smt_make(const struct transform_config *config, struct transform *transform,
                        struct wr_error *err)
{
    (void)config;
    (void)transform;
    (void)err;
    return WR_OK;
}

enum wr_status smt_compile(const struct transform *transform, const struct relation *relation,
                           void **compiled, struct wr_error *err)
{
    struct smt_memo *memo = wr_arena_alloc(relation->arena, 1, sizeof(*memo));

    if (memo == NULL) {
        return wr_fail(err, WR_FATAL, "transform", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                       relation->schema, relation->table);
    }
    (void)transform;
    memo->arena = relation->arena;
    *compiled = memo;
    return WR_OK;
}

/* A schema for a value that has none, so that there is one way to work on both. */
static const struct schema *schema_infer(const struct datum *datum, struct wr_arena *arena)
{
    static const enum schema_type TYPES[] = {
        [DATUM_NULL] = SCHEMA_STRING,     [DATUM_BOOL] = SCHEMA_BOOLEAN,
        [DATUM_INT] = SCHEMA_INT64,       [DATUM_FLOAT32] = SCHEMA_FLOAT32,
        [DATUM_FLOAT64] = SCHEMA_FLOAT64, [DATUM_STRING] = SCHEMA_STRING,
        [DATUM_BYTES] = SCHEMA_BYTES,     [DATUM_ARRAY] = SCHEMA_ARRAY,
        [DATUM_STRUCT] = SCHEMA_STRUCT,   [DATUM_JSON] = SCHEMA_STRING,
    };
    struct schema *schema = schema_new(arena, TYPES[datum->kind]);

    if (schema == NULL) {
        return NULL;
    }
    schema->is_optional = true;
    if (datum->kind == DATUM_ARRAY) {
        static const struct datum NOTHING = {.kind = DATUM_NULL};
        schema->element =
            schema_infer(datum->as.array.count > 0 ? &datum->as.array.items[0] : &NOTHING, arena);
        return schema->element == NULL ? NULL : schema;
    }
    if (datum->kind != DATUM_STRUCT) {
        return schema;
    }
    schema->field_count = datum->as.structure.count;
    struct schema_field *fields = wr_arena_alloc(arena, schema->field_count + 1, sizeof(*fields));
    for (size_t i = 0; fields != NULL && i < schema->field_count; i++) {
        fields[i].name = datum->as.structure.fields[i].name;
        fields[i].schema = schema_infer(&datum->as.structure.fields[i].value, arena);
        if (fields[i].schema == NULL) {
            return NULL;
        }
    }
    schema->fields = fields;
    return fields == NULL ? NULL : schema;
}

enum wr_status smt_open(struct smt_call *call, const struct transform *transform,
                        const void *compiled, struct record *record, bool is_key,
                        struct wr_arena *scratch, struct wr_error *err)
{
    struct record_part *part = is_key ? &record->key : &record->value;
    enum wr_status status = part_expand(record, part, scratch, err);

    *call = (struct smt_call){
        .transform = transform,
        .record = record,
        .part = part,
        .is_null = part->kind == PART_NULL || part->as.datum.kind == DATUM_NULL,
        .memo = (struct smt_memo *)(uintptr_t)compiled,
        .scratch = scratch,
    };
    if (status != WR_OK) {
        return status;
    }
    call->has_schema = part->kind != PART_NULL && part->schema != NULL;
    if (call->has_schema) {
        call->schema = part->schema;
    } else if (!call->is_null) {
        call->schema = schema_infer(&part->as.datum, scratch);
        return call->schema == NULL ? smt_no_room(call, err) : WR_OK;
    }
    return WR_OK;
}

enum wr_status smt_need_structure(const struct smt_call *call, struct wr_error *err)
{
    const char *side = call->part == &call->record->key ? "key" : "value";

    if (call->is_null) {
        return smt_reject(call, err,
                          "a null %s has no fields: keep tombstones from it with the predicate "
                          "RecordIsTombstone and negate=true",
                          side);
    }
    if (call->schema->type != SCHEMA_STRUCT || call->part->as.datum.kind != DATUM_STRUCT) {
        return smt_reject(call, err, "the %s is no structure with fields", side);
    }
    return WR_OK;
}

enum wr_status smt_plan(const struct smt_call *call, smt_plan_make make, const void **plan,
                        struct wr_error *err)
{
    struct smt_memo *memo = call->has_schema ? call->memo : NULL;
    void *made = NULL;

    for (size_t i = 0; memo != NULL && i < memo->count; i++) {
        if (memo->entries[i].schema_id == call->schema->id) {
            *plan = memo->entries[i].plan;
            return WR_OK;
        }
    }
    bool is_kept = memo != NULL && memo->count < MEMO_COUNT;
    enum wr_status status = make(call, is_kept ? memo->arena : call->scratch, &made, err);
    if (status == WR_OK && is_kept) {
        memo->entries[memo->count].schema_id = call->schema->id;
        memo->entries[memo->count].plan = made;
        memo->count++;
    }
    *plan = made;
    return status;
}

enum wr_status smt_reshape(struct smt_call *call, smt_plan_make make, const void **plan,
                           struct datum_field **fields, struct wr_error *err)
{
    struct datum made;

    *fields = NULL;
    if (call->is_null) {
        return WR_OK;
    }
    enum wr_status status = smt_need_structure(call, err);
    if (status == WR_OK) {
        status = smt_plan(call, make, plan, err);
    }
    if (status != WR_OK) {
        return status;
    }
    const struct reshape *reshape = *plan;
    *fields = reshape_apply(reshape, &call->part->as.datum, call->scratch, &made);
    if (*fields == NULL) {
        return smt_no_room(call, err);
    }
    *call->part = smt_part(call, reshape->schema, made);
    return WR_OK;
}

struct record_part smt_part(const struct smt_call *call, const struct schema *schema,
                            struct datum datum)
{
    struct record_part part = {
        .kind = PART_DATUM, .schema = call->has_schema ? schema : NULL, .as.datum = datum};

    if (datum.kind == DATUM_NULL && !call->has_schema) {
        part.kind = PART_NULL;
    }
    return part;
}

/* "public.orders, transforms.cast: ". */
static void name_place(const struct smt_call *call, char *text, size_t size)
{
    const struct change *change = call->record->change;
    const char *name = call->transform->config->name;

    if (change == NULL) {
        (void)snprintf(text, size, "transforms.%s", name);
    } else {
        (void)snprintf(text, size, "%s.%s: transforms.%s", change->relation->schema,
                       change->relation->table, name);
    }
}

enum wr_status smt_reject(const struct smt_call *call, struct wr_error *err, const char *format,
                          ...)
{
    char place[256];
    char problem[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(problem, sizeof(problem), format, args);
    va_end(args);
    name_place(call, place, sizeof(place));
    return wr_fail(err, WR_REJECT, "transform", "%s: %s", place, problem);
}

static void show_value(const struct datum *value, char *text, size_t size)
{
    switch (value->kind) {
    case DATUM_NULL:
        (void)snprintf(text, size, "null");
        break;
    case DATUM_BOOL:
        (void)snprintf(text, size, "%s", value->as.boolean ? "true" : "false");
        break;
    case DATUM_INT:
        (void)snprintf(text, size, "%lld", (long long)value->as.integer);
        break;
    case DATUM_FLOAT32:
    case DATUM_FLOAT64:
    case DATUM_STRING:
    case DATUM_JSON: {
        bool is_cut = value->as.bytes.size > SHOWN_SIZE_MAX;
        (void)snprintf(text, size, "\"%.*s\"%s",
                       (int)(is_cut ? SHOWN_SIZE_MAX : value->as.bytes.size), value->as.bytes.data,
                       is_cut ? "…" : "");
        break;
    }
    case DATUM_BYTES:
        (void)snprintf(text, size, "of %zu bytes", value->as.bytes.size);
        break;
    case DATUM_ARRAY:
        (void)snprintf(text, size, "an array");
        break;
    case DATUM_STRUCT:
        (void)snprintf(text, size, "a structure");
        break;
    }
}

enum wr_status smt_reject_value(const struct smt_call *call, struct wr_slice field,
                                const struct datum *value, const char *problem,
                                struct wr_error *err)
{
    char shown[SHOWN_SIZE_MAX + 16];
    const char *side = call->part == &call->record->key ? "key" : "value";

    show_value(value, shown, sizeof(shown));
    if (field.size == 0) {
        return smt_reject(call, err, "%s %s: %s", side, shown, problem);
    }
    return smt_reject(call, err, "field %.*s of the %s, %s: %s", (int)field.size, field.data, side,
                      shown, problem);
}

enum wr_status smt_no_room(const struct smt_call *call, struct wr_error *err)
{
    return smt_reject(call, err, "what it makes is too large");
}

ptrdiff_t smt_field_index(const struct schema *schema, struct wr_slice name)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        if (wr_slice_eq(schema->fields[i].name, name)) {
            return (ptrdiff_t)i;
        }
    }
    return SMT_NO_FIELD;
}

const struct datum *smt_field_value(const struct schema *schema, const struct datum *structure,
                                    size_t index)
{
    static const struct datum NOTHING = {.kind = DATUM_NULL};
    const struct wr_slice name = schema->fields[index].name;
    const struct datum_field *fields = structure->as.structure.fields;
    size_t count = structure->as.structure.count;

    if (index < count && wr_slice_eq(fields[index].name, name)) {
        return &fields[index].value;
    }
    for (size_t i = 0; i < count; i++) {
        if (wr_slice_eq(fields[i].name, name)) {
            return &fields[i].value;
        }
    }
    return &NOTHING;
}

bool smt_has_name(const struct config_names *names, struct wr_slice name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (wr_slice_is(name, names->items[i])) {
            return true;
        }
    }
    return false;
}

const struct datum *smt_default(const struct schema *schema, bool replace_null_with_default)
{
    return replace_null_with_default ? schema->default_value : NULL;
}
