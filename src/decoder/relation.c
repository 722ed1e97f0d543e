#include "decoder/relation.h"

#include <assert.h>

#include "base/arena.h"
#include "base/bytes.h"

enum {
    COLUMN_FLAG_KEY = 0x01,
    COLUMN_SIZE_MIN = 1 + 1 + 4 + 4, /* flags, empty name, type oid, type modifier */
};

static bool column_decode(struct wr_cursor *in, struct wr_arena *arena, struct column *out)
{
    out->is_key = (wr_cursor_uint(in, 1) & COLUMN_FLAG_KEY) != 0;
    out->name = wr_arena_strdup(arena, wr_cursor_str(in));
    out->type_oid = (uint32_t)wr_cursor_uint(in, 4);
    out->type_mod = (int32_t)(uint32_t)wr_cursor_uint(in, 4);
    return out->name != NULL;
}

enum wr_status relation_decode(struct wr_cursor *in, struct wr_arena *arena, struct relation *out,
                               struct wr_error *err)
{
    assert(in != NULL && arena != NULL && out != NULL);

    *out = (struct relation){.arena = arena};
    out->oid = (uint32_t)wr_cursor_uint(in, 4);
    const char *schema = wr_cursor_str(in);
    out->schema = wr_arena_strdup(arena, schema[0] == '\0' ? "pg_catalog" : schema);
    out->table = wr_arena_strdup(arena, wr_cursor_str(in));
    out->replica_identity = (char)wr_cursor_uint(in, 1);
    out->column_count = (uint16_t)wr_cursor_uint(in, 2);

    /* The count comes off the wire: bound it by the bytes there before it sizes anything. */
    if (in->failed || out->column_count > wr_cursor_left(in) / COLUMN_SIZE_MIN) {
        return wr_fail(err, WR_FATAL, "relation", "oid %u: header truncated", out->oid);
    }
    out->columns = wr_arena_alloc(arena, out->column_count, sizeof(*out->columns));
    bool stored = out->schema != NULL && out->table != NULL && out->columns != NULL;
    for (uint16_t i = 0; stored && i < out->column_count; i++) {
        stored = column_decode(in, arena, &out->columns[i]);
    }
    if (!stored) {
        return wr_fail(err, WR_FATAL, "relation", "oid %u: larger than the arena", out->oid);
    }
    if (!wr_cursor_done(in)) {
        return wr_fail(err, WR_FATAL, "relation", "oid %u: %s", out->oid,
                       in->failed ? "columns truncated" : "bytes left over");
    }
    return WR_OK;
}
