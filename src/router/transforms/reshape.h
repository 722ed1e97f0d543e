/* router/transforms/reshape.h - a structure made of the fields of another one, settled once for its
 * schema. */
#ifndef WR_ROUTER_TRANSFORMS_RESHAPE_H
#define WR_ROUTER_TRANSFORMS_RESHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "decoder/datum.h"

struct schema;
struct schema_field;
struct wr_arena;

enum { RESHAPE_NEW = -1 }; /* a field that is not in the old structure */

struct reshape_step {
    ptrdiff_t from;              /* place in the old structure, or RESHAPE_NEW */
    const struct datum *instead; /* of a null; NULL: it stays */
};

struct reshape {
    const struct schema *source;
    struct schema *schema; /* of the result */
    struct schema_field *fields;
    struct reshape_step *steps;
};

/*
 * Begins one of up to `field_count_max` fields, to be made of `source`. Its schema has the name,
 * version and parameters of `like`, and is required; `like` NULL: it has none. False: no room.
 */
bool reshape_init(struct reshape *reshape, const struct schema *source, const struct schema *like,
                  size_t field_count_max, struct wr_arena *arena);

/* Appends a field. False: there is one of that name. */
bool reshape_add(struct reshape *reshape, struct wr_slice name, const struct schema *schema,
                 ptrdiff_t from, const struct datum *instead);

/* Appends the field at `index` of the source as it is. False: there is one of that name. */
bool reshape_keep(struct reshape *reshape, size_t index, bool replace_null_with_default);

/*
 * Makes the structure; new fields are null, for the caller to fill, in the array returned, which
 * `out` borrows. NULL: no room in `scratch`.
 */
struct datum_field *reshape_apply(const struct reshape *reshape, const struct datum *structure,
                                  struct wr_arena *scratch, struct datum *out);

#endif /* WR_ROUTER_TRANSFORMS_RESHAPE_H */
