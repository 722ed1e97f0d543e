#include "router/row.h"

#include <stdio.h>

#include "decoder/relation.h"
#include "router/column_hash.h"

/* "schema.table.column: " before what the type said. */
static enum wr_status blame(const struct row_view *row, const struct column_plan *column,
                            enum wr_status status, struct wr_error *err)
{
    struct wr_error inner = *err;

    return wr_fail(err, status, "router", "%s.%s.%s: %s", row->relation->schema,
                   row->relation->table, row->relation->columns[column->index].name, inner.text);
}

/* Java counts UTF-16 units; a pair is never cut in two. */
static struct wr_slice truncated(struct wr_slice text, uint32_t size)
{
    uint32_t units = 0;

    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if ((c & 0xC0) == 0x80) {
            continue;
        }
        units += (c & 0xF8) == 0xF0 ? 2 : 1;
        if (units > size) {
            return (struct wr_slice){text.data, i};
        }
    }
    return text;
}

const struct cell *row_cell(const struct row_view *row, const struct column_plan *column)
{
    const struct cell *cell = &row->tuple->cells[column->index];

    if (cell->kind == CELL_UNCHANGED && row->older != NULL) {
        return &row->older->cells[column->index];
    }
    return cell;
}

enum wr_status row_datum(const struct row_view *row, const struct column_plan *column,
                         struct wr_arena *scratch, struct datum *out, struct wr_error *err)
{
    if (column->mask != NULL) {
        *out = *column->mask;
        return WR_OK;
    }
    const struct cell *cell = row_cell(row, column);
    switch (cell->kind) {
    case CELL_NULL:
        if (row->is_key_only && !column->is_identity) {
            *out = column->absent;
        } else {
            *out = (struct datum){.kind = DATUM_NULL};
        }
        return WR_OK;
    case CELL_UNCHANGED:
        *out = column->unavailable;
        return WR_OK;
    case CELL_TEXT:
        break;
    }
    enum wr_status status = column->type.parse(&column->type, cell->text, scratch, out, err);
    if (status != WR_OK) {
        return blame(row, column, status, err);
    }
    if (column->hash != NULL && out->kind == DATUM_STRING &&
        !column_hash_text(column->hash, out->as.bytes, scratch, &out->as.bytes)) {
        return type_no_room(&column->type, err);
    }
    if (column->truncate_size > 0 && out->kind == DATUM_STRING) {
        out->as.bytes = truncated(out->as.bytes, column->truncate_size);
    }
    return WR_OK;
}
