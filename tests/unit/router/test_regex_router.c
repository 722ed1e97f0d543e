#include "fixture.h"

TestSuite(regex_router, .init = open_fixture, .fini = close_fixture);

static const struct fixture_column COLUMNS[] = {{"id", INT4, true}};

static struct transform_config transforms[3];

static void add_router(const char *regex, const char *replacement)
{
    transforms[config.transform_count++] = (struct transform_config){
        .name = "r",
        .kind = TRANSFORM_REGEX_ROUTER,
        .as.regex_router = {regex, replacement},
    };
    config.transforms = transforms;
}

static void expect_topic(const char *table, const char *topic)
{
    char line[512];
    struct relation *relation = compile(MAKE_RELATION("public", table, 'd', COLUMNS));

    snprintf(line, sizeof(line), "%s | {id: 1} | c - {id: 1}\n", topic);
    expect_insert(relation, ROW("1"), line);
    expect_insert(relation, ROW("1"), line); /* the second row as the first */
}

Test(regex_router, renames_a_topic_that_matches_as_a_whole)
{
    add_router("shop\\.(.*)\\.(.*)", "$2-of-$1");
    expect_topic("orders", "orders-of-public");
}

Test(regex_router, leaves_a_topic_alone_that_matches_in_part)
{
    add_router("public", "private");
    expect_topic("orders", "shop.public.orders");
}

Test(regex_router, takes_named_groups_and_escapes)
{
    add_router(".*\\.(?<table>[a-z]+)", "\\$${table}");
    expect_topic("orders", "$orders");
}

Test(regex_router, works_on_what_the_one_before_it_made)
{
    add_router("shop\\.public\\.(.*)", "mid.$1");
    add_router("mid\\.(.*)", "end.$1");
    add_router("shop.*", "never");
    expect_topic("orders", "end.orders");
    expect_topic("events", "end.events");
}

Test(regex_router, works_behind_one_that_changed_nothing)
{
    add_router("nothing", "x");
    add_router("shop\\.public\\.(.*)", "$1");
    expect_topic("orders", "orders");
}

Test(regex_router, renames_tombstones_truncates_and_messages_too)
{
    struct message message = {.kind = MESSAGE_LOGICAL,
                              .logical = {.prefix = "p", .content = WR_SLICE("x")}};
    struct change_source source = {.lsn = 1};

    add_router("shop\\.(.*)", "$1");
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1"), NULL), WR_OK);
    EXPECT_EMITTED("public.orders | {id: 1} | d {id: 1} -\npublic.orders | {id: 1} | null\n");
    cr_assert_eq(route(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL), WR_OK);
    EXPECT_EMITTED("public.orders | null | t - -\n");
    emitted_size = 0;
    cr_assert_eq(router_message(router, &message, &source, scratch, &err), WR_OK);
    EXPECT_EMITTED("message | {prefix: 'p'} | m 'p' 78\n");
}

Test(regex_router, refuses_what_cannot_work_at_the_start)
{
    add_router("un(closed", "x");
    cr_expect_eq(router_new(&config, &FIXTURE_SINK, &router, &err), WR_FATAL);
    cr_expect_null(router);
    transforms[0].as.regex_router = (struct regex_router_config){".*", "$1"};
    cr_expect_eq(router_new(&config, &FIXTURE_SINK, &router, &err), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "$1"), "%s", err.text);
}
