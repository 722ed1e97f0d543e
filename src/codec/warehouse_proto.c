/*
 * Written by hand: what protobuf-c needs, a tree of structs with texts that end, costs three times
 * as much a row. The tests read every form back with what protoc-c makes of the same file, and
 * write it again to the same bytes.
 */
#include "codec/warehouse_proto.h"

#include <stdlib.h>

#include "codec/proto_value.h"
#include "codec/proto_write.h"
#include "codec/warehouse.h"
#include "decoder/relation.h"
#include "router/routes/route.h"

/* The fields of Change and Column, as change.proto numbers them. */
enum {
    FIELD_VERSION = 1,
    FIELD_OP = 2,
    FIELD_SCHEMA = 3,
    FIELD_TABLE = 4,
    FIELD_LSN = 5,
    FIELD_SEQ = 6,
    FIELD_ROW_LSN = 7,
    FIELD_XID = 8,
    FIELD_COMMIT_US = 9,
    FIELD_KEY = 10,
    FIELD_AFTER = 11,
    FIELD_BEFORE = 12,
    FIELD_COLUMN_NAME = 1,
    FIELD_COLUMN_TYPE = 2,
    FIELD_COLUMN_VALUE = 3,
};

/* Op of change.proto. */
static uint64_t op_of(enum change_op op)
{
    switch (op) {
    case OP_CREATE:
        return 1;
    case OP_UPDATE:
        return 2;
    case OP_DELETE:
        return 3;
    case OP_TRUNCATE:
        return 4;
    case OP_READ:
        return 5;
    }
    abort();
}

static void put_head(struct wr_buffer *out, const struct record *record)
{
    const struct record_position position = warehouse_position(record);

    proto_uint(out, FIELD_VERSION, WAREHOUSE_VERSION);
    proto_uint(out, FIELD_OP, op_of(record->value.as.warehouse.rows->op));
    proto_text(out, FIELD_SCHEMA, record->change->relation->schema);
    proto_text(out, FIELD_TABLE, record->change->relation->table);
    proto_uint(out, FIELD_LSN, position.version);
    proto_uint(out, FIELD_SEQ, position.seq);
    proto_uint(out, FIELD_ROW_LSN, record->source->lsn);
    proto_uint(out, FIELD_XID, record->source->xid);
    proto_uint(out, FIELD_COMMIT_US, (uint64_t)record->source->commit_time_us);
}

/* One column; nothing where nobody was told its value, which is not the same as unchanged. */
static enum wr_status put_column(struct wr_buffer *out, uint32_t field,
                                 const struct route_value *value, const struct row_view *row,
                                 struct wr_arena *scratch, struct wr_error *err)
{
    size_t before = out->size;
    size_t column = proto_open(out, field);
    enum value_state state;

    proto_text(out, FIELD_COLUMN_NAME, value->column->name);
    proto_text(out, FIELD_COLUMN_TYPE, value->type->name);
    size_t start = proto_open(out, FIELD_COLUMN_VALUE);
    enum wr_status status = proto_value(value, row, scratch, out, &state, err);
    proto_close(out, start);
    proto_close(out, column);
    if (status == WR_OK && state == VALUE_UNKNOWN && row->is_key_only) {
        out->size = before;
    }
    return status;
}

static enum wr_status put_columns(struct wr_buffer *out, uint32_t field,
                                  const struct document *shape, const struct row_view *row,
                                  struct wr_arena *scratch, struct wr_error *err)
{
    size_t count = row->columns == NULL ? 0 : shape->member_count;
    enum wr_status status = WR_OK;

    for (size_t i = 0; status == WR_OK && i < count; i++) {
        status = put_column(out, field, &shape->members[i].value, row, scratch, err);
    }
    return status;
}

enum wr_status warehouse_proto_write(struct wr_buffer *out, const struct record *record,
                                     struct wr_arena *scratch, struct wr_error *err)
{
    const struct warehouse_shape *shape = record->value.as.warehouse.shape;

    put_head(out, record);
    enum wr_status status = put_columns(out, FIELD_KEY, &shape->key,
                                        &record->value.as.warehouse.rows->key_row, scratch, err);
    if (status == WR_OK) {
        status = put_columns(out, FIELD_AFTER, &shape->columns,
                             &record->value.as.warehouse.rows->after, scratch, err);
    }
    if (status == WR_OK) {
        status = put_columns(out, FIELD_BEFORE, &shape->columns,
                             &record->value.as.warehouse.rows->before, scratch, err);
    }
    return status;
}
