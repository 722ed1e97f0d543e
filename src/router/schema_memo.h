/* router/schema_memo.h - the schemas that a transform made of others, so that each is made once. */
#ifndef WR_ROUTER_SCHEMA_MEMO_H
#define WR_ROUTER_SCHEMA_MEMO_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct record;
struct schema;
struct transform;
struct wr_arena;

enum { SCHEMA_MEMO_SIZE = 16 };

/* Of one transform, for one relation or for all records without one. */
struct schema_memo {
    struct wr_arena *arena; /* where what is kept lives */
    size_t count;
    struct {
        uint64_t old_id;
        const struct schema *made;
    } entries[SCHEMA_MEMO_SIZE];
};

/*
 * What `transform` makes of the schema `old`, in `out`: made once, kept under the id of `old` as
 * long as the record's relation, and made for this record alone, in `scratch`, when that memo is
 * full. `make` may look at no value of the record; it returns NULL when its arena is full. NULL
 * where `old` is NULL. WR_REJECT: the new schema has no room.
 */
WR_MUST_USE enum wr_status transform_schema(
    const struct transform *transform, const struct record *record, const struct schema *old,
    const struct schema *(*make)(const struct transform *transform, const struct record *record,
                                 const struct schema *old, struct wr_arena *arena),
    struct wr_arena *scratch, const struct schema **out, struct wr_error *err);

#endif /* WR_ROUTER_SCHEMA_MEMO_H */
