#include "decoder/postgis.h"

#include "base/arena.h"
#include "decoder/binary.h"

enum {
    HEAD_SIZE = 1 + 4, /* byte order, type and flags */
    SRID_SIZE = 4,
    BIG_ENDIAN_MARK = 0,
    LITTLE_ENDIAN_MARK = 1,
};

#define FLAG_HAS_SRID UINT32_C(0x20000000) /* EWKB; the two flags above it are for Z and M */

static uint32_t read_uint32(const unsigned char *p, bool is_little)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < 4; i++) {
        value = value << 8 | p[is_little ? 3 - i : i];
    }
    return value;
}

/* False when the head is cut off or its byte order unknown. */
static bool read_srid(struct wr_slice wkb, struct datum *out)
{
    const unsigned char *p = (const unsigned char *)wkb.data;

    *out = (struct datum){.kind = DATUM_NULL};
    if (wkb.size < HEAD_SIZE || (p[0] != BIG_ENDIAN_MARK && p[0] != LITTLE_ENDIAN_MARK)) {
        return false;
    }
    bool is_little = p[0] == LITTLE_ENDIAN_MARK;
    if ((read_uint32(p + 1, is_little) & FLAG_HAS_SRID) == 0) {
        return true;
    }
    if (wkb.size < HEAD_SIZE + SRID_SIZE) {
        return false;
    }
    *out = (struct datum){.kind = DATUM_INT,
                          .as.integer = (int32_t)read_uint32(p + HEAD_SIZE, is_little)};
    return true;
}

enum wr_status postgis_parse(const struct column_type *type, struct wr_slice text,
                             struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct datum_field *fields = wr_arena_alloc_raw(arena, 2, sizeof(*fields));
    struct wr_slice wkb = {0};
    struct datum srid;

    if (fields == NULL) {
        return type_no_room(type, err);
    }
    enum wr_status status = binary_decode_hex(type, text, arena, &wkb, err);
    if (status != WR_OK) {
        return status;
    }
    if (!read_srid(wkb, &srid)) {
        return type_reject(type, text, err);
    }
    fields[0] = (struct datum_field){WR_SLICE("wkb"), {.kind = DATUM_BYTES, .as.bytes = wkb}};
    fields[1] = (struct datum_field){WR_SLICE("srid"), srid};
    *out = (struct datum){.kind = DATUM_STRUCT, .as.structure = {fields, 2}};
    return WR_OK;
}
