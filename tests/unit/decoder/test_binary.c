#include "show_value.h"

enum { BYTEA = 17, BYTEA_ARRAY = 1001, BIT = 1560, BIT_ARRAY = 1561, VARBIT = 1562 };

TestSuite(binary, .init = open_values, .fini = close_values);

static const struct value_case BYTEAS[] = {
    {BYTEA, -1, "\\xdeadbeef", "bytes 3q2+7w=="},
    {BYTEA, -1, "\\x", "bytes "},
    {BYTEA, -1, "\\x00", "bytes AA=="},
    {BYTEA_ARRAY, -1, "{\"\\\\x00ff\",NULL}", "[bytes AP8=, null]"},
};

Test(binary, bytea_is_bytes)
{
    EXPECT_VALUES(BYTEAS);
    FEED_PREFIXES(BYTEAS);
}

static void expect_all_sizes(enum binary_handling_mode mode, const char *const *expected)
{
    static const char *const texts[] = {"\\x", "\\xfb", "\\xfbef", "\\xfbefbe", "\\xfbefbeff"};

    options.binary_handling_mode = mode;
    for (size_t i = 0; i < 5; i++) {
        cr_expect_str_eq(show_value(BYTEA, -1, texts[i]), expected[i], "%s", shown);
    }
}

Test(binary, bytea_is_text_in_the_other_modes)
{
    expect_all_sizes(BINARY_HANDLING_BASE64,
                     (const char *const[]){"''", "'+w=='", "'++8='", "'++++'", "'++++/w=='"});
    expect_all_sizes(BINARY_HANDLING_BASE64_URL_SAFE,
                     (const char *const[]){"''", "'-w=='", "'--8='", "'----'", "'----_w=='"});
    expect_all_sizes(BINARY_HANDLING_HEX,
                     (const char *const[]){"''", "'fb'", "'fbef'", "'fbefbe'", "'fbefbeff'"});
}

Test(binary, refuses_text_that_is_not_hex)
{
    EXPECT_REJECTS(BYTEA, -1, "", "\\", "x", "deadbeef", "\\xd", "\\xdea", "\\xgg", "\\xDE",
                   "\\x d", "\\000abc");
}

static const struct value_case BITS[] = {
    {BIT, 1, "1", "true"},
    {BIT, 1, "0", "false"},
    {BIT, 8, "10101010", "bytes qg=="},
    {BIT, 8, "00000000", "bytes "},
    {BIT, 8, "11111111", "bytes /w=="},
    {BIT, 12, "000000010010", "bytes Eg=="},
    {BIT, 12, "111111111111", "bytes /w8="},
    {BIT, 12, "100000000000", "bytes AAg="},
    {VARBIT, 12, "1011", "bytes Cw=="},
    {VARBIT, 12, "", "bytes "},
    {VARBIT, -1, "0010", "bytes Ag=="},
    {VARBIT, 1, "1", "true"},
    {VARBIT, 1, "0", "false"},
    {VARBIT, 1, "", "false"},
    {VARBIT, -1, "10101010101010101010101010101010101010101010101010101010101010101010",
     "bytes qqqqqqqqqqoK"},
    {BIT_ARRAY, 1, "{1,NULL,0}", "[true, null, false]"},
    {BIT_ARRAY, 2, "{10,01}", "[bytes Ag==, bytes AQ==]"},
};

Test(binary, bits_are_little_endian)
{
    EXPECT_VALUES(BITS);
    FEED_PREFIXES(BITS);
}

Test(binary, refuses_text_that_is_not_bits)
{
    EXPECT_REJECTS(BIT, 1, "2", "t", "10");
    EXPECT_REJECTS(BIT, 8, "1010101x", "0x10", "-1");
}
