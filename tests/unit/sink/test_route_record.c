#include <criterion/criterion.h>

#include "sink/route_record.h"
#include "sink/sink.h"

TestSuite(route_record);

static const char *header(struct sink_record *record, const char *name, const char *value)
{
    return route_record_header(record, name, wr_slice_str(value));
}

Test(route_record, is_made_of_its_headers)
{
    struct sink_record record = {.value_is_null = false};

    cr_expect_null(header(&record, "walrelay.lsn", "9223372036854775807"));
    cr_expect_null(header(&record, "walrelay.seq", "3"));
    cr_expect_null(header(&record, "walrelay.op", "u"));
    cr_expect_null(header(&record, "walrelay.table", "public.shows"));
    cr_expect_null(header(&record, "walrelay.commit", "1700000000000000"));
    cr_expect_null(header(&record, "walrelay.types", "{}"));
    cr_expect_null(header(&record, "walrelay.unavailable", "[\"a\"]"));
    cr_expect_null(header(&record, "walrelay.moved.from", "7"));
    cr_expect_null(header(&record, "walrelay.of.the.future", "?"));
    cr_expect_null(route_record_check(&record));
    cr_expect_eq(record.lsn, INT64_MAX);
    cr_expect_eq(record.seq, 3);
    cr_expect_eq(record.op, 'u');
    cr_expect_eq(record.commit_us, 1700000000000000);
    cr_expect(wr_slice_is(record.table, "public.shows"));
    cr_expect(wr_slice_is(record.types, "{}"));
    cr_expect(wr_slice_is(record.left_out, "[\"a\"]"));
    cr_expect(wr_slice_is(record.moved_from, "7"));
}

Test(route_record, with_a_wrong_header_is_none)
{
    static const char *const headers[][2] = {
        {"walrelay.lsn", ""},   {"walrelay.lsn", "-1"}, {"walrelay.lsn", "9223372036854775808"},
        {"walrelay.lsn", "1 "}, {"walrelay.seq", "x"},  {"walrelay.op", "x"},
        {"walrelay.op", "cu"},  {"walrelay.op", ""},    {"walrelay.lsn", "99999999999999999999"},
    };

    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        struct sink_record record = {.value_is_null = false};
        cr_expect_not_null(header(&record, headers[i][0], headers[i][1]), "%s=%s", headers[i][0],
                           headers[i][1]);
    }
}

Test(route_record, without_its_headers_is_none)
{
    struct sink_record record = {.value_is_null = true};

    cr_expect(route_record_is_foreign_tombstone(&record));
    cr_expect_not_null(route_record_check(&record));
    record.lsn = 1;
    cr_expect_not(route_record_is_foreign_tombstone(&record));
    cr_expect_not_null(route_record_check(&record));
    record.op = 'd';
    cr_expect_not_null(route_record_check(&record));
    record.table = WR_SLICE("t");
    cr_expect_null(route_record_check(&record));
}
