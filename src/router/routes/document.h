/* router/routes/document.h - which values of a table make a JSON object, under which names. */
#ifndef WR_ROUTER_ROUTES_DOCUMENT_H
#define WR_ROUTER_ROUTES_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "router/routes/value.h"

struct document_field;

struct document_member {
    struct wr_slice json_name; /* "name": quoted and escaped, with its colon */
    struct route_value value;
};

struct document {
    const struct document_member *members;
    size_t member_count;
    struct wr_slice types_json; /* {"id":"int8",…}: what walrelay.types says */
};

/* The fields of a configuration. Statuses as route_value_find(). */
WR_MUST_USE enum wr_status document_compile(const struct document_field *fields, size_t count,
                                            const struct route_source *source, struct document *out,
                                            struct wr_error *err);
/* All columns that are shown, in their order, those too that have no change event. */
WR_MUST_USE enum wr_status document_of_row(const struct route_source *source, struct document *out,
                                           struct wr_error *err);
/* The key. WR_FATAL: no room. */
WR_MUST_USE enum wr_status document_of_key(struct relation *relation, struct document *out,
                                           struct wr_error *err);

/*
 * Appends the names of the members that the row does not hold, as ["big"]. False, and nothing,
 * when it holds them all.
 */
bool document_unknown(const struct document *document, const struct row_view *row,
                      struct wr_buffer *out);

/* Appends the object; what is unknown is left out. Statuses as route_value_json(). */
WR_MUST_USE enum wr_status document_write(const struct document *document,
                                          const struct row_view *row, struct wr_arena *scratch,
                                          struct wr_buffer *out, struct wr_error *err);

#endif /* WR_ROUTER_ROUTES_DOCUMENT_H */
