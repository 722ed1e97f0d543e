/* relay/snapshot_state.h - how far an initial snapshot is, so that it survives a crash. */
#ifndef WR_RELAY_SNAPSHOT_STATE_H
#define WR_RELAY_SNAPSHOT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/slice.h"
#include "base/status.h"
#include "streamer/snapshot.h"

struct config;
struct snapshot_state;
struct wr_buffer;

/*
 * Records of the topic walrelay.state.<slot.name>, one that says which snapshot is under way, known
 * by the LSN that its slot began at, and one for each table of it:
 *
 *   initial-snapshot/<cluster>/<slot>/<publication>/<prefix>          {"snapshot":N}
 *   initial-snapshot/<cluster>/<slot>/<publication>/<prefix>/<table>  {"snapshot":N,"file_node":N,
 *                                                                      "blocks":N}
 *
 * What belongs to another snapshot, cluster, publication or prefix is as if it were not there.
 */
struct snapshot_state *snapshot_state_new(const struct config *config, uint64_t system_identifier);
void snapshot_state_free(struct snapshot_state *state); /* NULL is allowed */

const char *snapshot_state_topic(const struct snapshot_state *state);

/* Makes the topic and reads it. WR_REJECT: Kafka does not let us, so nothing can be remembered. */
WR_MUST_USE enum wr_status snapshot_state_load(struct snapshot_state *state, struct wr_error *err);
/* Takes in one record of it. */
void snapshot_state_take(struct snapshot_state *state, struct wr_slice key, struct wr_slice value);

/* Where the snapshot that is under way began; 0: there is none. */
wr_lsn snapshot_state_lsn(const struct snapshot_state *state);
/* `state` is a struct snapshot_state: for struct snapshot_options. */
bool snapshot_state_find(void *state, uint32_t oid, struct snapshot_mark *out);

/* Begins another snapshot, and forgets the tables of the last; 0: none is under way. */
void snapshot_state_begin(struct snapshot_state *state, wr_lsn lsn);
/* The record that says so. Appends to both. */
void snapshot_state_write_head(const struct snapshot_state *state, struct wr_buffer *key,
                               struct wr_buffer *value);
void snapshot_state_write_mark(const struct snapshot_state *state, const struct snapshot_mark *mark,
                               struct wr_buffer *key, struct wr_buffer *value);

#endif /* WR_RELAY_SNAPSHOT_STATE_H */
