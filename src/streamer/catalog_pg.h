/* streamer/catalog_pg.h - the query connection: catalog look-ups, publication and slot state. */
#ifndef WR_STREAMER_CATALOG_PG_H
#define WR_STREAMER_CATALOG_PG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/status.h"
#include "decoder/catalog.h"

struct config;
struct catalog;

struct slot_state {
    bool exists;
    bool is_active;
    char plugin[64];
    char database[64];
    char wal_status[32];
    bool two_phase;
    bool is_temporary;
    wr_lsn confirmed_flush_lsn;
};

/* Which tables are captured; the router's filter, passed in so that this room need not know it. */
struct table_filter {
    void *context;
    bool (*is_captured)(void *context, const char *schema, const char *table);
};

/* A lazy connection: opened by the first call that needs it, and again after it was lost. */
struct catalog *catalog_new(const struct config *config);
void catalog_free(struct catalog *catalog);

/* Look-ups for the pure rooms. */
struct catalog_source catalog_source(struct catalog *catalog);

WR_MUST_USE enum wr_status catalog_slot(struct catalog *catalog, struct slot_state *out,
                                        struct wr_error *err);

/*
 * Makes the publication as publication.autocreate.mode says, before the slot: `all_tables`,
 * `filtered` (created, or altered to the captured tables), `no_tables`, `disabled` (only checked).
 * WR_FATAL when it is missing and may not be made, with the SQL that makes it.
 */
WR_MUST_USE enum wr_status catalog_prepare_publication(struct catalog *catalog,
                                                       const struct table_filter *filter,
                                                       struct wr_error *err);

/*
 * Warns in the log of published, captured tables whose updates or deletes cannot be told apart
 * (no primary key, REPLICA IDENTITY NOTHING); and of two tables that share a topic name is not
 * here.
 */
WR_MUST_USE enum wr_status catalog_check_tables(struct catalog *catalog,
                                                const struct table_filter *filter,
                                                struct wr_error *err);

#endif /* WR_STREAMER_CATALOG_PG_H */
