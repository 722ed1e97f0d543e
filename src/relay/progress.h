/* relay/progress.h - the position in Kafka, written before PostgreSQL hears of it. */
#ifndef WR_RELAY_PROGRESS_H
#define WR_RELAY_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/status.h"
#include "relay/position.h"
#include "streamer/catalog_pg.h"

struct relay;
struct state_lookup;

/* For the files of this room only. */
struct progress {
    bool is_kept;                /* Kafka keeps it */
    bool is_noting;              /* `next` is on its way */
    bool was_idle;               /* the last one told of no transaction */
    bool is_gap_used;            /* --accept-gap counts once */
    bool is_gap_accepted;        /* and the next position is without what was before it */
    struct state_lookup *lookup; /* not answered yet, else NULL */
    struct slot_state slot;      /* as it was at the start */
    wr_lsn slot_lsn;             /* where it stood then, or was made: confirmed anyway */
    struct position next;
    int64_t noted_us;
};

/*
 * What PostgreSQL is told to be confirmed has been written to Kafka before: so a later start can
 * see whether the slot was moved by somebody else. While transactions are published, exactly once
 * writes it with each of Kafka's transactions, at least once as often as it confirms; while there
 * are none, and only the end of the WAL moves, about as often as the status update by timer.
 */

/* Begins to ask for it, while other things are done. */
void relay_ask_position(struct relay *r);
/*
 * Waits for the answer. Where Kafka does not let us keep it, at least once goes on without, and
 * says so; where it does not answer, at least once goes on, and confirms nothing until it has, and
 * the check is done.
 */
WR_MUST_USE enum wr_status relay_load_position(struct relay *r, struct wr_error *err);
/* position_check() against the server and this slot; `--accept-gap` makes do with what it finds. */
WR_MUST_USE enum wr_status relay_check_position(struct relay *r, const struct slot_state *slot,
                                                struct wr_error *err);

/* What may be confirmed now. */
wr_lsn relay_confirmable(const struct relay *r);
/* Writes it when it is due. */
WR_MUST_USE enum wr_status relay_note_position(struct relay *r, struct wr_error *err);
int64_t relay_until_note_us(const struct relay *r);
/* It is in Kafka; NULL: what relay_note_position() wrote is. */
void relay_position_noted(struct relay *r, const struct position *position);

/* Until Kafka has everything that may be confirmed, or `timeout_ms` have passed (WR_AGAIN). */
WR_MUST_USE enum wr_status relay_settle_position(struct relay *r, int64_t timeout_ms,
                                                 struct wr_error *err);
/* A slot is made, or made to be, at `lsn`, and nothing before that will come again. Waits. */
WR_MUST_USE enum wr_status relay_set_position(struct relay *r, wr_lsn lsn, struct wr_error *err);
/* The slot is gone, and that was wanted. Waits. */
WR_MUST_USE enum wr_status relay_forget_position(struct relay *r, struct wr_error *err);

/*
 * Until a state topic has answered. WR_AGAIN: not within two seconds, and delivery is at least
 * once, which goes on without. WR_RETRY "interrupted" when a stop is wanted.
 */
WR_MUST_USE enum wr_status relay_wait_for_answer(struct relay *r, struct state_lookup *lookup,
                                                 struct wr_error *err);

#endif /* WR_RELAY_PROGRESS_H */
