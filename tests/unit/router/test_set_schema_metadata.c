#include "smt_fixture.h"

TestSuite(set_schema_metadata, .init = open_smt, .fini = close_smt);

static void set(const char *name, int64_t version)
{
    smt.as.set_schema_metadata = (struct set_schema_metadata_config){name, version, true};
    record.value = a_struct(GIVEN({"a", with_default(SCHEMA_INT32, an_int(4)), A_NULL}));
    record.value.schema = schema_with_optional(smt_relation.arena, record.value.schema, true);
}

Test(set_schema_metadata, sets_name_and_version)
{
    set("shop.Order", 3);
    expect_value(&set_schema_metadata_ops, "Order v3{a int32?=4}? | {a: 4}");
}

Test(set_schema_metadata, leaves_the_name_alone)
{
    set(NULL, 0);
    expect_value(&set_schema_metadata_ops, "Row{a int32?=4}? | {a: 4}");
}

Test(set_schema_metadata, leaves_the_version_alone)
{
    set("Order", -1);
    record.value = a_part(named(SCHEMA_INT32, "io.debezium.time.Date"), an_int(7));
    expect_value(&set_schema_metadata_ops, "int32 Order v1 | 7");
}

Test(set_schema_metadata, keeps_nulls_where_it_is_told_to)
{
    set("Order", 1);
    smt.as.set_schema_metadata.replace_null_with_default = false;
    expect_value(&set_schema_metadata_ops, "Order v1{a int32?=4}? | {a: NULL}");
}

Test(set_schema_metadata, works_on_the_key_and_on_nulls_of_a_type)
{
    set("Order", 1);
    smt.is_key = true;
    record.key = a_part(optional_of_type(SCHEMA_STRING), A_NULL);
    cr_assert_eq(apply(&set_schema_metadata_ops), WR_OK);
    EXPECT_PART(record.key, "string Order v1? | NULL");
}

Test(set_schema_metadata, lets_a_tombstone_pass)
{
    set("Order", 1);
    record.value = (struct record_part){.kind = PART_NULL};
    expect_value(&set_schema_metadata_ops, "null");
}

Test(set_schema_metadata, refuses_a_value_without_a_schema)
{
    set("Order", 1);
    record.value.schema = NULL;
    EXPECT_REJECT(set_schema_metadata_ops, "there is no schema to name");
}
