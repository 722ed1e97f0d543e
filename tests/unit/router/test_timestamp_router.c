#include "smt_fixture.h"

TestSuite(timestamp_router, .init = open_smt, .fini = close_smt);

static void of(const char *topic_format, const char *timestamp_format)
{
    smt.as.timestamp_router = (struct timestamp_router_config){topic_format, timestamp_format};
    record.timestamp_ms = 1767323045006;
}

static void expect_topic(const char *topic)
{
    cr_assert_eq(apply(&timestamp_router_ops), WR_OK, "%s", err.text);
    cr_expect(kept);
    cr_expect(wr_slice_is(record.topic, topic), "%.*s", (int)record.topic.size, record.topic.data);
}

Test(timestamp_router, puts_the_day_behind_the_topic)
{
    of("${topic}-${timestamp}", "yyyyMMdd");
    expect_topic("shop.public.orders-20260102");
}

Test(timestamp_router, takes_any_format)
{
    of("${timestamp}.${topic}.${timestamp}.$", "yyyy.MM");
    expect_topic("2026.01.shop.public.orders.2026.01.$");
}

Test(timestamp_router, refuses_a_record_without_a_timestamp)
{
    of("${topic}-${timestamp}", "yyyyMMdd");
    record.timestamp_ms = -1;
    EXPECT_REJECT(timestamp_router_ops,
                  "the record has no timestamp: only EventRouter gives it one");
}

Test(timestamp_router, refuses_a_name_that_is_no_topic)
{
    of("${topic}", "yyyy");
    record.topic = WR_SLICE("");
    cr_expect_eq(apply(&timestamp_router_ops), WR_REJECT);
    cr_expect_not_null(strstr(err.text, "its new name"), "%s", err.text);
}

Test(timestamp_router, refuses_a_pattern_that_cannot_work)
{
    of("${topic}", "Q");
    cr_expect_eq(make_transform(&timestamp_router_ops), WR_FATAL);
}
