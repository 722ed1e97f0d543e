/* decoder/natural.h - column text as JSON says it by itself, without Debezium's codings. */
#ifndef WR_DECODER_NATURAL_H
#define WR_DECODER_NATURAL_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "decoder/types.h"

struct wr_arena;

enum natural_kind {
    NATURAL_TEXT, /* whatever has no better form: PostgreSQL's text */
    NATURAL_BOOL,
    NATURAL_INT,
    NATURAL_NUMERIC, /* digit for digit; NaN and the infinities are strings */
    NATURAL_FLOAT4,  /* PostgreSQL's shortest text, likewise */
    NATURAL_FLOAT8,
    NATURAL_MONEY,       /* a number: 1234.56 */
    NATURAL_JSON,        /* embedded as it is */
    NATURAL_BYTES,       /* base64 */
    NATURAL_DATE,        /* "2026-05-01"; years as ISO 8601: "-0043-03-15"; "infinity" as it is */
    NATURAL_TIMESTAMP,   /* "2026-05-01T12:34:56.789" */
    NATURAL_TIMESTAMPTZ, /* "2026-05-01T12:34:56.789Z" */
    NATURAL_TIMETZ,      /* "12:34:56.789Z", in UTC */
    NATURAL_INTERVAL,    /* "P0Y0M1DT2H0M0S" */
    NATURAL_HSTORE,      /* an object of strings and nulls */
    NATURAL_VECTOR,      /* an array of numbers */
    NATURAL_ARRAY,
};

/* One column's type, settled once for a relation. */
struct natural_type {
    enum natural_kind kind;
    const struct column_type *type;
    const struct natural_type *element; /* of an array */
    const char *name; /* as in a column's definition: "numeric(10,2)[]"; domains are their base */
};

/* What `type` is; also of one that Debezium does not publish. NULL: the arena is full. */
const struct natural_type *natural_type_new(const struct column_type *type, struct wr_arena *arena);

/*
 * Append the value: as JSON; as plain text, which is the JSON without the quotes of a string, and
 * what a JSON string means. What is made on the way lives in `arena`. WR_REJECT: `text` is none of
 * that type; what was appended is then void.
 */
WR_MUST_USE enum wr_status natural_json(const struct natural_type *type, struct wr_slice text,
                                        struct wr_arena *arena, struct wr_buffer *out,
                                        struct wr_error *err);
WR_MUST_USE enum wr_status natural_text(const struct natural_type *type, struct wr_slice text,
                                        struct wr_arena *arena, struct wr_buffer *out,
                                        struct wr_error *err);

/* True when `text` is a JSON number: what is none of a numeric or float is NaN or infinite. */
bool natural_is_number(struct wr_slice text);

/* The bytes of bytea's hexadecimal text. */
WR_MUST_USE enum wr_status natural_bytes(const struct natural_type *type, struct wr_slice text,
                                         struct wr_arena *arena, struct wr_slice *out,
                                         struct wr_error *err);
/* The digits of money. */
WR_MUST_USE enum wr_status natural_money(const struct natural_type *type, struct wr_slice text,
                                         struct wr_arena *arena, struct wr_slice *out,
                                         struct wr_error *err);

/*
 * The elements of an array's text in their order, those of inner arrays too. `begin` and `end` are
 * called around each level, `element` between; `text` is NULL for NULL.
 */
struct natural_visitor {
    void *context;
    enum wr_status (*begin)(void *context, struct wr_error *err);
    enum wr_status (*element)(void *context, const struct wr_slice *text, struct wr_error *err);
    enum wr_status (*end)(void *context, struct wr_error *err);
};
WR_MUST_USE enum wr_status natural_visit(const struct natural_type *type, struct wr_slice text,
                                         struct wr_arena *arena,
                                         const struct natural_visitor *visitor,
                                         struct wr_error *err);

#endif /* WR_DECODER_NATURAL_H */
