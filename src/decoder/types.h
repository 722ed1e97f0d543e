/* decoder/types.h - column text to typed values, as Debezium's PostgreSQL connector types them. */
#ifndef WR_DECODER_TYPES_H
#define WR_DECODER_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "config/config.h"
#include "decoder/catalog.h"
#include "decoder/datum.h"

struct wr_arena;
struct column_type;
struct schema;

/* The modes that choose between representations; Debezium's property names and defaults. */

struct type_options {
    enum decimal_handling_mode decimal_handling_mode;
    enum time_precision_mode time_precision_mode;
    enum binary_handling_mode binary_handling_mode;
    enum interval_handling_mode interval_handling_mode;
    enum hstore_handling_mode hstore_handling_mode;
    bool include_unknown_datatypes;
    int money_fraction_digits;
    struct wr_slice unavailable_value_placeholder;
};

/*
 * Text (never NULL) to a value whose bytes live in `text` or in `arena`. WR_REJECT, naming the type
 * and the value, when the text is malformed or the value has no right form in the mode chosen.
 */
typedef enum wr_status (*type_parse)(const struct column_type *type, struct wr_slice text,
                                     struct wr_arena *arena, struct datum *out,
                                     struct wr_error *err);

/* One column's type, settled once per Relation message; domains are followed to their base. */
struct column_type {
    type_parse parse; /* NULL: a type that is not published (include.unknown.datatypes=false) */
    uint32_t oid;     /* of the base type */
    int32_t typmod;   /* of the column, or of the domain it came from */
    int32_t scale;    /* numeric: digits after the point; time: fraction digits; else unused */
    char delimiter;   /* between elements of an array of it */
    const struct column_type *element; /* of an array, else NULL */
    const struct schema *schema; /* of the values, required; lives in the arena given, or for ever.
                                    Names and versions as Debezium's; NULL where `parse` is */
    const struct type_options *options;
    const char *name; /* of the base type, for error texts */
};

/*
 * Settles `oid` and `typmod` (as in the Relation message). Built-in types ask no catalog. Asks
 * `catalog` for the others; a type that is gone is taken as text. `out->parse` is NULL for one that
 * is known but not published. Everything in `out` lives in `arena`. WR_RETRY as the catalog says.
 */
WR_MUST_USE enum wr_status type_compile(const struct type_options *options,
                                        const struct catalog_source *catalog, uint32_t oid,
                                        int32_t typmod, struct wr_arena *arena,
                                        struct column_type *out, struct wr_error *err);

/*
 * The value that stands for an unknown one of a NOT NULL column (old tuples carry only key
 * columns): the column's default where it is a constant, else the type's empty value, as Debezium
 * has it: "" 0 false {} "1970-01-01T00:00:00Z". `default_text` may be NULL; the type is published.
 */
WR_MUST_USE enum wr_status type_absent(const struct column_type *type, const char *default_text,
                                       struct wr_arena *arena, struct datum *out,
                                       struct wr_error *err);

/*
 * A column's default as Debezium reads it: a constant, or the type's empty value where it is made
 * by a function. DATUM_NULL where there is none, where it is another expression, and for types
 * whose defaults Debezium does not read.
 */
WR_MUST_USE enum wr_status type_default(const struct column_type *type, const char *default_text,
                                        struct wr_arena *arena, struct datum *out,
                                        struct wr_error *err);

/*
 * The value for an unchanged TOAST column: unavailable.value.placeholder in the type's own form.
 * DATUM_NULL for a type that has none, such as numeric under decimal.handling.mode=precise.
 */
WR_MUST_USE enum wr_status type_unavailable(const struct column_type *type, struct wr_arena *arena,
                                            struct datum *out, struct wr_error *err);

/* For parse functions: WR_REJECT with the type's name and the beginning of `text`. */
enum wr_status type_reject(const struct column_type *type, struct wr_slice text,
                           struct wr_error *err);
/* For parse functions: WR_REJECT since the arena is full. */
enum wr_status type_no_room(const struct column_type *type, struct wr_error *err);

#endif /* WR_DECODER_TYPES_H */
