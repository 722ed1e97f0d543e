#include "show_schema.h"

TestSuite(hstore, .init = open_values, .fini = close_values);

static const struct value_case HSTORES[] = {
    {OID_HSTORE, -1, "\"a\"=>\"1\", \"b\"=>NULL", "'{\"a\":\"1\",\"b\":null}'"},
    {OID_HSTORE, -1, "", "'{}'"},
    {OID_HSTORE, -1, "\"k \\\"q\\\" =>\"=>\"v, w\"", "'{\"k \\\"q\\\" =>\":\"v, w\"}'"},
    {OID_HSTORE, -1, "\"NULL\"=>\"NULL\"", "'{\"NULL\":\"NULL\"}'"},
    {OID_HSTORE, -1, "\"\"=>\"\"", "'{\"\":\"\"}'"},
    {OID_HSTORE, -1, "\"back\\\\slash\"=>\"\\\\\\\"\"", "'{\"back\\\\slash\":\"\\\\\\\"\"}'"},
    {OID_HSTORE, -1, "\"c\"=>\"\b\t\n\v\f\r\x01\x1f\x7f\"",
     "'{\"c\":\"\\b\\t\\n\\u000B\\f\\r\\u0001\\u001F\x7f\"}'"},
    {OID_HSTORE, -1, "\"\xc3\xa9\"=>\"\xf0\x9f\x98\x80\"", "'{\"\xc3\xa9\":\"\xf0\x9f\x98\x80\"}'"},
};

Test(hstore, is_json_text)
{
    EXPECT_VALUES(HSTORES);
    FEED_PREFIXES(HSTORES);
}

/* More than fits the arena's first block, so that AddressSanitizer sees any overrun. */
Test(hstore, has_room_for_control_characters_alone)
{
    enum { COUNT = 5000 };
    static char text[COUNT + sizeof("\"\"=>\"\"")];

    memcpy(text, "\"\"=>\"", 5);
    memset(text + 5, 1, COUNT);
    memcpy(text + 5 + COUNT, "\"", 2);
    cr_expect_eq(strlen(show_value(OID_HSTORE, -1, text)), COUNT * 6 + strlen("'{\"\":\"\"}'"));
}

Test(hstore, refuses_every_truncation)
{
    const char *text = "\"a\\\"\"=>\"1\", \"b\"=>NULL";

    for (size_t size = 1; size < strlen(text); size++) {
        /* What is whole after the first pair is a value of its own. */
        const char *expected =
            size == strlen("\"a\\\"\"=>\"1\"") ? "'{\"a\\\"\":\"1\"}'" : "reject";
        cr_expect_str_eq(show_sized(OID_HSTORE, -1, text, size), expected, "%zu bytes", size);
    }
}

Test(hstore, refuses_malformed_text)
{
    EXPECT_REJECTS(OID_HSTORE, -1, "a=>1", "\"a\"", "\"a\"=>", "\"a\"=>1", "\"a\"=>null",
                   "\"a\"=\"1\"", "\"a\"=>\"1\",\"b\"=>\"2\"", "\"a\"=>\"1\" ", " ", "\"a\\",
                   "\"a\"=>\"1\", ");
}

static const struct value_case MAPS[] = {
    {OID_HSTORE, -1, "\"a\"=>\"1\", \"b\"=>NULL", "{a: '1', b: null}"},
    {OID_HSTORE, -1, "", "{}"},
    {OID_HSTORE, -1, "\"k \\\"q\\\" =>\"=>\"v, w\"", "{k \"q\" =>: 'v, w'}"},
    {OID_HSTORE, -1, "\"NULL\"=>\"NULL\"", "{NULL: 'NULL'}"},
    {OID_HSTORE, -1, "\"\"=>\"\"", "{: ''}"},
    {OID_HSTORE, -1, "\"\"=>\"\", \"=>=>\"=>\"=>\"", "{: '', =>=>: '=>'}"},
};

Test(hstore, is_a_map_where_that_is_asked_for)
{
    options.hstore_handling_mode = HSTORE_HANDLING_MAP;
    EXPECT_VALUES(MAPS);
    FEED_PREFIXES(MAPS);
    cr_expect_str_eq(show_schema(OID_HSTORE, -1), "map <string> [string?]");
    EXPECT_REJECTS(OID_HSTORE, -1, "a=>1", "\"a\"", "\"a\"=>", "\"a\"=>null", "\"a\"=\"1\"",
                   "\"a\"=>\"1\",\"b\"=>\"2\"", "\"a\"=>\"1\" ", " ", "\"a\\", "\"a\"=>\"1\", ",
                   "\"a\"=>\"1\", \"b\"", "=>", "\"a\"=>\"1");
}
