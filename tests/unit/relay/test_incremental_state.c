#include <criterion/criterion.h>

#include "base/buffer.h"
#include "relay/incremental_state.h"

static struct incremental_state state, again;
static struct incremental_progress progress, progress_again;
static struct incremental_keys more;
static struct wr_buffer text;

static void add(uint64_t run, const char *id, const char *name, const char *condition,
                const char *surrogate_key)
{
    incremental_state_add(&state, &(struct incremental_item){.run = run,
                                                             .id = id,
                                                             .name = name,
                                                             .condition = condition,
                                                             .surrogate_key = surrogate_key});
}

static void set_up(void)
{
    wr_buffer_init(&text, 1 << 20);
    add(1, "s1", "public.a", NULL, NULL);
    add(1, "s1", "public.b", "v = '\"x\"'", "code");
    add(2, "", "public.a", NULL, NULL);
}

static void tear_down(void)
{
    wr_buffer_done(&text);
    incremental_state_done(&state);
    incremental_state_done(&again);
    incremental_progress_done(&progress);
    incremental_progress_done(&progress_again);
    incremental_keys_done(&more);
}

TestSuite(incremental_state, .init = set_up, .fini = tear_down);

static void set_key(struct incremental_key *key, const char *a, const char *b)
{
    key->texts[0] = strdup(a);
    key->texts[1] = strdup(b);
    key->count = 2;
}

static void write_and_read(void)
{
    wr_buffer_reset(&text);
    incremental_state_write(&state, &progress, &more, &text);
    cr_assert(incremental_state_read(wr_buffer_slice(&text), &again, &progress_again), "%.*s",
              (int)text.size, text.data);
}

Test(incremental_state, survives_with_how_far_it_is)
{
    progress.serial = state.items[0].serial;
    progress.row_count = 42;
    set_key(&progress.last, "1", "it's \"quoted\"");
    set_key(&progress.max, "9", "");
    state.is_paused = true;
    write_and_read();
    cr_assert_eq(again.count, 3);
    cr_expect(again.is_paused);
    cr_expect_str_eq(again.items[1].name, "public.b");
    cr_expect_str_eq(again.items[1].condition, "v = '\"x\"'");
    cr_expect_str_eq(again.items[1].surrogate_key, "code");
    cr_expect_null(again.items[0].condition);
    cr_expect_eq(again.items[2].run, 2);
    cr_expect_eq(progress_again.serial, again.items[0].serial);
    cr_expect_eq(progress_again.row_count, 42);
    cr_expect_str_eq(progress_again.last.texts[1], "it's \"quoted\"");
    cr_expect_str_eq(progress_again.max.texts[0], "9");
}

Test(incremental_state, keeps_the_rows_that_have_to_be_read_once_more)
{
    struct incremental_key key = {.count = 0};

    progress.serial = state.items[0].serial;
    set_key(&key, "5", "x");
    incremental_keys_add(&progress.reread, &key);
    incremental_key_done(&key);
    set_key(&key, "6", "y");
    incremental_keys_add(&more, &key);
    incremental_key_done(&key);
    write_and_read();
    cr_assert_eq(progress_again.reread.count, 2);
    cr_expect_str_eq(progress_again.reread.items[0].texts[0], "5");
    cr_expect_str_eq(progress_again.reread.items[1].texts[1], "y");
    incremental_keys_drop(&progress_again.reread, 1);
    cr_expect_str_eq(progress_again.reread.items[0].texts[0], "6");
}

Test(incremental_state, leaves_out_tables_that_are_done)
{
    progress.serial = state.items[1].serial;
    write_and_read();
    cr_assert_eq(again.count, 2);
    cr_expect_str_eq(again.items[0].name, "public.b");
}

/* The next table is another one than that which the place was in. */
Test(incremental_state, begins_a_table_anew_whose_place_is_not_known)
{
    progress.serial = state.items[0].serial + 1;
    incremental_state_drop(&state, state.items[1].serial);
    set_key(&progress.last, "1", "2");
    write_and_read();
    cr_assert_eq(again.count, 1);
    cr_expect_eq(progress_again.serial, 0);
    cr_expect_eq(progress_again.last.count, 0);
}

Test(incremental_state, is_empty_when_all_is_done)
{
    progress.serial = state.items[2].serial + 1;
    write_and_read();
    cr_expect_eq(again.count, 0);
}

Test(incremental_state, finds_the_table_that_is_next)
{
    cr_expect_eq(incremental_state_find(&state, 0), &state.items[0]);
    cr_expect_eq(incremental_state_find(&state, state.items[1].serial), &state.items[1]);
    cr_expect_null(incremental_state_find(&state, state.items[2].serial + 1));
    incremental_state_drop_below(&state, state.items[1].serial);
    cr_expect_eq(state.count, 2);
    cr_expect_str_eq(state.items[0].name, "public.b");
}

Test(incremental_state, puts_tables_in_the_place_of_expressions)
{
    const struct incremental_item expression = {
        .run = 3, .is_expression = true, .id = "s3", .name = "public\\..*"};
    const struct incremental_item tables[] = {
        {.run = 3, .id = "s3", .name = "public.c", .condition = "true"},
        {.run = 3, .id = "s3", .name = "public.d"},
    };

    incremental_state_add(&state, &expression);
    incremental_state_add(&state, &expression);
    add(4, "s4", "public.e", NULL, NULL);
    write_and_read();
    cr_assert_eq(again.count, 6);
    cr_expect(again.items[3].is_expression);
    uint64_t last = state.items[5].serial;
    uint64_t done[] = {state.items[0].serial, state.items[1].serial, state.items[2].serial};
    incremental_state_expand(&state, state.items[3].serial, tables, 2);
    cr_assert_eq(state.count, 6);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(state.items[i].serial, done[i], "what is done stays behind");
    }
    cr_expect_str_eq(state.items[3].name, "public.c");
    cr_expect_str_eq(state.items[3].condition, "true");
    cr_expect_str_eq(state.items[4].name, "public.d");
    cr_expect_str_eq(state.items[5].name, "public.e");
    for (size_t i = 3; i < state.count; i++) {
        cr_expect_gt(state.items[i].serial, i == 3 ? last : state.items[i - 1].serial);
    }
    incremental_state_expand(&state, state.items[3].serial, NULL, 0);
    cr_expect_eq(state.count, 6, "nothing is left to expand");
}

Test(incremental_state, refuses_what_is_no_note)
{
    static const char *const bad[] = {"", "{", "[]", "1", "\"x\""};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_expect_not(incremental_state_read(wr_slice_str(bad[i]), &again, &progress_again), "%s",
                      bad[i]);
        cr_expect_eq(again.count, 0);
    }
}
