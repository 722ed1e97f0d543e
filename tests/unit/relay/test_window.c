#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "relay/window.h"

enum { TABLE = 7, OTHER_TABLE = 8 };

static struct window *w;

static void open_window(void)
{
    w = window_new(1);
    window_begin(w);
    window_set_horizon(w, window_generation(w), 100);
}

static void close_window(void)
{
    window_free(w);
}

TestSuite(window, .init = open_window, .fini = close_window);

static uint64_t key(const char *text)
{
    return window_key_add(window_key_begin(w), wr_slice_str(text), false);
}

static bool judge(const char *snapshot_text)
{
    struct window_snapshot snapshot;

    cr_assert(window_snapshot_parse(snapshot_text, &snapshot));
    bool is_judged = window_chunk_judge(w, &snapshot);
    window_snapshot_done(&snapshot);
    return is_judged;
}

static void add_rows(const char *const *texts, size_t count)
{
    window_chunk_begin(w, TABLE);
    for (size_t i = 0; i < count; i++) {
        window_chunk_add(w, key(texts[i]));
    }
}

static const char *const ABC[] = {"a", "b", "c"};

Test(window, reads_snapshots_as_the_server_writes_them)
{
    struct window_snapshot s;

    cr_assert(window_snapshot_parse("10:20:10,14,15", &s));
    cr_expect(s.xmin == 10 && s.xmax == 20 && s.in_progress_count == 3);
    cr_expect(s.in_progress[0] == 10 && s.in_progress[2] == 15);
    window_snapshot_done(&s);
    cr_assert(window_snapshot_parse("10:10:", &s));
    cr_expect_eq(s.in_progress_count, 0);
    window_snapshot_done(&s);
}

Test(window, refuses_what_is_no_snapshot)
{
    static const char *const texts[] = {"", "10", "10:", "10:20", ":20:", "10:20:x", "10:20:11,"};
    struct window_snapshot s;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_expect_not(window_snapshot_parse(texts[i], &s), "%s", texts[i]);
    }
}

Test(window, sees_by_xmin_xmax_and_what_is_in_progress)
{
    struct window_snapshot s;

    cr_assert(window_snapshot_parse("10:20:10,14", &s));
    cr_expect(window_snapshot_sees(&s, 9));
    cr_expect_not(window_snapshot_sees(&s, 10));
    cr_expect(window_snapshot_sees(&s, 11));
    cr_expect_not(window_snapshot_sees(&s, 14));
    cr_expect(window_snapshot_sees(&s, 19));
    cr_expect_not(window_snapshot_sees(&s, 20));
    window_snapshot_done(&s);
}

Test(window, compares_ids_across_an_epoch)
{
    struct window_snapshot s;

    cr_assert(window_snapshot_parse("4294967290:4294967300:4294967290,4294967297", &s));
    cr_expect(window_snapshot_sees(&s, UINT32_C(4294967289)));
    cr_expect_not(window_snapshot_sees(&s, UINT32_C(4294967290)));
    cr_expect(window_snapshot_sees(&s, UINT32_C(4294967295)));
    cr_expect_not(window_snapshot_sees(&s, 1)); /* 4294967297 */
    cr_expect(window_snapshot_sees(&s, 3));
    cr_expect_not(window_snapshot_sees(&s, 4));
    window_snapshot_done(&s);
}

Test(window, keeps_a_row_whose_change_is_seen)
{
    window_note(w, 110, TABLE, key("a"), true);
    add_rows(ABC, 3);
    cr_assert(judge("120:120:"));
    cr_expect_eq(window_chunk_verdict(w, 0), WINDOW_KEEP);
}

Test(window, drops_a_row_whose_change_is_not_seen)
{
    window_note(w, 110, TABLE, key("b"), true); /* delivered, and not yet visible */
    add_rows(ABC, 3);
    cr_assert(judge("110:120:110"));
    cr_expect_eq(window_chunk_verdict(w, 0), WINDOW_KEEP);
    cr_expect_eq(window_chunk_verdict(w, 1), WINDOW_DROP);
    cr_expect_eq(window_chunk_verdict(w, 2), WINDOW_KEEP);
}

Test(window, passes_over_changes_of_other_tables)
{
    window_note(w, 110, OTHER_TABLE, key("b"), true);
    window_note_truncate(w, 110, OTHER_TABLE);
    add_rows(ABC, 3);
    cr_assert(judge("110:120:110"));
    cr_expect_eq(window_chunk_verdict(w, 1), WINDOW_KEEP);
}

Test(window, drops_every_row_of_a_truncated_table)
{
    window_note_truncate(w, 110, TABLE);
    add_rows(ABC, 3);
    cr_assert(judge("110:120:110"));
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(window_chunk_verdict(w, i), WINDOW_DROP);
    }
}

Test(window, has_a_row_read_again_when_its_change_left_something_out)
{
    window_note(w, 110, TABLE, key("a"), false);
    window_note(w, 111, TABLE, key("b"), false);
    window_note(w, 112, TABLE, key("b"), true);
    window_note(w, 113, TABLE, key("c"), true);
    window_note(w, 114, TABLE, key("c"), false);
    add_rows(ABC, 3);
    cr_assert(judge("110:110:"));
    cr_expect_eq(window_chunk_verdict(w, 0), WINDOW_REREAD);
    cr_expect_eq(window_chunk_verdict(w, 1), WINDOW_DROP, "a whole change came behind it");
    cr_expect_eq(window_chunk_verdict(w, 2), WINDOW_DROP, "what it left out was published before");
}

Test(window, drops_all_of_several_rows_that_look_the_same)
{
    static const char *const twice[] = {"a", "a", "b"};

    window_note(w, 110, TABLE, key("a"), true);
    add_rows(twice, 3);
    cr_assert(judge("110:110:"));
    cr_expect_eq(window_chunk_verdict(w, 0), WINDOW_DROP);
    cr_expect_eq(window_chunk_verdict(w, 1), WINDOW_DROP);
    cr_expect_eq(window_chunk_verdict(w, 2), WINDOW_KEEP);
}

Test(window, tells_keys_of_several_columns_apart)
{
    uint64_t start = window_key_begin(w);
    struct wr_slice ab = WR_SLICE("ab"), a = WR_SLICE("a"), b = WR_SLICE("b"), none = {NULL, 0};

    cr_expect_neq(window_key_add(window_key_add(start, ab, false), none, false),
                  window_key_add(window_key_add(start, a, false), b, false));
    cr_expect_neq(window_key_add(start, none, false), window_key_add(start, none, true));
    cr_expect_neq(window_key_add(start, a, false), window_key_add(start, b, false));
}

Test(window, forgets_what_every_later_snapshot_sees)
{
    window_note(w, 110, TABLE, key("a"), true);
    window_note(w, 115, TABLE, key("b"), true);
    add_rows(ABC, 3);
    cr_assert(judge("115:120:115"));
    cr_expect_eq(window_note_count(w), 1);
    add_rows(ABC, 3);
    cr_assert(judge("116:120:"));
    cr_expect_eq(window_chunk_verdict(w, 1), WINDOW_KEEP);
    cr_expect_eq(window_note_count(w), 0);
}

Test(window, has_a_chunk_read_again_until_its_snapshot_reaches_the_horizon)
{
    add_rows(ABC, 3);
    cr_expect_not(judge("99:120:99"));
    cr_expect(judge("100:120:"));
}

Test(window, has_no_horizon_before_one_is_set)
{
    window_begin(w);
    cr_expect_not(window_has_horizon(w));
    add_rows(ABC, 3);
    cr_expect_not(judge("1000:1000:"));
}

Test(window, passes_over_a_horizon_that_was_asked_for_before_the_notes_began)
{
    uint64_t asked = window_generation(w);

    window_begin(w);
    window_set_horizon(w, asked, 200);
    cr_expect_not(window_has_horizon(w));
    window_set_horizon(w, window_generation(w), 201);
    cr_expect(window_has_horizon(w));
}

Test(window, begins_anew_when_there_is_too_much_to_note)
{
    uint64_t generation = window_generation(w);

    for (int i = 0; i <= 1 << 20; i++) {
        window_note(w, 110, TABLE, key("a"), true);
    }
    cr_expect_not(window_has_horizon(w));
    cr_expect_neq(window_generation(w), generation);
    cr_expect_eq(window_note_count(w), 0);
    window_note(w, 110, TABLE, key("a"), true);
    cr_expect_eq(window_note_count(w), 1);
}

Test(window, notes_nothing_after_its_end)
{
    window_end(w);
    window_note(w, 110, TABLE, key("a"), true);
    cr_expect_eq(window_note_count(w), 0);
    cr_expect_not(window_has_horizon(w));
}
