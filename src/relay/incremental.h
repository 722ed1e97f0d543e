/* relay/incremental.h - snapshots of tables while their stream goes on. */
#ifndef WR_RELAY_INCREMENTAL_H
#define WR_RELAY_INCREMENTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "relay/intake.h"

struct incremental;
struct relay;
struct signal;

struct incremental *incremental_new(struct relay *r);
void incremental_free(struct incremental *inc); /* NULL is allowed */

/* Opens the channel that signals come by beside the stream, and begins to ask for what an earlier
 * run has left, while other things are done. */
WR_MUST_USE enum wr_status incremental_open(struct incremental *inc, struct wr_error *err);
/* Waits for that, but not for long while Kafka is away, unless delivery is exactly once: it may
 * come late. WR_RETRY "interrupted" when a stop is wanted. */
WR_MUST_USE enum wr_status incremental_recall(struct incremental *inc, struct wr_error *err);

/* For struct intake_parts. */
struct intake_watch incremental_watch(struct incremental *inc);

/* A stream begins: what was read and not yet published is read again. */
void incremental_restart(struct incremental *inc);

/* To be called on every turn of a stream. Costs nothing while no snapshot is under way. */
WR_MUST_USE enum wr_status incremental_turn(struct incremental *inc, struct wr_error *err);
/* What to poll for, -1: nothing: the session and the channel of signals; and how long
 * incremental_turn() need not be called. */
int incremental_fd(const struct incremental *inc);
int incremental_channel_fd(const struct incremental *inc);
bool incremental_wants_write(const struct incremental *inc);
int64_t incremental_until_us(const struct incremental *inc);

/* Does what a signal asks for. A signal that asks for what cannot be is logged, and WR_OK. */
WR_MUST_USE enum wr_status incremental_signal(struct incremental *inc, const struct signal *signal,
                                              struct wr_error *err);

/* Everything that was published is acknowledged: notes how far it is. */
WR_MUST_USE enum wr_status incremental_note_rest(struct incremental *inc, struct wr_error *err);

#endif /* WR_RELAY_INCREMENTAL_H */
