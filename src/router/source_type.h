/* router/source_type.h - a column's type in the source, said in its schema. */
#ifndef WR_ROUTER_SOURCE_TYPE_H
#define WR_ROUTER_SOURCE_TYPE_H

#include "decoder/schema.h"
#include "decoder/types.h"

struct wr_arena;

enum { SOURCE_TYPE_PARAMETER_COUNT = 4 };

/*
 * Sets column.propagate.source.type's parameters of a column: the type's name as pg_type has it,
 * its length, its scale and the column's own name. False: the arena is full.
 */
bool source_type_parameters(const struct column_type *type, const char *type_name,
                            const char *column_name, struct wr_arena *arena,
                            struct schema_parameter out[SOURCE_TYPE_PARAMETER_COUNT]);

/* How many characters a varchar(n) or char(n) may have; 0: there is no bound. */
uint32_t source_type_text_size_max(const struct column_type *type);

#endif /* WR_ROUTER_SOURCE_TYPE_H */
