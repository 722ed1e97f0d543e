/* relay/relay.h - the loop that joins the rooms, from the replication slot to the acknowledgement.
 */
#ifndef WR_RELAY_RELAY_H
#define WR_RELAY_RELAY_H

#include <stdbool.h>

#include "base/lsn.h"
#include "base/status.h"

struct config;

struct relay_options {
    bool to_stdout;  /* records to standard output instead of Kafka */
    bool accept_gap; /* start although changes were lost */
    wr_lsn endpos;   /* stop once everything up to it is confirmed; 0: never */
};

/*
 * Runs until SIGTERM or SIGINT (WR_OK, after everything read was acknowledged and confirmed), until
 * `endpos` (WR_OK), or until it cannot go on (WR_FATAL, nothing unacknowledged was confirmed).
 * Blocks those signals in the calling thread; call it before any other thread starts.
 */
WR_MUST_USE enum wr_status relay_run(const struct config *config,
                                     const struct relay_options *options, struct wr_error *err);

#endif /* WR_RELAY_RELAY_H */
