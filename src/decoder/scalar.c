#include "decoder/scalar.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "decoder/scan.h"

enum {
    FLOAT_SIZE_MAX = 32, /* "-1.7976931348623157e+308" and some room */
    INT64_DIGITS_MAX = 19,
    WKB_POINT = 1,
    WKB_LITTLE_ENDIAN = 1,
};

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

static void scan_digit_run(struct scan *in)
{
    if (!scan_at_digit(in)) {
        scan_fail(in);
    }
    while (scan_at_digit(in)) {
        in->next++;
    }
}

/* "-1.5", "1e-45", "NaN", "-Infinity": what PostgreSQL prints for either width. */
static struct wr_slice scan_float(struct scan *in)
{
    const char *start = in->next;

    if (!scan_accept_text(in, "NaN")) {
        (void)scan_accept(in, '-');
        if (!scan_accept_text(in, "Infinity")) {
            scan_digit_run(in);
            if (scan_accept(in, '.')) {
                scan_digit_run(in);
            }
            if (scan_accept(in, 'e')) {
                (void)(scan_accept(in, '-') || scan_accept(in, '+'));
                scan_digit_run(in);
            }
        }
    }
    return (struct wr_slice){start, (size_t)(in->next - start)};
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

static unsigned char *put_little_endian(unsigned char *p, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        *p++ = (unsigned char)(value >> (i * 8) & 0xff);
    }
    return p;
}

static unsigned char *put_double(unsigned char *p, struct wr_slice text)
{
    char copy[FLOAT_SIZE_MAX] = {0}; /* strtod wants a NUL */
    uint64_t bits;

    memcpy(copy, text.data, text.size);
    double value = strtod(copy, NULL);
    memcpy(&bits, &value, sizeof(bits));
    return put_little_endian(p, bits, sizeof(bits));
}

/* Byte order, geometry type, x, y. */
static struct wr_slice point_wkb(struct wr_slice x, struct wr_slice y, struct wr_arena *arena)
{
    size_t size = 1 + 4 + 8 + 8;
    unsigned char *wkb = wr_arena_alloc_raw(arena, size, 1);

    if (wkb == NULL) {
        return (struct wr_slice){0};
    }
    unsigned char *p = put_little_endian(wkb, WKB_LITTLE_ENDIAN, 1);
    p = put_little_endian(p, WKB_POINT, 4);
    p = put_double(p, x);
    (void)put_double(p, y);
    return (struct wr_slice){(const char *)wkb, size};
}

enum wr_status point_parse(const struct column_type *type, struct wr_slice text,
                           struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct scan in = scan_start(text);

    scan_expect(&in, '(');
    struct wr_slice x = scan_float(&in);
    scan_expect(&in, ',');
    struct wr_slice y = scan_float(&in);
    scan_expect(&in, ')');
    if (!scan_done(&in) || x.size >= FLOAT_SIZE_MAX || y.size >= FLOAT_SIZE_MAX) {
        return type_reject(type, text, err);
    }
    struct datum_field *fields = wr_arena_alloc_raw(arena, 4, sizeof(*fields));
    struct wr_slice wkb = point_wkb(x, y, arena);
    if (fields == NULL || wkb.data == NULL) {
        return type_no_room(type, err);
    }
    fields[0] = (struct datum_field){WR_SLICE("x"), {.kind = DATUM_FLOAT64, .as.bytes = x}};
    fields[1] = (struct datum_field){WR_SLICE("y"), {.kind = DATUM_FLOAT64, .as.bytes = y}};
    fields[2] = (struct datum_field){WR_SLICE("wkb"), {.kind = DATUM_BYTES, .as.bytes = wkb}};
    fields[3] = (struct datum_field){WR_SLICE("srid"), {.kind = DATUM_NULL}};
    *out = (struct datum){.kind = DATUM_STRUCT, .as.structure = {fields, 4}};
    return WR_OK;
}
