#include "decoder/decimal.h"
#include "show_value.h"

TestSuite(decimal, .init = open_values, .fini = close_values);

static struct decimal split(const char *text)
{
    struct decimal d;

    cr_assert(decimal_split(wr_slice_str(text), &d), "%s", text);
    return d;
}

Test(decimal, splits_at_the_point)
{
    struct decimal d = split("-12.50");

    cr_expect(d.is_negative);
    cr_expect(wr_slice_is(d.whole, "12"));
    cr_expect(wr_slice_is(d.fraction, "50"));
}

Test(decimal, splits_nothing_but_decimal_numbers)
{
    static const char *const texts[] = {"", "-", "1.", ".5", "1e5", "1.2.3", "--1", "1 ", "NaN"};
    struct decimal d;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_expect_not(decimal_split(wr_slice_str(texts[i]), &d), "'%s'", texts[i]);
    }
}

Test(decimal, fits_where_only_zeros_are_dropped)
{
    struct decimal d = split("12000.50");

    cr_expect(decimal_fits(&d, 2));
    cr_expect(decimal_fits(&d, 1));
    cr_expect_not(decimal_fits(&d, 0));
    cr_expect_not(decimal_fits(&d, -3));
    d = split("-12000");
    cr_expect(decimal_fits(&d, -3));
    cr_expect_not(decimal_fits(&d, -4));
    d = split("0");
    cr_expect(decimal_fits(&d, -1000));
    d = split("5");
    cr_expect_not(decimal_fits(&d, -1));
}

static void expect_unscaled(const char *text, int32_t scale, const char *expected)
{
    struct decimal d = split(text);

    shown_size = 0;
    shown[0] = '\0';
    struct wr_slice bytes = decimal_unscaled(&d, scale, arena);
    for (size_t i = 0; i < bytes.size; i++) {
        show("%02x", (unsigned char)bytes.data[i]);
    }
    cr_expect_str_eq(shown, expected, "%s at %d: %s instead of %s", text, scale, shown, expected);
}

Test(decimal, writes_the_shortest_twos_complement)
{
    expect_unscaled("0", 0, "00");
    expect_unscaled("-0", 0, "00");
    expect_unscaled("127", 0, "7f");
    expect_unscaled("128", 0, "0080");
    expect_unscaled("-128", 0, "80");
    expect_unscaled("-129", 0, "ff7f");
    expect_unscaled("1.5", 3, "05dc");
    expect_unscaled("255", 0, "00ff");
    expect_unscaled("-256", 0, "ff00");
}

/* Either side of 18 digits, where the arithmetic changes, and of the int64. */
Test(decimal, is_the_same_on_both_ways_of_counting)
{
    expect_unscaled("999999999999999999", 0, "0de0b6b3a763ffff");
    expect_unscaled("1000000000000000000", 0, "0de0b6b3a7640000");
    expect_unscaled("0000000000000000000000001", 0, "01");
    expect_unscaled("-0000000000000000000000128", 0, "80");
    expect_unscaled("0000000000000000000000000", 0, "00");
    expect_unscaled("-0000000000000000000000000", 0, "00");
    expect_unscaled("9223372036854775807", 0, "7fffffffffffffff");
    expect_unscaled("9223372036854775808", 0, "008000000000000000");
    expect_unscaled("-9223372036854775808", 0, "8000000000000000");
    expect_unscaled("-9223372036854775809", 0, "ff7fffffffffffffff");
    expect_unscaled("18446744073709551616", 0, "010000000000000000");
    expect_unscaled("-18446744073709551616", 0, "ff0000000000000000");
    expect_unscaled("340282366920938463463374607431768211456", 0,
                    "0100000000000000000000000000000000");
}

/* 10^N in base 256 ends with N zero bits; with as many bytes as N * log2(10) / 8 says. */
Test(decimal, takes_the_longest_numeric_there_is)
{
    enum { DIGITS = 131072 };
    char *text = malloc(DIGITS + 1);

    memset(text, '0', DIGITS);
    text[0] = '1';
    text[DIGITS] = '\0';
    struct decimal d = split(text);
    struct wr_slice bytes = decimal_unscaled(&d, 0, arena);
    free(text);
    cr_assert_eq(bytes.size, 54427);
    for (size_t i = 1; i <= (DIGITS - 1) / 8; i++) {
        cr_assert_eq(bytes.data[bytes.size - i], 0);
    }
    cr_expect_neq(bytes.data[bytes.size - (DIGITS - 1) / 8 - 1], 0);
}

Test(decimal, says_when_the_arena_is_full)
{
    struct wr_arena *small = wr_arena_new(16);
    struct decimal d = split("123456789012345678901234567890123456789012345678901234567890");

    cr_expect_null(decimal_unscaled(&d, 0, small).data);
    cr_expect_null(decimal_double(&d, small).data);
    wr_arena_free(small);
}

static void expect_double(const char *text, const char *expected)
{
    struct decimal d = split(text);
    struct wr_slice actual = decimal_double(&d, arena);

    cr_expect(wr_slice_is(actual, expected), "%s: %.*s instead of %s", text, (int)actual.size,
              actual.data, expected);
}

Test(decimal, prints_doubles_as_postgresql_does)
{
    expect_double("0", "0");
    expect_double("-0.00", "0");
    expect_double("1.20", "1.2");
    expect_double("42", "42");
    expect_double("100", "100");
    expect_double("-999.99", "-999.99");
    expect_double("0.5", "0.5");
    expect_double("0.0001", "0.0001");
    expect_double("-0.000001", "-1e-06");
    expect_double("0.00001234", "1.234e-05");
    expect_double("100000000000000", "100000000000000");
    expect_double("1000000000000000", "1e+15");
    expect_double("123456789012345", "123456789012345");
}

Test(decimal, finds_the_shortest_double_of_many_digits)
{
    expect_double("12345678901234567890.0123456789", "1.2345678901234567e+19");
    expect_double("99999999999999999999999999999999999999.5", "1e+38");
    expect_double("12345678901234567890123456789.000100", "1.2345678901234568e+28");
    expect_double("92233720368547758.07", "9.223372036854776e+16");
    expect_double("-92233720368547758.08", "-9.223372036854776e+16");
    expect_double("0.1000000000000000055511151231257827", "0.1");
    expect_double("1234567890.1234567", "1234567890.1234567");
}

Test(decimal, leaves_the_range_of_doubles_as_java_does)
{
    char text[402] = "1";

    memset(text + 1, '0', 400);
    expect_double(text, "Infinity");
    text[310] = '\0';
    expect_double(text, "Infinity");
    text[309] = '\0';
    expect_double(text, "1e+308");
    memcpy(text, "0.", 2);
    memset(text + 2, '0', 398);
    text[400] = '1';
    text[401] = '\0';
    expect_double(text, "0");
    memcpy(text + 325, "5", 2);
    expect_double(text, "5e-324");
}
