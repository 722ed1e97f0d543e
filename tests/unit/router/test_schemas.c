#include "decoder/schema.h"
#include "fixture.h"
#include "router/schemas.h"

TestSuite(schemas, .init = open_fixture, .fini = close_fixture);

static const struct fixture_column COLUMNS[] = {{"id", INT4, true}, {"note", TEXT, false}};

static void expect_fields(const struct schema *schema, const char *expected)
{
    char names[512] = "";

    cr_assert_not_null(schema);
    for (size_t i = 0; i < schema->field_count; i++) {
        size_t size = strlen(names);
        snprintf(names + size, sizeof(names) - size, "%s%.*s", i == 0 ? "" : " ",
                 (int)schema->fields[i].name.size, schema->fields[i].name.data);
    }
    cr_expect_str_eq(names, expected);
}

static const struct schema *field_of(const struct schema *schema, const char *name)
{
    const struct schema_field *field = schema_field(schema, wr_slice_str(name));

    cr_assert_not_null(field, "no field %s", name);
    return field->schema;
}

Test(schemas, are_named_after_the_topic)
{
    const struct route_plan *plan =
        compile(MAKE_RELATION("public", "Order Items", 'd', COLUMNS))->plan;

    cr_expect_str_eq(plan->key_schema->name, "shop.public.Order_Items.Key");
    cr_expect_str_eq(plan->row_schema->name, "shop.public.Order_Items.Value");
    cr_expect_str_eq(plan->envelope_schema->name, "shop.public.Order_Items.Envelope");
    cr_expect_eq(plan->envelope_schema->version, 2);
}

Test(schemas, hold_the_columns_of_key_and_row_and_the_row_twice)
{
    const struct route_plan *plan = compile(MAKE_RELATION("public", "t", 'd', COLUMNS))->plan;

    expect_fields(plan->key_schema, "id");
    expect_fields(plan->row_schema, "id note");
    expect_fields(plan->envelope_schema, "before after source transaction op ts_ms ts_us ts_ns");
    cr_expect(plan->row_schema->is_optional);
    cr_expect_not(plan->key_schema->is_optional);
    cr_expect_not(plan->envelope_schema->is_optional);
    cr_expect_eq(field_of(plan->envelope_schema, "before"), plan->row_schema);
    cr_expect_eq(field_of(plan->envelope_schema, "after"), plan->row_schema);
}

Test(schemas, of_a_table_without_a_key_have_none_for_it)
{
    static const struct fixture_column NO_KEY[] = {{"a", INT4, false}};

    cr_expect_null(compile(MAKE_RELATION("public", "t", 'd', NO_KEY))->plan->key_schema);
}

Test(schemas, of_source_and_transaction_are_the_same_for_all_tables)
{
    const struct route_plan *one = compile(MAKE_RELATION("public", "a", 'd', COLUMNS))->plan;
    const struct route_plan *other = compile(MAKE_RELATION("public", "b", 'd', COLUMNS))->plan;

    cr_expect_eq(field_of(one->envelope_schema, "source"),
                 field_of(other->envelope_schema, "source"));
    expect_fields(field_of(one->envelope_schema, "transaction"),
                  "id total_order data_collection_order");
    cr_expect(field_of(one->envelope_schema, "transaction")->is_optional);
    expect_fields(field_of(one->envelope_schema, "source"),
                  "version connector name ts_ms snapshot db sequence ts_us ts_ns schema table txId "
                  "lsn xmin origin origin_lsn");
}

static const struct schema *key_schema, *value_schema;

static void note_schemas(const struct record *record)
{
    key_schema = record->key.schema;
    value_schema = record->value.schema;
}

Test(schemas, go_with_every_part_of_a_record)
{
    const struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', COLUMNS));

    also_emit = note_schemas;
    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "x")), WR_OK);
    cr_expect_eq(key_schema, relation->plan->key_schema);
    cr_expect_eq(value_schema, relation->plan->envelope_schema);

    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1", NULL), NULL), WR_OK);
    cr_expect_eq(key_schema, relation->plan->key_schema);
    cr_expect_null(value_schema, "a tombstone has none");
}

static void expect_header_schema(const struct record *record)
{
    const struct schema *expected = record->key.schema;

    cr_expect_eq(record->header_count, 1);
    cr_expect_eq(record->headers[0].value.schema, expected);
}

Test(schemas, go_with_the_headers_of_a_moved_key)
{
    const struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', COLUMNS));

    also_emit = expect_header_schema;
    cr_assert_eq(route(OP_UPDATE, relation, OLD_KEY, ROW("1", NULL), ROW("2", "x")), WR_OK);
}

static const struct message MESSAGE = {
    .logical = {.prefix = "audit", .content = WR_SLICE("x"), .is_transactional = true}};

Test(schemas, of_logical_messages_say_prefix_and_content)
{
    struct change_source source = {0};

    start_router();
    also_emit = note_schemas;
    cr_assert_eq(router_message(router, &MESSAGE, &source, scratch, &err), WR_OK);
    cr_expect_str_eq(key_schema->name, "io.debezium.connector.postgresql.MessageKey");
    expect_fields(key_schema, "prefix");
    cr_expect_str_eq(value_schema->name, "io.debezium.connector.postgresql.MessageValue");
    expect_fields(value_schema, "op ts_ms source transaction message");
    expect_fields(field_of(value_schema, "message"), "prefix content");
}

static const struct schema *column_schema(bool is_optional, const struct datum *default_value)
{
    const struct column_type type = {.schema = schema_plain(SCHEMA_INT32, false)};

    return schemas_column(scratch, &type, is_optional, default_value);
}

Test(schemas, of_columns_say_what_may_be_null_and_what_stands_in_its_place)
{
    const struct datum none = {.kind = DATUM_NULL};
    const struct datum seven = {.kind = DATUM_INT, .as.integer = 7};

    cr_expect_eq(column_schema(false, &none), schema_plain(SCHEMA_INT32, false));
    cr_expect(column_schema(true, &none)->is_optional);
    cr_expect_eq(column_schema(false, &seven)->default_value->as.integer, 7);
    cr_expect_not(column_schema(false, &seven)->is_optional);
}
