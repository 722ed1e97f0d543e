/* decoder/relation.h - one table's shape, from a pgoutput Relation ('R') message. */
#ifndef WR_DECODER_RELATION_H
#define WR_DECODER_RELATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct route_plan;
struct wr_arena;
struct wr_cursor;

struct column {
    const char *name;
    uint32_t type_oid;
    int32_t type_mod; /* -1 when the type has none */
    bool is_key;      /* part of the replica identity */
};

struct relation {
    struct wr_arena *arena;  /* owns everything here, and what is compiled from it */
    struct route_plan *plan; /* the router's, NULL until compiled */
    uint32_t tag; /* the relay's, to name the table of a record that comes back; 0: none */
    uint32_t oid;
    const char *schema; /* never empty: "" on the wire is pg_catalog */
    const char *table;
    char replica_identity; /* 'd', 'n', 'f' or 'i', as pg_class.relreplident */
    uint16_t column_count;
    struct column *columns;
};

/*
 * Decodes a Relation message; `in` stands after the type byte (and after the
 * xid, inside a streamed block). Everything in `out` is owned by `arena` and
 * outlives the message; `plan` is NULL. On WR_FATAL `out` is undefined and the stream must not
 * go on: a later row would be read against the wrong columns.
 */
WR_MUST_USE enum wr_status relation_decode(struct wr_cursor *in, struct wr_arena *arena,
                                           struct relation *out, struct wr_error *err);

#endif /* WR_DECODER_RELATION_H */
