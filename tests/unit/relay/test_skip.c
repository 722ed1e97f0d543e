#include <string.h>

#include <criterion/criterion.h>

#include "relay/skip.h"

static struct wr_error err;

static bool covers_change(struct skip *skip)
{
    skip->change_count++;
    return skip_covers(skip);
}

Test(skip, skips_nothing_by_itself)
{
    struct skip skip = {0};

    cr_assert_eq(skip_begin(&skip, 100, &err), WR_OK);
    cr_expect_not(skip_covers(&skip));
    cr_expect_not(covers_change(&skip));
}

Test(skip, skips_what_begins_its_commit_before_the_end)
{
    struct skip skip = {.end_lsn = 200};

    cr_assert_eq(skip_begin(&skip, 199, &err), WR_OK);
    cr_expect(skip_covers(&skip));
    cr_expect(covers_change(&skip));
    cr_assert_eq(skip_commit(&skip, &err), WR_OK);
    cr_expect(skip_covers(&skip), "what its end makes is in Kafka, too");
    cr_assert_eq(skip_begin(&skip, 200, &err), WR_OK);
    cr_expect_not(covers_change(&skip));
    skip_message(&skip, 199);
    cr_expect(covers_change(&skip));
    skip_message(&skip, 200);
    cr_expect_not(covers_change(&skip));
}

Test(skip, skips_the_changes_of_a_part_and_no_more)
{
    struct skip skip = {.end_lsn = 200, .partial_lsn = 300, .partial_count = 2};

    cr_assert_eq(skip_begin(&skip, 300, &err), WR_OK);
    cr_expect(skip_covers(&skip), "its begin is in Kafka");
    cr_expect(covers_change(&skip));
    cr_expect(covers_change(&skip));
    cr_expect_not(covers_change(&skip));
    cr_assert_eq(skip_commit(&skip, &err), WR_OK);
    cr_expect_not(skip_covers(&skip), "its end is not");
    cr_assert_eq(skip_begin(&skip, 400, &err), WR_OK);
    cr_expect_not(covers_change(&skip));
}

Test(skip, skips_no_more_where_the_part_was_all_but_the_end)
{
    struct skip skip = {.end_lsn = 200, .partial_lsn = 300, .partial_count = 1};

    cr_assert_eq(skip_begin(&skip, 300, &err), WR_OK);
    cr_expect(covers_change(&skip));
    cr_assert_eq(skip_commit(&skip, &err), WR_OK);
    cr_expect_not(skip_covers(&skip));
}

Test(skip, refuses_another_transaction_than_the_one_in_parts)
{
    struct skip skip = {.end_lsn = 200, .partial_lsn = 300, .partial_count = 2};

    cr_assert_eq(skip_begin(&skip, 150, &err), WR_OK);
    cr_assert_eq(skip_begin(&skip, 301, &err), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "instead"), "%s", err.text);
}

Test(skip, refuses_a_part_that_has_become_shorter)
{
    struct skip skip = {.end_lsn = 200, .partial_lsn = 300, .partial_count = 2};

    cr_assert_eq(skip_begin(&skip, 300, &err), WR_OK);
    cr_expect(covers_change(&skip));
    cr_assert_eq(skip_commit(&skip, &err), WR_FATAL);
}
