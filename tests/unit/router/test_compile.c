#include "decoder/schema.h"
#include "fixture.h"

TestSuite(compile, .init = open_fixture, .fini = close_fixture);

/* What the catalog says of a table with columns and a key; NULL ends each list. */
static void set_catalog(const char *const *columns, const char *const *keys)
{
    static struct column_info infos[16];
    static const char *key_columns[16];

    catalog_status = WR_OK;
    catalog_table = (struct table_info){.columns = infos, .key_columns = key_columns};
    for (; columns[catalog_table.column_count] != NULL; catalog_table.column_count++) {
        infos[catalog_table.column_count] =
            (struct column_info){.name = columns[catalog_table.column_count]};
    }
    for (; keys[catalog_table.key_column_count] != NULL; catalog_table.key_column_count++) {
        key_columns[catalog_table.key_column_count] = keys[catalog_table.key_column_count];
    }
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_NAMES   ((const char *const[]){NULL})

static const char *names_of(const struct column_plan *const *columns, size_t count)
{
    static char names[1024];

    names[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(names);
        snprintf(names + size, sizeof(names) - size, "%s%s", i == 0 ? "" : " ", columns[i]->name);
    }
    return names;
}

static const char *key_of(char identity, const struct fixture_column *columns, size_t count)
{
    const struct relation *relation =
        compile(make_relation("public", "seats", identity, columns, count));

    return names_of(relation->plan->key_columns, relation->plan->key_column_count);
}

#define EXPECT_KEY(identity, columns, expected)                                                    \
    cr_expect_str_eq(key_of((identity), (columns), COUNT(columns)), (expected))

static const struct fixture_column KEY_FIRST[] = {
    {"show", INT4, true}, {"seat", INT4, true}, {"note", TEXT, false}};
static const struct fixture_column ALL_KEYS[] = {
    {"show", INT4, true}, {"seat", INT4, true}, {"note", TEXT, true}};
static const struct fixture_column NO_KEYS[] = {
    {"show", INT4, false}, {"seat", INT4, false}, {"note", TEXT, false}};
static const struct fixture_column NOTE_KEY[] = {
    {"show", INT4, false}, {"seat", INT4, false}, {"note", TEXT, true}};

Test(compile, takes_the_key_of_the_default_identity_from_the_wal)
{
    EXPECT_KEY('d', KEY_FIRST, "show seat");
}

Test(compile, takes_the_order_of_a_composite_key_from_its_index)
{
    set_catalog(NAMES("show", "seat", "note"), NAMES("seat", "show"));
    EXPECT_KEY('d', KEY_FIRST, "seat show");
}

Test(compile, has_no_key_without_a_primary_key)
{
    EXPECT_KEY('d', NO_KEYS, "");
    set_catalog(NAMES("show", "seat", "note"), NO_NAMES);
    EXPECT_KEY('d', NO_KEYS, "");
}

/* The catalog is of today, the row of yesterday: what the WAL flags is the key. */
Test(compile, does_not_let_the_catalog_change_the_key_of_the_default_identity)
{
    set_catalog(NAMES("show", "seat", "note"), NAMES("note"));
    EXPECT_KEY('d', KEY_FIRST, "show seat");
    set_catalog(NAMES("show", "seat", "note"), NAMES("show"));
    EXPECT_KEY('d', KEY_FIRST, "show seat");
    set_catalog(NAMES("show", "seat", "note"), NAMES("show", "seat"));
    EXPECT_KEY('d', NO_KEYS, "");
}

/* Debezium publishes a null key here. */
Test(compile, keeps_the_key_of_a_column_that_was_renamed_since)
{
    set_catalog(NAMES("show", "chair", "note"), NAMES("chair", "show"));
    EXPECT_KEY('d', KEY_FIRST, "seat show");
    EXPECT_KEY('f', ALL_KEYS, "seat show");
}

Test(compile, does_not_guess_at_a_renamed_column_when_the_counts_differ)
{
    set_catalog(NAMES("show", "chair", "note", "extra"), NAMES("chair", "show"));
    EXPECT_KEY('d', KEY_FIRST, "show seat");
    EXPECT_KEY('f', ALL_KEYS, "");
}

Test(compile, takes_the_key_of_an_index_identity_from_the_wal)
{
    EXPECT_KEY('i', NOTE_KEY, "note");
    set_catalog(NAMES("show", "seat", "note"), NAMES("show", "seat"));
    EXPECT_KEY('i', NOTE_KEY, "note");
}

/* FULL flags every column, so that only the catalog knows the key. */
Test(compile, takes_the_key_of_a_full_identity_from_the_catalog)
{
    set_catalog(NAMES("show", "seat", "note"), NAMES("seat", "show"));
    EXPECT_KEY('f', ALL_KEYS, "seat show");
    set_catalog(NAMES("show", "seat", "note"), NO_NAMES);
    EXPECT_KEY('f', ALL_KEYS, "");
}

Test(compile, has_no_key_of_a_full_identity_when_the_table_is_gone)
{
    EXPECT_KEY('f', ALL_KEYS, "");
}

Test(compile, takes_the_key_without_identity_from_the_catalog)
{
    EXPECT_KEY('n', NO_KEYS, "");
    set_catalog(NAMES("show", "seat", "note"), NAMES("show"));
    EXPECT_KEY('n', NO_KEYS, "show");
}

Test(compile, takes_the_key_that_message_key_columns_gives)
{
    config.message_key_columns = "public\\.seats:note,show";
    set_catalog(NAMES("show", "seat", "note"), NAMES("seat", "show"));
    EXPECT_KEY('d', KEY_FIRST, "note show");
    EXPECT_KEY('i', NOTE_KEY, "note show");
    EXPECT_KEY('f', ALL_KEYS, "note show");
    EXPECT_KEY('n', NO_KEYS, "note show");
}

Test(compile, refuses_a_key_column_that_the_table_does_not_have)
{
    config.message_key_columns = "public\\.seats:row";
    start_router();
    struct relation *relation = MAKE_RELATION("public", "seats", 'd', KEY_FIRST);
    cr_expect_eq(router_compile(router, relation, &FIXTURE_CATALOG, &err), WR_FATAL);
    cr_expect_str_eq(err.text,
                     "message.key.columns names the column row, which public.seats does not have");
    cr_expect_null(relation->plan);
}

Test(compile, keeps_a_key_column_that_is_excluded_from_the_value)
{
    config.column_exclude_list = "public\\.seats\\.(seat|note)";
    const struct relation *relation = compile(MAKE_RELATION("public", "seats", 'd', KEY_FIRST));
    const struct route_plan *plan = relation->plan;

    cr_expect_str_eq(names_of(plan->key_columns, plan->key_column_count), "show seat");
    cr_expect_str_eq(names_of(plan->value_columns, plan->value_column_count), "show");
}

Test(compile, includes_only_the_columns_that_are_asked_for)
{
    config.column_include_list = "public\\.seats\\.note";
    const struct route_plan *plan = compile(MAKE_RELATION("public", "seats", 'd', KEY_FIRST))->plan;

    cr_expect_str_eq(names_of(plan->value_columns, plan->value_column_count), "note");
}

Test(compile, leaves_out_unknown_types_unless_told_otherwise)
{
    static const struct fixture_column COLUMNS[] = {
        {"id", INT4, true}, {"area", BOX, false}, {"name", TEXT, false}};
    const struct route_plan *plan = compile(MAKE_RELATION("public", "rooms", 'd', COLUMNS))->plan;

    cr_expect_str_eq(names_of(plan->value_columns, plan->value_column_count), "id name");
    router_free(router);
    config.include_unknown_datatypes = true;
    start_router();
    plan = compile(MAKE_RELATION("public", "rooms", 'd', COLUMNS))->plan;
    cr_expect_str_eq(names_of(plan->value_columns, plan->value_column_count), "id area name");
}

Test(compile, has_no_key_of_columns_that_are_not_published)
{
    static const struct fixture_column COLUMNS[] = {{"area", BOX, true}, {"id", INT4, true}};

    set_catalog(NAMES("area", "id"), NAMES("area"));
    EXPECT_KEY('f', COLUMNS, "");
    set_catalog(NAMES("area", "id"), NAMES("area", "id"));
    EXPECT_KEY('d', COLUMNS, "id");
}

Test(compile, settles_names_once_for_all_rows)
{
    static const struct fixture_column COLUMNS[] = {{"a \"b\"", INT4, true}};
    const struct relation *relation = compile(MAKE_RELATION("Sch\"ema", "t\\able", 'd', COLUMNS));
    const struct route_plan *plan = relation->plan;

    cr_expect(wr_slice_is(plan->value_columns[0]->json_name, "\"a \\\"b\\\"\":"));
    cr_expect(wr_slice_is(plan->table_json, "\"schema\":\"Sch\\\"ema\",\"table\":\"t\\\\able\""));
    cr_expect(wr_slice_is(plan->topic, "shop.Sch_ema.t_able"));
}

Test(compile, leaves_a_table_alone_that_is_not_captured)
{
    config.table_include_list = "public\\.orders";
    const struct relation *relation = compile(MAKE_RELATION("public", "seats", 'd', KEY_FIRST));

    cr_expect(!relation->plan->is_captured);
    cr_expect(!router_captures(router, "public", "seats"));
    cr_expect(router_captures(router, "public", "orders"));
}

Test(compile, hands_a_lost_connection_on)
{
    catalog_status = WR_RETRY;
    start_router();
    struct relation *relation = MAKE_RELATION("public", "seats", 'd', KEY_FIRST);
    cr_expect_eq(router_compile(router, relation, &FIXTURE_CATALOG, &err), WR_RETRY);
    cr_expect_null(relation->plan);
}

Test(compile, takes_a_table_without_columns)
{
    const struct relation *relation = compile(make_relation("public", "none", 'd', KEY_FIRST, 0));

    expect_insert(relation, ROW(NULL), "shop.public.none | null | c - {}\n");
}

static const struct fixture_column ODD_NAMES[] = {
    {"1st", INT4, true}, {"a-b", TEXT, false}, {"c", VARCHAR, false}};

Test(compile, gives_columns_the_names_that_avro_takes_and_finds_them_by_their_own)
{
    config.field_name_adjustment_mode = NAME_ADJUSTMENT_AVRO;
    config.schema_name_adjustment_mode = NAME_ADJUSTMENT_AVRO;
    config.column_exclude_list = "public.odd-table.a-b";
    set_catalog(NAMES("1st", "a-b", "c"), NAMES("1st"));
    const struct route_plan *plan =
        compile(MAKE_RELATION("public", "odd-table", 'd', ODD_NAMES))->plan;

    cr_expect_str_eq(names_of(plan->value_columns, plan->value_column_count), "_1st c");
    cr_expect_str_eq(names_of(plan->key_columns, plan->key_column_count), "_1st");
    cr_expect(wr_slice_is(plan->value_columns[0]->json_name, "\"_1st\":"));
    cr_expect_str_eq(plan->key_schema->name, "shop.public.odd_table.Key");
    cr_expect(wr_slice_is(plan->topic, "shop.public.odd-table"), "topics may have hyphens");
}

static const char *parameters_of(const struct column_plan *column)
{
    static char text[1024];

    text[0] = '\0';
    for (size_t i = 0; i < column->schema->parameter_count; i++) {
        size_t size = strlen(text);
        snprintf(text + size, sizeof(text) - size, "%s=%s;", column->schema->parameters[i].name,
                 column->schema->parameters[i].value);
    }
    return text;
}

#define TYPE_PARAMETERS                                                                            \
    "__debezium.source.column.type=TEXT;__debezium.source.column.length=2147483647;"               \
    "__debezium.source.column.scale=0;__debezium.source.column.name=a-b;"

Test(compile, says_the_type_of_the_source_in_the_row_but_not_in_the_key)
{
    config.column_propagate_source_type = ".*\\.(1st|a-b)";
    const struct route_plan *plan = compile(MAKE_RELATION("public", "t", 'd', ODD_NAMES))->plan;

    cr_expect_str_eq(parameters_of(plan->value_columns[1]), TYPE_PARAMETERS);
    cr_expect_str_eq(parameters_of(plan->value_columns[2]), "");
    cr_expect_eq(plan->value_columns[0]->schema->parameter_count, 4);
    cr_expect_eq(plan->key_columns[0]->schema->parameter_count, 0);
}

Test(compile, says_the_type_of_the_source_by_type)
{
    config.datatype_propagate_source_type = "public\\.t\\.text";
    const struct route_plan *plan = compile(MAKE_RELATION("public", "t", 'd', ODD_NAMES))->plan;

    cr_expect_str_eq(parameters_of(plan->value_columns[0]), "");
    cr_expect_str_eq(parameters_of(plan->value_columns[1]), TYPE_PARAMETERS);
}

/* Debezium takes the first rule alone, and so would publish what was to be hidden. */
Test(compile, masks_also_what_says_its_type)
{
    static struct column_rule rules[] = {{.is_mask = true, .size = 3, .columns = ".*a-b"},
                                         {.size = 5, .columns = ".*c"}};

    config.column_rules = rules;
    config.column_rule_count = 2;
    config.column_propagate_source_type = ".*a-b";
    const struct route_plan *plan = compile(MAKE_RELATION("public", "t", 'd', ODD_NAMES))->plan;

    cr_expect_not_null(plan->value_columns[1]->mask);
    cr_expect_str_eq(parameters_of(plan->value_columns[1]), "masked=true;" TYPE_PARAMETERS);
    cr_expect_str_eq(parameters_of(plan->value_columns[2]), "truncateLength=5;");
}

Test(compile, asks_the_catalog_what_may_be_null_and_what_the_default_is)
{
    set_catalog(NAMES("1st", "a-b", "c"), NAMES("1st"));
    catalog_table.columns[1].is_not_null = true;
    catalog_table.columns[2].default_text = "'x'::text";
    const struct route_plan *plan = compile(MAKE_RELATION("public", "t", 'd', ODD_NAMES))->plan;

    cr_expect_not(plan->value_columns[0]->schema->is_optional, "a key is never null");
    cr_expect_not(plan->value_columns[1]->schema->is_optional);
    cr_expect_null(plan->value_columns[1]->schema->default_value);
    cr_expect(plan->value_columns[2]->schema->is_optional);
    cr_expect(wr_slice_is(plan->value_columns[2]->schema->default_value->as.bytes, "x"));
}
