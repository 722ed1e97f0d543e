/*
 * One pgoutput message, read front to back with a sticky cursor and checked once at its end.
 *
 * Integers are big-endian; str ends with a NUL; times count microseconds from 2000-01-01.
 *
 *   B  Begin              u64 final_lsn, i64 time, u32 xid
 *   C  Commit             u8 flags (0), u64 commit_lsn, u64 end_lsn, i64 time
 *   O  Origin             u64 lsn, str name
 *   R  Relation           see relation.c
 *   Y  Type               u32 oid, str schema, str name
 *   I  Insert             u32 relation, 'N' tuple
 *   U  Update             u32 relation, ['K'|'O' tuple], 'N' tuple
 *   D  Delete             u32 relation, 'K'|'O' tuple
 *   T  Truncate           u32 count, u8 flags, count * u32 relation
 *   M  Message            u8 flags (1: transactional), u64 lsn, str prefix, u32 size, bytes
 *   A  Stream Abort       u32 xid, u32 subxid [, u64 lsn, i64 time]
 *   tuple                 u16 columns, each: u8 kind; for 't' and 'b' u32 size, bytes
 *
 * The kinds of streaming (S E c A p) and of two-phase commit (b P K r p) are known by name only:
 * walrelay asks for neither. Passing over one would misplace every row behind it, so each is an
 * error that says where it comes from. Stream Abort is the exception: PostgreSQL 18 sends it to
 * clients that never asked for streaming, and nothing hangs on it.
 */
#include "decoder/pgoutput.h"

#include <assert.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"

enum {
    TRUNCATE_FLAGS = 1 | 2, /* CASCADE, RESTART IDENTITY */
    LOGICAL_FLAGS = 1,      /* transactional */
};

void pgoutput_init(struct pgoutput *decoder)
{
    decoder->in_transaction = false;
}

static wr_lsn read_lsn(struct wr_cursor *in)
{
    return wr_cursor_uint(in, 8);
}

static int64_t read_time_us(struct wr_cursor *in)
{
    /* Unsigned, since bytes from outside may be any number and may not overflow a signed one. */
    return (int64_t)(wr_cursor_uint(in, 8) + (uint64_t)WR_PG_EPOCH_US);
}

static struct wr_slice read_bytes(struct wr_cursor *in)
{
    size_t size = wr_cursor_uint(in, 4);
    const uint8_t *bytes = in->next;

    if (size > wr_cursor_left(in)) {
        wr_cursor_fail(in);
        return (struct wr_slice){"", 0};
    }
    in->next += size;
    return (struct wr_slice){(const char *)bytes, size};
}

static enum wr_status tuple_decode(struct wr_cursor *in, struct cell *cells, struct tuple *out,
                                   struct wr_error *err)
{
    uint16_t count = (uint16_t)wr_cursor_uint(in, 2);

    if (count > WR_COLUMN_COUNT_MAX) {
        return wr_fail(err, WR_FATAL, "pgoutput", "a tuple of %u columns, more than %d", count,
                       WR_COLUMN_COUNT_MAX);
    }
    for (uint16_t i = 0; i < count; i++) {
        struct cell *cell = &cells[i];
        unsigned kind = (unsigned)wr_cursor_uint(in, 1);
        switch (kind) {
        case CELL_NULL:
        case CELL_UNCHANGED:
            cell->kind = (enum cell_kind)kind;
            break;
        case CELL_TEXT:
            cell->kind = CELL_TEXT;
            cell->text = read_bytes(in);
            break;
        default:
            if (in->failed) {
                return WR_OK; /* the caller's one check reports it */
            }
            return wr_fail(err, WR_FATAL, "pgoutput", "column %u has the unknown kind 0x%02x%s", i,
                           kind, kind == 'b' ? " (binary was not asked for)" : "");
        }
    }
    out->column_count = count;
    out->cells = cells;
    return WR_OK;
}

static enum wr_status expect_new(struct wr_cursor *in, unsigned mark, struct message *out,
                                 struct pgoutput *decoder, struct wr_error *err)
{
    if (mark != 'N' && !in->failed) {
        return wr_fail(err, WR_FATAL, "pgoutput", "a new tuple is marked 0x%02x instead of N",
                       mark);
    }
    return tuple_decode(in, decoder->new_cells, &out->new_tuple, err);
}

static enum wr_status insert_decode(struct wr_cursor *in, struct pgoutput *decoder,
                                    struct message *out, struct wr_error *err)
{
    out->relation_oid = (uint32_t)wr_cursor_uint(in, 4);
    return expect_new(in, (unsigned)wr_cursor_uint(in, 1), out, decoder, err);
}

static enum wr_status update_decode(struct wr_cursor *in, struct pgoutput *decoder,
                                    struct message *out, struct wr_error *err)
{
    out->relation_oid = (uint32_t)wr_cursor_uint(in, 4);
    unsigned mark = (unsigned)wr_cursor_uint(in, 1);
    if (mark == OLD_KEY || mark == OLD_ROW) {
        out->old_kind = (enum old_kind)mark;
        enum wr_status status = tuple_decode(in, decoder->old_cells, &out->old_tuple, err);
        if (status != WR_OK) {
            return status;
        }
        mark = (unsigned)wr_cursor_uint(in, 1);
    }
    return expect_new(in, mark, out, decoder, err);
}

static enum wr_status delete_decode(struct wr_cursor *in, struct pgoutput *decoder,
                                    struct message *out, struct wr_error *err)
{
    out->relation_oid = (uint32_t)wr_cursor_uint(in, 4);
    unsigned mark = (unsigned)wr_cursor_uint(in, 1);
    if (mark != OLD_KEY && mark != OLD_ROW) {
        return in->failed ? WR_OK
                          : wr_fail(err, WR_FATAL, "pgoutput",
                                    "a deleted tuple is marked 0x%02x instead of K or O", mark);
    }
    out->old_kind = (enum old_kind)mark;
    return tuple_decode(in, decoder->old_cells, &out->old_tuple, err);
}

static enum wr_status truncate_decode(struct wr_cursor *in, struct message *out,
                                      struct wr_error *err)
{
    out->truncate.count = (uint32_t)wr_cursor_uint(in, 4);
    out->truncate.flags = (uint8_t)wr_cursor_uint(in, 1);
    out->truncate.oids = in->next;
    if (in->failed || out->truncate.count > wr_cursor_left(in) / 4) {
        return wr_fail(err, WR_FATAL, "pgoutput", "a Truncate of %u relations is cut short",
                       out->truncate.count);
    }
    if ((out->truncate.flags & ~TRUNCATE_FLAGS) != 0) {
        return wr_fail(err, WR_FATAL, "pgoutput", "a Truncate has the unknown flags 0x%02x",
                       out->truncate.flags);
    }
    in->next += (size_t)out->truncate.count * 4;
    return WR_OK;
}

static enum wr_status relation_message_decode(struct wr_cursor *in, struct message *out,
                                              struct wr_error *err)
{
    struct wr_arena *arena = wr_arena_new(WR_RELATION_SIZE_MAX);
    struct relation *relation = wr_arena_alloc(arena, 1, sizeof(*relation));

    assert(relation != NULL);
    enum wr_status status = relation_decode(in, arena, relation, err);
    if (status != WR_OK) {
        wr_arena_free(arena);
        return status;
    }
    out->relation = relation;
    return WR_OK;
}

static enum wr_status transaction_decode(struct wr_cursor *in, struct pgoutput *decoder,
                                         struct message *out, struct wr_error *err)
{
    if (out->kind == MESSAGE_BEGIN) {
        out->commit_lsn = read_lsn(in);
        out->commit_time_us = read_time_us(in);
        out->xid = (uint32_t)wr_cursor_uint(in, 4);
        if (decoder->in_transaction) {
            return wr_fail(err, WR_FATAL, "pgoutput", "Begin of xid %u inside a transaction",
                           out->xid);
        }
        decoder->in_transaction = true;
        return WR_OK;
    }
    unsigned flags = (unsigned)wr_cursor_uint(in, 1);
    out->commit_lsn = read_lsn(in);
    out->end_lsn = read_lsn(in);
    out->commit_time_us = read_time_us(in);
    if (in->failed) {
        return WR_OK;
    }
    const char *problem = flags != 0                 ? "has unknown flags"
                          : out->end_lsn == 0        ? "has no end"
                          : !decoder->in_transaction ? "outside a transaction"
                                                     : NULL;
    if (problem != NULL) {
        return wr_fail(err, WR_FATAL, "pgoutput", "Commit at " WR_LSN_FMT " %s",
                       WR_LSN_ARGS(out->commit_lsn), problem);
    }
    decoder->in_transaction = false;
    return WR_OK;
}

static enum wr_status logical_decode(struct wr_cursor *in, struct message *out,
                                     struct wr_error *err)
{
    unsigned flags = (unsigned)wr_cursor_uint(in, 1);

    out->logical.is_transactional = flags != 0;
    out->logical.lsn = read_lsn(in);
    out->logical.prefix = wr_cursor_str(in);
    out->logical.content = read_bytes(in);
    if ((flags & ~(unsigned)LOGICAL_FLAGS) != 0) {
        return wr_fail(err, WR_FATAL, "pgoutput", "a logical message has the unknown flags 0x%02x",
                       flags);
    }
    if (out->logical.lsn == 0 && !in->failed) {
        return wr_fail(err, WR_FATAL, "pgoutput", "a logical message without an LSN");
    }
    return WR_OK;
}

static void stream_abort_decode(struct wr_cursor *in, struct message *out)
{
    out->xid = (uint32_t)wr_cursor_uint(in, 4);
    (void)wr_cursor_uint(in, 4);
    if (wr_cursor_left(in) > 0) { /* sent with streaming=parallel only */
        (void)read_lsn(in);
        (void)read_time_us(in);
    }
}

static enum wr_status refuse(unsigned kind, struct wr_error *err)
{
    switch (kind) {
    case MESSAGE_STREAM_START:
    case MESSAGE_STREAM_STOP:
    case MESSAGE_STREAM_COMMIT:
        return wr_fail(err, WR_FATAL, "pgoutput",
                       "message %c streams a transaction in progress, which was not asked for",
                       (char)kind);
    case MESSAGE_BEGIN_PREPARE:
    case MESSAGE_PREPARE:
    case MESSAGE_COMMIT_PREPARED:
    case MESSAGE_ROLLBACK_PREPARED:
    case MESSAGE_STREAM_PREPARE:
        return wr_fail(
            err, WR_FATAL, "pgoutput",
            "message %c is of a two-phase slot: drop the slot and let it be made without "
            "TWO_PHASE",
            (char)kind);
    default:
        return wr_fail(err, WR_FATAL, "pgoutput", "unknown message kind 0x%02x", kind);
    }
}

/* Rows and truncates belong to a transaction; a logical message need not. */
static bool needs_transaction(unsigned kind)
{
    return kind == MESSAGE_INSERT || kind == MESSAGE_UPDATE || kind == MESSAGE_DELETE ||
           kind == MESSAGE_TRUNCATE;
}

static enum wr_status body_decode(struct wr_cursor *in, unsigned kind, struct pgoutput *decoder,
                                  struct message *out, struct wr_error *err)
{
    switch (kind) {
    case MESSAGE_BEGIN:
    case MESSAGE_COMMIT:
        return transaction_decode(in, decoder, out, err);
    case MESSAGE_INSERT:
        return insert_decode(in, decoder, out, err);
    case MESSAGE_UPDATE:
        return update_decode(in, decoder, out, err);
    case MESSAGE_DELETE:
        return delete_decode(in, decoder, out, err);
    case MESSAGE_TRUNCATE:
        return truncate_decode(in, out, err);
    case MESSAGE_RELATION:
        return relation_message_decode(in, out, err);
    case MESSAGE_LOGICAL:
        return logical_decode(in, out, err);
    case MESSAGE_ORIGIN:
        out->origin_lsn = read_lsn(in);
        out->origin = wr_cursor_str(in);
        return WR_OK;
    case MESSAGE_TYPE: /* says no more than the catalog does */
        (void)wr_cursor_uint(in, 4);
        (void)wr_cursor_str(in);
        (void)wr_cursor_str(in);
        return WR_OK;
    case MESSAGE_STREAM_ABORT:
        stream_abort_decode(in, out);
        return WR_OK;
    default:
        return refuse(kind, err);
    }
}

enum wr_status pgoutput_decode(struct pgoutput *decoder, struct wr_slice payload,
                               struct message *out, struct wr_error *err)
{
    struct wr_cursor in;

    wr_cursor_init(&in, payload.data, payload.size);
    unsigned kind = (unsigned)wr_cursor_uint(&in, 1);
    if (in.failed) {
        return wr_fail(err, WR_FATAL, "pgoutput", "an empty message");
    }
    *out = (struct message){.kind = (enum message_kind)kind};
    if (needs_transaction(kind) && !decoder->in_transaction) {
        return wr_fail(err, WR_FATAL, "pgoutput", "message %c outside a transaction", (char)kind);
    }
    enum wr_status status = body_decode(&in, kind, decoder, out, err);
    if (status == WR_OK && !wr_cursor_done(&in)) {
        if (out->relation != NULL) {
            wr_arena_free(out->relation->arena);
            out->relation = NULL;
        }
        return wr_fail(err, WR_FATAL, "pgoutput", "message %c of %zu bytes %s", (char)kind,
                       payload.size, in.failed ? "is truncated" : "has bytes left over");
    }
    return status;
}
