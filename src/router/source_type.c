/*
 * Length and scale of a type as PostgreSQL's JDBC driver tells them to Debezium (getPrecision,
 * getDisplaySize and getScale of its TypeInfoCache): digits of numbers, characters of texts, and of
 * moments the characters of the longest that may be printed.
 */
#include "router/source_type.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "decoder/oid.h"

enum {
    TYPMOD_HEAD_SIZE = 4, /* VARHDRSZ, which text and numeric have in their typmods */
    DATE_SIZE = 13,
    CLOCK_SIZE = 8, /* 00:00:00 */
    ZONE_SIZE = 6,  /* +11:30 */
    INTERVAL_SIZE = 49,
    NUMERIC_SIZE_MAX = 131089, /* of one without a precision */
    UNBOUNDED = INT32_MAX,
};

uint32_t source_type_text_size_max(const struct column_type *type)
{
    bool has_bound =
        (type->oid == OID_BPCHAR || type->oid == OID_VARCHAR) && type->typmod >= TYPMOD_HEAD_SIZE;

    return has_bound ? (uint32_t)(type->typmod - TYPMOD_HEAD_SIZE) : 0;
}

/* The fraction with its point. */
static int32_t fraction_size(int32_t typmod)
{
    if (typmod == -1) {
        return 7;
    }
    return typmod == 0 ? 0 : typmod == 1 ? 3 : typmod + 1;
}

static int32_t moment_size(const struct column_type *type)
{
    int32_t clock = CLOCK_SIZE + fraction_size(type->typmod);

    switch (type->oid) {
    case OID_TIME:
        return clock;
    case OID_TIMETZ:
        return clock + ZONE_SIZE;
    case OID_TIMESTAMP:
        return DATE_SIZE + 1 + clock;
    default:
        return DATE_SIZE + 1 + clock + ZONE_SIZE;
    }
}

static int32_t length_of(const struct column_type *type)
{
    uint32_t text_size = source_type_text_size_max(type);

    switch (type->oid) {
    case OID_BOOL:
    case OID_CHAR:
        return 1;
    case OID_INT2:
        return 5;
    case OID_INT4:
    case OID_OID:
        return 10;
    case OID_INT8:
        return 19;
    case OID_FLOAT4:
        return 8;
    case OID_FLOAT8:
        return 17;
    case OID_NUMERIC:
        return type->typmod == -1 ? NUMERIC_SIZE_MAX
                                  : (type->typmod - TYPMOD_HEAD_SIZE) >> 16 & 0xffff;
    case OID_DATE:
        return DATE_SIZE;
    case OID_TIME:
    case OID_TIMETZ:
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        return moment_size(type);
    case OID_INTERVAL:
        return INTERVAL_SIZE;
    case OID_BIT:
    case OID_VARBIT:
        return type->typmod == -1 ? UNBOUNDED : type->typmod;
    default:
        return text_size > 0 ? (int32_t)text_size : UNBOUNDED;
    }
}

static int32_t scale_of(const struct column_type *type)
{
    switch (type->oid) {
    case OID_FLOAT4:
        return 8;
    case OID_FLOAT8:
        return 17;
    case OID_NUMERIC:
        return type->typmod == -1 ? 0 : (type->typmod - TYPMOD_HEAD_SIZE) & 0xffff;
    case OID_TIME:
    case OID_TIMETZ:
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        return type->typmod == -1 ? 6 : type->typmod;
    case OID_INTERVAL:
        return type->typmod == -1 ? 6 : type->typmod & 0xffff;
    default:
        return 0;
    }
}

static const char *upper_case(struct wr_arena *arena, const char *text)
{
    size_t size = strlen(text);
    char *upper = wr_arena_alloc(arena, size + 1, 1);

    for (size_t i = 0; upper != NULL && i < size; i++) {
        upper[i] = (char)toupper((unsigned char)text[i]);
    }
    return upper;
}

bool source_type_parameters(const struct column_type *type, const char *type_name,
                            const char *column_name, struct wr_arena *arena,
                            struct schema_parameter out[SOURCE_TYPE_PARAMETER_COUNT])
{
    const struct column_type *base = type;

    while (base->element != NULL) { /* an array has its elements' */
        base = base->element;
    }
    const char *length = wr_arena_printf(arena, "%" PRId32, length_of(base));
    const char *scale = wr_arena_printf(arena, "%" PRId32, scale_of(base));
    const char *name = upper_case(arena, type_name);
    out[0] = (struct schema_parameter){"__debezium.source.column.type", name};
    out[1] = (struct schema_parameter){"__debezium.source.column.length", length};
    out[2] = (struct schema_parameter){"__debezium.source.column.scale", scale};
    out[3] = (struct schema_parameter){"__debezium.source.column.name", column_name};
    return length != NULL && scale != NULL && name != NULL;
}
