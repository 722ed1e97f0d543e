#include "decoder/schema.h"
#include "fixture.h"
#include "router/transforms/unwrap.h"

TestSuite(unwrap, .init = open_fixture, .fini = close_fixture);

static const struct fixture_column COLUMNS[] = {{"id", INT4, true}, {"v", TEXT, false}};

static struct transform_config transform;

#define NAMES(...)                                                                                 \
    ((struct config_names){.items = (const char *[]){__VA_ARGS__},                                 \
                           .count = COUNT(((const char *[]){__VA_ARGS__}))})

/* The options, to be changed before the first relation is compiled. */
static struct unwrap_config *unwrap(enum delete_tombstone_handling_mode deletes)
{
    transform = (struct transform_config){
        .name = "unwrap",
        .kind = TRANSFORM_UNWRAP,
        .as.unwrap = {.deletes = deletes,
                      .drop_tombstones = true,
                      .add_fields_prefix = "__",
                      .add_headers_prefix = "__",
                      .drop_fields_keep_schema_compatible = true},
    };
    config.transforms = &transform;
    config.transform_count = 1;
    return &transform.as.unwrap;
}

static struct relation *orders(char identity)
{
    return compile(MAKE_RELATION("public", "orders", identity, COLUMNS));
}

/* What a create, an update, a delete and a truncate become. */
static void expect_changes(const char *text)
{
    const struct relation *relation = orders('d');
    char all[4096] = "";

    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a")), WR_OK, "%s", err.text);
    strcat(all, emitted);
    cr_assert_eq(route(OP_UPDATE, relation, OLD_NONE, NULL, ROW("1", "b")), WR_OK, "%s", err.text);
    strcat(all, emitted);
    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1", NULL), NULL), WR_OK, "%s", err.text);
    strcat(all, emitted);
    cr_assert_eq(route(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL), WR_OK, "%s", err.text);
    strcat(all, emitted);
    cr_expect_str_eq(all, text, "emitted:\n%s", all);
}

#define LIVE                                                                                       \
    "shop.public.orders | {id: 1} | {id: 1, v: 'a'}\n"                                             \
    "shop.public.orders | {id: 1} | {id: 1, v: 'b'}\n"
#define LIVE_REWRITTEN                                                                             \
    "shop.public.orders | {id: 1} | {id: 1, v: 'a', __deleted: 'false'}\n"                         \
    "shop.public.orders | {id: 1} | {id: 1, v: 'b', __deleted: 'false'}\n"
#define DEAD_REWRITTEN "shop.public.orders | {id: 1} | {id: 1, v: NULL, __deleted: 'true'}\n"
#define TOMBSTONE      "shop.public.orders | {id: 1} | null\n"

Test(unwrap, makes_a_delete_a_null_that_has_a_schema)
{
    unwrap(DELETE_TO_NULL);
    expect_changes(LIVE "shop.public.orders | {id: 1} | NULL\n");
}

Test(unwrap, drops_a_delete)
{
    unwrap(DELETE_DROP);
    expect_changes(LIVE);
}

Test(unwrap, drops_a_delete_and_keeps_its_tombstone_as_debezium_2_does)
{
    unwrap(DELETE_DROP)->drop_tombstones = false;
    expect_changes(LIVE TOMBSTONE);
}

Test(unwrap, makes_a_delete_a_tombstone)
{
    unwrap(DELETE_TO_TOMBSTONE);
    expect_changes(LIVE TOMBSTONE);
}

Test(unwrap, rewrites_a_delete)
{
    unwrap(DELETE_REWRITE);
    expect_changes(LIVE_REWRITTEN DEAD_REWRITTEN);
}

Test(unwrap, rewrites_a_delete_and_keeps_its_tombstone)
{
    unwrap(DELETE_REWRITE_WITH_TOMBSTONE);
    expect_changes(LIVE_REWRITTEN DEAD_REWRITTEN TOMBSTONE);
}

Test(unwrap, takes_the_moved_row_apart)
{
    unwrap(DELETE_TO_NULL);
    const struct relation *relation = orders('d');
    cr_assert_eq(route(OP_UPDATE, relation, OLD_KEY, ROW("1", NULL), ROW("2", "a")), WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | NULL __debezium.newkey={id: 2}\n"
                   "shop.public.orders | {id: 2} | {id: 2, v: 'a'} __debezium.oldkey={id: 1}\n");
}

Test(unwrap, leaves_messages_as_they_are)
{
    struct message message = {.kind = MESSAGE_LOGICAL,
                              .logical = {.prefix = "p", .content = WR_SLICE("x")}};
    struct change_source source = {.lsn = 1};

    unwrap(DELETE_REWRITE);
    start_router();
    cr_assert_eq(router_message(router, &message, &source, scratch, &err), WR_OK);
    EXPECT_EMITTED("shop.message | {prefix: 'p'} | m 'p' 78\n");
}

Test(unwrap, adds_fields_of_the_change_its_source_transaction_and_rows)
{
    unwrap(DELETE_REWRITE)->add_fields =
        NAMES("op", "table", "source.lsn", "ts_ms", "transaction.id", "id:tx", "before.v",
              "after.v:new", "source.ts_ms:at", "source.op", "after.none");
    const struct relation *relation = orders('f');
    cr_assert_eq(route(OP_UPDATE, relation, OLD_ROW, ROW("1", "a"), ROW("1", "b")), WR_OK);
    EXPECT_EMITTED("shop.public.orders | null | {id: 1, v: 'b', __deleted: 'false', __op: 'u', "
                   "__table: 'orders', __source_lsn: 23803720, __ts_ms: 1777665601234, "
                   "__transaction_id: NULL, __tx: NULL, __before_v: 'a', __new: 'b', "
                   "__at: 1777665600000, __source_op: 'u'}\n");
    cr_assert_eq(route(OP_DELETE, relation, OLD_ROW, ROW("1", "a"), NULL), WR_OK);
    cr_expect_not_null(strstr(emitted, "__before_v: 'a', __new: NULL, "));
    EXPECT_NOTICES("");
}

Test(unwrap, adds_headers_also_to_what_is_no_row_any_more)
{
    struct unwrap_config *c = unwrap(DELETE_TO_NULL);

    c->add_headers = NAMES("op", "source.schema:s");
    c->add_headers_prefix = "";
    c->drop_tombstones = false;
    expect_changes("shop.public.orders | {id: 1} | {id: 1, v: 'a'} op='c' s='public'\n"
                   "shop.public.orders | {id: 1} | {id: 1, v: 'b'} op='u' s='public'\n"
                   "shop.public.orders | {id: 1} | NULL op='d' s='public'\n"
                   "shop.public.orders | {id: 1} | null op='d'\n");
}

Test(unwrap, leaves_out_what_no_change_has_and_says_so)
{
    unwrap(DELETE_TO_NULL)->add_fields = NAMES("source.file", "op");
    const struct relation *relation = orders('d');
    expect_insert(relation, ROW("1", "a"),
                  "shop.public.orders | {id: 1} | {id: 1, v: 'a', __op: 'c'}\n");
    EXPECT_NOTICES("transforms.unwrap.add.fields: no change has the field source.file, which is "
                   "left out\n");
}

Test(unwrap, refuses_a_field_that_cannot_be_meant)
{
    static const char *const bad[] = {"op:a:b", "nothing.v", "source.", ":a", "op:a:"};

    for (size_t i = 0; i < COUNT(bad); i++) {
        unwrap(DELETE_TO_NULL)->add_headers = NAMES(bad[i]);
        enum wr_status status = router_new(&config, &FIXTURE_SINK, &router, &err);
        cr_expect_eq(status, i == 4 ? WR_OK : WR_FATAL, "%s", bad[i]);
        cr_expect(status == WR_OK || strstr(err.text, "transforms.unwrap.add.headers: ") != NULL);
    }
}

Test(unwrap, routes_by_a_column)
{
    unwrap(DELETE_DROP)->route_by_field = "v";
    const struct relation *relation = orders('f');
    expect_insert(relation, ROW("1", "a b"), "a_b | null | {id: 1, v: 'a b'}\n");
    expect_insert(relation, ROW("1", NULL), "shop.public.orders | null | {id: 1, v: NULL}\n");
    expect_insert(relation, ROW("1", " "), "shop.public.orders | null | {id: 1, v: ' '}\n");
    cr_expect_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "..")), WR_REJECT);
}

Test(unwrap, refuses_rows_whose_column_makes_no_topic)
{
    unwrap(DELETE_TO_TOMBSTONE)->route_by_field = "id";
    cr_expect_eq(route(OP_CREATE, orders('d'), OLD_NONE, NULL, ROW("1", "a")), WR_REJECT);
    cr_expect_str_eq(err.text, "public.orders: route.by.field id is no text");
    transform.as.unwrap.route_by_field = "w";
    cr_expect_eq(route(OP_CREATE, orders('d'), OLD_NONE, NULL, ROW("1", "a")), WR_REJECT);
    cr_expect_str_eq(err.text, "public.orders: route.by.field w is no column of it");
}

static const struct schema *schemas[8];
static size_t schema_count;

static void keep_schema(const struct record *record)
{
    schemas[schema_count++] = record->value.schema;
}

Test(unwrap, makes_one_schema_a_table)
{
    unwrap(DELETE_REWRITE_WITH_TOMBSTONE)->add_fields = NAMES("op", "snapshot", "before.id");
    also_emit = keep_schema;
    const struct relation *relation = orders('d');
    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "a")), WR_OK);
    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1", NULL), NULL), WR_OK);
    cr_assert_eq(schema_count, 3);
    cr_assert_not_null(schemas[0]);
    cr_expect_eq(schemas[1], schemas[0]);
    cr_expect_null(schemas[2]);
    cr_expect_str_eq(schemas[0]->name, "shop.public.orders.Value");
    cr_expect_not(schemas[0]->is_optional);
    cr_assert_eq(schemas[0]->field_count, 6);
    static const char *const names[] = {"id",   "v",          "__deleted",
                                        "__op", "__snapshot", "__before_id"};
    for (size_t i = 0; i < COUNT(names); i++) {
        cr_expect(wr_slice_is(schemas[0]->fields[i].name, names[i]), "%s", names[i]);
        cr_expect(i < 2 || schemas[0]->fields[i].schema->is_optional, "%s", names[i]);
        cr_expect_null(schemas[0]->fields[i].schema->default_value, "%s", names[i]);
    }
    cr_expect_str_eq(schemas[0]->fields[4].schema->name, "io.debezium.data.Enum");
    cr_expect_eq(schemas[0]->fields[5].schema->type, SCHEMA_INT32);
}

Test(unwrap, keeps_the_schema_of_the_row_for_its_null)
{
    unwrap(DELETE_TO_NULL);
    also_emit = keep_schema;
    const struct relation *relation = orders('d');
    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1", NULL), NULL), WR_OK);
    cr_expect_eq(schemas[0], relation->plan->row_schema);
    cr_expect(schemas[0]->is_optional);
}

#define TEXT_DATUM(text)                                                                           \
    {                                                                                              \
        .kind = DATUM_STRING, .as.bytes = WR_SLICE(text)                                           \
    }

/* A record with the header drop, that lists v and id; `v` is the only one that may be null. */
static struct record listing(struct relation *relation, const struct tuple *tuple)
{
    static const struct datum names[] = {TEXT_DATUM("v"), TEXT_DATUM("id")};
    const struct route_plan *plan = relation->plan;
    struct row_view row = {.relation = relation,
                           .columns = plan->value_columns,
                           .column_count = plan->value_column_count,
                           .tuple = tuple};
    struct record record = {
        .key = {.kind = PART_ROW, .schema = plan->key_schema, .as.row = row},
        .value = {.kind = PART_ROW, .schema = plan->row_schema, .as.row = row},
        .headers = {{.name = "drop",
                     .value = {.kind = PART_DATUM,
                               .as.datum = {.kind = DATUM_ARRAY, .as.array = {names, 2}}}}},
        .header_count = 1,
    };

    record.key.as.row.columns = plan->key_columns;
    record.key.as.row.column_count = plan->key_column_count;
    return record;
}

static void expect_dropped(const char *text, size_t value_fields)
{
    struct relation *relation = orders('d');
    struct tuple tuple = make_tuple(relation, ROW("1", "a"));
    struct record record = listing(relation, &tuple);

    cr_assert_eq(unwrap_drop_fields(&transform.as.unwrap, &record, scratch, &err), WR_OK);
    emitted_size = 0;
    cr_assert_eq(say_part(&record.key, &err), WR_OK);
    say(" ");
    cr_assert_eq(say_part(&record.value, &err), WR_OK);
    EXPECT_EMITTED(text);
    cr_expect_eq(record.value.schema->field_count, value_fields);
}

Test(unwrap, drops_the_fields_that_a_header_lists)
{
    struct unwrap_config *c = unwrap(DELETE_REWRITE);

    c->drop_fields_header = "drop";
    expect_dropped("{id: 1} {id: 1}", 1);
    c->drop_fields_keep_schema_compatible = false;
    expect_dropped("{id: 1} {}", 0);
    c->drop_fields_from_key = true;
    expect_dropped("{} {}", 0);
    c->drop_fields_keep_schema_compatible = true;
    expect_dropped("{id: 1} {id: 1}", 1);
    c->drop_fields_header = "other";
    expect_dropped("{id: 1} {id: 1, v: 'a'}", 2);
}

Test(unwrap, refuses_a_header_that_is_no_list_of_names)
{
    struct relation *relation = NULL;
    struct tuple tuple;

    unwrap(DELETE_REWRITE)->drop_fields_header = "drop";
    relation = orders('d');
    tuple = make_tuple(relation, ROW("1", "a"));
    struct record record = listing(relation, &tuple);
    record.headers[0].value.as.datum = (struct datum)TEXT_DATUM("v");
    cr_expect_eq(unwrap_drop_fields(&transform.as.unwrap, &record, scratch, &err), WR_REJECT);
}
