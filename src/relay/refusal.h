/* relay/refusal.h - the one line that says all of what cannot be published. */
#ifndef WR_RELAY_REFUSAL_H
#define WR_RELAY_REFUSAL_H

#include <stdbool.h>

#include "base/lsn.h"
#include "base/status.h"

struct change;
struct config;
struct publisher_record;
struct record;

/* Put table, topic, key, size and LSN to the reason that `err` holds; WR_REJECT. */
enum wr_status refusal_of_record(const struct record *record, const struct publisher_record *r,
                                 wr_lsn version, struct wr_error *err);
/* Of a change of which no record was made. */
enum wr_status refusal_of_change(const struct change *change, struct wr_error *err);

/*
 * event.processing.failure.handling.mode: whether an event that could not be made is passed over,
 * which then is logged. Never where errors.tolerance says more.
 */
bool refusal_is_passed_over(const struct config *config, const struct wr_error *err);

#endif /* WR_RELAY_REFUSAL_H */
