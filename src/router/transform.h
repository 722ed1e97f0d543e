/* router/transform.h - functions from record to record, chained as `transforms` says. */
#ifndef WR_ROUTER_TRANSFORM_H
#define WR_ROUTER_TRANSFORM_H

#include <stddef.h>

#include "base/status.h"
#include "config/transform_config.h"
#include "router/record.h"
#include "router/router.h"
#include "router/schema_memo.h"

struct transform;
struct wr_arena;

/*
 * How a transform works. It sees parts as the router made them (PART_ROW, PART_ENVELOPE, …), which
 * cost nothing, or asks part_expand() (tree.h) for the typed tree of one, PART_DATUM, and puts
 * another tree in its place. Its new schema depends on the old one alone, so it is made once:
 * transform_schema() keeps it. Values live in `scratch`. A failed make() is followed by free().
 */
struct transform_ops {
    WR_MUST_USE enum wr_status (*make)(const struct transform_config *config,
                                       struct transform *transform, struct wr_error *err);
    void (*free)(struct transform *transform); /* may be NULL */
    /* Settles what one table decides; the result lives in the relation's arena. May be NULL. */
    WR_MUST_USE enum wr_status (*compile)(const struct transform *transform,
                                          const struct relation *relation, void **compiled,
                                          struct wr_error *err);
    /* Changes `record` in place; false in `keep` drops it. `compiled` is NULL without a table. */
    WR_MUST_USE enum wr_status (*apply)(const struct transform *transform, const void *compiled,
                                        struct record *record, struct wr_arena *scratch, bool *keep,
                                        struct wr_error *err);
};

struct transform {
    const struct transform_ops *ops;
    const struct transform_config *config;
    const struct router_sink *sink; /* for notices */
    void *state;
    size_t index;             /* in the chain */
    struct schema_memo *memo; /* of records without a relation */
};

#define WR_TRANSFORM_OPS(KIND, name, class, side) extern const struct transform_ops name##_ops;
WR_TRANSFORMS(WR_TRANSFORM_OPS)
#undef WR_TRANSFORM_OPS

#endif /* WR_ROUTER_TRANSFORM_H */
