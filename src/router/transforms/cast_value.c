#include "router/transforms/cast_value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "router/transforms/connect_time.h"
#include "router/transforms/float_text.h"

static const char NO_ROOM[] = "what it becomes is too large";
static const char OUT_OF_RANGE[] = "is out of the range of the type it is cast to";
static const char NO_NUMBER[] = "is no number of the type it is cast to";

bool cast_is_possible(const struct schema *from, enum schema_type to)
{
    int32_t scale = 0;

    switch (from->type) {
    case SCHEMA_ARRAY:
    case SCHEMA_MAP:
    case SCHEMA_STRUCT:
        return false;
    case SCHEMA_BYTES:
        return to == SCHEMA_STRING || schema_is_decimal(from, &scale);
    case SCHEMA_INT8:
    case SCHEMA_INT16:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_FLOAT32:
    case SCHEMA_FLOAT64:
    case SCHEMA_BOOLEAN:
    case SCHEMA_STRING:
        return true;
    }
    return false;
}

static bool is_whole(enum schema_type type)
{
    return type == SCHEMA_INT8 || type == SCHEMA_INT16 || type == SCHEMA_INT32 ||
           type == SCHEMA_INT64;
}

static const char *text_datum(struct wr_slice text, struct datum *out)
{
    *out = (struct datum){.kind = DATUM_STRING, .as.bytes = text};
    return text.data == NULL ? NO_ROOM : NULL;
}

static const char *printed(const char *text, struct datum *out)
{
    return text == NULL ? NO_ROOM : text_datum(wr_slice_str(text), out);
}

static const char *float_datum(double value, enum schema_type to, struct wr_arena *arena,
                               struct datum *out)
{
    bool is_float32 = to == SCHEMA_FLOAT32;

    out->kind = is_float32 ? DATUM_FLOAT32 : DATUM_FLOAT64;
    out->as.bytes = float_text(is_float32 ? (double)(float)value : value, is_float32, arena);
    return out->as.bytes.data == NULL ? NO_ROOM : NULL;
}

/* A whole number as a narrower one. */
static const char *int_datum(int64_t value, enum schema_type to, struct datum *out)
{
    static const int64_t MAX[] = {
        [SCHEMA_INT8] = INT8_MAX,
        [SCHEMA_INT16] = INT16_MAX,
        [SCHEMA_INT32] = INT32_MAX,
        [SCHEMA_INT64] = INT64_MAX,
    };

    if (value > MAX[to] || value < -MAX[to] - 1) {
        return OUT_OF_RANGE;
    }
    *out = (struct datum){.kind = DATUM_INT, .as.integer = value};
    return NULL;
}

static const char *cast_int(const struct schema *from, int64_t value, enum schema_type to,
                            struct wr_arena *arena, struct datum *out)
{
    if (is_whole(to)) {
        return int_datum(value, to, out);
    }
    if (to == SCHEMA_FLOAT32 || to == SCHEMA_FLOAT64) {
        /* At once to float32: by way of a double it could be rounded twice. */
        return float_datum(to == SCHEMA_FLOAT32 ? (double)(float)value : (double)value, to, arena,
                           out);
    }
    if (to == SCHEMA_BOOLEAN) {
        *out = (struct datum){.kind = DATUM_BOOL, .as.boolean = value != 0};
        return NULL;
    }
    if (connect_time_of(from) != CONNECT_TIME_NONE) {
        struct wr_slice text = {0};
        bool is_written = connect_time_write(connect_time_of(from), value, arena, &text);
        return is_written ? text_datum(text, out) : OUT_OF_RANGE;
    }
    return printed(wr_arena_printf(arena, "%" PRId64, value), out);
}

static const char *cast_double(double value, enum schema_type to, struct wr_arena *arena,
                               struct datum *out)
{
    if (to == SCHEMA_FLOAT32 && isinf((float)value) && !isinf(value)) {
        return OUT_OF_RANGE;
    }
    if (to == SCHEMA_FLOAT32 || to == SCHEMA_FLOAT64) {
        return float_datum(value, to, arena, out);
    }
    if (to == SCHEMA_BOOLEAN) {
        bool is_true = value >= 1 || value <= -1; /* neither for NaN */
        *out = (struct datum){.kind = DATUM_BOOL, .as.boolean = is_true};
        return NULL;
    }
    /* -2^63 is a double, and 2^63 is the first one that is too large. */
    if (isnan(value) || value < -0x1p63 || value >= 0x1p63) {
        return OUT_OF_RANGE;
    }
    return int_datum((int64_t)value, to, out);
}

/* Float.toString() and Double.toString(). */
static const char *float_string(const struct datum *value, struct wr_arena *arena,
                                struct datum *out)
{
    struct wr_buffer text;

    wr_buffer_init(&text, WR_RECORD_SIZE_MAX);
    wr_json_float(&text, value->as.bytes, value->kind == DATUM_FLOAT32);
    size_t quote = text.size > 0 && text.data[0] == '"' ? 1 : 0; /* JSON's, around NaN */
    const char *copy = wr_arena_strndup(arena, text.data + quote, text.size - 2 * quote);
    wr_buffer_done(&text);
    return printed(copy, out);
}

static const char *cast_float(const struct datum *value, enum schema_type to,
                              struct wr_arena *arena, struct datum *out)
{
    double number = 0;

    if (to == SCHEMA_STRING) {
        return float_string(value, arena, out);
    }
    if (!float_read(value->as.bytes, value->kind == DATUM_FLOAT32, &number)) {
        return NO_NUMBER;
    }
    return cast_double(number, to, arena, out);
}

static const char *cast_bool(bool value, enum schema_type to, struct wr_arena *arena,
                             struct datum *out)
{
    if (to == SCHEMA_BOOLEAN) {
        *out = (struct datum){.kind = DATUM_BOOL, .as.boolean = value};
        return NULL;
    }
    if (to == SCHEMA_STRING) {
        return text_datum(value ? WR_SLICE("true") : WR_SLICE("false"), out);
    }
    return is_whole(to) ? int_datum(value ? 1 : 0, to, out)
                        : float_datum(value ? 1 : 0, to, arena, out);
}

/* Long.parseLong(): a sign and digits, nothing else. */
static bool int_read(struct wr_slice text, int64_t *out)
{
    bool is_negative = text.size > 0 && text.data[0] == '-';
    size_t start = text.size > 0 && (is_negative || text.data[0] == '+') ? 1 : 0;

    *out = 0;
    for (size_t i = start; i < text.size; i++) {
        int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(*out, 10, out) ||
            __builtin_sub_overflow(*out, digit, out)) {
            return false;
        }
    }
    return text.size > start && (is_negative || !__builtin_mul_overflow(*out, -1, out));
}

static const char *cast_string(const struct datum *value, enum schema_type to,
                               struct wr_arena *arena, struct datum *out)
{
    const struct wr_slice text = value->as.bytes;
    int64_t integer = 0;
    double number = 0;

    if (to == SCHEMA_STRING) {
        *out = *value;
        return NULL;
    }
    if (to == SCHEMA_BOOLEAN) {
        bool is_true = text.size == 4 && strncasecmp(text.data, "true", 4) == 0;
        *out = (struct datum){.kind = DATUM_BOOL, .as.boolean = is_true};
        return NULL;
    }
    if (is_whole(to)) {
        return int_read(text, &integer) ? int_datum(integer, to, out) : NO_NUMBER;
    }
    return float_read(text, to == SCHEMA_FLOAT32, &number) ? float_datum(number, to, arena, out)
                                                           : NO_NUMBER;
}

/* The number before the point of a decimal that has no exponent. */
static const char *decimal_whole(struct wr_slice text, enum schema_type to, struct datum *out)
{
    const char *point = memchr(text.data, '.', text.size);
    int64_t integer = 0;

    if (point != NULL) {
        text.size = (size_t)(point - text.data);
    }
    bool is_int = int_read(text, &integer);
    if (to == SCHEMA_BOOLEAN) {
        *out = (struct datum){.kind = DATUM_BOOL, .as.boolean = !is_int || integer != 0};
        return NULL;
    }
    return is_int ? int_datum(integer, to, out) : OUT_OF_RANGE;
}

static const char *cast_decimal(struct wr_slice text, enum schema_type to, struct wr_arena *arena,
                                struct datum *out)
{
    double number = 0;

    if (text.data == NULL) {
        return NO_ROOM;
    }
    if (to == SCHEMA_STRING) {
        return text_datum(text, out);
    }
    bool has_exponent = memchr(text.data, 'E', text.size) != NULL;
    if (!has_exponent && (is_whole(to) || to == SCHEMA_BOOLEAN)) {
        return decimal_whole(text, to, out);
    }
    if (!float_read(text, to == SCHEMA_FLOAT32, &number) || isinf(number)) {
        return OUT_OF_RANGE;
    }
    return cast_double(number, to, arena, out);
}

static const char *base64_string(struct wr_slice bytes, struct wr_arena *arena, struct datum *out)
{
    struct wr_buffer text;

    wr_buffer_init(&text, WR_RECORD_SIZE_MAX);
    wr_json_base64(&text, bytes);
    const char *copy =
        text.failed ? NULL : wr_arena_strndup(arena, text.data + 1, text.size - 2); /* no quotes */
    wr_buffer_done(&text);
    return printed(copy, out);
}

const char *cast_value(const struct schema *from, const struct datum *value, enum schema_type to,
                       struct wr_arena *arena, struct datum *out)
{
    int32_t scale = 0;

    switch (value->kind) {
    case DATUM_INT:
        return cast_int(from, value->as.integer, to, arena, out);
    case DATUM_FLOAT32:
    case DATUM_FLOAT64:
        return cast_float(value, to, arena, out);
    case DATUM_BOOL:
        return cast_bool(value->as.boolean, to, arena, out);
    case DATUM_STRING:
        return cast_string(value, to, arena, out);
    case DATUM_BYTES:
        if (schema_is_decimal(from, &scale)) {
            return cast_decimal(decimal_text(value->as.bytes, scale, arena), to, arena, out);
        }
        return to == SCHEMA_STRING ? base64_string(value->as.bytes, arena, out)
                                   : "bytes can only be cast to string";
    case DATUM_NULL:
    case DATUM_ARRAY:
    case DATUM_STRUCT:
    case DATUM_JSON:
        break;
    }
    return "cannot be cast";
}
