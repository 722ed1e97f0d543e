#include "smt_fixture.h"

TestSuite(flatten, .init = open_smt, .fini = close_smt);

static struct record_part nested(bool is_there, bool is_optional)
{
    struct given inner[] = {
        {"x", of_type(SCHEMA_INT32), an_int(1)},
        {"y", with_default(SCHEMA_STRING, a_text("d")), A_NULL},
    };
    struct schema *inner_schema = struct_schema(inner, COUNT(inner));
    struct given middle[] = {
        {"in", inner_schema, struct_datum(inner, COUNT(inner))},
        {"z", of_type(SCHEMA_BOOLEAN), a_bool(true)},
    };
    struct schema *middle_schema = struct_schema(middle, COUNT(middle));

    middle_schema->is_optional = is_optional;
    return a_struct(
        GIVEN({"a", of_type(SCHEMA_INT64), an_int(9)},
              {"o", middle_schema, is_there ? struct_datum(middle, COUNT(middle)) : A_NULL}));
}

Test(flatten, joins_names_with_the_delimiter)
{
    smt.as.flatten.delimiter = "_";
    record.value = nested(true, false);
    expect_value(&flatten_ops, "Row{a int64, o_in_x int32, o_in_y string?='d', o_z boolean} | "
                               "{a: 9, o_in_x: 1, o_in_y: 'd', o_z: true}");
}

Test(flatten, makes_optional_what_lies_in_an_optional_structure)
{
    smt.as.flatten.delimiter = ".";
    record.value = nested(true, true);
    expect_value(&flatten_ops, "Row{a int64, o.in.x int32?, o.in.y string?='d', o.z boolean?} | "
                               "{a: 9, o.in.x: 1, o.in.y: 'd', o.z: true}");
}

Test(flatten, makes_nulls_of_a_structure_that_is_null)
{
    smt.as.flatten.delimiter = ".";
    record.value = nested(false, true);
    expect_value(&flatten_ops, "Row{a int64, o.in.x int32?, o.in.y string?='d', o.z boolean?} | "
                               "{a: 9, o.in.x: NULL, o.in.y: NULL, o.z: NULL}");
}

Test(flatten, makes_optional_what_lies_in_an_optional_value)
{
    smt.as.flatten.delimiter = ".";
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT64), an_int(9)}));
    record.value.schema = schema_with_optional(smt_relation.arena, record.value.schema, true);
    expect_value(&flatten_ops, "Row{a int64?} | {a: 9}");
}

Test(flatten, keeps_arrays)
{
    static const struct datum items[] = {{.kind = DATUM_INT, .as.integer = 1}};
    struct schema *array = of_type(SCHEMA_ARRAY);

    array->element = of_type(SCHEMA_INT32);
    smt.as.flatten.delimiter = ".";
    record.value = a_struct(
        GIVEN({"a", array, ((struct datum){.kind = DATUM_ARRAY, .as.array = {items, 1}})}));
    expect_value(&flatten_ops, "Row{a array} | {a: [1]}");
}

Test(flatten, may_have_an_empty_delimiter)
{
    smt.as.flatten.delimiter = "";
    record.value = nested(true, false);
    expect_value(&flatten_ops, "Row{a int64, oinx int32, oiny string?='d', oz boolean} | "
                               "{a: 9, oinx: 1, oiny: 'd', oz: true}");
}

Test(flatten, works_on_the_key)
{
    smt.as.flatten.delimiter = ".";
    smt.is_key = true;
    record.key = nested(true, false);
    cr_assert_eq(apply(&flatten_ops), WR_OK);
    EXPECT_PART(record.key, "Row{a int64, o.in.x int32, o.in.y string?='d', o.z boolean} | "
                            "{a: 9, o.in.x: 1, o.in.y: 'd', o.z: true}");
}

Test(flatten, lets_nulls_pass)
{
    smt.as.flatten.delimiter = ".";
    expect_value(&flatten_ops, "null");
}

Test(flatten, works_without_a_schema)
{
    smt.as.flatten.delimiter = ".";
    record.value = nested(true, false);
    record.value.schema = NULL;
    expect_value(&flatten_ops, "none | {a: 9, o.in.x: 1, o.in.y: NULL, o.z: true}");
}

Test(flatten, refuses_a_map)
{
    smt.as.flatten.delimiter = ".";
    record.value = a_struct(GIVEN({"m", of_type(SCHEMA_MAP), struct_datum(NULL, 0)}));
    EXPECT_REJECT(flatten_ops, "field m is a map, which has no fixed fields");
}

Test(flatten, refuses_two_fields_of_one_name)
{
    struct given inner[] = {{"b", of_type(SCHEMA_INT32), an_int(1)}};
    struct schema *schema = struct_schema(inner, 1);

    smt.as.flatten.delimiter = ".";
    record.value = a_struct(
        GIVEN({"a.b", of_type(SCHEMA_INT32), an_int(2)}, {"a", schema, struct_datum(inner, 1)}));
    EXPECT_REJECT(flatten_ops, "two fields would have the name a.b");
}

Test(flatten, refuses_what_has_no_fields)
{
    smt.as.flatten.delimiter = ".";
    record.value = a_part(of_type(SCHEMA_STRING), a_text("x"));
    EXPECT_REJECT(flatten_ops, "the value is no structure with fields");
}
