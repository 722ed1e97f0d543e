#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/utf8.h"

static struct wr_utf8 read_copy(const char *bytes, size_t size)
{
    char *copy = malloc(size);

    memcpy(copy, bytes, size);
    struct wr_utf8 read = wr_utf8_read(copy, size);
    free(copy);
    return read;
}

/* An independent view: a decoder that builds the code point and then judges it. */
static bool is_character(uint32_t lead, uint32_t second, uint32_t third)
{
    uint32_t code = (lead & 0x0f) << 12 | (second & 0x3f) << 6 | (third & 0x3f);

    return (second & 0xc0) == 0x80 && (third & 0xc0) == 0x80 && code >= 0x800 &&
           (code < 0xd800 || code > 0xdfff);
}

Test(utf8, judges_every_sequence_of_three_bytes)
{
    for (uint32_t lead = 0xe0; lead <= 0xef; lead++) {
        for (uint32_t rest = 0; rest <= 0xffff; rest++) {
            char bytes[] = {(char)lead, (char)(rest >> 8), (char)rest};
            struct wr_utf8 read = wr_utf8_read(bytes, sizeof(bytes));
            cr_assert_eq(read.is_valid, is_character(lead, rest >> 8, rest & 0xff), "%x %x", lead,
                         rest);
            cr_assert(read.size >= 1 && read.size <= 3);
            cr_assert(!read.is_valid || read.size == 3);
        }
    }
}

Test(utf8, takes_the_first_and_last_character_of_each_size)
{
    static const char *const texts[] = {
        "\x01",         "\x7f",         "\xc2\x80",         "\xdf\xbf",        "\xe0\xa0\x80",
        "\xef\xbf\xbf", "\xed\x9f\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct wr_utf8 read = read_copy(texts[i], strlen(texts[i]));
        cr_expect(read.is_valid, "text %zu", i);
        cr_expect_eq(read.size, strlen(texts[i]), "text %zu", i);
    }
}

Test(utf8, replaces_as_much_as_java_does)
{
    static const struct {
        const char *text;
        size_t size;
    } cases[] = {
        {"\x80", 1},
        {"\xbf\xbf", 1},
        {"\xc0\x80", 1},
        {"\xc1\xbf", 1},
        {"\xe0\x9f\xbf", 1},
        {"\xed\xa0\x80", 1},
        {"\xf0\x8f\xbf\xbf", 1},
        {"\xf4\x90\x80\x80", 1},
        {"\xf5\x80", 1},
        {"\xff", 1},
        {"\xe2\x98x", 2},
        {"\xf0\x9f\x98x", 3},
        {"\xc3x", 1},
        {"\xf0\x9f\x98\xc3", 3},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_utf8 read = read_copy(cases[i].text, strlen(cases[i].text));
        cr_expect_not(read.is_valid, "case %zu", i);
        cr_expect_eq(read.size, cases[i].size, "case %zu", i);
    }
}

Test(utf8, refuses_every_truncation)
{
    static const char *const texts[] = {"\xc3\xa4", "\xe2\x98\x83", "\xf0\x9f\x98\x80"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t size = 1; size < strlen(texts[i]); size++) {
            struct wr_utf8 read = read_copy(texts[i], size);
            cr_expect_not(read.is_valid);
            cr_expect_eq(read.size, size);
        }
    }
}
