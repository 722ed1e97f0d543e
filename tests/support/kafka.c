#include "support/kafka.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/records.h"

enum { ANSWER_TIMEOUT_MS = 30000 };

struct kafka_reader {
    rd_kafka_t *consumer;
    rd_kafka_topic_partition_list_t *start;
};

static rd_kafka_t *consumer_new(const char *bootstrap)
{
    static const char *const settings[][2] = {
        {"group.id", "walrelay-tests"},   {"enable.auto.commit", "false"},
        {"auto.offset.reset", "error"},   {"allow.auto.create.topics", "false"},
        {"enable.partition.eof", "true"},
    };
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[512];

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        rd_kafka_conf_set(conf, settings[i][0], settings[i][1], NULL, 0);
    }
    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, NULL, 0);
    rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
    cr_assert_not_null(consumer, "%s", text);
    return consumer;
}

/* A topic that was made a moment ago may have no leader yet. */
static bool may_pass(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION ||
           code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ||
           code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

int64_t kafka_end_offset(rd_kafka_t *consumer, const char *topic, int32_t partition)
{
    int64_t deadline_us = wr_clock_monotonic_us() + ANSWER_TIMEOUT_MS * INT64_C(1000);
    int64_t low = 0;
    int64_t high = 0;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;

    do {
        code = rd_kafka_query_watermark_offsets(consumer, topic, partition, &low, &high,
                                                ANSWER_TIMEOUT_MS);
        if (may_pass(code)) {
            (void)usleep(50000);
        }
    } while (may_pass(code) && wr_clock_monotonic_us() < deadline_us);
    cr_assert_eq(code, RD_KAFKA_RESP_ERR_NO_ERROR, "end of %s: %s", topic, rd_kafka_err2str(code));
    return high;
}

/* Kafka's own topics, and what walrelay notes for itself: nobody's events. */
static bool is_internal(const char *topic)
{
    bool is_kafkas = strncmp(topic, "__", 2) == 0 && strncmp(topic, "__debezium", 10) != 0;

    return is_kafkas || strncmp(topic, "walrelay.state.", 15) == 0;
}

/* Every partition there is, each with its end offset. */
static rd_kafka_topic_partition_list_t *end_offsets(rd_kafka_t *consumer)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(consumer, 1, NULL, &metadata, ANSWER_TIMEOUT_MS);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(64);

    cr_assert_eq(code, RD_KAFKA_RESP_ERR_NO_ERROR, "metadata: %s", rd_kafka_err2str(code));
    for (int t = 0; t < metadata->topic_cnt; t++) {
        const struct rd_kafka_metadata_topic *topic = &metadata->topics[t];

        for (int p = 0; p < topic->partition_cnt && !is_internal(topic->topic); p++) {
            int32_t partition = topic->partitions[p].id;

            rd_kafka_topic_partition_list_add(list, topic->topic, partition)->offset =
                kafka_end_offset(consumer, topic->topic, partition);
        }
    }
    rd_kafka_metadata_destroy(metadata);
    return list;
}

struct kafka_reader *kafka_reader_new(const char *bootstrap)
{
    struct kafka_reader *reader = calloc(1, sizeof(*reader));

    cr_assert_not_null(reader);
    reader->consumer = consumer_new(bootstrap);
    reader->start = end_offsets(reader->consumer);
    return reader;
}

void kafka_reader_free(struct kafka_reader *reader)
{
    rd_kafka_topic_partition_list_destroy(reader->start);
    rd_kafka_consumer_close(reader->consumer);
    rd_kafka_destroy(reader->consumer);
    free(reader);
}

static struct wr_slice bytes_of(const void *data, size_t size)
{
    return (struct wr_slice){data, data == NULL ? 0 : size};
}

static void add_headers(const rd_kafka_message_t *message, struct kafka_record *out)
{
    rd_kafka_headers_t *headers = NULL;
    const char *name;
    const void *value;
    size_t size;

    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    while (out->header_count < KAFKA_HEADER_COUNT_MAX &&
           rd_kafka_header_get_all(headers, out->header_count, &name, &value, &size) ==
               RD_KAFKA_RESP_ERR_NO_ERROR) {
        out->headers[out->header_count++] = (struct kafka_header){
            .name = wr_slice_str(name),
            .value = bytes_of(value, size),
            .is_null = value == NULL,
        };
    }
}

static void add_message(const rd_kafka_message_t *message, struct kafka_records *out)
{
    struct kafka_record record = {
        .topic = wr_slice_str(rd_kafka_topic_name(message->rkt)),
        .partition = message->partition,
        .key = bytes_of(message->key, message->key_len),
        .key_is_null = message->key == NULL,
        .value = bytes_of(message->payload, message->len),
        .value_is_null = message->payload == NULL,
    };

    add_headers(message, &record);
    records_add(out, &record);
}

/* The partitions that have grown, from where they ended when the reader was made. */
static rd_kafka_topic_partition_list_t *grown(const struct kafka_reader *reader)
{
    rd_kafka_topic_partition_list_t *end = end_offsets(reader->consumer);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(end->cnt);

    for (int i = 0; i < end->cnt; i++) {
        const rd_kafka_topic_partition_t *partition = &end->elems[i];
        const rd_kafka_topic_partition_t *before = rd_kafka_topic_partition_list_find(
            reader->start, partition->topic, partition->partition);
        int64_t start = before == NULL ? 0 : before->offset;

        if (start < partition->offset) {
            rd_kafka_topic_partition_list_add(list, partition->topic, partition->partition)
                ->offset = start;
        }
    }
    rd_kafka_topic_partition_list_destroy(end);
    return list;
}

void kafka_reader_read(struct kafka_reader *reader, struct kafka_records *out)
{
    rd_kafka_topic_partition_list_t *list = grown(reader);
    int left = list->cnt;

    rd_kafka_assign(reader->consumer, list);
    while (left > 0) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(reader->consumer, ANSWER_TIMEOUT_MS);

        cr_assert_not_null(message, "%d partitions of Kafka were not read to their end", left);
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            left--;
        } else {
            cr_assert_eq(message->err, RD_KAFKA_RESP_ERR_NO_ERROR, "reading Kafka: %s",
                         rd_kafka_message_errstr(message));
            add_message(message, out);
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_assign(reader->consumer, NULL);
    rd_kafka_topic_partition_list_destroy(list);
}
