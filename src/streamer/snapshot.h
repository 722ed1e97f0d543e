/* streamer/snapshot.h - the rows that were there before the slot, by COPY under its snapshot. */
#ifndef WR_STREAMER_SNAPSHOT_H
#define WR_STREAMER_SNAPSHOT_H

#include <stdint.h>

#include "base/status.h"
#include "decoder/pgoutput.h"
#include "decoder/snapshot_marker.h"
#include "streamer/catalog_pg.h"

struct config;
struct snapshot;

enum snapshot_event_kind { SNAPSHOT_TABLE, SNAPSHOT_ROW, SNAPSHOT_DONE };

struct snapshot_event {
    enum snapshot_event_kind kind;
    struct relation *relation; /* TABLE: made as a Relation message would be; the caller owns it */
    uint32_t relation_oid;     /* ROW */
    struct tuple row;          /* ROW: borrowed until the next call */
    enum snapshot_marker marker; /* ROW */
};

/*
 * Connects, takes over the exported snapshot (REPEATABLE READ, READ ONLY) and lists the captured
 * tables of the publication, sorted by name, with its column lists and row filters applied.
 * Time-outs set on role or database do not count here. WR_RETRY: as of a connection, and when the
 * snapshot's name is no longer valid. WR_FATAL: a table may not be read; the text has the GRANTs.
 */
WR_MUST_USE enum wr_status snapshot_open(const struct config *config, const char *snapshot_name,
                                         const struct table_filter *filter, struct snapshot **out,
                                         struct wr_error *err);
/* For `source.txId` of snapshot rows: the first transaction that the snapshot does not see. */
uint32_t snapshot_xid(const struct snapshot *s);

/*
 * The next event. TABLE comes before the first row of a table, and not at all for an empty one. A
 * row is kept back until the one after it has been read, since its marker depends on that.
 * WR_AGAIN: wait until snapshot_fd() is readable, then snapshot_consume().
 */
WR_MUST_USE enum wr_status snapshot_next(struct snapshot *s, struct snapshot_event *out,
                                         struct wr_error *err);
WR_MUST_USE enum wr_status snapshot_consume(struct snapshot *s, struct wr_error *err);
int snapshot_fd(const struct snapshot *s);
void snapshot_close(struct snapshot *s); /* NULL is allowed */

#endif /* WR_STREAMER_SNAPSHOT_H */
