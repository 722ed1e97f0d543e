#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/bytes.h"

static char *bytes;
static struct wr_cursor cursor;

/* Reads a heap copy sized to the byte, so that AddressSanitizer sees any over-read. */
static void read_copy(const char *literal, size_t size)
{
    bytes = malloc(size == 0 ? 1 : size);
    memcpy(bytes, literal, size);
    wr_cursor_init(&cursor, bytes, size);
}

static void free_copy(void)
{
    free(bytes);
}

TestSuite(bytes, .fini = free_copy);

#define READ(literal) read_copy((literal), sizeof(literal) - 1)

Test(bytes, reads_big_endian_integers_of_every_size)
{
    READ("\x01\x02\x03\x04\x05\x06\x07\x08\xff");
    cr_expect_eq(wr_cursor_uint(&cursor, 1), 0x01);
    cr_expect_eq(wr_cursor_uint(&cursor, 2), 0x0203);
    cr_expect_eq(wr_cursor_uint(&cursor, 5), UINT64_C(0x0405060708));
    cr_expect_not(wr_cursor_done(&cursor));
    cr_expect_eq(wr_cursor_uint(&cursor, 1), 0xff);
    cr_expect(wr_cursor_done(&cursor));
}

Test(bytes, keeps_all_of_eight_bytes)
{
    READ("\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8");
    cr_expect_eq(wr_cursor_uint(&cursor, 8), UINT64_C(0xfffefdfcfbfaf9f8));
}

Test(bytes, latches_the_first_short_read)
{
    READ("\x01\x02\x03");
    cr_expect_eq(wr_cursor_uint(&cursor, 4), 0);
    cr_expect(cursor.failed);
    cr_expect_eq(wr_cursor_uint(&cursor, 1), 0);
    cr_expect_str_eq(wr_cursor_str(&cursor), "");
    cr_expect_eq(wr_cursor_left(&cursor), 0);
    cr_expect_not(wr_cursor_done(&cursor));
}

Test(bytes, borrows_strings_from_the_message)
{
    READ("ab\0\0c");
    const char *text = wr_cursor_str(&cursor);
    cr_expect_str_eq(text, "ab");
    cr_expect_eq(text, bytes);
    cr_expect_str_eq(wr_cursor_str(&cursor), "");
    cr_expect_not(cursor.failed);
    cr_expect_str_eq(wr_cursor_str(&cursor), ""); /* "c" has no end */
    cr_expect(cursor.failed);
}

Test(bytes, fails_on_nothing_at_all)
{
    READ("");
    cr_expect(wr_cursor_done(&cursor));
    cr_expect_str_eq(wr_cursor_str(&cursor), "");
    cr_expect(cursor.failed);
}
