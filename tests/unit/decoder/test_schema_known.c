#include "decoder/schema_known.h"
#include "show_schema.h"

#define DECIMAL "bytes org.apache.kafka.connect.data.Decimal:1 scale="

TestSuite(schema_known, .init = open_values, .fini = close_values);

Test(schema_known, has_its_place_as_its_id_and_lets_later_ones_begin_behind_it)
{
    for (int i = SCHEMA_KNOWN_NONE + 1; i < SCHEMA_KNOWN_COUNT; i++) {
        cr_expect_eq(schema_known((enum schema_known)i)->id, (uint64_t)i);
    }
    cr_expect_geq(schema_new(arena, SCHEMA_INT32)->id, SCHEMA_KNOWN_COUNT);
}

Test(schema_known, is_what_debezium_says_of_each_built_in_type)
{
    static const struct schema_case cases[] = {
        {16, -1, "boolean"},
        {17, -1, "bytes"},
        {18, -1, "string"},
        {20, -1, "int64"},
        {21, -1, "int16"},
        {23, -1, "int32"},
        {25, -1, "string"},
        {26, -1, "int64"},
        {114, -1, "string io.debezium.data.Json:1"},
        {142, -1, "string io.debezium.data.Xml:1"},
        {600, -1,
         "struct io.debezium.data.geometry.Point:1 'Geometry (POINT)' {x: double, y: double, "
         "wkb: bytes?, srid: int32?}"},
        {700, -1, "float"},
        {701, -1, "double"},
        {790, -1, DECIMAL "2"},
        {869, -1, "string"},
        {1043, 44, "string"},
        {1082, -1, "int32 io.debezium.time.Date:1"},
        {1083, -1, "int64 io.debezium.time.MicroTime:1"},
        {1083, 3, "int32 io.debezium.time.Time:1"},
        {1114, -1, "int64 io.debezium.time.MicroTimestamp:1"},
        {1114, 0, "int64 io.debezium.time.Timestamp:1"},
        {1184, 3, "string io.debezium.time.ZonedTimestamp:1"},
        {1186, -1, "int64 io.debezium.time.MicroDuration:1"},
        {1266, -1, "string io.debezium.time.ZonedTime:1"},
        {1560, 1, "boolean"},
        {1560, 8, "bytes io.debezium.data.Bits:1 length=8"},
        {1562, -1, "bytes io.debezium.data.Bits:1 length=2147483647"},
        {1700, NUMERIC_TYPMOD(38, 10), DECIMAL "10 connect.decimal.precision=38"},
        {1700, NUMERIC_TYPMOD(5, -3), DECIMAL "-3 connect.decimal.precision=5"},
        {1700, -1,
         "struct io.debezium.data.VariableScaleDecimal:1 'Variable scaled decimal' {scale: int32, "
         "value: bytes}"},
        {2950, -1, "string io.debezium.data.Uuid:1"},
        {3614, -1, "string io.debezium.data.Tsvector:1"},
        {3904, -1, "string"},
    };

    EXPECT_SCHEMAS(cases);
}

Test(schema_known, is_what_debezium_says_of_types_that_the_catalog_tells)
{
    static const struct schema_case cases[] = {
        {OID_CITEXT, -1, "string"},
        {OID_HSTORE, -1, "string io.debezium.data.Json:1"},
        {OID_LTREE, -1, "string io.debezium.data.Ltree:1"},
        {OID_MOOD, -1, "string io.debezium.data.Enum:1 allowed=sad,ok,happy"},
        {OID_PRICE_ABOVE, -1, DECIMAL "3 connect.decimal.precision=8"},
        {OID_GONE, -1, "string"},
    };

    EXPECT_SCHEMAS(cases);
}

Test(schema_known, has_optional_elements_in_arrays_but_of_enums)
{
    static const struct schema_case cases[] = {
        {1007, -1, "array [int32?]"},
        {1231, NUMERIC_TYPMOD(6, 2),
         "array [bytes? org.apache.kafka.connect.data.Decimal:1 "
         "scale=2 connect.decimal.precision=6]"},
        {1185, -1, "array [string? io.debezium.time.ZonedTimestamp:1]"},
        {OID_MOOD_ARRAY, -1, "array [string io.debezium.data.Enum:1 allowed=sad,ok,happy]"},
        {OID_TAGS, -1, "array [string?]"},
    };

    EXPECT_SCHEMAS(cases);
}

Test(schema_known, follows_the_modes)
{
    options.decimal_handling_mode = DECIMAL_HANDLING_DOUBLE;
    cr_expect_str_eq(show_schema(1700, NUMERIC_TYPMOD(5, 2)), "double");
    cr_expect_str_eq(show_schema(790, -1), "double");
    options.decimal_handling_mode = DECIMAL_HANDLING_STRING;
    cr_expect_str_eq(show_schema(1700, -1), "string");
    cr_expect_str_eq(show_schema(790, -1), "string");
    options.binary_handling_mode = BINARY_HANDLING_HEX;
    cr_expect_str_eq(show_schema(17, -1), "string");
    cr_expect_str_eq(show_schema(OID_PAIR, -1), "none");
    options.include_unknown_datatypes = true;
    cr_expect_str_eq(show_schema(OID_PAIR_ARRAY, -1), "array [string?]");
    options.binary_handling_mode = BINARY_HANDLING_BYTES;
    cr_expect_str_eq(show_schema(OID_PAIR, -1), "bytes");
}

Test(schema_known, keeps_within_the_arena)
{
    static const struct {
        uint32_t oid;
        int32_t typmod;
    } cases[] = {{1700, NUMERIC_TYPMOD(5, 2)}, {1560, 8}, {790, -1}, {1007, -1}, {OID_MOOD, -1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_arena *full = wr_arena_new(0);
        struct column_type type;
        cr_expect_eq(type_compile(&options, &CATALOG_SOURCE, cases[i].oid, cases[i].typmod, full,
                                  &type, &err),
                     WR_FATAL, "type %u", cases[i].oid);
        wr_arena_free(full);
    }
}
