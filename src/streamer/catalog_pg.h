/* streamer/catalog_pg.h - the query connection: catalog look-ups, publication and slot state. */
#ifndef WR_STREAMER_CATALOG_PG_H
#define WR_STREAMER_CATALOG_PG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/slice.h"
#include "base/status.h"
#include "decoder/catalog.h"

struct config;
struct catalog;
struct wr_arena;

struct slot_state {
    bool exists;
    bool is_active;
    char plugin[64];
    char database[64];
    char wal_status[32];          /* "lost": its changes are gone */
    char invalidation_reason[32]; /* from version 17 on, else "" */
    bool two_phase;
    bool is_failover;      /* from version 17 on */
    bool is_on_standby;    /* the server is one */
    uint32_t catalog_xmin; /* 0: none */
    bool is_temporary;
    wr_lsn confirmed_flush_lsn;
};

/*
 * The slot that a snapshot is taken with: one that goes with its connection, so that a snapshot
 * that was not finished leaves nothing behind; or one that stays, so that it can be gone on with.
 */
enum snapshot_slot { SNAPSHOT_SLOT_TEMPORARY, SNAPSHOT_SLOT_LASTING };

/* Which tables are captured; the router's filter, passed in so that this room need not know it. */
struct table_filter {
    void *context;
    bool (*is_captured)(void *context, const char *schema, const char *table);
};

/* A lazy connection: opened by the first call that needs it, and again after it was lost. */
struct catalog *catalog_new(const struct config *config);
void catalog_free(struct catalog *catalog); /* NULL is allowed */

/* Look-ups for the pure rooms. */
struct catalog_source catalog_source(struct catalog *catalog);

/* True when the server has ended the connection while nobody used it: what a fast shutdown does
 * first, before it waits for its streams. */
bool catalog_was_ended(struct catalog *catalog);

WR_MUST_USE enum wr_status catalog_slot(struct catalog *catalog, struct slot_state *out,
                                        struct wr_error *err);

/* As catalog_slot(), of the lasting slot that an unfinished snapshot is taken with. */
WR_MUST_USE enum wr_status catalog_snapshot_slot(struct catalog *catalog, struct slot_state *out,
                                                 struct wr_error *err);

/*
 * Makes the slot of stream_create_snapshot_slot() into the slot, at the same LSN. Only now, with
 * everything of the snapshot acknowledged, does a slot exist that a later start finds.
 */
WR_MUST_USE enum wr_status catalog_keep_slot(struct catalog *catalog, enum snapshot_slot kind,
                                             struct wr_error *err);

/* What the WAL that is kept for a snapshot costs, and when that becomes dangerous. */
struct slot_wal {
    uint64_t kept_size; /* bytes of WAL that the snapshot's slot holds back */
    bool is_bounded;    /* max_slot_wal_keep_size: behind it the slot is lost */
    uint64_t left_size; /* bytes that may still be written before that; only when bounded */
};
WR_MUST_USE enum wr_status catalog_slot_wal(struct catalog *catalog, enum snapshot_slot kind,
                                            struct slot_wal *out, struct wr_error *err);

/*
 * Makes the publication as publication.autocreate.mode says, before the slot: `all_tables`,
 * `filtered` (created, or altered to the captured tables), `no_tables`, `disabled` (only checked).
 * WR_FATAL when it is missing and may not be made, with the SQL that makes it; and when `filtered`
 * captures nothing.
 *
 * `filtered` lists a partitioned table that is captured, not its partitions: so later partitions
 * belong to it as well. A partition is listed where only itself is captured. Tables that stay keep
 * their column lists and row filters.
 */
WR_MUST_USE enum wr_status catalog_prepare_publication(struct catalog *catalog,
                                                       const struct table_filter *filter,
                                                       struct wr_error *err);

/*
 * Gives captured tables the replica identities of replica.identity.autoset.values, where they have
 * others. A table whose identity may not be changed is left as it is, with the SQL in the log, as
 * Debezium does. WR_FATAL: two of the expressions ask for different identities of one table.
 */
WR_MUST_USE enum wr_status catalog_set_identities(struct catalog *catalog,
                                                  const struct table_filter *filter,
                                                  struct wr_error *err);

/*
 * Warns in the log of published, captured tables whose updates and deletes cannot be published,
 * for want of a replica identity, and of more tables than guardrail.collections.max allows;
 * WR_FATAL where that is to be an error. Two tables that share a topic name are the router's to
 * find.
 */
WR_MUST_USE enum wr_status catalog_check_tables(struct catalog *catalog,
                                                const struct table_filter *filter,
                                                struct wr_error *err);

/* A row that is asked for by the text of its key. */
struct row_query {
    const char *schema, *table;
    const char *const *columns;
    size_t column_count;
    const char *const *keys;
    const char *const *key_values; /* one a key */
    size_t key_count;
};

struct row_value {
    bool is_null;
    struct wr_slice text; /* as the stream would send it */
};

/*
 * The row of that key as it is now; `out` has one value a column, in `arena`. `is_found` is false
 * where there is no such row. WR_FATAL: the server refuses, or it does not fit the arena.
 */
WR_MUST_USE enum wr_status catalog_select_row(struct catalog *catalog,
                                              const struct row_query *query, struct wr_arena *arena,
                                              struct row_value *out, bool *is_found,
                                              struct wr_error *err);

#endif /* WR_STREAMER_CATALOG_PG_H */
