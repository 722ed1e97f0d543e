/* Numbers in comments are the steps of Debezium's EventRouterDelegate, whose abilities these are.
 */
#include "fixture.h"

static struct transform_config transform;
static struct event_router_config *outbox;
static struct additional_field additional[40];

static void open_outbox(void)
{
    open_fixture();
    transform = (struct transform_config){
        .name = "outbox",
        .kind = TRANSFORM_EVENT_ROUTER,
        .as.event_router =
            {
                .field_event_id = "id",
                .field_event_key = "aggregateid",
                .field_event_payload = "payload",
                .additional = additional,
                .additional_missing_is_error = true,
                .route_by_field = "aggregatetype",
                .route_topic_regex = "(?<routedByValue>.*)",
                .route_topic_replacement = "outbox.event.${routedByValue}",
            },
    };
    outbox = &transform.as.event_router;
    config.transforms = &transform;
    config.transform_count = 1;
}

TestSuite(event_router, .init = open_outbox, .fini = close_fixture);

static const struct fixture_column COLUMNS[] = {
    {"id", TEXT, true},
    {"aggregatetype", TEXT, false},
    {"aggregateid", TEXT, false},
    {"payload", JSONB, false},
    {"created_at", TIMESTAMP, false},
    {"tz", TIMESTAMPTZ, false},
    {"partition", INT4, false},
    {"type", TEXT, false},
};

/* A row of the table above. */
#define OUTBOX_ROW(payload) ROW("e1", "order", "o1", (payload), NULL, NULL, NULL, NULL)

/* now_ns of the fixture's changes, in milliseconds. */
#define NOW "time=1777665601234"

static struct relation *outbox_table(void)
{
    return compile(MAKE_RELATION("public", "outbox", 'd', COLUMNS));
}

static void add_field(const char *column, enum additional_placement placement, const char *alias)
{
    additional[outbox->additional_count++] = (struct additional_field){column, placement, alias};
}

static void expect_reject(const struct relation *relation, const char *const *row, const char *text)
{
    cr_expect_eq(route(OP_CREATE, relation, OLD_NONE, NULL, row), WR_REJECT);
    cr_expect_str_eq(err.text, text);
    cr_expect_eq(emitted_size, 0);
}

Test(event_router, makes_an_event_of_an_inserted_row)
{
    expect_insert(outbox_table(), OUTBOX_ROW("{\"a\": 1}"),
                  "outbox.event.order | 'o1' | '{\"a\": 1}' id='e1' " NOW "\n");
    EXPECT_NOTICES("");
}

/* 2 */
Test(event_router, makes_an_event_of_a_row_of_the_snapshot)
{
    cr_assert_eq(route(OP_READ, outbox_table(), OLD_NONE, NULL, OUTBOX_ROW("{}")), WR_OK);
    EXPECT_EMITTED("outbox.event.order | 'o1' | '{}' id='e1' " NOW "\n");
}

/* 1 */
Test(event_router, passes_on_what_is_no_change)
{
    struct message message = {.kind = MESSAGE_LOGICAL,
                              .logical = {.prefix = "p", .content = WR_SLICE("x")}};
    struct change_source source = {.lsn = 1};

    start_router();
    cr_assert_eq(router_message(router, &message, &source, scratch, &err), WR_OK);
    EXPECT_EMITTED("shop.message | {prefix: 'p'} | m 'p' 78\n");
}

/* 1 and 2: the delete, and its tombstone. */
Test(event_router, drops_deletes_and_truncates_quietly)
{
    struct relation *relation = outbox_table();

    outbox->op_invalid_behavior = OP_INVALID_FATAL;
    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, OUTBOX_ROW(NULL), NULL), WR_OK);
    EXPECT_EMITTED("");
    cr_assert_eq(route(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL), WR_OK);
    EXPECT_EMITTED("");
    EXPECT_NOTICES("");
}

/* 2 */
Test(event_router, notices_and_drops_an_update)
{
    static const enum op_invalid_behavior BEHAVIORS[] = {OP_INVALID_WARN, OP_INVALID_ERROR};
    struct relation *relation = outbox_table();

    for (size_t i = 0; i < COUNT(BEHAVIORS); i++) {
        outbox->op_invalid_behavior = BEHAVIORS[i];
        notices_size = 0;
        cr_assert_eq(route(OP_UPDATE, relation, OLD_NONE, NULL, OUTBOX_ROW("{}")), WR_OK);
        EXPECT_EMITTED("");
        EXPECT_NOTICES("public.outbox, id e1: an UPDATE of an outbox row is no event\n");
    }
}

Test(event_router, stops_at_an_update_when_told_so)
{
    struct relation *relation = outbox_table();

    outbox->op_invalid_behavior = OP_INVALID_FATAL;
    cr_expect_eq(route(OP_UPDATE, relation, OLD_NONE, NULL, OUTBOX_ROW("{}")), WR_FATAL);
    cr_expect_str_eq(err.text, "public.outbox, id e1: an UPDATE of an outbox row is no event "
                               "(table.op.invalid.behavior=fatal)");
    cr_expect_eq(route(OP_UPDATE, relation, OLD_KEY, OUTBOX_ROW(NULL),
                       ROW("e2", "order", "o1", "{}", NULL, NULL, NULL, NULL)),
                 WR_FATAL);
}

/* It comes as a delete, a tombstone and a create, of which none is an event. */
Test(event_router, notices_an_update_that_moves_the_key_once)
{
    cr_assert_eq(route(OP_UPDATE, outbox_table(), OLD_KEY, OUTBOX_ROW(NULL),
                       ROW("e2", "order", "o1", "{}", NULL, NULL, NULL, NULL)),
                 WR_OK);
    EXPECT_EMITTED("");
    EXPECT_NOTICES("public.outbox, id e1: an UPDATE of an outbox row is no event\n");
}

static struct relation *without(const char *name)
{
    struct fixture_column columns[COUNT(COLUMNS)];
    size_t count = 0;

    for (size_t i = 0; i < COUNT(COLUMNS); i++) {
        if (strcmp(COLUMNS[i].name, name) != 0) {
            columns[count++] = COLUMNS[i];
        }
    }
    return compile(make_relation("public", "outbox", 'd', columns, count));
}

/* 3 and 4 */
Test(event_router, names_a_column_that_is_missing)
{
    static const char *const CASES[][2] = {
        {"id", "table public.outbox has no column id (table.field.event.id)"},
        {"aggregateid", "table public.outbox has no column aggregateid (table.field.event.key)"},
        {"payload", "table public.outbox has no column payload (table.field.event.payload)"},
        {"aggregatetype", "table public.outbox has no column aggregatetype (route.by.field)"},
        {"created_at",
         "table public.outbox has no column created_at (table.field.event.timestamp)"},
        {"partition",
         "table public.outbox has no column partition (table.field.event.schema.version)"},
    };

    outbox->field_event_timestamp = "created_at";
    outbox->field_schema_version = "partition";
    for (size_t i = 0; i < COUNT(CASES); i++) {
        expect_reject(without(CASES[i][0]), OUTBOX_ROW("{}"), CASES[i][1]);
    }
    /* Housekeeping goes on even there. */
    cr_expect_eq(route(OP_DELETE, relations[0], OLD_KEY, OUTBOX_ROW(NULL), NULL), WR_OK);
}

Test(event_router, takes_any_names_of_columns)
{
    static const struct fixture_column OWN[] = {
        {"n", INT8, true}, {"topic", TEXT, false}, {"who", INT4, false}, {"body", TEXT, false}};

    outbox->field_event_id = "n";
    outbox->field_event_key = "who";
    outbox->field_event_payload = "body";
    outbox->route_by_field = "topic";
    outbox->route_topic_replacement = "${routedByValue}";
    expect_insert(compile(MAKE_RELATION("public", "outbox", 'd', OWN)),
                  ROW("5", "orders", "7", "text"), "orders | 7 | 'text' id=5 " NOW "\n");
}

/* 4 */
Test(event_router, takes_the_time_of_a_timestamp_column)
{
    static const char *const CASES[][2] = {
        {"2026-05-01 20:00:00", "time=1777665600000"},
        {"2026-05-01 20:00:00.123999", "time=1777665600123"},
        {"1970-01-01 00:00:00", "time=0"},
        {NULL, NOW},
        {"infinity", NOW},
        {"-infinity", NOW},
        {"1969-12-31 23:59:59", NOW}, /* Kafka has no time before 1970 */
    };
    char line[256];

    outbox->field_event_timestamp = "created_at";
    struct relation *relation = outbox_table();
    for (size_t i = 0; i < COUNT(CASES); i++) {
        snprintf(line, sizeof(line), "outbox.event.order | 'o1' | '{}' id='e1' %s\n", CASES[i][1]);
        expect_insert(relation, ROW("e1", "order", "o1", "{}", CASES[i][0], NULL, NULL, NULL),
                      line);
    }
}

/* Debezium fails on it. */
Test(event_router, takes_the_time_of_a_timestamptz_column)
{
    outbox->field_event_timestamp = "tz";
    expect_insert(outbox_table(),
                  ROW("e1", "order", "o1", "{}", NULL, "2026-05-01 22:00:00+02", NULL, NULL),
                  "outbox.event.order | 'o1' | '{}' id='e1' time=1777665600000\n");
}

Test(event_router, refuses_the_time_of_another_column)
{
    outbox->field_event_timestamp = "type";
    expect_reject(outbox_table(), OUTBOX_ROW("{}"),
                  "column public.outbox.type (table.field.event.timestamp) is of type text, not "
                  "timestamp or timestamptz");
}

/* 5 */
Test(event_router, adds_headers_in_the_order_of_their_configuration)
{
    add_field("type", PLACEMENT_HEADER, "eventType");
    add_field("partition", PLACEMENT_HEADER, "partition");
    expect_insert(outbox_table(), ROW("e1", "order", "o1", "{}", NULL, NULL, "3", "Placed"),
                  "outbox.event.order | 'o1' | '{}' id='e1' eventType='Placed' partition=3 " NOW
                  "\n");
    expect_insert(outbox_table(), OUTBOX_ROW("{}"),
                  "outbox.event.order | 'o1' | '{}' id='e1' eventType=NULL partition=NULL " NOW
                  "\n");
}

Test(event_router, adds_no_more_headers_than_a_record_holds)
{
    for (int i = 0; i < RECORD_HEADERS_MAX - 1; i++) {
        add_field("type", PLACEMENT_HEADER, "h");
    }
    struct relation *relation = outbox_table();
    cr_expect_eq(route(OP_CREATE, relation, OLD_NONE, NULL, OUTBOX_ROW("{}")), WR_OK);
    router_free(router);
    router = NULL;
    add_field("type", PLACEMENT_HEADER, "h");
    expect_reject(outbox_table(), OUTBOX_ROW("{}"),
                  "public.outbox, id e1: more headers than RECORD_HEADERS_MAX");
}

/* 7 */
Test(event_router, wraps_the_payload_when_a_field_stands_beside_it)
{
    add_field("type", PLACEMENT_ENVELOPE, "eventType");
    add_field("type", PLACEMENT_HEADER, "h");
    add_field("partition", PLACEMENT_ENVELOPE, "partition");
    expect_insert(outbox_table(), ROW("e1", "order", "o1", "{}", NULL, NULL, "3", "Placed"),
                  "outbox.event.order | 'o1' | {payload: '{}', eventType: 'Placed', partition: 3} "
                  "id='e1' h='Placed' " NOW "\n");
    expect_insert(outbox_table(), OUTBOX_ROW(NULL),
                  "outbox.event.order | 'o1' | {payload: NULL, eventType: NULL, partition: NULL} "
                  "id='e1' h=NULL " NOW "\n");
}

Test(event_router, names_the_first_field_payload_whatever_its_column_is)
{
    add_field("payload", PLACEMENT_ENVELOPE, "document");
    outbox->field_event_payload = "type";
    expect_insert(outbox_table(), ROW("e1", "order", "o1", "{}", NULL, NULL, NULL, "Placed"),
                  "outbox.event.order | 'o1' | {payload: 'Placed', document: '{}'} id='e1' " NOW
                  "\n");
}

/* 8 */
Test(event_router, takes_the_partition_from_a_column)
{
    add_field("partition", PLACEMENT_PARTITION, "ignored");
    struct relation *relation = outbox_table();

    expect_insert(relation, ROW("e1", "order", "o1", "{}", NULL, NULL, "3", NULL),
                  "outbox.event.order | 'o1' | '{}' id='e1' partition=3 " NOW "\n");
    expect_insert(relation, ROW("e1", "order", "o1", "{}", NULL, NULL, "0", NULL),
                  "outbox.event.order | 'o1' | '{}' id='e1' partition=0 " NOW "\n");
    expect_insert(relation, OUTBOX_ROW("{}"), "outbox.event.order | 'o1' | '{}' id='e1' " NOW "\n");
    expect_reject(relation, ROW("e1", "order", "o1", "{}", NULL, NULL, "-1", NULL),
                  "public.outbox, id e1: the partition is not a whole number from 0");
}

Test(event_router, refuses_a_partition_that_is_no_number)
{
    add_field("type", PLACEMENT_PARTITION, "type");
    expect_reject(outbox_table(), ROW("e1", "order", "o1", "{}", NULL, NULL, NULL, "3"),
                  "public.outbox, id e1: the partition is not a whole number from 0");
}

Test(event_router, refuses_a_partition_beyond_kafkas)
{
    static const struct fixture_column WIDE[] = {{"id", INT8, true},
                                                 {"aggregatetype", TEXT, false},
                                                 {"aggregateid", TEXT, false},
                                                 {"payload", TEXT, false}};

    add_field("id", PLACEMENT_PARTITION, "id");
    struct relation *relation = compile(MAKE_RELATION("public", "outbox", 'd', WIDE));
    expect_insert(relation, ROW("2147483647", "t", "k", "v"),
                  "outbox.event.t | 'k' | 'v' id=2147483647 partition=2147483647 " NOW "\n");
    expect_reject(relation, ROW("2147483648", "t", "k", "v"),
                  "public.outbox, id 2147483648: the partition is not a whole number from 0");
}

Test(event_router, refuses_a_missing_additional_column)
{
    add_field("nosuch", PLACEMENT_HEADER, "nosuch");
    expect_reject(outbox_table(), OUTBOX_ROW("{}"),
                  "table public.outbox has no column nosuch (table.fields.additional.placement)");
}

Test(event_router, ignores_a_missing_additional_column_when_told_so)
{
    outbox->additional_missing_is_error = false;
    add_field("nosuch", PLACEMENT_HEADER, "nosuch");
    add_field("nosuch", PLACEMENT_PARTITION, "nosuch");
    add_field("type", PLACEMENT_HEADER, "type");
    expect_insert(outbox_table(), OUTBOX_ROW("{}"),
                  "outbox.event.order | 'o1' | '{}' id='e1' type=NULL " NOW "\n");
    router_free(router);
    router = NULL;
    add_field("nosuch", PLACEMENT_ENVELOPE, "nosuch");
    expect_insert(outbox_table(), OUTBOX_ROW("{}"),
                  "outbox.event.order | 'o1' | {payload: '{}'} id='e1' type=NULL " NOW "\n");
}

/* 6 */
Test(event_router, expands_objects_and_arrays)
{
    outbox->expand_json_payload = true;
    struct relation *relation = outbox_table();

    expect_insert(
        relation, OUTBOX_ROW("{\"a\": 1.10, \"b\": [1, {\"c\": \"x\"}]}"),
        "outbox.event.order | 'o1' | json {\"a\":1.10,\"b\":[1,{\"c\":\"x\"}]} id='e1' " NOW "\n");
    expect_insert(relation, OUTBOX_ROW("[12345678901234567890]"),
                  "outbox.event.order | 'o1' | json [12345678901234567890] id='e1' " NOW "\n");
    EXPECT_NOTICES("");
}

Test(event_router, drops_nulls_and_empty_arrays_unless_told_otherwise)
{
    static const char PAYLOAD[] = "{\"a\": null, \"b\": [], \"c\": {\"d\": null, \"e\": [[]]}}";

    outbox->expand_json_payload = true;
    expect_insert(outbox_table(), OUTBOX_ROW(PAYLOAD),
                  "outbox.event.order | 'o1' | json {\"c\":{\"e\":[[]]}} id='e1' " NOW "\n");
    outbox->json_payload_null_is_kept = true;
    expect_insert(outbox_table(), OUTBOX_ROW(PAYLOAD),
                  "outbox.event.order | 'o1' | json {\"a\":null,\"c\":{\"d\":null,\"e\":[[]]}} "
                  "id='e1' " NOW "\n");
    outbox->json_payload_empty_array_is_kept = true;
    expect_insert(outbox_table(), OUTBOX_ROW(PAYLOAD),
                  "outbox.event.order | 'o1' | json "
                  "{\"a\":null,\"b\":[],\"c\":{\"d\":null,\"e\":[[]]}} id='e1' " NOW "\n");
}

Test(event_router, publishes_as_it_is_what_it_cannot_expand)
{
    static const char *const PAYLOADS[] = {"{broken", "\"text\"", "17", " {}", "", "[1,]"};
    char line[256];

    outbox->expand_json_payload = true;
    struct relation *relation = outbox_table();
    for (size_t i = 0; i < COUNT(PAYLOADS); i++) {
        notices_size = 0;
        snprintf(line, sizeof(line), "outbox.event.order | 'o1' | '%s' id='e1' " NOW "\n",
                 PAYLOADS[i]);
        expect_insert(relation, OUTBOX_ROW(PAYLOADS[i]), line);
        EXPECT_NOTICES("public.outbox, id e1: the payload is no JSON object or array and is "
                       "published as it is\n");
    }
    notices_size = 0;
    notices[0] = '\0';
    expect_insert(relation, OUTBOX_ROW(NULL), "outbox.event.order | 'o1' | NULL id='e1' " NOW "\n");
    EXPECT_NOTICES("");
}

Test(event_router, publishes_as_it_is_and_notices_a_payload_that_is_no_text)
{
    static const struct fixture_column NUMBERS[] = {{"id", TEXT, true},
                                                    {"aggregatetype", TEXT, false},
                                                    {"aggregateid", TEXT, false},
                                                    {"payload", INT4, false}};

    outbox->expand_json_payload = true;
    expect_insert(compile(MAKE_RELATION("public", "outbox", 'd', NUMBERS)),
                  ROW("e1", "t", "k", "0"), "outbox.event.t | 'k' | 0 id='e1' " NOW "\n");
    EXPECT_NOTICES("public.outbox, id e1: the payload is no JSON object or array and is published "
                   "as it is\n");
}

Test(event_router, expands_inside_an_envelope)
{
    outbox->expand_json_payload = true;
    add_field("type", PLACEMENT_ENVELOPE, "type");
    expect_insert(outbox_table(), OUTBOX_ROW("{\"a\": 1}"),
                  "outbox.event.order | 'o1' | {payload: json {\"a\":1}, type: NULL} id='e1' " NOW
                  "\n");
}

/* 9 */
Test(event_router, publishes_a_null_payload_as_a_typed_null)
{
    struct relation *relation = outbox_table();

    expect_insert(relation, OUTBOX_ROW(NULL), "outbox.event.order | 'o1' | NULL id='e1' " NOW "\n");
    expect_insert(relation, OUTBOX_ROW(" "), "outbox.event.order | 'o1' | ' ' id='e1' " NOW "\n");
}

Test(event_router, makes_a_tombstone_of_an_empty_payload_when_told_so)
{
    static const char *const EMPTY[] = {NULL, "", " ", " \t\r\n", "\x01"}; /* as String.trim() */

    outbox->tombstone_on_empty_payload = true;
    outbox->expand_json_payload = true;
    struct relation *relation = outbox_table();
    for (size_t i = 0; i < COUNT(EMPTY); i++) {
        expect_insert(relation, OUTBOX_ROW(EMPTY[i]),
                      "outbox.event.order | 'o1' | null id='e1' " NOW "\n");
    }
    expect_insert(relation, OUTBOX_ROW("{}"),
                  "outbox.event.order | 'o1' | json {} id='e1' " NOW "\n");
    EXPECT_NOTICES("");
}

Test(event_router, makes_a_tombstone_also_where_fields_stand_beside_the_payload)
{
    outbox->tombstone_on_empty_payload = true;
    add_field("type", PLACEMENT_ENVELOPE, "type");
    add_field("type", PLACEMENT_HEADER, "type");
    expect_insert(outbox_table(), ROW("e1", "order", "o1", NULL, NULL, NULL, NULL, "Gone"),
                  "outbox.event.order | 'o1' | null id='e1' type='Gone' " NOW "\n");
}

Test(event_router, hands_bytes_on)
{
    static const struct fixture_column BYTES[] = {{"id", TEXT, true},
                                                  {"aggregatetype", TEXT, false},
                                                  {"aggregateid", BYTEA, false},
                                                  {"payload", BYTEA, false}};

    outbox->tombstone_on_empty_payload = true; /* bytes are never empty: their toString() is not */
    struct relation *relation = compile(MAKE_RELATION("public", "outbox", 'd', BYTES));
    expect_insert(relation, ROW("e1", "t", "\\x00ff", "\\x2020"),
                  "outbox.event.t | bytes 00ff | bytes 2020 id='e1' " NOW "\n");
    expect_insert(relation, ROW("e1", "t", "\\x00ff", "\\x"),
                  "outbox.event.t | bytes 00ff | bytes  id='e1' " NOW "\n");
}

/* 10 */
Test(event_router, gives_a_null_key_to_a_row_without_one)
{
    expect_insert(outbox_table(), ROW("e1", "order", NULL, "{}", NULL, NULL, NULL, NULL),
                  "outbox.event.order | null | '{}' id='e1' " NOW "\n");
}

Test(event_router, gives_a_null_header_to_a_row_without_an_id)
{
    expect_insert(outbox_table(), ROW(NULL, "order", "o1", "{}", NULL, NULL, NULL, NULL),
                  "outbox.event.order | 'o1' | '{}' id=NULL " NOW "\n");
}

static const char *const *row_of(const char *aggregatetype)
{
    static const char *row[COUNT(COLUMNS)] = {"e1", NULL, "o1", "{}"};

    row[1] = aggregatetype;
    return row;
}

/* 11 */
Test(event_router, refuses_a_route_that_is_null)
{
    expect_reject(outbox_table(), row_of(NULL), "public.outbox, id e1: route.by.field is null");
}

Test(event_router, refuses_a_route_that_is_empty)
{
    struct relation *relation = outbox_table();

    for (int i = 0; i < 2; i++) { /* also the second time */
        expect_reject(relation, row_of(""),
                      "public.outbox, id e1: aggregatetype \"\" makes no topic: the name is empty");
    }
}

Test(event_router, takes_a_route_that_the_expression_does_not_match_as_the_topic)
{
    outbox->route_topic_regex = "(?<routedByValue>[a-z]+)";
    struct relation *relation = outbox_table();

    expect_insert(relation, row_of("Order7"), "Order7 | 'o1' | '{}' id='e1' " NOW "\n");
    expect_insert(relation, row_of("order"), "outbox.event.order | 'o1' | '{}' id='e1' " NOW "\n");
}

Test(event_router, makes_a_route_legal_and_says_so_once)
{
    struct relation *relation = outbox_table();

    for (int i = 0; i < 3; i++) {
        expect_insert(relation, row_of("or der/\xc3\xa9"),
                      "outbox.event.or_der__ | 'o1' | '{}' id='e1' " NOW "\n");
    }
    EXPECT_NOTICES("aggregatetype \"or der/\xc3\xa9\" is published to the topic "
                   "outbox.event.or_der__\n");
}

Test(event_router, refuses_a_route_that_makes_no_topic)
{
    char value[300];

    memset(value, 't', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    struct relation *relation = outbox_table();
    expect_reject(
        relation, row_of(value),
        "public.outbox, id e1: aggregatetype \"tttttttttttttttttttttttttttttttttttttttt\" "
        "makes no topic: the name is longer than 249 characters");
    expect_insert(relation, row_of("order"), "outbox.event.order | 'o1' | '{}' id='e1' " NOW "\n");
}

/* The cache of routes has 256 places: values that meet in one must not take each other's topic. */
Test(event_router, gives_each_of_many_routes_its_own_topic)
{
    char value[32];
    char line[128];
    struct relation *relation = outbox_table();

    for (int i = 0; i < 2000; i++) {
        snprintf(value, sizeof(value), "t%d", i % 1000);
        snprintf(line, sizeof(line), "outbox.event.%s | 'o1' | '{}' id='e1' " NOW "\n", value);
        expect_insert(relation, row_of(value), line);
    }
}

Test(event_router, stops_giving_notice_some_day)
{
    struct relation *relation = outbox_table();
    size_t count = 0;

    for (int i = 0; i < 1100; i++) {
        cr_assert_eq(route(OP_UPDATE, relation, OLD_NONE, NULL, OUTBOX_ROW("{}")), WR_OK);
        if (i == 999) {
            count = notices_size;
        }
    }
    cr_expect_gt(count, 0);
    cr_expect_eq(notices_size, count);
}

Test(event_router, shows_the_topic_to_the_next_transform)
{
    static struct transform_config chain[2];

    chain[0] = transform;
    chain[1] = (struct transform_config){.name = "r",
                                         .kind = TRANSFORM_REGEX_ROUTER,
                                         .as.regex_router = {"outbox\\.event\\.(.*)", "$1-events"}};
    config.transforms = chain;
    config.transform_count = 2;
    expect_insert(outbox_table(), row_of("order"), "order-events | 'o1' | '{}' id='e1' " NOW "\n");
    expect_insert(relations[0], row_of("show"), "show-events | 'o1' | '{}' id='e1' " NOW "\n");
}

Test(event_router, refuses_at_the_start_what_cannot_work)
{
    outbox->route_topic_regex = "un(closed";
    cr_expect_eq(router_new(&config, &FIXTURE_SINK, &router, &err), WR_FATAL);
    cr_expect_null(router);
    outbox->route_topic_regex = "(.*)";
    cr_expect_eq(router_new(&config, &FIXTURE_SINK, &router, &err), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "${routedByValue}"), "%s", err.text);
}

Test(event_router, names_the_column_of_a_value_without_a_right_form)
{
    add_field("partition", PLACEMENT_HEADER, "p");
    cr_expect_eq(route(OP_CREATE, outbox_table(), OLD_NONE, NULL,
                       ROW("e1", "order", "o1", "{}", NULL, NULL, "x", NULL)),
                 WR_REJECT);
    cr_expect_not_null(strstr(err.text, "public.outbox.partition: "), "%s", err.text);
}
