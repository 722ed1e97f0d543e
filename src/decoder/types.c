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
#include "decoder/postgis.h"
#include "decoder/scalar.h"
#include "decoder/schema.h"
#include "decoder/schema_known.h"
#include "decoder/vector.h"

#define ENUM_NAME "io.debezium.data.Enum"

enum {
    OID_PINNED_END = 10000, /* PostgreSQL's FirstGenbkiObjectId: below it a type never changes */
    NESTING_MAX = 32,       /* domains over domains and arrays of them */
    VALUE_SHOWN_MAX = 64,   /* bytes of a bad value in an error text */
};

/* How the values of a type become what they are. */
struct form {
    type_parse parse;
    enum schema_known schema;
    /* Or, where the typmod or a mode decides: sets both, and `scale` where there is one. */
    bool (*settle)(struct column_type *type, struct wr_arena *arena);
};

#define AS(parse_, known)                                                                          \
    {                                                                                              \
        .parse = (parse_), .schema = (known)                                                       \
    }
#define SETTLED(settle_)                                                                           \
    {                                                                                              \
        .settle = (settle_)                                                                        \
    }

/* One of the built-in types that are published. */
struct builtin {
    uint32_t oid;
    uint32_t array_oid;
    const char *name;
    struct form form;
};

/* Oids from PostgreSQL's pg_type.dat. What is not here is unknown to Debezium, too. */
static const struct builtin BUILTINS[] = {
    {16, 1000, "bool", AS(bool_parse, KNOWN_BOOLEAN)},
    {17, 1001, "bytea", SETTLED(bytea_settle)},
    {18, 1002, "char", AS(text_parse, KNOWN_STRING)},
    {19, 1003, "name", AS(text_parse, KNOWN_STRING)},
    {20, 1016, "int8", AS(int8_parse, KNOWN_INT64)},
    {21, 1005, "int2", AS(int2_parse, KNOWN_INT16)},
    {23, 1007, "int4", AS(int4_parse, KNOWN_INT32)},
    {25, 1009, "text", AS(text_parse, KNOWN_STRING)},
    {26, 1028, "oid", AS(oid_parse, KNOWN_INT64)},
    {114, 199, "json", AS(text_parse, KNOWN_JSON)},
    {142, 143, "xml", AS(text_parse, KNOWN_XML)},
    {600, 1017, "point", AS(point_parse, KNOWN_POINT)},
    {650, 651, "cidr", AS(text_parse, KNOWN_STRING)},
    {700, 1021, "float4", AS(float4_parse, KNOWN_FLOAT32)},
    {701, 1022, "float8", AS(float8_parse, KNOWN_FLOAT64)},
    {774, 775, "macaddr8", AS(text_parse, KNOWN_STRING)},
    {790, 791, "money", SETTLED(money_settle)},
    {829, 1040, "macaddr", AS(text_parse, KNOWN_STRING)},
    {869, 1041, "inet", AS(text_parse, KNOWN_STRING)},
    {1042, 1014, "bpchar", AS(text_parse, KNOWN_STRING)},
    {1043, 1015, "varchar", AS(text_parse, KNOWN_STRING)},
    {1082, 1182, "date", SETTLED(date_settle)},
    {1083, 1183, "time", SETTLED(time_settle)},
    {1114, 1115, "timestamp", SETTLED(timestamp_settle)},
    {1184, 1185, "timestamptz", SETTLED(timestamptz_settle)},
    {1186, 1187, "interval", SETTLED(interval_settle)},
    {1266, 1270, "timetz", AS(timetz_parse, KNOWN_ZONED_TIME)},
    {1560, 1561, "bit", SETTLED(bits_settle)},
    {1562, 1563, "varbit", SETTLED(bits_settle)},
    {1700, 1231, "numeric", SETTLED(numeric_settle)},
    {2950, 2951, "uuid", AS(text_parse, KNOWN_UUID)},
    {3614, 3643, "tsvector", AS(text_parse, KNOWN_TSVECTOR)},
    {3802, 3807, "jsonb", AS(text_parse, KNOWN_JSON)},
    {3904, 3905, "int4range", AS(text_parse, KNOWN_STRING)},
    {3906, 3907, "numrange", AS(text_parse, KNOWN_STRING)},
    {3908, 3909, "tsrange", AS(text_parse, KNOWN_STRING)},
    {3910, 3911, "tstzrange", AS(text_parse, KNOWN_STRING)},
    {3912, 3913, "daterange", AS(text_parse, KNOWN_STRING)},
    {3926, 3927, "int8range", AS(text_parse, KNOWN_STRING)},
};

/* Types of extensions have no fixed oid; Debezium knows them by name, too. */
static const struct {
    const char *name;
    struct form form;
} NAMED[] = {
    {"citext", AS(text_parse, KNOWN_STRING)},
    {"geography", AS(postgis_parse, KNOWN_GEOGRAPHY)},
    {"geometry", AS(postgis_parse, KNOWN_GEOMETRY)},
    {"halfvec", AS(halfvec_parse, KNOWN_FLOAT_VECTOR)},
    {"hstore", SETTLED(hstore_settle)},
    {"isbn", AS(text_parse, KNOWN_STRING)},
    {"ltree", AS(text_parse, KNOWN_LTREE)},
    {"sparsevec", AS(sparsevec_parse, KNOWN_SPARSE_DOUBLE_VECTOR)},
    {"vector", AS(vector_parse, KNOWN_DOUBLE_VECTOR)},
};

static const struct form TEXT = AS(text_parse, KNOWN_STRING);
static const struct form OPAQUE = SETTLED(opaque_settle);

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
    return (struct column_type){
        .oid = oid, .typmod = typmod, .delimiter = ',', .options = c->options, .name = ""};
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

static enum wr_status settle(struct compiler *c, const struct form *form, struct column_type *out)
{
    if (form->settle != NULL) {
        return form->settle(out, c->arena) ? WR_OK : arena_full(c);
    }
    out->parse = form->parse;
    out->schema = schema_known(form->schema);
    return WR_OK;
}

static enum wr_status settle_unknown(struct compiler *c, const char *name, struct column_type *out)
{
    out->name = name;
    if (!out->options->include_unknown_datatypes) {
        return WR_OK;
    }
    enum wr_status status = settle(c, &OPAQUE, out);
    if (geometry_is_shape(out->oid)) {
        out->parse = shape_parse;
    }
    return status;
}

static bool is_enum(const struct schema *schema)
{
    return schema->name != NULL && strcmp(schema->name, ENUM_NAME) == 0;
}

/* Any element may be null, but of enums Debezium does not say so. */
static enum wr_status settle_array(struct compiler *c, struct column_type *array)
{
    const struct schema *element = array->element->schema;
    struct schema *schema = schema_new(c->arena, SCHEMA_ARRAY);

    element = schema_with_optional(c->arena, element, !is_enum(element));
    if (schema == NULL || element == NULL) {
        return arena_full(c);
    }
    schema->element = element;
    array->schema = schema;
    array->parse = array_parse;
    return WR_OK;
}

/* io.debezium.data.Enum: text, with the labels as a parameter. */
static enum wr_status settle_enum(struct compiler *c, const struct type_info *info,
                                  struct column_type *out)
{
    struct schema *schema = schema_new(c->arena, SCHEMA_STRING);
    struct schema_parameter *allowed = wr_arena_alloc(c->arena, 1, sizeof(*allowed));

    if (schema == NULL || allowed == NULL) {
        return arena_full(c);
    }
    *allowed = (struct schema_parameter){"allowed", info->labels};
    schema->name = ENUM_NAME;
    schema->version = 1;
    schema->parameters = allowed;
    schema->parameter_count = 1;
    out->schema = schema;
    out->parse = text_parse;
    return WR_OK;
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
    return element->parse == NULL ? WR_OK : settle_array(c, out);
}

static const struct form *form_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof(NAMED) / sizeof(NAMED[0]); i++) {
        if (strcmp(NAMED[i].name, name) == 0) {
            return &NAMED[i].form;
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
        return settle(c, &TEXT, out);
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
    out->delimiter = info.delimiter;
    if (info.typtype == 'e') {
        return settle_enum(c, &info, out);
    }
    const struct form *form = info.typtype == 'b' ? form_of_name(info.name) : NULL;
    return form == NULL ? settle_unknown(c, info.name, out) : settle(c, form, out);
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
        out->name = builtin->name;
        return settle(c, &builtin->form, out);
    }
    if (oid < OID_PINNED_END && !c->options->include_unknown_datatypes) {
        return settle_unknown(c, "unknown type", out);
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
