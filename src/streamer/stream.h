/* streamer/stream.h - the replication connection: a slot's changes in, confirmations out. */
#ifndef WR_STREAMER_STREAM_H
#define WR_STREAMER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/slice.h"
#include "base/status.h"
#include "streamer/catalog_pg.h"

struct config;
struct stream;

struct stream_identity {
    uint64_t system_identifier;
    uint32_t timeline;
    wr_lsn wal_lsn;                /* IDENTIFY_SYSTEM's xlogpos: never a place to start from */
    int server_version;            /* PQserverVersion: 150018 */
    int64_t wal_sender_timeout_ms; /* 0: none */
    char *history;                 /* of the timelines before this one (timeline.h), or NULL */
};

enum stream_event_kind { STREAM_DATA, STREAM_KEEPALIVE };

struct stream_event {
    enum stream_event_kind kind;
    wr_lsn lsn;           /* DATA: of the change; 0 for Relation messages. Never a progress mark */
    wr_lsn wal_end;       /* KEEPALIVE: how far the server has read */
    int64_t time_us;      /* of sending, since 1970 */
    bool reply_requested; /* KEEPALIVE */
    struct wr_slice payload; /* DATA: one pgoutput message, borrowed until the next read */
};

/*
 * From now on every wait of this room (connecting, creating a slot, asking the catalog) ends with
 * WR_RETRY "interrupted" once `fd`, such as a signalfd, is readable. It is never read from. -1:
 * nothing interrupts, as at the start.
 */
void streamer_abort_fd(int fd);

/*
 * Connects (replication=database) with every setting that changes text output pinned, and reads
 * the identity. WR_RETRY: not reachable, starting up, or too many connections. WR_FATAL: wrong
 * password, no such database, wal_level not logical, no REPLICATION right; the text has the remedy.
 */
WR_MUST_USE enum wr_status stream_connect(const struct config *config, struct stream **out,
                                          struct wr_error *err);
const struct stream_identity *stream_identity(const struct stream *s);

/*
 * Creates the slot. Waits for transactions that are open, and says so. What is committed from
 * `consistent_lsn` on will be streamed.
 */
WR_MUST_USE enum wr_status stream_create_slot(struct stream *s, wr_lsn *consistent_lsn,
                                              struct wr_error *err);

/*
 * Takes a lock that this connection then holds, as often as it likes: two that take snapshots for
 * one slot would publish each other's rows late, and two that publish exactly once would fence each
 * other. It is given back with the connection, as the slot is. WR_RETRY while another process has
 * it.
 */
WR_MUST_USE enum wr_status stream_lock_snapshot(struct stream *s, struct wr_error *err);

/*
 * Creates a slot beside it, with an exported snapshot: the state of the database at
 * `consistent_lsn`. catalog_keep_slot() makes it the real one once all of the snapshot is
 * acknowledged. The name in `snapshot_name` (owned by the stream) is valid until the next call on
 * this stream.
 */
WR_MUST_USE enum wr_status stream_create_snapshot_slot(struct stream *s, enum snapshot_slot kind,
                                                       const char **snapshot_name,
                                                       wr_lsn *consistent_lsn,
                                                       struct wr_error *err);
/* It must not hold back the WAL any longer. */
WR_MUST_USE enum wr_status stream_drop_snapshot_slot(struct stream *s, enum snapshot_slot kind,
                                                     struct wr_error *err);
WR_MUST_USE enum wr_status stream_drop_slot(struct stream *s, struct wr_error *err);

/*
 * Lets standbys keep a copy of the slot (PostgreSQL 17: failover). The slot must exist; one that
 * has it already stays as it is. A warning in the log where the server is older.
 */
WR_MUST_USE enum wr_status stream_set_failover(struct stream *s, struct wr_error *err);

/* From now on the stream is that of the lasting slot of a snapshot, instead of the slot's. */
void stream_use_snapshot_slot(struct stream *s);

/*
 * START_REPLICATION at `start` (0: from the slot's confirmed_flush_lsn). WR_RETRY while the slot
 * is active for another process.
 */
WR_MUST_USE enum wr_status stream_start(struct stream *s, wr_lsn start, bool with_messages,
                                        struct wr_error *err);

/* Whether it failed because another process reads the slot. */
bool stream_slot_is_taken(const struct stream *s);

/* Wait on it for reading, and for writing too while stream_wants_write(). */
int stream_fd(const struct stream *s);
bool stream_wants_write(const struct stream *s);

/* Takes what the socket holds into memory. Never call it while paused: that is what bounds memory.
 */
WR_MUST_USE enum wr_status stream_consume(struct stream *s, struct wr_error *err);
/* The next event of what was consumed; WR_AGAIN when it is used up. */
WR_MUST_USE enum wr_status stream_read(struct stream *s, struct stream_event *out,
                                       struct wr_error *err);
/* Standby status update: `write` >= `flush`; flush 0 confirms nothing. Asks for a reply on demand.
 */
WR_MUST_USE enum wr_status stream_confirm(struct stream *s, wr_lsn write, wr_lsn flush,
                                          bool request_reply, struct wr_error *err);
/* Sends what is still queued for the server; call when the fd is writable. */
WR_MUST_USE enum wr_status stream_flush(struct stream *s, struct wr_error *err);
/*
 * CopyDone, then waits a bounded time for the server to end, so that it has read the last
 * confirmation; WR_RETRY when it does not. Not interrupted by streamer_abort_fd(). After WR_OK the
 * connection takes commands again (stream_drop_slot), but no other stream: a walsender remembers
 * that it was told to end.
 */
WR_MUST_USE enum wr_status stream_stop(struct stream *s, int64_t timeout_ms, struct wr_error *err);
void stream_close(struct stream *s); /* NULL is allowed */

#endif /* WR_STREAMER_STREAM_H */
