#include <criterion/criterion.h>

#include "router/record.h"

static struct wr_error err;

static void add(struct record *record, const char *name, int64_t value)
{
    struct record_part part = {.kind = PART_DATUM,
                               .as.datum = {.kind = DATUM_INT, .as.integer = value}};

    cr_assert_eq(record_header_add(record, name, &part, &err), WR_OK);
}

static int64_t value_at(const struct record *record, size_t index)
{
    return record->headers[index].value.as.datum.as.integer;
}

Test(record, has_headers_of_one_name_and_finds_the_last)
{
    struct record record = {.header_count = 0};

    add(&record, "a", 1);
    add(&record, "b", 2);
    add(&record, "a", 3);
    cr_expect_eq(record.header_count, 3);
    cr_expect_eq(record_header_find(&record, "a"), &record.headers[2]);
    cr_expect_null(record_header_find(&record, "c"));
}

Test(record, drops_all_headers_of_a_name)
{
    struct record record = {.header_count = 0};

    add(&record, "a", 1);
    add(&record, "b", 2);
    add(&record, "a", 3);
    record_header_drop(&record, "a");
    cr_assert_eq(record.header_count, 1);
    cr_expect_eq(value_at(&record, 0), 2);
}

Test(record, replaces_headers_by_one_behind_the_others)
{
    struct record_part part = {.kind = PART_DATUM,
                               .as.datum = {.kind = DATUM_INT, .as.integer = 4}};
    struct record record = {.header_count = 0};

    add(&record, "a", 1);
    add(&record, "b", 2);
    cr_assert_eq(record_header_replace(&record, "a", &part, &err), WR_OK);
    cr_assert_eq(record.header_count, 2);
    cr_expect_eq(value_at(&record, 0), 2);
    cr_expect_eq(value_at(&record, 1), 4);
}

Test(record, refuses_more_headers_than_it_holds)
{
    struct record_part part = {.kind = PART_NULL};
    struct record record = {.header_count = 0};

    for (int i = 0; i < RECORD_HEADERS_MAX; i++) {
        add(&record, "a", i);
    }
    cr_expect_eq(record_header_add(&record, "a", &part, &err), WR_REJECT);
    cr_expect_eq(record_header_replace(&record, "a", &part, &err), WR_OK);
    cr_expect_eq(record.header_count, 1);
}

Test(record, is_a_tombstone_without_a_value)
{
    const struct record null = {.value.kind = PART_NULL};
    const struct record typed = {.value = {.kind = PART_DATUM, .as.datum = {.kind = DATUM_NULL}}};
    const struct record row = {.value.kind = PART_ROW};

    cr_expect(record_is_tombstone(&null));
    cr_expect(record_is_tombstone(&typed));
    cr_expect_not(record_is_tombstone(&row));
}
