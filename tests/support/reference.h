/* support/reference.h - what a column's value is to be published as, asked from PostgreSQL. */
#ifndef WR_TEST_REFERENCE_H
#define WR_TEST_REFERENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "support/random_values.h"

/* How the text that PostgreSQL answers stands for the published JSON. */
enum reference_form {
    FORM_ABSENT,         /* the column is not published */
    FORM_STRING,         /* a string of that text */
    FORM_INTEGER,        /* a number without fraction, digit by digit */
    FORM_BOOLEAN,        /* true or false */
    FORM_FLOAT4,         /* the same float4; a string where it is NaN or infinite */
    FORM_FLOAT8,         /* as FORM_FLOAT4 */
    FORM_UNSCALED,       /* base64 of a big-endian integer; the text has it in decimal */
    FORM_VARIABLE_SCALE, /* {"scale", "value"} of such; the text is SCALE:INTEGER */
    FORM_BITS,           /* base64 of little-endian bits; the text has them as 0 and 1 */
    FORM_POINT,          /* {"x", "y", "wkb", "srid"}; the text is (x,y) */
    FORM_JSON,           /* that JSON, but for blanks and the order of keys */
    FORM_JSON_STRING,    /* a string of such JSON */
};

struct reference {
    const char *when; /* "property=value" or "property=one|another" of the run; NULL: always */
    enum reference_form form;
    const char *sql; /* the text, of a value called v */
};

enum { REFERENCES_PER_KIND = 5 };

/* A type as it stands in a column's definition, with values for it. */
struct column_kind {
    const char *type;
    value_make make;      /* NULL: the literals alone */
    const char *literals; /* the special ones, separated by '~'; NULL: none */
    struct reference references[REFERENCES_PER_KIND]; /* the first that fits counts */
    bool is_large; /* unchanged values are not sent, unless the table's identity is full */
};

/* The properties of one run that change what values look like. */
enum { MODE_COUNT_MAX = 8, MODE_SIZE_MAX = 64 };
struct modes {
    char settings[MODE_COUNT_MAX][MODE_SIZE_MAX];
    size_t count;
};

void modes_choose(struct random *r, struct modes *out);

/* Kinds to choose from; NULL in place of a reference: values of that kind have no right form under
 * these modes, and are not to be made. */
const struct column_kind *reference_kind(size_t index); /* NULL behind the last */
const struct reference *reference_of(const struct column_kind *kind, const struct modes *modes);

/* Types, and functions in a schema of their own, that kinds need in a new database. */
void reference_setup_sql(const struct modes *modes, char *out, size_t size);

/* `expected` (NULL for SQL NULL) is what the reference's SQL answered; of an array, JSON of such
 * texts. */
bool reference_matches(enum reference_form form, bool is_array, const char *expected,
                       const json_t *published);

#endif /* WR_TEST_REFERENCE_H */
