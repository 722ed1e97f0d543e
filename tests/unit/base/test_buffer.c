#include <string.h>

#include <criterion/criterion.h>

#include "base/buffer.h"

static struct wr_buffer buffer;

static void close_buffer(void)
{
    wr_buffer_done(&buffer);
}

TestSuite(buffer, .fini = close_buffer);

Test(buffer, keeps_what_was_written_while_it_grows)
{
    wr_buffer_init(&buffer, 1 << 20);
    for (int i = 0; i < 100000; i++) {
        wr_buffer_add_char(&buffer, (char)('a' + i % 26));
    }
    cr_assert_eq(buffer.size, 100000);
    for (int i = 0; i < 100000; i++) {
        cr_assert_eq(buffer.data[i], 'a' + i % 26);
    }
}

Test(buffer, joins_every_kind_of_text)
{
    wr_buffer_init(&buffer, 100);
    wr_buffer_add_str(&buffer, "a");
    WR_BUFFER_LITERAL(&buffer, "b\0c");
    wr_buffer_add_slice(&buffer, (struct wr_slice){NULL, 0});
    wr_buffer_add(&buffer, "de", 1);
    cr_expect(wr_slice_eq(wr_buffer_slice(&buffer), WR_SLICE("ab\0cd")));
}

Test(buffer, writes_nothing_past_its_bound)
{
    wr_buffer_init(&buffer, 10);
    wr_buffer_add_str(&buffer, "12345678");
    wr_buffer_add_str(&buffer, "abc");
    cr_expect(buffer.failed);
    cr_expect(wr_slice_is(wr_buffer_slice(&buffer), "12345678"));
    wr_buffer_reset(&buffer);
    cr_expect_not(buffer.failed);
    wr_buffer_add_str(&buffer, "1234567890");
    cr_expect_not(buffer.failed);
    cr_expect_null(wr_buffer_reserve(&buffer, 1));
    cr_expect(buffer.failed);
}

Test(buffer, reserves_without_advancing)
{
    wr_buffer_init(&buffer, 100);
    char *place = wr_buffer_reserve(&buffer, 50);
    cr_assert_not_null(place);
    memset(place, 'x', 50);
    cr_expect_eq(buffer.size, 0);
    wr_buffer_advance(&buffer, 3);
    cr_expect(wr_slice_is(wr_buffer_slice(&buffer), "xxx"));
}

Test(buffer, gives_back_what_one_huge_row_took)
{
    wr_buffer_init(&buffer, 1 << 24);
    cr_assert_not_null(wr_buffer_reserve(&buffer, 1 << 22));
    wr_buffer_reset(&buffer);
    cr_expect_eq(buffer.capacity, 0);
    cr_assert_not_null(wr_buffer_reserve(&buffer, 1 << 10));
    wr_buffer_reset(&buffer);
    cr_expect_geq(buffer.capacity, 1 << 10);
}
