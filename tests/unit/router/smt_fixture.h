/* smt_fixture.h - one record under one transform, with the schema of what it becomes as text. */
#ifndef WR_TESTS_UNIT_ROUTER_SMT_FIXTURE_H
#define WR_TESTS_UNIT_ROUTER_SMT_FIXTURE_H

#include "config/transform_config.h"
#include "decoder/schema.h"
#include "fixture.h"
#include "router/transform.h"

/* One field of what a test starts from. */
struct given {
    const char *name;
    const struct schema *schema;
    struct datum value;
};

static struct transform_config smt; /* what the test fills: name, kind, is_key, as */
static struct record record;
static struct change smt_change;
static struct relation smt_relation;
static struct transform transform;
static void *smt_compiled; /* the transform's own, for the relation */
static bool kept;

#define GIVEN(...) (struct given[]){__VA_ARGS__}, COUNT(((struct given[]){__VA_ARGS__}))

static inline struct datum an_int(int64_t value)
{
    return (struct datum){.kind = DATUM_INT, .as.integer = value};
}

static inline struct datum a_text(const char *text)
{
    return (struct datum){.kind = DATUM_STRING, .as.bytes = wr_slice_str(text)};
}

static inline struct datum a_float(enum datum_kind kind, const char *text)
{
    return (struct datum){.kind = kind, .as.bytes = wr_slice_str(text)};
}

static inline struct datum a_bool(bool value)
{
    return (struct datum){.kind = DATUM_BOOL, .as.boolean = value};
}

static inline struct datum some_bytes(const char *bytes, size_t size)
{
    return (struct datum){.kind = DATUM_BYTES, .as.bytes = {bytes, size}};
}

static const struct datum A_NULL = {.kind = DATUM_NULL};

static inline struct schema *of_type(enum schema_type type)
{
    return schema_new(smt_relation.arena, type);
}

static inline struct schema *optional_of_type(enum schema_type type)
{
    struct schema *schema = of_type(type);

    schema->is_optional = true;
    return schema;
}

static inline struct schema *named(enum schema_type type, const char *name)
{
    struct schema *schema = of_type(type);

    schema->name = name;
    schema->version = 1;
    return schema;
}

static inline struct schema *with_default(enum schema_type type, struct datum value)
{
    struct schema *schema = optional_of_type(type);
    struct datum *copy = wr_arena_alloc(smt_relation.arena, 1, sizeof(*copy));

    *copy = value;
    schema->default_value = copy;
    return schema;
}

static inline struct schema *a_decimal(const char *scale)
{
    struct schema *schema = named(SCHEMA_BYTES, "org.apache.kafka.connect.data.Decimal");
    struct schema_parameter *parameter = wr_arena_alloc(smt_relation.arena, 1, sizeof(*parameter));

    *parameter = (struct schema_parameter){"scale", scale};
    schema->parameters = parameter;
    schema->parameter_count = 1;
    return schema;
}

static inline struct schema *struct_schema(const struct given *given, size_t count)
{
    struct schema *schema = of_type(SCHEMA_STRUCT);
    struct schema_field *fields = wr_arena_alloc(smt_relation.arena, count + 1, sizeof(*fields));

    for (size_t i = 0; i < count; i++) {
        fields[i] = (struct schema_field){wr_slice_str(given[i].name), given[i].schema};
    }
    schema->fields = fields;
    schema->field_count = count;
    return schema;
}

static inline struct datum struct_datum(const struct given *given, size_t count)
{
    struct datum_field *fields = wr_arena_alloc(smt_relation.arena, count + 1, sizeof(*fields));

    for (size_t i = 0; i < count; i++) {
        fields[i] = (struct datum_field){wr_slice_str(given[i].name), given[i].value};
    }
    return (struct datum){.kind = DATUM_STRUCT, .as.structure = {fields, count}};
}

/* A structure named Row. */
static inline struct record_part a_struct(const struct given *given, size_t count)
{
    struct schema *schema = struct_schema(given, count);

    schema->name = "Row";
    return (struct record_part){
        .kind = PART_DATUM, .schema = schema, .as.datum = struct_datum(given, count)};
}

static inline struct record_part a_part(const struct schema *schema, struct datum value)
{
    return (struct record_part){.kind = PART_DATUM, .schema = schema, .as.datum = value};
}

static inline void open_smt(void)
{
    open_fixture();
    smt = (struct transform_config){.name = "t"};
    smt_relation = (struct relation){
        .arena = wr_arena_new(WR_RELATION_SIZE_MAX), .schema = "public", .table = "orders"};
    smt_change = (struct change){.op = OP_CREATE, .relation = &smt_relation};
    record = (struct record){
        .change = &smt_change,
        .topic = WR_SLICE("shop.public.orders"),
        .partition = -1,
        .timestamp_ms = -1,
    };
    smt_compiled = NULL;
}

static inline void close_smt(void)
{
    if (transform.ops != NULL && transform.ops->free != NULL) {
        transform.ops->free(&transform);
    }
    wr_arena_free(smt_relation.arena);
    close_fixture();
}

static inline enum wr_status make_transform(const struct transform_ops *ops)
{
    transform = (struct transform){.ops = ops, .config = &smt};
    enum wr_status status = ops->make(&smt, &transform, &err);
    if (status == WR_OK && ops->compile != NULL) {
        cr_assert_eq(ops->compile(&transform, &smt_relation, &smt_compiled, &err), WR_OK);
    }
    return status;
}

/* Sends `record` through; the transform is made when the test has not done so. */
static inline enum wr_status apply(const struct transform_ops *ops)
{
    if (transform.ops == NULL) {
        cr_assert_eq(make_transform(ops), WR_OK, "%s", err.text);
    }
    err.text[0] = '\0';
    return ops->apply(&transform, smt_compiled, &record, scratch, &kept, &err);
}

static inline void say_schema(const struct schema *schema)
{
    static const char *const NAMES[] = {
        [SCHEMA_INT8] = "int8",       [SCHEMA_INT16] = "int16",     [SCHEMA_INT32] = "int32",
        [SCHEMA_INT64] = "int64",     [SCHEMA_FLOAT32] = "float32", [SCHEMA_FLOAT64] = "float64",
        [SCHEMA_BOOLEAN] = "boolean", [SCHEMA_STRING] = "string",   [SCHEMA_BYTES] = "bytes",
        [SCHEMA_ARRAY] = "array",     [SCHEMA_MAP] = "map",         [SCHEMA_STRUCT] = "",
    };

    if (schema == NULL) {
        say("none");
        return;
    }
    say("%s", NAMES[schema->type]);
    if (schema->name != NULL) {
        const char *last = strrchr(schema->name, '.');
        say(schema->type == SCHEMA_STRUCT ? "%s" : " %s", last == NULL ? schema->name : last + 1);
    }
    if (schema->version != 0) {
        say(" v%d", schema->version);
    }
    for (size_t i = 0; i < schema->parameter_count; i++) {
        say(" %s=%s", schema->parameters[i].name, schema->parameters[i].value);
    }
    if (schema->type == SCHEMA_STRUCT) {
        say("{");
        for (size_t i = 0; i < schema->field_count; i++) {
            say("%s%.*s ", i == 0 ? "" : ", ", (int)schema->fields[i].name.size,
                schema->fields[i].name.data);
            say_schema(schema->fields[i].schema);
        }
        say("}");
    }
    say("%s", schema->is_optional ? "?" : "");
    if (schema->default_value != NULL) {
        say("=");
        say_datum(schema->default_value);
    }
}

/* "schema | value", or "null". */
static inline const char *told(const struct record_part *part)
{
    emitted_size = 0;
    emitted[0] = '\0';
    if (part->kind == PART_NULL) {
        say("null");
        return emitted;
    }
    cr_assert_eq(part->kind, PART_DATUM);
    say_schema(part->schema);
    say(" | ");
    say_datum(&part->as.datum);
    return emitted;
}

#define EXPECT_PART(part, text) cr_expect_str_eq(told(&(part)), (text), "got: %s", emitted)

#define EXPECT_REJECT(ops, expected)                                                               \
    do {                                                                                           \
        cr_expect_eq(apply(&(ops)), WR_REJECT);                                                    \
        cr_expect_str_eq(err.text, "public.orders: transforms.t: " expected, "got: %s", err.text); \
    } while (0)

/* Applies it, checks the value, and does so once more: the second time the schema is known. */
static inline void expect_value(const struct transform_ops *ops, const char *text)
{
    const struct record_part before = record.value;
    const struct record_part key_before = record.key;

    cr_assert_eq(apply(ops), WR_OK, "%s", err.text);
    cr_expect(kept);
    const struct schema *schema = record.value.kind == PART_NULL ? NULL : record.value.schema;
    EXPECT_PART(record.value, text);
    record.value = before;
    record.key = key_before;
    record.header_count = 0;
    cr_assert_eq(apply(ops), WR_OK, "%s", err.text);
    EXPECT_PART(record.value, text);
    if (schema != NULL) {
        cr_expect_eq(record.value.schema->id, schema->id, "a schema is made once");
    }
}

#endif /* WR_TESTS_UNIT_ROUTER_SMT_FIXTURE_H */
