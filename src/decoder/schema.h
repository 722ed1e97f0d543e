/* decoder/schema.h - what a value is, as Kafka Connect's schemas say it (Schema of Connect's API).
 */
#ifndef WR_DECODER_SCHEMA_H
#define WR_DECODER_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct datum;
struct schema;
struct wr_arena;

enum schema_type {
    SCHEMA_INT8,
    SCHEMA_INT16,
    SCHEMA_INT32,
    SCHEMA_INT64,
    SCHEMA_FLOAT32,
    SCHEMA_FLOAT64,
    SCHEMA_BOOLEAN,
    SCHEMA_STRING,
    SCHEMA_BYTES,
    SCHEMA_ARRAY,
    SCHEMA_MAP,
    SCHEMA_STRUCT,
};

struct schema_parameter {
    const char *name;
    const char *value;
};

struct schema_field {
    struct wr_slice name;
    const struct schema *schema;
};

/*
 * Immutable once it is shared. A schema and all that it points to live in one arena, or in arenas
 * that live longer: a table's in its relation's, constant ones for ever.
 */
struct schema {
    uint64_t id; /* of this schema alone, never given again: what is made of it is kept under it */
    enum schema_type type;
    bool is_optional;
    const char *name;                          /* as io.debezium.time.Date, or NULL */
    int32_t version;                           /* 0: none */
    const char *doc;                           /* NULL: none; written behind the version */
    const struct schema_parameter *parameters; /* in the order in which they are written */
    size_t parameter_count;
    const struct datum *default_value; /* NULL: none */
    const struct schema_field *fields; /* of a STRUCT */
    size_t field_count;
    const struct schema *key;     /* of a MAP */
    const struct schema *element; /* of an ARRAY; a MAP's values */
};

/* A schema of its own in `arena`, required and without a name. NULL: the arena is full. */
struct schema *schema_new(struct wr_arena *arena, enum schema_type type);
/* Another one with the same content, to be changed by the caller before anybody else sees it. */
struct schema *schema_copy(struct wr_arena *arena, const struct schema *schema);
/* The same, optional or not; `schema` itself where it is so already. */
const struct schema *schema_with_optional(struct wr_arena *arena, const struct schema *schema,
                                          bool is_optional);
/* A required STRUCT of `fields`, which are copied. NULL: the arena is full. */
struct schema *schema_struct(struct wr_arena *arena, const char *name, int32_t version,
                             const struct schema_field *fields, size_t field_count);
/* What is of a simple type and nothing more: one of each, for ever. Not for ARRAY, MAP, STRUCT. */
const struct schema *schema_plain(enum schema_type type, bool is_optional);
/* The field of that name of a STRUCT; NULL: none. */
const struct schema_field *schema_field(const struct schema *schema, struct wr_slice name);

#endif /* WR_DECODER_SCHEMA_H */
