#include "publisher/state_topic.h"

#include <stdbool.h>

#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "base/log.h"
#include "publisher/kafka_conf.h"

enum {
    ANSWER_TIMEOUT_MS = 15000,
    POLL_MS = 100, /* how late is_closing is seen */
    REASON_SIZE_MAX = 512,
    BROKERS_DEFAULT = -1, /* as replication factor: what the brokers are set to */
};

/* What goes wrong here is told by whoever asked. */
static void on_log(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
    (void)client;
    wr_log(WR_LOG_DEBUG, "state_topic", WR_MSG(text), WR_STR("facility", facility),
           WR_INT("level", level));
}

static bool has_closed(const _Atomic bool *is_closing)
{
    return is_closing != NULL && atomic_load(is_closing);
}

static enum wr_status client_new(const struct config *config, rd_kafka_type_t type,
                                 rd_kafka_t **out, struct wr_error *err)
{
    static const struct {
        const char *name, *value;
    } settings[] = {
        {"group.id", "walrelay-state"}, /* wanted, though no group is joined */
        {"enable.auto.commit", "false"},
        {"enable.partition.eof", "true"},
        {"isolation.level", "read_committed"},
        {"fetch.wait.max.ms", "10"}, /* the end of the topic is told no sooner */
        {"allow.auto.create.topics", "false"},
        {"log_level", "3"}, /* that settings of the producer mean nothing here is no news */
    };
    char reason[REASON_SIZE_MAX];
    rd_kafka_conf_t *conf = NULL;

    *out = NULL;
    enum wr_status status = kafka_conf_new(config, &conf, err);
    if (status != WR_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        (void)rd_kafka_conf_set(conf, settings[i].name, settings[i].value, NULL, 0);
    }
    rd_kafka_conf_set_log_cb(conf, on_log);
    *out = rd_kafka_new(type, conf, reason, sizeof(reason));
    if (*out == NULL) {
        rd_kafka_conf_destroy(conf);
        return wr_fail(err, WR_FATAL, "state_topic", "%s", reason);
    }
    return WR_OK;
}

static enum wr_status judge(const char *topic, rd_kafka_resp_err_t code, const char *text,
                            struct wr_error *err)
{
    /* Not -Wswitch-enum: librdkafka has some 200 codes. */
    bool is_refused = code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
                      code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED ||
                      code == RD_KAFKA_RESP_ERR_POLICY_VIOLATION ||
                      code == RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR;

    return wr_fail(err, is_refused ? WR_REJECT : WR_RETRY, "state_topic", "topic %s: %s (%s)",
                   topic, text, rd_kafka_err2name(code));
}

/* One topic was asked for, so there is one result. */
static enum wr_status take_result(const char *topic, rd_kafka_event_t *event, struct wr_error *err)
{
    size_t count = 0;

    if (event == NULL) {
        return judge(topic, RD_KAFKA_RESP_ERR__TIMED_OUT, "no answer", err);
    }
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return judge(topic, rd_kafka_event_error(event), rd_kafka_event_error_string(event), err);
    }
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    rd_kafka_resp_err_t code =
        count == 1 ? rd_kafka_topic_result_error(results[0]) : RD_KAFKA_RESP_ERR__BAD_MSG;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
        return WR_OK;
    }
    const char *text = count == 1 ? rd_kafka_topic_result_error_string(results[0]) : NULL;
    return judge(topic, code, text == NULL ? "not made" : text, err);
}

static rd_kafka_event_t *wait_for_event(rd_kafka_queue_t *queue, const _Atomic bool *is_closing)
{
    rd_kafka_event_t *event = NULL;

    for (int ms = 0; event == NULL && ms < ANSWER_TIMEOUT_MS && !has_closed(is_closing);
         ms += POLL_MS) {
        event = rd_kafka_queue_poll(queue, POLL_MS);
    }
    return event;
}

static enum wr_status create(rd_kafka_t *client, const char *topic, const _Atomic bool *is_closing,
                             struct wr_error *err)
{
    char reason[REASON_SIZE_MAX];
    rd_kafka_NewTopic_t *new =
        rd_kafka_NewTopic_new(topic, 1, BROKERS_DEFAULT, reason, sizeof(reason));

    if (new == NULL) {
        return wr_fail(err, WR_FATAL, "state_topic", "topic %s: %s", topic, reason);
    }
    (void)rd_kafka_NewTopic_set_config(new, "cleanup.policy", "compact");
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    (void)rd_kafka_AdminOptions_set_request_timeout(options, ANSWER_TIMEOUT_MS, NULL, 0);
    rd_kafka_CreateTopics(client, &new, 1, options, queue);
    rd_kafka_event_t *event = wait_for_event(queue, is_closing);
    enum wr_status status = take_result(topic, event, err);
    rd_kafka_event_destroy(event);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(new);
    return status;
}

enum wr_status state_topic_prepare(const struct config *config, const char *topic,
                                   const _Atomic bool *is_closing, struct wr_error *err)
{
    rd_kafka_t *client = NULL;
    enum wr_status status = client_new(config, RD_KAFKA_PRODUCER, &client, err);

    if (status == WR_OK) {
        status = create(client, topic, is_closing, err);
        rd_kafka_destroy(client);
    }
    return status;
}

/* One message, or what came instead of it. True in `is_over` at the end of the topic. */
static enum wr_status
take_message(const char *topic, const rd_kafka_message_t *message, void *context,
             void (*each)(void *context, struct wr_slice key, struct wr_slice value), bool *is_over,
             struct wr_error *err)
{
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        each(context, (struct wr_slice){message->key, message->key_len},
             (struct wr_slice){message->payload, message->len});
        return WR_OK;
    }
    *is_over = true;
    bool is_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF ||
                  message->err == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
                  message->err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
                  message->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    return is_end ? WR_OK : judge(topic, message->err, rd_kafka_message_errstr(message), err);
}

/* A consumer waits some seconds before it says that there is no such topic. */
static enum wr_status find(rd_kafka_t *client, const char *topic, const _Atomic bool *is_closing,
                           bool *exists, struct wr_error *err)
{
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;

    for (int ms = 0; ms < ANSWER_TIMEOUT_MS && !has_closed(is_closing) && metadata == NULL;
         ms += POLL_MS * 5) {
        code = rd_kafka_metadata(client, 0, handle, &metadata, POLL_MS * 5);
        if (code != RD_KAFKA_RESP_ERR__TIMED_OUT && code != RD_KAFKA_RESP_ERR__TRANSPORT) {
            break;
        }
    }

    rd_kafka_topic_destroy(handle);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return judge(topic, code, rd_kafka_err2str(code), err);
    }
    code = metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR__BAD_MSG;
    rd_kafka_metadata_destroy(metadata);
    *exists = code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
    return *exists || code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
               ? WR_OK
               : judge(topic, code, rd_kafka_err2str(code), err);
}

static enum wr_status read_all(rd_kafka_t *client, const char *topic, void *context,
                               void (*each)(void *context, struct wr_slice key,
                                            struct wr_slice value),
                               const _Atomic bool *is_closing, struct wr_error *err)
{
    int64_t end_us = wr_clock_monotonic_us() + (int64_t)ANSWER_TIMEOUT_MS * 1000;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    enum wr_status status = WR_OK;
    bool is_over = false;

    rd_kafka_topic_partition_list_add(list, topic, 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    (void)rd_kafka_assign(client, list);
    rd_kafka_topic_partition_list_destroy(list);
    while (status == WR_OK && !is_over) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, POLL_MS);
        if (message != NULL) {
            status = take_message(topic, message, context, each, &is_over, err);
            rd_kafka_message_destroy(message);
        } else if (wr_clock_monotonic_us() >= end_us || has_closed(is_closing)) {
            status = judge(topic, RD_KAFKA_RESP_ERR__TIMED_OUT, "no answer", err);
        }
    }
    return status;
}

enum wr_status state_topic_read(const struct config *config, const char *topic, void *context,
                                void (*each)(void *context, struct wr_slice key,
                                             struct wr_slice value),
                                const _Atomic bool *is_closing, struct wr_error *err)
{
    rd_kafka_t *client = NULL;
    enum wr_status status = client_new(config, RD_KAFKA_CONSUMER, &client, err);

    if (status == WR_OK) {
        bool exists = false;
        (void)rd_kafka_poll_set_consumer(client);
        status = find(client, topic, is_closing, &exists, err);
        if (status == WR_OK && exists) {
            status = read_all(client, topic, context, each, is_closing, err);
        }
        (void)rd_kafka_consumer_close(client);
        rd_kafka_destroy(client);
    }
    return status;
}
