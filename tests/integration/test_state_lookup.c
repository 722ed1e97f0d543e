/* What is known again after a crash: keys of a state topic, asked of a real Kafka. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "config/config.h"
#include "publisher/publisher.h"
#include "publisher/state_lookup.h"
#include "support/services.h"

enum { ANSWER_TIMEOUT_MS = 30000, LARGE_SIZE = 300000 };

static struct wr_error err;
static struct config_pair pairs[1];
static struct config config = {.kafka = {.items = pairs, .count = 1}};
static struct publisher *publisher;
static char topic[64];
static struct state_lookup *lookup;

static void ignore_acknowledged(void *context, uint64_t ticket)
{
    (void)context;
    (void)ticket;
}

static void fail(void *context, uint64_t ticket, const struct publisher_failure *failure)
{
    (void)context;
    (void)ticket;
    cr_assert(false, "%s", failure->reason);
}

static void set_up(void)
{
    const struct publisher_events events = {NULL, ignore_acknowledged, fail};

    pairs[0] = (struct config_pair){"bootstrap.servers", services_or_skip()->bootstrap};
    cr_assert_eq(publisher_kafka_open(&config, &events, &publisher, &err), WR_OK, "%s", err.text);
    snprintf(topic, sizeof(topic), "state_lookup_%" PRIx64, (uint64_t)wr_clock_realtime_ns());
}

static void tear_down(void)
{
    state_lookup_free(lookup);
    publisher_close(publisher);
}

TestSuite(state_lookup, .init = set_up, .fini = tear_down, .timeout = 120);

/* NULL is Kafka's null. */
static void write(const char *key, const char *value, size_t size)
{
    struct publisher_record record = {
        .topic = wr_slice_str(topic),
        .partition = 0,
        .timestamp_ms = -1,
        .key = wr_slice_str(key),
        .value = {value, size},
        .value_is_null = value == NULL,
    };

    cr_assert_eq(publisher_produce(publisher, &record, &err), WR_OK, "%s", err.text);
    cr_assert_eq(publisher_flush(publisher, ANSWER_TIMEOUT_MS, &err), WR_OK, "%s", err.text);
}

static struct wr_slice look_up(const char *key)
{
    struct wr_slice value = {0};

    state_lookup_free(lookup);
    lookup = state_lookup_start(&config, topic, key);
    cr_assert(state_lookup_wait(lookup, ANSWER_TIMEOUT_MS));
    cr_assert_eq(state_lookup_result(lookup, &value, &err), WR_OK, "%s", err.text);
    return value;
}

Test(state_lookup, of_each_key_the_last_value_counts)
{
    cr_expect_null(look_up("a").data, "a topic that is not there yet");
    write("a", "one", 3);
    write("b", "other", 5);
    write("a", "two", 3);
    cr_expect(wr_slice_is(look_up("a"), "two"));
    cr_expect(wr_slice_is(look_up("b"), "other"));
    cr_expect_null(look_up("c").data);
    write("a", NULL, 0);
    cr_expect_null(look_up("a").data);
    write("a", "", 0);
    struct wr_slice empty = look_up("a");
    cr_expect_not_null(empty.data);
    cr_expect_eq(empty.size, 0);
}

/* An incremental snapshot of many tables notes as much. */
Test(state_lookup, a_large_value_comes_whole)
{
    char *large = malloc(LARGE_SIZE);

    cr_assert_not_null(large);
    for (size_t i = 0; i < LARGE_SIZE; i++) {
        large[i] = (char)('a' + i % 23);
    }
    write("a", large, LARGE_SIZE);
    struct wr_slice value = look_up("a");
    cr_assert_eq(value.size, LARGE_SIZE);
    cr_expect_eq(memcmp(value.data, large, LARGE_SIZE), 0);
    free(large);
}
