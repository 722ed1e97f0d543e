#include "fixture.h"

TestSuite(row, .init = open_fixture, .fini = close_fixture);

static const struct fixture_column COLUMNS[] = {
    {"id", INT4, true}, {"name", TEXT, false}, {"code", VARCHAR, false}, {"doc", JSONB, false}};

static struct relation *users(void)
{
    return compile(MAKE_RELATION("public", "users", 'd', COLUMNS));
}

static void add_rule(bool is_mask, uint32_t size, const char *columns)
{
    static struct column_rule rules[4];

    rules[config.column_rule_count++] =
        (struct column_rule){.is_mask = is_mask, .size = size, .columns = columns};
    config.column_rules = rules;
}

Test(row, types_its_columns)
{
    expect_insert(users(), ROW("7", "Ann", NULL, "{\"a\": 1}"),
                  "shop.public.users | {id: 7} | c - "
                  "{id: 7, name: 'Ann', code: NULL, doc: '{\"a\": 1}'}\n");
}

Test(row, names_table_and_column_of_a_value_without_a_right_form)
{
    cr_expect_eq(route(OP_CREATE, users(), OLD_NONE, NULL, ROW("7x", "Ann", NULL, NULL)),
                 WR_REJECT);
    cr_expect_str_eq(err.text, "public.users.id: int4: no right form for the value \"7x\"");
}

Test(row, masks_every_value_also_null)
{
    add_rule(true, 4, "public\\.users\\.name");
    struct relation *relation = users();

    expect_insert(
        relation, ROW("7", "Ann", "c", NULL),
        "shop.public.users | {id: 7} | c - {id: 7, name: '****', code: 'c', doc: NULL}\n");
    expect_insert(
        relation, ROW("7", NULL, "c", NULL),
        "shop.public.users | {id: 7} | c - {id: 7, name: '****', code: 'c', doc: NULL}\n");
    cr_assert_eq(route(OP_UPDATE, relation, OLD_NONE, NULL, ROW("7", UNCHANGED, "c", NULL)), WR_OK);
    EXPECT_EMITTED(
        "shop.public.users | {id: 7} | u - {id: 7, name: '****', code: 'c', doc: NULL}\n");
}

Test(row, masks_with_nothing_when_the_mask_is_empty)
{
    add_rule(true, 0, ".*name");
    expect_insert(users(), ROW("7", "Ann", NULL, NULL),
                  "shop.public.users | {id: 7} | c - {id: 7, name: '', code: NULL, doc: NULL}\n");
}

Test(row, masks_and_cuts_only_columns_of_characters)
{
    add_rule(true, 2, "public\\.users\\.(id|doc)");
    add_rule(false, 1, "public\\.users\\.code");
    expect_insert(users(), ROW("7", "Ann", "abc", "{}"),
                  "shop.public.users | {id: 7} | c - {id: 7, name: 'Ann', code: 'a', doc: '{}'}\n");
}

/* Else all rows would come under one key, and compaction would keep one of them. */
Test(row, neither_masks_nor_cuts_in_the_key)
{
    static const struct fixture_column BY_NAME[] = {
        {"name", TEXT, true}, {"code", VARCHAR, true}, {"n", INT4, false}};
    struct relation *relation = MAKE_RELATION("public", "users", 'd', BY_NAME);

    add_rule(true, 3, ".*\\.name");
    add_rule(false, 1, ".*\\.code");
    expect_insert(compile(relation), ROW("Ann", "abc", "1"),
                  "shop.public.users | {name: 'Ann', code: 'abc'} | c - "
                  "{name: '***', code: 'a', n: 1}\n");
}

static void expect_cut(const char *text, const char *expected)
{
    char line[512];

    snprintf(line, sizeof(line),
             "shop.public.users | {id: 7} | c - {id: 7, name: '%s', code: NULL, doc: NULL}\n",
             expected);
    expect_insert(relations[0], ROW("7", text, NULL, NULL), line);
}

Test(row, cuts_text_at_characters_as_java_counts_them)
{
    add_rule(false, 3, ".*name");
    (void)users();
    expect_cut("", "");
    expect_cut("abc", "abc");
    expect_cut("abcd", "abc");
    expect_cut("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", "\xc3\xa9\xc3\xa9\xc3\xa9");
    expect_cut("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac!", "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac");
}

Test(row, never_cuts_a_surrogate_pair_in_two)
{
    add_rule(false, 3, ".*name");
    (void)users();
    expect_cut("a\xf0\x9f\x8e\x9f", "a\xf0\x9f\x8e\x9f");
    expect_cut("a\xf0\x9f\x8e\x9f!", "a\xf0\x9f\x8e\x9f");
    expect_cut("ab\xf0\x9f\x8e\x9f", "ab");
    expect_cut("\xf0\x9f\x8e\x9f\xf0\x9f\x8e\x9f", "\xf0\x9f\x8e\x9f");
}

Test(row, takes_the_first_rule_that_names_a_column)
{
    add_rule(false, 2, "public\\.users\\.name");
    add_rule(true, 5, ".*");
    expect_insert(
        users(), ROW("7", "Ann", "c", NULL),
        "shop.public.users | {id: 7} | c - {id: 7, name: 'An', code: '*****', doc: NULL}\n");
}

Test(row, finds_an_unchanged_value_in_the_old_row)
{
    cr_assert_eq(route(OP_UPDATE, users(), OLD_ROW, ROW("7", "old", "a", "{}"),
                       ROW("7", UNCHANGED, "b", UNCHANGED)),
                 WR_OK);
    EXPECT_EMITTED("shop.public.users | {id: 7} | u {id: 7, name: 'old', code: 'a', doc: '{}'} "
                   "{id: 7, name: 'old', code: 'b', doc: '{}'}\n");
}

Test(row, has_the_placeholder_for_an_unchanged_value_that_nobody_holds)
{
    cr_assert_eq(route(OP_UPDATE, users(), OLD_NONE, NULL, ROW("7", UNCHANGED, "b", UNCHANGED)),
                 WR_OK);
    EXPECT_EMITTED(
        "shop.public.users | {id: 7} | u - {id: 7, name: 'gone', code: 'b', doc: 'gone'}\n");
}

/* An old key holds NULL for every other column, which is no value of theirs. */
Test(row, does_not_look_for_an_unchanged_value_in_an_old_key)
{
    cr_assert_eq(route(OP_UPDATE, users(), OLD_KEY, ROW("7", NULL, NULL, NULL),
                       ROW("7", UNCHANGED, "b", NULL)),
                 WR_OK);
    EXPECT_EMITTED("shop.public.users | {id: 7} | u {id: 7, name: NULL, code: NULL, doc: NULL} "
                   "{id: 7, name: 'gone', code: 'b', doc: NULL}\n");
}

Test(row, has_an_empty_value_for_what_an_old_key_does_not_hold_of_a_not_null_column)
{
    static struct column_info infos[] = {{"id", true, NULL},
                                         {"name", true, NULL},
                                         {"code", true, "'x'::text"},
                                         {"doc", false, NULL}};
    static const char *keys[] = {"id"};

    catalog_status = WR_OK;
    catalog_table = (struct table_info){
        .columns = infos, .column_count = 4, .key_columns = keys, .key_column_count = 1};
    cr_assert_eq(route(OP_DELETE, users(), OLD_KEY, ROW("7", NULL, NULL, NULL), NULL), WR_OK);
    EXPECT_EMITTED("shop.public.users | {id: 7} | d {id: 7, name: '', code: 'x', doc: NULL} -\n"
                   "shop.public.users | {id: 7} | null\n");
    /* NULL is NULL for a column of the identity, and in a whole old row. */
    cr_assert_eq(route(OP_DELETE, users(), OLD_KEY, ROW(NULL, NULL, NULL, NULL), NULL), WR_OK);
    EXPECT_EMITTED("shop.public.users | {id: NULL} | d {id: NULL, name: '', code: 'x', doc: NULL} "
                   "-\nshop.public.users | {id: NULL} | null\n");
    cr_assert_eq(route(OP_DELETE, users(), OLD_ROW, ROW("7", NULL, "c", NULL), NULL), WR_OK);
    EXPECT_EMITTED("shop.public.users | {id: 7} | d {id: 7, name: NULL, code: 'c', doc: NULL} -\n"
                   "shop.public.users | {id: 7} | null\n");
}

static void add_hash(const char *algorithm, const char *columns)
{
    static struct column_rule rules[4];

    rules[config.column_rule_count++] = (struct column_rule){
        .hash_algorithm = algorithm, .salt = "s", .hash_is_v2 = true, .columns = columns};
    config.column_rules = rules;
}

/* md5("sAnn") */
Test(row, hashes_the_texts_that_are_there)
{
    add_hash("MD5", ".*name");
    struct relation *relation = users();

    expect_insert(relation, ROW("7", "Ann", NULL, NULL),
                  "shop.public.users | {id: 7} | c - {id: 7, name: "
                  "'139ce723d6f5d9f07ebc4ccbc3adb723', code: NULL, doc: NULL}\n");
    expect_insert(relation, ROW("7", NULL, NULL, NULL),
                  "shop.public.users | {id: 7} | c - {id: 7, name: NULL, code: NULL, doc: NULL}\n");
    cr_assert_eq(route(OP_UPDATE, relation, OLD_NONE, NULL, ROW("7", UNCHANGED, NULL, NULL)),
                 WR_OK);
    EXPECT_EMITTED("shop.public.users | {id: 7} | u - "
                   "{id: 7, name: 'gone', code: NULL, doc: NULL}\n");
}

Test(row, cuts_a_hash_to_the_length_of_its_column)
{
    struct relation *relation = MAKE_RELATION("public", "users", 'd', COLUMNS);

    add_hash("MD5", ".*code");
    relation->columns[2].type_mod = 4 + 6; /* varchar(6) */
    compile(relation);
    expect_insert(relation, ROW("7", NULL, "Ann", NULL),
                  "shop.public.users | {id: 7} | c - {id: 7, name: NULL, code: '139ce7', "
                  "doc: NULL}\n");
}

Test(row, does_not_hash_in_the_key_nor_what_is_no_text)
{
    static const struct fixture_column BY_NAME_TOO[] = {{"name", TEXT, true}, {"n", INT4, false}};

    add_hash("MD5", ".*");
    expect_insert(compile(MAKE_RELATION("public", "t", 'd', BY_NAME_TOO)), ROW("Ann", "1"),
                  "shop.public.t | {name: 'Ann'} | c - {name: "
                  "'139ce723d6f5d9f07ebc4ccbc3adb723', n: 1}\n");
}
