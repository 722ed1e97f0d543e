#include "smt_fixture.h"

TestSuite(insert_field, .init = open_smt, .fini = close_smt);

static void of_one(void)
{
    smt.as.insert_field.replace_null_with_default = true;
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_INT32, an_int(4)), A_NULL}));
}

Test(insert_field, adds_what_is_known_of_the_record)
{
    of_one();
    smt.as.insert_field.topic.name = "topic";
    smt.as.insert_field.partition.name = "part";
    smt.as.insert_field.timestamp.name = "at";
    smt.as.insert_field.fixed.name = "who";
    smt.as.insert_field.static_value = "me";
    record.partition = 3;
    record.timestamp_ms = 1767323045006;
    expect_value(&insert_field_ops, "Row{a int32?=4, topic string?, part int32?, "
                                    "at int64 Timestamp v1?, who string?} | {a: 4, topic: "
                                    "'shop.public.orders', part: 3, at: 1767323045006, who: 'me'}");
}

Test(insert_field, adds_required_fields)
{
    of_one();
    smt.as.insert_field.topic = (struct inserted_field){"topic", true};
    smt.as.insert_field.fixed = (struct inserted_field){"who", true};
    smt.as.insert_field.static_value = "";
    expect_value(&insert_field_ops, "Row{a int32?=4, topic string, who string} | "
                                    "{a: 4, topic: 'shop.public.orders', who: ''}");
}

Test(insert_field, adds_null_for_what_a_record_of_a_source_does_not_have)
{
    of_one();
    smt.as.insert_field.partition.name = "part";
    smt.as.insert_field.timestamp.name = "at";
    expect_value(&insert_field_ops, "Row{a int32?=4, part int32?, at int64 Timestamp v1?} | "
                                    "{a: 4, part: NULL, at: NULL}");
}

Test(insert_field, refuses_null_for_a_required_field)
{
    of_one();
    smt.as.insert_field.timestamp = (struct inserted_field){"at", true};
    EXPECT_REJECT(insert_field_ops,
                  "field at is required, and the record has none: take the ! off");
}

Test(insert_field, keeps_nulls_where_it_is_told_to)
{
    of_one();
    smt.as.insert_field.replace_null_with_default = false;
    smt.as.insert_field.fixed.name = "who";
    smt.as.insert_field.static_value = "me";
    expect_value(&insert_field_ops, "Row{a int32?=4, who string?} | {a: NULL, who: 'me'}");
}

Test(insert_field, works_on_the_key)
{
    of_one();
    smt.is_key = true;
    smt.as.insert_field.fixed.name = "who";
    smt.as.insert_field.static_value = "me";
    record.key = record.value;
    cr_assert_eq(apply(&insert_field_ops), WR_OK);
    EXPECT_PART(record.key, "Row{a int32?=4, who string?} | {a: 4, who: 'me'}");
    EXPECT_PART(record.value, "Row{a int32?=4} | {a: NULL}");
}

Test(insert_field, lets_a_tombstone_pass)
{
    smt.as.insert_field.topic.name = "topic";
    expect_value(&insert_field_ops, "null");
}

Test(insert_field, works_without_a_schema)
{
    of_one();
    smt.as.insert_field.topic.name = "topic";
    record.value.schema = NULL;
    expect_value(&insert_field_ops, "none | {a: NULL, topic: 'shop.public.orders'}");
}

Test(insert_field, refuses_a_name_that_is_taken)
{
    of_one();
    smt.as.insert_field.topic.name = "a";
    EXPECT_REJECT(insert_field_ops, "there is a field a already");
}

Test(insert_field, refuses_what_has_no_fields)
{
    record.value = a_part(of_type(SCHEMA_STRING), a_text("x"));
    smt.as.insert_field.topic.name = "topic";
    EXPECT_REJECT(insert_field_ops, "the value is no structure with fields");
}
