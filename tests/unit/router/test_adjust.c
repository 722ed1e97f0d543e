#include <criterion/criterion.h>

#include "router/adjust.h"

static void expect_name(enum name_adjustment_mode mode, enum adjusted_name kind, const char *name,
                        const char *expected)
{
    struct wr_buffer out;

    wr_buffer_init(&out, 1024);
    adjust_name(&out, mode, kind, wr_slice_str(name));
    cr_expect(wr_slice_is(wr_buffer_slice(&out), expected), "%s: %.*s instead of %s", name,
              (int)out.size, out.data == NULL ? "" : out.data, expected);
    wr_buffer_done(&out);
}

Test(adjust, leaves_names_as_they_are_unless_told)
{
    expect_name(NAME_ADJUSTMENT_NONE, ADJUST_FIELD, "1-ü.x", "1-ü.x");
}

Test(adjust, puts_an_underscore_for_each_utf16_unit_that_avro_forbids)
{
    expect_name(NAME_ADJUSTMENT_AVRO, ADJUST_FIELD, "plain_1", "plain_1");
    expect_name(NAME_ADJUSTMENT_AVRO, ADJUST_FIELD, "a-b", "a_b");
    expect_name(NAME_ADJUSTMENT_AVRO, ADJUST_FIELD, "na\xc3\xafve", "na_ve");
    expect_name(NAME_ADJUSTMENT_AVRO, ADJUST_FIELD, "x\xf0\x9f\x98\x80y", "x__y");
    expect_name(NAME_ADJUSTMENT_AVRO, ADJUST_FIELD, "", "");
}

Test(adjust, keeps_a_leading_digit_behind_an_underscore)
{
    expect_name(NAME_ADJUSTMENT_AVRO, ADJUST_FIELD, "1st", "_1st");
    expect_name(NAME_ADJUSTMENT_AVRO_UNICODE, ADJUST_FIELD, "1st", "_u0031st");
}

Test(adjust, lets_dots_stand_in_names_of_schemas_alone)
{
    expect_name(NAME_ADJUSTMENT_AVRO, ADJUST_SCHEMA, "shop.public.odd-table.Key",
                "shop.public.odd_table.Key");
    expect_name(NAME_ADJUSTMENT_AVRO, ADJUST_FIELD, "a.b", "a_b");
    expect_name(NAME_ADJUSTMENT_AVRO, ADJUST_SCHEMA, ".a", "_a");
}

Test(adjust, escapes_with_the_units_of_utf16)
{
    expect_name(NAME_ADJUSTMENT_AVRO_UNICODE, ADJUST_FIELD, "a_b-c", "a_u005fb_u002dc");
    expect_name(NAME_ADJUSTMENT_AVRO_UNICODE, ADJUST_FIELD, "\xc3\xaf", "_u00ef");
    expect_name(NAME_ADJUSTMENT_AVRO_UNICODE, ADJUST_FIELD, "\xc4\x81", "_u101"); /* as Debezium */
    expect_name(NAME_ADJUSTMENT_AVRO_UNICODE, ADJUST_FIELD, "\xe2\x82\xac", "_u20ac");
    expect_name(NAME_ADJUSTMENT_AVRO_UNICODE, ADJUST_FIELD, "\xf0\x9f\x98\x80", "_ud83d_ude00");
}
