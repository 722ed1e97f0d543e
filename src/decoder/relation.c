#include "decoder/relation.h"

#include <assert.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/limits.h"

enum {
    COLUMN_FLAG_KEY = 0x01,
    COLUMN_SIZE_MIN = 1 + 1 + 4 + 4, /* flags, empty name, type oid, type modifier */
};

static enum wr_status column_decode(struct wr_cursor *in, struct relation *relation,
                                    struct column *out, struct wr_error *err)
{
    unsigned flags = (unsigned)wr_cursor_uint(in, 1);

    out->is_key = (flags & COLUMN_FLAG_KEY) != 0;
    out->name = wr_arena_strdup(relation->arena, wr_cursor_str(in));
    out->type_oid = (uint32_t)wr_cursor_uint(in, 4);
    out->type_mod = (int32_t)(uint32_t)wr_cursor_uint(in, 4);
    if (out->name == NULL) {
        return wr_fail(err, WR_FATAL, "relation", "oid %u: larger than the arena", relation->oid);
    }
    if ((flags & ~(unsigned)COLUMN_FLAG_KEY) != 0) {
        return wr_fail(err, WR_FATAL, "relation", "oid %u: column %s has unknown flags 0x%02x",
                       relation->oid, out->name, flags);
    }
    return WR_OK;
}

static bool is_identity(char identity)
{
    return identity == 'd' || identity == 'i' || identity == 'f' || identity == 'n';
}

/* What stands before the columns. Their count is bounded before it sizes anything. */
static enum wr_status head_decode(struct wr_cursor *in, struct relation *out, struct wr_error *err)
{
    out->oid = (uint32_t)wr_cursor_uint(in, 4);
    const char *schema = wr_cursor_str(in);
    out->schema = wr_arena_strdup(out->arena, schema[0] == '\0' ? "pg_catalog" : schema);
    out->table = wr_arena_strdup(out->arena, wr_cursor_str(in));
    out->replica_identity = (char)wr_cursor_uint(in, 1);
    out->column_count = (uint16_t)wr_cursor_uint(in, 2);
    if (in->failed || out->column_count > wr_cursor_left(in) / COLUMN_SIZE_MIN) {
        return wr_fail(err, WR_FATAL, "relation", "oid %u: header truncated", out->oid);
    }
    if (out->column_count > WR_COLUMN_COUNT_MAX) {
        return wr_fail(err, WR_FATAL, "relation",
                       "oid %u: %u columns, more than %d (WR_COLUMN_COUNT_MAX)", out->oid,
                       out->column_count, WR_COLUMN_COUNT_MAX);
    }
    if (!is_identity(out->replica_identity)) {
        return wr_fail(err, WR_FATAL, "relation", "oid %u: unknown replica identity 0x%02x",
                       out->oid, (unsigned char)out->replica_identity);
    }
    out->columns = wr_arena_alloc(out->arena, out->column_count, sizeof(*out->columns));
    if (out->schema == NULL || out->table == NULL || out->columns == NULL) {
        return wr_fail(err, WR_FATAL, "relation", "oid %u: larger than the arena", out->oid);
    }
    return WR_OK;
}

enum wr_status relation_decode(struct wr_cursor *in, struct wr_arena *arena, struct relation *out,
                               struct wr_error *err)
{
    assert(in != NULL && arena != NULL && out != NULL);

    *out = (struct relation){.arena = arena};
    enum wr_status status = head_decode(in, out, err);
    for (uint16_t i = 0; status == WR_OK && i < out->column_count; i++) {
        status = column_decode(in, out, &out->columns[i], err);
    }
    if (status != WR_OK) {
        return status;
    }
    if (!wr_cursor_done(in)) {
        return wr_fail(err, WR_FATAL, "relation", "oid %u: %s", out->oid,
                       in->failed ? "columns truncated" : "bytes left over");
    }
    return WR_OK;
}
