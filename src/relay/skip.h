/* relay/skip.h - which changes Kafka has already, of those that the server sends again. Pure. */
#ifndef WR_RELAY_SKIP_H
#define WR_RELAY_SKIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/status.h"

/*
 * Exactly once: they are decoded, but not published again. That is everything before `end_lsn`, and
 * of the transaction whose commit record stands at `partial_lsn` (0: none) the first
 * `partial_count` changes; it must come next. What the server sends anew is the same, in the same
 * order, so that counting is enough. All zero skips nothing.
 */
struct skip {
    wr_lsn end_lsn, partial_lsn;
    uint64_t partial_count;
    wr_lsn commit_lsn;     /* of the open transaction */
    uint64_t change_count; /* of its changes that have come */
    uint64_t until_count;  /* its changes that Kafka has; UINT64_MAX: all */
};

/* A transaction begins. WR_FATAL: another one should. */
WR_MUST_USE enum wr_status skip_begin(struct skip *skip, wr_lsn commit_lsn, struct wr_error *err);
/* A logical message outside of one. */
void skip_message(struct skip *skip, wr_lsn lsn);
/* It ends, before what its end makes is published. WR_FATAL: it should have more changes. */
WR_MUST_USE enum wr_status skip_commit(struct skip *skip, struct wr_error *err);
/* It has ended. */
void skip_done(struct skip *skip);
/* Of what the change that was counted last makes; the begin of a transaction is its change 0. */
static inline bool skip_covers(const struct skip *skip)
{
    return skip->until_count > 0 && skip->change_count <= skip->until_count;
}

#endif /* WR_RELAY_SKIP_H */
