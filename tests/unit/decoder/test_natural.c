#include "decoder/natural.h"
#include "show_value.h"

/* pg_type.dat */
enum {
    BOOL = 16,
    BYTEA = 17,
    CHAR = 18,
    INT8 = 20,
    INT2 = 21,
    INT4 = 23,
    TEXT = 25,
    OID = 26,
    JSON = 114,
    POINT = 600,
    BOX = 603,
    FLOAT4 = 700,
    FLOAT8 = 701,
    MONEY = 790,
    INET = 869,
    BYTEA_ARRAY = 1001,
    INT4_ARRAY = 1007,
    TEXT_ARRAY = 1009,
    BPCHAR = 1042,
    VARCHAR = 1043,
    DATE = 1082,
    TIME = 1083,
    TIMESTAMP = 1114,
    TIMESTAMP_ARRAY = 1115,
    TIMESTAMPTZ = 1184,
    INTERVAL = 1186,
    NUMERIC_ARRAY = 1231,
    TIMETZ = 1266,
    BIT = 1560,
    NUMERIC = 1700,
    UUID = 2950,
    TSQUERY = 3615,
    JSONB = 3802,
    JSONB_ARRAY = 3807,
    INT4RANGE = 3904,
};

TestSuite(natural, .init = open_values, .fini = close_values);

/* The value as JSON and, behind a bar, as plain text where that is another one. */
static const char *show_natural(uint32_t oid, const char *text)
{
    struct column_type *type = wr_arena_alloc(arena, 1, sizeof(*type));
    struct wr_buffer json, plain;
    size_t size = strlen(text);
    char *exact = malloc(size == 0 ? 1 : size);

    *type = compiled(oid, -1);
    memcpy(exact, text, size);
    const struct natural_type *natural = natural_type_new(type, arena);
    cr_assert_not_null(natural);
    wr_buffer_init(&json, 1 << 16);
    wr_buffer_init(&plain, 1 << 16);
    enum wr_status status =
        natural_json(natural, (struct wr_slice){exact, size}, arena, &json, &err);
    enum wr_status plain_status =
        natural_text(natural, (struct wr_slice){exact, size}, arena, &plain, &err);
    cr_expect_eq(status, plain_status);
    bool is_same = wr_slice_eq(wr_buffer_slice(&json), wr_buffer_slice(&plain));
    if (status != WR_OK) {
        snprintf(shown, sizeof(shown), "%s", err.text);
    } else {
        snprintf(shown, sizeof(shown), "%.*s%s%.*s", (int)json.size, json.data,
                 is_same ? "" : " | ", is_same ? 0 : (int)plain.size,
                 is_same           ? ""
                 : plain.size == 0 ? ""
                                   : plain.data);
    }
    wr_buffer_done(&json);
    wr_buffer_done(&plain);
    free(exact);
    return shown;
}

#define expect_natural(oid, text, expected)                                                        \
    cr_expect_str_eq(show_natural((oid), (text)), (expected))

Test(natural, numbers_are_written_digit_for_digit)
{
    expect_natural(INT2, "-32768", "-32768");
    expect_natural(INT4, "0", "0");
    expect_natural(INT8, "9223372036854775807", "9223372036854775807");
    expect_natural(OID, "4294967295", "4294967295");
    expect_natural(NUMERIC, "12345678901234567890123456789.0123456789000",
                   "12345678901234567890123456789.0123456789000");
    expect_natural(NUMERIC, "-0.10", "-0.10");
    expect_natural(FLOAT4, "1e-45", "1e-45");
    expect_natural(FLOAT8, "0.30000000000000004", "0.30000000000000004");
    expect_natural(FLOAT8, "1e+300", "1e+300");
    expect_natural(FLOAT8, "-0", "-0");
    expect_natural(MONEY, "-$1,234.56", "-1234.56");
    expect_natural(OID_PRICE, "12.345", "12.345");
}

Test(natural, what_is_no_number_is_a_string)
{
    expect_natural(NUMERIC, "NaN", "\"NaN\" | NaN");
    expect_natural(NUMERIC, "Infinity", "\"Infinity\" | Infinity");
    expect_natural(FLOAT4, "-Infinity", "\"-Infinity\" | -Infinity");
    expect_natural(FLOAT8, "NaN", "\"NaN\" | NaN");
}

Test(natural, times_are_iso_8601_in_utc)
{
    expect_natural(DATE, "2026-05-01", "\"2026-05-01\" | 2026-05-01");
    expect_natural(DATE, "0044-03-15 BC", "\"-0043-03-15\" | -0043-03-15");
    expect_natural(DATE, "-infinity", "\"-infinity\" | -infinity");
    expect_natural(TIME, "24:00:00", "\"24:00:00\" | 24:00:00");
    expect_natural(TIMETZ, "12:34:56.789+02", "\"10:34:56.789Z\" | 10:34:56.789Z");
    expect_natural(TIMESTAMP, "2026-05-01 12:34:56",
                   "\"2026-05-01T12:34:56\" | 2026-05-01T12:34:56");
    expect_natural(TIMESTAMP, "10000-01-01 00:00:00.5",
                   "\"+10000-01-01T00:00:00.5\" | +10000-01-01T00:00:00.5");
    expect_natural(TIMESTAMP, "0001-01-01 00:00:00 BC",
                   "\"0000-01-01T00:00:00\" | 0000-01-01T00:00:00");
    expect_natural(TIMESTAMPTZ, "2026-05-01 12:34:56.789012+00",
                   "\"2026-05-01T12:34:56.789012Z\" | 2026-05-01T12:34:56.789012Z");
    expect_natural(TIMESTAMPTZ, "2026-05-01 00:30:00+02",
                   "\"2026-04-30T22:30:00Z\" | 2026-04-30T22:30:00Z");
    expect_natural(TIMESTAMPTZ, "0044-03-15 12:00:00+00 BC",
                   "\"-0043-03-15T12:00:00Z\" | -0043-03-15T12:00:00Z");
    expect_natural(TIMESTAMPTZ, "infinity", "\"infinity\" | infinity");
    expect_natural(INTERVAL, "1 year 2 mons -3 days 04:05:06.7",
                   "\"P1Y2M-3DT4H5M6.7S\" | P1Y2M-3DT4H5M6.7S");
    expect_natural(INTERVAL, "-infinity", "\"-infinity\" | -infinity");
}

Test(natural, json_is_embedded_as_it_is)
{
    expect_natural(JSONB, "{\"a\": 1.50, \"b\": null}", "{\"a\": 1.50, \"b\": null}");
    expect_natural(JSON, " {\"a\" : 1e2,\n \"a\":[ ]}", " {\"a\" : 1e2,\n \"a\":[ ]}");
    expect_natural(JSONB, "\"a\\\"b\"", "\"a\\\"b\" | a\"b");
    expect_natural(JSONB, "null", "null");
}

Test(natural, everything_else_is_its_text)
{
    expect_natural(BOOL, "t", "true");
    expect_natural(BOOL, "f", "false");
    expect_natural(TEXT, "a\"b\\\n\x01", "\"a\\\"b\\\\\\n\\u0001\" | a\"b\\\n\x01");
    expect_natural(TEXT, "", "\"\" | ");
    expect_natural(BPCHAR, "ab ", "\"ab \" | ab ");
    expect_natural(BYTEA, "\\xdeadbeef", "\"3q2+7w==\" | 3q2+7w==");
    expect_natural(BYTEA, "\\x", "\"\" | ");
    expect_natural(UUID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                   "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\" | "
                   "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
    expect_natural(INET, "::1/128", "\"::1/128\" | ::1/128");
    expect_natural(POINT, "(1,2)", "\"(1,2)\" | (1,2)");
    expect_natural(BIT, "0101", "\"0101\" | 0101");
    expect_natural(INT4RANGE, "[1,5)", "\"[1,5)\" | [1,5)");
    expect_natural(OID_MOOD, "happy", "\"happy\" | happy");
    expect_natural(OID_HSTORE, "\"k\"=>\"v\", \"n\"=>NULL", "{\"k\":\"v\",\"n\":null}");
    expect_natural(OID_HSTORE, "\"q\\\"\"=>\"\xff\"", "{\"q\\\"\":\"\xef\xbf\xbd\"}");
    expect_natural(OID_HSTORE, "", "{}");
}

Test(natural, types_that_debezium_leaves_out_are_text_too)
{
    expect_natural(BOX, "(1,1),(0,0)", "\"(1,1),(0,0)\" | (1,1),(0,0)");
    expect_natural(TSQUERY, "'a' & 'b'", "\"'a' & 'b'\" | 'a' & 'b'");
    expect_natural(OID_PAIR, "(1,\"a b\")", "\"(1,\\\"a b\\\")\" | (1,\"a b\")");
    expect_natural(OID_PAIR_ARRAY, "{\"(1,\\\"a b\\\")\",NULL}", "[\"(1,\\\"a b\\\")\",null]");
}

Test(natural, arrays_are_arrays)
{
    expect_natural(INT4_ARRAY, "{}", "[]");
    expect_natural(INT4_ARRAY, "{1,NULL,-3}", "[1,null,-3]");
    expect_natural(INT4_ARRAY, "{{1,2},{3,4}}", "[[1,2],[3,4]]");
    expect_natural(INT4_ARRAY, "[0:1][2:2]={{1},{2}}", "[[1],[2]]");
    expect_natural(TEXT_ARRAY, "{a,\"b,c\",\"q\\\"\\\\\",\"NULL\",NULL,\"\"}",
                   "[\"a\",\"b,c\",\"q\\\"\\\\\",\"NULL\",null,\"\"]");
    expect_natural(NUMERIC_ARRAY, "{1.50,NaN}", "[1.50,\"NaN\"]");
    expect_natural(TIMESTAMP_ARRAY, "{\"2026-05-01 00:00:00\",infinity}",
                   "[\"2026-05-01T00:00:00\",\"infinity\"]");
    expect_natural(JSONB_ARRAY, "{\"{\\\"a\\\": [1]}\",null}", "[{\"a\": [1]},null]");
    expect_natural(BYTEA_ARRAY, "{\"\\\\xff\"}", "[\"/w==\"]");
    expect_natural(OID_TAGS, "{a,NULL}", "[\"a\",null]");
    expect_natural(OID_MOOD_ARRAY, "{ok}", "[\"ok\"]");
}

Test(natural, text_of_another_type_is_refused)
{
    static const struct {
        uint32_t oid;
        const char *text;
    } cases[] = {
        {BOOL, "x"},
        {BOOL, ""},
        {INT4, ""},
        {INT4, "NaN"},
        {INT4, "1x"},
        {INT4, "01"},
        {NUMERIC, "1."},
        {NUMERIC, "nan"},
        {FLOAT8, "1e"},
        {FLOAT8, "-"},
        {JSONB, ""},
        {BYTEA, "\\xf"},
        {BYTEA, "\\xfg"},
        {BYTEA, "ff"},
        {BYTEA, ""},
        {DATE, "2026-05"},
        {TIMESTAMP, "2026-05-01 00:00:00+00 "},
        {TIMESTAMPTZ, "2026-05-01"},
        {INTERVAL, "x"},
        {INT4_ARRAY, ""},
        {INT4_ARRAY, "{"},
        {INT4_ARRAY, "{1"},
        {INT4_ARRAY, "{1,"},
        {INT4_ARRAY, "{1,}"},
        {INT4_ARRAY, "{1}}"},
        {INT4_ARRAY, "{\"1"},
        {INT4_ARRAY, "{\"1\\"},
        {INT4_ARRAY, "[1:2"},
        {INT4_ARRAY, "{{{{{{{1}}}}}}}"},
        {MONEY, "1"},
        {MONEY, "$0,223.00"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_not_null(strstr(show_natural(cases[i].oid, cases[i].text), "no right form"),
                           "%s: %s", cases[i].text, shown);
    }
}

static const char *name(uint32_t oid, int32_t typmod)
{
    struct column_type *type = wr_arena_alloc(arena, 1, sizeof(*type));

    *type = compiled(oid, typmod);
    return natural_type_new(type, arena)->name;
}

Test(natural, names_are_those_of_a_definition)
{
    cr_expect_str_eq(name(INT8, -1), "int8");
    cr_expect_str_eq(name(NUMERIC, -1), "numeric");
    cr_expect_str_eq(name(NUMERIC, NUMERIC_TYPMOD(10, 2)), "numeric(10,2)");
    cr_expect_str_eq(name(NUMERIC, (5 << 16 | (-2 & 0x7ff)) + 4), "numeric(5,-2)");
    cr_expect_str_eq(name(NUMERIC_ARRAY, NUMERIC_TYPMOD(10, 2)), "numeric(10,2)[]");
    cr_expect_str_eq(name(VARCHAR, 24), "varchar(20)");
    cr_expect_str_eq(name(TIMESTAMPTZ, 3), "timestamptz(3)");
    cr_expect_str_eq(name(BIT, 8), "bit(8)");
    cr_expect_str_eq(name(TEXT_ARRAY, -1), "text[]");
    cr_expect_str_eq(name(OID_PRICE, -1), "numeric(8,3)");
    cr_expect_str_eq(name(OID_MOOD, -1), "mood");
    cr_expect_str_eq(name(BOX, -1), "text");
    cr_expect_str_eq(name(OID_GONE, -1), "text");
}
