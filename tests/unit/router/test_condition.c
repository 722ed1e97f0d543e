#include "config/route_text.h"
#include "fixture.h"
#include "router/filter.h"
#include "router/routes/condition.h"

/* Oids of pg_type.dat beyond those of the fixture. */
enum { BOOL = 16, FLOAT4 = 700, NUMERIC = 1700, BPCHAR = 1042, UUID = 2950 };

static const struct fixture_column COLUMNS[] = {
    {"id", INT4, true},          {"name", TEXT, false},   {"price", NUMERIC, false},
    {"sold", BOOL, false},       {"day", DATE, false},    {"at", TIMESTAMPTZ, false},
    {"local", TIMESTAMP, false}, {"rate", FLOAT8, false}, {"half", FLOAT4, false},
    {"code", BPCHAR, false},     {"uid", UUID, false},    {"tags", JSONB, false},
    {"blob", BYTEA, false},
};

static struct filter *filter;
static struct relation *relation;
static struct wr_slice missing;

static void open_condition(void)
{
    open_fixture();
    cr_assert_eq(filter_new(&config, &filter, &err), WR_OK);
    relation = compile(MAKE_RELATION("public", "shows", 'd', COLUMNS));
}

static void close_condition(void)
{
    filter_free(filter);
    close_fixture();
}

TestSuite(condition, .init = open_condition, .fini = close_condition);

static enum wr_status try(const char *text, const struct condition **out)
{
    const struct route_source source = {relation, filter, &missing};
    struct condition_config read;
    struct route_text_error error;

    cr_assert(condition_read(wr_slice_str(text), relation->arena, &read, &error), "%s: %s", text,
              error.reason);
    return condition_compile(&read, &source, out, &err);
}

static const char *const ROW_ONE[] = {"1",
                                      "Ode",
                                      "12.50",
                                      "t",
                                      "2026-05-01",
                                      "2026-05-01 20:00:00+00",
                                      "2026-05-01 20:00:00.5",
                                      "1e+30",
                                      "0.1",
                                      "ab  ",
                                      "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                                      "{\"a\": 1}",
                                      NULL};

static enum truth ask(const char *text, const char *const *cells, bool is_key_only)
{
    const struct condition *condition = NULL;
    struct tuple tuple = make_tuple(relation, cells);
    const struct row_view row = {.relation = relation,
                                 .columns = relation->plan->value_columns,
                                 .tuple = &tuple,
                                 .is_key_only = is_key_only};

    cr_assert_eq(try(text, &condition), WR_OK, "%s: %s", text, err.text);
    return condition_holds(condition, &row);
}

#define expect_yes(text) cr_expect_eq(ask((text), ROW_ONE, false), TRUTH_YES, "%s", (text))
#define expect_no(text)  cr_expect_eq(ask((text), ROW_ONE, false), TRUTH_NO, "%s", (text))

Test(condition, compares_numbers_by_their_value)
{
    expect_yes("price = 12.5");
    expect_yes("price = 012.500");
    expect_no("price = 12.51");
    expect_yes("price > 9");
    expect_yes("price < 100");
    expect_yes("price > -100");
    expect_no("price < -13");
    expect_yes("price >= 12.50 and price <= 12.50");
    expect_no("price > 12.50");
    expect_no("price < 12.50");
    expect_yes("price <> 12.49999999999999999999999999");
    expect_yes("id in (3, 2, 1.0)");
    expect_no("id not in (3, 2, 1)");
    expect_no("id = -1");
    expect_yes("rate > 999999999999999000000000000000");
    expect_no("rate > 1000000000000000000000000000001");
    expect_yes("half = 0.1");
}

Test(condition, compares_numbers_of_either_sign)
{
    static const char *const row[] = {"-5",  NULL, "-0.5", NULL, NULL, NULL, NULL,
                                      "NaN", NULL, NULL,   NULL, NULL, NULL};

    cr_expect_eq(ask("id < -4", row, false), TRUTH_YES);
    cr_expect_eq(ask("id < -6", row, false), TRUTH_NO);
    cr_expect_eq(ask("id < 4", row, false), TRUTH_YES);
    cr_expect_eq(ask("price > -0.6 and price < -0.45", row, false), TRUTH_YES);
    cr_expect_eq(ask("rate > 99999", row, false), TRUTH_YES, "NaN is the greatest, as there");
    cr_expect_eq(ask("rate = 0", row, false), TRUTH_NO);
}

Test(condition, knows_numbers_that_are_none)
{
    static const char *const cells[][2] = {{"NaN", ">"}, {"Infinity", ">"}, {"-Infinity", "<"}};

    for (size_t i = 0; i < COUNT(cells); i++) {
        const char *const row[] = {"0",  NULL, cells[i][0], NULL, NULL, NULL, NULL,
                                   NULL, NULL, NULL,        NULL, NULL, NULL};
        char text[32];
        snprintf(text, sizeof(text), "price %s 0", cells[i][1]);
        cr_expect_eq(ask(text, row, false), TRUTH_YES, "%s", cells[i][0]);
        cr_expect_eq(ask("price = 0", row, false), TRUTH_NO, "%s", cells[i][0]);
    }
    static const char *const zero[] = {"0",  NULL, "0.00", NULL, NULL, NULL, NULL,
                                       NULL, NULL, NULL,   NULL, NULL, NULL};
    cr_expect_eq(ask("price = -0 and price = 0.0", zero, false), TRUTH_YES);
}

Test(condition, compares_text_byte_by_byte)
{
    expect_yes("name = 'Ode'");
    expect_no("name = 'ode'");
    expect_no("name = 'Od'");
    expect_yes("name > 'Od' and name < 'Odf'");
    expect_yes("name in ('x', 'Ode')");
    expect_no("name <> 'Ode'");
    expect_yes("code = 'ab'");
    expect_yes("uid = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'");
    expect_yes("sold = true");
    expect_no("sold = false");
    expect_no("sold <> true");
}

Test(condition, compares_times_as_instants)
{
    expect_yes("day = '2026-05-01' and day < '2026-05-02' and day > '0044-03-15 BC'");
    expect_yes("day < 'infinity' and day > '-infinity'");
    expect_yes("at = '2026-05-01 22:00:00+02'");
    expect_yes("at = '2026-05-01T20:00:00Z'");
    expect_yes("at >= '2026-05-01' and at < '2026-05-02'");
    expect_yes("at > '2026-05-01 19:59:59.999999'");
    expect_yes("local > '2026-05-01 20:00:00' and local < '2026-05-01 20:00:01'");
    expect_yes("at < 'infinity'");
}

Test(condition, holds_for_nothing_that_is_compared_with_null)
{
    static const char *const row[] = {"1",  NULL, NULL, NULL, NULL, NULL, NULL,
                                      NULL, NULL, NULL, NULL, NULL, NULL};
    static const char *const texts[] = {"name = 'x'",      "name <> 'x'",       "price < 1",
                                        "name in ('x')",   "name not in ('x')", "sold <> true",
                                        "tags is not null"};

    for (size_t i = 0; i < COUNT(texts); i++) {
        cr_expect_eq(ask(texts[i], row, false), TRUTH_NO, "%s", texts[i]);
    }
    cr_expect_eq(ask("name is null and tags is null and blob is null", row, false), TRUTH_YES);
    expect_no("tags is null");
    expect_yes("tags is not null");
}

Test(condition, does_not_know_what_was_not_sent)
{
    static const char *const key[] = {"1",  NULL, NULL, NULL, NULL, NULL, NULL,
                                      NULL, NULL, NULL, NULL, NULL, NULL};
    static const char *const toast[] = {"1",  UNCHANGED, NULL, NULL, NULL, NULL, NULL,
                                        NULL, NULL,      NULL, NULL, NULL, NULL};

    cr_expect_eq(ask("name = 'x'", key, true), TRUTH_UNKNOWN);
    cr_expect_eq(ask("name is null", key, true), TRUTH_UNKNOWN);
    cr_expect_eq(ask("id = 1", key, true), TRUTH_YES);
    cr_expect_eq(ask("name = 'x' and id = 2", key, true), TRUTH_NO);
    cr_expect_eq(ask("id = 2 and name = 'x'", key, true), TRUTH_NO);
    cr_expect_eq(ask("name = 'x'", toast, false), TRUTH_UNKNOWN);
    cr_expect_eq(ask("name is null", toast, false), TRUTH_NO, "what is TOASTed is not null");
    cr_expect_eq(ask("name is not null", toast, false), TRUTH_YES);
}

Test(condition, refuses_what_cannot_be_compared)
{
    static const char *const cases[][2] = {
        {"nam = 'x'", "public.shows has no column nam"},
        {"price = 'x'", "where: public.shows.price is of type numeric: cannot be compared with x"},
        {"name = 1", "where: public.shows.name is of type text: cannot be compared with 1"},
        {"sold = 'true'", "where: public.shows.sold is of type bool: cannot be compared with true"},
        {"sold > true", "where: public.shows.sold is of type bool: only =, <> and IN work there"},
        {"day = '2026-13-01x'",
         "where: public.shows.day is of type date: cannot be compared with 2026-13-01x"},
        {"local = '2026-05-01 20:00:00+02'",
         "where: public.shows.local is of type timestamp: cannot be compared with 2026-05-01 "
         "20:00:00+02"},
        {"at in ('2026-05-01', 'noon')",
         "where: public.shows.at is of type timestamptz: cannot be compared with noon"},
        {"tags = '{}'",
         "where: public.shows.tags is of type jsonb: only IS NULL and IS NOT NULL work there"},
        {"\"tags.a\" is null",
         "where: public.shows.tags is of type jsonb: only IS NULL and IS NOT NULL work there"},
        {"blob = 'x'",
         "where: public.shows.blob is of type bytea: only IS NULL and IS NOT NULL work there"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct condition *condition = NULL;
        cr_expect_eq(try(cases[i][0], &condition), WR_REJECT, "%s", cases[i][0]);
        cr_expect_str_eq(err.text, cases[i][1]);
    }
}
