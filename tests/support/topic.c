#include "support/topic.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/kafka.h"
#include "support/process.h"

enum { ANSWER_TIMEOUT_MS = 30000, ERROR_SIZE = 512 };

struct topic_counter {
    rd_kafka_t *client;
    char topic[256];
    int partition_count; /* 0: not there yet */
};

static rd_kafka_t *client_new(rd_kafka_type_t type, const char *bootstrap)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[ERROR_SIZE];

    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, NULL, 0);
    if (type == RD_KAFKA_CONSUMER) {
        rd_kafka_conf_set(conf, "group.id", "walrelay-tests", NULL, 0);
        rd_kafka_conf_set(conf, "enable.auto.commit", "false", NULL, 0);
        rd_kafka_conf_set(conf, "enable.partition.eof", "true", NULL, 0);
    }
    rd_kafka_t *client = rd_kafka_new(type, conf, text, sizeof(text));
    cr_assert_not_null(client, "%s", text);
    return client;
}

/* The answer to an admin request, which must be good. */
static void finish_request(rd_kafka_queue_t *queue, const char *what)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, ANSWER_TIMEOUT_MS);

    cr_assert_not_null(event, "%s: no answer", what);
    cr_assert_eq(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR, "%s: %s", what,
                 rd_kafka_event_error_string(event));
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
}

/* A new partition has no leader for a moment. */
static void wait_for_leader(rd_kafka_t *client, const char *topic, int32_t partition)
{
    int64_t end_us = wr_clock_monotonic_us() + ANSWER_TIMEOUT_MS * 1000;
    int64_t low = 0;
    int64_t high = 0;

    while (rd_kafka_query_watermark_offsets(client, topic, partition, &low, &high, 1000) !=
           RD_KAFKA_RESP_ERR_NO_ERROR) {
        cr_assert_lt(wr_clock_monotonic_us(), end_us, "%s gets no leader", topic);
        sleep_ms(20);
    }
}

void topic_create(const char *bootstrap, const char *topic, int partition_count,
                  const char *setting)
{
    rd_kafka_t *client = client_new(RD_KAFKA_PRODUCER, bootstrap);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    char text[ERROR_SIZE];
    rd_kafka_NewTopic_t *new = rd_kafka_NewTopic_new(topic, partition_count, 1, text, sizeof(text));

    cr_assert_not_null(new, "%s", text);
    if (setting != NULL) {
        snprintf(text, sizeof(text), "%s", setting);
        char *value = strchr(text, '=');
        *value++ = '\0';
        cr_assert_eq(rd_kafka_NewTopic_set_config(new, text, value), RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    rd_kafka_CreateTopics(client, &new, 1, NULL, queue);
    finish_request(queue, topic);
    for (int32_t i = 0; i < partition_count; i++) {
        wait_for_leader(client, topic, i);
    }
    rd_kafka_NewTopic_destroy(new);
    rd_kafka_destroy(client);
}

void topic_set(const char *bootstrap, const char *topic, const char *name, const char *value)
{
    rd_kafka_t *client = client_new(RD_KAFKA_PRODUCER, bootstrap);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);

    cr_assert_eq(rd_kafka_ConfigResource_set_config(resource, name, value),
                 RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_AlterConfigs(client, &resource, 1, NULL, queue);
    finish_request(queue, topic);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_destroy(client);
}

/* 0 where there is no such topic; asking for all topics makes none, unlike asking for one. */
static int count_partitions(rd_kafka_t *client, const char *topic)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(client, 1, NULL, &metadata, ANSWER_TIMEOUT_MS);
    int count = 0;

    cr_assert_eq(code, RD_KAFKA_RESP_ERR_NO_ERROR, "metadata: %s", rd_kafka_err2str(code));
    for (int i = 0; i < metadata->topic_cnt; i++) {
        if (strcmp(metadata->topics[i].topic, topic) == 0) {
            count = metadata->topics[i].partition_cnt;
        }
    }
    rd_kafka_metadata_destroy(metadata);
    return count;
}

void topic_delete(const char *bootstrap, const char *topic)
{
    rd_kafka_t *client = client_new(RD_KAFKA_PRODUCER, bootstrap);

    if (count_partitions(client, topic) > 0) {
        rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
        rd_kafka_DeleteTopic_t *old = rd_kafka_DeleteTopic_new(topic);
        rd_kafka_DeleteTopics(client, &old, 1, NULL, queue);
        finish_request(queue, topic);
        rd_kafka_DeleteTopic_destroy(old);
    }
    while (count_partitions(client, topic) > 0) {
        sleep_ms(20);
    }
    rd_kafka_destroy(client);
}

int64_t topic_read(const char *bootstrap, const char *topic,
                   void (*each)(void *context, const rd_kafka_message_t *message), void *context)
{
    rd_kafka_t *consumer = client_new(RD_KAFKA_CONSUMER, bootstrap);
    int left = count_partitions(consumer, topic);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(left);
    int64_t count = 0;

    for (int32_t i = 0; i < left; i++) {
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = 0;
    }
    rd_kafka_assign(consumer, list);
    while (left > 0) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, ANSWER_TIMEOUT_MS);

        cr_assert_not_null(message, "%s: %d partitions were not read to their end", topic, left);
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            left--;
        } else {
            cr_assert_eq(message->err, RD_KAFKA_RESP_ERR_NO_ERROR, "%s: %s", topic,
                         rd_kafka_message_errstr(message));
            each(context, message);
            count++;
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    return count;
}

void topic_write(const char *bootstrap, const char *topic, const char *key, const char *value)
{
    rd_kafka_t *client = client_new(RD_KAFKA_PRODUCER, bootstrap);
    rd_kafka_resp_err_t code = rd_kafka_producev(
        client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY((void *)(uintptr_t)key, strlen(key)),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)value, strlen(value)),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);

    cr_assert_eq(code, RD_KAFKA_RESP_ERR_NO_ERROR, "%s", rd_kafka_err2str(code));
    cr_assert_eq(rd_kafka_flush(client, ANSWER_TIMEOUT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_destroy(client);
}

struct topic_counter *topic_counter_new(const char *bootstrap, const char *topic)
{
    struct topic_counter *counter = calloc(1, sizeof(*counter));

    cr_assert_not_null(counter);
    counter->client = client_new(RD_KAFKA_CONSUMER, bootstrap);
    snprintf(counter->topic, sizeof(counter->topic), "%s", topic);
    return counter;
}

int64_t topic_counter_now(struct topic_counter *counter)
{
    int64_t count = 0;

    if (counter->partition_count == 0) {
        counter->partition_count = count_partitions(counter->client, counter->topic);
    }
    for (int32_t i = 0; i < counter->partition_count; i++) {
        count += kafka_end_offset(counter->client, counter->topic, i);
    }
    return count;
}

void topic_counter_free(struct topic_counter *counter)
{
    rd_kafka_destroy(counter->client);
    free(counter);
}
