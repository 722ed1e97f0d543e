/* streamer/snapshot.h - the rows that were there before the slot, by COPY under its snapshot. */
#ifndef WR_STREAMER_SNAPSHOT_H
#define WR_STREAMER_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "decoder/pgoutput.h"
#include "decoder/snapshot_marker.h"
#include "streamer/catalog_pg.h"

struct config;
struct snapshot;

/* How far a table is read: what has to be remembered to go on there after a crash. */
struct snapshot_mark {
    uint32_t oid;
    uint32_t file_node;   /* blocks mean nothing any more once this is another one */
    uint32_t block_count; /* read from the start; SNAPSHOT_TABLE_DONE: all of it */
};

#define SNAPSHOT_TABLE_DONE UINT32_MAX

struct snapshot_options {
    const char *snapshot_name;  /* as exported with a slot */
    struct table_filter filter; /* which tables */
    /* Where an earlier run stopped; NULL: there was none. False: not yet begun. */
    void *context;
    bool (*find_mark)(void *context, uint32_t oid, struct snapshot_mark *out);
};

enum snapshot_event_kind { SNAPSHOT_TABLE, SNAPSHOT_ROW, SNAPSHOT_PART, SNAPSHOT_DONE };

struct snapshot_event {
    enum snapshot_event_kind kind;
    struct relation *relation; /* TABLE: made as a Relation message would be; the caller owns it */
    uint32_t relation_oid;     /* ROW */
    struct tuple row;          /* ROW: borrowed until the next call */
    enum snapshot_marker marker; /* ROW */
    struct snapshot_mark mark;   /* PART */
};

/* For a person who waits. */
struct snapshot_progress {
    const char *table;    /* qualified; the last one that was begun, "" before the first */
    uint64_t size;        /* of all tables, in bytes */
    uint64_t size_read;   /* of it; an estimate inside the parts that are being read */
    size_t table_count;   /* to be read */
    size_t resumed_count; /* that an earlier run has finished */
};

/*
 * Connects, as often as snapshot.max.threads says and there are parts to read, takes over the
 * exported snapshot (REPEATABLE READ, READ ONLY) and lists the captured tables of the publication
 * with its column lists and row filters. Time-outs set on role or database do not count here.
 * WR_RETRY: as of a connection, and when the snapshot's name is no longer valid. WR_FATAL: a table
 * may not be read; the text has the GRANTs.
 */
WR_MUST_USE enum wr_status snapshot_open(const struct config *config,
                                         const struct snapshot_options *options,
                                         struct snapshot **out, struct wr_error *err);
/* For `source.txId` of snapshot rows: the first transaction that the snapshot does not see. */
uint32_t snapshot_xid(const struct snapshot *s);
void snapshot_progress_read(const struct snapshot *s, struct snapshot_progress *out);

/*
 * The next event. TABLE comes before the first row of a table, and not at all for an empty one. A
 * row is kept back until the one after it has been read, since its marker depends on that. With
 * several connections the rows of tables mix, and no row is marked as the last of its table. PART
 * comes behind the last row of a part: parts come in the order of the tables and their blocks, so
 * that all before it was handed out as well.
 * WR_AGAIN: wait until snapshot_fd() is readable, then snapshot_consume().
 */
WR_MUST_USE enum wr_status snapshot_next(struct snapshot *s, struct snapshot_event *out,
                                         struct wr_error *err);
WR_MUST_USE enum wr_status snapshot_consume(struct snapshot *s, struct wr_error *err);
int snapshot_fd(const struct snapshot *s);
void snapshot_close(struct snapshot *s); /* NULL is allowed */

#endif /* WR_STREAMER_SNAPSHOT_H */
