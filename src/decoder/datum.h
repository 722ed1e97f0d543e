/* decoder/datum.h - one typed value, as Kafka Connect knows types, over borrowed bytes. */
#ifndef WR_DECODER_DATUM_H
#define WR_DECODER_DATUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum datum_kind {
    DATUM_NULL = 0,
    DATUM_BOOL,
    DATUM_INT,     /* INT8 to INT64: the width is the schema's business */
    DATUM_FLOAT32, /* `bytes`: PostgreSQL's shortest text, "1.5", "NaN", "-Infinity", "1e-45" */
    DATUM_FLOAT64, /* likewise */
    DATUM_STRING,  /* UTF-8 */
    DATUM_BYTES,
    DATUM_ARRAY,
    DATUM_STRUCT, /* of a MAP, too: its keys are the fields' names */
    DATUM_JSON,   /* `bytes`: JSON text that becomes part of the output as it is (expanded payloads)
                   */
};

struct datum_field;

/* Borrows everything: its bytes live as long as the message, its items as long as the arena given.
 */
struct datum {
    enum datum_kind kind;
    union {
        bool boolean;
        int64_t integer;
        struct wr_slice bytes;
        struct {
            const struct datum *items;
            size_t count;
        } array;
        struct {
            const struct datum_field *fields;
            size_t count;
        } structure;
    } as;
};

struct datum_field {
    struct wr_slice name;
    struct datum value;
};

#endif /* WR_DECODER_DATUM_H */
