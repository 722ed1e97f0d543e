#include <criterion/criterion.h>

#include "config/config.h"
#include "router/rules.h"

static struct config config;
static struct rules *rules;
static struct wr_error err;

static void close_rules(void)
{
    rules_free(rules);
}

TestSuite(rules, .fini = close_rules);

static void make(void)
{
    cr_assert_eq(rules_new(&config, &rules, &err), WR_OK, "%s", err.text);
}

Test(rules, give_no_key_when_nothing_is_said)
{
    const char **columns = NULL;
    size_t count = 0;

    make();
    cr_expect(!rules_key(rules, WR_SLICE("public.orders"), &columns, &count));
    cr_expect_null(rules_column(rules, WR_SLICE("public.orders.id")));
}

Test(rules, give_the_key_columns_in_their_order)
{
    const char **columns = NULL;
    size_t count = 0;

    config.message_key_columns = "public\\.orders:id , tenant;public\\.(events|venues):venue";
    make();
    cr_assert(rules_key(rules, WR_SLICE("public.orders"), &columns, &count));
    cr_assert_eq(count, 2);
    cr_expect_str_eq(columns[0], "id");
    cr_expect_str_eq(columns[1], "tenant");
    cr_assert(rules_key(rules, WR_SLICE("public.venues"), &columns, &count));
    cr_assert_eq(count, 1);
    cr_expect_str_eq(columns[0], "venue");
    cr_expect(!rules_key(rules, WR_SLICE("public.orders_old"), &columns, &count));
}

Test(rules, take_the_first_that_matches)
{
    const char **columns = NULL;
    size_t count = 0;

    config.message_key_columns = "public\\.orders:a; .*\\.orders:b ;";
    make();
    cr_assert(rules_key(rules, WR_SLICE("public.orders"), &columns, &count));
    cr_expect_str_eq(columns[0], "a");
    cr_assert(rules_key(rules, WR_SLICE("sales.orders"), &columns, &count));
    cr_expect_str_eq(columns[0], "b");
}

Test(rules, refuse_a_key_rule_without_table_or_columns)
{
    static const char *const CASES[] = {"public.orders", ":id", "public.orders:", "a:b;c"};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        config.message_key_columns = CASES[i];
        cr_expect_eq(rules_new(&config, &rules, &err), WR_FATAL, "%s", CASES[i]);
        cr_expect_null(rules);
    }
    cr_expect_str_eq(err.text, "message.key.columns: \"c\" is not of the form table:column,column");
}

Test(rules, refuse_an_expression_that_is_none)
{
    struct column_rule rule = {.columns = "un(closed"};

    config.message_key_columns = "un(closed:id";
    cr_expect_eq(rules_new(&config, &rules, &err), WR_FATAL);
    config.message_key_columns = "public\\.orders:id";
    config.column_rules = &rule;
    config.column_rule_count = 1;
    cr_expect_eq(rules_new(&config, &rules, &err), WR_FATAL);
    cr_expect_null(rules);
}

Test(rules, find_the_first_mask_or_truncation_of_a_column)
{
    struct column_rule column_rules[] = {
        {.is_mask = true, .size = 4, .columns = "public\\.users\\.(password|pin)"},
        {.is_mask = false, .size = 10, .columns = "public\\.users\\..*"},
    };

    config.column_rules = column_rules;
    config.column_rule_count = 2;
    make();
    cr_expect_eq(rules_column(rules, WR_SLICE("public.users.pin")), &column_rules[0]);
    cr_expect_eq(rules_column(rules, WR_SLICE("public.users.name")), &column_rules[1]);
    cr_expect_null(rules_column(rules, WR_SLICE("public.orders.name")));
}
