/* show_value.h - column text in, the typed value as a line of text out: for tables of cases. */
#ifndef WR_TESTS_UNIT_DECODER_SHOW_VALUE_H
#define WR_TESTS_UNIT_DECODER_SHOW_VALUE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "decoder/types.h"

static struct wr_arena *arena;
static struct wr_error err;
static struct type_options options;
static char shown[1 << 16];
static size_t shown_size;

/* Types that are not built in, as pg_type might have them. */
enum {
    OID_HSTORE = 20001,
    OID_CITEXT,
    OID_LTREE,
    OID_MOOD, /* enum */
    OID_MOOD_ARRAY,
    OID_PRICE,       /* domain: numeric(8,3) */
    OID_PRICE_ARRAY, /* array of that domain */
    OID_PRICE_ABOVE, /* domain over the domain */
    OID_TAGS,        /* domain: text[] */
    OID_PAIR,        /* composite */
    OID_PAIR_ARRAY,
    OID_LOOP, /* a domain over itself, which cannot be */
    OID_GONE,
    OID_UNREACHABLE,
    OID_GEOMETRY,
    OID_GEOMETRY_ARRAY,
    OID_GEOGRAPHY,
    OID_VECTOR,
    OID_HALFVEC,
    OID_SPARSEVEC,
    OID_OWN_VECTOR, /* a composite that somebody named so */
};

#define NUMERIC_TYPMOD(precision, scale) (((precision) << 16 | ((scale)&0x7ff)) + 4)

static const struct type_info CATALOG[] = {
    {.oid = OID_HSTORE, .name = "hstore", .typtype = 'b', .delimiter = ',', .base_typmod = -1},
    {.oid = OID_CITEXT, .name = "citext", .typtype = 'b', .delimiter = ',', .base_typmod = -1},
    {.oid = OID_LTREE, .name = "ltree", .typtype = 'b', .delimiter = ',', .base_typmod = -1},
    {.oid = OID_MOOD, .name = "mood", .typtype = 'e', .delimiter = ',', .labels = "sad,ok,happy"},
    {.oid = OID_MOOD_ARRAY,
     .name = "_mood",
     .typtype = 'b',
     .delimiter = ',',
     .element_oid = OID_MOOD},
    {.oid = OID_PRICE,
     .name = "price",
     .typtype = 'd',
     .base_oid = 1700,
     .base_typmod = NUMERIC_TYPMOD(8, 3)},
    {.oid = OID_PRICE_ARRAY,
     .name = "_price",
     .typtype = 'b',
     .delimiter = ',',
     .element_oid = OID_PRICE},
    {.oid = OID_PRICE_ABOVE,
     .name = "above",
     .typtype = 'd',
     .base_oid = OID_PRICE,
     .base_typmod = -1},
    {.oid = OID_TAGS,
     .name = "tags",
     .typtype = 'd',
     .delimiter = ',',
     .base_oid = 1009,
     .base_typmod = -1},
    {.oid = OID_PAIR, .name = "pair", .typtype = 'c', .delimiter = ',', .base_typmod = -1},
    {.oid = OID_PAIR_ARRAY,
     .name = "_pair",
     .typtype = 'b',
     .delimiter = ',',
     .element_oid = OID_PAIR},
    {.oid = OID_GEOMETRY, .name = "geometry", .typtype = 'b', .delimiter = ':'},
    {.oid = OID_GEOMETRY_ARRAY,
     .name = "_geometry",
     .typtype = 'b',
     .element_oid = OID_GEOMETRY,
     .delimiter = ':'},
    {.oid = OID_GEOGRAPHY, .name = "geography", .typtype = 'b', .delimiter = ':'},
    {.oid = OID_VECTOR, .name = "vector", .typtype = 'b', .delimiter = ','},
    {.oid = OID_HALFVEC, .name = "halfvec", .typtype = 'b', .delimiter = ','},
    {.oid = OID_SPARSEVEC, .name = "sparsevec", .typtype = 'b', .delimiter = ','},
    {.oid = OID_OWN_VECTOR, .name = "vector", .typtype = 'c', .delimiter = ','},
    {.oid = OID_LOOP,
     .name = "loop",
     .typtype = 'd',
     .delimiter = ',',
     .base_oid = OID_LOOP,
     .base_typmod = -1},
    {.oid = 3615, .name = "tsquery", .typtype = 'b', .delimiter = ',', .base_typmod = -1},
    {.oid = 601, .name = "lseg", .typtype = 'b', .delimiter = ',', .base_typmod = -1},
    {.oid = 602, .name = "path", .typtype = 'b', .delimiter = ',', .base_typmod = -1},
    {.oid = 603, .name = "box", .typtype = 'b', .delimiter = ';'},
    {.oid = 604, .name = "polygon", .typtype = 'b', .delimiter = ',', .base_typmod = -1},
    {.oid = 628, .name = "line", .typtype = 'b', .delimiter = ',', .base_typmod = -1},
    {.oid = 718, .name = "circle", .typtype = 'b', .delimiter = ',', .base_typmod = -1},
    {.oid = 1020, .name = "_box", .typtype = 'b', .delimiter = ',', .element_oid = 603},
};

static size_t catalog_asked;

static inline enum wr_status catalog_type(void *context, uint32_t oid, struct wr_arena *in,
                                          struct type_info *out, struct wr_error *e)
{
    (void)context;
    (void)in;
    catalog_asked++;
    if (oid == OID_UNREACHABLE) {
        return wr_fail(e, WR_RETRY, "catalog", "connection lost");
    }
    for (size_t i = 0; i < sizeof(CATALOG) / sizeof(CATALOG[0]); i++) {
        if (CATALOG[i].oid == oid) {
            *out = CATALOG[i];
            return WR_OK;
        }
    }
    return wr_fail(e, WR_REJECT, "catalog", "type %u is not there", oid);
}

static const struct catalog_source CATALOG_SOURCE = {.type = catalog_type};

static inline void open_values(void)
{
    arena = wr_arena_new(1 << 24);
    options = (struct type_options){
        .money_fraction_digits = 2,
        .unavailable_value_placeholder = WR_SLICE("gone"),
    };
    catalog_asked = 0;
}

static inline void close_values(void)
{
    wr_arena_free(arena);
}

static inline void __attribute__((format(printf, 1, 2))) show(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int size = vsnprintf(shown + shown_size, sizeof(shown) - shown_size, format, args);
    va_end(args);
    cr_assert(size >= 0 && (size_t)size < sizeof(shown) - shown_size);
    shown_size += (size_t)size;
}

/* Base64, as it stands in the golden cases. */
static inline void show_bytes(struct wr_slice bytes)
{
    static const char ALPHABET[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < bytes.size; i += 3) {
        unsigned char b[3] = {0};
        size_t count = bytes.size - i < 3 ? bytes.size - i : 3;
        memcpy(b, bytes.data + i, count);
        show("%c%c%c%c", ALPHABET[b[0] >> 2], ALPHABET[(b[0] & 3) << 4 | b[1] >> 4],
             count > 1 ? ALPHABET[(b[1] & 15) << 2 | b[2] >> 6] : '=',
             count > 2 ? ALPHABET[b[2] & 63] : '=');
    }
}

static inline void show_datum(const struct datum *d)
{
    switch (d->kind) {
    case DATUM_NULL:
        show("null");
        return;
    case DATUM_BOOL:
        show("%s", d->as.boolean ? "true" : "false");
        return;
    case DATUM_INT:
        show("%lld", (long long)d->as.integer);
        return;
    case DATUM_FLOAT32:
    case DATUM_FLOAT64:
        show("%s %.*s", d->kind == DATUM_FLOAT32 ? "float" : "double", (int)d->as.bytes.size,
             d->as.bytes.data);
        return;
    case DATUM_STRING:
    case DATUM_JSON:
        show("'%.*s'", (int)d->as.bytes.size, d->as.bytes.size == 0 ? "" : d->as.bytes.data);
        return;
    case DATUM_BYTES:
        show("bytes ");
        show_bytes(d->as.bytes);
        return;
    case DATUM_ARRAY:
        show("[");
        for (size_t i = 0; i < d->as.array.count; i++) {
            show("%s", i == 0 ? "" : ", ");
            show_datum(&d->as.array.items[i]);
        }
        show("]");
        return;
    case DATUM_STRUCT:
        show("{");
        for (size_t i = 0; i < d->as.structure.count; i++) {
            const struct datum_field *field = &d->as.structure.fields[i];
            show("%s%.*s: ", i == 0 ? "" : ", ", (int)field->name.size, field->name.data);
            show_datum(&field->value);
        }
        show("}");
        return;
    }
}

static inline struct column_type compiled(uint32_t oid, int32_t typmod)
{
    struct column_type type;

    cr_assert_eq(type_compile(&options, &CATALOG_SOURCE, oid, typmod, arena, &type, &err), WR_OK,
                 "%s", err.text);
    return type;
}

/* Parses a heap copy sized to the byte, so that AddressSanitizer sees any over-read. */
static inline const char *show_sized(uint32_t oid, int32_t typmod, const char *text, size_t size)
{
    struct column_type type = compiled(oid, typmod);
    struct datum value = {0};
    char *copy = malloc(size == 0 ? 1 : size);

    if (type.parse == NULL) {
        free(copy);
        return "not published";
    }
    memcpy(copy, text, size);
    shown_size = 0;
    shown[0] = '\0';
    enum wr_status status = type.parse(&type, (struct wr_slice){copy, size}, arena, &value, &err);
    if (status == WR_OK) {
        show_datum(&value);
    } else {
        cr_expect_eq(status, WR_REJECT, "'%s' of type %u", text, oid);
        show("reject");
    }
    free(copy);
    return shown;
}

static inline const char *show_value(uint32_t oid, int32_t typmod, const char *text)
{
    return show_sized(oid, typmod, text, strlen(text));
}

struct value_case {
    uint32_t oid;
    int32_t typmod;
    const char *text;
    const char *expected;
};

static inline void expect_values(const struct value_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct value_case *c = &cases[i];
        const char *actual = show_value(c->oid, c->typmod, c->text);
        cr_expect_str_eq(actual, c->expected, "type %u (%d), '%s': %s instead of %s", c->oid,
                         c->typmod, c->text, actual, c->expected);
    }
}

#define EXPECT_VALUES(cases) expect_values((cases), sizeof(cases) / sizeof((cases)[0]))

/* Every shorter text is either another good value or refused; nothing reads past its end. */
static inline void feed_prefixes(const struct value_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t size = 0; size < strlen(cases[i].text); size++) {
            (void)show_sized(cases[i].oid, cases[i].typmod, cases[i].text, size);
        }
    }
}

#define FEED_PREFIXES(cases) feed_prefixes((cases), sizeof(cases) / sizeof((cases)[0]))

/* Every text that is refused. */
static inline void expect_rejects(uint32_t oid, int32_t typmod, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        cr_expect_str_eq(show_value(oid, typmod, *texts), "reject", "type %u, '%s': %s", oid,
                         *texts, shown);
    }
}

#define EXPECT_REJECTS(oid, typmod, ...)                                                           \
    expect_rejects((oid), (typmod), (const char *const[]){__VA_ARGS__, NULL})

#endif /* WR_TESTS_UNIT_DECODER_SHOW_VALUE_H */
