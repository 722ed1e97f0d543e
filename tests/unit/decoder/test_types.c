#include "show_value.h"

enum { TSQUERY = 3615, TSQUERY_ARRAY = 3645, BOX = 603, PG_LSN = 3220, INT2VECTOR = 22 };

TestSuite(types, .init = open_values, .fini = close_values);

Test(types, asks_no_catalog_for_built_in_types)
{
    (void)compiled(1700, NUMERIC_TYPMOD(10, 2));
    (void)compiled(1009, -1);
    (void)compiled(PG_LSN, -1);
    cr_expect_eq(catalog_asked, 0);
    (void)compiled(OID_MOOD, -1);
    cr_expect_eq(catalog_asked, 1);
}

Test(types, are_not_published_when_debezium_does_not_know_them)
{
    static const uint32_t oids[] = {TSQUERY, TSQUERY_ARRAY, PG_LSN, BOX,      628,           718,
                                    4451,    INT2VECTOR,    2205,   OID_PAIR, OID_PAIR_ARRAY};

    for (size_t i = 0; i < sizeof(oids) / sizeof(oids[0]); i++) {
        cr_expect_str_eq(show_value(oids[i], -1, "x"), "not published", "type %u", oids[i]);
    }
}

Test(types, are_published_as_bytes_of_their_text_when_asked_for)
{
    static const struct value_case cases[] = {
        {TSQUERY, -1, "'fat' & 'cat'", "bytes J2ZhdCcgJiAnY2F0Jw=="},
        {OID_PAIR, -1, "(1,\"a b\")", "bytes KDEsImEgYiIp"},
        {OID_PAIR_ARRAY, -1, "{\"(1,\\\"a b\\\")\",NULL}", "[bytes KDEsImEgYiIp, null]"},
    };

    options.include_unknown_datatypes = true;
    EXPECT_VALUES(cases);
    options.binary_handling_mode = BINARY_HANDLING_BASE64;
    cr_expect_str_eq(show_value(OID_PAIR, -1, "(1,\"a b\")"), "'KDEsImEgYiIp'");
}

static const struct value_case EXTENSIONS[] = {
    {OID_CITEXT, -1, "CiText", "'CiText'"},
    {OID_LTREE, -1, "top.sub", "'top.sub'"},
    {OID_LTREE, -1, "", "''"},
    {OID_HSTORE, -1, "\"k\"=>\"v\"", "'{\"k\":\"v\"}'"},
    {OID_MOOD, -1, "happy", "'happy'"},
};

Test(types, of_extensions_are_known_by_name)
{
    EXPECT_VALUES(EXTENSIONS);
}

Test(types, that_are_domains_are_their_base)
{
    static const struct value_case cases[] = {
        {OID_PRICE, -1, "12.345", "bytes MDk="},
        {OID_PRICE_ABOVE, -1, "12.345", "bytes MDk="},
        {OID_TAGS, -1, "{a,NULL}", "['a', null]"},
    };

    EXPECT_VALUES(cases);
    struct column_type type = compiled(OID_PRICE_ABOVE, -1);
    cr_expect_eq(type.oid, 1700);
    cr_expect_eq(type.scale, 3);
    cr_expect_str_eq(type.name, "numeric");
}

Test(types, that_are_gone_are_text)
{
    cr_expect_str_eq(show_value(OID_GONE, -1, "(1,2)"), "'(1,2)'");
}

Test(types, say_when_the_catalog_cannot_be_asked)
{
    struct column_type type;

    cr_expect_eq(type_compile(&options, &CATALOG_SOURCE, OID_UNREACHABLE, -1, arena, &type, &err),
                 WR_RETRY);
}

Test(types, that_contain_themselves_are_refused)
{
    struct column_type type;

    cr_expect_eq(type_compile(&options, &CATALOG_SOURCE, OID_LOOP, -1, arena, &type, &err),
                 WR_FATAL);
    cr_expect_str_eq(err.text, "type 20012: more than 32 types deep");
}

Test(types, keep_within_the_arena)
{
    static const struct value_case cases[] = {
        {17, -1, "\\x0102", "reject"},
        {1700, -1, "1.5", "reject"},
        {1184, -1, "2026-05-01 20:00:00+00", "reject"},
        {790, -1, "$1.00", "reject"},
        {600, -1, "(1,2)", "reject"},
        {1266, -1, "10:00:00+00", "reject"},
        {1562, -1, "101", "reject"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_arena *full = wr_arena_new(0);
        struct column_type type = compiled(cases[i].oid, cases[i].typmod);
        struct datum value;
        cr_expect_eq(type.parse(&type, wr_slice_str(cases[i].text), full, &value, &err), WR_REJECT,
                     "%s", cases[i].text);
        cr_expect(strstr(err.text, "WR_MESSAGE_ARENA_SIZE_MAX") != NULL, "%s", err.text);
        wr_arena_free(full);
    }
}
