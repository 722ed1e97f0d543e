/* router/schemas.h - what is published, as Connect's schemas say it: rows, keys and envelopes. */
#ifndef WR_ROUTER_SCHEMAS_H
#define WR_ROUTER_SCHEMAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct column_type;
struct config;
struct datum;
struct relation;
struct schema;
struct schema_parameter;
struct wr_arena;

/* The schemas that are the same for all tables. They live as long as this. */
struct schemas {
    struct wr_arena *arena;
    const struct config *config;
    const struct schema *source;      /* of every envelope */
    const struct schema *transaction; /* likewise, optional */
    const struct schema *message_key; /* of logical messages */
    const struct schema *message_value;
    const struct schema *heartbeat_key;
    const struct schema *heartbeat_value;
};

void schemas_init(struct schemas *schemas, const struct config *config);
void schemas_done(struct schemas *schemas);

/*
 * The schema of a column's values: `type`'s, optional or not, with `default_value` unless that is
 * DATUM_NULL. NULL: the arena is full.
 */
const struct schema *schemas_column(struct wr_arena *arena, const struct column_type *type,
                                    bool is_optional, const struct datum *default_value);

/* `schema` with `count` parameters behind its own; itself where that is 0. NULL: no room. */
const struct schema *schemas_with_parameters(struct wr_arena *arena, const struct schema *schema,
                                             const struct schema_parameter *more, size_t count);

/*
 * Sets the schemas of rows, keys and envelopes in the plan of a relation that has its columns and
 * its topic. WR_FATAL: they do not fit the relation's arena.
 */
WR_MUST_USE enum wr_status schemas_compile(const struct schemas *schemas, struct relation *relation,
                                           struct wr_error *err);

#endif /* WR_ROUTER_SCHEMAS_H */
