/* router/routes/state.h - what the routes of a configuration keep; of route.c and emit.c. */
#ifndef WR_ROUTER_ROUTES_STATE_H
#define WR_ROUTER_ROUTES_STATE_H

#include <stdint.h>

#include "base/buffer.h"

struct config;
struct router_sink;
struct topic_owners;
struct wr_regex_list;

struct routes {
    const struct config *config;
    const struct router_sink *sink;
    struct wr_regex_list **tables; /* by route; NULL: every table */
    struct topic_owners *known;    /* what was said of tables, and which routes were right */
    struct wr_buffer keys, names;
    char commit[24]; /* `commit_us` in words: it changes with the transaction only */
    int64_t commit_us;
};

#endif /* WR_ROUTER_ROUTES_STATE_H */
