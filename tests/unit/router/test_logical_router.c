#include "decoder/schema.h"
#include "fixture.h"

TestSuite(logical_router, .init = open_fixture, .fini = close_fixture);

static const struct fixture_column COLUMNS[] = {{"id", INT4, true}, {"v", TEXT, false}};

static struct transform_config transforms[2];

static struct logical_router_config *add_router(const char *regex, const char *replacement)
{
    struct transform_config *t = &transforms[config.transform_count++];

    *t = (struct transform_config){
        .name = "r",
        .kind = TRANSFORM_LOGICAL_ROUTER,
        .as.logical_router = {.topic_regex = regex,
                              .topic_replacement = replacement,
                              .key_enforce_uniqueness = true,
                              .key_field_name = "from"},
    };
    config.transforms = transforms;
    return &t->as.logical_router;
}

static struct relation *table(const char *name, char identity)
{
    return compile(MAKE_RELATION("public", name, identity, COLUMNS));
}

Test(logical_router, joins_tables_under_keys_that_name_them)
{
    struct logical_router_config *c = add_router("(.*)public\\.orders_(.*)", "$1all_orders");

    expect_insert(
        table("orders_1", 'd'), ROW("7", "a"),
        "shop.all_orders | {id: 7, from: 'shop.public.orders_1'} | c - {id: 7, v: 'a'}\n");
    router_free(router);
    router = NULL;
    c->key_field_regex = ".*_(.*)";
    c->key_field_replacement = "shard $1";
    expect_insert(table("orders_2", 'd'), ROW("7", "a"),
                  "shop.all_orders | {id: 7, from: 'shard 2'} | c - {id: 7, v: 'a'}\n");
}

Test(logical_router, takes_the_topic_where_the_keys_expression_does_not_match)
{
    struct logical_router_config *c = add_router("(.*)orders_.*", "$1orders");

    c->key_field_regex = "nothing(.*)";
    c->key_field_replacement = "$1";
    expect_insert(table("orders_1", 'd'), ROW("7", "a"),
                  "shop.public.orders | {id: 7, from: 'shop.public.orders_1'} | "
                  "c - {id: 7, v: 'a'}\n");
}

Test(logical_router, routes_tombstones_moves_and_rows_without_a_key)
{
    add_router("(.*)orders_.*", "$1orders");
    const struct relation *relation = table("orders_1", 'd');
    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("7", NULL), NULL), WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 7, from: 'shop.public.orders_1'} | "
                   "d {id: 7, v: NULL} -\n"
                   "shop.public.orders | {id: 7, from: 'shop.public.orders_1'} | null\n");
    expect_insert(table("orders_2", 'n'), ROW("7", "a"),
                  "shop.public.orders | null | c - {id: 7, v: 'a'}\n");
}

Test(logical_router, leaves_other_topics_and_keys_alone)
{
    add_router(".*orders_(.*)", "$1")->key_enforce_uniqueness = false;
    expect_insert(table("events", 'd'), ROW("7", "a"),
                  "shop.public.events | {id: 7} | c - {id: 7, v: 'a'}\n");
    expect_insert(table("orders_x", 'd'), ROW("7", "a"), "x | {id: 7} | c - {id: 7, v: 'a'}\n");
    expect_insert(table("orders_", 'd'), ROW("7", "a"), /* would be no name */
                  "shop.public.orders_ | {id: 7} | c - {id: 7, v: 'a'}\n");
}

Test(logical_router, works_behind_another_one)
{
    add_router("(.*)orders_.*", "$1orders");
    add_router("(.*)\\.public\\.(.*)", "$1.$2")->key_field_name = "again";
    expect_insert(table("orders_1", 'd'), ROW("7", "a"),
                  "shop.orders | {id: 7, from: 'shop.public.orders_1', "
                  "again: 'shop.public.orders'} | c - {id: 7, v: 'a'}\n");
}

static const struct schema *key, *value;

static void keep_schemas(const struct record *record)
{
    cr_expect(key == NULL || key == record->key.schema);
    key = record->key.schema;
    value = record->value.schema;
}

Test(logical_router, names_the_schemas_after_the_new_topic)
{
    add_router("(.*)orders_.*", "$1orders");
    const struct relation *relation = table("orders_1", 'd');
    also_emit = keep_schemas;
    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("7", "a")), WR_OK);
    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("8", "a")), WR_OK);
    cr_assert_not_null(key);
    cr_expect_str_eq(key->name, "shop.public.orders.Key");
    cr_assert_eq(key->field_count, 2);
    cr_expect(wr_slice_is(key->fields[1].name, "from"));
    cr_expect_eq(key->fields[1].schema->type, SCHEMA_STRING);
    cr_expect_str_eq(value->name, "shop.public.orders.Envelope");
    cr_expect_eq(value->version, relation->plan->envelope_schema->version);
    cr_assert_eq(value->field_count, 8);
    cr_expect_str_eq(value->fields[0].schema->name, "shop.public.orders.Value");
    cr_expect_eq(value->fields[1].schema, value->fields[0].schema);
    cr_expect_str_eq(relation->plan->row_schema->name, "shop.public.orders_1.Value");
}

Test(logical_router, names_its_schemas_such_that_avro_takes_them)
{
    add_router("(.*)orders_.*", "$1or-ders")->schema_name_adjustment_mode = NAME_ADJUSTMENT_AVRO;
    const struct relation *relation = table("orders_1", 'd');
    also_emit = keep_schemas;
    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("7", "a")), WR_OK);
    cr_expect_str_eq(key->name, "shop.public.or_ders.Key");
    cr_expect_str_eq(value->name, "shop.public.or_ders.Envelope");
}

Test(logical_router, refuses_what_cannot_work_at_the_start)
{
    struct logical_router_config *c = add_router("(.*)", "$1");

    c->key_field_regex = "(.*)";
    cr_expect_eq(router_new(&config, &FIXTURE_SINK, &router, &err), WR_FATAL);
    cr_expect_str_eq(err.text, "transforms.r.key.field.replacement: is required beside "
                               "key.field.regex");
    c->key_field_replacement = "$2";
    cr_expect_eq(router_new(&config, &FIXTURE_SINK, &router, &err), WR_FATAL);
    c->topic_regex = "(";
    cr_expect_eq(router_new(&config, &FIXTURE_SINK, &router, &err), WR_FATAL);
}
