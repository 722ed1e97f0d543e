#include "smt_fixture.h"

TestSuite(extract_field, .init = open_smt, .fini = close_smt);

static void of_field(const char *field, enum field_syntax syntax)
{
    smt.as.extract_field = (struct extract_field_config){field, syntax, true};
}

static struct record_part simple(void)
{
    return a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)},
                          {"b.c", optional_of_type(SCHEMA_STRING), a_text("x")}));
}

/* {o: {i: 5, "d.t": "y", "b`.": true}} */
static struct record_part nested(bool is_there)
{
    struct given inner[] = {
        {"i", with_default(SCHEMA_INT32, an_int(3)), an_int(5)},
        {"d.t", of_type(SCHEMA_STRING), a_text("y")},
        {"b`.", of_type(SCHEMA_BOOLEAN), a_bool(true)},
    };
    struct schema *schema = struct_schema(inner, COUNT(inner));

    schema->is_optional = true;
    return a_struct(GIVEN({"o", schema, is_there ? struct_datum(inner, COUNT(inner)) : A_NULL}));
}

Test(extract_field, makes_a_field_the_whole_value)
{
    of_field("a", FIELD_SYNTAX_V1);
    record.value = simple();
    expect_value(&extract_field_ops, "int32 | 1");
}

Test(extract_field, makes_a_field_the_whole_key)
{
    of_field("a", FIELD_SYNTAX_V1);
    smt.is_key = true;
    record.key = simple();
    cr_assert_eq(apply(&extract_field_ops), WR_OK);
    EXPECT_PART(record.key, "int32 | 1");
    EXPECT_PART(record.value, "null");
}

Test(extract_field, takes_dots_for_a_part_of_the_name)
{
    of_field("b.c", FIELD_SYNTAX_V1);
    record.value = simple();
    expect_value(&extract_field_ops, "string? | 'x'");
}

Test(extract_field, keeps_a_null_field_as_a_null_of_its_type)
{
    of_field("a", FIELD_SYNTAX_V1);
    record.value = a_struct(GIVEN({"a", optional_of_type(SCHEMA_STRING), A_NULL}));
    expect_value(&extract_field_ops, "string? | NULL");
}

Test(extract_field, takes_the_default_of_a_null_field)
{
    of_field("a", FIELD_SYNTAX_V1);
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_INT32, an_int(9)), A_NULL}));
    expect_value(&extract_field_ops, "int32?=9 | 9");
}

Test(extract_field, keeps_a_null_with_a_default_where_it_is_told_to)
{
    of_field("a", FIELD_SYNTAX_V1);
    smt.as.extract_field.replace_null_with_default = false;
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_INT32, an_int(9)), A_NULL}));
    expect_value(&extract_field_ops, "int32?=9 | NULL");
}

Test(extract_field, lets_a_tombstone_pass)
{
    of_field("a", FIELD_SYNTAX_V1);
    expect_value(&extract_field_ops, "null");
}

Test(extract_field, gives_a_null_structure_the_schema_of_the_field)
{
    of_field("a", FIELD_SYNTAX_V1);
    record.value = a_part(simple().schema, A_NULL);
    expect_value(&extract_field_ops, "int32 | NULL");
}

Test(extract_field, works_without_a_schema)
{
    of_field("a", FIELD_SYNTAX_V1);
    record.value = simple();
    record.value.schema = NULL;
    expect_value(&extract_field_ops, "none | 1");
}

Test(extract_field, of_syntax_v2_goes_into_structures)
{
    of_field("o.i", FIELD_SYNTAX_V2);
    record.value = nested(true);
    expect_value(&extract_field_ops, "int32?=3 | 5");
}

Test(extract_field, of_syntax_v2_takes_names_in_backticks)
{
    of_field("o.`d.t`", FIELD_SYNTAX_V2);
    record.value = nested(true);
    expect_value(&extract_field_ops, "string | 'y'");
}

Test(extract_field, of_syntax_v2_takes_a_backtick_before_a_dot_behind_a_backslash)
{
    of_field("`o`.`b\\`.`", FIELD_SYNTAX_V2);
    record.value = nested(true);
    expect_value(&extract_field_ops, "boolean | true");
}

Test(extract_field, of_syntax_v2_finds_null_in_a_structure_that_is_null)
{
    of_field("o.i", FIELD_SYNTAX_V2);
    record.value = nested(false);
    expect_value(&extract_field_ops, "int32?=3 | NULL");
}

Test(extract_field, of_syntax_v2_refuses_a_backtick_without_its_twin)
{
    of_field("o.`d", FIELD_SYNTAX_V2);
    record.value = nested(true);
    EXPECT_REJECT(extract_field_ops, "field o.`d has a backtick that is not closed");
}

Test(extract_field, refuses_a_field_that_is_not_there)
{
    of_field("z", FIELD_SYNTAX_V1);
    record.value = simple();
    EXPECT_REJECT(extract_field_ops, "there is no field z");
}

Test(extract_field, refuses_a_path_through_what_is_no_structure)
{
    of_field("a.b", FIELD_SYNTAX_V2);
    record.value = simple();
    EXPECT_REJECT(extract_field_ops, "there is no field a.b");
}

Test(extract_field, refuses_a_key_without_fields)
{
    of_field("a", FIELD_SYNTAX_V1);
    smt.is_key = true;
    record.key = a_part(of_type(SCHEMA_INT32), an_int(1));
    EXPECT_REJECT(extract_field_ops, "the key is no structure with fields");
}
