#include "decoder/schema.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "decoder/schema_known.h"

/* Below are the ids of constants: first the known schemas, then the plain ones. */
enum {
    PLAIN_COUNT = SCHEMA_BYTES + 1,
    FIRST_FREE_ID = SCHEMA_KNOWN_COUNT + 2 * PLAIN_COUNT,
};

static uint64_t next_id(void)
{
    static atomic_uint_fast64_t last_id = FIRST_FREE_ID;

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

struct schema *schema_struct(struct wr_arena *arena, const char *name, int32_t version,
                             const struct schema_field *fields, size_t field_count)
{
    struct schema *schema = schema_new(arena, SCHEMA_STRUCT);
    struct schema_field *copies = wr_arena_alloc(arena, field_count + 1, sizeof(*copies));

    if (schema == NULL || copies == NULL) {
        return NULL;
    }
    if (field_count > 0) {
        memcpy(copies, fields, field_count * sizeof(*copies));
    }
    schema->name = name;
    schema->version = version;
    schema->fields = copies;
    schema->field_count = field_count;
    return schema;
}

#define PLAIN(schema_type)                                                                         \
    [schema_type] = {                                                                              \
        {.id = SCHEMA_KNOWN_COUNT + 2 * (schema_type), .type = (schema_type)},                     \
        {.id = SCHEMA_KNOWN_COUNT + 2 * (schema_type) + 1,                                         \
         .type = (schema_type),                                                                    \
         .is_optional = true},                                                                     \
    }

const struct schema *schema_plain(enum schema_type type, bool is_optional)
{
    static const struct schema PLAIN_SCHEMAS[PLAIN_COUNT][2] = {
        PLAIN(SCHEMA_INT8),    PLAIN(SCHEMA_INT16),   PLAIN(SCHEMA_INT32),
        PLAIN(SCHEMA_INT64),   PLAIN(SCHEMA_FLOAT32), PLAIN(SCHEMA_FLOAT64),
        PLAIN(SCHEMA_BOOLEAN), PLAIN(SCHEMA_STRING),  PLAIN(SCHEMA_BYTES),
    };

    assert(type <= SCHEMA_BYTES);
    return &PLAIN_SCHEMAS[type][is_optional];
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
