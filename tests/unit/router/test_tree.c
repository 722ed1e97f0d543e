#include "decoder/schema.h"
#include "fixture.h"
#include "router/tree.h"

TestSuite(tree, .init = open_fixture, .fini = close_fixture);

static const struct fixture_column COLUMNS[] = {{"id", INT4, true}, {"v", TEXT, false}};

static struct wr_slice part; /* "key" or "value": which of them the next record shows */
static char shown[8192];

/* Replaces what was said of the record by its expanded part. */
static void expand(const struct record *record)
{
    struct record copy = *record;
    struct record_part *expanded = wr_slice_is(part, "key") ? &copy.key : &copy.value;
    static const struct schema schema = {.type = SCHEMA_STRUCT};

    expanded->schema = &schema;
    cr_assert_eq(part_expand(&copy, expanded, scratch, &err), WR_OK, "%s", err.text);
    cr_expect_eq(expanded->schema, &schema);
    emitted_size = 0;
    cr_assert_eq(say_part(expanded, &err), WR_OK);
    cr_assert_lt(emitted_size, sizeof(shown));
    memcpy(shown, emitted, emitted_size + 1);
}

static void expect(const char *text)
{
    cr_expect_str_eq(shown, text, "expanded:\n%s", shown);
}

static const struct relation *prepare(const char *which)
{
    part = wr_slice_str(which);
    also_emit = expand;
    return compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
}

#define SOURCE(tail)                                                                               \
    "source: {version: NULL, connector: 'postgresql', name: NULL, ts_ms: 1777665600000, "          \
    "snapshot: 'false', db: NULL, sequence: '[null,\"23803720\"]', ts_us: 1777665600000000, "      \
    "ts_ns: 1777665600000000000, schema: 'public', table: 'orders', txId: 731, lsn: 23803720, "    \
    "xmin: NULL, origin: NULL, origin_lsn: NULL}, transaction: NULL, " tail
#define TIMES "ts_ms: 1777665601234, ts_us: 1777665601234567, ts_ns: 1777665601234567890}"

Test(tree, of_a_key_has_its_columns)
{
    const struct relation *relation = prepare("key");

    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "x")), WR_OK);
    expect("{id: 1}");
}

Test(tree, of_an_envelope_has_what_the_envelope_has)
{
    const struct relation *relation = prepare("value");

    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", "x")), WR_OK);
    expect("{before: NULL, after: {id: 1, v: 'x'}, " SOURCE("op: 'c', " TIMES));
    cr_assert_eq(route(OP_UPDATE, relation, OLD_ROW, ROW("1", "x"), ROW("1", UNCHANGED)), WR_OK);
    expect("{before: {id: 1, v: 'x'}, after: {id: 1, v: 'x'}, " SOURCE("op: 'u', " TIMES));
    cr_assert_eq(route(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL), WR_OK);
    expect("{before: NULL, after: NULL, " SOURCE("op: 't', " TIMES));
}

Test(tree, of_a_tombstone_is_none)
{
    const struct relation *relation = prepare("value");

    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1", NULL), NULL), WR_OK);
    expect("null");
}

Test(tree, of_a_message_has_its_content)
{
    struct message message = {.kind = MESSAGE_LOGICAL,
                              .logical = {.prefix = "p", .content = WR_SLICE("x")}};
    struct connector_info connector = {WR_SLICE("1.0"), WR_SLICE("shop"), WR_SLICE("db")};
    struct transaction_block transaction = {WR_SLICE("7:9"), 2, 1};
    struct change_source source = {.connector = &connector,
                                   .transaction = &transaction,
                                   .commit_time_us = -1,
                                   .lsn = 9,
                                   .last_commit_lsn = 8,
                                   .snapshot = SNAPSHOT_MARKER_LAST,
                                   .origin = "o",
                                   .origin_lsn = 5,
                                   .now_ns = 1999999};

    (void)prepare("value");
    cr_assert_eq(router_message(router, &message, &source, scratch, &err), WR_OK);
    expect("{op: 'm', ts_ms: 1, source: {version: '1.0', connector: 'postgresql', name: 'shop', "
           "ts_ms: -1, snapshot: 'last', db: 'db', sequence: '[\"8\",\"9\"]', ts_us: -1, "
           "ts_ns: -1000, schema: '', table: '', txId: NULL, lsn: 9, xmin: NULL, origin: 'o', "
           "origin_lsn: 5}, transaction: {id: '7:9', total_order: 2, data_collection_order: 1}, "
           "message: {prefix: 'p', content: bytes 78}}");
}

Test(tree, refuses_a_value_without_a_right_form)
{
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
    struct tuple tuple = make_tuple(relation, ROW("not a number", "x"));
    struct record record = {.value.kind = PART_ROW};

    record.value.as.row = (struct row_view){.relation = relation,
                                            .columns = relation->plan->value_columns,
                                            .column_count = relation->plan->value_column_count,
                                            .tuple = &tuple};
    cr_expect_eq(part_expand(&record, &record.value, scratch, &err), WR_REJECT);
    cr_expect_not_null(strstr(err.text, "public.orders.id: "));
    cr_expect_eq(record.value.kind, PART_ROW);
}

Test(tree, refuses_a_record_that_its_arena_has_no_room_for)
{
    struct relation *relation = compile(MAKE_RELATION("public", "orders", 'd', COLUMNS));
    struct tuple tuple = make_tuple(relation, ROW("1", "x"));
    struct wr_arena *small = wr_arena_new(16);
    struct record record = {.value.kind = PART_ROW};

    record.value.as.row = (struct row_view){.relation = relation,
                                            .columns = relation->plan->value_columns,
                                            .column_count = relation->plan->value_column_count,
                                            .tuple = &tuple};
    cr_expect_eq(part_expand(&record, &record.value, small, &err), WR_REJECT);
    wr_arena_free(small);
}

Test(tree, finds_a_member_by_its_name)
{
    struct datum_field fields[] = {{WR_SLICE("a"), {.kind = DATUM_INT, .as.integer = 1}},
                                   {WR_SLICE("ab"), {.kind = DATUM_INT, .as.integer = 2}}};
    struct datum datum = {.kind = DATUM_STRUCT, .as.structure = {fields, 2}};

    cr_expect_eq(datum_member(&datum, WR_SLICE("ab")), &fields[1].value);
    cr_expect_null(datum_member(&datum, WR_SLICE("b")));
    cr_expect_null(datum_member(&fields[0].value, WR_SLICE("a")));
}
