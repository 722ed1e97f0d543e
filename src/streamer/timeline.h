/* streamer/timeline.h - where a server left its earlier timelines. */
#ifndef WR_STREAMER_TIMELINE_H
#define WR_STREAMER_TIMELINE_H

#include <stdint.h>

#include "base/lsn.h"
#include "base/status.h"

struct pg_conn; /* libpq's PGconn */

/* The history of `timeline` on a replication connection that does not stream; `*out` is for free().
 * NULL where the server has none: who needs it will say that it is not there. */
WR_MUST_USE enum wr_status timeline_read(struct pg_conn *conn, uint32_t timeline, char **out,
                                         struct wr_error *err);
/* Where `history` (NULL: none) says that `timeline` ended. WR_FATAL: it knows of no such. */
WR_MUST_USE enum wr_status timeline_end(const char *history, uint32_t timeline, wr_lsn *lsn,
                                        struct wr_error *err);

#endif /* WR_STREAMER_TIMELINE_H */
