/* router/routes/condition.h - `where` of a route, against the rows of one table. */
#ifndef WR_ROUTER_ROUTES_CONDITION_H
#define WR_ROUTER_ROUTES_CONDITION_H

#include <stddef.h>

#include "base/status.h"
#include "router/routes/value.h"

struct condition;
struct condition_config;

enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

/*
 * Settles how each term compares: numbers by their value, times as instants, text byte by byte.
 * WR_REJECT: a column is not there, or its type and the literal do not go together. NULL in `out`:
 * there is no condition.
 */
WR_MUST_USE enum wr_status condition_compile(const struct condition_config *config,
                                             const struct route_source *source,
                                             const struct condition **out, struct wr_error *err);

/* As SQL has it: what is compared with NULL does not hold. NULL holds for every row. */
enum truth condition_holds(const struct condition *condition, const struct row_view *row);

#endif /* WR_ROUTER_ROUTES_CONDITION_H */
