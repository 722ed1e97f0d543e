/* relay/notify.h - tells of snapshots, on the channels that the configuration names. */
#ifndef WR_RELAY_NOTIFY_H
#define WR_RELAY_NOTIFY_H

#include "base/status.h"
#include "router/notification.h"

struct relay;

/* One more field of additional_data. */
void notify_add(struct notification *notification, const char *name, const char *value);

/*
 * Sends it: in the transaction of the ledger that is open, else in one of its own. The time is set
 * here, and an id where it has none.
 */
WR_MUST_USE enum wr_status notify(struct relay *r, struct notification *notification,
                                  struct wr_error *err);

/* Of the initial snapshot: STARTED, COMPLETED, ABORTED or SKIPPED. */
WR_MUST_USE enum wr_status notify_initial(struct relay *r, const char *type, struct wr_error *err);

#endif /* WR_RELAY_NOTIFY_H */
