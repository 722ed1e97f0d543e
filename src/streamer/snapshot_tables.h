/* streamer/snapshot_tables.h - which tables a snapshot copies, and how each is copied. */
#ifndef WR_STREAMER_SNAPSHOT_TABLES_H
#define WR_STREAMER_SNAPSHOT_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "base/buffer.h"
#include "base/status.h"

struct config;
struct relation;
struct table_filter;
struct wr_arena;

struct snapshot_table {
    uint32_t oid;
    const char *qualified;  /* quoted, with its schema */
    const char *row_filter; /* SQL of the publication, NULL when there is none */
};

struct snapshot_tables {
    struct wr_arena *arena; /* owns everything here */
    struct snapshot_table *items;
    size_t count;
};

/*
 * Lists the captured tables of the publication by schema and name. WR_FATAL when rows of one may
 * not be read, with all GRANTs that are missing. Free with snapshot_tables_done(), also after a
 * failure.
 */
WR_MUST_USE enum wr_status snapshot_tables_list(struct snapshot_tables *tables, PGconn *conn,
                                                const struct config *config,
                                                const struct table_filter *filter,
                                                struct wr_error *err);
void snapshot_tables_done(struct snapshot_tables *tables);

/*
 * Describes one table as a Relation message would, with the columns of the publication, into an
 * arena of its own that `*out` brings along; and writes the COPY that fetches its rows to `copy`,
 * with a NUL.
 */
WR_MUST_USE enum wr_status snapshot_table_describe(const struct snapshot_table *table, PGconn *conn,
                                                   const struct config *config,
                                                   struct relation **out, struct wr_buffer *copy,
                                                   struct wr_error *err);

#endif /* WR_STREAMER_SNAPSHOT_TABLES_H */
