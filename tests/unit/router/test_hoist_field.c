#include "smt_fixture.h"

TestSuite(hoist_field, .init = open_smt, .fini = close_smt);

Test(hoist_field, wraps_a_structure)
{
    smt.as.hoist_field.field = "row";
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)}));
    expect_value(&hoist_field_ops, "{row Row{a int32}} | {row: {a: 1}}");
}

Test(hoist_field, wraps_a_single_value_of_the_key)
{
    smt.as.hoist_field.field = "id";
    smt.is_key = true;
    record.key = a_part(optional_of_type(SCHEMA_STRING), a_text("k"));
    cr_assert_eq(apply(&hoist_field_ops), WR_OK);
    EXPECT_PART(record.key, "{id string?} | {id: 'k'}");
}

Test(hoist_field, wraps_a_null_of_a_type)
{
    smt.as.hoist_field.field = "id";
    record.value = a_part(optional_of_type(SCHEMA_STRING), A_NULL);
    expect_value(&hoist_field_ops, "{id string?} | {id: NULL}");
}

Test(hoist_field, wraps_a_tombstone_too_as_kafkas_does)
{
    smt.as.hoist_field.field = "row";
    expect_value(&hoist_field_ops, "none | {row: NULL}");
}

Test(hoist_field, works_without_a_schema)
{
    smt.as.hoist_field.field = "row";
    record.value = a_part(NULL, an_int(1));
    expect_value(&hoist_field_ops, "none | {row: 1}");
}
