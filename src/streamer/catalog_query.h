/* streamer/catalog_query.h - the query connection behind struct catalog, for this room only. */
#ifndef WR_STREAMER_CATALOG_QUERY_H
#define WR_STREAMER_CATALOG_QUERY_H

#include <libpq-fe.h>

#include "base/status.h"
#include "streamer/catalog_pg.h"
#include "streamer/command.h"

struct catalog;
struct config;

/*
 * Runs `command` (its timeout is set here), connecting first where there is no connection. A
 * connection that died while nobody used it is replaced once before anybody hears of it. On WR_OK
 * `*out` is for PQclear.
 */
WR_MUST_USE enum wr_status catalog_query(struct catalog *catalog, struct command *command,
                                         PGresult **out, struct wr_error *err);
const struct config *catalog_config(const struct catalog *catalog);
/* The role that is connected; "" before the first query. */
const char *catalog_role(const struct catalog *catalog);

/*
 * The slot that a snapshot is taken with: the slot's own name, cut where it must be, and a suffix.
 * PostgreSQL's names have at most 63 bytes.
 */
enum { SNAPSHOT_SLOT_NAME_SIZE = 64 };
void snapshot_slot_name(const struct config *config, enum snapshot_slot kind,
                        char out[SNAPSHOT_SLOT_NAME_SIZE]);

#endif /* WR_STREAMER_CATALOG_QUERY_H */
