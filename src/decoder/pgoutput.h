/* decoder/pgoutput.h - one pgoutput message, decoded. */
#ifndef WR_DECODER_PGOUTPUT_H
#define WR_DECODER_PGOUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/lsn.h"
#include "base/slice.h"
#include "base/status.h"
#include "decoder/relation.h"

/* Values are the message's first byte (protocol page "Logical Replication Message Formats"). */
enum message_kind {
    MESSAGE_BEGIN = 'B',
    MESSAGE_COMMIT = 'C',
    MESSAGE_ORIGIN = 'O',
    MESSAGE_RELATION = 'R',
    MESSAGE_TYPE = 'Y',
    MESSAGE_INSERT = 'I',
    MESSAGE_UPDATE = 'U',
    MESSAGE_DELETE = 'D',
    MESSAGE_TRUNCATE = 'T',
    MESSAGE_LOGICAL = 'M',
    MESSAGE_STREAM_START = 'S',
    MESSAGE_STREAM_STOP = 'E',
    MESSAGE_STREAM_COMMIT = 'c',
    MESSAGE_STREAM_ABORT = 'A',
    MESSAGE_BEGIN_PREPARE = 'b',
    MESSAGE_PREPARE = 'P',
    MESSAGE_COMMIT_PREPARED = 'K',
    MESSAGE_ROLLBACK_PREPARED = 'r',
    MESSAGE_STREAM_PREPARE = 'p',
};

enum cell_kind {
    CELL_NULL = 'n', /* SQL NULL; in a key-only old tuple it means unknown for non-key columns */
    CELL_UNCHANGED = 'u', /* a TOAST value that the update did not touch */
    CELL_TEXT = 't',
};

struct cell {
    enum cell_kind kind;
    struct wr_slice text;
};

struct tuple {
    uint16_t column_count;
    struct cell *cells;
};

enum old_kind { OLD_NONE = 0, OLD_KEY = 'K', OLD_ROW = 'O' };

struct message {
    enum message_kind kind;
    uint32_t relation_oid;     /* I U D */
    enum old_kind old_kind;    /* U D */
    struct tuple old_tuple;    /* U D, where old_kind is not OLD_NONE */
    struct tuple new_tuple;    /* I U */
    uint32_t xid;              /* B, and 2PC kinds */
    int64_t commit_time_us;    /* B C, since 1970-01-01 UTC */
    wr_lsn commit_lsn;         /* B: final_lsn; C: commit_lsn */
    wr_lsn end_lsn;            /* C: what may be confirmed once everything is acknowledged */
    wr_lsn origin_lsn;         /* O */
    const char *origin;        /* O */
    struct relation *relation; /* R */
    struct {
        uint32_t count;
        const uint8_t *oids; /* big-endian, 4 bytes each; read with truncate_oid() */
        uint8_t flags;       /* 1 CASCADE, 2 RESTART IDENTITY */
    } truncate;              /* T */
    struct {
        bool is_transactional;
        wr_lsn lsn;
        const char *prefix;
        struct wr_slice content;
    } logical; /* M */
};

/* Holds the cells of one message, so that a row costs no allocation. Large: one per stream. */
struct pgoutput {
    bool in_transaction; /* between B and C */
    struct cell old_cells[WR_COLUMN_COUNT_MAX];
    struct cell new_cells[WR_COLUMN_COUNT_MAX];
};

void pgoutput_init(struct pgoutput *decoder);

/*
 * Decodes one message. All in `out` borrows from `payload` and from `decoder` and lives until the
 * next call, except `out->relation`, which owns its arena: the caller puts it into a relcache.
 *
 * WR_FATAL: truncated, left-over bytes, an unknown kind, a change outside a transaction, binary
 * cells, or a kind that was not asked for (streamed and two-phase ones): the text names it. A
 * Stream Abort outside a stream is decoded: PostgreSQL 18 sends it unasked to proto_version 1.
 */
WR_MUST_USE enum wr_status pgoutput_decode(struct pgoutput *decoder, struct wr_slice payload,
                                           struct message *out, struct wr_error *err);

static inline uint32_t truncate_oid(const struct message *m, uint32_t index)
{
    const uint8_t *p = m->truncate.oids + (size_t)index * 4;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

#endif /* WR_DECODER_PGOUTPUT_H */
