#include <stdint.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"

static struct wr_arena *arena;

static void open_arena(void)
{
    arena = wr_arena_new(1 << 20);
}

static void close_arena(void)
{
    wr_arena_free(arena);
}

TestSuite(arena, .init = open_arena, .fini = close_arena);

Test(arena, aligns_and_separates_what_it_gives)
{
    unsigned char *before = NULL;

    for (size_t size = 1; size < 200; size++) {
        unsigned char *memory = wr_arena_alloc(arena, size, 1);
        cr_assert_not_null(memory);
        cr_expect_eq((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++) {
            cr_assert_eq(memory[i], 0);
        }
        memset(memory, 0xff, size);
        cr_expect(before == NULL || before[0] == 0xff);
        before = memory;
    }
}

Test(arena, zeroes_memory_that_was_used_before)
{
    memset(wr_arena_alloc_raw(arena, 1000, 1), 0xff, 1000);
    wr_arena_reset(arena);
    const unsigned char *memory = wr_arena_alloc(arena, 1000, 1);
    for (size_t i = 0; i < 1000; i++) {
        cr_assert_eq(memory[i], 0);
    }
}

Test(arena, never_passes_its_bound)
{
    size_t given = 0;

    cr_expect_null(wr_arena_alloc(arena, (1 << 20) + 1, 1));
    while (wr_arena_alloc_raw(arena, 1000, 1) != NULL) {
        given += 1000;
    }
    cr_expect_leq(given, 1 << 20);
    cr_expect_gt(given, 1 << 19);
    while (wr_arena_alloc_raw(arena, 1, 1) != NULL) {
        given++;
    }
    cr_expect_leq(given, 1 << 20);
    cr_expect_null(wr_arena_strdup(arena, ""));
}

Test(arena, is_whole_again_after_a_reset)
{
    for (int round = 0; round < 50; round++) {
        cr_assert_not_null(wr_arena_alloc_raw(arena, 1 << 18, 1));
        cr_assert_not_null(wr_arena_alloc_raw(arena, 1 << 18, 1));
        wr_arena_reset(arena);
    }
}

Test(arena, refuses_products_that_overflow)
{
    cr_expect_null(wr_arena_alloc(arena, SIZE_MAX / 2, 4));
    cr_expect_null(wr_arena_alloc_raw(arena, SIZE_MAX, 1));
    cr_expect_null(wr_arena_strndup(arena, "", SIZE_MAX));
}

Test(arena, copies_text)
{
    char bytes[] = {'a', 'b', 'c'};
    const char *copy = wr_arena_strndup(arena, bytes, sizeof(bytes));

    bytes[0] = 'x';
    cr_expect_str_eq(copy, "abc");
    cr_expect_str_eq(wr_arena_strndup(arena, NULL, 0), "");
    cr_expect_str_eq(wr_arena_printf(arena, "%s-%d", "n", 7), "n-7");
}

Test(arena, takes_nothing_when_it_was_never_used)
{
    wr_arena_reset(arena);
    wr_arena_free(NULL);
}
