#include <criterion/criterion.h>

#include "config/config.h"
#include "router/filter.h"

static struct config config;
static struct filter *filter;
static struct wr_error err;

static void close_filter(void)
{
    filter_free(filter);
}

TestSuite(filter, .fini = close_filter);

static void make(void)
{
    cr_assert_eq(filter_new(&config, &filter, &err), WR_OK, "%s", err.text);
}

Test(filter, passes_everything_but_the_system_when_nothing_is_said)
{
    make();
    cr_expect(filter_has_table(filter, "public", "orders"));
    cr_expect(filter_has_column(filter, "public", "orders", "id"));
    cr_expect(filter_has_prefix(filter, "audit"));
    cr_expect(!filter_has_table(filter, "pg_catalog", "pg_class"));
    cr_expect(!filter_has_table(filter, "information_schema", "tables"));
}

Test(filter, keeps_the_system_out_even_when_it_is_asked_for)
{
    config.table_include_list = "pg_catalog\\..*,public\\.orders";
    make();
    cr_expect(!filter_has_table(filter, "pg_catalog", "pg_class"));
    cr_expect(filter_has_table(filter, "public", "orders"));
}

Test(filter, matches_whole_names_only)
{
    config.table_include_list = "public.orders";
    make();
    cr_expect(filter_has_table(filter, "public", "orders"));
    cr_expect(!filter_has_table(filter, "public", "orders_old"));
    cr_expect(!filter_has_table(filter, "xpublic", "orders"));
    cr_expect(!filter_has_table(filter, "public", "order"));
}

Test(filter, matches_in_any_case_of_letters)
{
    config.table_include_list = "PUBLIC\\.Orders";
    make();
    cr_expect(filter_has_table(filter, "public", "orders"));
}

Test(filter, takes_several_expressions_with_blanks_between)
{
    config.table_include_list = " public\\.orders , public\\.event.* ";
    make();
    cr_expect(filter_has_table(filter, "public", "orders"));
    cr_expect(filter_has_table(filter, "public", "events"));
    cr_expect(!filter_has_table(filter, "public", "venues"));
}

Test(filter, leaves_out_what_is_excluded)
{
    config.table_exclude_list = "public\\.secret.*";
    make();
    cr_expect(filter_has_table(filter, "public", "orders"));
    cr_expect(!filter_has_table(filter, "public", "secrets"));
}

Test(filter, asks_schema_and_table_both)
{
    config.schema_include_list = "sales";
    config.table_exclude_list = ".*\\.tmp";
    make();
    cr_expect(filter_has_table(filter, "sales", "orders"));
    cr_expect(!filter_has_table(filter, "sales", "tmp"));
    cr_expect(!filter_has_table(filter, "public", "orders"));
}

Test(filter, excludes_schemas)
{
    config.schema_exclude_list = "audit";
    make();
    cr_expect(!filter_has_table(filter, "audit", "log"));
    cr_expect(filter_has_table(filter, "public", "log"));
}

Test(filter, includes_columns)
{
    config.column_include_list = "public\\.orders\\.(id|total)";
    make();
    cr_expect(filter_has_column(filter, "public", "orders", "id"));
    cr_expect(!filter_has_column(filter, "public", "orders", "note"));
    cr_expect(!filter_has_column(filter, "public", "others", "id"));
}

Test(filter, excludes_columns)
{
    config.column_exclude_list = "public\\..*\\.password";
    make();
    cr_expect(!filter_has_column(filter, "public", "users", "password"));
    cr_expect(filter_has_column(filter, "public", "users", "name"));
}

Test(filter, includes_and_excludes_prefixes_of_messages)
{
    config.message_prefix_include_list = "audit.*";
    make();
    cr_expect(filter_has_prefix(filter, "audit.login"));
    cr_expect(!filter_has_prefix(filter, "other"));
    filter_free(filter);
    config.message_prefix_include_list = NULL;
    config.message_prefix_exclude_list = "audit.*";
    make();
    cr_expect(!filter_has_prefix(filter, "audit.login"));
    cr_expect(filter_has_prefix(filter, ""));
}

Test(filter, names_an_expression_that_is_none)
{
    const char **lists[] = {
        &config.schema_include_list,         &config.schema_exclude_list,
        &config.table_include_list,          &config.table_exclude_list,
        &config.column_include_list,         &config.column_exclude_list,
        &config.message_prefix_include_list, &config.message_prefix_exclude_list,
    };

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        *lists[i] = "fine,un(closed";
        cr_expect_eq(filter_new(&config, &filter, &err), WR_FATAL);
        cr_expect_null(filter);
        cr_expect_not_null(strstr(err.text, "un(closed"), "%s", err.text);
        *lists[i] = NULL;
    }
}
