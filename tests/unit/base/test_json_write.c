#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/json_write.h"

static struct wr_buffer out;

static void open_buffer(void)
{
    wr_buffer_init(&out, 1 << 20);
}

static void close_buffer(void)
{
    wr_buffer_done(&out);
}

TestSuite(json_write, .init = open_buffer, .fini = close_buffer);

/* What was written since the last call, as a string. */
static const char *written(void)
{
    static char text[1 << 16];

    cr_assert(!out.failed);
    cr_assert_lt(out.size, sizeof(text));
    memcpy(text, out.size > 0 ? out.data : "", out.size);
    text[out.size] = '\0';
    wr_buffer_reset(&out);
    return text;
}

/* Writes from a heap copy sized to the byte, so that AddressSanitizer sees any over-read. */
static const char *string_of(const char *bytes, size_t size)
{
    char *copy = malloc(size == 0 ? 1 : size);

    memcpy(copy, bytes, size);
    wr_json_string(&out, (struct wr_slice){copy, size});
    free(copy);
    return written();
}

#define STRING_OF(literal) string_of((literal), sizeof(literal) - 1)

static const char *float_of(const char *text, bool is_float32)
{
    size_t size = strlen(text);
    char *copy = malloc(size == 0 ? 1 : size);

    memcpy(copy, text, size);
    wr_json_float(&out, (struct wr_slice){copy, size}, is_float32);
    free(copy);
    return written();
}

Test(json_write, quotes_plain_text_unchanged)
{
    cr_expect_str_eq(STRING_OF(""), "\"\"");
    cr_expect_str_eq(STRING_OF("a/b'c <&>\x7f"), "\"a/b'c <&>\x7f\"");
    cr_expect_str_eq(STRING_OF("\xc3\xa4 \xe2\x98\x83 \xef\xbf\xbf"),
                     "\"\xc3\xa4 \xe2\x98\x83 \xef\xbf\xbf\"");
}

Test(json_write, takes_an_empty_slice_without_data)
{
    wr_json_string(&out, (struct wr_slice){NULL, 0});
    wr_json_base64(&out, (struct wr_slice){NULL, 0});
    cr_expect_str_eq(written(), "\"\"\"\"");
}

Test(json_write, escapes_what_jackson_escapes)
{
    cr_expect_str_eq(STRING_OF("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\"");
    cr_expect_str_eq(STRING_OF("\0\1\x1f "), "\"\\u0000\\u0001\\u001F \"");
    cr_expect_str_eq(STRING_OF("\xf0\x9f\x98\x80"), "\"\\uD83D\\uDE00\"");
    cr_expect_str_eq(STRING_OF("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
                     "\"\\uD800\\uDC00\\uDBFF\\uDFFF\"");
}

Test(json_write, finds_every_escaped_byte_at_every_place_of_a_word)
{
    static const unsigned char special[] = {0x00, 0x1f, '"', '\\', 0x80, 0xff};

    for (size_t place = 0; place < 24; place++) {
        for (size_t i = 0; i < sizeof(special); i++) {
            char text[24];
            memset(text, 'a', sizeof(text));
            text[place] = (char)special[i];
            size_t plain = sizeof(text) - 1;
            size_t escaped = special[i] < ' ' ? 6 : special[i] < 0x80 ? 2 : 3;
            cr_expect_eq(strlen(string_of(text, sizeof(text))), 2 + plain + escaped,
                         "byte %02x at %zu", special[i], place);
        }
    }
}

Test(json_write, leaves_every_other_ascii_character_alone)
{
    for (char c = ' '; c > 0; c++) {
        char text[8];
        memset(text, c, sizeof(text));
        size_t size = strlen(string_of(text, sizeof(text)));
        cr_expect_eq(size, c == '"' || c == '\\' ? 18 : 10, "character %d", c);
    }
}

Test(json_write, replaces_malformed_utf8)
{
#define BAD "\xef\xbf\xbd"
    cr_expect_str_eq(STRING_OF("a\x80z"), "\"a" BAD "z\"");
    cr_expect_str_eq(STRING_OF("\xc0\xaf"), "\"" BAD BAD "\"");                 /* overlong */
    cr_expect_str_eq(STRING_OF("\xed\xa0\x80"), "\"" BAD BAD BAD "\"");         /* a surrogate */
    cr_expect_str_eq(STRING_OF("\xf4\x90\x80\x80"), "\"" BAD BAD BAD BAD "\""); /* too high */
    cr_expect_str_eq(STRING_OF("\xe2\x98"), "\"" BAD "\"");                     /* cut at the end */
    cr_expect_str_eq(STRING_OF("\xf0\x9f\x98"), "\"" BAD "\"");
    cr_expect_str_eq(STRING_OF("\xf0\x9f\"x"), "\"" BAD "\\\"x\""); /* cut by a quote */
}

Test(json_write, writes_integers)
{
    static const int64_t values[] = {0,          9,     10,      99,        100,       101,
                                     1234567890, -1,    -10,     -100,      INT64_MAX, INT64_MIN,
                                     999999999,  10000, -987654, 2147483648};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char expected[32];
        (void)snprintf(expected, sizeof(expected), "%lld", (long long)values[i]);
        wr_json_int(&out, values[i]);
        cr_expect_str_eq(written(), expected);
    }
}

Test(json_write, writes_booleans)
{
    wr_json_bool(&out, true);
    wr_json_bool(&out, false);
    cr_expect_str_eq(written(), "truefalse");
}

Test(json_write, writes_base64_with_padding)
{
    static const char *const expected[] = {"\"\"", "\"Zg==\"", "\"Zm8=\"", "\"Zm9v\"",
                                           "\"Zm9vYg==\""};

    for (size_t size = 0; size < 5; size++) {
        char *copy = malloc(size == 0 ? 1 : size);
        memcpy(copy, "foob", size);
        wr_json_base64(&out, (struct wr_slice){copy, size});
        free(copy);
        cr_expect_str_eq(written(), expected[size]);
    }
    wr_json_base64(&out, WR_SLICE("\xff\xfe\xfb\x00\x10\x83"));
    cr_expect_str_eq(written(), "\"//77ABCD\"");
}

Test(json_write, spells_doubles_as_java_does)
{
    static const char *const cases[][2] = {
        {"0", "0.0"},
        {"-0", "-0.0"},
        {"0.1", "0.1"},
        {"1.5", "1.5"},
        {"-2", "-2.0"},
        {"0.001", "0.001"},
        {"0.0012345", "0.0012345"},
        {"0.00099", "9.9E-4"},
        {"1e-05", "1.0E-5"},
        {"100", "100.0"},
        {"123456.789", "123456.789"},
        {"9999999", "9999999.0"},
        {"10000000", "1.0E7"},
        {"1e+07", "1.0E7"},
        {"12345678.9", "1.23456789E7"},
        {"1e+30", "1.0E30"},
        {"-1.7976931348623157e+308", "-1.7976931348623157E308"},
        {"2.2250738585072014e-308", "2.2250738585072014E-308"},
        {"5e-324", "4.9E-324"},
        {"-5e-324", "-4.9E-324"},
        {"1e-323", "9.9E-324"},
        {"2e-323", "2.0E-323"},
        {"9.007199254740992e+15", "9.007199254740992E15"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_str_eq(float_of(cases[i][0], false), cases[i][1], "%s", cases[i][0]);
    }
}

Test(json_write, spells_floats_as_java_does)
{
    cr_expect_str_eq(float_of("1e-45", true), "1.4E-45");
    cr_expect_str_eq(float_of("3e-45", true), "2.8E-45");
    cr_expect_str_eq(float_of("1e-44", true), "9.8E-45");
    cr_expect_str_eq(float_of("-3.4e+38", true), "-3.4E38");
    cr_expect_str_eq(float_of("1.6777216e+07", true), "1.6777216E7");
    cr_expect_str_eq(float_of("0.1", true), "0.1");
}

Test(json_write, quotes_floats_that_json_has_no_number_for)
{
    cr_expect_str_eq(float_of("NaN", false), "\"NaN\"");
    cr_expect_str_eq(float_of("Infinity", true), "\"Infinity\"");
    cr_expect_str_eq(float_of("-Infinity", false), "\"-Infinity\"");
}

Test(json_write, quotes_text_that_is_no_float)
{
    static const char *const wrong[] = {
        "",   "-",   ".",     "e5",   "1e", "1e+", "1x", "0x10", "1e99999999999",
        "1 ", "--1", "1.2.3", "1e5.5"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char expected[32];
        (void)snprintf(expected, sizeof(expected), "\"%s\"", wrong[i]);
        cr_expect_str_eq(float_of(wrong[i], false), expected);
    }
    char digits[60];
    memset(digits, '7', sizeof(digits));
    wr_json_float(&out, (struct wr_slice){digits, sizeof(digits)}, false);
    cr_expect_eq(out.size, sizeof(digits) + 2);
}

/* The spelling is right when it reads back as the same double: 20,000 of them, the seed is 1. */
Test(json_write, keeps_the_value_of_every_double)
{
    uint64_t state = 1;

    for (int i = 0; i < 20000; i++) {
        double value = 0;
        char text[40];
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t bits = state ^ state >> 29;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value)) {
            continue;
        }
        (void)snprintf(text, sizeof(text), i % 2 == 0 ? "%.17g" : "%.16e", value);
        const char *spelled = float_of(text, false);
        cr_expect_eq(strtod(spelled, NULL), value, "%s became %s", text, spelled);
        cr_expect_not_null(strchr(spelled, '.'));
    }
}

Test(json_write, latches_a_full_buffer)
{
    for (size_t size_max = 0; size_max < 14; size_max++) {
        struct wr_buffer small;
        wr_buffer_init(&small, size_max);
        wr_json_string(&small, WR_SLICE("a\nb\xf0\x9f\x98\x80")); /* 18 bytes */
        cr_expect(small.failed, "%zu bytes", size_max);
        wr_buffer_reset(&small);
        wr_json_base64(&small, WR_SLICE("0123456789")); /* 18 bytes */
        cr_expect(small.failed, "%zu bytes", size_max);
        cr_expect_leq(small.size, size_max);
        wr_buffer_done(&small);
    }
}
