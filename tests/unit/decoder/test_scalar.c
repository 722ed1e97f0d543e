#include "show_value.h"

enum {
    BOOL = 16,
    CHAR = 18,
    NAME = 19,
    INT8 = 20,
    INT2 = 21,
    INT4 = 23,
    TEXT = 25,
    OID = 26,
    FLOAT4 = 700,
    FLOAT8 = 701,
};

TestSuite(scalar, .init = open_values, .fini = close_values);

static const struct value_case SCALARS[] = {
    {BOOL, -1, "t", "true"},
    {BOOL, -1, "f", "false"},
    {INT2, -1, "1", "1"},
    {INT2, -1, "-32768", "-32768"},
    {INT2, -1, "32767", "32767"},
    {INT4, -1, "-2147483648", "-2147483648"},
    {INT4, -1, "2147483647", "2147483647"},
    {INT8, -1, "-9223372036854775808", "-9223372036854775808"},
    {INT8, -1, "9223372036854775807", "9223372036854775807"},
    {INT8, -1, "0", "0"},
    {OID, -1, "26", "26"},
    {OID, -1, "4294967295", "4294967295"},
    {FLOAT4, -1, "1.5", "float 1.5"},
    {FLOAT4, -1, "-3.4e+38", "float -3.4e+38"},
    {FLOAT4, -1, "NaN", "float NaN"},
    {FLOAT4, -1, "1e-45", "float 1e-45"},
    {FLOAT8, -1, "-1.7976931348623157e+308", "double -1.7976931348623157e+308"},
    {FLOAT8, -1, "Infinity", "double Infinity"},
    {FLOAT8, -1, "-Infinity", "double -Infinity"},
    {FLOAT8, -1, "-0", "double -0"},
    {FLOAT8, -1, "5e-324", "double 5e-324"},
};

Test(scalar, reads_each_as_debezium_types_it)
{
    EXPECT_VALUES(SCALARS);
}

Test(scalar, reads_no_prefix_past_its_end)
{
    FEED_PREFIXES(SCALARS);
}

Test(scalar, leaves_text_as_it_is)
{
    static const struct value_case cases[] = {
        {TEXT, -1, "", "''"},
        {TEXT, -1, "tab\t quote\" \xc3\xa9", "'tab\t quote\" \xc3\xa9'"},
        {1042, 9, "ab   ", "'ab   '"},
        {1043, 14, "vc", "'vc'"},
        {CHAR, -1, "x", "'x'"},
        {NAME, -1, "\xc3\x9cn\xc3\xaf", "'\xc3\x9cn\xc3\xaf'"},
        {2950, -1, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
         "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"},
        {142, -1, "<a>1</a>", "'<a>1</a>'"},
        {114, -1, "{\"a\": 1,  \"b\":2}", "'{\"a\": 1,  \"b\":2}'"},
        {3802, -1, "{\"big\": 123456789012345678901234567890}",
         "'{\"big\": 123456789012345678901234567890}'"},
        {869, -1, "192.168.0.1/24", "'192.168.0.1/24'"},
        {650, -1, "10.0.0.0/8", "'10.0.0.0/8'"},
        {829, -1, "08:00:2b:01:02:03", "'08:00:2b:01:02:03'"},
        {774, -1, "08:00:2b:01:02:03:04:05", "'08:00:2b:01:02:03:04:05'"},
        {3904, -1, "[1,5)", "'[1,5)'"},
        {3926, -1, "(,8)", "'(,8)'"},
        {3906, -1, "[1.5,2.5]", "'[1.5,2.5]'"},
        {3908, -1, "[\"2026-01-01 00:00:00\",)", "'[\"2026-01-01 00:00:00\",)'"},
        {3910, -1, "[\"2026-01-01 00:00:00+00\",)", "'[\"2026-01-01 00:00:00+00\",)'"},
        {3912, -1, "[2026-01-01,2026-02-01)", "'[2026-01-01,2026-02-01)'"},
        {3614, -1, "'a' 'cat' 'fat'", "''a' 'cat' 'fat''"},
    };

    EXPECT_VALUES(cases);
}

Test(scalar, borrows_text_instead_of_copying_it)
{
    struct column_type type = compiled(TEXT, -1);
    struct wr_slice text = WR_SLICE("hello");
    struct datum value;

    cr_assert_eq(type.parse(&type, text, arena, &value, &err), WR_OK);
    cr_expect_eq(value.as.bytes.data, text.data);
}

Test(scalar, refuses_malformed_text)
{
    EXPECT_REJECTS(BOOL, -1, "", "true", "x", "tt");
    EXPECT_REJECTS(INT2, -1, "", "-", "32768", "-32769", "1x", " 1", "+1");
    EXPECT_REJECTS(INT4, -1, "2147483648", "-2147483649", "1.5");
    EXPECT_REJECTS(INT8, -1, "9223372036854775808", "-9223372036854775809", "99999999999999999999",
                   "18446744073709551617");
    EXPECT_REJECTS(OID, -1, "-1", "4294967296");
    EXPECT_REJECTS(FLOAT8, -1, "", "-", "1.", ".5", "1e", "1e+", "nan", "infinity", "1,5", "1 ");
}

Test(scalar, names_the_type_and_the_value_it_refuses)
{
    (void)show_value(INT4, -1, "twelve");
    cr_expect_str_eq(err.text, "int4: no right form for the value \"twelve\"");
}

Test(scalar, shows_only_the_beginning_of_a_long_value_it_refuses)
{
    char text[101];

    memset(text, '7', 100);
    text[100] = '\0';
    (void)show_value(INT4, -1, text);
    cr_expect_eq(strlen(err.text), strlen("int4: no right form for the value \"...\"") + 64);
}
