#include "fixture.h"

static const struct fixture_column COLUMNS[] = {{"id", INT4, true}, {"v", TEXT, false}};
static struct column_info infos[] = {{"id", true, NULL}, {"v", false, NULL}};
static const char *keys[] = {"id"};

static struct change_source source;
static char story[1 << 14]; /* each record with its block */

static void tell(const struct record *record)
{
    const struct transaction_block *block = record->source->transaction;
    size_t size = strlen(story);

    if (block != NULL &&
        (record->value.kind == PART_ENVELOPE || record->value.kind == PART_MESSAGE)) {
        snprintf(story + size, sizeof(story) - size, "%.*s: %.*s, event %d, %d of its table\n",
                 (int)record->topic.size, record->topic.data, (int)block->id.size, block->id.data,
                 (int)block->total_order, (int)block->data_collection_order);
    }
}

static void open_transactions(void)
{
    open_fixture();
    config.provide_transaction_metadata = true;
    config.topic_transaction = "transaction";
    also_emit = tell;
    catalog_status = WR_OK;
    catalog_table = (struct table_info){
        .columns = infos, .column_count = 2, .key_columns = keys, .key_column_count = 1};
    source = (struct change_source){.commit_time_us = 1777665600000999, .xid = 731};
}

TestSuite(transactions, .init = open_transactions, .fini = close_fixture);

static void begin(wr_lsn lsn)
{
    source.lsn = lsn;
    emitted_size = 0;
    emitted[0] = '\0';
    cr_assert_eq(router_begin(router, &source, scratch, &err), WR_OK, "%s", err.text);
}

static void commit(wr_lsn lsn)
{
    source.lsn = lsn;
    emitted_size = 0;
    emitted[0] = '\0';
    cr_assert_eq(router_commit(router, &source, scratch, &err), WR_OK, "%s", err.text);
}

static void change(enum change_op op, const struct relation *relation, const char *const *before,
                   const char *const *after, wr_lsn lsn)
{
    struct change c = {.op = op, .relation = relation, .source = source};

    c.source.lsn = lsn;
    if (before != NULL) {
        c.old_kind = OLD_KEY;
        c.old_tuple = make_tuple(relation, before);
    }
    if (after != NULL) {
        c.new_tuple = make_tuple(relation, after);
    }
    cr_assert_eq(router_change(router, &c, scratch, &err), WR_OK, "%s", err.text);
}

Test(transactions, are_announced_and_summed_up)
{
    struct relation *a = compile(MAKE_RELATION("public", "a", 'd', COLUMNS));
    struct relation *b = compile(MAKE_RELATION("public", "b", 'd', COLUMNS));

    begin(100);
    EXPECT_EMITTED("shop.transaction | {id: '731:100'} | {status: 'BEGIN', id: '731:100', "
                   "event_count: NULL, data_collections: NULL, ts_ms: 1777665600000}\n");
    change(OP_CREATE, b, NULL, ROW("1", "x"), 100);
    change(OP_CREATE, a, NULL, ROW("1", "x"), 110);
    change(OP_UPDATE, b, NULL, ROW("1", "y"), 120);
    commit(130);
    EXPECT_EMITTED("shop.transaction | {id: '731:130'} | {status: 'END', id: '731:130', "
                   "event_count: 3, data_collections: [{data_collection: 'public.b', event_count: "
                   "2}, {data_collection: 'public.a', event_count: 1}], ts_ms: 1777665600000}\n");
    cr_expect_null(source.transaction);
    cr_expect_str_eq(story, "shop.public.b: 731:100, event 1, 1 of its table\n"
                            "shop.public.a: 731:110, event 2, 1 of its table\n"
                            "shop.public.b: 731:120, event 3, 2 of its table\n");
}

Test(transactions, count_a_moved_key_as_two_events_and_no_tombstone)
{
    struct relation *a = compile(MAKE_RELATION("public", "a", 'd', COLUMNS));

    begin(1);
    change(OP_UPDATE, a, ROW("1", NULL), ROW("2", "x"), 2);
    change(OP_DELETE, a, ROW("2", NULL), NULL, 3);
    commit(4);
    EXPECT_EMITTED("shop.transaction | {id: '731:4'} | {status: 'END', id: '731:4', event_count: "
                   "3, data_collections: [{data_collection: 'public.a', event_count: 3}], ts_ms: "
                   "1777665600000}\n");
}

Test(transactions, begin_with_nothing_counted_and_know_a_table_that_comes_again)
{
    change(OP_CREATE, compile(MAKE_RELATION("public", "a", 'd', COLUMNS)), NULL, ROW("1", "x"), 1);
    begin(1);
    change(OP_CREATE, compile(MAKE_RELATION("public", "a", 'd', COLUMNS)), NULL, ROW("2", "x"), 1);
    commit(2);
    begin(3);
    change(OP_CREATE, compile(MAKE_RELATION("public", "a", 'd', COLUMNS)), NULL, ROW("3", "x"), 3);
    change(OP_CREATE, compile(MAKE_RELATION("public", "a", 'd', COLUMNS)), NULL, ROW("4", "x"), 4);
    commit(5);
    EXPECT_EMITTED("shop.transaction | {id: '731:5'} | {status: 'END', id: '731:5', event_count: "
                   "2, data_collections: [{data_collection: 'public.a', event_count: 2}], ts_ms: "
                   "1777665600000}\n");
}

Test(transactions, of_nothing_that_is_captured_have_an_empty_sum)
{
    start_router();
    begin(1);
    commit(2);
    EXPECT_EMITTED("shop.transaction | {id: '731:2'} | {status: 'END', id: '731:2', event_count: "
                   "0, data_collections: [], ts_ms: 1777665600000}\n");
}

Test(transactions, count_logical_messages_as_debezium_names_them)
{
    struct message message = {
        .kind = MESSAGE_LOGICAL,
        .logical = {.prefix = "audit", .content = WR_SLICE("hi"), .is_transactional = true},
    };

    start_router();
    begin(1);
    cr_assert_eq(router_message(router, &message, &source, scratch, &err), WR_OK);
    commit(2);
    EXPECT_EMITTED("shop.transaction | {id: '731:2'} | {status: 'END', id: '731:2', event_count: "
                   "1, data_collections: [{data_collection: 'LOGICAL_DECODING_MESSAGE', "
                   "event_count: 1}], ts_ms: 1777665600000}\n");
}

Test(transactions, make_no_records_unless_they_are_asked_for)
{
    config.provide_transaction_metadata = false;
    start_router();
    begin(1);
    EXPECT_EMITTED("");
    commit(2);
    EXPECT_EMITTED("");
    cr_expect_null(source.transaction);
}
