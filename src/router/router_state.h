/* router/router_state.h - a router, for the files of it only. */
#ifndef WR_ROUTER_ROUTER_STATE_H
#define WR_ROUTER_ROUTER_STATE_H

#include "base/buffer.h"
#include "base/status.h"
#include "decoder/types.h"
#include "router/router.h"
#include "router/schemas.h"

struct chain;
struct filter;
struct left_out;
struct notifications;
struct record;
struct routes;
struct rules;
struct topic_owners;
struct transactions;

struct router {
    const struct config *config;
    struct router_sink sink;
    struct filter *filter;
    struct rules *rules;
    struct schemas schemas;
    struct type_options type_options;
    struct chain *chain;
    struct wr_buffer message_topic;
    struct wr_buffer heartbeat_topic;
    struct topic_owners *topic_owners;
    struct left_out *left_out;
    struct transactions *transactions;   /* NULL: no metadata is provided */
    struct notifications *notifications; /* NULL: no topic is for them */
    struct routes *routes;               /* NULL: there are none */
};

/* Runs the chain, then hands the record on. */
WR_MUST_USE enum wr_status router_emit(struct router *r, struct record *record,
                                       struct wr_arena *scratch, struct wr_error *err);

#endif /* WR_ROUTER_ROUTER_STATE_H */
