#include "decoder/schema.h"

#include <stdatomic.h>

#include "base/arena.h"
#include "decoder/schema_known.h"

static uint64_t next_id(void)
{
    static atomic_uint_fast64_t last_id = SCHEMA_KNOWN_COUNT; /* those before are constants' */

    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

struct schema *schema_new(struct wr_arena *arena, enum schema_type type)
{
    struct schema *schema = wr_arena_alloc(arena, 1, sizeof(*schema));

    if (schema != NULL) {
        *schema = (struct schema){.id = next_id(), .type = type};
    }
    return schema;
}

struct schema *schema_copy(struct wr_arena *arena, const struct schema *schema)
{
    struct schema *copy = schema_new(arena, schema->type);

    if (copy != NULL) {
        uint64_t id = copy->id;
        *copy = *schema;
        copy->id = id;
    }
    return copy;
}

const struct schema *schema_with_optional(struct wr_arena *arena, const struct schema *schema,
                                          bool is_optional)
{
    if (schema == NULL || schema->is_optional == is_optional) {
        return schema;
    }
    struct schema *copy = schema_copy(arena, schema);
    if (copy != NULL) {
        copy->is_optional = is_optional;
    }
    return copy;
}

const struct schema_field *schema_field(const struct schema *schema, struct wr_slice name)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        if (wr_slice_eq(schema->fields[i].name, name)) {
            return &schema->fields[i];
        }
    }
    return NULL;
}
