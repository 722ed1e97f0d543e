#include "decoder/types.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "decoder/array.h"
#include "decoder/binary.h"
#include "decoder/datetime.h"
#include "decoder/geometry.h"
#include "decoder/hstore.h"
#include "decoder/interval.h"
#include "decoder/numeric.h"
#include "decoder/scalar.h"

enum {
    OID_PINNED_END = 10000, /* PostgreSQL's FirstGenbkiObjectId: below it a type never changes */
    NESTING_MAX = 32,       /* domains over domains and arrays of them */
    VALUE_SHOWN_MAX = 64,   /* bytes of a bad value in an error text */
};

/* One of the built-in types that are published. */
struct builtin {
    uint32_t oid;
    uint32_t array_oid;
    const char *name;
    type_parse parse;                         /* or, where the typmod or a mode decides: */
    void (*settle)(struct column_type *type); /* sets `parse`, and `scale` where it has one */
};

/* Oids from PostgreSQL's pg_type.dat. What is not here is unknown to Debezium, too. */
static const struct builtin BUILTINS[] = {
    {16, 1000, "bool", bool_parse, NULL},
    {17, 1001, "bytea", bytea_parse, NULL},
    {18, 1002, "char", text_parse, NULL},
    {19, 1003, "name", text_parse, NULL},
    {20, 1016, "int8", int8_parse, NULL},
    {21, 1005, "int2", int2_parse, NULL},
    {23, 1007, "int4", int4_parse, NULL},
    {25, 1009, "text", text_parse, NULL},
    {26, 1028, "oid", oid_parse, NULL},
    {114, 199, "json", text_parse, NULL},
    {142, 143, "xml", text_parse, NULL},
    {600, 1017, "point", point_parse, NULL},
    {650, 651, "cidr", text_parse, NULL},
    {700, 1021, "float4", float4_parse, NULL},
    {701, 1022, "float8", float8_parse, NULL},
    {774, 775, "macaddr8", text_parse, NULL},
    {790, 791, "money", NULL, money_settle},
    {829, 1040, "macaddr", text_parse, NULL},
    {869, 1041, "inet", text_parse, NULL},
    {1042, 1014, "bpchar", text_parse, NULL},
    {1043, 1015, "varchar", text_parse, NULL},
    {1082, 1182, "date", date_parse, NULL},
    {1083, 1183, "time", NULL, time_settle},
    {1114, 1115, "timestamp", NULL, timestamp_settle},
    {1184, 1185, "timestamptz", NULL, timestamptz_settle},
    {1186, 1187, "interval", interval_parse_micros, NULL},
    {1266, 1270, "timetz", timetz_parse, NULL},
    {1560, 1561, "bit", NULL, bits_settle},
    {1562, 1563, "varbit", NULL, bits_settle},
    {1700, 1231, "numeric", NULL, numeric_settle},
    {2950, 2951, "uuid", text_parse, NULL},
    {3614, 3643, "tsvector", text_parse, NULL},
    {3802, 3807, "jsonb", text_parse, NULL},
    {3904, 3905, "int4range", text_parse, NULL},
    {3906, 3907, "numrange", text_parse, NULL},
    {3908, 3909, "tsrange", text_parse, NULL},
    {3910, 3911, "tstzrange", text_parse, NULL},
    {3912, 3913, "daterange", text_parse, NULL},
    {3926, 3927, "int8range", text_parse, NULL},
};

/* Types of extensions have no fixed oid; Debezium knows them by name, too. */
static const struct {
    const char *name;
    type_parse parse;
} NAMED[] = {
    {"citext", text_parse},
    {"hstore", hstore_parse_json},
    {"isbn", text_parse},
    {"ltree", text_parse},
};

/* What one compilation carries through its levels. */
struct compiler {
    const struct type_options *options;
    const struct catalog_source *catalog;
    struct wr_arena *arena;
    struct wr_error *err;
    int nesting;
};

static enum wr_status compile(struct compiler *c, uint32_t oid, int32_t typmod,
                              struct column_type *out);

enum wr_status type_reject(const struct column_type *type, struct wr_slice text,
                           struct wr_error *err)
{
    bool is_long = text.size > VALUE_SHOWN_MAX;

    return wr_fail(err, WR_REJECT, "types", "%s: no right form for the value \"%.*s%s\"",
                   type->name, (int)(is_long ? VALUE_SHOWN_MAX : text.size),
                   text.size == 0 ? "" : text.data, is_long ? "..." : "");
}

enum wr_status type_no_room(const struct column_type *type, struct wr_error *err)
{
    return wr_fail(err, WR_REJECT, "types", "%s: the row is larger than WR_MESSAGE_ARENA_SIZE_MAX",
                   type->name);
}

static enum wr_status arena_full(struct compiler *c)
{
    return wr_fail(c->err, WR_FATAL, "types", "a table's types are larger than its arena");
}

static struct column_type type_start(const struct compiler *c, uint32_t oid, int32_t typmod)
{
    return (struct column_type){.oid = oid, .typmod = typmod, .options = c->options, .name = ""};
}

static const struct builtin *find_builtin(uint32_t oid, bool *is_array)
{
    for (size_t i = 0; i < sizeof(BUILTINS) / sizeof(BUILTINS[0]); i++) {
        if (BUILTINS[i].oid == oid || BUILTINS[i].array_oid == oid) {
            *is_array = BUILTINS[i].oid != oid;
            return &BUILTINS[i];
        }
    }
    return NULL;
}

static void settle_builtin(const struct builtin *builtin, struct column_type *out)
{
    out->name = builtin->name;
    out->parse = builtin->parse;
    if (builtin->settle != NULL) {
        builtin->settle(out);
    }
    assert(out->parse != NULL);
}

static void settle_unknown(const char *name, struct column_type *out)
{
    out->name = name;
    if (out->options->include_unknown_datatypes) {
        out->parse = geometry_is_shape(out->oid) ? shape_parse : opaque_parse;
    }
}

/* An array has its element's typmod, and is published when its element is. */
static enum wr_status compile_array(struct compiler *c, uint32_t element_oid,
                                    struct column_type *out)
{
    struct column_type *element = wr_arena_alloc(c->arena, 1, sizeof(*element));

    if (element == NULL) {
        return arena_full(c);
    }
    enum wr_status status = compile(c, element_oid, out->typmod, element);
    if (status != WR_OK) {
        return status;
    }
    out->name = wr_arena_printf(c->arena, "%s[]", element->name);
    if (out->name == NULL) {
        return arena_full(c);
    }
    out->element = element;
    out->parse = element->parse == NULL ? NULL : array_parse;
    return WR_OK;
}

static type_parse parse_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof(NAMED) / sizeof(NAMED[0]); i++) {
        if (strcmp(NAMED[i].name, name) == 0) {
            return NAMED[i].parse;
        }
    }
    return NULL;
}

/* A domain is its base type, with the length that the domain gave it. */
static enum wr_status compile_from_catalog(struct compiler *c, struct column_type *out)
{
    struct type_info info = {0};

    enum wr_status status =
        c->catalog->type(c->catalog->context, out->oid, c->arena, &info, c->err);
    if (status == WR_REJECT) {
        out->name = "dropped type";
        out->parse = text_parse;
        return WR_OK;
    }
    if (status != WR_OK) {
        return status;
    }
    if (info.typtype == 'd') {
        return compile(c, info.base_oid, info.base_typmod, out);
    }
    if (info.element_oid != 0) {
        return compile_array(c, info.element_oid, out);
    }
    out->name = info.name;
    out->parse = info.typtype == 'e' ? text_parse : parse_of_name(info.name);
    if (out->parse == NULL) {
        settle_unknown(info.name, out);
    }
    return WR_OK;
}

static enum wr_status compile(struct compiler *c, uint32_t oid, int32_t typmod,
                              struct column_type *out)
{
    bool is_array = false;

    *out = type_start(c, oid, typmod);
    c->nesting++;
    if (c->nesting > NESTING_MAX) {
        return wr_fail(c->err, WR_FATAL, "types", "type %u: more than %d types deep", oid,
                       NESTING_MAX);
    }
    const struct builtin *builtin = find_builtin(oid, &is_array);
    if (builtin != NULL && is_array) {
        return compile_array(c, builtin->oid, out);
    }
    if (builtin != NULL) {
        settle_builtin(builtin, out);
        return WR_OK;
    }
    if (oid < OID_PINNED_END && !c->options->include_unknown_datatypes) {
        settle_unknown("unknown type", out);
        return WR_OK;
    }
    return compile_from_catalog(c, out);
}

enum wr_status type_compile(const struct type_options *options,
                            const struct catalog_source *catalog, uint32_t oid, int32_t typmod,
                            struct wr_arena *arena, struct column_type *out, struct wr_error *err)
{
    assert(options != NULL && catalog != NULL && arena != NULL && out != NULL);

    struct compiler c = {.options = options, .catalog = catalog, .arena = arena, .err = err};
    return compile(&c, oid, typmod, out);
}
