#include "smt_fixture.h"

TestSuite(cast, .init = open_smt, .fini = close_smt);

static struct cast_field specs[4];

static void of(const char *field, enum cast_type type)
{
    struct cast_config *c = &smt.as.cast;

    specs[c->field_count] = (struct cast_field){field, type};
    c->fields = specs;
    c->field_count++;
    c->replace_null_with_default = true;
}

Test(cast, casts_the_fields_of_its_list)
{
    of("a", CAST_STRING);
    of("b", CAST_INT16);
    of("missing", CAST_INT8);
    record.value =
        a_struct(GIVEN({"a", named(SCHEMA_INT64, "io.debezium.time.Timestamp"), an_int(7)},
                       {"b", optional_of_type(SCHEMA_STRING), a_text("12")},
                       {"c", a_decimal("2"), some_bytes("\1", 1)}));
    expect_value(&cast_ops, "Row{a string, b int16?, c bytes Decimal v1 scale=2} | "
                            "{a: '7', b: 12, c: bytes 01}");
}

Test(cast, keeps_what_the_structure_is)
{
    of("a", CAST_STRING);
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT64), an_int(7)}));
    record.value.schema = schema_with_optional(smt_relation.arena, record.value.schema, true);
    expect_value(&cast_ops, "Row{a string}? | {a: '7'}");
}

Test(cast, casts_defaults_too)
{
    of("a", CAST_STRING);
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_INT64, an_int(7)), A_NULL},
                                  {"b", with_default(SCHEMA_INT64, an_int(8)), A_NULL}));
    expect_value(&cast_ops, "Row{a string?='7', b int64?=8} | {a: '7', b: 8}");
}

Test(cast, keeps_nulls_where_it_is_told_to)
{
    of("a", CAST_STRING);
    smt.as.cast.replace_null_with_default = false;
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_INT64, an_int(7)), A_NULL},
                                  {"b", with_default(SCHEMA_INT64, an_int(8)), A_NULL}));
    expect_value(&cast_ops, "Row{a string?='7', b int64?=8} | {a: NULL, b: NULL}");
}

Test(cast, casts_a_whole_value_and_keeps_its_name)
{
    of(NULL, CAST_STRING);
    record.value = a_part(named(SCHEMA_INT32, "io.debezium.time.Date"), an_int(7));
    expect_value(&cast_ops, "string Date v1 | '7'");
}

Test(cast, casts_a_whole_key)
{
    of(NULL, CAST_INT64);
    smt.is_key = true;
    record.key = a_part(with_default(SCHEMA_STRING, a_text("1")), a_text("42"));
    cr_assert_eq(apply(&cast_ops), WR_OK);
    EXPECT_PART(record.key, "int64?=1 | 42");
}

Test(cast, lets_nulls_pass)
{
    of("a", CAST_STRING);
    expect_value(&cast_ops, "null");
    record.value = a_part(optional_of_type(SCHEMA_INT32), A_NULL);
    expect_value(&cast_ops, "int32? | NULL");
}

Test(cast, works_without_a_schema)
{
    of("a", CAST_STRING);
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT64), an_int(7)}));
    record.value.schema = NULL;
    expect_value(&cast_ops, "none | {a: '7'}");
}

Test(cast, refuses_a_value_that_the_type_does_not_have)
{
    of("a", CAST_INT32);
    of("b", CAST_INT8);
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT64), an_int(5000000000)},
                                  {"b", of_type(SCHEMA_STRING), a_text("1")}));
    EXPECT_REJECT(cast_ops, "field a of the value, 5000000000: is out of the range of the type it "
                            "is cast to");
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT64), an_int(1)},
                                  {"b", of_type(SCHEMA_STRING), a_text("one")}));
    EXPECT_REJECT(cast_ops,
                  "field b of the value, \"one\": is no number of the type it is cast to");
}

Test(cast, refuses_a_default_that_the_type_does_not_have)
{
    of("a", CAST_INT32);
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_STRING, a_text("none")), a_text("1")}));
    EXPECT_REJECT(cast_ops,
                  "field a of the value, \"none\": is no number of the type it is cast to");
}

Test(cast, refuses_fields_that_cannot_be_cast)
{
    of("a", CAST_INT32);
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_BYTES), some_bytes("x", 1)}));
    EXPECT_REJECT(cast_ops, "a: a value of this type cannot be cast but to string");
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_MAP), struct_datum(NULL, 0)}));
    EXPECT_REJECT(cast_ops, "a: a value of this type cannot be cast");
}

Test(cast, refuses_a_structure_as_a_whole)
{
    of(NULL, CAST_STRING);
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)}));
    EXPECT_REJECT(cast_ops, "a value of this type cannot be cast");
}

Test(cast, refuses_fields_of_what_has_none)
{
    of("a", CAST_INT32);
    smt.is_key = true;
    record.key = a_part(of_type(SCHEMA_INT32), an_int(1));
    EXPECT_REJECT(cast_ops, "the key is no structure with fields");
}
