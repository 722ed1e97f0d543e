#include "codec/proto_value.h"

#include <stdlib.h>
#include <string.h>

#include "codec/proto_write.h"
#include "decoder/datetime.h"
#include "decoder/moment.h"

/* The members of Value, as change.proto numbers them. */
enum {
    FIELD_ABSENCE = 1,
    FIELD_BOOLEAN = 2,
    FIELD_INTEGER = 3,
    FIELD_DECIMAL = 4,
    FIELD_FLOAT32 = 5,
    FIELD_FLOAT64 = 6,
    FIELD_TEXT = 7,
    FIELD_BINARY = 8,
    FIELD_JSON = 9,
    FIELD_DATE_DAYS = 10,
    FIELD_TIMESTAMP_US = 11,
    FIELD_TIMESTAMPTZ_US = 12,
    FIELD_ARRAY = 13,
    FIELD_ARRAY_VALUES = 1, /* of Array */
};

enum { ABSENCE_NULL = 0, ABSENCE_UNAVAILABLE = 1 };

enum { FLOAT_SIZE_MAX = 64 }; /* of PostgreSQL's text, and more */

static void put_absence(struct wr_buffer *out, uint64_t absence)
{
    proto_tag(out, FIELD_ABSENCE, PROTO_VARINT);
    proto_varint(out, absence);
}

static void put_signed(struct wr_buffer *out, uint32_t field, int64_t value)
{
    proto_tag(out, field, PROTO_VARINT);
    proto_varint(out, proto_zigzag(value));
}

/* 18 digits never overflow; more are left to the library. */
static enum wr_status put_integer(const struct natural_type *type, struct wr_slice text,
                                  struct wr_buffer *out, struct wr_error *err)
{
    enum { DIGITS_MAX = 18, TEXT_SIZE_MAX = 24 };
    char copy[TEXT_SIZE_MAX] = {0};
    bool is_negative = text.size > 0 && text.data[0] == '-';
    int64_t value = 0;

    if (!natural_is_number(text) || text.size >= sizeof(copy) ||
        memchr(text.data, '.', text.size) != NULL || memchr(text.data, 'e', text.size) != NULL) {
        return type_reject(type->type, text, err);
    }
    if (text.size > DIGITS_MAX) {
        memcpy(copy, text.data, text.size);
        value = strtoll(copy, NULL, 10);
    } else {
        for (size_t i = is_negative; i < text.size; i++) {
            value = value * 10 + (text.data[i] - '0');
        }
        value = is_negative ? -value : value;
    }
    put_signed(out, FIELD_INTEGER, value);
    return WR_OK;
}

static enum wr_status put_float(const struct natural_type *type, struct wr_slice text,
                                struct wr_buffer *out, struct wr_error *err)
{
    char copy[FLOAT_SIZE_MAX] = {0};
    char *end = copy;
    uint64_t bits = 0;

    if (text.size > 0 && text.size < sizeof(copy)) {
        memcpy(copy, text.data, text.size);
        if (type->kind == NATURAL_FLOAT4) {
            float value = strtof(copy, &end);
            memcpy(&bits, &value, sizeof(value));
        } else {
            double value = strtod(copy, &end);
            memcpy(&bits, &value, sizeof(value));
        }
    }
    if (end == copy || *end != '\0') {
        return type_reject(type->type, text, err);
    }
    if (type->kind == NATURAL_FLOAT4) {
        uint32_t half = 0;
        memcpy(&half, &bits, sizeof(half));
        proto_tag(out, FIELD_FLOAT32, PROTO_FIXED32);
        proto_fixed(out, half, sizeof(half));
    } else {
        proto_tag(out, FIELD_FLOAT64, PROTO_FIXED64);
        proto_fixed(out, bits, sizeof(bits));
    }
    return WR_OK;
}

static bool is_infinity(struct wr_slice text)
{
    return wr_slice_is(text, "infinity") || wr_slice_is(text, "-infinity");
}

static enum wr_status put_date(const struct natural_type *type, struct wr_slice text,
                               struct wr_buffer *out, struct wr_error *err)
{
    struct moment m;

    if (is_infinity(text)) {
        put_signed(out, FIELD_DATE_DAYS, text.data[0] == '-' ? INT32_MIN : INT32_MAX);
        return WR_OK;
    }
    if (!moment_read_date(text, &m)) {
        return type_reject(type->type, text, err);
    }
    put_signed(out, FIELD_DATE_DAYS, moment_days(&m));
    return WR_OK;
}

static enum wr_status put_timestamp(const struct natural_type *type, struct wr_slice text,
                                    struct wr_buffer *out, struct wr_error *err)
{
    uint32_t field = type->kind == NATURAL_TIMESTAMP ? FIELD_TIMESTAMP_US : FIELD_TIMESTAMPTZ_US;
    int64_t us = 0;

    if (is_infinity(text)) {
        put_signed(out, field, text.data[0] == '-' ? INT64_MIN : INT64_MAX);
        return WR_OK;
    }
    if (!datetime_to_us(text, &us)) {
        return type_reject(type->type, text, err);
    }
    put_signed(out, field, us);
    return WR_OK;
}

/* What JSON and this have alike. */
static enum wr_status put_natural(const struct natural_type *type, struct wr_slice text,
                                  uint32_t field, struct wr_arena *scratch, struct wr_buffer *out,
                                  struct wr_error *err)
{
    size_t start = proto_open(out, field);
    enum wr_status status = natural_text(type, text, scratch, out, err);

    proto_close(out, start);
    return status;
}

static enum wr_status put_binary(const struct natural_type *type, struct wr_slice text,
                                 struct wr_arena *scratch, struct wr_buffer *out,
                                 struct wr_error *err)
{
    struct wr_slice bytes = {0};
    enum wr_status status = natural_bytes(type, text, scratch, &bytes, err);

    if (status == WR_OK) {
        proto_bytes(out, FIELD_BINARY, bytes);
    }
    return status;
}

static enum wr_status put_value(const struct natural_type *type, struct wr_slice text,
                                struct wr_arena *scratch, struct wr_buffer *out,
                                struct wr_error *err);

/* An array on its way: which messages are open. */
struct array_writer {
    const struct natural_type *element;
    struct wr_arena *scratch;
    struct wr_buffer *out;
    size_t values[8], arrays[8]; /* PostgreSQL has six dimensions at most */
    size_t depth;
};

/* The outermost array is the value itself; an inner one is a value of the one around it. */
static enum wr_status array_begin(void *context, struct wr_error *err)
{
    struct array_writer *w = context;

    (void)err;
    if (w->depth > 0) {
        w->values[w->depth] = proto_open(w->out, FIELD_ARRAY_VALUES);
    }
    w->arrays[w->depth++] = proto_open(w->out, FIELD_ARRAY);
    return WR_OK;
}

static enum wr_status array_element(void *context, const struct wr_slice *text,
                                    struct wr_error *err)
{
    struct array_writer *w = context;
    size_t start = proto_open(w->out, FIELD_ARRAY_VALUES);
    enum wr_status status = WR_OK;

    if (text == NULL) {
        put_absence(w->out, ABSENCE_NULL);
    } else {
        status = put_value(w->element, *text, w->scratch, w->out, err);
    }
    proto_close(w->out, start);
    return status;
}

static enum wr_status array_end(void *context, struct wr_error *err)
{
    struct array_writer *w = context;

    (void)err;
    proto_close(w->out, w->arrays[--w->depth]);
    if (w->depth > 0) {
        proto_close(w->out, w->values[w->depth]);
    }
    return WR_OK;
}

static enum wr_status put_array(const struct natural_type *type, struct wr_slice text,
                                struct wr_arena *scratch, struct wr_buffer *out,
                                struct wr_error *err)
{
    struct array_writer writer = {.element = type->element, .scratch = scratch, .out = out};
    const struct natural_visitor visitor = {&writer, array_begin, array_element, array_end};

    return natural_visit(type, text, scratch, &visitor, err);
}

static enum wr_status put_bool(const struct natural_type *type, struct wr_slice text,
                               struct wr_buffer *out, struct wr_error *err)
{
    bool is_true = wr_slice_is(text, "t");

    if (!is_true && !wr_slice_is(text, "f")) {
        return type_reject(type->type, text, err);
    }
    proto_tag(out, FIELD_BOOLEAN, PROTO_VARINT);
    proto_varint(out, is_true);
    return WR_OK;
}

static enum wr_status put_value(const struct natural_type *type, struct wr_slice text,
                                struct wr_arena *scratch, struct wr_buffer *out,
                                struct wr_error *err)
{
    switch (type->kind) {
    case NATURAL_TEXT:
        proto_bytes(out, FIELD_TEXT, text);
        return WR_OK;
    case NATURAL_BOOL:
        return put_bool(type, text, out, err);
    case NATURAL_INT:
        return put_integer(type, text, out, err);
    case NATURAL_FLOAT4:
    case NATURAL_FLOAT8:
        return put_float(type, text, out, err);
    case NATURAL_NUMERIC:
    case NATURAL_MONEY:
        return put_natural(type, text, FIELD_DECIMAL, scratch, out, err);
    case NATURAL_JSON:
    case NATURAL_VECTOR:
        proto_bytes(out, FIELD_JSON, text);
        return WR_OK;
    case NATURAL_HSTORE:
        return put_natural(type, text, FIELD_JSON, scratch, out, err);
    case NATURAL_BYTES:
        return put_binary(type, text, scratch, out, err);
    case NATURAL_DATE:
        return put_date(type, text, out, err);
    case NATURAL_TIMESTAMP:
    case NATURAL_TIMESTAMPTZ:
        return put_timestamp(type, text, out, err);
    case NATURAL_TIMETZ:
    case NATURAL_INTERVAL:
        return put_natural(type, text, FIELD_TEXT, scratch, out, err);
    case NATURAL_ARRAY:
        return put_array(type, text, scratch, out, err);
    }
    return type_reject(type->type, text, err);
}

enum wr_status proto_value(const struct route_value *value, const struct row_view *row,
                           struct wr_arena *scratch, struct wr_buffer *out, enum value_state *state,
                           struct wr_error *err)
{
    struct wr_slice text;
    enum wr_status status = route_value_take(value, row, scratch, &text, state, err);

    if (status != WR_OK) {
        return status;
    }
    if (*state != VALUE_KNOWN) {
        put_absence(out, *state == VALUE_NULL ? ABSENCE_NULL : ABSENCE_UNAVAILABLE);
        return WR_OK;
    }
    if (!route_value_is_plain(value)) {
        proto_bytes(out, FIELD_TEXT, text);
        return WR_OK;
    }
    return route_value_blame(value, row, put_value(value->type, text, scratch, out, err), err);
}
