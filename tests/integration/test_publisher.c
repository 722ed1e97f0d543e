#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "publisher/publisher.h"
#include "support/process.h"
#include "support/services.h"

enum {
    TICKET_COUNT_MAX = 200000,
    KEY_COUNT = 64,
    ANSWER_TIMEOUT_MS = 30000,
    INFLIGHT_BYTES_MAX = 8 << 20, /* the producer's own bound, as these tests set it */
};

static struct wr_error err;
static struct publisher *publisher;
static unsigned char ack_counts[TICKET_COUNT_MAX];
static size_t acked_count;
static size_t failed_count;
static char failure_name[64];
static char failure_reason[512];
static char failure_topic[256];

static void on_acknowledged(void *context, uint64_t ticket)
{
    (void)context;
    cr_assert_lt(ticket, TICKET_COUNT_MAX);
    ack_counts[ticket]++;
    acked_count++;
}

static void on_failed(void *context, uint64_t ticket, const struct publisher_failure *failure)
{
    (void)context;
    (void)ticket;
    failed_count++;
    snprintf(failure_name, sizeof(failure_name), "%s", failure->name);
    snprintf(failure_reason, sizeof(failure_reason), "%s", failure->reason);
    snprintf(failure_topic, sizeof(failure_topic), "%.*s", (int)failure->topic.size,
             failure->topic.data);
}

static void open_publisher(const char *bootstrap)
{
    const struct publisher_events events = {NULL, on_acknowledged, on_failed};
    struct config_pair pairs[] = {
        {"bootstrap.servers", bootstrap},
        {"queue.buffering.max.kbytes", "8192"},
    };
    struct config config = {.kafka = {.items = pairs, .count = 2}};

    cr_assert_eq(publisher_kafka_open(&config, &events, &publisher, &err), WR_OK, "%s", err.text);
}

static void open_shared(void)
{
    open_publisher(services_or_skip()->bootstrap);
}

static void close_publisher(void)
{
    publisher_close(publisher);
}

TestSuite(publisher, .init = open_shared, .fini = close_publisher);

/* A name that no other run has used. */
static const char *fresh_topic(void)
{
    static char name[64];

    snprintf(name, sizeof(name), "publisher-%lld-%d", (long long)time(NULL), (int)getpid());
    return name;
}

/* Creates it, with one setting of the topic where `name` is not NULL. */
static void create_topic(const char *topic, int partition_count, const char *name,
                         const char *value)
{
    char text[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set(conf, "bootstrap.servers", services_or_skip()->bootstrap, NULL, 0);
    rd_kafka_t *admin = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    rd_kafka_NewTopic_t *wanted =
        rd_kafka_NewTopic_new(topic, partition_count, 1, text, sizeof(text));
    if (name != NULL) {
        rd_kafka_NewTopic_set_config(wanted, name, value);
    }
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin);
    rd_kafka_CreateTopics(admin, &wanted, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, ANSWER_TIMEOUT_MS);
    size_t count = 0;
    cr_assert_not_null(event);
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    cr_assert_eq(count, 1);
    cr_assert_eq(rd_kafka_topic_result_error(results[0]), RD_KAFKA_RESP_ERR_NO_ERROR, "%s",
                 rd_kafka_topic_result_error_string(results[0]));
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(wanted);
    rd_kafka_destroy(admin);
}

/* Reads a whole topic, partition by partition, and gives each message to `take`. */
static size_t read_topic(const char *bootstrap, const char *topic, int partition_count,
                         void (*take)(const rd_kafka_message_t *message))
{
    char text[512];
    size_t count = 0;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partition_count);

    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, NULL, 0);
    rd_kafka_conf_set(conf, "group.id", "test-publisher", NULL, 0);
    rd_kafka_conf_set(conf, "enable.auto.commit", "false", NULL, 0);
    rd_kafka_conf_set(conf, "enable.partition.eof", "true", NULL, 0);
    rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
    for (int i = 0; i < partition_count; i++) {
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_assign(consumer, list);
    for (int left = partition_count; left > 0;) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, ANSWER_TIMEOUT_MS);
        cr_assert_not_null(message, "%s was not read to its end", topic);
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            left--;
        } else {
            cr_assert_eq(message->err, RD_KAFKA_RESP_ERR_NO_ERROR, "%s",
                         rd_kafka_message_errstr(message));
            count++;
            take(message);
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    return count;
}

/* Kafka's Utils.murmur2(), in the integer arithmetic of Java. */
static uint32_t java_murmur2(const char *bytes, size_t size)
{
    const unsigned char *data = (const unsigned char *)bytes;
    const uint32_t m = 0x5bd1e995;
    uint32_t h = 0x9747b28c ^ (uint32_t)size;

    for (; size >= 4; size -= 4, data += 4) {
        uint32_t k =
            data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
        k *= m;
        k ^= k >> 24;
        k *= m;
        h = h * m ^ k;
    }
    for (size_t i = size; i > 0; i--) {
        h ^= (uint32_t)data[i - 1] << 8 * (i - 1);
    }
    if (size > 0) {
        h *= m;
    }
    h ^= h >> 13;
    h *= m;
    return h ^ h >> 15;
}

/* BuiltInPartitioner.partitionForKey(). */
static int32_t java_partition(const char *key, size_t size, int partition_count)
{
    return (int32_t)(java_murmur2(key, size) & 0x7fffffff) % partition_count;
}

/* Record `number`: its key is one of KEY_COUNT, its value the number and padding. */
static enum wr_status produce_number(const char *topic, uint64_t number)
{
    char key[32];
    char value[512];

    snprintf(key, sizeof(key), "key-%llu", (unsigned long long)(number % KEY_COUNT));
    int size = snprintf(value, sizeof(value), "%llu %0400d", (unsigned long long)number, 0);
    struct publisher_record record = {
        .topic = wr_slice_str(topic),
        .partition = -1,
        .timestamp_ms = -1,
        .key = wr_slice_str(key),
        .value = {value, (size_t)size},
        .ticket = number,
    };
    return publisher_produce(publisher, &record, &err);
}

static void poll_publisher(void)
{
    cr_assert_eq(publisher_poll(publisher, &err), WR_OK, "%s", err.text);
}

static void produce_numbers(const char *topic, uint64_t count)
{
    for (uint64_t number = 0; number < count;) {
        enum wr_status status = produce_number(topic, number);
        cr_assert(status == WR_OK || status == WR_AGAIN, "%s", err.text);
        number += status == WR_OK;
        if (status == WR_AGAIN || number % 500 == 0) {
            poll_publisher();
        }
    }
}

static void expect_each_acknowledged_once(uint64_t count)
{
    cr_expect_eq(acked_count, count);
    for (uint64_t i = 0; i < count; i++) {
        cr_assert_eq(ack_counts[i], 1, "record %llu has %d acknowledgements", (unsigned long long)i,
                     ack_counts[i]);
    }
    cr_expect_eq(failed_count, 0, "%s", failure_reason);
    cr_expect_eq(publisher_inflight_count(publisher), 0);
    cr_expect_eq(publisher_inflight_bytes(publisher), 0);
}

static int checked_partition_count;
static long long last_numbers[KEY_COUNT];

/* Each key in its own partition, as Java chooses it, and in the order of production. */
static void take_number(const rd_kafka_message_t *message)
{
    char value[32] = {0};
    char key[32];

    memcpy(value, message->payload, sizeof(value) - 1);
    long long number = strtoll(value, NULL, 10);
    snprintf(key, sizeof(key), "key-%lld", number % KEY_COUNT);
    cr_assert_eq(message->key_len, strlen(key));
    cr_assert_arr_eq(message->key, key, message->key_len);
    cr_assert_eq(message->partition,
                 java_partition(key, message->key_len, checked_partition_count));
    long long *last = &last_numbers[number % KEY_COUNT];
    cr_assert_eq(number, *last == 0 ? number % KEY_COUNT : *last - 1 + KEY_COUNT,
                 "%lld follows %lld", number, *last - 1);
    *last = number + 1;
}

static void expect_numbers_in_kafka(const char *bootstrap, const char *topic, int partition_count,
                                    uint64_t count)
{
    checked_partition_count = partition_count;
    cr_expect_eq(read_topic(bootstrap, topic, partition_count, take_number), count);
}

Test(publisher, publishes_each_key_in_order_where_java_would)
{
    const char *topic = fresh_topic();

    create_topic(topic, 7, NULL, NULL);
    produce_numbers(topic, 50000);
    cr_assert_eq(publisher_flush(publisher, 30000, &err), WR_OK, "%s", err.text);
    expect_each_acknowledged_once(50000);
    expect_numbers_in_kafka(services_or_skip()->bootstrap, topic, 7, 50000);
}

static void take_details(const rd_kafka_message_t *message)
{
    rd_kafka_headers_t *headers = NULL;
    rd_kafka_timestamp_type_t type;
    const void *value = NULL;
    size_t size = 0;

    if (message->offset == 0) {
        cr_expect_eq(rd_kafka_message_timestamp(message, &type), 1234567890123);
        cr_expect_eq(message->key_len, 0);
        cr_expect_not_null(message->key);
        cr_expect_eq(message->len, 0);
        cr_expect_not_null(message->payload);
        cr_assert_eq(rd_kafka_message_headers(message, &headers), RD_KAFKA_RESP_ERR_NO_ERROR);
        cr_expect_eq(rd_kafka_header_cnt(headers), 3);
        cr_expect_eq(rd_kafka_header_get_last(headers, "id", &value, &size), 0);
        cr_expect(size == 3 && memcmp(value, "a\0b", 3) == 0);
        cr_expect_eq(rd_kafka_header_get_last(headers, "none", &value, &size), 0);
        cr_expect_null(value);
        cr_expect_eq(rd_kafka_header_get_last(headers, "empty", &value, &size), 0);
        cr_expect(value != NULL && size == 0);
    } else {
        cr_expect_gt(rd_kafka_message_timestamp(message, &type), 1600000000000);
        cr_expect_null(message->key);
        cr_expect_null(message->payload);
        cr_expect_neq(rd_kafka_message_headers(message, &headers), RD_KAFKA_RESP_ERR_NO_ERROR);
    }
}

Test(publisher, tells_null_from_empty_and_keeps_headers_and_time)
{
    const char *topic = fresh_topic();
    const struct publisher_header headers[] = {
        {.name = "id", .value = WR_SLICE("a\0b")},
        {.name = "none", .is_null = true},
        {.name = "empty", .is_null = false},
    };
    struct publisher_record record = {
        .topic = wr_slice_str(topic),
        .partition = 0,
        .timestamp_ms = 1234567890123,
        .headers = headers,
        .header_count = 3,
    };

    create_topic(topic, 1, NULL, NULL);
    cr_assert_eq(publisher_produce(publisher, &record, &err), WR_OK);
    record = (struct publisher_record){
        .topic = wr_slice_str(topic),
        .timestamp_ms = -1,
        .key_is_null = true,
        .value_is_null = true,
    };
    cr_assert_eq(publisher_produce(publisher, &record, &err), WR_OK);
    cr_assert_eq(publisher_flush(publisher, 30000, &err), WR_OK, "%s", err.text);
    cr_expect_eq(read_topic(services_or_skip()->bootstrap, topic, 1, take_details), 2);
}

Test(publisher, wakes_the_loop_when_kafka_has_acknowledged)
{
    struct pollfd fd = {.fd = publisher_fd(publisher), .events = POLLIN};

    create_topic(fresh_topic(), 1, NULL, NULL);
    for (uint64_t round = 0; round < 200; round++) {
        cr_assert_eq(produce_number(fresh_topic(), round), WR_OK, "%s", err.text);
        for (int flushes = 1; acked_count <= round; flushes++) {
            cr_assert_leq(flushes, 200, "no event in round %llu", (unsigned long long)round);
            cr_assert_neq(publisher_flush(publisher, 1, &err), WR_FATAL, "%s", err.text);
            if (acked_count <= round && poll(&fd, 1, 50) == 1) {
                poll_publisher();
            }
        }
    }
    for (int i = 0; i < 10 && poll(&fd, 1, 0) == 1; i++) {
        poll_publisher(); /* one event more than needed is allowed, endless ones are not */
    }
    cr_expect_eq(poll(&fd, 1, 0), 0);
}

Test(publisher, names_what_the_broker_found_too_large)
{
    char value[5000];
    const char *topic = fresh_topic();
    struct publisher_record record = {
        .topic = wr_slice_str(topic),
        .key = WR_SLICE("k"),
        .value = {value, sizeof(value)},
        .timestamp_ms = -1,
    };

    uint32_t state = 1; /* the seed of bytes that lz4 cannot make smaller */
    for (size_t i = 0; i < sizeof(value); i++) {
        state = state * 1664525 + 1013904223;
        value[i] = (char)(state >> 24);
    }
    create_topic(topic, 1, "max.message.bytes", "1000");
    cr_assert_eq(publisher_produce(publisher, &record, &err), WR_OK);
    cr_assert_eq(publisher_flush(publisher, 30000, &err), WR_OK, "%s", err.text);
    cr_expect_eq(failed_count, 1);
    cr_expect_eq(acked_count, 0);
    cr_expect_str_eq(failure_name, "MSG_SIZE_TOO_LARGE");
    cr_expect_str_eq(failure_topic, topic);
    cr_expect_not_null(strstr(failure_reason, "max.message.bytes"), "%s", failure_reason);
    /* The next one goes on. */
    cr_assert_eq(produce_number(topic, 1), WR_OK, "%s", err.text);
    cr_assert_eq(publisher_flush(publisher, 30000, &err), WR_OK, "%s", err.text);
    cr_expect_eq(acked_count, 1);
}

Test(publisher, refuses_a_partition_that_the_topic_does_not_have)
{
    const char *topic = fresh_topic();
    struct publisher_record record = {
        .topic = wr_slice_str(topic), .partition = 5, .timestamp_ms = -1};

    create_topic(topic, 1, NULL, NULL);
    enum wr_status status = publisher_produce(publisher, &record, &err);
    if (status == WR_OK) { /* the topic's size was not known yet */
        cr_assert_eq(publisher_flush(publisher, 30000, &err), WR_OK, "%s", err.text);
        cr_expect_eq(failed_count, 1);
        cr_expect_not_null(strstr(failure_reason, "fewer partitions"), "%s", failure_reason);
    }
    cr_expect_eq(publisher_produce(publisher, &record, &err), WR_REJECT);
    cr_expect_not_null(strstr(err.text, "fewer partitions"), "%s", err.text);
}

/* A broker that belongs to one test alone, so that it can be stopped. */

static char broker_directory[] = "/tmp/walrelay-publisher.XXXXXX";
static char broker_port[16];
static char broker_bootstrap[32];

static bool port_is_free(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    bool is_free = bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return is_free;
}

static int run_kafka(const char *command, const char *third, const char *fourth)
{
    char log[64];
    char script[4096];

    snprintf(script, sizeof(script), "%s", services_source_path("tests/support/kafka"));
    snprintf(log, sizeof(log), "%s.log", broker_directory);
    const char *const arguments[] = {script, command, broker_directory, third, fourth, NULL};
    int code = process_run(arguments, log);
    if (code != 0) {
        process_print_log(log);
    }
    return code;
}

static void start_broker(const char *setting)
{
    cr_assert_eq(run_kafka("start", broker_port, setting), 0);
}

/* As a crash does; returns when the ports are free for the next one. */
static void kill_broker(void)
{
    int port = (int)strtol(broker_port, NULL, 10);
    int64_t end_us = wr_clock_monotonic_us() + 10000000;

    cr_assert_eq(run_kafka("stop", "KILL", NULL), 0);
    while (!port_is_free(port) || !port_is_free(port + 1)) {
        cr_assert_lt(wr_clock_monotonic_us(), end_us, "the broker does not die");
        sleep_ms(50);
    }
}

static void open_own_broker(void)
{
    int port = 20000 + (int)getpid() % 4000 * 2;

    services_or_skip();
    cr_assert_not_null(mkdtemp(broker_directory));
    while (!port_is_free(port) || !port_is_free(port + 1)) {
        port += 2;
    }
    snprintf(broker_port, sizeof(broker_port), "%d", port);
    snprintf(broker_bootstrap, sizeof(broker_bootstrap), "127.0.0.1:%d", port);
    start_broker("auto.create.topics.enable=false");
    open_publisher(broker_bootstrap);
}

static void close_own_broker(void)
{
    char log[64];

    publisher_close(publisher);
    if (broker_port[0] != '\0') {
        (void)run_kafka("stop", "KILL", NULL);
        const char *const arguments[] = {"rm", "-rf", broker_directory, NULL};
        (void)process_run(arguments, NULL);
        snprintf(log, sizeof(log), "%s.log", broker_directory);
        (void)unlink(log);
    }
}

TestSuite(publisher_alone, .init = open_own_broker, .fini = close_own_broker);

Test(publisher_alone, fails_a_record_whose_topic_nobody_creates)
{
    cr_assert_eq(produce_number("nobody-made-me", 1), WR_OK, "%s", err.text);
    cr_assert_eq(publisher_flush(publisher, 30000, &err), WR_OK, "%s", err.text);
    cr_expect_eq(failed_count, 1);
    cr_expect_str_eq(failure_topic, "nobody-made-me");
    cr_expect_not_null(strstr(failure_reason, "auto.create.topics.enable=true"), "%s",
                       failure_reason);
    cr_expect_eq(produce_number("nobody-made-me", 2), WR_REJECT);
    cr_expect_not_null(strstr(err.text, "auto.create.topics.enable=true"), "%s", err.text);
}

/* Produces until the queue has been full for a second. Returns how many records went in. */
static uint64_t produce_until_full(const char *topic, uint64_t number)
{
    int64_t full_until_us = 0;

    while (full_until_us == 0 || wr_clock_monotonic_us() < full_until_us) {
        enum wr_status status = produce_number(topic, number);
        cr_assert(status == WR_OK || status == WR_AGAIN, "%s", err.text);
        cr_assert_leq(publisher_inflight_bytes(publisher), INFLIGHT_BYTES_MAX);
        if (status == WR_OK) {
            number++;
            continue;
        }
        full_until_us = full_until_us == 0 ? wr_clock_monotonic_us() + 1000000 : full_until_us;
        poll_publisher();
        sleep_ms(10);
    }
    return number;
}

Test(publisher_alone, loses_nothing_when_the_broker_dies_under_load)
{
    const char *setting = "auto.create.topics.enable=true";
    const char *topic = "survivor";
    uint64_t number = 0;

    kill_broker();
    start_broker(setting);
    for (; acked_count < 10000; number++) {
        enum wr_status status = produce_number(topic, number);
        cr_assert(status == WR_OK || status == WR_AGAIN, "%s", err.text);
        number -= status == WR_AGAIN;
        poll_publisher();
    }
    kill_broker();
    number = produce_until_full(topic, number);
    cr_assert_lt(number, TICKET_COUNT_MAX);
    cr_expect_eq(publisher_flush(publisher, 100, &err), WR_AGAIN);
    cr_expect_eq(failed_count, 0, "%s", failure_reason);
    start_broker(setting);
    cr_assert_eq(publisher_flush(publisher, 60000, &err), WR_OK, "%s", err.text);
    expect_each_acknowledged_once(number);
    expect_numbers_in_kafka(broker_bootstrap, topic, 1, number);
}
