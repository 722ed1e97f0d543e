/* relay/snapshot_notes.h - notes in Kafka how far a snapshot is, behind what Kafka has of it. */
#ifndef WR_RELAY_SNAPSHOT_NOTES_H
#define WR_RELAY_SNAPSHOT_NOTES_H

#include "base/lsn.h"
#include "base/status.h"

struct relay;
struct snapshot_mark;
struct snapshot_notes;
struct snapshot_state;

/* `state` is the caller's, and outlives them. */
struct snapshot_notes *snapshot_notes_new(struct snapshot_state *state);
void snapshot_notes_free(struct snapshot_notes *notes); /* NULL is allowed */

/* A part was read to its end, up to `mark`; its rows are with the publisher. */
void snapshot_notes_add(struct snapshot_notes *notes, struct relay *r,
                        const struct snapshot_mark *mark);
/* The same, and notes it at once, with the rows. */
WR_MUST_USE enum wr_status snapshot_notes_put(struct snapshot_notes *notes, struct relay *r,
                                              const struct snapshot_mark *mark,
                                              struct wr_error *err);
/* Notes the parts that are acknowledged by now. */
WR_MUST_USE enum wr_status snapshot_notes_write(struct snapshot_notes *notes, struct relay *r,
                                                struct wr_error *err);

/*
 * Notes which snapshot is under way (0: none), and waits until Kafka has it. Nothing may be in
 * flight. WR_RETRY "interrupted" when a stop is wanted.
 */
WR_MUST_USE enum wr_status snapshot_notes_begin(struct snapshot_notes *notes, struct relay *r,
                                                wr_lsn lsn, struct wr_error *err);

#endif /* WR_RELAY_SNAPSHOT_NOTES_H */
