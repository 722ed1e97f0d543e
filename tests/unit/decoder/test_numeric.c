#include "show_value.h"

enum { MONEY = 790, MONEY_ARRAY = 791, NUMERIC = 1700 };

TestSuite(numeric, .init = open_values, .fini = close_values);

static const struct value_case PRECISE[] = {
    {NUMERIC, NUMERIC_TYPMOD(5, 2), "1.20", "bytes eA=="},
    {NUMERIC, NUMERIC_TYPMOD(5, 2), "-999.99", "bytes /nlh"},
    {NUMERIC, NUMERIC_TYPMOD(5, 2), "0.00", "bytes AA=="},
    {NUMERIC, NUMERIC_TYPMOD(5, 2), "0.01", "bytes AQ=="},
    {NUMERIC, NUMERIC_TYPMOD(5, 0), "42", "bytes Kg=="},
    {NUMERIC, NUMERIC_TYPMOD(5, 0), "-99999", "bytes /nlh"},
    {NUMERIC, NUMERIC_TYPMOD(5, 0), "-1", "bytes /w=="},
    {NUMERIC, NUMERIC_TYPMOD(38, 10), "12345678901234567890.0123456789",
     "bytes AY7pD/bDc+DuDATVFQ=="},
    {NUMERIC, NUMERIC_TYPMOD(38, 10), "-0.0000000001", "bytes /w=="},
    {NUMERIC, NUMERIC_TYPMOD(38, 10), "1.0000000000", "bytes AlQL5AA="},
    {NUMERIC, NUMERIC_TYPMOD(38, 10), "-1.0000000000", "bytes /av0HAA="},
    {NUMERIC, NUMERIC_TYPMOD(10, 2), "99.90", "bytes JwY="},
    {NUMERIC, NUMERIC_TYPMOD(10, 2), "-99999999.99", "bytes /av0HAE="},
    {NUMERIC, NUMERIC_TYPMOD(8, 3), "12.345", "bytes MDk="},
    {NUMERIC, NUMERIC_TYPMOD(6, 2), "3.5", "bytes AV4="}, /* a default, not padded yet */
};

static const struct value_case VARIABLE[] = {
    {NUMERIC, -1, "123.456", "{scale: 3, value: bytes AeJA}"},
    {NUMERIC, -1, "-0.000001", "{scale: 6, value: bytes /w==}"},
    {NUMERIC, -1, "99999999999999999999999999999999999999.5",
     "{scale: 1, value: bytes AvBQ/pOJQ6zEX2VWf/////s=}"},
    {NUMERIC, -1, "0", "{scale: 0, value: bytes AA==}"},
    {NUMERIC, -1, "1000000000000000000000000000000",
     "{scale: 0, value: bytes DJ8snNBGdO3qQAAAAA==}"},
    {NUMERIC, -1, "7000", "{scale: 0, value: bytes G1g=}"},
    {NUMERIC, -1, "12345678901234567890123456789.000100",
     "{scale: 4, value: bytes BhY+ZlvrfKai4aZCRFE=}"},
    {NUMERIC, -1, "0.000", "{scale: 0, value: bytes AA==}"},
};

Test(numeric, is_unscaled_bytes_at_the_scale_of_the_column)
{
    EXPECT_VALUES(PRECISE);
    FEED_PREFIXES(PRECISE);
}

Test(numeric, without_a_typmod_carries_its_scale)
{
    EXPECT_VALUES(VARIABLE);
    FEED_PREFIXES(VARIABLE);
}

Test(numeric, counts_thousands_at_a_negative_scale)
{
    static const struct value_case cases[] = {
        {NUMERIC, NUMERIC_TYPMOD(5, -3), "7000", "bytes Bw=="},
        {NUMERIC, NUMERIC_TYPMOD(5, -3), "-12000", "bytes 9A=="},
        {NUMERIC, NUMERIC_TYPMOD(5, -3), "0", "bytes AA=="},
    };

    EXPECT_VALUES(cases);
    cr_expect_eq(compiled(NUMERIC, NUMERIC_TYPMOD(5, -3)).scale, -3);
    cr_expect_eq(compiled(NUMERIC, NUMERIC_TYPMOD(1000, 1000)).scale, 1000);
}

Test(numeric, has_no_precise_form_for_nan_and_infinity)
{
    EXPECT_REJECTS(NUMERIC, -1, "NaN", "Infinity", "-Infinity");
    EXPECT_REJECTS(NUMERIC, NUMERIC_TYPMOD(10, 2), "NaN");
    cr_expect_str_eq(err.text, "numeric: no right form for the value \"NaN\"");
}

Test(numeric, refuses_malformed_text)
{
    enum decimal_handling_mode modes[] = {DECIMAL_HANDLING_PRECISE, DECIMAL_HANDLING_DOUBLE,
                                          DECIMAL_HANDLING_STRING};

    for (size_t i = 0; i < 3; i++) {
        options.decimal_handling_mode = modes[i];
        EXPECT_REJECTS(NUMERIC, -1, "", "-", "1.", ".5", "1e5", "1,5", "1.2.3", "nan", "0x1");
        EXPECT_REJECTS(NUMERIC, NUMERIC_TYPMOD(5, 2), "", "-", "1.", "$1");
        EXPECT_REJECTS(MONEY, -1, "", "-", "$", "-$", "1.00", "$1", "$1.0", "$1.000", "($1.00",
                       "$1.00)", "$1.00 ", "$1.0.0", "kr1.00", "$-1.00");
    }
    options.decimal_handling_mode = DECIMAL_HANDLING_PRECISE;
    EXPECT_REJECTS(NUMERIC, NUMERIC_TYPMOD(5, 2), "1.001");
    EXPECT_REJECTS(NUMERIC, NUMERIC_TYPMOD(5, -3), "7001");
}

Test(numeric, as_double_is_the_nearest)
{
    static const struct value_case cases[] = {
        {NUMERIC, -1, "123.456", "double 123.456"},
        {NUMERIC, NUMERIC_TYPMOD(5, 2), "1.20", "double 1.2"},
        {NUMERIC, NUMERIC_TYPMOD(5, 0), "42", "double 42"},
        {NUMERIC, NUMERIC_TYPMOD(10, 2), "-99999999.99", "double -99999999.99"},
        {NUMERIC, -1, "1000000000000000000000000000000", "double 1e+30"},
        {NUMERIC, -1, "NaN", "double NaN"},
        {NUMERIC, -1, "Infinity", "double Infinity"},
        {NUMERIC, -1, "-Infinity", "double -Infinity"},
        {MONEY, -1, "-$1,234.56", "double -1234.56"},
        {MONEY, -1, "$92,233,720,368,547,758.07", "double 9.223372036854776e+16"},
    };

    options.decimal_handling_mode = DECIMAL_HANDLING_DOUBLE;
    EXPECT_VALUES(cases);
    FEED_PREFIXES(cases);
}

Test(numeric, as_string_is_the_text)
{
    static const struct value_case cases[] = {
        {NUMERIC, -1, "12345678901234567890123456789.000100",
         "'12345678901234567890123456789.000100'"},
        {NUMERIC, NUMERIC_TYPMOD(10, 2), "1.10", "'1.10'"},
        {NUMERIC, NUMERIC_TYPMOD(5, -3), "-12000", "'-12000'"},
        {NUMERIC, NUMERIC_TYPMOD(10, 2), "1.5", "'1.50'"},
        {NUMERIC, NUMERIC_TYPMOD(10, 2), "-3", "'-3.00'"},
        {NUMERIC, -1, "NaN", "'NAN'"},
        {NUMERIC, -1, "Infinity", "'POSITIVE_INFINITY'"},
        {NUMERIC, -1, "-Infinity", "'NEGATIVE_INFINITY'"},
        {MONEY, -1, "$12.34", "'12.34'"},
        {MONEY, -1, "-$92,233,720,368,547,758.08", "'-92233720368547758.08'"},
    };

    options.decimal_handling_mode = DECIMAL_HANDLING_STRING;
    options.money_fraction_digits = 3; /* changes nothing here */
    EXPECT_VALUES(cases);
    FEED_PREFIXES(cases);
}

static const struct value_case MONIES[] = {
    {MONEY, -1, "$12.34", "bytes BNI="},
    {MONEY, -1, "-$1,234.56", "bytes /h3A"},
    {MONEY, -1, "$0.00", "bytes AA=="},
    {MONEY, -1, "$92,233,720,368,547,758.07", "bytes f/////////8="},
    {MONEY, -1, "-$92,233,720,368,547,758.08", "bytes gAAAAAAAAAA="},
    {MONEY, -1, "($1,234.56)", "bytes /h3A"},
    {MONEY, -1, "$1,234,567.90", "bytes B1vNFg=="},
    {MONEY_ARRAY, -1, "{NULL,-$0.01,\"$1,234.56\"}", "[null, bytes /w==, bytes AeJA]"},
    {MONEY_ARRAY, -1, "{}", "[]"},
};

Test(numeric, money_is_cents)
{
    EXPECT_VALUES(MONIES);
    FEED_PREFIXES(MONIES);
}

Test(numeric, money_has_the_fraction_digits_of_the_configuration)
{
    static const struct value_case three[] = {{MONEY, -1, "$12.34", "bytes MDQ="}};
    static const struct value_case one[] = {
        {MONEY, -1, "$12.34", "bytes ew=="},
        {MONEY, -1, "$12.35", "bytes fA=="},
        {MONEY, -1, "-$12.35", "bytes hA=="},
    };
    static const struct value_case none[] = {
        {MONEY, -1, "$12.49", "bytes DA=="},
        {MONEY, -1, "$12.50", "bytes DQ=="},
        {MONEY, -1, "-$0.50", "bytes /w=="},
    };

    options.money_fraction_digits = 3;
    EXPECT_VALUES(three);
    options.money_fraction_digits = 1;
    EXPECT_VALUES(one);
    options.money_fraction_digits = 0;
    EXPECT_VALUES(none);
    EXPECT_REJECTS(MONEY, -1, "$922,337,203,685,477,580,123.00");
}
