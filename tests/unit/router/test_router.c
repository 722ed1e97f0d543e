#include "fixture.h"

TestSuite(router, .init = open_fixture, .fini = close_fixture);

static const struct fixture_column BY_KEY[] = {
    {"id", INT4, true}, {"name", TEXT, false}, {"note", TEXT, false}};
static const struct fixture_column BY_ROW[] = {
    {"id", INT4, true}, {"name", TEXT, true}, {"note", TEXT, true}};

static struct column_info infos[] = {
    {"id", true, NULL}, {"name", true, NULL}, {"note", false, NULL}};
static const char *keys[] = {"id"};

static void know_the_table(void)
{
    catalog_status = WR_OK;
    catalog_table = (struct table_info){
        .columns = infos, .column_count = 3, .key_columns = keys, .key_column_count = 1};
}

/* Default identity: old tuples hold the key only. */
static struct relation *orders(void)
{
    know_the_table();
    return compile(MAKE_RELATION("public", "orders", 'd', BY_KEY));
}

/* REPLICA IDENTITY FULL: old tuples are whole. */
static struct relation *full_orders(void)
{
    know_the_table();
    return compile(MAKE_RELATION("public", "orders", 'f', BY_ROW));
}

Test(router, emits_an_insert)
{
    expect_insert(orders(), ROW("1", "a", NULL),
                  "shop.public.orders | {id: 1} | c - {id: 1, name: 'a', note: NULL}\n");
}

Test(router, emits_a_row_of_the_snapshot)
{
    cr_assert_eq(route(OP_READ, orders(), OLD_NONE, NULL, ROW("1", "a", NULL)), WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | r - {id: 1, name: 'a', note: NULL}\n");
}

Test(router, emits_an_update_without_an_old_row)
{
    cr_assert_eq(route(OP_UPDATE, orders(), OLD_NONE, NULL, ROW("1", "b", "x")), WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | u - {id: 1, name: 'b', note: 'x'}\n");
}

Test(router, emits_an_update_with_an_old_row)
{
    cr_assert_eq(
        route(OP_UPDATE, full_orders(), OLD_ROW, ROW("1", "a", NULL), ROW("1", "b", UNCHANGED)),
        WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | u {id: 1, name: 'a', note: NULL} "
                   "{id: 1, name: 'b', note: NULL}\n");
}

Test(router, emits_a_delete_and_its_tombstone)
{
    cr_assert_eq(route(OP_DELETE, orders(), OLD_KEY, ROW("1", NULL, NULL), NULL), WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | d {id: 1, name: '', note: NULL} -\n"
                   "shop.public.orders | {id: 1} | null\n");
}

Test(router, emits_the_whole_row_of_a_delete_where_it_is_known)
{
    cr_assert_eq(route(OP_DELETE, full_orders(), OLD_ROW, ROW("1", "a", "x"), NULL), WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | d {id: 1, name: 'a', note: 'x'} -\n"
                   "shop.public.orders | {id: 1} | null\n");
}

Test(router, emits_no_tombstone_when_told_not_to)
{
    config.tombstones_on_delete = false;
    cr_assert_eq(route(OP_DELETE, orders(), OLD_KEY, ROW("1", NULL, NULL), NULL), WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | d {id: 1, name: '', note: NULL} -\n");
}

Test(router, emits_null_keys_and_no_tombstone_of_a_table_without_a_key)
{
    struct relation *relation = compile(MAKE_RELATION("public", "log", 'f', BY_ROW));

    expect_insert(relation, ROW("1", "a", NULL),
                  "shop.public.log | null | c - {id: 1, name: 'a', note: NULL}\n");
    cr_assert_eq(route(OP_DELETE, relation, OLD_ROW, ROW("1", "a", NULL), NULL), WR_OK);
    EXPECT_EMITTED("shop.public.log | null | d {id: 1, name: 'a', note: NULL} -\n");
    cr_assert_eq(route(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", NULL), ROW("2", "a", NULL)),
                 WR_OK);
    EXPECT_EMITTED("shop.public.log | null | u {id: 1, name: 'a', note: NULL} "
                   "{id: 2, name: 'a', note: NULL}\n");
}

Test(router, emits_a_moved_key_as_a_delete_and_a_create)
{
    cr_assert_eq(route(OP_UPDATE, orders(), OLD_KEY, ROW("1", NULL, NULL), ROW("2", "b", NULL)),
                 WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | d {id: 1, name: '', note: NULL} - "
                   "__debezium.newkey={id: 2}\n"
                   "shop.public.orders | {id: 1} | null __debezium.newkey={id: 2}\n"
                   "shop.public.orders | {id: 2} | c - {id: 2, name: 'b', note: NULL} "
                   "__debezium.oldkey={id: 1}\n");
}

Test(router, emits_a_moved_key_without_a_tombstone_when_told_not_to)
{
    config.tombstones_on_delete = false;
    cr_assert_eq(
        route(OP_UPDATE, full_orders(), OLD_ROW, ROW("1", "a", "x"), ROW("2", "b", UNCHANGED)),
        WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | d {id: 1, name: 'a', note: 'x'} - "
                   "__debezium.newkey={id: 2}\n"
                   "shop.public.orders | {id: 2} | c - {id: 2, name: 'b', note: 'x'} "
                   "__debezium.oldkey={id: 1}\n");
}

/* PostgreSQL sends the old key too when only another column of the identity changed. */
Test(router, emits_an_update_when_an_old_tuple_came_with_the_same_key)
{
    cr_assert_eq(route(OP_UPDATE, orders(), OLD_KEY, ROW("1", NULL, NULL), ROW("1", "b", NULL)),
                 WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | u {id: 1, name: '', note: NULL} "
                   "{id: 1, name: 'b', note: NULL}\n");
    cr_assert_eq(
        route(OP_UPDATE, full_orders(), OLD_ROW, ROW("1", "a", NULL), ROW(UNCHANGED, "b", NULL)),
        WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | u {id: 1, name: 'a', note: NULL} "
                   "{id: 1, name: 'b', note: NULL}\n");
}

Test(router, takes_an_unknown_old_value_of_a_key_column_for_unmoved)
{
    config.message_key_columns = "public\\.orders:name";
    cr_assert_eq(route(OP_UPDATE, orders(), OLD_KEY, ROW("1", NULL, NULL), ROW("2", "b", NULL)),
                 WR_OK);
    EXPECT_EMITTED("shop.public.orders | {name: 'b'} | u {id: 1, name: '', note: NULL} "
                   "{id: 2, name: 'b', note: NULL}\n");
}

Test(router, sees_a_key_move_to_and_from_null)
{
    config.message_key_columns = "public\\.orders:note";
    struct relation *relation = full_orders();

    cr_assert_eq(route(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", NULL), ROW("1", "a", "x")),
                 WR_OK);
    cr_expect_not_null(strstr(emitted, "| {note: NULL} | d "), "%s", emitted);
    cr_assert_eq(route(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", "x"), ROW("1", "a", NULL)),
                 WR_OK);
    cr_expect_not_null(strstr(emitted, "| {note: 'x'} | d "), "%s", emitted);
    cr_assert_eq(route(OP_UPDATE, relation, OLD_ROW, ROW("1", "a", NULL), ROW("1", "a", NULL)),
                 WR_OK);
    cr_expect_null(strstr(emitted, " d "), "%s", emitted);
}

Test(router, emits_a_truncate_without_a_key)
{
    cr_assert_eq(route(OP_TRUNCATE, orders(), OLD_NONE, NULL, NULL), WR_OK);
    EXPECT_EMITTED("shop.public.orders | null | t - -\n");
}

Test(router, skips_the_operations_that_are_to_be_skipped)
{
    config.skip_create = config.skip_update = config.skip_delete = config.skip_truncate = true;
    struct relation *relation = orders();

    expect_insert(relation, ROW("1", "a", NULL), "");
    cr_assert_eq(route(OP_UPDATE, relation, OLD_KEY, ROW("1", NULL, NULL), ROW("2", "b", NULL)),
                 WR_OK);
    EXPECT_EMITTED("");
    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1", NULL, NULL), NULL), WR_OK);
    EXPECT_EMITTED("");
    cr_assert_eq(route(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL), WR_OK);
    EXPECT_EMITTED("");
    cr_assert_eq(route(OP_READ, relation, OLD_NONE, NULL, ROW("1", "a", NULL)), WR_OK);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | r - {id: 1, name: 'a', note: NULL}\n");
}

Test(router, skips_each_operation_for_itself)
{
    bool *const skips[] = {&config.skip_create, &config.skip_update, &config.skip_delete,
                           &config.skip_truncate};
    struct relation *relation = orders();

    for (size_t i = 0; i < COUNT(skips); i++) {
        size_t emitting = 0;
        *skips[i] = true;
        for (size_t op = 0; op < 4; op++) {
            static const enum change_op OPS[] = {OP_CREATE, OP_UPDATE, OP_DELETE, OP_TRUNCATE};
            bool has_old = OPS[op] == OP_DELETE;
            cr_assert_eq(route(OPS[op], relation, has_old ? OLD_KEY : OLD_NONE,
                               has_old ? ROW("1", NULL, NULL) : NULL, ROW("1", "a", NULL)),
                         WR_OK);
            cr_expect_eq(emitted_size == 0, op == i, "%c", OPS[op]);
            emitting += emitted_size > 0;
        }
        cr_expect_eq(emitting, 3);
        *skips[i] = false;
    }
}

Test(router, passes_over_a_table_that_is_not_captured)
{
    config.table_exclude_list = "public\\.orders";
    expect_insert(orders(), ROW("1", "a", NULL), "");
}

/* The Relation message was another's: going on would put values under wrong names. */
Test(router, refuses_rows_that_do_not_fit_their_relation)
{
    struct relation *relation = orders();
    struct change change = {.op = OP_CREATE, .relation = relation};

    change.new_tuple = make_tuple(relation, ROW("1", "a", NULL));
    change.new_tuple.column_count = 2;
    cr_expect_eq(router_change(router, &change, scratch, &err), WR_FATAL);
    cr_expect_str_eq(err.text, "public.orders has 3 columns, a row of it has 2");
    change.op = OP_DELETE;
    change.old_kind = OLD_KEY;
    change.old_tuple = change.new_tuple;
    cr_expect_eq(router_change(router, &change, scratch, &err), WR_FATAL);
    change.op = OP_UPDATE;
    change.new_tuple.column_count = 3;
    cr_expect_eq(router_change(router, &change, scratch, &err), WR_FATAL);
    cr_expect_eq(emitted_size, 0);
}

Test(router, ends_with_what_emitting_said)
{
    struct relation *relation = orders();

    emit_status = WR_AGAIN;
    cr_expect_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1", NULL, NULL), NULL), WR_AGAIN);
    EXPECT_EMITTED("shop.public.orders | {id: 1} | d {id: 1, name: '', note: NULL} -\n");
    cr_expect_eq(route(OP_UPDATE, relation, OLD_KEY, ROW("1", NULL, NULL), ROW("2", "b", NULL)),
                 WR_AGAIN);
    cr_expect_null(strstr(emitted, " c "), "%s", emitted);
}

static const struct record *seen;

static void see(const struct record *record)
{
    static struct record copy;

    copy = *record;
    seen = &copy;
}

Test(router, hands_the_change_and_its_source_on)
{
    struct relation *relation = orders();

    also_emit = see;
    expect_insert(relation, ROW("1", "a", NULL),
                  "shop.public.orders | {id: 1} | c - {id: 1, name: 'a', note: NULL}\n");
    cr_assert_not_null(seen);
    cr_expect_eq(seen->partition, -1);
    cr_expect_eq(seen->timestamp_ms, -1);
    cr_expect_eq(seen->header_count, 0);
    cr_expect_eq(seen->source, &seen->change->source);
}

Test(router, names_topics_by_prefix_schema_and_table)
{
    config.topic_prefix = "box";
    config.topic_delimiter = "-";
    expect_insert(compile(MAKE_RELATION("sales", "orders", 'd', BY_KEY)), ROW("1", "a", NULL),
                  "box-sales-orders | {id: 1} | c - {id: 1, name: 'a', note: NULL}\n");
    EXPECT_NOTICES("");
}

Test(router, makes_topic_names_legal_and_says_so_once)
{
    struct relation *relation = compile(MAKE_RELATION("public", "or ders\xc3\xa9", 'd', BY_KEY));

    cr_expect(wr_slice_is(relation->plan->topic, "shop.public.or_ders_"));
    EXPECT_NOTICES("table public.or ders\xc3\xa9 publishes to the topic shop.public.or_ders_: its "
                   "own name is none\n");
    (void)compile(MAKE_RELATION("public", "or ders\xc3\xa9", 'd', BY_KEY));
    cr_expect_str_eq(strchr(notices, '\n'), "\n", "%s", notices);
}

Test(router, notices_two_tables_with_one_topic)
{
    (void)compile(MAKE_RELATION("public", "a b", 'd', BY_KEY));
    notices_size = 0;
    (void)compile(MAKE_RELATION("public", "a$b", 'd', BY_KEY));
    EXPECT_NOTICES("tables public.a b and public.a$b both publish to the topic shop.public.a_b\n");
}

/* One of the two has a legal name of its own, whichever comes first. */
Test(router, notices_a_table_whose_legal_name_another_one_gets)
{
    (void)compile(MAKE_RELATION("public", "a b", 'd', BY_KEY));
    (void)compile(MAKE_RELATION("public", "c_d", 'd', BY_KEY));
    notices_size = 0;
    (void)compile(MAKE_RELATION("public", "a_b", 'd', BY_KEY));
    EXPECT_NOTICES("tables public.a b and public.a_b both publish to the topic shop.public.a_b\n");
    notices_size = 0;
    (void)compile(MAKE_RELATION("public", "c d", 'd', BY_KEY));
    EXPECT_NOTICES("tables public.c_d and public.c d both publish to the topic shop.public.c_d\n");
}

Test(router, refuses_a_topic_name_that_is_too_long)
{
    char table[250];

    memset(table, 't', sizeof(table) - 1);
    table[sizeof(table) - 1] = '\0';
    start_router();
    struct relation *relation = MAKE_RELATION("public", table, 'd', BY_KEY);
    cr_expect_eq(router_compile(router, relation, &FIXTURE_CATALOG, &err), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "its topic name is longer than 249 characters"));
}

static void route_logical(const char *prefix)
{
    struct message message = {
        .kind = MESSAGE_LOGICAL,
        .logical = {.prefix = prefix, .content = WR_SLICE("hi")},
    };
    struct change_source source = {.lsn = 1};

    emitted_size = 0;
    emitted[0] = '\0';
    cr_assert_eq(router_message(router, &message, &source, scratch, &err), WR_OK);
}

Test(router, emits_a_logical_message_under_its_prefix)
{
    start_router();
    route_logical("audit");
    EXPECT_EMITTED("shop.message | {prefix: 'audit'} | m 'audit' 6869\n");
}

/* Debezium joins this one topic with a dot of its own. */
Test(router, names_the_topic_of_messages_without_the_delimiter)
{
    config.topic_delimiter = "-";
    start_router();
    route_logical("audit");
    EXPECT_EMITTED("shop.message | {prefix: 'audit'} | m 'audit' 6869\n");
}

Test(router, filters_logical_messages_by_prefix)
{
    config.message_prefix_exclude_list = "audit";
    start_router();
    route_logical("audit");
    EXPECT_EMITTED("");
    route_logical("other");
    EXPECT_EMITTED("shop.message | {prefix: 'other'} | m 'other' 6869\n");
}

static const struct fixture_column SKIPPED[] = {
    {"id", INT4, true}, {"a", TEXT, true}, {"b", TEXT, true}};

/* How many records an update of one row makes. */
static int updates(const struct relation *relation, enum old_kind old_kind,
                   const char *const *before, const char *const *after)
{
    int count = 0;

    cr_assert_eq(route(OP_UPDATE, relation, old_kind, before, after), WR_OK, "%s", err.text);
    for (const char *c = emitted; *c != '\0'; c++) {
        count += *c == '\n';
    }
    return count;
}

Test(router, leaves_out_updates_that_change_nothing_that_is_published)
{
    config.skip_unchanged = true;
    config.column_exclude_list = ".*\\.b";
    config.message_key_columns = "public\\.t:id";
    const struct relation *t = compile(MAKE_RELATION("public", "t", 'f', SKIPPED));

    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "y"), ROW("1", "x", "y")), 0);
    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "y"), ROW("1", "x", "z")), 0);
    cr_expect_eq(updates(t, OLD_ROW, ROW("1", NULL, "y"), ROW("1", NULL, "z")), 0);
    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "y"), ROW("1", UNCHANGED, "z")), 0);
    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "y"), ROW("1", "X", "y")), 1);
    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "y"), ROW("1", NULL, "y")), 1);
    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "y"), ROW("2", "x", "y")), 3, "moved");
    cr_expect_eq(updates(t, OLD_NONE, NULL, ROW("1", "x", "y")), 1, "nothing to compare with");
}

Test(router, takes_what_is_masked_or_cut_alike_as_unchanged)
{
    static struct column_rule rules[] = {{.is_mask = true, .size = 3, .columns = ".*\\.a"},
                                         {.size = 2, .columns = ".*\\.b"}};

    config.skip_unchanged = true;
    config.column_rules = rules;
    config.column_rule_count = 2;
    config.message_key_columns = "public\\.t:id";
    const struct relation *t = compile(MAKE_RELATION("public", "t", 'f', SKIPPED));

    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "abc"), ROW("1", "y", "abd")), 0);
    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "abc"), ROW("1", "x", "acc")), 1);
    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "abc"), ROW("1", "x", NULL)), 1);
}

Test(router, publishes_updates_without_a_change_unless_told)
{
    config.message_key_columns = "public\\.t:id";
    const struct relation *t = compile(MAKE_RELATION("public", "t", 'f', SKIPPED));

    cr_expect_eq(updates(t, OLD_ROW, ROW("1", "x", "y"), ROW("1", "x", "y")), 1);
}
