/* sink/redis_state.h - what the files of the Redis target share. */
#ifndef WR_SINK_REDIS_STATE_H
#define WR_SINK_REDIS_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "sink/sink.h"

struct redisReply;
struct redis_link;
struct redis_table;

/* Whose reply one is. */
enum redis_command {
    REDIS_ROW,   /* a record's own: it may be refused */
    REDIS_OTHER, /* goes along, as a notice */
    REDIS_SCAN,  /* a page of keys */
    REDIS_FENCE, /* GET of a table's last TRUNCATE */
};

struct redis_sent {
    enum redis_command command;
    size_t record; /* its place in the batch; of a fence: the table's */
};

enum { REDIS_VERSION_SIZE = 32, REDIS_SCRIPT_SIZE = 40 };

struct redis {
    struct sink_target base;
    const struct sink_setup *setup;
    struct redis_link *link; /* NULL: to be made again */
    bool is_stored;          /* rows are stored, not only their keys dropped */
    bool is_versioned;       /* keys have a neighbour with their version */
    struct wr_slice prefix;
    char ttl_ms[24], tombstone_ms[24];
    char script[REDIS_SCRIPT_SIZE + 1]; /* STORE's name */
    struct redis_table *tables;
    size_t table_count;

    /* Commands to be sent, and a struct redis_sent for each. */
    struct wr_buffer commands, sent;
    struct wr_buffer key, version_key; /* of the command that is written */
    /* Of a SCAN: where it goes on, and the keys, each with its size before it. */
    char cursor[32];
    struct wr_buffer found;
    struct wr_error failure; /* of a reply; status WR_OK: none */
    struct sink_report *report;
};

/* Adds a command, to be sent by the next redis_exchange(). */
void redis_add(struct redis *r, enum redis_command command, size_t record,
               const struct wr_slice *words, size_t count);
WR_MUST_USE enum wr_status redis_exchange(struct redis *r, struct wr_error *err);

/* What one record comes to. */
void redis_add_row(struct redis *r, const struct sink_record *record, size_t number);
/* Sends what was added, and looks after rows that are older than a TRUNCATE. */
WR_MUST_USE enum wr_status redis_finish(struct redis *r, const struct sink_record *records,
                                        size_t count, struct wr_error *err);
WR_MUST_USE enum wr_status redis_truncate(struct redis *r, const struct sink_record *record,
                                          size_t number, struct wr_error *err);
void redis_take_scan(struct redis *r, const struct redisReply *reply);
void redis_take_fence(struct redis *r, size_t table, struct wr_slice version);
void redis_tables_free(struct redis *r);

#endif /* WR_SINK_REDIS_STATE_H */
