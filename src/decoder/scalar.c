#include "decoder/scalar.h"

#include "decoder/scan.h"

enum { INT64_DIGITS_MAX = 19 };

enum wr_status text_parse(const struct column_type *type, struct wr_slice text,
                          struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    (void)type;
    (void)arena;
    (void)err;
    *out = (struct datum){.kind = DATUM_STRING, .as.bytes = text};
    return WR_OK;
}

enum wr_status bool_parse(const struct column_type *type, struct wr_slice text,
                          struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    (void)arena;
    if (text.size != 1 || (text.data[0] != 't' && text.data[0] != 'f')) {
        return type_reject(type, text, err);
    }
    *out = (struct datum){.kind = DATUM_BOOL, .as.boolean = text.data[0] == 't'};
    return WR_OK;
}

/* 19 digits never overflow a uint64, so one look at the end is enough. */
static bool int_read(struct wr_slice text, int64_t *out)
{
    struct scan in = scan_start(text);
    bool is_negative = scan_accept(&in, '-');
    const char *start = in.next;
    uint64_t magnitude = 0;

    while (scan_at_digit(&in)) {
        magnitude = magnitude * 10 + (uint64_t)(*in.next - '0');
        in.next++;
    }
    size_t count = (size_t)(in.next - start);
    if (count < 1 || count > INT64_DIGITS_MAX || !scan_done(&in) ||
        magnitude > (uint64_t)INT64_MAX + is_negative) {
        return false;
    }
    *out = (int64_t)(is_negative ? -magnitude : magnitude);
    return true;
}

static enum wr_status int_parse(const struct column_type *type, struct wr_slice text, int64_t min,
                                int64_t max, struct datum *out, struct wr_error *err)
{
    int64_t value = 0;

    if (!int_read(text, &value) || value < min || value > max) {
        return type_reject(type, text, err);
    }
    *out = (struct datum){.kind = DATUM_INT, .as.integer = value};
    return WR_OK;
}

enum wr_status int2_parse(const struct column_type *type, struct wr_slice text,
                          struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    (void)arena;
    return int_parse(type, text, INT16_MIN, INT16_MAX, out, err);
}

enum wr_status int4_parse(const struct column_type *type, struct wr_slice text,
                          struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    (void)arena;
    return int_parse(type, text, INT32_MIN, INT32_MAX, out, err);
}

enum wr_status int8_parse(const struct column_type *type, struct wr_slice text,
                          struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    (void)arena;
    return int_parse(type, text, INT64_MIN, INT64_MAX, out, err);
}

enum wr_status oid_parse(const struct column_type *type, struct wr_slice text,
                         struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    (void)arena;
    return int_parse(type, text, 0, UINT32_MAX, out, err);
}

static enum wr_status float_parse(const struct column_type *type, struct wr_slice text,
                                  enum datum_kind kind, struct datum *out, struct wr_error *err)
{
    struct scan in = scan_start(text);

    (void)scan_float(&in);
    if (!scan_done(&in)) {
        return type_reject(type, text, err);
    }
    *out = (struct datum){.kind = kind, .as.bytes = text};
    return WR_OK;
}

enum wr_status float4_parse(const struct column_type *type, struct wr_slice text,
                            struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    (void)arena;
    return float_parse(type, text, DATUM_FLOAT32, out, err);
}

enum wr_status float8_parse(const struct column_type *type, struct wr_slice text,
                            struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    (void)arena;
    return float_parse(type, text, DATUM_FLOAT64, out, err);
}
