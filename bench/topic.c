#include "topic.h"

#include <string.h>
#include <time.h>

enum {
    MARKER_COUNT_MAX = 64, /* of transactions without a record, at the end */
    MARKER_TIMEOUT_MS = 500,
    REQUEST_TIMEOUT_MS = 10000,
    LEADER_TRY_COUNT = 200, /* in ten seconds */
};

static enum wr_status configure(rd_kafka_conf_t *conf, const char *bootstrap, struct wr_error *err)
{
    const char *const settings[][2] = {
        {"bootstrap.servers", bootstrap},
        {"group.id", "bench"},
        {"enable.auto.commit", "false"},
        {"allow.auto.create.topics", "false"},
        /* The broker answers at the first byte, so the wait bounds only how often it is asked. */
        {"fetch.min.bytes", "1"},
        {"fetch.wait.max.ms", "20"},
        /* A consumer that reads at once never fills its queue; the bound is for one that does not.
         */
        {"queued.max.messages.kbytes", "16384"},
        {"log_level", "2"},
    };
    char text[256];

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], text, sizeof(text)) !=
            RD_KAFKA_CONF_OK) {
            return wr_fail(err, WR_FATAL, "topic", "%s", text);
        }
    }
    return WR_OK;
}

enum wr_status topic_open(struct topic *t, const char *bootstrap, const char *name,
                          struct wr_error *err)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    enum wr_status status = configure(conf, bootstrap, err);

    t->name = name;
    t->client = NULL;
    if (status != WR_OK) {
        rd_kafka_conf_destroy(conf);
        return status;
    }
    t->client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
    if (t->client == NULL) {
        rd_kafka_conf_destroy(conf);
        return wr_fail(err, WR_FATAL, "topic", "%s", text);
    }
    (void)rd_kafka_poll_set_consumer(t->client);
    return WR_OK;
}

/*
 * Without rd_kafka_destroy(): in librdkafka 2.0.2 it now and then waits for ever for a broker's
 * thread once a topic that was read has been deleted, and whoever closes a topic here exits next.
 */
void topic_close(struct topic *t)
{
    if (t->client != NULL) {
        (void)rd_kafka_consumer_close(t->client);
        t->client = NULL;
    }
}

/* What the broker said of the one topic of a CreateTopics answer. */
static enum wr_status created(rd_kafka_event_t *event, const char *name, struct wr_error *err)
{
    if (event == NULL) {
        return wr_fail(err, WR_FATAL, "topic", "%s: no answer from the broker", name);
    }
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return wr_fail(err, WR_FATAL, "topic", "%s: %s", name, rd_kafka_event_error_string(event));
    }
    size_t count = 0;
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);

    if (count != 1 || rd_kafka_topic_result_error(results[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return wr_fail(err, WR_FATAL, "topic", "%s: %s", name,
                       count == 1 ? rd_kafka_topic_result_error_string(results[0]) : "no result");
    }
    return WR_OK;
}

/*
 * A count comes only from a leader. A client that comes before there is one looks again a second
 * later, and that second would count as somebody's start.
 */
static enum wr_status wait_for_leader(struct topic *t, struct wr_error *err)
{
    const struct timespec interval = {.tv_nsec = 50000000};

    for (int i = 0; topic_count(t) < 0; i++) {
        if (i == LEADER_TRY_COUNT) {
            return wr_fail(err, WR_FATAL, "topic", "%s: no leader in time", t->name);
        }
        (void)nanosleep(&interval, NULL);
    }
    return WR_OK;
}

enum wr_status topic_create(struct topic *t, struct wr_error *err)
{
    char text[256] = "";
    rd_kafka_NewTopic_t *wanted = rd_kafka_NewTopic_new(t->name, 1, 1, text, sizeof(text));

    if (wanted == NULL) {
        return wr_fail(err, WR_FATAL, "topic", "%s: %s", t->name, text);
    }
    (void)rd_kafka_NewTopic_set_config(wanted, "message.timestamp.type", "LogAppendTime");

    rd_kafka_queue_t *answers = rd_kafka_queue_new(t->client);
    rd_kafka_CreateTopics(t->client, &wanted, 1, NULL, answers);
    rd_kafka_event_t *event = rd_kafka_queue_poll(answers, REQUEST_TIMEOUT_MS);
    enum wr_status status = created(event, t->name, err);

    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(answers);
    rd_kafka_NewTopic_destroy(wanted);
    return status == WR_OK ? wait_for_leader(t, err) : status;
}

void topic_delete(struct topic *t)
{
    (void)rd_kafka_assign(t->client, NULL); /* nobody reads a topic that is about to go */
    rd_kafka_DeleteTopic_t *unwanted = rd_kafka_DeleteTopic_new(t->name);
    rd_kafka_queue_t *answers = rd_kafka_queue_new(t->client);

    rd_kafka_DeleteTopics(t->client, &unwanted, 1, NULL, answers);
    rd_kafka_event_t *event = rd_kafka_queue_poll(answers, REQUEST_TIMEOUT_MS);
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(answers);
    rd_kafka_DeleteTopic_destroy(unwanted);
}

int64_t topic_count(struct topic *t)
{
    int64_t low = 0;
    int64_t high = 0;

    if (rd_kafka_query_watermark_offsets(t->client, t->name, 0, &low, &high, REQUEST_TIMEOUT_MS) !=
        RD_KAFKA_RESP_ERR_NO_ERROR) {
        return -1;
    }
    return high - low;
}

enum wr_status topic_seek(struct topic *t, int64_t offset, struct wr_error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

    rd_kafka_topic_partition_list_add(list, t->name, 0)->offset = offset;
    rd_kafka_resp_err_t code = rd_kafka_assign(t->client, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return wr_fail(err, WR_FATAL, "topic", "%s: %s", t->name, rd_kafka_err2str(code));
    }
    return WR_OK;
}

rd_kafka_message_t *topic_next(struct topic *t, int timeout_ms)
{
    rd_kafka_message_t *m = rd_kafka_consumer_poll(t->client, timeout_ms);

    if (m != NULL && m->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_message_destroy(m);
        return NULL;
    }
    return m;
}

/* The end of a transaction takes an offset as well, and is no record. */
static rd_kafka_message_t *last_record(struct topic *t, int64_t offset)
{
    rd_kafka_message_t *last = topic_next(t, REQUEST_TIMEOUT_MS);

    while (last != NULL && last->offset < offset) {
        rd_kafka_message_t *next = topic_next(t, MARKER_TIMEOUT_MS);
        if (next == NULL) {
            break;
        }
        rd_kafka_message_destroy(last);
        last = next;
    }
    return last;
}

enum wr_status topic_append_time_ms(struct topic *t, int64_t offset, int64_t *out_ms,
                                    struct wr_error *err)
{
    int64_t before = offset > MARKER_COUNT_MAX ? offset - MARKER_COUNT_MAX : 0;
    enum wr_status status = topic_seek(t, before, err);

    if (status != WR_OK) {
        return status;
    }
    rd_kafka_message_t *m = last_record(t, offset);
    if (m == NULL) {
        return wr_fail(err, WR_FATAL, "topic", "%s: no record at offset %lld", t->name,
                       (long long)offset);
    }
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    *out_ms = rd_kafka_message_timestamp(m, &type);
    rd_kafka_message_destroy(m);
    return WR_OK;
}
