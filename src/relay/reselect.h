/* relay/reselect.h - values that the stream does not hold, read from the table as it is now. */
#ifndef WR_RELAY_RESELECT_H
#define WR_RELAY_RESELECT_H

#include "base/status.h"

struct catalog;
struct change;
struct config;
struct reselect;
struct wr_arena;

/* Debezium's ReselectColumnsPostProcessor. NULL in `*out` where it is not asked for. */
WR_MUST_USE enum wr_status reselect_new(const struct config *config, struct catalog *catalog,
                                        struct reselect **out, struct wr_error *err);
void reselect_free(struct reselect *reselect); /* NULL is allowed */

/*
 * Fills the cells of the new row that an update did not send (TOAST), and those that are null, as
 * configured: with one SELECT by the message key, in `scratch`. What is read is the row of now, not
 * that of the change: a later change may show early, and its own event comes still. A row that is
 * gone stays as it is, with a warning, or is WR_REJECT (reselect.error.handling.mode=fail). NULL
 * does nothing.
 */
WR_MUST_USE enum wr_status reselect_fill(struct reselect *reselect, const struct change *change,
                                         struct wr_arena *scratch, struct wr_error *err);

#endif /* WR_RELAY_RESELECT_H */
