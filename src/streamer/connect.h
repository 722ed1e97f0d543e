/* streamer/connect.h - opens the connections, with everything pinned that changes text output. */
#ifndef WR_STREAMER_CONNECT_H
#define WR_STREAMER_CONNECT_H

#include <libpq-fe.h>

#include "base/status.h"

struct config;

enum connect_kind { CONNECT_QUERY, CONNECT_REPLICATION };

/*
 * Connects within a bounded time (connect_timeout, else 10 s) and pins the session's settings. The
 * connection is non-blocking; free it with PQfinish. WR_RETRY: the server is not reachable, starts
 * or stops, or has no connection left. WR_FATAL: it refuses us, and the text says what to change.
 */
WR_MUST_USE enum wr_status connect_open(const struct config *config, enum connect_kind kind,
                                        PGconn **out, struct wr_error *err);

/*
 * Begins a connection for somebody else's SQL, with nothing pinned, and does not wait:
 * PQconnectPoll goes on with it. Free it with PQfinish, also after it failed.
 */
WR_MUST_USE enum wr_status connect_start(const struct config *config, PGconn **out,
                                         struct wr_error *err);

#endif /* WR_STREAMER_CONNECT_H */
