/* router/row.h - one column of one row, as a typed value. */
#ifndef WR_ROUTER_ROW_H
#define WR_ROUTER_ROW_H

#include "base/status.h"
#include "decoder/datum.h"
#include "router/plan.h"
#include "router/record.h"

struct cell;
struct wr_arena;

/* The cell that holds the column's value: an unchanged TOAST value may stand in the old row. */
const struct cell *row_cell(const struct row_view *row, const struct column_plan *column);

/*
 * The value of `column` in `row`, masked and truncated as configured; values that must be made live
 * in `scratch`. WR_REJECT when the text has no right form; the text names table and column.
 */
WR_MUST_USE enum wr_status row_datum(const struct row_view *row, const struct column_plan *column,
                                     struct wr_arena *scratch, struct datum *out,
                                     struct wr_error *err);

#endif /* WR_ROUTER_ROW_H */
