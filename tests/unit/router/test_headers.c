#include "smt_fixture.h"

TestSuite(headers, .init = open_smt, .fini = close_smt);

static const char *fields[] = {"a", "b"};
static const char *names[] = {"x", "y"};

static const struct record_header *header(const char *name)
{
    const struct record_header *found = record_header_find(&record, name);

    cr_assert_not_null(found, "%s", name);
    return found;
}

static void insert(const char *literal)
{
    smt.as.insert_header = (struct insert_header_config){"h", literal};
    cr_assert_eq(apply(&insert_header_ops), WR_OK, "%s", err.text);
    cr_expect(kept);
}

Test(headers, are_inserted)
{
    insert("boxoffice");
    cr_assert_eq(record.header_count, 1);
    EXPECT_PART(header("h")->value, "string | 'boxoffice'");
}

Test(headers, are_inserted_beside_others_of_their_name)
{
    insert("1");
    cr_assert_eq(apply(&insert_header_ops), WR_OK);
    cr_expect_eq(record.header_count, 2);
}

Test(headers, are_refused_beyond_their_most)
{
    insert("1");
    record.header_count = RECORD_HEADERS_MAX;
    cr_expect_eq(apply(&insert_header_ops), WR_REJECT);
    cr_expect_str_eq(err.text, "header h: a record has at most 32 headers");
}

static void of_two(enum header_operation operation)
{
    smt.as.header_from = (struct header_from_config){{fields, 2}, {names, 2}, operation, true};
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)},
                                  {"b", with_default(SCHEMA_STRING, a_text("d")), A_NULL},
                                  {"c", with_default(SCHEMA_INT32, an_int(3)), A_NULL}));
}

Test(headers, are_copied_from_fields)
{
    of_two(HEADER_COPY);
    expect_value(&header_from_ops,
                 "Row{a int32, b string?='d', c int32?=3} | {a: 1, b: NULL, c: NULL}");
    cr_assert_eq(record.header_count, 2);
    EXPECT_PART(header("x")->value, "int32 | 1");
    EXPECT_PART(header("y")->value, "string?='d' | 'd'");
}

Test(headers, take_fields_away)
{
    of_two(HEADER_MOVE);
    expect_value(&header_from_ops, "Row{c int32?=3} | {c: 3}");
    EXPECT_PART(header("x")->value, "int32 | 1");
    EXPECT_PART(header("y")->value, "string?='d' | 'd'");
}

Test(headers, keep_nulls_where_they_are_told_to)
{
    of_two(HEADER_MOVE);
    smt.as.header_from.replace_null_with_default = false;
    expect_value(&header_from_ops, "Row{c int32?=3} | {c: NULL}");
    EXPECT_PART(header("y")->value, "string?='d' | NULL");
}

Test(headers, are_copied_from_the_key)
{
    of_two(HEADER_COPY);
    smt.is_key = true;
    record.key = record.value;
    record.value = (struct record_part){.kind = PART_NULL};
    cr_assert_eq(apply(&header_from_ops), WR_OK);
    EXPECT_PART(header("x")->value, "int32 | 1");
}

Test(headers, are_not_made_of_a_tombstone)
{
    of_two(HEADER_MOVE);
    record.value = (struct record_part){.kind = PART_NULL};
    expect_value(&header_from_ops, "null");
    cr_expect_eq(record.header_count, 0);
}

Test(headers, come_from_values_without_a_schema_too)
{
    of_two(HEADER_MOVE);
    record.value.schema = NULL;
    expect_value(&header_from_ops, "none | {c: NULL}");
    EXPECT_PART(header("x")->value, "none | 1");
    EXPECT_PART(header("y")->value, "null");
}

Test(headers, are_refused_of_a_field_that_is_not_there)
{
    of_two(HEADER_COPY);
    record.value = a_struct(GIVEN({"a", of_type(SCHEMA_INT32), an_int(1)}));
    EXPECT_REJECT(header_from_ops, "there is no field b for the header y");
}

Test(headers, are_refused_of_what_has_no_fields)
{
    of_two(HEADER_COPY);
    record.value = a_part(of_type(SCHEMA_STRING), a_text("x"));
    EXPECT_REJECT(header_from_ops, "the value is no structure with fields");
}

Test(headers, are_dropped_by_name_with_all_their_twins)
{
    static const char *others[] = {"keep", "h", "also", "h"};

    for (size_t i = 0; i < COUNT(others); i++) {
        record.headers[record.header_count++].name = others[i];
    }
    smt.as.drop_headers.headers = (struct config_names){(const char *[]){"h", "z"}, 2};
    cr_assert_eq(apply(&drop_headers_ops), WR_OK);
    cr_assert_eq(record.header_count, 2);
    cr_expect_str_eq(record.headers[0].name, "keep");
    cr_expect_str_eq(record.headers[1].name, "also");
}

Test(headers, filter_drops_the_record)
{
    cr_assert_eq(apply(&filter_ops), WR_OK);
    cr_expect_not(kept);
}
