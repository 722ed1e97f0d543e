/* router/compile.h - a Relation message and the catalog's word on it, made into a plan. */
#ifndef WR_ROUTER_COMPILE_H
#define WR_ROUTER_COMPILE_H

#include "base/status.h"
#include "decoder/types.h"

struct catalog_source;
struct config;
struct filter;
struct relation;
struct rules;

struct compile_context {
    const struct config *config;
    const struct filter *filter;
    const struct rules *rules;
    const struct type_options *type_options;
    const struct catalog_source *catalog;
};

/*
 * Makes `relation->plan` up to its topic and transforms, which are the router's. A table that is
 * gone from the catalog gets what the WAL alone says. WR_FATAL: message.key.columns names a column
 * that the table does not have. WR_RETRY as the catalog says.
 */
WR_MUST_USE enum wr_status plan_compile(const struct compile_context *context,
                                        struct relation *relation, struct wr_error *err);

#endif /* WR_ROUTER_COMPILE_H */
