#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/json_scan.h"

static const struct wr_json_compact_options keep_all = {0};
static const struct wr_json_compact_options drop_all = {
    .drop_null_members = true,
    .drop_empty_array_members = true,
};

static struct wr_buffer out;

static void open_buffer(void)
{
    wr_buffer_init(&out, 1 << 20);
}

static void close_buffer(void)
{
    wr_buffer_done(&out);
}

TestSuite(json_scan, .init = open_buffer, .fini = close_buffer);

/* What became of `size` bytes, read from a heap copy of exactly that size; NULL when refused. */
static const char *compact_bytes(const char *bytes, size_t size,
                                 const struct wr_json_compact_options *options)
{
    char *copy = malloc(size == 0 ? 1 : size);
    struct wr_slice text = {copy, size};

    memcpy(copy, bytes, size);
    wr_buffer_reset(&out);
    wr_buffer_add_str(&out, "before:");
    bool taken = wr_json_compact(text, options, &out);
    cr_expect_eq(wr_json_is_valid(text), taken, "%.*s", (int)size, bytes);
    free(copy);
    cr_expect(!out.failed);
    if (!taken) {
        cr_expect_eq(out.size, strlen("before:"), "%.*s left bytes behind", (int)size, bytes);
        return NULL;
    }
    wr_buffer_add_char(&out, '\0');
    return out.data + strlen("before:");
}

static const char *compact(const char *text, const struct wr_json_compact_options *options)
{
    return compact_bytes(text, strlen(text), options);
}

#define EXPECT_SAME(text)    cr_expect_str_eq(compact((text), &keep_all), (text))
#define EXPECT_REFUSED(text) cr_expect_null(compact((text), &keep_all), "%s", (text))

Test(json_scan, takes_any_value_alone)
{
    EXPECT_SAME("null");
    EXPECT_SAME("true");
    EXPECT_SAME("false");
    EXPECT_SAME("\"\"");
    EXPECT_SAME("-0");
    EXPECT_SAME("{}");
    EXPECT_SAME("[]");
}

Test(json_scan, drops_blanks_and_nothing_else)
{
    cr_expect_str_eq(compact(" \t\r\n{ \"b\" : [ 1 , { } , [ ] ] , \"a\" : \" x \" }\n", &keep_all),
                     "{\"b\":[1,{},[]],\"a\":\" x \"}");
}

Test(json_scan, keeps_order_and_duplicates_of_members)
{
    EXPECT_SAME("{\"z\":1,\"a\":2,\"z\":3,\"\":4}");
}

Test(json_scan, keeps_every_digit_of_a_number)
{
    EXPECT_SAME("[0,-1,12345678901,9223372036854775808,123456789012345678901234567890]");
    EXPECT_SAME("[1.10,0.1,-0.0,1e5,1E+400,2.50e-07,3.141592653589793238462643383279]");
}

Test(json_scan, publishes_the_payload_of_the_outbox_as_debezium_does)
{
    cr_expect_str_eq(compact("{\"a\": 1, \"b\": {\"c\": [1, 2, 3], \"gone\": null, \"empty\": []}, "
                             "\"f\": 2.5, \"s\": \"x\", \"t\": true, \"big\": 12345678901}",
                             &drop_all),
                     "{\"a\":1,\"b\":{\"c\":[1,2,3]},\"f\":2.5,\"s\":\"x\",\"t\":true,"
                     "\"big\":12345678901}");
}

Test(json_scan, drops_members_at_every_place)
{
    cr_expect_str_eq(compact("{\"a\":null,\"b\":1}", &drop_all), "{\"b\":1}");
    cr_expect_str_eq(compact("{\"b\":1,\"a\":null}", &drop_all), "{\"b\":1}");
    cr_expect_str_eq(compact("{\"a\":null,\"b\":1,\"c\":[],\"d\":2,\"e\":[ ]}", &drop_all),
                     "{\"b\":1,\"d\":2}");
    cr_expect_str_eq(compact("{\"a\":{\"b\":null,\"c\":[]},\"d\":null}", &drop_all), "{\"a\":{}}");
    cr_expect_str_eq(compact("[{\"a\":null},{\"b\":[]}]", &drop_all), "[{},{}]");
}

Test(json_scan, never_drops_elements_of_arrays)
{
    cr_expect_str_eq(compact("[null,[],{\"a\":[null,[],{}]}]", &drop_all),
                     "[null,[],{\"a\":[null,[],{}]}]");
    cr_expect_str_eq(compact("null", &drop_all), "null");
    cr_expect_str_eq(compact("[]", &drop_all), "[]");
}

Test(json_scan, drops_only_what_it_is_told_to)
{
    static const struct wr_json_compact_options nulls = {.drop_null_members = true};
    static const struct wr_json_compact_options arrays = {.drop_empty_array_members = true};

    cr_expect_str_eq(compact("{\"a\":null,\"b\":[]}", &nulls), "{\"b\":[]}");
    cr_expect_str_eq(compact("{\"a\":null,\"b\":[]}", &arrays), "{\"a\":null}");
    EXPECT_SAME("{\"a\":null,\"b\":[]}");
}

Test(json_scan, spells_strings_as_jackson_does)
{
    cr_expect_str_eq(compact("\"\\u0041\\u00e4\\u2603\\/\"", &keep_all),
                     "\"A\xc3\xa4\xe2\x98\x83/\"");
    cr_expect_str_eq(compact("\"\\b\\f\\n\\r\\t\\\"\\\\\"", &keep_all),
                     "\"\\b\\f\\n\\r\\t\\\"\\\\\"");
    cr_expect_str_eq(compact("\"\\u0008\\u000a\\u001f\\u0000\\u0022\\u005C\"", &keep_all),
                     "\"\\b\\n\\u001F\\u0000\\\"\\\\\"");
    cr_expect_str_eq(compact("\"\xf0\x9f\x98\x80 \\ud83d\\ude00\"", &keep_all),
                     "\"\\uD83D\\uDE00 \\uD83D\\uDE00\"");
    cr_expect_str_eq(compact("{\"\\u006bey\":\"\x7f\"}", &keep_all), "{\"key\":\"\x7f\"}");
}

Test(json_scan, decodes_escapes_at_the_edges_of_utf8)
{
    cr_expect_str_eq(compact("\"\\u007f\\u0080\\u07FF\\u0800\"", &keep_all),
                     "\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\"");
    cr_expect_str_eq(compact("\"\\ud7ff\\ue000\\uffff\"", &keep_all),
                     "\"\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"");
}

Test(json_scan, keeps_a_lone_surrogate_as_an_escape)
{
    cr_expect_str_eq(compact("\"\\ud83d\"", &keep_all), "\"\\uD83D\"");
    cr_expect_str_eq(compact("\"\\ude00\\ud83dx\"", &keep_all), "\"\\uDE00\\uD83Dx\"");
}

Test(json_scan, refuses_malformed_strings)
{
    EXPECT_REFUSED("\"a");
    EXPECT_REFUSED("\"\\");
    EXPECT_REFUSED("\"\\x\"");
    EXPECT_REFUSED("\"\\u12\"");
    EXPECT_REFUSED("\"\\u12g4\"");
    EXPECT_REFUSED("\"\n\"");
    EXPECT_REFUSED("'a'");
    cr_expect_null(compact_bytes("\"\0\"", 3, &keep_all));
    cr_expect_null(compact_bytes("\"\\\0\"", 4, &keep_all));
}

Test(json_scan, refuses_malformed_utf8)
{
    EXPECT_REFUSED("\"\x80\"");
    EXPECT_REFUSED("\"\xc0\xaf\"");
    EXPECT_REFUSED("\"\xe2\x98\"");
    EXPECT_REFUSED("\"\xed\xa0\x80\"");
    EXPECT_REFUSED("\"\xf4\x90\x80\x80\"");
    EXPECT_REFUSED("\xef\xbb\xbf{}"); /* a byte order mark */
}

Test(json_scan, refuses_malformed_numbers)
{
    static const char *const wrong[] = {"-",   "+1",  "01", "-01", ".5",    "1.",  "1.e5", "1e",
                                        "1e+", "0x1", "1_", "NaN", "1e5.5", "--1", "1 2"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        EXPECT_REFUSED(wrong[i]);
    }
}

Test(json_scan, refuses_malformed_structure)
{
    static const char *const wrong[] = {
        "",          " ",       "{",         "}",          "[",     "]",      "[1,]", "[,1]",
        "[1 2]",     "{\"a\"}", "{\"a\":}",  "{\"a\":1,}", "{a:1}", "{1:2}",  "[}",   "{]",
        "[1}",       "{,}",     "{\"a\",1}", "{}{}",       "{} x",  "nul",    "True", "nulll",
        "{\"a\":1]", "[[]",     "{\"a\" 1}", "// x\n1",    ",",     "[1],[2]"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        EXPECT_REFUSED(wrong[i]);
    }
}

Test(json_scan, refuses_every_truncation)
{
    static const char text[] =
        "{\"a\":[1.5e+3,true,false,null,\"\\u00e4\\n\xe2\x98\x83\"],\"b\":{}}";

    for (size_t size = 0; size < sizeof(text) - 1; size++) {
        cr_expect_null(compact_bytes(text, size, &drop_all), "prefix of %zu bytes", size);
    }
    cr_expect_not_null(compact(text, &drop_all));
}

/* `depth` arrays or objects in each other, on the heap. */
static char *nested(const char *opening, const char *closing, size_t depth)
{
    size_t size = strlen(opening);
    char *text = malloc(depth * (size + 1) + 1);

    for (size_t i = 0; i < depth; i++) {
        memcpy(text + i * size, opening, size);
    }
    memset(text + depth * size, closing[0], depth);
    text[depth * (size + 1)] = '\0';
    return text;
}

Test(json_scan, takes_as_much_depth_as_jackson)
{
    char *arrays = nested("[", "]", WR_JSON_DEPTH_MAX);
    char *objects = nested("{\"a\":[{\"b\":1}],\"c\":", "}", WR_JSON_DEPTH_MAX - 2);

    EXPECT_SAME(arrays);
    EXPECT_REFUSED(objects); /* the innermost object has a key and no value */
    free(arrays);
    free(objects);
}

Test(json_scan, refuses_more_depth_than_that)
{
    char *arrays = nested("[", "]", WR_JSON_DEPTH_MAX + 1);
    char *bomb = nested("{\"a\":", "}", 100000);

    EXPECT_REFUSED(arrays);
    EXPECT_REFUSED(bomb);
    free(arrays);
    free(bomb);
}

Test(json_scan, latches_a_full_buffer)
{
    static const char text[] = "{\"a\":[1,2,3],\"n\":null,\"b\":\"\xc3\xa4\"}";

    for (size_t size_max = 0; size_max < 22; size_max++) {
        struct wr_buffer small;
        wr_buffer_init(&small, size_max);
        (void)wr_json_compact(WR_SLICE(text), &drop_all, &small);
        cr_expect(small.failed, "%zu bytes", size_max);
        cr_expect_leq(small.size, size_max);
        wr_buffer_done(&small);
    }
}
