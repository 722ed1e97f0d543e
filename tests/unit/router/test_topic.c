#include <string.h>

#include <criterion/criterion.h>

#include "router/topic.h"

static const char *sanitized(const char *name, bool *changed)
{
    static char text[1024];
    struct wr_buffer out;

    wr_buffer_init(&out, sizeof(text) - 1);
    *changed = topic_sanitize(&out, wr_slice_str(name));
    memcpy(text, out.size == 0 ? "" : out.data, out.size);
    text[out.size] = '\0';
    wr_buffer_done(&out);
    return text;
}

Test(topic, leaves_legal_names_as_they_are)
{
    bool changed = true;

    cr_expect_str_eq(sanitized("Shop-1.public.order_lines", &changed), "Shop-1.public.order_lines");
    cr_expect(!changed);
    cr_expect_str_eq(sanitized("", &changed), "");
    cr_expect(!changed);
}

Test(topic, replaces_each_other_character_by_one_underscore)
{
    bool changed = false;

    cr_expect_str_eq(sanitized("a b$c/d:e", &changed), "a_b_c_d_e");
    cr_expect(changed);
}

/* Java counts UTF-16 units: two for a character beyond U+FFFF. */
Test(topic, counts_characters_as_java_does)
{
    bool changed = false;

    cr_expect_str_eq(sanitized("caf\xc3\xa9", &changed), "caf_");
    cr_expect_str_eq(sanitized("\xe2\x82\xac", &changed), "_");
    cr_expect_str_eq(sanitized("x\xf0\x9f\x8e\x9fy", &changed), "x__y");
}

Test(topic, knows_every_legal_byte)
{
    for (int c = 1; c < 128; c++) {
        char name[2] = {(char)c, '\0'};
        bool changed = false;
        bool is_legal =
            strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", c) != NULL;
        cr_expect_str_eq(sanitized(name, &changed), is_legal ? name : "_");
        cr_expect_eq(changed, !is_legal, "0x%02x", c);
    }
}

Test(topic, says_what_no_replacement_mends)
{
    char name[251];

    memset(name, 'x', sizeof(name));
    cr_expect_null(topic_problem((struct wr_slice){name, 249}));
    cr_expect_str_eq(topic_problem((struct wr_slice){name, 250}), "is longer than 249 characters");
    cr_expect_str_eq(topic_problem(WR_SLICE("")), "is empty");
    cr_expect_str_eq(topic_problem(WR_SLICE(".")), "may not be . or ..");
    cr_expect_str_eq(topic_problem(WR_SLICE("..")), "may not be . or ..");
    cr_expect_null(topic_problem(WR_SLICE("...")));
}
