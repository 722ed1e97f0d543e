#include <poll.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/log.h"
#include "config/config.h"
#include "publisher/publisher.h"

/* What kafka.c does without any broker; tests/integration has the rest. */

static struct wr_error err;
static struct publisher *publisher;
static size_t callback_count;

static void on_acknowledged(void *context, uint64_t ticket)
{
    (void)context;
    (void)ticket;
    callback_count++;
}

static void on_failed(void *context, uint64_t ticket, const struct publisher_failure *failure)
{
    (void)context;
    (void)ticket;
    (void)failure;
    callback_count++;
}

static void close_publisher(void)
{
    publisher_close(publisher);
}

TestSuite(kafka, .fini = close_publisher);

static enum wr_status open_with(struct config_pair *pairs, size_t count)
{
    const struct publisher_events events = {NULL, on_acknowledged, on_failed};
    struct config config = {.kafka = {.items = pairs, .count = count}};

    wr_log_level_set(WR_LOG_ERROR);
    return publisher_kafka_open(&config, &events, &publisher, &err);
}

/* Nothing listens on port 1. */
static void open_unreachable(const char *name, const char *value)
{
    struct config_pair pairs[] = {{"bootstrap.servers", "127.0.0.1:1"}, {name, value}};

    cr_assert_eq(open_with(pairs, 2), WR_OK, "%s", err.text);
}

static enum wr_status produce(const char *topic, size_t value_size)
{
    static char value[1 << 21];
    struct publisher_record record = {
        .topic = wr_slice_str(topic),
        .partition = -1,
        .timestamp_ms = -1,
        .key = WR_SLICE("key"),
        .value = {value, value_size},
    };

    return publisher_produce(publisher, &record, &err);
}

Test(kafka, refuses_a_setting_that_does_not_exist)
{
    struct config_pair pairs[] = {{"bootstrap.servers", "127.0.0.1:1"}, {"linger.mss", "1"}};

    cr_expect_eq(open_with(pairs, 2), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "linger.mss"), "%s", err.text);
    cr_expect_null(publisher);
}

Test(kafka, refuses_a_value_that_is_wrong)
{
    struct config_pair pairs[] = {{"bootstrap.servers", "127.0.0.1:1"}, {"linger.ms", "soon"}};

    cr_expect_eq(open_with(pairs, 2), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "linger.ms"), "%s", err.text);
}

Test(kafka, refuses_settings_that_contradict_each_other)
{
    struct config_pair pairs[] = {{"bootstrap.servers", "127.0.0.1:1"}, {"acks", "1"}};

    cr_expect_eq(open_with(pairs, 2), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "acks"), "%s", err.text);
}

Test(kafka, refuses_to_start_without_brokers)
{
    cr_expect_eq(open_with(NULL, 0), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "bootstrap.servers is not set"), "%s", err.text);
}

Test(kafka, opens_and_lets_records_wait_when_kafka_is_unreachable)
{
    open_unreachable("client.id", "test");
    cr_expect_eq(produce("orders", 10), WR_OK);
    cr_expect_eq(publisher_inflight_count(publisher), 1);
    cr_expect_eq(publisher_inflight_bytes(publisher), 13);
    cr_expect_eq(publisher_flush(publisher, 300, &err), WR_AGAIN);
    cr_expect_str_eq(err.text, "1 records not acknowledged within 300 ms");
    cr_expect_eq(publisher_inflight_count(publisher), 1);
    cr_expect_eq(callback_count, 0);
}

Test(kafka, calls_nobody_back_when_it_closes)
{
    open_unreachable("client.id", "test");
    for (int i = 0; i < 100; i++) {
        cr_expect_eq(produce("orders", 10), WR_OK);
    }
    publisher_close(publisher);
    publisher = NULL;
    cr_expect_eq(callback_count, 0);
}

Test(kafka, wakes_the_loop_through_its_descriptor)
{
    open_unreachable("message.timeout.ms", "300");
    struct pollfd fd = {.fd = publisher_fd(publisher), .events = POLLIN};
    cr_expect_eq(produce("orders", 1), WR_OK);
    while (callback_count == 0) {
        cr_assert_eq(poll(&fd, 1, 10000), 1, "no event for the record that failed");
        cr_assert_eq(publisher_poll(publisher, &err), WR_OK);
    }
    for (int i = 0; i < 10 && poll(&fd, 1, 0) == 1; i++) {
        cr_expect_eq(publisher_poll(publisher, &err), WR_OK);
    }
    cr_expect_eq(poll(&fd, 1, 0), 0);
    cr_expect_eq(publisher_inflight_count(publisher), 0);
}

Test(kafka, asks_to_come_again_when_its_queue_is_full)
{
    open_unreachable("queue.buffering.max.messages", "10");
    for (int i = 0; i < 10; i++) {
        cr_expect_eq(produce("orders", 1), WR_OK);
    }
    cr_expect_eq(produce("orders", 1), WR_AGAIN);
    cr_expect_eq(publisher_inflight_count(publisher), 10);
    cr_expect_eq(publisher_inflight_bytes(publisher), 40);
}

Test(kafka, bounds_the_bytes_that_wait)
{
    size_t count = 0;
    enum wr_status status = WR_OK;

    open_unreachable("queue.buffering.max.kbytes", "1100");
    while ((status = produce("orders", 100000)) == WR_OK) {
        count++;
    }
    cr_expect_eq(status, WR_AGAIN);
    cr_expect_eq(count, 11);
}

Test(kafka, rejects_a_record_that_is_too_large)
{
    open_unreachable("message.max.bytes", "100000");
    cr_expect_eq(produce("orders", 100001), WR_REJECT);
    cr_expect_not_null(strstr(err.text, "topic \"orders\", key key, 100004 bytes: "), "%s",
                       err.text);
    cr_expect_not_null(strstr(err.text, "max.message.bytes"), "%s", err.text);
    cr_expect_eq(publisher_inflight_count(publisher), 0);
}

Test(kafka, makes_room_for_the_largest_record_that_is_allowed)
{
    struct config_pair pairs[] = {{"bootstrap.servers", "127.0.0.1:1"},
                                  {"message.max.bytes", "2000000"},
                                  {"queue.buffering.max.kbytes", "100"}};

    cr_assert_eq(open_with(pairs, 3), WR_OK, "%s", err.text);
    cr_expect_eq(produce("orders", 1999000), WR_OK);
    cr_expect_eq(produce("orders", 1999000), WR_AGAIN);
}

Test(kafka, rejects_an_invalid_topic_name)
{
    open_unreachable("client.id", "test");
    cr_expect_eq(produce("or der", 1), WR_REJECT);
    cr_expect_str_eq(err.text, "topic \"or der\", key key, 4 bytes: invalid topic name");
}
