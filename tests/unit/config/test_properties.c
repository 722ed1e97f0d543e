#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "config/properties.h"

static struct properties_reader reader;
static char *file;

static void close_reader(void)
{
    properties_close(&reader);
    free(file);
    file = NULL;
}

TestSuite(properties, .fini = close_reader);

/* Reads from a heap copy sized to the byte, so that AddressSanitizer sees any over-read. */
static void read_bytes(const char *bytes, size_t size)
{
    close_reader();
    file = malloc(size == 0 ? 1 : size);
    memcpy(file, bytes, size);
    properties_open(&reader, (struct wr_slice){file, size});
}

static void read_text(const char *text)
{
    read_bytes(text, strlen(text));
}

static void expect_next(const char *key, const char *value)
{
    cr_assert(properties_next(&reader), "no %s", key);
    cr_expect_null(reader.problem, "%s", reader.problem);
    cr_expect_str_eq(reader.key.data, key);
    cr_expect_str_eq(reader.value.data, value);
}

static void expect_end(void)
{
    cr_expect(!properties_next(&reader));
}

static void expect_one(const char *text, const char *key, const char *value)
{
    read_text(text);
    expect_next(key, value);
    expect_end();
}

Test(properties, divides_at_an_equal_sign_a_colon_or_a_blank)
{
    expect_one("slot.name=a", "slot.name", "a");
    expect_one("slot.name:a", "slot.name", "a");
    expect_one("slot.name a", "slot.name", "a");
    expect_one("  slot.name \t = \f a", "slot.name", "a");
}

Test(properties, leaves_a_second_separator_to_the_value)
{
    expect_one("a==b", "a", "=b");
    expect_one("a = : b", "a", ": b");
    expect_one("url=http://host:1/?q=1", "url", "http://host:1/?q=1");
}

Test(properties, keeps_blanks_at_the_end_of_a_value)
{
    expect_one("a=b  \n", "a", "b  ");
}

Test(properties, reads_a_key_without_a_value)
{
    expect_one("a", "a", "");
    expect_one("a=\n", "a", "");
    expect_one("=b", "", "b");
}

Test(properties, skips_blank_lines_and_both_kinds_of_comment)
{
    read_text("# one\n  ! two\n\n \t\f\na=1\n#a=2 \\\nb=3#4");
    expect_next("a", "1");
    expect_next("b", "3#4"); /* a comment does not go on, and none starts inside a value */
    expect_end();
}

Test(properties, takes_each_line_end_for_one)
{
    read_text("a=1\r\nb=2\rc=3\nd=4");
    expect_next("a", "1");
    expect_next("b", "2");
    expect_next("c", "3");
    expect_next("d", "4");
    cr_expect_eq(reader.line, 4);
    expect_end();
}

Test(properties, joins_continued_lines_without_their_leading_blanks)
{
    expect_one("a=1,\\\n   2,\\\r\n\t3", "a", "1,2,3");
    expect_one("a\\\n  b=c", "ab", "c");
    expect_one("a \\\n = b", "a", "b");
    expect_one("a=1\\\n#2", "a", "1#2");
}

Test(properties, ends_a_continuation_at_a_blank_line)
{
    read_text("a=1\\\n\nb=2");
    expect_next("a", "1");
    expect_next("b", "2");
    cr_expect_eq(reader.line, 3);
    expect_end();
}

Test(properties, continues_after_an_odd_number_of_backslashes_only)
{
    read_text("a=1\\\\\nb=2\\\\\\\n3");
    expect_next("a", "1\\");
    expect_next("b", "2\\3");
    expect_end();
}

Test(properties, drops_a_backslash_at_the_end_of_the_file)
{
    expect_one("a=b\\", "a", "b");
}

Test(properties, resolves_escapes)
{
    expect_one("a=\\t\\n\\r\\f", "a", "\t\n\r\f");
    expect_one("a=\\\\.\\b\\\"", "a", "\\.b\""); /* Java has no \b here */
    expect_one("a\\=b\\:c\\ d=e", "a=b:c d", "e");
    expect_one("\\#a=\\ b", "#a", " b");
    expect_one("r=public\\\\.orders_.*", "r", "public\\.orders_.*");
}

Test(properties, resolves_unicode_escapes)
{
    expect_one("a=\\u0041\\u00fC\\u20ac", "a", "Aü€");
    expect_one("\\u0061=\\u003d", "a", "=");
    expect_one("a=\\ud83d\\uDE00", "a", "😀");
}

static void expect_problem(const char *text, const char *problem)
{
    read_text(text);
    cr_assert(properties_next(&reader));
    cr_assert_not_null(reader.problem, "%s", text);
    cr_expect_str_eq(reader.problem, problem);
    expect_next("next", "1");
    cr_expect_eq(reader.line, 2);
    expect_end();
}

Test(properties, names_a_malformed_escape_and_reads_on)
{
    expect_problem("a=\\u12\nnext=1", "\\u needs four hexadecimal digits");
    expect_problem("a=\\uxyzw\nnext=1", "\\u needs four hexadecimal digits");
    expect_problem("a=\\u0000\nnext=1", "\\u0000 cannot stand in a value");
    expect_problem("a=\\ud83d\nnext=1", "\\u escape is one half of a surrogate pair");
    expect_problem("a=\\ude00\nnext=1", "\\u escape is one half of a surrogate pair");
    expect_problem("a=\\ud83d\\u0041\nnext=1", "\\u escape is one half of a surrogate pair");
}

Test(properties, takes_bytes_for_utf8_where_they_are)
{
    expect_one("a=Grüße €😀", "a", "Grüße €😀");
}

Test(properties, takes_bytes_for_latin1_where_they_are_not_utf8)
{
    expect_one("a=Gr\xfc\xdf\x65", "a", "Grüße");
    expect_one("a=\xc0\xaf", "a", "À¯");                    /* an overlong form */
    expect_one("a=\xed\xa0\x80", "a", "í\xc2\xa0\xc2\x80"); /* half of a surrogate pair */
    expect_one("a=\xe2\x82", "a", "â\xc2\x82");             /* cut off */
}

Test(properties, tells_the_line_on_which_a_property_starts)
{
    read_text("# comment\na=1\\\n2\n\nb=3");
    expect_next("a", "12");
    cr_expect_eq(reader.line, 2);
    expect_next("b", "3");
    cr_expect_eq(reader.line, 5);
}

Test(properties, reads_every_truncation_to_its_end)
{
    static const char text[] = "# c\na\\u00fc = \\\n b\\ud83d\\ude00\\\\\r\nc : d\\";

    for (size_t size = 0; size < sizeof(text); size++) {
        size_t count = 0;
        read_bytes(text, size);
        while (properties_next(&reader)) {
            count++;
        }
        cr_expect_leq(count, 2, "prefix of %zu bytes", size);
        cr_expect_eq(reader.next, reader.end, "prefix of %zu bytes", size);
    }
}
