/* router/chain.h - the transforms of a configuration, one behind the other. */
#ifndef WR_ROUTER_CHAIN_H
#define WR_ROUTER_CHAIN_H

#include <stdbool.h>

#include "base/status.h"
#include "router/schema_memo.h"

struct chain;
struct config;
struct record;
struct relation;
struct router_sink;
struct wr_arena;

/* What is settled for a table. */
struct chain_plan {
    bool *topic_matches; /* by predicate: whether the table's own topic does */
    struct {
        void *compiled; /* the transform's own */
        struct schema_memo memo;
    } links[]; /* by transform */
};

/* `config` and `sink` must outlive it. WR_FATAL: an option of a transform cannot work. */
WR_MUST_USE enum wr_status chain_new(const struct config *config, const struct router_sink *sink,
                                     struct chain **out, struct wr_error *err);
void chain_free(struct chain *chain); /* NULL is allowed */

/* Makes `relation->plan->chain`; its topic and schemas are there. Statuses as the transforms'. */
WR_MUST_USE enum wr_status chain_compile(const struct chain *chain, struct relation *relation,
                                         struct wr_error *err);

/* Sends `record` through; false in `keep` when a transform dropped it. */
WR_MUST_USE enum wr_status chain_apply(const struct chain *chain, struct record *record,
                                       struct wr_arena *scratch, bool *keep, struct wr_error *err);

#endif /* WR_ROUTER_CHAIN_H */
