#include "codec/warehouse_json.h"

#include "base/json_write.h"
#include "codec/warehouse.h"
#include "decoder/moment.h"
#include "decoder/relation.h"
#include "router/routes/route.h"

static void put_number(struct wr_buffer *out, uint64_t value)
{
    wr_json_int(out, (int64_t)value); /* an LSN of 2^63 is centuries away */
}

static void put_commit_time(struct wr_buffer *out, int64_t us)
{
    char text[MOMENT_SIZE_MAX];
    struct moment m;

    moment_of_us(us, &m);
    wr_buffer_add_char(out, '"');
    wr_buffer_add(out, text, (size_t)(moment_put(text, &m, FRACTION_DIGITS_MAX) - text));
    wr_buffer_add_char(out, '"');
}

static void put_head(struct wr_buffer *out, const struct record *record, enum change_op op)
{
    const struct record_position position = warehouse_position(record);
    const struct change_source *source = record->source;
    const struct relation *relation = record->change->relation;

    WR_BUFFER_LITERAL(out, "{\"version\":");
    put_number(out, WAREHOUSE_VERSION);
    WR_BUFFER_LITERAL(out, ",\"op\":\"");
    wr_buffer_add_char(out, (char)op);
    WR_BUFFER_LITERAL(out, "\",\"schema\":");
    wr_json_string(out, wr_slice_str(relation->schema));
    WR_BUFFER_LITERAL(out, ",\"table\":");
    wr_json_string(out, wr_slice_str(relation->table));
    WR_BUFFER_LITERAL(out, ",\"lsn\":");
    put_number(out, position.version);
    WR_BUFFER_LITERAL(out, ",\"seq\":");
    put_number(out, position.seq);
    WR_BUFFER_LITERAL(out, ",\"row_lsn\":");
    put_number(out, source->lsn);
    WR_BUFFER_LITERAL(out, ",\"xid\":");
    put_number(out, source->xid);
    WR_BUFFER_LITERAL(out, ",\"commit_time\":");
    put_commit_time(out, source->commit_time_us);
}

static enum wr_status put_row(struct wr_buffer *out, const struct document *shape,
                              const struct row_view *row, struct wr_arena *scratch,
                              struct wr_error *err)
{
    if (row->columns == NULL) {
        WR_BUFFER_LITERAL(out, "null");
        return WR_OK;
    }
    return document_write(shape, row, scratch, out, err);
}

enum wr_status warehouse_json_write(struct wr_buffer *out, const struct record *record,
                                    struct wr_arena *scratch, struct wr_error *err)
{
    const struct warehouse_shape *shape = record->value.as.warehouse.shape;
    const struct row_view *before = &record->value.as.warehouse.rows->before;
    const struct row_view *after = &record->value.as.warehouse.rows->after;
    const struct row_view none = {0};
    bool has_key = shape->key.member_count > 0;

    put_head(out, record, record->value.as.warehouse.rows->op);
    WR_BUFFER_LITERAL(out, ",\"key\":");
    enum wr_status status =
        put_row(out, &shape->key, has_key ? &record->value.as.warehouse.rows->key_row : &none,
                scratch, err);
    WR_BUFFER_LITERAL(out, ",\"before\":");
    if (status == WR_OK) {
        status = put_row(out, &shape->columns, before, scratch, err);
    }
    WR_BUFFER_LITERAL(out, ",\"after\":");
    if (status == WR_OK) {
        status = put_row(out, &shape->columns, after, scratch, err);
    }
    size_t end = out->size;
    WR_BUFFER_LITERAL(out, ",\"unavailable\":");
    if (after->columns == NULL || !document_unknown(&shape->columns, after, out)) {
        out->size = out->failed ? out->size : end;
    }
    wr_buffer_add_char(out, '}');
    return status;
}
