/* streamer/chunk_table.h - a table as an incremental snapshot reads it: in chunks, by its key. */
#ifndef WR_STREAMER_CHUNK_TABLE_H
#define WR_STREAMER_CHUNK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "base/status.h"
#include "streamer/catalog_pg.h"

struct chunk_table;
struct config;
struct relation;
struct wr_buffer;

enum { CHUNK_KEY_COLUMN_MAX = 32 }; /* PostgreSQL's INDEX_MAX_KEYS */

/* What was asked for. */
struct chunk_target {
    uint32_t oid;
    const char *qualified;     /* quoted, with its schema */
    const char *row_filter;    /* SQL of the publication, NULL when there is none */
    const char *condition;     /* SQL of the signal, NULL when there is none */
    const char *surrogate_key; /* a column to go by, NULL: the primary key */
};

/*
 * Looks the table up, and waits for the answer. `*relation` is made as a Relation message would be,
 * and the caller's. WR_REJECT: it has no key to go by, or not the column that was named. WR_RETRY:
 * it was dropped meanwhile, or the connection is lost.
 */
WR_MUST_USE enum wr_status chunk_table_open(const struct config *config, PGconn *conn,
                                            const struct chunk_target *target,
                                            struct chunk_table **out, struct relation **relation,
                                            struct wr_error *err);
void chunk_table_free(struct chunk_table *table); /* NULL is allowed */

uint16_t chunk_table_column_count(const struct chunk_table *table);
uint16_t chunk_table_key_count(const struct chunk_table *table);
const char *chunk_table_key_name(const struct chunk_table *table, uint16_t index);
/* Another one after its definition was changed. */
const char *chunk_table_shape(const struct chunk_table *table);
/* Whether rows may have no value to go by: then they come last. */
bool chunk_table_has_nulls(const struct chunk_table *table);

/* Which rows: those behind `last` (NULL: from the first), up to `max`. */
struct chunk_range {
    const char *const *last;
    const char *const *max;
    int64_t limit;
    bool only_nulls; /* instead: those without a value to go by */
    /* Instead: the rows of these keys, one behind the other. */
    bool is_listed;
    const char *const *keys;
    uint32_t key_count;
};

/* Each appends one statement, with a NUL. */
void chunk_table_lock_sql(const struct chunk_table *table, struct wr_buffer *out);
/* One row: the snapshot, and the shape as it is now. */
void chunk_table_snapshot_sql(const struct chunk_table *table, struct wr_buffer *out);
/* The highest key: its columns, as text. */
void chunk_table_max_sql(const struct chunk_table *table, struct wr_buffer *out);
/* Rows in the order of their keys: all columns of the relation, then those of the key. */
void chunk_table_read_sql(const struct chunk_table *table, const struct chunk_range *range,
                          struct wr_buffer *out);

#endif /* WR_STREAMER_CHUNK_TABLE_H */
