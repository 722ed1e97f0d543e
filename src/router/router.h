/* router/router.h - a change in, the records it becomes out. Pure: no socket, clock or log. */
#ifndef WR_ROUTER_ROUTER_H
#define WR_ROUTER_ROUTER_H

#include <stdbool.h>

#include "base/status.h"
#include "decoder/catalog.h"
#include "decoder/pgoutput.h"
#include "router/record.h"

struct config;
struct notification;
struct router;
struct wr_arena;

/* Where the router's results go. */
struct router_sink {
    void *context;
    /* One record, borrowed for the call. What it returns ends the change with that status. */
    enum wr_status (*emit)(void *context, const struct record *record, struct wr_error *err);
    /*
     * A record that a row should make and cannot, where others are made of it as well: `err` is
     * WR_REJECT. WR_OK: go on with them.
     */
    enum wr_status (*refuse)(void *context, const struct change *change, struct wr_error *err);
    /* Something that a person should know, and that stops nothing. */
    void (*notice)(void *context, const char *text);
};

/* Compiles what does not depend on a table. `config` must outlive the router. */
WR_MUST_USE enum wr_status router_new(const struct config *config, const struct router_sink *sink,
                                      struct router **out, struct wr_error *err);
void router_free(struct router *router); /* NULL is allowed */

/* Whether rows of this table are published at all. */
bool router_captures(const struct router *router, const char *schema, const char *table);

/*
 * Makes `relation->plan`, asking `catalog` for what the WAL does not say. To be called for every
 * Relation message before a row of it. WR_RETRY as the catalog says.
 */
WR_MUST_USE enum wr_status router_compile(struct router *router, struct relation *relation,
                                          const struct catalog_source *catalog,
                                          struct wr_error *err);

/*
 * Emits the records of one change, in order. `scratch` holds values that are made; the caller
 * resets it after the change. WR_REJECT: this row cannot be relayed; the text names table and
 * column. WR_FATAL: the tuple does not fit its relation. Else what emit returned.
 */
WR_MUST_USE enum wr_status router_change(struct router *router, const struct change *change,
                                         struct wr_arena *scratch, struct wr_error *err);

/* Emits a logical message (pg_logical_emit_message), unless its prefix is filtered out. */
WR_MUST_USE enum wr_status router_message(struct router *router, const struct message *message,
                                          const struct change_source *source,
                                          struct wr_arena *scratch, struct wr_error *err);

/* Emits a notification, in notification.sink.topic.name: nothing without one. */
WR_MUST_USE enum wr_status router_notification(struct router *router,
                                               const struct notification *notification,
                                               const struct change_source *source,
                                               struct wr_arena *scratch, struct wr_error *err);

/*
 * The bounds of a transaction. With provide.transaction.metadata each emits its record, and until
 * the end the block of `source->transaction` counts with the events; without it nothing happens.
 */
WR_MUST_USE enum wr_status router_begin(struct router *router, struct change_source *source,
                                        struct wr_arena *scratch, struct wr_error *err);
WR_MUST_USE enum wr_status router_commit(struct router *router, struct change_source *source,
                                         struct wr_arena *scratch, struct wr_error *err);

/* Emits a heartbeat (heartbeat.interval.ms), whose time is that of `source`. */
WR_MUST_USE enum wr_status router_heartbeat(struct router *router,
                                            const struct change_source *source,
                                            struct wr_arena *scratch, struct wr_error *err);

#endif /* WR_ROUTER_ROUTER_H */
