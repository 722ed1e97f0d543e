#include "smt_fixture.h"

TestSuite(mask_field, .init = open_smt, .fini = close_smt);

static const char *field[] = {"f"};

static void with(const char *replacement)
{
    smt.as.mask_field = (struct mask_field_config){{field, 1}, replacement, true};
}

static void expect_mask(const struct schema *schema, struct datum value, const char *text)
{
    record.value = a_struct(GIVEN({"f", schema, value}));
    const struct schema *before = record.value.schema;
    cr_assert_eq(apply(&mask_field_ops), WR_OK, "%s", err.text);
    cr_expect_eq(record.value.schema, before);
    emitted_size = 0;
    say_datum(&record.value.as.datum.as.structure.fields[0].value);
    cr_expect_str_eq(emitted, text);
}

static void expect_problem(const struct schema *schema, struct datum value, const char *text)
{
    char expected[256];

    record.value = a_struct(GIVEN({"f", schema, value}));
    cr_expect_eq(apply(&mask_field_ops), WR_REJECT);
    snprintf(expected, sizeof(expected), "public.orders: transforms.t: field f: %s", text);
    cr_expect_str_eq(err.text, expected);
}

Test(mask_field, puts_the_empty_value_of_each_type)
{
    static const struct datum items[] = {{.kind = DATUM_INT}};

    with(NULL);
    expect_mask(of_type(SCHEMA_INT8), an_int(1), "0");
    expect_mask(of_type(SCHEMA_INT16), an_int(1), "0");
    expect_mask(of_type(SCHEMA_INT32), an_int(1), "0");
    expect_mask(of_type(SCHEMA_INT64), an_int(1), "0");
    expect_mask(of_type(SCHEMA_FLOAT32), a_float(DATUM_FLOAT32, "1.5"), "float 0");
    expect_mask(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "1.5"), "float 0");
    expect_mask(of_type(SCHEMA_BOOLEAN), a_bool(true), "false");
    expect_mask(of_type(SCHEMA_STRING), a_text("secret"), "''");
    expect_mask(of_type(SCHEMA_BYTES), some_bytes("x", 1), "bytes ");
    expect_mask(a_decimal("2"), some_bytes("x", 1), "bytes 00");
    expect_mask(named(SCHEMA_INT32, "org.apache.kafka.connect.data.Date"), an_int(9), "0");
    expect_mask(of_type(SCHEMA_ARRAY), (struct datum){.kind = DATUM_ARRAY, .as.array = {items, 1}},
                "[]");
    expect_mask(of_type(SCHEMA_MAP), struct_datum(GIVEN({"k", NULL, an_int(1)})), "{}");
}

Test(mask_field, puts_a_replacement_of_numbers_and_text)
{
    with("7");
    expect_mask(of_type(SCHEMA_INT8), an_int(1), "7");
    expect_mask(of_type(SCHEMA_INT64), an_int(1), "7");
    expect_mask(of_type(SCHEMA_FLOAT32), a_float(DATUM_FLOAT32, "1.5"), "float 7");
    expect_mask(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "1.5"), "float 7");
    expect_mask(of_type(SCHEMA_STRING), a_text("secret"), "'7'");
    expect_mask(a_decimal("2"), some_bytes("x", 1), "bytes 02bc");
}

Test(mask_field, takes_whole_numbers_in_whatever_form)
{
    with("1e2");
    expect_mask(of_type(SCHEMA_INT16), an_int(1), "100");
    smt.as.mask_field.replacement = "1.50";
    expect_mask(of_type(SCHEMA_INT32), an_int(1), "1");
    expect_mask(a_decimal("1"), some_bytes("x", 1), "bytes 0f");
}

Test(mask_field, leaves_nulls_and_other_fields_alone)
{
    with(NULL);
    record.value = a_struct(GIVEN({"f", optional_of_type(SCHEMA_STRING), A_NULL},
                                  {"g", of_type(SCHEMA_STRING), a_text("open")}));
    expect_value(&mask_field_ops, "Row{f string?, g string} | {f: NULL, g: 'open'}");
}

Test(mask_field, masks_the_default_that_stands_for_a_null)
{
    with("***");
    record.value = a_struct(GIVEN({"f", with_default(SCHEMA_STRING, a_text("d")), A_NULL},
                                  {"g", with_default(SCHEMA_STRING, a_text("e")), A_NULL}));
    expect_value(&mask_field_ops, "Row{f string?='d', g string?='e'} | {f: '***', g: 'e'}");
}

Test(mask_field, keeps_nulls_where_it_is_told_to)
{
    with("***");
    smt.as.mask_field.replace_null_with_default = false;
    record.value = a_struct(GIVEN({"f", with_default(SCHEMA_STRING, a_text("d")), A_NULL}));
    expect_value(&mask_field_ops, "Row{f string?='d'} | {f: NULL}");
}

Test(mask_field, works_on_the_key)
{
    with("***");
    smt.is_key = true;
    record.key = a_struct(GIVEN({"f", of_type(SCHEMA_STRING), a_text("secret")}));
    cr_assert_eq(apply(&mask_field_ops), WR_OK);
    EXPECT_PART(record.key, "Row{f string} | {f: '***'}");
}

Test(mask_field, lets_a_tombstone_pass)
{
    with(NULL);
    expect_value(&mask_field_ops, "null");
}

Test(mask_field, works_without_a_schema)
{
    with(NULL);
    record.value = a_struct(GIVEN({"f", of_type(SCHEMA_STRING), a_text("secret")}));
    record.value.schema = NULL;
    expect_value(&mask_field_ops, "none | {f: ''}");
}

Test(mask_field, refuses_a_replacement_that_the_type_does_not_have)
{
    with("300");
    expect_problem(of_type(SCHEMA_INT8), an_int(1),
                   "is out of the range of the type it is cast to");
    expect_problem(of_type(SCHEMA_BOOLEAN), a_bool(true),
                   "a replacement is for numbers and text alone");
    expect_problem(of_type(SCHEMA_BYTES), some_bytes("x", 1),
                   "a replacement is for numbers and text alone");
    expect_problem(named(SCHEMA_INT32, "org.apache.kafka.connect.data.Date"), an_int(1),
                   "a replacement is for numbers and text, not for times");
}

Test(mask_field, refuses_text_in_the_place_of_a_number)
{
    with("***");
    expect_problem(of_type(SCHEMA_INT32), an_int(1), "the replacement is no number");
    expect_problem(a_decimal("2"), some_bytes("x", 1), "the replacement is no decimal number");
    smt.as.mask_field.replacement = "1.255";
    expect_problem(a_decimal("2"), some_bytes("x", 1),
                   "the replacement has more digits behind the point than the field");
}

Test(mask_field, refuses_a_structure)
{
    with(NULL);
    expect_problem(struct_schema(NULL, 0), struct_datum(NULL, 0),
                   "a structure has no empty value: use Flatten before, or leave the field out "
                   "with ReplaceField");
}

Test(mask_field, never_tells_the_value)
{
    with("***");
    record.value = a_struct(GIVEN({"f", of_type(SCHEMA_INT64), an_int(4711)}));
    cr_expect_eq(apply(&mask_field_ops), WR_REJECT);
    cr_expect_null(strstr(err.text, "4711"));
}
