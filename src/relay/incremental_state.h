/* relay/incremental_state.h - what incremental snapshots were asked for, and how far they are. */
#ifndef WR_RELAY_INCREMENTAL_STATE_H
#define WR_RELAY_INCREMENTAL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct wr_buffer;

enum { INCREMENTAL_KEY_MAX = 32 }; /* columns of a key */

/* Texts of a key's columns; count 0: there is none. Init with zeroes. */
struct incremental_key {
    char *texts[INCREMENTAL_KEY_MAX];
    uint16_t count;
};

void incremental_key_done(struct incremental_key *key);
void incremental_key_copy(struct incremental_key *out, const struct incremental_key *key);

/* Some keys. Init with zeroes. */
struct incremental_keys {
    struct incremental_key *items;
    size_t count, capacity;
};

void incremental_keys_done(struct incremental_keys *keys);
/* Adds a copy. */
void incremental_keys_add(struct incremental_keys *keys, const struct incremental_key *key);
/* Drops the first ones. */
void incremental_keys_drop(struct incremental_keys *keys, size_t count);
void incremental_keys_copy(struct incremental_keys *out, const struct incremental_keys *keys);

/* One table of one request, or an expression for some that are not yet looked up. */
struct incremental_item {
    uint64_t serial;       /* ascending in the order of the queue */
    uint64_t run;          /* the same for all tables of one signal */
    bool is_expression;    /* over schema.table */
    const char *id;        /* the signal's */
    const char *name;      /* schema.table */
    const char *condition; /* SQL; of an expression [["collection","SQL"],…]; or NULL */
    const char *surrogate_key;
};

/*
 * How far: the tables below `serial` are done, and of the one with it all rows up to `last`. `max`
 * is the highest key that it had when it was begun.
 */
struct incremental_progress {
    uint64_t serial;
    struct incremental_key last, max;
    bool is_behind_max; /* only rows without a key are left */
    uint64_t row_count;
    struct incremental_keys reread; /* rows up to `last` that have to be read once more */
};

void incremental_progress_done(struct incremental_progress *progress);
void incremental_progress_copy(struct incremental_progress *out,
                               const struct incremental_progress *progress);

/* Init with zeroes. */
struct incremental_state {
    struct incremental_item *items;
    size_t count, capacity;
    uint64_t next_serial;
    uint64_t system_identifier; /* of the cluster */
    bool is_paused;
    /* Of the last signal of the stream: after a crash it may come again. */
    uint64_t signal_commit_lsn, signal_lsn;
};

void incremental_state_done(struct incremental_state *state);

/* Adds a copy to the queue's end, with a serial of its own. */
void incremental_state_add(struct incremental_state *state, const struct incremental_item *item);
/* Copies of `items` take the place of the expressions of the run of the first table that is not
 * below `serial`. From there on all get new serials, above all that were. */
void incremental_state_expand(struct incremental_state *state, uint64_t serial,
                              const struct incremental_item *items, size_t count);
/* The first table that is not below `serial`; NULL: there is none. */
const struct incremental_item *incremental_state_find(const struct incremental_state *state,
                                                      uint64_t serial);
/* Drops the tables below `serial`. */
void incremental_state_drop_below(struct incremental_state *state, uint64_t serial);
/* Drops one table. */
void incremental_state_drop(struct incremental_state *state, uint64_t serial);

/* The record that remembers both, as JSON, with more rows that have to be read once more; appended.
 */
void incremental_state_write(const struct incremental_state *state,
                             const struct incremental_progress *progress,
                             const struct incremental_keys *more, struct wr_buffer *out);
/* Takes it in again. False, with both left empty, when nobody but somebody else wrote it. */
bool incremental_state_read(struct wr_slice text, struct incremental_state *state,
                            struct incremental_progress *progress);

#endif /* WR_RELAY_INCREMENTAL_STATE_H */
