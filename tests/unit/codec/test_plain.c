#include "fixture.h"

TestSuite(plain, .init = open_codec, .fini = close_codec);

static void expect_plain(struct datum datum, const char *expected)
{
    wr_buffer_reset(&written);
    plain_datum(&written, &datum);
    EXPECT_WRITTEN(expected);
}

static void expect_header(struct datum datum, const char *expected)
{
    struct record_part part = {.kind = PART_DATUM, .as.datum = datum};

    wr_buffer_reset(&written);
    cr_assert_eq(plain_header(&written, &part, scratch, &err), WR_OK);
    EXPECT_WRITTEN(expected);
}

Test(plain, writes_simple_values_as_java_does)
{
    expect_plain((struct datum){0}, "null");
    expect_plain((struct datum){.kind = DATUM_BOOL, .as.boolean = true}, "true");
    expect_plain((struct datum){.kind = DATUM_BOOL, .as.boolean = false}, "false");
    expect_plain(an_int(INT64_MIN), "-9223372036854775808");
    expect_plain(a_string("it's \"so\"\n"), "it's \"so\"\n");
    expect_plain(a_string(""), "");
    expect_plain(a_json("{\"a\":1}"), "{\"a\":1}");
}

Test(plain, writes_floats_without_quotes)
{
    expect_plain(a_float(DATUM_FLOAT64, "0.1"), "0.1");
    expect_plain(a_float(DATUM_FLOAT32, "1e-45"), "1.4E-45");
    expect_plain(a_float(DATUM_FLOAT64, "1e+30"), "1.0E30");
    expect_plain(a_float(DATUM_FLOAT64, "NaN"), "NaN");
    expect_plain(a_float(DATUM_FLOAT64, "-Infinity"), "-Infinity");
}

Test(plain, writes_a_float_behind_other_text)
{
    struct datum nan = a_float(DATUM_FLOAT64, "NaN");
    struct datum number = a_float(DATUM_FLOAT64, "1.5");

    wr_buffer_add_str(&written, "\"x\"");
    plain_datum(&written, &nan);
    plain_datum(&written, &number);
    plain_datum(&written, &nan);
    EXPECT_WRITTEN("\"x\"NaN1.5NaN");
}

Test(plain, writes_bytes_as_the_wrapper_prints_itself)
{
    expect_plain(some_bytes("abc"), "java.nio.HeapByteBuffer[pos=0 lim=3 cap=3]");
}

Test(plain, writes_arrays_and_structures)
{
    expect_plain(an_array(), "[1, null, x]");
    expect_plain(a_struct(), "Struct{a=1,b=x}");
    expect_plain((struct datum){.kind = DATUM_ARRAY}, "[]");
    expect_plain((struct datum){.kind = DATUM_STRUCT}, "Struct{}");
}

Test(plain, writes_a_row)
{
    static const struct fixture_column COLUMNS[] = {
        {"id", INT4, true}, {"note", TEXT, false}, {"name", TEXT, false}};
    struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', COLUMNS));
    struct tuple tuple = make_tuple(relation, ROW("7", NULL, "a b"));
    struct row_view row = {.relation = relation,
                           .columns = relation->plan->value_columns,
                           .column_count = relation->plan->value_column_count,
                           .tuple = &tuple};

    cr_assert_eq(plain_row(&written, &row, scratch, &err), WR_OK);
    EXPECT_WRITTEN("Struct{id=7,name=a b}");
    tuple.cells[0].text = WR_SLICE("x");
    cr_expect_eq(plain_row(&written, &row, scratch, &err), WR_REJECT);
}

Test(plain, writes_headers_as_plain_text)
{
    expect_header(a_string("x \"y\""), "x \"y\"");
    expect_header(an_int(-5), "-5");
    expect_header((struct datum){.kind = DATUM_BOOL, .as.boolean = true}, "true");
    expect_header(a_float(DATUM_FLOAT64, "NaN"), "NaN");
    expect_header(a_json("[1]"), "[1]");
}

Test(plain, writes_bytes_of_a_header_in_base64)
{
    wr_buffer_reset(&written);
    expect_header(some_bytes("abcd"), "YWJjZA==");
    expect_header(some_bytes(""), "");
}

Test(plain, writes_structure_of_a_header_as_json)
{
    expect_header(an_array(), "[1,null,\"x\"]");
    expect_header(a_struct(), "{\"a\":1,\"n\\\"\":null,\"b\":\"x\"}");
}

/* The writer goes on after the buffer is full, and may touch nothing. */
Test(plain, survives_a_full_buffer)
{
    static const enum datum_kind KINDS[] = {DATUM_FLOAT64, DATUM_BYTES};

    for (size_t size_max = 0; size_max < 12; size_max++) {
        for (size_t i = 0; i < COUNT(KINDS); i++) {
            struct record_part part = {
                .kind = PART_DATUM,
                .as.datum = {.kind = KINDS[i], .as.bytes = WR_SLICE("-Infinity")}};
            struct wr_buffer small;
            wr_buffer_init(&small, size_max);
            cr_expect_eq(plain_header(&small, &part, scratch, &err), WR_OK);
            cr_expect_leq(small.size, size_max);
            cr_expect(small.failed || small.size == (KINDS[i] == DATUM_BYTES ? 12 : 9),
                      "%zu bytes of %zu", small.size, size_max);
            wr_buffer_done(&small);
        }
    }
}
