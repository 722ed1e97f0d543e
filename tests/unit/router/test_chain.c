#include "decoder/schema.h"
#include "fixture.h"
#include "router/chain.h"
#include "router/schema_memo.h"
#include "router/transform.h"

TestSuite(chain, .init = open_fixture, .fini = close_fixture);

static const struct fixture_column COLUMNS[] = {{"id", INT4, true}};

static struct transform_config transforms[4];
static struct predicate_config predicates[3];

/* A RegexRouter that puts `mark` before the topic; `predicate` may be NULL. */
static struct transform_config *add_mark(const char *mark, const struct predicate_config *predicate)
{
    struct transform_config *t = &transforms[config.transform_count++];

    *t = (struct transform_config){
        .name = mark,
        .kind = TRANSFORM_REGEX_ROUTER,
        .predicate = predicate,
        .as.regex_router = {"(.*)", wr_arena_printf(scratch, "%s.$1", mark)},
    };
    config.transforms = transforms;
    return t;
}

static const struct predicate_config *add_predicate(enum predicate_kind kind, const char *text)
{
    struct predicate_config *p = &predicates[config.predicate_count++];

    *p = (struct predicate_config){.name = "p", .kind = kind, .pattern = text, .header = text};
    config.predicates = predicates;
    return p;
}

Test(chain, applies_a_transform_where_its_predicate_holds)
{
    add_mark("a", add_predicate(PREDICATE_TOPIC_NAME_MATCHES, "shop\\.public\\..*"));
    add_mark("b", add_predicate(PREDICATE_TOPIC_NAME_MATCHES, "shop\\.public"));
    add_mark("c", add_predicate(PREDICATE_TOPIC_NAME_MATCHES, "a\\.shop\\..*"));
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
    expect_insert(relation, ROW("1"), "c.a.shop.public.orders | {id: 1} | c - {id: 1}\n");
}

Test(chain, negates_a_predicate)
{
    const struct predicate_config *is_tombstone =
        add_predicate(PREDICATE_RECORD_IS_TOMBSTONE, NULL);

    add_mark("null", is_tombstone);
    add_mark("set", is_tombstone)->negate = true;
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1"), NULL), WR_OK);
    EXPECT_EMITTED("set.shop.public.orders | {id: 1} | d {id: 1} -\n"
                   "null.shop.public.orders | {id: 1} | null\n");
}

Test(chain, asks_for_headers)
{
    add_mark("moved", add_predicate(PREDICATE_HAS_HEADER_KEY, "__debezium.newkey"));
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'f', COLUMNS));
    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1")), WR_OK);
    EXPECT_EMITTED("shop.public.orders | null | c - {id: 1}\n");
}

Test(chain, asks_for_a_topic_of_a_record_without_a_table)
{
    struct message message = {.kind = MESSAGE_LOGICAL,
                              .logical = {.prefix = "p", .content = WR_SLICE("x")}};
    struct change_source source = {.lsn = 1};

    add_mark("m", add_predicate(PREDICATE_TOPIC_NAME_MATCHES, "shop\\.message"));
    start_router();
    cr_assert_eq(router_message(router, &message, &source, scratch, &err), WR_OK);
    EXPECT_EMITTED("m.shop.message | {prefix: 'p'} | m 'p' 78\n");
}

Test(chain, lets_a_row_that_is_unwrapped_pass_the_event_router)
{
    transforms[0] = (struct transform_config){
        .name = "unwrap",
        .kind = TRANSFORM_UNWRAP,
        .as.unwrap = {.deletes = DELETE_REWRITE_WITH_TOMBSTONE, .drop_tombstones = true},
    };
    transforms[1] = (struct transform_config){
        .name = "outbox",
        .kind = TRANSFORM_EVENT_ROUTER,
        .as.event_router = {.field_event_id = "id",
                            .field_event_key = "id",
                            .field_event_payload = "id",
                            .route_by_field = "id",
                            .route_topic_regex = "(.*)",
                            .route_topic_replacement = "$1"},
    };
    config.transforms = transforms;
    config.transform_count = 2;
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1"), NULL), WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | {id: 1, __deleted: 'true'}\n");
}

/* ReplaceField$Value without rules changes nothing but the form. */
Test(chain, refuses_an_envelope_that_was_changed_before_it_is_unwrapped)
{
    transforms[0] = (struct transform_config){.name = "replace", .kind = TRANSFORM_REPLACE_FIELD};
    transforms[1] = (struct transform_config){.name = "unwrap", .kind = TRANSFORM_UNWRAP};
    config.transforms = transforms;
    config.transform_count = 2;
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1")), WR_REJECT);
    cr_expect_not_null(strstr(err.text, "transforms.unwrap: a transform before it changed"));
}

static size_t made_count;

static const struct schema *make_optional(const struct transform *t, const struct record *record,
                                          const struct schema *old, struct wr_arena *arena)
{
    (void)t;
    (void)record;
    made_count++;
    return schema_with_optional(arena, old, true);
}

static const struct schema *ask(const struct record *record, const struct schema *old)
{
    static struct schema_memo memo;
    const struct transform t = {.config = &transforms[0], .memo = &memo};
    const struct schema *made = NULL;

    memo.arena = relations[0]->arena;
    cr_assert_eq(transform_schema(&t, record, old, make_optional, scratch, &made, &err), WR_OK);
    return made;
}

static void expect_each_made_once(const struct record *record, struct wr_arena *arena)
{
    const struct schema *first = schema_new(arena, SCHEMA_STRING);
    const struct schema *made = ask(record, first);

    cr_assert_not_null(made);
    cr_expect(made->is_optional);
    cr_expect_eq(ask(record, first), made);
    cr_expect_eq(made_count, 1);
    for (int i = 0; i < 3 * SCHEMA_MEMO_SIZE; i++) {
        cr_expect_neq(ask(record, schema_new(arena, SCHEMA_STRING)), made);
    }
    cr_expect_eq(ask(record, first), made);
    cr_expect_eq(made_count, 1 + 3 * SCHEMA_MEMO_SIZE);
    cr_expect_null(ask(record, NULL));
}

Test(chain, makes_each_schema_of_a_table_once)
{
    add_mark("a", NULL);
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
    const struct change change = {.relation = relation};
    const struct record record = {.change = &change};

    expect_each_made_once(&record, relation->arena);
}

Test(chain, makes_each_schema_without_a_table_once)
{
    add_mark("a", NULL);
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
    const struct record record = {.change = NULL};

    expect_each_made_once(&record, relation->arena);
}
