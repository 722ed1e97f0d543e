/* router/plan.h - what is settled once for a table, so that nothing is looked up for a row. */
#ifndef WR_ROUTER_PLAN_H
#define WR_ROUTER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "decoder/datum.h"
#include "decoder/types.h"

struct chain_plan;
struct column_hash;
struct schema;
struct table_route;

struct column_plan {
    const char *name;          /* as it is published: field.name.adjustment.mode has been there */
    struct wr_slice json_name; /* "name": quoted and escaped, with its colon */
    uint16_t index;            /* in the tuple */
    bool is_identity;          /* part of the replica identity: known in a key-only tuple */
    struct column_type type;
    struct datum unavailable;       /* for an unchanged TOAST value that nobody holds */
    struct datum absent;            /* for a column that a key-only tuple does not hold */
    const struct schema *schema;    /* the type's, optional where the column may be null, with its
                                       default and propagated parameters */
    const struct datum *mask;       /* column.mask.with.N.chars: every value is this one */
    const struct column_hash *hash; /* column.mask.hash: of every text that is there */
    uint32_t truncate_size; /* column.truncate.to.N.chars, or what a hash is cut to; 0: whole */
};

/* Owned by the relation's arena. */
struct route_plan {
    bool is_captured;                  /* false: rows pass by unseen */
    const struct column_plan *columns; /* all of the relation, by tuple index; some unpublished */
    const struct column_plan **value_columns;
    size_t value_column_count;
    const struct column_plan *
        *key_columns; /* of the message key, in its order; count 0: null key */
    size_t key_column_count;
    const struct schema *row_schema;      /* <topic>.Value, optional */
    const struct schema *key_schema;      /* <topic>.Key, NULL without a key */
    const struct schema *envelope_schema; /* <topic>.Envelope */
    struct wr_slice topic;
    size_t collection;          /* the table's number where transactions are counted */
    struct wr_slice table_json; /* "schema":"…","table":"…" of `source` */
    struct chain_plan *chain;   /* what the transforms settled */
    const struct table_route *routes;
    size_t route_count;
    bool is_routed_only; /* no change events */
};

#endif /* WR_ROUTER_PLAN_H */
