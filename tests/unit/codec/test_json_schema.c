#include "codec/json_schema.h"
#include "decoder/schema.h"
#include "fixture.h"

TestSuite(json_schema, .init = open_codec, .fini = close_codec);

static void expect_schema(const struct schema *schema, const char *expected)
{
    wr_buffer_reset(&written);
    json_schema_write(&written, schema);
    EXPECT_WRITTEN(expected);
}

Test(json_schema, of_a_simple_type_is_its_name)
{
    static const char *const NAMES[] = {"int8",   "int16",   "int32",  "int64", "float",
                                        "double", "boolean", "string", "bytes"};

    for (enum schema_type type = SCHEMA_INT8; type <= SCHEMA_BYTES; type++) {
        char expected[64];
        snprintf(expected, sizeof(expected), "{\"type\":\"%s\",\"optional\":false}", NAMES[type]);
        expect_schema(schema_plain(type, false), expected);
    }
    expect_schema(schema_plain(SCHEMA_BYTES, true), "{\"type\":\"bytes\",\"optional\":true}");
    expect_schema(NULL, "null");
}

Test(json_schema, has_what_it_has_in_connects_order)
{
    static const struct schema_parameter PARAMETERS[] = {{"scale", "1"}, {"a\"b", "c"}};
    static const struct datum DEFAULT = {.kind = DATUM_BYTES, .as.bytes = {"\x0f", 1}};
    struct schema *schema = schema_new(scratch, SCHEMA_BYTES);

    schema->name = "org.apache.kafka.connect.data.Decimal";
    schema->version = 1;
    schema->doc = "money";
    schema->parameters = PARAMETERS;
    schema->parameter_count = 2;
    schema->default_value = &DEFAULT;
    expect_schema(schema, "{\"type\":\"bytes\",\"optional\":false,"
                          "\"name\":\"org.apache.kafka.connect.data.Decimal\",\"version\":1,"
                          "\"doc\":\"money\",\"parameters\":{\"scale\":\"1\",\"a\\\"b\":\"c\"},"
                          "\"default\":\"Dw==\"}");
}

Test(json_schema, of_arrays_and_maps_holds_those_of_their_elements)
{
    struct schema *array = schema_new(scratch, SCHEMA_ARRAY);
    struct schema *map = schema_new(scratch, SCHEMA_MAP);

    array->element = schema_plain(SCHEMA_STRING, true);
    expect_schema(array, "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"optional\":true},"
                         "\"optional\":false}");
    map->key = schema_plain(SCHEMA_INT16, false);
    map->element = array;
    map->is_optional = true;
    expect_schema(map, "{\"type\":\"map\",\"keys\":{\"type\":\"int16\",\"optional\":false},"
                       "\"values\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
                       "\"optional\":true},\"optional\":false},\"optional\":true}");
}

Test(json_schema, of_a_struct_holds_its_fields_each_with_its_name)
{
    const struct schema_field fields[] = {{WR_SLICE("id"), schema_plain(SCHEMA_INT64, false)},
                                          {WR_SLICE("a\"b"), schema_plain(SCHEMA_STRING, true)}};

    expect_schema(schema_struct(scratch, "shop.Key", 0, fields, 2),
                  "{\"type\":\"struct\",\"fields\":["
                  "{\"type\":\"int64\",\"optional\":false,\"field\":\"id\"},"
                  "{\"type\":\"string\",\"optional\":true,\"field\":\"a\\\"b\"}],"
                  "\"optional\":false,\"name\":\"shop.Key\"}");
    expect_schema(schema_struct(scratch, NULL, 3, NULL, 0),
                  "{\"type\":\"struct\",\"fields\":[],\"optional\":false,\"version\":3}");
}

static struct json_schemas *schemas;

static void expect_kept(const struct schema *schema)
{
    struct wr_buffer expected;

    wr_buffer_init(&expected, 1 << 22);
    json_schema_write(&expected, schema);
    wr_buffer_reset(&written);
    json_schemas_add(schemas, &written, schema);
    cr_expect(wr_slice_eq(wr_buffer_slice(&written), wr_buffer_slice(&expected)));
    wr_buffer_done(&expected);
}

Test(json_schema, is_the_same_text_when_it_was_kept)
{
    schemas = json_schemas_new();
    for (int round = 0; round < 3; round++) {
        expect_kept(schema_plain(SCHEMA_INT32, false));
        expect_kept(schema_plain(SCHEMA_INT32, true));
        expect_kept(NULL);
    }
    json_schemas_free(schemas);
}

/* More than there is room for, in number and in bytes; every one is asked for again. */
Test(json_schema, is_right_also_when_more_come_than_are_kept)
{
    enum { COUNT_OF_SCHEMAS = 6000 };
    const struct schema **all = wr_arena_alloc(scratch, COUNT_OF_SCHEMAS, sizeof(*all));
    struct wr_arena *arena = wr_arena_new(64 << 20);
    char *name = wr_arena_alloc(arena, 8000, 1);

    memset(name, 'x', 7999);
    schemas = json_schemas_new();
    for (int i = 0; i < COUNT_OF_SCHEMAS; i++) {
        struct schema *schema = schema_new(arena, i % 2 == 0 ? SCHEMA_INT32 : SCHEMA_STRING);
        schema->name = wr_arena_printf(arena, "%d", i);
        schema->doc = i % 3 == 0 ? name : NULL;
        all[i] = schema;
        expect_kept(schema);
    }
    for (int i = 0; i < COUNT_OF_SCHEMAS; i++) {
        expect_kept(all[i]);
    }
    json_schemas_free(schemas);
    wr_arena_free(arena);
}

/* Once refused for its size, once written: the text that was cut is not the one that is kept. */
Test(json_schema, is_not_kept_where_it_did_not_fit)
{
    const struct schema *schema = schema_plain(SCHEMA_STRING, false);
    struct wr_buffer small;

    schemas = json_schemas_new();
    wr_buffer_init(&small, 10);
    json_schemas_add(schemas, &small, schema);
    cr_expect(small.failed);
    wr_buffer_done(&small);
    expect_kept(schema);
    json_schemas_free(schemas);
}
