#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/regex.h"

static struct wr_error err;
static struct wr_regex *regex;
static struct wr_regex_list *list;

static void free_all(void)
{
    wr_regex_free(regex);
    wr_regex_list_free(list);
}

TestSuite(regex, .fini = free_all);

static void compile(const char *pattern)
{
    wr_regex_free(regex);
    cr_assert_eq(wr_regex_new(pattern, false, &regex, &err), WR_OK, "%s", err.text);
}

/* What became of `text`; NULL when it did not match. */
static const char *replace(const char *text, const char *replacement)
{
    static char result[256];
    struct wr_buffer out;

    wr_buffer_init(&out, sizeof(result) - 1);
    bool matched = wr_regex_replace(regex, wr_slice_str(text), replacement, &out);
    memcpy(result, out.size > 0 ? out.data : "", out.size);
    result[out.size] = '\0';
    cr_expect(matched || out.size == 0);
    wr_buffer_done(&out);
    return matched ? result : NULL;
}

Test(regex, matches_the_whole_text_only)
{
    compile("a|ab");
    cr_expect(wr_regex_matches(regex, WR_SLICE("a")));
    cr_expect(wr_regex_matches(regex, WR_SLICE("ab")));
    cr_expect_not(wr_regex_matches(regex, WR_SLICE("abc")));
    cr_expect_not(wr_regex_matches(regex, WR_SLICE("xa")));
    cr_expect_not(wr_regex_matches(regex, WR_SLICE("a\n")));
    cr_expect_not(wr_regex_matches(regex, (struct wr_slice){NULL, 0}));
}

Test(regex, reads_no_byte_past_the_text)
{
    char *text = malloc(6);

    memcpy(text, "orders", 6);
    compile("ord.*");
    cr_expect(wr_regex_matches(regex, (struct wr_slice){text, 6}));
    cr_expect_not(wr_regex_matches(regex, (struct wr_slice){text, 2}));
    free(text);
}

Test(regex, heeds_case_unless_told_otherwise)
{
    compile("Orders");
    cr_expect_not(wr_regex_matches(regex, WR_SLICE("orders")));
    wr_regex_free(regex);
    cr_assert_eq(wr_regex_new("Orders", true, &regex, &err), WR_OK);
    cr_expect(wr_regex_matches(regex, WR_SLICE("orders")));
}

Test(regex, takes_malformed_utf8_for_no_match)
{
    compile(".*");
    cr_expect_not(wr_regex_matches(regex, WR_SLICE("a\xff")));
}

Test(regex, says_what_is_wrong_with_a_pattern)
{
    cr_expect_eq(wr_regex_new("a(b", false, &regex, &err), WR_FATAL);
    cr_expect_null(regex);
    cr_expect_not_null(strstr(err.text, "\"a(b\" is not a regular expression"), "%s", err.text);
    cr_expect_not_null(strstr(err.text, "at offset 3"), "%s", err.text);
}

Test(regex, replaces_groups_as_java_does)
{
    compile("(?<routedByValue>.*)");
    cr_expect_str_eq(replace("order", "outbox.event.${routedByValue}"), "outbox.event.order");
    compile("(.)(.*)");
    cr_expect_str_eq(replace("order", "app.$2.$1"), "app.rder.o");
    cr_expect_str_eq(replace("order", "$0"), "order");
    cr_expect_str_eq(replace("order", "$12"), "o2"); /* there is no group 12, but a group 1 */
    cr_expect_str_eq(replace("order", "\\$1\\\\"), "$1\\");
    compile("a(x)?b");
    cr_expect_str_eq(replace("ab", "<$1>"), "<>");
    cr_expect_null(replace("b", "<$1>"));
}

Test(regex, checks_a_replacement_before_it_is_used)
{
    compile("(?<name>.)(.)");
    cr_expect_eq(wr_regex_check_replacement(regex, "$1-$2-${name}-\\$9-$23", &err), WR_OK);
    static const char *const wrong[] = {"$3", "${other}", "$", "$x", "${", "${}", "a\\"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cr_expect_eq(wr_regex_check_replacement(regex, wrong[i], &err), WR_FATAL, "%s", wrong[i]);
        cr_expect_not_null(strstr(err.text, wrong[i]), "%s", err.text);
    }
}

Test(regex, trims_and_splits_a_list)
{
    cr_assert_eq(wr_regex_list_new(" public\\.a , ,public\\.B.*,", &list, &err), WR_OK);
    cr_expect(wr_regex_list_matches(list, WR_SLICE("public.a")));
    cr_expect(wr_regex_list_matches(list, WR_SLICE("PUBLIC.bcd")));
    cr_expect_not(wr_regex_list_matches(list, WR_SLICE("public.c")));
    cr_expect_not(wr_regex_list_matches(list, WR_SLICE("")));
}

Test(regex, keeps_an_escaped_comma_in_its_expression)
{
    cr_assert_eq(wr_regex_list_new("a\\,b,c", &list, &err), WR_OK);
    cr_expect(wr_regex_list_matches(list, WR_SLICE("a,b")));
    cr_expect(wr_regex_list_matches(list, WR_SLICE("c")));
    cr_expect_not(wr_regex_list_matches(list, WR_SLICE("a")));
}

Test(regex, refuses_a_list_with_one_wrong_expression)
{
    cr_expect_eq(wr_regex_list_new("a,b(,c", &list, &err), WR_FATAL);
    cr_expect_null(list);
    cr_expect_not_null(strstr(err.text, "\"b(\""), "%s", err.text);
}

Test(regex, matches_nothing_with_an_empty_list)
{
    cr_assert_eq(wr_regex_list_new(" , ", &list, &err), WR_OK);
    cr_expect_not(wr_regex_list_matches(list, WR_SLICE("a")));
}
