/* streamer/chunk_list.h - the tables that an incremental snapshot may read. */
#ifndef WR_STREAMER_CHUNK_LIST_H
#define WR_STREAMER_CHUNK_LIST_H

#include <stdint.h>

#include <libpq-fe.h>

#include "base/status.h"
#include "streamer/catalog_pg.h"
#include "streamer/chunk_reader.h"

struct config;

/* chunk_reader_list() on a connection. */
WR_MUST_USE enum wr_status chunk_list(const struct config *config, PGconn *conn,
                                      const struct table_filter *filter, void *context,
                                      void (*each)(void *context, const struct chunk_found *table),
                                      struct wr_error *err);

#endif /* WR_STREAMER_CHUNK_LIST_H */
