/* base/failpoint.h - places where a test kills the process, as a crash would. */
#ifndef WR_BASE_FAILPOINT_H
#define WR_BASE_FAILPOINT_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * WALRELAY_FAILPOINT=NAME[:N] in the environment: the N-th time (the first, without N) that the
 * place of that name is passed, the process gets SIGKILL. Without it a place costs one relaxed
 * load.
 */
enum wr_failpoint {
    WR_FAILPOINT_NONE,
    WR_FAILPOINT_PRODUCED,      /* records are with the Kafka client, none is acknowledged */
    WR_FAILPOINT_ACKNOWLEDGED,  /* acknowledged, and not yet confirmed to PostgreSQL */
    WR_FAILPOINT_COMMITTED,     /* the Kafka transaction is committed, nothing is confirmed */
    WR_FAILPOINT_STATE_RECORD,  /* the state record is produced, its transaction is not committed */
    WR_FAILPOINT_SNAPSHOT_PART, /* rows of a part are produced, its note is not */
    WR_FAILPOINT_KEEP_SLOT,     /* all of a snapshot is in Kafka, its slot is not yet the slot */
};

/* Reads the environment. False: it names no such place. */
bool wr_failpoint_setup(void);

extern _Atomic int wr_failpoint_armed;
void wr_failpoint_reached(void);

static inline void wr_failpoint_at(enum wr_failpoint place)
{
    if (__builtin_expect(
            atomic_load_explicit(&wr_failpoint_armed, memory_order_relaxed) == (int)place, 0)) {
        wr_failpoint_reached();
    }
}

#endif /* WR_BASE_FAILPOINT_H */
