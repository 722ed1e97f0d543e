#include "smt_fixture.h"

TestSuite(replace_field, .init = open_smt, .fini = close_smt);

static const char *names[] = {"a", "b"};
static struct config_pair pairs[] = {{"a", "x"}, {"c", "z"}};

static void of_three(void)
{
    smt.as.replace_field.replace_null_with_default = true;
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)},
                                  {"b", optional_of_type(SCHEMA_STRING), a_text("t")},
                                  {"c", with_default(SCHEMA_INT64, an_int(5)), A_NULL}));
}

Test(replace_field, leaves_fields_out)
{
    of_three();
    smt.as.replace_field.exclude = (struct config_names){names, 2};
    expect_value(&replace_field_ops, "Row{c int64?=5} | {c: 5}");
}

Test(replace_field, keeps_the_fields_that_are_included)
{
    of_three();
    smt.as.replace_field.include = (struct config_names){names, 2};
    expect_value(&replace_field_ops, "Row{a int32, b string?} | {a: 1, b: 't'}");
}

Test(replace_field, leaves_out_what_is_excluded_and_included)
{
    of_three();
    smt.as.replace_field.include = (struct config_names){names, 2};
    smt.as.replace_field.exclude = (struct config_names){names, 1};
    expect_value(&replace_field_ops, "Row{b string?} | {b: 't'}");
}

Test(replace_field, renames_in_place)
{
    of_three();
    smt.as.replace_field.renames = (struct config_pairs){pairs, 2};
    expect_value(&replace_field_ops, "Row{x int32, b string?, z int64?=5} | {x: 1, b: 't', z: 5}");
}

Test(replace_field, swaps_two_names)
{
    static struct config_pair swap[] = {{"a", "b"}, {"b", "a"}};

    of_three();
    smt.as.replace_field.renames = (struct config_pairs){swap, 2};
    expect_value(&replace_field_ops, "Row{b int32, a string?, c int64?=5} | {b: 1, a: 't', c: 5}");
}

/* Kafka's takes the value of the other field, by whose name it looks the old one up. */
Test(replace_field, gives_a_field_its_own_value_when_another_would_have_been_renamed_to_it)
{
    static struct config_pair to_b[] = {{"a", "b"}};

    of_three();
    smt.as.replace_field.exclude = (struct config_names){names, 1};
    smt.as.replace_field.renames = (struct config_pairs){to_b, 1};
    expect_value(&replace_field_ops, "Row{b string?, c int64?=5} | {b: 't', c: 5}");
}

Test(replace_field, keeps_nulls_where_it_is_told_to)
{
    of_three();
    smt.as.replace_field.replace_null_with_default = false;
    smt.as.replace_field.exclude = (struct config_names){names, 2};
    expect_value(&replace_field_ops, "Row{c int64?=5} | {c: NULL}");
}

Test(replace_field, works_on_the_key)
{
    of_three();
    smt.is_key = true;
    smt.as.replace_field.exclude = (struct config_names){names, 2};
    record.key = record.value;
    cr_assert_eq(apply(&replace_field_ops), WR_OK);
    EXPECT_PART(record.key, "Row{c int64?=5} | {c: 5}");
    EXPECT_PART(record.value, "Row{a int32, b string?, c int64?=5} | {a: 1, b: 't', c: NULL}");
}

Test(replace_field, makes_the_structure_required_as_kafkas_does)
{
    of_three();
    record.value.schema = schema_with_optional(smt_relation.arena, record.value.schema, true);
    smt.as.replace_field.exclude = (struct config_names){names, 2};
    expect_value(&replace_field_ops, "Row{c int64?=5} | {c: 5}");
}

Test(replace_field, lets_nulls_pass)
{
    of_three();
    const struct schema *schema = record.value.schema;
    record.value = (struct record_part){.kind = PART_NULL};
    expect_value(&replace_field_ops, "null");
    record.value = a_part(schema, A_NULL);
    expect_value(&replace_field_ops, "Row{a int32, b string?, c int64?=5} | NULL");
}

Test(replace_field, refuses_two_fields_of_one_name)
{
    static struct config_pair both[] = {{"a", "x"}, {"b", "x"}};

    of_three();
    smt.as.replace_field.renames = (struct config_pairs){both, 2};
    EXPECT_REJECT(replace_field_ops, "two fields would have the name x");
}

Test(replace_field, refuses_what_has_no_fields)
{
    record.value = a_part(of_type(SCHEMA_STRING), a_text("x"));
    EXPECT_REJECT(replace_field_ops, "the value is no structure with fields");
}

Test(replace_field, works_without_a_schema)
{
    of_three();
    record.value.schema = NULL;
    smt.as.replace_field.exclude = (struct config_names){names, 2};
    expect_value(&replace_field_ops, "none | {c: NULL}");
}

/* More than it keeps: the last ones are made anew each time. */
Test(replace_field, works_on_as_many_schemas_as_come)
{
    enum { SCHEMA_COUNT = 20 };
    struct record_part parts[SCHEMA_COUNT];
    char text[64];

    of_three();
    smt.as.replace_field.exclude = (struct config_names){names, 1};
    for (size_t i = 0; i < SCHEMA_COUNT; i++) {
        const char *name = wr_arena_printf(smt_relation.arena, "f%zu", i);
        parts[i] = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)},
                                  {name, of_type(SCHEMA_INT32), an_int((int64_t)i)}));
    }
    for (size_t i = 0; i < (size_t)SCHEMA_COUNT * 2; i++) {
        record.value = parts[i % SCHEMA_COUNT];
        cr_assert_eq(apply(&replace_field_ops), WR_OK, "%s", err.text);
        snprintf(text, sizeof(text), "Row{f%zu int32} | {f%zu: %zu}", i % SCHEMA_COUNT,
                 i % SCHEMA_COUNT, i % SCHEMA_COUNT);
        EXPECT_PART(record.value, text);
    }
}
