#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/limits.h"
#include "config/config.h"
#include "router/heartbeat.h"
#include "router/schemas.h"

TestSuite(heartbeat);

static struct config config = {
    .topic_prefix = "shop", .topic_delimiter = "_", .topic_heartbeat_prefix = "beat"};

static bool topic_is(const char *expected)
{
    struct wr_buffer topic;

    heartbeat_topic(&config, &topic);
    bool is_it = wr_slice_is(wr_buffer_slice(&topic), expected);
    wr_buffer_done(&topic);
    return is_it;
}

Test(heartbeat, has_a_topic_behind_its_prefix_or_of_its_own_name)
{
    cr_expect(topic_is("beat_shop"));
    config.topic_heartbeat_name = "";
    cr_expect(topic_is("beat_shop"));
    config.topic_heartbeat_name = "mine";
    cr_expect(topic_is("mine"));
}

Test(heartbeat, says_who_and_when)
{
    struct schemas schemas;
    struct wr_arena *scratch = wr_arena_new(WR_MESSAGE_ARENA_SIZE_MAX);
    const struct connector_info connector = {.name = WR_SLICE("shop")};
    const struct change_source source = {.connector = &connector, .now_ns = 1234567890};
    struct record record;
    struct wr_error err;

    schemas_init(&schemas, &config);
    cr_assert_eq(heartbeat_record(&schemas, WR_SLICE("t"), &source, scratch, &record, &err), WR_OK);
    cr_expect(wr_slice_is(record.topic, "t"));
    cr_expect_eq(record.partition, 0);
    cr_expect_eq(record.header_count, 0);
    cr_expect_null(record.change);
    const struct datum_field *key = record.key.as.datum.as.structure.fields;
    const struct datum_field *value = record.value.as.datum.as.structure.fields;
    cr_expect(wr_slice_is(key->name, "serverName"));
    cr_expect(wr_slice_is(key->value.as.bytes, "shop"));
    cr_expect(wr_slice_is(value->name, "ts_ms"));
    cr_expect_eq(value->value.as.integer, 1234);
    schemas_done(&schemas);
    wr_arena_free(scratch);
}

Test(heartbeat, fails_where_there_is_no_room)
{
    struct schemas schemas;
    struct wr_arena *scratch = wr_arena_new(1);
    const struct connector_info connector = {.name = WR_SLICE("shop")};
    const struct change_source source = {.connector = &connector};
    struct record record;
    struct wr_error err;

    schemas_init(&schemas, &config);
    cr_expect_eq(heartbeat_record(&schemas, WR_SLICE("t"), &source, scratch, &record, &err),
                 WR_FATAL);
    schemas_done(&schemas);
    wr_arena_free(scratch);
}
