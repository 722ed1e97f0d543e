#include "decoder/geometry.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "decoder/binary.h"
#include "decoder/scan.h"

enum {
    OID_LSEG = 601,
    OID_PATH = 602,
    OID_POLYGON = 604,
    OID_LINE = 628,
    OID_CIRCLE = 718,
    FLOAT_SIZE_MAX = 32, /* "-1.7976931348623157e+308" and some room */
    WKB_POINT = 1,
    WKB_LITTLE_ENDIAN = 1,
};

bool geometry_is_shape(uint32_t oid)
{
    return (oid >= OID_LSEG && oid <= OID_POLYGON) || oid == OID_LINE || oid == OID_CIRCLE;
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

/* JSON quotes the three that are no numbers; Java does not. */
static void put_java_double(struct wr_buffer *out, struct wr_slice number)
{
    char last = number.data[number.size - 1];

    if (last >= '0' && last <= '9') {
        wr_json_float(out, number, false);
    } else {
        wr_buffer_add_slice(out, number);
    }
}

/* Numbers, and the punctuation between them. */
static bool respell(struct wr_slice text, struct wr_buffer *out)
{
    struct scan in = scan_start(text);

    while (in.next < in.end) {
        if (strchr("()[]{}<>,", *in.next) != NULL && *in.next != '\0') {
            wr_buffer_add_char(out, *in.next++);
            continue;
        }
        struct wr_slice number = scan_float(&in);
        if (!in.failed) {
            put_java_double(out, number);
        }
    }
    return text.size > 0 && !in.failed;
}

enum wr_status shape_parse(const struct column_type *type, struct wr_slice text,
                           struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct wr_buffer spelled;
    const char *copy = NULL;

    wr_buffer_init(&spelled, WR_MESSAGE_ARENA_SIZE_MAX);
    bool is_good = respell(text, &spelled);
    size_t size = spelled.size;
    if (is_good && !spelled.failed) {
        copy = wr_arena_strndup(arena, spelled.data, size);
    }
    wr_buffer_done(&spelled);
    if (!is_good) {
        return type_reject(type, text, err);
    }
    if (copy == NULL) {
        return type_no_room(type, err);
    }
    return opaque_parse(type, (struct wr_slice){copy, size}, arena, out, err);
}
