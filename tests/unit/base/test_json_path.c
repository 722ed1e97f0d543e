#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/json_path.h"

TestSuite(json_path);

/* The value at "a/b", of text sized to the byte; "-" where there is none. */
static const char *find(const char *json, const char *path)
{
    static char found[256];
    struct wr_slice members[8];
    size_t count = 0;
    size_t size = strlen(json);
    char *exact = malloc(size == 0 ? 1 : size);
    struct wr_slice out = {0};

    memcpy(exact, json, size);
    for (const char *p = path; *p != '\0'; p += strcspn(p, "/") + (strchr(p, '/') != NULL)) {
        members[count++] = (struct wr_slice){p, strcspn(p, "/")};
    }
    bool is_there = wr_json_find((struct wr_slice){exact, size}, members, count, &out);
    snprintf(found, sizeof(found), "%.*s", is_there ? (int)out.size : 1, is_there ? out.data : "-");
    free(exact);
    return found;
}

#define expect_found(json, path, expected) cr_expect_str_eq(find((json), (path)), (expected))

Test(json_path, finds_members_and_elements)
{
    expect_found("{\"a\": 1}", "a", "1");
    expect_found(" { \"a\" : { \"b\" : [ 1 , {\"c\":\"x,}]\"} ] } , \"d\":2}", "a/b/1/c",
                 "\"x,}]\"");
    expect_found("{\"a\": {\"b\": [1, 2.50]}}", "a/b", "[1, 2.50]");
    expect_found("[10, 20, 30]", "2", "30");
    expect_found("\"x\"", "", "\"x\"");
    expect_found("{\"a\":null}", "a", "null");
    expect_found("{\"\":7,\"b\":8}", "b", "8");
}

Test(json_path, takes_the_last_of_members_with_the_same_name)
{
    expect_found("{\"a\":1,\"b\":2,\"a\":3}", "a", "3");
}

Test(json_path, knows_escaped_names)
{
    expect_found("{\"a\\\"b\":1}", "a\"b", "1");
    expect_found("{\"\\u00e9t\\u00E9\":2}", "été", "2");
    expect_found("{\"\\ud83d\\ude00\":3}", "😀", "3");
    expect_found("{\"a\\\\\":4,\"b\":5}", "b", "5");
}

Test(json_path, finds_nothing_where_nothing_is)
{
    expect_found("{\"a\":1}", "b", "-");
    expect_found("{\"a\":1}", "a/b", "-");
    expect_found("{}", "a", "-");
    expect_found("[]", "0", "-");
    expect_found("[1]", "1", "-");
    expect_found("[1]", "x", "-");
    expect_found("[1]", "-1", "-");
    expect_found("[1,2]", "9999999999", "-");
    expect_found("5", "a", "-");
    expect_found("", "a", "-");
}

Test(json_path, stays_inside_every_truncation)
{
    static const char json[] = "{\"a\\u00e9\":[{\"b\":\"\\ud83d\\ude00\\n\"},[1]],\"c\":{}}";
    char prefix[sizeof(json)] = {0};

    for (size_t i = 0; i < sizeof(json); i++) {
        memcpy(prefix, json, i);
        find(prefix, "aé/0/b");
        find(prefix, "c");
    }
}

static const char *plain(const char *json)
{
    static char text[64];
    struct wr_buffer out;

    wr_buffer_init(&out, sizeof(text) - 1);
    wr_json_plain(&out, wr_slice_str(json));
    snprintf(text, sizeof(text), "%.*s", (int)out.size, out.data == NULL ? "" : out.data);
    wr_buffer_done(&out);
    return text;
}

Test(json_path, says_what_a_string_means)
{
    cr_expect_str_eq(plain("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041é\""), "a\"\\/\b\f\n\r\tAé");
    cr_expect_str_eq(plain("\"\\ud83d\\ude00\""), "😀");
    cr_expect_str_eq(plain("\"\\ud83dx\\ude00\""), "\xef\xbf\xbdx\xef\xbf\xbd");
    cr_expect_str_eq(plain("\"\""), "");
    cr_expect_str_eq(plain("1.50"), "1.50");
    cr_expect_str_eq(plain("{\"a\": 1}"), "{\"a\": 1}");
    cr_expect(wr_json_is_null(WR_SLICE("null")));
    cr_expect_not(wr_json_is_null(WR_SLICE("\"null\"")));
}

/* "name=value;" of all that the walk finds. */
static const char *walked(const char *json)
{
    static char text[256];
    struct wr_json_walk walk;
    struct wr_slice name, value;

    text[0] = '\0';
    if (!wr_json_walk_start(&walk, wr_slice_str(json))) {
        return "neither";
    }
    while (wr_json_walk_next(&walk, &name, &value)) {
        size_t size = strlen(text);
        snprintf(text + size, sizeof(text) - size, "%.*s=%.*s;", (int)name.size, name.data,
                 (int)value.size, value.data);
    }
    return text;
}

Test(json_path, walks_through_objects_and_arrays)
{
    cr_expect_str_eq(walked(" { \"a\" : 1.50 ,\"b}\":{\"c\":[1,2]}, \"\\\"\":\"]\" } "),
                     "\"a\"=1.50;\"b}\"={\"c\":[1,2]};\"\\\"\"=\"]\";");
    cr_expect_str_eq(walked("[1, \"x,y\" ,[3,4],{}]"), "=1;=\"x,y\";=[3,4];={};");
    cr_expect_str_eq(walked("{}"), "");
    cr_expect_str_eq(walked("[ ]"), "");
    cr_expect_str_eq(walked("17"), "neither");
    cr_expect_str_eq(walked(""), "neither");
}

Test(json_path, walk_comes_to_an_end_in_whatever_it_is_given)
{
    static const char *const texts[] = {"{",  "[",  "{\"a",   "{\"a\"",    "{\"a\":", "{a:1}",
                                        "[1", "[,", "[1,,2]", "{\"a\":1]", "[\"x",    "{\"a\":1,}"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t size = strlen(texts[i]);
        char *copy = malloc(size); /* to the byte, so that a read beyond is seen */
        memcpy(copy, texts[i], size);
        struct wr_json_walk walk;
        struct wr_slice name, value;
        size_t count = 0;
        bool is_open = wr_json_walk_start(&walk, (struct wr_slice){copy, size});
        while (is_open && wr_json_walk_next(&walk, &name, &value)) {
            cr_assert_lt(count++, 10, "%s", texts[i]);
        }
        free(copy);
    }
}
