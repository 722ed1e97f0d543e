#include "router/transforms/header_literal.h"
#include "smt_fixture.h"

TestSuite(header_literal, .init = open_smt, .fini = close_smt);

static void expect(const char *literal, const char *text)
{
    struct record_part part;

    cr_assert(header_literal_parse(wr_slice_str(literal), scratch, &part));
    cr_expect_str_eq(told(&part), text, "%s: %s", literal, emitted);
}

/* All of these as Kafka 4.3's Values.parseString() has them. */
Test(header_literal, is_a_boolean)
{
    expect("true", "boolean | true");
    expect("false", "boolean | false");
    expect("TRUE", "string | 'TRUE'");
}

Test(header_literal, is_a_whole_number_of_the_smallest_type)
{
    expect("1", "int8 | 1");
    expect("+5", "int8 | 5");
    expect("007", "int8 | 7");
    expect("-128", "int8 | -128");
    expect("-129", "int16 | -129");
    expect("300", "int16 | 300");
    expect("70000", "int32 | 70000");
    expect("5000000000", "int64 | 5000000000");
    expect("9223372036854775807", "int64 | 9223372036854775807");
    expect("-9223372036854775808", "int64 | -9223372036854775808");
    expect("0", "int8 | 0");
    expect("-0.0", "int8 | 0");
}

Test(header_literal, is_a_whole_number_in_whatever_form)
{
    expect("1.0", "int8 | 1");
    expect("1e3", "int16 | 1000");
    expect("1.0E1", "int8 | 10");
    expect("1200e-2", "int8 | 12");
}

Test(header_literal, is_a_float_where_it_has_a_fraction)
{
    expect("1.50", "float32 | float 1.5");
    expect("0.1", "float32 | float 0.1");
    expect("1.123456789", "float32 | float 1.1234568");
    expect("123e-2", "float32 | float 1.23");
    expect("1e-50", "float32 | float 0");
    expect("3.4e39", "float64 | float 3.4e+39");
    expect("1e30", "float32 | float 1e+30");
    expect("1.12345678901234567890123", "float32 | float 1.1234568");
}

Test(header_literal, is_null)
{
    expect("null", "null");
}

Test(header_literal, is_the_text_that_it_is_otherwise)
{
    static const char *const texts[] = {
        "",           "boxoffice",
        "a,b",        "a:b",
        "12abc",      "v1.2",
        "1.2.3",      "1_000",
        "0x10",       "-",
        "+",          "NaN",
        "Infinity",   "1f",
        "1d",         "100%",
        "{a:b}",      "1 2",
        "127.0.0.1",  "127.0.0.1:8080",
        "é",          "9223372036854775808",
        "2020-01-01", "2020-01-01T10:20:30.000Z",
        "[1,2]",      "{\"a\":1}",
    };
    char expected[128];

    for (size_t i = 0; i < COUNT(texts); i++) {
        snprintf(expected, sizeof(expected), "string | '%s'", texts[i]);
        expect(texts[i], expected);
    }
}

/* Kafka's reads the number before the first colon or comma and forgets the rest. */
Test(header_literal, is_the_whole_text_behind_a_number_too)
{
    expect("10:20", "string | '10:20'");
    expect("1,2", "string | '1,2'");
}
