/* streamer/snapshot_reader.h - one connection that copies parts of tables, one after the other. */
#ifndef WR_STREAMER_SNAPSHOT_READER_H
#define WR_STREAMER_SNAPSHOT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "base/status.h"

struct config;

enum reader_phase {
    READER_IDLE,     /* a COPY may be begun */
    READER_STARTING, /* the server has not answered yet: it may wait for a lock */
    READER_ROWS,
    READER_ENDING, /* no more rows; the COPY's result is awaited */
};

struct snapshot_reader {
    PGconn *conn;
    enum reader_phase phase;
    uint64_t size;    /* of the rows that the running COPY has brought */
    char sqlstate[6]; /* of a COPY that failed */
};

/* Connects and takes over the exported snapshot. Close it also after a failure. */
WR_MUST_USE enum wr_status snapshot_reader_open(struct snapshot_reader *reader,
                                                const struct config *config,
                                                const char *snapshot_name, struct wr_error *err);
void snapshot_reader_close(struct snapshot_reader *reader);

/* A command that is waited for, as long as it is idle; the result is for PQclear. WR_RETRY also
 * where the exported snapshot or a table is gone: a new snapshot sees things right. */
WR_MUST_USE enum wr_status snapshot_reader_run(struct snapshot_reader *reader, const char *sql,
                                               int64_t timeout_ms, PGresult **out,
                                               struct wr_error *err);

/* Sends a COPY; there is no time-out, since a table may be locked for as long as somebody likes. */
WR_MUST_USE enum wr_status snapshot_reader_copy(struct snapshot_reader *reader, const char *sql,
                                                struct wr_error *err);

/*
 * The next line, to be freed with PQfreemem; NULL: the COPY has ended, and the reader is idle.
 * WR_AGAIN: nothing has come yet.
 */
WR_MUST_USE enum wr_status snapshot_reader_line(struct snapshot_reader *reader, char **data,
                                                size_t *size, struct wr_error *err);

/* Takes what the socket holds into memory. */
WR_MUST_USE enum wr_status snapshot_reader_consume(struct snapshot_reader *reader,
                                                   struct wr_error *err);

#endif /* WR_STREAMER_SNAPSHOT_READER_H */
