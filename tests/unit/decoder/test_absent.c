#include "show_value.h"

TestSuite(absent, .init = open_values, .fini = close_values);

static const char *show_absent(uint32_t oid, int32_t typmod, const char *default_text)
{
    struct column_type type = compiled(oid, typmod);
    struct datum value = {0};

    shown_size = 0;
    cr_assert_eq(type_absent(&type, default_text, arena, &value, &err), WR_OK, "%s", err.text);
    show_datum(&value);
    return shown;
}

static void expect_absent(const struct value_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct value_case *c = &cases[i];
        const char *actual = show_absent(c->oid, c->typmod, c->text);
        cr_expect_str_eq(actual, c->expected, "type %u, default %s: %s instead of %s", c->oid,
                         c->text == NULL ? "none" : c->text, actual, c->expected);
    }
}

#define EXPECT_ABSENT(cases) expect_absent((cases), sizeof(cases) / sizeof((cases)[0]))

Test(absent, is_the_empty_value_of_the_type)
{
    static const struct value_case cases[] = {
        {16, -1, NULL, "false"},
        {17, -1, NULL, "bytes "},
        {20, -1, NULL, "0"},
        {21, -1, NULL, "0"},
        {23, -1, NULL, "0"},
        {25, -1, NULL, "''"},
        {26, -1, NULL, "0"},
        {700, -1, NULL, "float 0"},
        {701, -1, NULL, "double 0"},
        {790, -1, NULL, "bytes AA=="},
        {1082, -1, NULL, "0"},
        {1083, 3, NULL, "0"},
        {1114, -1, NULL, "0"},
        {1184, -1, NULL, "'1970-01-01T00:00:00Z'"},
        {1186, -1, NULL, "0"},
        {1266, -1, NULL, "'00:00:00Z'"},
        {1560, 1, NULL, "false"},
        {1560, 8, NULL, "bytes "},
        {1700, NUMERIC_TYPMOD(10, 2), NULL, "bytes AA=="},
        {1700, -1, NULL, "{scale: 0, value: bytes AA==}"},
        {2950, -1, NULL, "''"},
        {600, -1, NULL,
         "{x: double 0, y: double 0, wkb: bytes AQEAAAAAAAAAAAAAAAAAAAAAAAAA, srid: null}"},
        {1009, -1, NULL, "[]"},
        {OID_HSTORE, -1, NULL, "'{}'"},
        {OID_MOOD, -1, NULL, "''"},
        {OID_PRICE, -1, NULL, "bytes AA=="},
    };

    EXPECT_ABSENT(cases);
}

Test(absent, is_the_default_where_that_is_a_constant)
{
    static const struct value_case cases[] = {
        {25, -1, "'x''y'::text", "'x'y'"},
        {1043, 14, "'abc'::character varying", "'abc'"},
        {25, -1, "''::text", "''"},
        {3802, -1, "'{}'::jsonb", "'{}'"},
        {23, -1, "7", "7"},
        {23, -1, "'-7'::integer", "-7"},
        {20, -1, "'9223372036854775807'::bigint", "9223372036854775807"},
        {1700, NUMERIC_TYPMOD(4, 1), "1.5", "bytes Dw=="},
        {1700, NUMERIC_TYPMOD(6, 2), "3.5", "bytes AV4="},
        {701, -1, "1.5", "double 1.5"},
        {16, -1, "true", "true"},
        {16, -1, "false", "false"},
        {1560, 8, "'10101010'::\"bit\"", "bytes qg=="},
        {1560, 1, "B'1'::\"bit\"", "true"},
        {1082, -1, "'2026-05-01'::date", "20574"},
        {1184, -1, "'2026-05-01 20:00:00+00'::timestamp with time zone",
         "'2026-05-01T20:00:00.000000Z'"},
        {2950, -1, "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
         "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"},
        {1186, -1, "'01:00:00'::interval", "3600000000"},
    };

    EXPECT_ABSENT(cases);
}

Test(absent, is_a_value_of_its_own_where_the_default_is_a_function)
{
    static const struct value_case cases[] = {
        {1184, -1, "now()", "'1970-01-01T00:00:00.000000Z'"},
        {1184, 3, "now()", "'1970-01-01T00:00:00.000Z'"},
        {1184, -1, "timezone('utc'::text, now())", "'1970-01-01T00:00:00.000000Z'"},
        {1114, -1, "(now() AT TIME ZONE 'utc'::text)", "0"},
        {20, -1, "nextval('s_id_seq'::regclass)", "0"},
        {2950, -1, "gen_random_uuid()", "'00000000-0000-0000-0000-000000000000'"},
        {3802, -1, "jsonb_build_object()", "'{}'"},
        {25, -1, "md5((random())::text)", "''"},
    };

    EXPECT_ABSENT(cases);
}

Test(absent, is_empty_where_the_default_is_anything_else)
{
    static const struct value_case cases[] = {
        {1184, -1, "CURRENT_TIMESTAMP", "'1970-01-01T00:00:00Z'"},
        {25, -1, "NULL::text", "''"},
        {25, -1, "CURRENT_USER", "''"},
        {25, -1, "('a'::text || 'b'::text)", "''"},
        {25, -1, "'unclosed", "''"},
        {25, -1, "'a' || 'b'", "''"},
        {25, -1, "", "''"},
        {23, -1, "(5 * 2)", "0"},
        {23, -1, "1.5", "0"},
        {23, -1, "99999999999", "0"},
        {1082, -1, "('now'::text)::date", "0"},
        {1700, NUMERIC_TYPMOD(4, 1), "1.55", "bytes AA=="},
        {OID_MOOD, -1, "'happy'::mood", "''"}, /* Debezium reads no default of these types */
        {OID_CITEXT, -1, "'x'::citext", "''"},
        {790, -1, "'$5.00'::money", "bytes AA=="},
        {1009, -1, "'{a}'::text[]", "[]"},
    };

    EXPECT_ABSENT(cases);
}

static const char *show_default(uint32_t oid, int32_t typmod, const char *default_text)
{
    struct column_type type = compiled(oid, typmod);
    struct datum value = {0};

    shown_size = 0;
    cr_assert_eq(type_default(&type, default_text, arena, &value, &err), WR_OK, "%s", err.text);
    show_datum(&value);
    return shown;
}

Test(absent, is_no_default_where_there_is_none_that_can_be_read)
{
    static const struct value_case cases[] = {
        {23, -1, NULL, "null"},
        {23, -1, "7", "7"},
        {23, -1, "nextval('s_id_seq'::regclass)", "0"},
        {25, -1, "'x''y'::text", "'x'y'"},
        {25, -1, "CURRENT_USER", "null"},
        {25, -1, "NULL::text", "null"},
        {23, -1, "(5 * 2)", "null"},
        {23, -1, "99999999999", "null"},
        {1009, -1, "'{a}'::text[]", "null"},
        {790, -1, "'$5.00'::money", "null"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *actual = show_default(cases[i].oid, cases[i].typmod, cases[i].text);
        cr_expect_str_eq(actual, cases[i].expected, "type %u, default %s: %s", cases[i].oid,
                         cases[i].text == NULL ? "none" : cases[i].text, actual);
    }
}

Test(absent, is_there_for_every_type_in_every_mode)
{
    static const enum decimal_handling_mode decimals[] = {
        DECIMAL_HANDLING_PRECISE, DECIMAL_HANDLING_DOUBLE, DECIMAL_HANDLING_STRING};
    static const enum binary_handling_mode binaries[] = {
        BINARY_HANDLING_BYTES, BINARY_HANDLING_BASE64, BINARY_HANDLING_BASE64_URL_SAFE,
        BINARY_HANDLING_HEX};

    options.include_unknown_datatypes = true;
    for (uint32_t oid = 1; oid < 7000; oid++) {
        options.decimal_handling_mode = decimals[oid % 3];
        options.binary_handling_mode = binaries[oid % 4];
        (void)show_absent(oid, -1, NULL);
        (void)show_absent(oid, -1, "f()");
        (void)show_absent(oid, -1, "'x'::text");
        wr_arena_reset(arena);
    }
    options.binary_handling_mode = BINARY_HANDLING_BYTES;
    cr_expect_str_eq(show_absent(603, -1, NULL), "bytes ");
}

Test(absent, has_the_scale_of_the_column_in_string_mode)
{
    options.decimal_handling_mode = DECIMAL_HANDLING_STRING;
    cr_expect_str_eq(show_absent(1700, NUMERIC_TYPMOD(10, 2), NULL), "'0.00'");
    cr_expect_str_eq(show_absent(1700, -1, NULL), "'0'");
}

Test(absent, does_not_change_the_text_of_the_default)
{
    char text[] = "'x''y'::text";

    (void)show_absent(25, -1, text);
    cr_expect_str_eq(text, "'x''y'::text");
}

static const char *show_unavailable(uint32_t oid, int32_t typmod)
{
    struct column_type type = compiled(oid, typmod);
    struct datum value = {0};

    shown_size = 0;
    cr_assert_eq(type_unavailable(&type, arena, &value, &err), WR_OK, "%s", err.text);
    show_datum(&value);
    return shown;
}

Test(absent, unchanged_values_are_the_placeholder)
{
    cr_expect_str_eq(show_unavailable(25, -1), "'gone'");
    cr_expect_str_eq(show_unavailable(3802, -1), "'gone'");
    cr_expect_str_eq(show_unavailable(OID_HSTORE, -1), "'gone'");
    cr_expect_str_eq(show_unavailable(17, -1), "bytes Z29uZQ==");
    cr_expect_str_eq(show_unavailable(1009, -1), "['gone']");
    cr_expect_str_eq(show_unavailable(1007, -1), "[103, 111, 110, 101]");
    cr_expect_str_eq(show_unavailable(1016, -1), "[103, 111, 110, 101]");
    cr_expect_str_eq(show_unavailable(1001, -1), "[bytes Z29uZQ==]");
}

Test(absent, unchanged_bytes_are_in_the_form_of_the_mode)
{
    options.binary_handling_mode = BINARY_HANDLING_BASE64;
    cr_expect_str_eq(show_unavailable(17, -1), "'Z29uZQ=='");
    options.binary_handling_mode = BINARY_HANDLING_HEX;
    cr_expect_str_eq(show_unavailable(17, -1), "'676f6e65'");
}

Test(absent, unchanged_values_without_a_form_are_null)
{
    cr_expect_str_eq(show_unavailable(1700, -1), "null");
    cr_expect_str_eq(show_unavailable(1231, -1), "null");
    cr_expect_str_eq(show_unavailable(23, -1), "null");
    options.decimal_handling_mode = DECIMAL_HANDLING_STRING;
    cr_expect_str_eq(show_unavailable(1700, -1), "'gone'");
}

Test(absent, follows_the_modes_of_times_intervals_and_hstore)
{
    options.time_precision_mode = TIME_PRECISION_ISOSTRING;
    options.interval_handling_mode = INTERVAL_HANDLING_STRING;
    options.hstore_handling_mode = HSTORE_HANDLING_MAP;
    cr_expect_str_eq(show_absent(1082, -1, NULL), "'1970-01-01Z'");
    cr_expect_str_eq(show_absent(1083, -1, NULL), "'00:00:00Z'");
    cr_expect_str_eq(show_absent(1114, -1, NULL), "'1970-01-01T00:00:00Z'");
    cr_expect_str_eq(show_absent(1114, 3, "now()"), "'1970-01-01T00:00:00Z'");
    cr_expect_str_eq(show_absent(1186, -1, NULL), "'P0Y0M0DT0H0M0S'");
    cr_expect_str_eq(show_absent(1186, -1, "'01:00:00'::interval"), "'P0Y0M0DT1H0M0S'");
    cr_expect_str_eq(show_absent(OID_HSTORE, -1, NULL), "{}");
    cr_expect_str_eq(show_unavailable(OID_HSTORE, -1), "{gone: 'gone'}");
    options.time_precision_mode = TIME_PRECISION_NANOSECONDS;
    cr_expect_str_eq(show_absent(1114, -1, NULL), "0");
}

Test(absent, is_empty_for_types_of_extensions)
{
    cr_expect_str_eq(show_absent(OID_GEOMETRY, -1, NULL), "{wkb: bytes AQcAAAAAAAAA, srid: null}");
    cr_expect_str_eq(show_absent(OID_VECTOR, -1, NULL), "[]");
    cr_expect_str_eq(show_absent(OID_HALFVEC, -1, NULL), "[]");
    cr_expect_str_eq(show_absent(OID_SPARSEVEC, -1, NULL), "{dimensions: 0, vector: []}");
    cr_expect_str_eq(show_unavailable(OID_GEOMETRY, -1), "null");
}

Test(absent, unchanged_arrays_of_dates_are_the_placeholders_bytes_where_dates_are_numbers)
{
    cr_expect_str_eq(show_unavailable(1182, -1), "[103, 111, 110, 101]");
    options.time_precision_mode = TIME_PRECISION_ISOSTRING;
    cr_expect_str_eq(show_unavailable(1182, -1), "null");
}
