#include "router/transforms/reshape.h"

#include <assert.h>

#include "base/arena.h"
#include "decoder/schema.h"
#include "router/transforms/smt.h"

bool reshape_init(struct reshape *reshape, const struct schema *source, const struct schema *like,
                  size_t field_count_max, struct wr_arena *arena)
{
    struct schema *schema =
        like == NULL ? schema_new(arena, SCHEMA_STRUCT) : schema_copy(arena, like);

    *reshape = (struct reshape){
        .source = source,
        .schema = schema,
        .fields = wr_arena_alloc(arena, field_count_max + 1, sizeof(*reshape->fields)),
        .steps = wr_arena_alloc(arena, field_count_max + 1, sizeof(*reshape->steps)),
    };
    if (schema == NULL || reshape->fields == NULL || reshape->steps == NULL) {
        return false;
    }
    schema->is_optional = false;
    schema->default_value = NULL;
    schema->fields = reshape->fields;
    schema->field_count = 0;
    return true;
}

bool reshape_add(struct reshape *reshape, struct wr_slice name, const struct schema *schema,
                 ptrdiff_t from, const struct datum *instead)
{
    size_t count = reshape->schema->field_count;

    if (smt_field_index(reshape->schema, name) != SMT_NO_FIELD) {
        return false;
    }
    reshape->fields[count] = (struct schema_field){.name = name, .schema = schema};
    reshape->steps[count] = (struct reshape_step){.from = from, .instead = instead};
    reshape->schema->field_count++;
    return true;
}

bool reshape_keep(struct reshape *reshape, size_t index, bool replace_null_with_default)
{
    const struct schema_field *field = &reshape->source->fields[index];

    return reshape_add(reshape, field->name, field->schema, (ptrdiff_t)index,
                       smt_default(field->schema, replace_null_with_default));
}

struct datum_field *reshape_apply(const struct reshape *reshape, const struct datum *structure,
                                  struct wr_arena *scratch, struct datum *out)
{
    size_t count = reshape->schema->field_count;
    struct datum_field *fields = wr_arena_alloc_raw(scratch, count + 1, sizeof(*fields));

    if (fields == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const struct reshape_step *step = &reshape->steps[i];
        fields[i] = (struct datum_field){.name = reshape->fields[i].name};
        if (step->from == RESHAPE_NEW) {
            continue;
        }
        const struct datum *value = smt_field_value(reshape->source, structure, (size_t)step->from);
        fields[i].value =
            value->kind == DATUM_NULL && step->instead != NULL ? *step->instead : *value;
    }
    *out = (struct datum){.kind = DATUM_STRUCT, .as.structure = {.fields = fields, .count = count}};
    return fields;
}
