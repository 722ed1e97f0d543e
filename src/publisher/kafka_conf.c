#include "publisher/kafka_conf.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "config/config.h"

struct setting {
    const char *name;
    const char *value;
};

/* All may be overridden. */
static const struct setting defaults[] = {
    {"client.id", "walrelay"},

    /* Every record exactly once in its partition, in the order it was produced, on all in-sync
     * replicas before it is acknowledged. */
    {"enable.idempotence", "true"},
    {"acks", "all"},
    /* A key goes to the partition where Java's producer would send it. */
    {"partitioner", "murmur2_random"},

    /* A dead Kafka fails no record: they wait, and the queue's bounds stop the reading. What Kafka
     * refuses for good fails at once all the same. */
    {"message.timeout.ms", "0"},
    /* A new topic is unknown to its cluster for a moment; then the record fails. */
    {"topic.metadata.propagation.max.ms", "10000"},
    {"reconnect.backoff.max.ms", "1000"},
    {"socket.keepalive.enable", "true"},

    /* As many bytes as Java's producer and a broker take in one record. */
    {"message.max.bytes", "1048576"},
    {"compression.type", "lz4"},
    {"batch.size", "1000000"},
    {"batch.num.messages", "10000"},
    /* Small batches follow one another at once, not after the acknowledgement of the one before. */
    {"socket.nagle.disable", "true"},
    /* Out of the way: max.queue.size.in.bytes stops the reading long before. */
    {"queue.buffering.max.kbytes", "131072"},
    {"queue.buffering.max.messages", "1000000"},
};

enum {
    REASON_SIZE_MAX = 512,
    LINGER_MS_MAX = 900000, /* the most that librdkafka takes */
};

static enum wr_status set(rd_kafka_conf_t *conf, const char *name, const char *value,
                          struct wr_error *err)
{
    char reason[REASON_SIZE_MAX];

    if (rd_kafka_conf_set(conf, name, value, reason, sizeof(reason)) == RD_KAFKA_CONF_OK) {
        return WR_OK;
    }
    return wr_fail(err, WR_FATAL, "kafka", "%s: %s", name, reason);
}

/* A number among the settings; 0 when there is none. */
static int64_t number(const rd_kafka_conf_t *conf, const char *name)
{
    char value[32];
    size_t size = sizeof(value);

    if (rd_kafka_conf_get(conf, name, value, &size) != RD_KAFKA_CONF_OK) {
        return 0;
    }
    return strtoll(value, NULL, 10);
}

/*
 * A record that is larger than the whole queue would be told to wait for ever, so the queue is made
 * to hold at least one of the largest that are allowed.
 */
static enum wr_status make_queue_hold_largest(rd_kafka_conf_t *conf, struct wr_error *err)
{
    int64_t needed_kbytes = number(conf, "message.max.bytes") / 1024 + 1;
    char value[32];

    if (number(conf, "queue.buffering.max.kbytes") >= needed_kbytes) {
        return WR_OK;
    }
    (void)snprintf(value, sizeof(value), "%" PRId64, needed_kbytes);
    return set(conf, "queue.buffering.max.kbytes", value, err);
}

/*
 * Never over: whoever produces says by a flush when a burst is complete (relay/wait.c), whatever
 * was asked for. librdkafka wants it to be less than a record's time to live.
 */
static enum wr_status set_linger(rd_kafka_conf_t *conf, struct wr_error *err)
{
    int64_t timeout_ms = number(conf, "message.timeout.ms");
    int64_t linger_ms =
        timeout_ms == 0 || timeout_ms > LINGER_MS_MAX ? LINGER_MS_MAX : timeout_ms - 1;
    char value[32];

    (void)snprintf(value, sizeof(value), "%" PRId64, linger_ms);
    return set(conf, "linger.ms", value, err);
}

static enum wr_status check_bootstrap(const rd_kafka_conf_t *conf, struct wr_error *err)
{
    size_t size = 0;

    if (rd_kafka_conf_get(conf, "bootstrap.servers", NULL, &size) != RD_KAFKA_CONF_OK ||
        size <= 1) {
        return wr_fail(err, WR_FATAL, "kafka",
                       "bootstrap.servers is not set: name at least one broker as host:port");
    }
    return WR_OK;
}

size_t kafka_conf_queue_size(const rd_kafka_conf_t *conf)
{
    return (size_t)number(conf, "queue.buffering.max.kbytes") * 1024;
}

enum wr_status kafka_conf_new(const struct config *config, rd_kafka_conf_t **out,
                              struct wr_error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    enum wr_status status = WR_OK;

    for (size_t i = 0; status == WR_OK && i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        status = set(conf, defaults[i].name, defaults[i].value, err);
    }
    for (size_t i = 0; status == WR_OK && i < config->kafka.count; i++) {
        status = set(conf, config->kafka.items[i].name, config->kafka.items[i].value, err);
    }
    if (status == WR_OK) {
        status = check_bootstrap(conf, err);
    }
    if (status == WR_OK) {
        status = make_queue_hold_largest(conf, err);
    }
    if (status == WR_OK) {
        status = set_linger(conf, err);
    }
    if (status != WR_OK) {
        rd_kafka_conf_destroy(conf);
        conf = NULL;
    }
    *out = conf;
    return status;
}
