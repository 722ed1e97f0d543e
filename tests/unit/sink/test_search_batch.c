#include <stdio.h>

#include <criterion/criterion.h>

#include "sink/search_batch.h"
#include "sink/search_index.h"
#include "sink/sink.h"

static struct search_batch batch;
static struct search_index shows, venues;
static size_t number;

static void set_up(void)
{
    search_batch_init(&batch);
}

static void tear_down(void)
{
    search_batch_done(&batch);
}

TestSuite(search_batch, .init = set_up, .fini = tear_down);

static struct wr_slice slice_or_none(const char *text)
{
    return text == NULL ? (struct wr_slice){NULL, 0} : wr_slice_str(text);
}

static const char *add(const char *key, const char *value, uint64_t lsn, const char *left_out,
                       const char *moved_from)
{
    const struct sink_record record = {
        .key = slice_or_none(key),
        .key_is_null = key == NULL,
        .value = slice_or_none(value),
        .value_is_null = value == NULL,
        .lsn = lsn,
        .left_out = slice_or_none(left_out),
        .moved_from = slice_or_none(moved_from),
    };

    return search_batch_add(&batch, &shows, number++, &record);
}

static const struct search_action *action(const char *id)
{
    const struct search_action *found = search_batch_find(&batch, &shows, wr_slice_str(id));

    cr_assert_not_null(found, "%s", id);
    return found;
}

#define expect_document(id, expected)                                                              \
    cr_expect(wr_slice_is(action(id)->document, (expected)), "%.*s",                               \
              (int)action(id)->document.size, action(id)->document.data)

Test(search_batch, keeps_the_last_change_of_a_document)
{
    cr_expect_null(add("1", "{\"a\":1}", 5, NULL, NULL));
    cr_expect_null(add("2", "{\"a\":2}", 5, NULL, NULL));
    cr_expect_null(add("1", "{\"a\":3}", 6, NULL, NULL));
    cr_expect_null(add("2", NULL, 7, NULL, NULL));
    cr_expect_eq(batch.count, 2);
    expect_document("1", "{\"a\":3}");
    cr_expect_eq(action("1")->version, 6);
    cr_expect_eq(action("1")->record, 2);
    cr_expect(action("2")->is_delete);
    cr_expect_null(search_batch_find(&batch, &venues, WR_SLICE("1")), "another index");
}

Test(search_batch, finds_each_of_many)
{
    static char ids[2500][8]; /* keys are borrowed */

    for (int i = 0; i < 5000; i++) {
        snprintf(ids[i % 2500], sizeof(ids[0]), "%d", i % 2500);
        cr_assert_null(add(ids[i % 2500], i < 2500 ? "{}" : NULL, 1, NULL, NULL));
    }
    cr_expect_eq(batch.count, 2500);
    cr_expect(action("0")->is_delete);
    cr_expect_eq(action("2499")->record, 4999);
    search_batch_reset(&batch);
    cr_expect_null(search_batch_find(&batch, &shows, WR_SLICE("0")));
}

Test(search_batch, fills_what_was_left_out_from_what_came_before)
{
    add("1", " { \"a\" : 1, \"big\" : \"B}\" , \"t\":null } ", 5, NULL, NULL);
    add("1", "{\"a\":2}", 6, "[\"big\",\"t\"]", NULL);
    expect_document("1", "{\"a\":2,\"big\":\"B}\",\"t\":null}");
    cr_expect_eq(action("1")->missing_count, 0);
    add("1", "{\"a\":3,\"t\":1}", 7, "[\"big\"]", NULL);
    expect_document("1", "{\"a\":3,\"t\":1,\"big\":\"B}\"}");
    add("1", "{}", 8, "[\"big\"]", NULL);
    expect_document("1", "{\"big\":\"B}\"}");
}

Test(search_batch, knows_what_only_the_index_has)
{
    add("1", "{\"a\":2}", 6, "[\"big\",\"t\"]", NULL);
    add("1", "{\"a\":3,\"t\":1}", 7, "[\"big\"]", NULL);
    cr_expect_eq(action("1")->missing_count, 1);
    cr_expect(wr_slice_is(action("1")->missing[0], "\"big\""));
    struct search_action *found = search_batch_find(&batch, &shows, WR_SLICE("1"));
    search_action_fill(&batch, found, WR_SLICE("{\"a\":0,\"big\":[1],\"t\":0}"));
    expect_document("1", "{\"a\":3,\"t\":1,\"big\":[1]}");
}

Test(search_batch, a_row_that_was_deleted_in_between_is_another_one)
{
    add("1", "{\"big\":\"of the first\"}", 5, NULL, NULL);
    add("1", NULL, 6, NULL, NULL);
    add("1", "{\"a\":1}", 7, "[\"big\"]", "9");
    cr_expect_eq(action("1")->missing_count, 1);
    cr_expect(wr_slice_is(action("1")->moved_from, "9"));
}

Test(search_batch, a_row_takes_its_values_along_to_another_key)
{
    add("1", "{\"id\":1,\"big\":\"B\"}", 5, NULL, NULL);
    add("1", NULL, 6, NULL, NULL);
    add("2", "{\"id\":2}", 6, "[\"big\"]", "1");
    expect_document("2", "{\"id\":2,\"big\":\"B\"}");
    add("2", NULL, 7, NULL, NULL);
    add("3", "{\"id\":3}", 7, "[\"big\"]", "2");
    add("3", "{\"id\":3,\"a\":1}", 8, "[\"big\"]", NULL);
    expect_document("3", "{\"id\":3,\"a\":1,\"big\":\"B\"}");
    add("5", "{\"id\":5}", 9, "[\"big\"]", "4");
    add("5", "{\"id\":5,\"a\":1}", 9, "[\"big\"]", NULL);
    cr_expect(wr_slice_is(action("5")->moved_from, "4"), "the index has it under the old key");
}

Test(search_batch, a_row_that_moves_twice_is_in_the_index_under_its_first_key)
{
    add("1", NULL, 6, NULL, NULL);
    add("2", "{\"id\":2}", 6, "[\"big\"]", "1");
    add("2", "{\"id\":2,\"a\":1}", 7, "[\"big\"]", NULL);
    add("2", NULL, 8, NULL, NULL);
    add("3", "{\"id\":3}", 8, "[\"big\"]", "2");
    add("3", NULL, 9, NULL, NULL);
    add("4", "{\"id\":4}", 9, "[\"big\"]", "3");
    cr_expect(wr_slice_is(action("4")->moved_from, "1"));
    cr_expect_eq(action("4")->missing_count, 1);
}

Test(search_batch, refuses_what_is_no_document)
{
    static char id[514];

    memset(id, 'x', 513);
    cr_expect_not_null(add(NULL, "{}", 1, NULL, NULL));
    cr_expect_not_null(add("", "{}", 1, NULL, NULL));
    cr_expect_not_null(add(id, "{}", 1, NULL, NULL));
    cr_expect_not_null(add("1", "[]", 1, NULL, NULL));
    cr_expect_not_null(add("1", "{", 1, NULL, NULL));
    cr_expect_not_null(add("1", "{} {}", 1, NULL, NULL));
    id[512] = '\0';
    cr_expect_null(add(id, "{}", 1, NULL, NULL));
    cr_expect_eq(batch.count, 1);
}
