/* router/tree.h - a record's key or value as a typed tree, for transforms that look inside. */
#ifndef WR_ROUTER_TREE_H
#define WR_ROUTER_TREE_H

#include <stdbool.h>

#include "base/status.h"
#include "decoder/datum.h"
#include "router/record.h"

struct wr_arena;

/*
 * Makes `part`, of whatever kind, a PART_DATUM with the same meaning and the same schema; PART_NULL
 * stays. An envelope becomes before, after, source, transaction, op, ts_ms, ts_us, ts_ns. What is
 * made lives in `scratch`. Statuses as row_datum().
 */
WR_MUST_USE enum wr_status part_expand(const struct record *record, struct record_part *part,
                                       struct wr_arena *scratch, struct wr_error *err);

/* Whether `part` is an envelope that an earlier transform made a tree of. */
bool part_is_expanded_envelope(const struct record_part *part);
/* WR_REJECT: the transform of that name cannot work on such an envelope. */
enum wr_status envelope_is_expanded(const char *transform, struct wr_error *err);

/* The member of a DATUM_STRUCT; NULL: it has none of that name. */
const struct datum *datum_member(const struct datum *datum, struct wr_slice name);

#endif /* WR_ROUTER_TREE_H */
