#include "codec/plain.h"

#include <stdio.h>

#include "base/json_write.h"
#include "codec/json.h"
#include "router/plan.h"
#include "router/row.h"

/* As wr_json_float, without the quotes that JSON needs around NaN and the infinities. */
static void plain_float(struct wr_buffer *out, const struct datum *datum)
{
    size_t start = out->size;

    wr_json_float(out, datum->as.bytes, datum->kind == DATUM_FLOAT32);
    if (!out->failed && out->data[start] == '"') {
        size_t size = out->size - start - 2;
        memmove(out->data + start, out->data + start + 1, size);
        out->size = start + size;
    }
}

static void plain_array(struct wr_buffer *out, const struct datum *datum)
{
    wr_buffer_add_char(out, '[');
    for (size_t i = 0; i < datum->as.array.count; i++) {
        if (i > 0) {
            WR_BUFFER_LITERAL(out, ", ");
        }
        plain_datum(out, &datum->as.array.items[i]);
    }
    wr_buffer_add_char(out, ']');
}

/* One field of Struct.toString(), which leaves out those that are null. */
static void plain_field(struct wr_buffer *out, bool *is_first, struct wr_slice name,
                        const struct datum *value)
{
    if (value->kind == DATUM_NULL) {
        return;
    }
    if (!*is_first) {
        wr_buffer_add_char(out, ',');
    }
    *is_first = false;
    wr_buffer_add_slice(out, name);
    wr_buffer_add_char(out, '=');
    plain_datum(out, value);
}

static void plain_struct(struct wr_buffer *out, const struct datum *datum)
{
    bool is_first = true;

    WR_BUFFER_LITERAL(out, "Struct{");
    for (size_t i = 0; i < datum->as.structure.count; i++) {
        plain_field(out, &is_first, datum->as.structure.fields[i].name,
                    &datum->as.structure.fields[i].value);
    }
    wr_buffer_add_char(out, '}');
}

void plain_datum(struct wr_buffer *out, const struct datum *datum)
{
    char text[96];

    switch (datum->kind) {
    case DATUM_NULL:
        WR_BUFFER_LITERAL(out, "null");
        break;
    case DATUM_BOOL:
    case DATUM_INT:
    case DATUM_JSON:
        json_datum(out, datum);
        break;
    case DATUM_FLOAT32:
    case DATUM_FLOAT64:
        plain_float(out, datum);
        break;
    case DATUM_STRING:
        wr_buffer_add_slice(out, datum->as.bytes);
        break;
    case DATUM_BYTES: /* Debezium wraps bytes; this is what such a wrapper prints */
        (void)snprintf(text, sizeof(text), "java.nio.HeapByteBuffer[pos=0 lim=%zu cap=%zu]",
                       datum->as.bytes.size, datum->as.bytes.size);
        wr_buffer_add_str(out, text);
        break;
    case DATUM_ARRAY:
        plain_array(out, datum);
        break;
    case DATUM_STRUCT:
        plain_struct(out, datum);
        break;
    }
}

enum wr_status plain_row(struct wr_buffer *out, const struct row_view *row,
                         struct wr_arena *scratch, struct wr_error *err)
{
    bool is_first = true;

    WR_BUFFER_LITERAL(out, "Struct{");
    for (size_t i = 0; i < row->column_count; i++) {
        struct datum datum;
        enum wr_status status = row_datum(row, row->columns[i], scratch, &datum, err);
        if (status != WR_OK) {
            return status;
        }
        plain_field(out, &is_first, wr_slice_str(row->columns[i]->name), &datum);
    }
    for (size_t i = 0; i < row->added_count; i++) {
        plain_field(out, &is_first, row->added[i].name, &row->added[i].value);
    }
    wr_buffer_add_char(out, '}');
    return WR_OK;
}

enum wr_status plain_header(struct wr_buffer *out, const struct record_part *value,
                            struct wr_arena *scratch, struct wr_error *err)
{
    if (value->kind == PART_ROW) {
        return json_row(out, &value->as.row, scratch, err);
    }
    const struct datum *datum = &value->as.datum;
    switch (datum->kind) {
    case DATUM_BYTES: {
        size_t start = out->size;
        wr_json_base64(out, datum->as.bytes);
        if (!out->failed) { /* without its quotes */
            memmove(out->data + start, out->data + start + 1, out->size - start - 2);
            out->size -= 2;
        }
        break;
    }
    case DATUM_ARRAY:
    case DATUM_STRUCT:
        json_datum(out, datum);
        break;
    case DATUM_NULL:
    case DATUM_BOOL:
    case DATUM_INT:
    case DATUM_FLOAT32:
    case DATUM_FLOAT64:
    case DATUM_STRING:
    case DATUM_JSON:
        plain_datum(out, datum);
        break;
    }
    return WR_OK;
}
