#include "decoder/vector.h"

#include "base/arena.h"
#include "decoder/scan.h"

enum { INDEX_DIGITS_MAX = 9 };

/* How many elements a list may have, from its commas. */
static size_t count_elements(struct wr_slice text)
{
    size_t count = 1;

    for (size_t i = 0; i < text.size; i++) {
        count += text.data[i] == ',';
    }
    return count;
}

static struct datum scan_number(struct scan *in, enum datum_kind kind)
{
    return (struct datum){.kind = kind, .as.bytes = scan_float(in)};
}

static enum wr_status dense_parse(const struct column_type *type, struct wr_slice text,
                                  enum datum_kind kind, struct wr_arena *arena, struct datum *out,
                                  struct wr_error *err)
{
    struct scan in = scan_start(text);
    struct datum *items = wr_arena_alloc_raw(arena, count_elements(text), sizeof(*items));
    size_t count = 0;

    if (items == NULL) {
        return type_no_room(type, err);
    }
    scan_expect(&in, '[');
    if (!scan_at(&in, ']')) {
        do {
            items[count++] = scan_number(&in, kind);
        } while (scan_accept(&in, ','));
    }
    scan_expect(&in, ']');
    *out = (struct datum){.kind = DATUM_ARRAY, .as.array = {items, count}};
    return scan_done(&in) ? WR_OK : type_reject(type, text, err);
}

enum wr_status vector_parse(const struct column_type *type, struct wr_slice text,
                            struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    return dense_parse(type, text, DATUM_FLOAT64, arena, out, err);
}

enum wr_status halfvec_parse(const struct column_type *type, struct wr_slice text,
                             struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    return dense_parse(type, text, DATUM_FLOAT32, arena, out, err);
}

static struct datum scan_index(struct scan *in)
{
    uint32_t value = scan_digits(in, 1, INDEX_DIGITS_MAX);

    if (value > INT16_MAX) {
        scan_fail(in);
    }
    return (struct datum){.kind = DATUM_INT, .as.integer = value};
}

/* "{1:1.5,3:2}", as pairs; `pairs` and `sides` have room for all of them. */
static size_t scan_pairs(struct scan *in, struct datum *pairs, struct datum *sides)
{
    size_t count = 0;

    scan_expect(in, '{');
    if (!scan_at(in, '}')) {
        do {
            struct datum *pair = &sides[count * 2];
            pair[0] = scan_index(in);
            scan_expect(in, ':');
            pair[1] = scan_number(in, DATUM_FLOAT64);
            pairs[count++] = (struct datum){.kind = DATUM_ARRAY, .as.array = {pair, 2}};
        } while (scan_accept(in, ','));
    }
    scan_expect(in, '}');
    return count;
}

enum wr_status sparsevec_parse(const struct column_type *type, struct wr_slice text,
                               struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    struct scan in = scan_start(text);
    size_t count_max = count_elements(text);
    struct datum_field *fields = wr_arena_alloc_raw(arena, 2, sizeof(*fields));
    struct datum *pairs = wr_arena_alloc_raw(arena, count_max, sizeof(*pairs));
    struct datum *sides = wr_arena_alloc_raw(arena, count_max * 2, sizeof(*sides));

    if (fields == NULL || pairs == NULL || sides == NULL) {
        return type_no_room(type, err);
    }
    size_t count = scan_pairs(&in, pairs, sides);
    scan_expect(&in, '/');
    fields[0] = (struct datum_field){WR_SLICE("dimensions"), scan_index(&in)};
    fields[1] =
        (struct datum_field){WR_SLICE("vector"), {.kind = DATUM_ARRAY, .as.array = {pairs, count}}};
    *out = (struct datum){.kind = DATUM_STRUCT, .as.structure = {fields, 2}};
    return scan_done(&in) ? WR_OK : type_reject(type, text, err);
}
