#include "smt_fixture.h"

TestSuite(value_to_key, .init = open_smt, .fini = close_smt);

static const char *fields[] = {"b", "a"};

static void of_two_fields(void)
{
    smt.as.value_to_key = (struct value_to_key_config){{fields, 2}, true};
}

Test(value_to_key, makes_the_key_of_fields_in_the_order_of_the_list)
{
    of_two_fields();
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)},
                                  {"b", optional_of_type(SCHEMA_STRING), a_text("x")},
                                  {"c", of_type(SCHEMA_BOOLEAN), a_bool(true)}));
    expect_value(&value_to_key_ops, "Row{a int32, b string?, c boolean} | {a: 1, b: 'x', c: true}");
    EXPECT_PART(record.key, "{b string?, a int32} | {b: 'x', a: 1}");
}

Test(value_to_key, keeps_nulls_or_takes_their_defaults)
{
    of_two_fields();
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_INT32, an_int(7)), A_NULL},
                                  {"b", optional_of_type(SCHEMA_STRING), A_NULL}));
    cr_assert_eq(apply(&value_to_key_ops), WR_OK);
    EXPECT_PART(record.key, "{b string?, a int32?=7} | {b: NULL, a: 7}");
    EXPECT_PART(record.value, "Row{a int32?=7, b string?} | {a: NULL, b: NULL}");
}

Test(value_to_key, keeps_nulls_where_it_is_told_to)
{
    of_two_fields();
    smt.as.value_to_key.replace_null_with_default = false;
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_INT32, an_int(7)), A_NULL},
                                  {"b", optional_of_type(SCHEMA_STRING), A_NULL}));
    cr_assert_eq(apply(&value_to_key_ops), WR_OK);
    EXPECT_PART(record.key, "{b string?, a int32?=7} | {b: NULL, a: NULL}");
}

Test(value_to_key, works_without_a_schema)
{
    of_two_fields();
    record.value = a_struct(
        GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)}, {"b", of_type(SCHEMA_STRING), a_text("x")}));
    record.value.schema = NULL;
    expect_value(&value_to_key_ops, "none | {a: 1, b: 'x'}");
    EXPECT_PART(record.key, "none | {b: 'x', a: 1}");
}

Test(value_to_key, works_on_records_without_a_table)
{
    of_two_fields();
    record.change = NULL;
    record.value = a_struct(
        GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)}, {"b", of_type(SCHEMA_STRING), a_text("x")}));
    cr_assert_eq(make_transform(&value_to_key_ops), WR_OK);
    smt_compiled = NULL;
    cr_assert_eq(apply(&value_to_key_ops), WR_OK);
    EXPECT_PART(record.key, "{b string, a int32} | {b: 'x', a: 1}");
}

Test(value_to_key, refuses_a_tombstone_whose_key_would_be_another)
{
    of_two_fields();
    EXPECT_REJECT(value_to_key_ops,
                  "a null value has no fields: keep tombstones from it with the predicate "
                  "RecordIsTombstone and negate=true");
}

Test(value_to_key, refuses_a_value_without_the_field)
{
    of_two_fields();
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)}));
    EXPECT_REJECT(value_to_key_ops, "the value has no field b for the key");
    EXPECT_REJECT(value_to_key_ops, "the value has no field b for the key");
    EXPECT_PART(record.key, "null");
}

Test(value_to_key, refuses_a_value_without_fields)
{
    of_two_fields();
    record.value = a_part(of_type(SCHEMA_STRING), a_text("x"));
    EXPECT_REJECT(value_to_key_ops, "the value is no structure with fields");
}

Test(value_to_key, refuses_a_field_that_is_named_twice)
{
    static const char *twice[] = {"a", "a"};

    smt.as.value_to_key = (struct value_to_key_config){{twice, 2}, true};
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)}));
    EXPECT_REJECT(value_to_key_ops, "fields has a twice");
}
