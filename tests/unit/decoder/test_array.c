#include "show_value.h"

enum {
    INT8_ARRAY = 1016,
    INT2_ARRAY = 1005,
    INT4_ARRAY = 1007,
    TEXT_ARRAY = 1009,
};

TestSuite(array, .init = open_values, .fini = close_values);

static const struct value_case ARRAYS[] = {
    {INT4_ARRAY, -1, "{1,2,NULL}", "[1, 2, null]"},
    {INT4_ARRAY, -1, "{}", "[]"},
    {INT8_ARRAY, -1, "{9223372036854775807}", "[9223372036854775807]"},
    {INT2_ARRAY, -1, "{1}", "[1]"},
    {TEXT_ARRAY, -1, "{a,\"b c\",NULL,\"q\\\"t\",\"NULL\",\"\"}",
     "['a', 'b c', null, 'q\"t', 'NULL', '']"},
    {TEXT_ARRAY, -1, "{\"a,b\",\"{c}\",\"\\\\\\\\\",\" \"}", "['a,b', '{c}', '\\\\', ' ']"},
    {TEXT_ARRAY, -1, "{null,Null}", "['null', 'Null']"},
    {1015, 9, "{abc}", "['abc']"},
    {1231, NUMERIC_TYPMOD(6, 2), "{1.50,-2.25}", "[bytes AJY=, bytes /x8=]"},
    {1231, -1, "{1.50}", "[{scale: 1, value: bytes Dw==}]"},
    {1000, -1, "{t,f,NULL}", "[true, false, null]"},
    {2951, -1, "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
     "['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']"},
    {1182, -1, "{2026-05-01}", "[20574]"},
    {1115, -1, "{\"2026-05-01 12:34:56\"}", "[1777638896000000]"},
    {1115, 3, "{\"2026-05-01 12:34:56\"}", "[1777638896000]"},
    {1183, 0, "{24:00:00}", "[86400000]"},
    {1185, -1, "{\"2026-05-01 12:34:56+00\"}", "['2026-05-01T12:34:56.000000Z']"},
    {1187, -1, "{\"1 day\",00:00:01}", "[86400000000, 1000000]"},
    {3807, -1, "{\"{\\\"a\\\": 1}\",[]}", "['{\"a\": 1}', '[]']"},
    {1022, -1, "{1.5,NaN}", "[double 1.5, double NaN]"},
    {1017, -1, "{\"(0,0)\"}",
     "[{x: double 0, y: double 0, wkb: bytes AQEAAAAAAAAAAAAAAAAAAAAAAAAA, srid: null}]"},
    {1041, -1, "{10.0.0.1}", "['10.0.0.1']"},
    {OID_MOOD_ARRAY, -1, "{happy,\"very sad\"}", "['happy', 'very sad']"},
    {OID_PRICE_ARRAY, -1, "{1.500}", "[bytes Bdw=]"},
};

Test(array, has_elements_of_every_type)
{
    EXPECT_VALUES(ARRAYS);
    FEED_PREFIXES(ARRAYS);
}

static const struct value_case NESTED[] = {
    {INT4_ARRAY, -1, "{{1,2},{3,NULL}}", "[[1, 2], [3, null]]"},
    {INT4_ARRAY, -1, "{{{1},{2}}}", "[[[1], [2]]]"},
    {INT4_ARRAY, -1, "{{{{{{7}}}}}}", "[[[[[[7]]]]]]"},
    {TEXT_ARRAY, -1, "{{\"a}\",\"{b\"},{\"c\\\"}\",d}}", "[['a}', '{b'], ['c\"}', 'd']]"},
    {INT4_ARRAY, -1, "[0:1]={1,2}", "[1, 2]"},
    {INT4_ARRAY, -1, "[-2:-1][5:5]={{1},{2}}", "[[1], [2]]"},
};

Test(array, of_many_dimensions_is_nested)
{
    EXPECT_VALUES(NESTED);
    FEED_PREFIXES(NESTED);
}

Test(array, refuses_every_truncation)
{
    const char *text = "[0:1][1:2]={{\"a\\\"b\",c},{NULL,\"}\"}}";

    for (size_t size = 0; size < strlen(text); size++) {
        cr_expect_str_eq(show_sized(TEXT_ARRAY, -1, text, size), "reject", "%zu bytes", size);
    }
    cr_expect_str_eq(show_value(TEXT_ARRAY, -1, text), "[['a\"b', 'c'], [null, '}']]");
}

Test(array, refuses_malformed_text)
{
    EXPECT_REJECTS(TEXT_ARRAY, -1, "", "a", "{", "}", "{a", "{a,", "{a,}", "{,a}", "{,}", "{a}}",
                   "{a}b", "{\"a}", "{\"a\\\"}", "{\"a\"b}", "{{a}", "{{a},b", "[0:1={a}",
                   "[0:1]{a}", "{\"\\", "{a}\n", "{{{{{{{1}}}}}}}");
    EXPECT_REJECTS(INT4_ARRAY, -1, "{a}", "{\"\"}", "{1,x}");
}

Test(array, names_the_element_it_refuses)
{
    (void)show_value(INT4_ARRAY, -1, "{1,x}");
    cr_expect_str_eq(err.text, "int4: no right form for the value \"x\"");
    (void)show_value(INT4_ARRAY, -1, "{1");
    cr_expect_str_eq(err.text, "int4[]: no right form for the value \"{1\"");
}

/* Many levels of many braces cost no more than the depth that PostgreSQL allows. */
Test(array, refuses_deep_nesting_before_it_costs_anything)
{
    enum { BRACES = 30000 };
    char *text = malloc(BRACES);

    memset(text, '{', BRACES);
    cr_expect_str_eq(show_sized(INT4_ARRAY, -1, text, BRACES), "reject");
    free(text);
}
