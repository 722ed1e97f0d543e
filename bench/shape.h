/* bench/shape.h - tables and their rows as pgoutput sends them, made in memory. */
#ifndef WR_BENCH_SHAPE_H
#define WR_BENCH_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "decoder/catalog.h"

struct wr_arena;

enum shape_kind {
    SHAPE_EVENTS, /* the table of sql/events.sql */
    SHAPE_OUTBOX, /* that of sql/outbox.sql */
    SHAPE_PLAIN,  /* a key, then text and integers in turn */
};

struct shape {
    enum shape_kind kind;
    uint16_t column_count; /* of SHAPE_PLAIN; else 0 */
};

uint16_t shape_column_count(const struct shape *shape);

/* Append one message each; the payloads of CopyData, without its header. */
void shape_begin(struct wr_buffer *out, uint64_t commit_lsn, uint32_t xid);
void shape_commit(struct wr_buffer *out, uint64_t commit_lsn);
void shape_relation(struct wr_buffer *out, const struct shape *shape, uint32_t oid);
void shape_insert(struct wr_buffer *out, const struct shape *shape, uint32_t oid, int64_t number);

/* What the catalog would say of such a table: every column NOT NULL, the first one the key. */
WR_MUST_USE enum wr_status shape_table_info(const struct shape *shape, struct wr_arena *arena,
                                            struct table_info *out, struct wr_error *err);

#endif /* WR_BENCH_SHAPE_H */
