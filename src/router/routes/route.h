/* router/routes/route.h - the routes of a configuration: from a change to the records of derived
 * systems.
 */
#ifndef WR_ROUTER_ROUTES_ROUTE_H
#define WR_ROUTER_ROUTES_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/status.h"
#include "config/route_config.h"
#include "decoder/catalog.h"
#include "router/record.h"
#include "router/routes/condition.h"
#include "router/routes/document.h"
#include "router/routes/template.h"

struct config;
struct filter;
struct relation;
struct router_sink;
struct routes;
struct wr_arena;

/* What a warehouse gets of a table's rows. */
struct warehouse_shape {
    const struct relation *relation;
    enum route_format format;
    struct document key;
    struct document columns;
};

/* A route, as it is for one table. */
struct table_route {
    const struct route_config *config;
    const char *broken; /* why no row can be made any more; NULL: it can */
    struct wr_slice topic;
    struct wr_slice table; /* "public.events" */
    const struct condition *where;
    const struct column_plan *
        *watched; /* only.when.changed, and what the record's key is made of */
    size_t watched_count;
    struct template id;          /* search */
    const struct template *keys; /* cache */
    size_t key_count;
    struct document document; /* search; cache where it has one */
    struct warehouse_shape warehouse;
};

/* What the functions below share while one change passes one route. */
struct route_call {
    const struct table_route *route;
    const struct change *change;
    enum change_op op;       /* a row that stops to match is a delete */
    struct row_view before;  /* columns NULL: not known */
    struct row_view after;   /* columns NULL: there is none */
    struct row_view key_row; /* has the key of what is deleted, and may be the new row */
    struct wr_arena *scratch;
    struct wr_buffer *keys;  /* for what is made: keys, */
    struct wr_buffer *names; /* and names of unknown fields */
    struct wr_slice commit;  /* the header */
    const struct router_sink *sink;
};

/* `config` and `sink` must outlive it. NULL in `out`: none are configured. */
WR_MUST_USE enum wr_status routes_new(const struct config *config, const struct router_sink *sink,
                                      struct routes **out, struct wr_error *err);
void routes_free(struct routes *routes); /* NULL is allowed */

/*
 * Settles the routes of a relation whose plan is there; gives notice of a table that a route names
 * and nobody captures. WR_FATAL: a route names a column that the table does not have; but one that
 * it had when it was first seen, or that the catalog knows today, is the rows' affair.
 */
WR_MUST_USE enum wr_status routes_compile(struct routes *routes, const struct filter *filter,
                                          struct relation *relation,
                                          const struct catalog_source *catalog,
                                          struct wr_error *err);

/* Emits the records of all routes. A record that cannot be made goes to the sink's refuse. */
WR_MUST_USE enum wr_status routes_change(struct routes *routes, const struct change *change,
                                         struct wr_arena *scratch, struct wr_error *err);

/* Starts a record with the headers that all of them have. */
WR_MUST_USE enum wr_status route_record_start(const struct route_call *call, struct record *out,
                                              struct wr_error *err);
/* Header and notice of the fields of `document` that the row does not hold; they are left out. */
WR_MUST_USE enum wr_status route_add_unknown(const struct route_call *call,
                                             const struct document *document,
                                             const struct row_view *row, struct record *record,
                                             struct wr_error *err);
WR_MUST_USE enum wr_status route_add_types(const struct document *document, struct record *record,
                                           struct wr_error *err);
/* The header of a record whose key has moved: the old key. */
#define ROUTE_MOVED_FROM "walrelay.moved.from"
struct record_part route_verbatim(struct wr_slice text);

/* One file each. */
WR_MUST_USE enum wr_status route_search_emit(const struct route_call *call, struct wr_error *err);
WR_MUST_USE enum wr_status route_cache_emit(const struct route_call *call, struct wr_error *err);
WR_MUST_USE enum wr_status route_warehouse_emit(const struct route_call *call,
                                                struct wr_error *err);

#endif /* WR_ROUTER_ROUTES_ROUTE_H */
