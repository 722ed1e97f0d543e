#include "publisher/signal_topic.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "publisher/kafka_conf.h"

enum { REASON_SIZE_MAX = 512, NAME_SIZE_MAX = 512, LOG_AGAIN_US = 60 * 1000 * 1000 };

struct signal_topic {
    const struct config *config;
    rd_kafka_t *client;
    rd_kafka_message_t *message; /* lent to the caller */
    int fd;
    char name[NAME_SIZE_MAX];
    int64_t next_offset; /* behind what was read; -1: nothing was */
    int64_t logged_us;   /* when an error was said last */
};

static void take_error(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
    struct signal_topic *topic = opaque;
    int64_t now_us = wr_clock_monotonic_us();

    (void)client;
    if (topic->logged_us == 0 || now_us - topic->logged_us >= LOG_AGAIN_US) {
        topic->logged_us = now_us;
        wr_log(WR_LOG_WARN, "signal", WR_MSG("the topic of signals cannot be read now"),
               WR_STR("topic", topic->name), WR_STR("reason", reason),
               WR_STR("code", rd_kafka_err2name((rd_kafka_resp_err_t)code)));
    }
}

static enum wr_status set(rd_kafka_conf_t *conf, const char *name, const char *value,
                          struct wr_error *err)
{
    char reason[REASON_SIZE_MAX];

    if (value == NULL ||
        rd_kafka_conf_set(conf, name, value, reason, sizeof(reason)) == RD_KAFKA_CONF_OK) {
        return WR_OK;
    }
    return wr_fail(err, WR_FATAL, "signal", "signal.consumer.%s: %s", name, reason);
}

static enum wr_status make_conf(struct signal_topic *topic, rd_kafka_conf_t **out,
                                struct wr_error *err)
{
    const struct config *config = topic->config;
    enum wr_status status = kafka_conf_new(config, out, err);
    const struct config_pair own[] = {
        {"bootstrap.servers", config->signal_kafka_bootstrap},
        {"group.id", config->signal_kafka_group},
        {"auto.offset.reset", "earliest"},
        {"fetch.wait.max.ms", "500"},
        {"log_level", "3"}, /* that settings of the producer mean nothing here is no news */
    };

    for (size_t i = 0; status == WR_OK && i < sizeof(own) / sizeof(own[0]); i++) {
        status = set(*out, own[i].name, own[i].value, err);
    }
    for (size_t i = 0; status == WR_OK && i < config->signal_consumer.count; i++) {
        const struct config_pair *pair = &config->signal_consumer.items[i];
        status = set(*out, pair->name, pair->value, err);
    }
    if (status == WR_OK) { /* last: when a signal counts as read is not the user's to say */
        status = set(*out, "enable.auto.commit", "false", err);
    }
    if (status != WR_OK && *out != NULL) {
        rd_kafka_conf_destroy(*out);
    }
    return status;
}

static void assign(struct signal_topic *topic)
{
    static const uint64_t one = 1;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

    (void)rd_kafka_poll_set_consumer(topic->client);
    rd_kafka_topic_partition_list_add(list, topic->name, 0)->offset = RD_KAFKA_OFFSET_STORED;
    (void)rd_kafka_assign(topic->client, list);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(topic->client);
    rd_kafka_queue_io_event_enable(queue, topic->fd, &one, sizeof(one));
    rd_kafka_queue_destroy(queue);
}

enum wr_status signal_topic_open(const struct config *config, struct signal_topic **out,
                                 struct wr_error *err)
{
    struct signal_topic *topic = calloc(1, sizeof(*topic));
    rd_kafka_conf_t *conf = NULL;
    char reason[REASON_SIZE_MAX];

    if (topic == NULL) {
        abort();
    }
    *out = topic;
    topic->config = config;
    topic->next_offset = -1;
    topic->fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    if (config->signal_kafka_topic != NULL) {
        (void)snprintf(topic->name, sizeof(topic->name), "%s", config->signal_kafka_topic);
    } else {
        (void)snprintf(topic->name, sizeof(topic->name), "%s-signal", config->topic_prefix);
    }
    if (topic->fd < 0) {
        return wr_fail(err, WR_FATAL, "signal", "eventfd: %s", strerror(errno));
    }
    enum wr_status status = make_conf(topic, &conf, err);
    if (status != WR_OK) {
        return status;
    }
    rd_kafka_conf_set_opaque(conf, topic);
    rd_kafka_conf_set_error_cb(conf, take_error);
    topic->client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof(reason));
    if (topic->client == NULL) {
        rd_kafka_conf_destroy(conf);
        return wr_fail(err, WR_FATAL, "signal", "%s", reason);
    }
    assign(topic);
    return WR_OK;
}

static void give_back(struct signal_topic *topic)
{
    if (topic->message != NULL) {
        rd_kafka_message_destroy(topic->message);
        topic->message = NULL;
    }
}

void signal_topic_close(struct signal_topic *topic)
{
    if (topic == NULL) {
        return;
    }
    give_back(topic);
    if (topic->client != NULL) {
        (void)rd_kafka_consumer_close(topic->client);
        rd_kafka_destroy(topic->client);
    }
    if (topic->fd >= 0) {
        (void)close(topic->fd);
    }
    free(topic);
}

int signal_topic_fd(const struct signal_topic *topic)
{
    return topic->fd;
}

/* Whether a record asks this relay, and not another one. */
static bool is_ours(const struct signal_topic *topic, const rd_kafka_message_t *message)
{
    struct wr_slice key = {message->key, message->key_len};

    return message->payload != NULL && message->len > 0 && key.data != NULL &&
           wr_slice_is(key, topic->config->topic_prefix);
}

enum wr_status signal_topic_next(struct signal_topic *topic, struct wr_slice *value,
                                 struct wr_error *err)
{
    uint64_t count = 0;

    (void)err;
    give_back(topic);
    if (read(topic->fd, &count, sizeof(count)) < 0 && errno != EAGAIN) {
        return wr_fail(err, WR_FATAL, "signal", "eventfd: %s", strerror(errno));
    }
    for (;;) {
        topic->message = rd_kafka_consumer_poll(topic->client, 0);
        if (topic->message == NULL) {
            return WR_AGAIN;
        }
        bool is_record = topic->message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
        if (is_record) {
            topic->next_offset = topic->message->offset + 1;
        }
        if (is_record && is_ours(topic, topic->message)) {
            *value = (struct wr_slice){topic->message->payload, topic->message->len};
            return WR_OK;
        }
        give_back(topic);
    }
}

void signal_topic_commit(struct signal_topic *topic)
{
    rd_kafka_topic_partition_list_t *list = NULL;

    if (topic->next_offset < 0) {
        return;
    }
    list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic->name, 0)->offset = topic->next_offset;
    (void)rd_kafka_commit(topic->client, list, 1); /* what is lost comes again, once */
    rd_kafka_topic_partition_list_destroy(list);
}
