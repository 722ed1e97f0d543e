/* streamer/snapshot_tables.h - which tables a snapshot copies, and how each is copied. */
#ifndef WR_STREAMER_SNAPSHOT_TABLES_H
#define WR_STREAMER_SNAPSHOT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "base/buffer.h"
#include "base/status.h"

struct config;
struct relation;
struct snapshot_options;
struct wr_arena;

/* Blocks of a table, from `first` up to `end`. */
struct snapshot_range {
    uint32_t first;
    uint32_t end; /* SNAPSHOT_TO_THE_END in the last range of a table */
};

#define SNAPSHOT_TO_THE_END UINT32_MAX

struct snapshot_table {
    uint32_t oid;
    uint32_t file_node;     /* another one after the table was rewritten */
    const char *qualified;  /* quoted, with its schema */
    const char *row_filter; /* SQL of the publication, NULL when there is none */
    const char *select;     /* of the configuration, NULL: all of the table */
    uint32_t block_count;
    uint32_t first_block; /* what comes before it was published by an earlier run */
    bool takes_no_lock;   /* is described without what would wait for locks of other tables */
    bool is_divisible;    /* may be copied in ranges of blocks */
    double row_estimate;  /* the server's; negative: it has none */
};

struct snapshot_tables {
    struct wr_arena *arena; /* owns everything here */
    struct snapshot_table *items;
    size_t count;
    size_t resumed_count; /* tables that an earlier run has finished, and that are not in `items` */
    uint64_t size;        /* of what is to be read, in bytes */
    uint32_t block_size;
    bool divides; /* the server reads ranges of blocks without reading all before them */
};

/*
 * Lists the captured tables of the publication that are to be read, in the order of the
 * configuration. WR_FATAL when rows of one may not be read, with all GRANTs that are missing. Free
 * with snapshot_tables_done(), also after a failure.
 */
WR_MUST_USE enum wr_status snapshot_tables_list(struct snapshot_tables *tables, PGconn *conn,
                                                const struct config *config,
                                                const struct snapshot_options *options,
                                                struct wr_error *err);
void snapshot_tables_done(struct snapshot_tables *tables);

/*
 * Describes one table as a Relation message would, with the columns of the publication, into an
 * arena of its own that `*out` brings along; and writes the SELECT of its rows to `select`.
 */
WR_MUST_USE enum wr_status snapshot_table_describe(const struct snapshot_table *table, PGconn *conn,
                                                   const struct config *config,
                                                   struct relation **out, struct wr_buffer *select,
                                                   struct wr_error *err);

/* The COPY of a part of a table, with a NUL; `select` is that of snapshot_table_describe(). */
void snapshot_table_copy(const struct snapshot_table *table, struct wr_slice select,
                         const struct snapshot_range *range, struct wr_buffer *out);

#endif /* WR_STREAMER_SNAPSHOT_TABLES_H */
