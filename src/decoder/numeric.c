#include "decoder/numeric.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "decoder/decimal.h"
#include "decoder/scan.h"
#include "decoder/schema.h"
#include "decoder/schema_known.h"

enum {
    TYPMOD_HEADER_SIZE = 4, /* PostgreSQL's VARHDRSZ, added to every typmod of numeric */
    TYPMOD_SCALE_MASK = 0x7ff,
    TYPMOD_SCALE_SIGN = 0x400, /* an 11 bit two's complement number since PostgreSQL 15 */
    TYPMOD_PRECISION_MASK = 0xffff,
    TYPMOD_PRECISION_SHIFT = 16,
    MONEY_SCALE = 2, /* digits after the point under lc_monetary C */
};

static enum wr_status set_bytes(const struct column_type *type, struct wr_slice bytes,
                                struct datum *out, struct wr_error *err)
{
    if (bytes.data == NULL) {
        return type_no_room(type, err);
    }
    *out = (struct datum){.kind = DATUM_BYTES, .as.bytes = bytes};
    return WR_OK;
}

static enum wr_status set_double(const struct column_type *type, const struct decimal *d,
                                 struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct wr_slice text = decimal_double(d, arena);

    if (text.data == NULL) {
        return type_no_room(type, err);
    }
    *out = (struct datum){.kind = DATUM_FLOAT64, .as.bytes = text};
    return WR_OK;
}

/*
 * org.apache.kafka.connect.data.Decimal, whose scale is a parameter; the precision, where there is
 * one, is Debezium's addition.
 */
static const struct schema *decimal_schema(int32_t scale, int32_t precision, struct wr_arena *arena)
{
    struct schema *schema = schema_new(arena, SCHEMA_BYTES);
    struct schema_parameter *parameters = wr_arena_alloc(arena, 2, sizeof(*parameters));

    if (schema == NULL || parameters == NULL) {
        return NULL;
    }
    parameters[0] = (struct schema_parameter){"scale", wr_arena_printf(arena, "%" PRId32, scale)};
    parameters[1] = (struct schema_parameter){"connect.decimal.precision",
                                              wr_arena_printf(arena, "%" PRId32, precision)};
    if (parameters[0].value == NULL || parameters[1].value == NULL) {
        return NULL;
    }
    schema->name = "org.apache.kafka.connect.data.Decimal";
    schema->version = 1;
    schema->parameters = parameters;
    schema->parameter_count = precision > 0 ? 2 : 1;
    return schema;
}

static int32_t numeric_precision(int32_t typmod)
{
    return (typmod - TYPMOD_HEADER_SIZE) >> TYPMOD_PRECISION_SHIFT & TYPMOD_PRECISION_MASK;
}

bool numeric_settle(struct column_type *type, struct wr_arena *arena)
{
    bool is_variable = type->typmod < TYPMOD_HEADER_SIZE;

    if (!is_variable) {
        int32_t scale = (type->typmod - TYPMOD_HEADER_SIZE) & TYPMOD_SCALE_MASK;
        type->scale = (scale ^ TYPMOD_SCALE_SIGN) - TYPMOD_SCALE_SIGN;
    }
    switch (type->options->decimal_handling_mode) {
    case DECIMAL_HANDLING_PRECISE:
        type->parse = is_variable ? numeric_parse_variable : numeric_parse_precise;
        type->schema = is_variable
                           ? schema_known(KNOWN_VARIABLE_SCALE_DECIMAL)
                           : decimal_schema(type->scale, numeric_precision(type->typmod), arena);
        break;
    case DECIMAL_HANDLING_DOUBLE:
        type->parse = numeric_parse_double;
        type->schema = schema_known(KNOWN_FLOAT64);
        break;
    case DECIMAL_HANDLING_STRING:
        type->parse = numeric_parse_string;
        type->schema = schema_known(KNOWN_STRING);
        break;
    }
    return type->schema != NULL;
}

enum wr_status numeric_parse_precise(const struct column_type *type, struct wr_slice text,
                                     struct wr_arena *arena, struct datum *out,
                                     struct wr_error *err)
{
    struct decimal d;

    if (!decimal_split(text, &d) || !decimal_fits(&d, type->scale)) {
        return type_reject(type, text, err);
    }
    return set_bytes(type, decimal_unscaled(&d, type->scale, arena), out, err);
}

/* io.debezium.data.VariableScaleDecimal: without the zeros at the end of the fraction. */
enum wr_status numeric_parse_variable(const struct column_type *type, struct wr_slice text,
                                      struct wr_arena *arena, struct datum *out,
                                      struct wr_error *err)
{
    struct datum_field *fields = wr_arena_alloc_raw(arena, 2, sizeof(*fields));
    struct decimal d;

    if (!decimal_split(text, &d)) {
        return type_reject(type, text, err);
    }
    decimal_trim(&d);
    int32_t scale = (int32_t)d.fraction.size;
    struct wr_slice value = decimal_unscaled(&d, scale, arena);
    if (fields == NULL || value.data == NULL) {
        return type_no_room(type, err);
    }
    fields[0] = (struct datum_field){WR_SLICE("scale"), {.kind = DATUM_INT, .as.integer = scale}};
    fields[1] = (struct datum_field){WR_SLICE("value"), {.kind = DATUM_BYTES, .as.bytes = value}};
    *out = (struct datum){.kind = DATUM_STRUCT, .as.structure = {fields, 2}};
    return WR_OK;
}

enum wr_status numeric_parse_double(const struct column_type *type, struct wr_slice text,
                                    struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct decimal d;

    if (wr_slice_is(text, "NaN") || wr_slice_is(text, "Infinity") ||
        wr_slice_is(text, "-Infinity")) {
        *out = (struct datum){.kind = DATUM_FLOAT64, .as.bytes = text};
        return WR_OK;
    }
    if (!decimal_split(text, &d)) {
        return type_reject(type, text, err);
    }
    return set_double(type, &d, arena, out, err);
}

/* PostgreSQL prints as many digits as the column has; a default like 1.5 may have fewer. */
static struct wr_slice pad_fraction(struct wr_slice text, const struct decimal *d, int32_t scale,
                                    struct wr_arena *arena)
{
    if (scale <= 0 || d->fraction.size >= (size_t)scale) {
        return text;
    }
    size_t zeros = (size_t)scale - d->fraction.size;
    size_t size = text.size + (d->fraction.size == 0) + zeros;
    char *padded = wr_arena_alloc_raw(arena, size, 1);
    if (padded == NULL) {
        return (struct wr_slice){0};
    }
    memcpy(padded, text.data, text.size);
    if (d->fraction.size == 0) {
        padded[text.size] = '.';
    }
    memset(padded + size - zeros, '0', zeros);
    return (struct wr_slice){padded, size};
}

enum wr_status numeric_parse_string(const struct column_type *type, struct wr_slice text,
                                    struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct decimal d;

    *out = (struct datum){.kind = DATUM_STRING};
    if (wr_slice_is(text, "NaN")) {
        out->as.bytes = WR_SLICE("NAN");
    } else if (wr_slice_is(text, "Infinity")) {
        out->as.bytes = WR_SLICE("POSITIVE_INFINITY");
    } else if (wr_slice_is(text, "-Infinity")) {
        out->as.bytes = WR_SLICE("NEGATIVE_INFINITY");
    } else if (decimal_split(text, &d)) {
        out->as.bytes = pad_fraction(text, &d, type->scale, arena);
    } else {
        return type_reject(type, text, err);
    }
    return out->as.bytes.data == NULL ? type_no_room(type, err) : WR_OK;
}

bool money_settle(struct column_type *type, struct wr_arena *arena)
{
    type->scale = type->options->money_fraction_digits;
    switch (type->options->decimal_handling_mode) {
    case DECIMAL_HANDLING_PRECISE:
        type->parse = money_parse_precise;
        type->schema = decimal_schema(type->scale, 0, arena);
        break;
    case DECIMAL_HANDLING_DOUBLE:
        type->parse = money_parse_double;
        type->schema = schema_known(KNOWN_FLOAT64);
        break;
    case DECIMAL_HANDLING_STRING:
        type->parse = money_parse_string;
        type->schema = schema_known(KNOWN_STRING);
        break;
    }
    return type->schema != NULL;
}

/* "-$1,234.56", or "($1,234.56)" as some locales have it, becomes "-1234.56" in the arena. */
static enum wr_status money_plain(const struct column_type *type, struct wr_slice text,
                                  struct wr_arena *arena, struct wr_slice *out, struct decimal *d,
                                  struct wr_error *err)
{
    struct scan in = scan_start(text);
    char *plain = wr_arena_alloc_raw(arena, text.size + 1, 1);
    size_t size = 0;

    if (plain == NULL) {
        return type_no_room(type, err);
    }
    bool is_bracketed = scan_accept(&in, '(');
    if (is_bracketed || scan_accept(&in, '-')) {
        plain[size++] = '-';
    }
    scan_expect(&in, '$');
    while (scan_at_digit(&in) || scan_at(&in, ',') || scan_at(&in, '.')) {
        if (*in.next != ',') {
            plain[size++] = *in.next;
        }
        in.next++;
    }
    if (is_bracketed) {
        scan_expect(&in, ')');
    }
    *out = (struct wr_slice){plain, size};
    if (!scan_done(&in) || !decimal_split(*out, d) || d->fraction.size != MONEY_SCALE) {
        return type_reject(type, text, err);
    }
    return WR_OK;
}

/* money.fraction.digits below two: rounds half away from zero, as Java's HALF_UP does. */
static int64_t money_rounded(const struct decimal *d, int32_t scale)
{
    int64_t value = 0;

    for (size_t i = 0; i < d->whole.size; i++) {
        value = value * 10 + (d->whole.data[i] - '0');
    }
    if (scale > 0) {
        value = value * 10 + (d->fraction.data[0] - '0');
    }
    if (d->fraction.data[scale] >= '5') {
        value++;
    }
    return d->is_negative ? -value : value;
}

enum wr_status money_parse_precise(const struct column_type *type, struct wr_slice text,
                                   struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct wr_slice plain;
    struct decimal d;

    enum wr_status status = money_plain(type, text, arena, &plain, &d, err);
    if (status != WR_OK) {
        return status;
    }
    if (type->scale >= MONEY_SCALE) {
        return set_bytes(type, decimal_unscaled(&d, type->scale, arena), out, err);
    }
    /* money is an int64 of cents, so longer text is none. */
    if (d.whole.size > sizeof("92233720368547758") - 1) {
        return type_reject(type, text, err);
    }
    return set_bytes(type, decimal_int_bytes(money_rounded(&d, type->scale), arena), out, err);
}

enum wr_status money_parse_double(const struct column_type *type, struct wr_slice text,
                                  struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct wr_slice plain;
    struct decimal d;

    enum wr_status status = money_plain(type, text, arena, &plain, &d, err);
    return status == WR_OK ? set_double(type, &d, arena, out, err) : status;
}

/* Debezium leaves the two digits here, whatever money.fraction.digits says. */
enum wr_status money_parse_string(const struct column_type *type, struct wr_slice text,
                                  struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct wr_slice plain;
    struct decimal d;

    enum wr_status status = money_plain(type, text, arena, &plain, &d, err);
    *out = (struct datum){.kind = DATUM_STRING, .as.bytes = plain};
    return status;
}
