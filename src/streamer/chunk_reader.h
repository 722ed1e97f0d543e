/* streamer/chunk_reader.h - the session that reads an incremental snapshot, beside the stream. */
#ifndef WR_STREAMER_CHUNK_READER_H
#define WR_STREAMER_CHUNK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "decoder/pgoutput.h"
#include "streamer/chunk_table.h"

struct chunk_reader;
struct config;
struct relation;

/* Prefix of the logical messages that are watermarks. */
#define CHUNK_MARK_PREFIX "walrelay"

/* Connects, and waits for that. WR_RETRY and WR_FATAL as of any connection. */
WR_MUST_USE enum wr_status chunk_reader_open(const struct config *config, struct chunk_reader **out,
                                             struct wr_error *err);
void chunk_reader_close(struct chunk_reader *reader); /* NULL is allowed */

/* chunk_table_open() on this connection. */
WR_MUST_USE enum wr_status chunk_reader_describe(struct chunk_reader *reader,
                                                 const struct chunk_target *target,
                                                 struct chunk_table **out,
                                                 struct relation **relation, struct wr_error *err);

/*
 * What follows is sent and answered later: chunk_reader_step() until it says WR_OK. One at a time.
 */

/* Writes a watermark in a transaction of its own; chunk_reader_xid() is that transaction's id. */
WR_MUST_USE enum wr_status chunk_reader_mark(struct chunk_reader *reader, const char *mark,
                                             struct wr_error *err);
/* The tables of the publication. It may wait for their locks. */
WR_MUST_USE enum wr_status chunk_reader_list(struct chunk_reader *reader, struct wr_error *err);
/* What a snapshot that is taken now sees. */
WR_MUST_USE enum wr_status chunk_reader_look(struct chunk_reader *reader, struct wr_error *err);
/* Waits until nobody keeps others from reading the table: then looking it up does not wait. */
WR_MUST_USE enum wr_status chunk_reader_lock(struct chunk_reader *reader, const char *qualified,
                                             struct wr_error *err);
/* The highest key of the table: one row of key columns, or none. */
WR_MUST_USE enum wr_status chunk_reader_max(struct chunk_reader *reader,
                                            const struct chunk_table *table, struct wr_error *err);
/* Reads rows under a snapshot, and writes the watermark behind it. */
WR_MUST_USE enum wr_status chunk_reader_read(struct chunk_reader *reader,
                                             const struct chunk_table *table,
                                             const struct chunk_range *range, const char *mark,
                                             struct wr_error *err);

/*
 * Takes in what has come. WR_AGAIN: not all of it yet. WR_REJECT: the server refused the statement,
 * and the session goes on; a table that is not there any more, or a condition that is wrong.
 */
WR_MUST_USE enum wr_status chunk_reader_step(struct chunk_reader *reader, struct wr_error *err);
/* The same, waiting: its end is known to be on its way. */
WR_MUST_USE enum wr_status chunk_reader_finish(struct chunk_reader *reader, struct wr_error *err);
bool chunk_reader_is_busy(const struct chunk_reader *reader);
int chunk_reader_fd(const struct chunk_reader *reader);
bool chunk_reader_wants_write(const struct chunk_reader *reader);

/* Answers, valid until the next request. */
uint64_t chunk_reader_xid(const struct chunk_reader *reader);
const char *chunk_reader_snapshot(const struct chunk_reader *reader); /* as text */
const char *chunk_reader_shape(const struct chunk_reader *reader); /* chunk_table_shape(), then */
/* Of chunk_reader_list(), by name: the table in that row. */
struct chunk_found {
    uint32_t oid;
    const char *schema, *table;
    const char *qualified;
    const char *row_filter; /* as of struct chunk_target */
    const char *grants;     /* SQL that has to be run before it may be read, or "" */
};
struct chunk_found chunk_reader_found(const struct chunk_reader *reader, size_t row);
size_t chunk_reader_row_count(const struct chunk_reader *reader);
/* NULL is SQL's. */
const char *chunk_reader_value(const struct chunk_reader *reader, size_t row, uint16_t column);
/* The first `count` columns of a row. */
void chunk_reader_cells(const struct chunk_reader *reader, size_t row, uint16_t count,
                        struct cell *out);
/* Bytes of all rows. */
size_t chunk_reader_size(const struct chunk_reader *reader);

#endif /* WR_STREAMER_CHUNK_READER_H */
