#include "sink/consumer_conf.h"

#include <stddef.h>

#include "base/log.h"
#include "config/config.h"

enum { REASON_SIZE_MAX = 512 };

/* All may be overridden by consumer.*. */
static const struct config_pair defaults[] = {
    {"client.id", "walrelay"},
    /* A cut-off broker is tried again quickly, and for ever. */
    {"reconnect.backoff.max.ms", "1000"},
    {"socket.keepalive.enable", "true"},
    {"socket.nagle.disable", "true"},
    {"fetch.error.backoff.ms", "100"},
    /* A member that was killed is given up soon, so that its partitions are read on. */
    {"session.timeout.ms", "10000"},
    /* What has been fetched ahead. Past either, librdkafka looks again only after a second; a small
     * record takes some 350 bytes. */
    {"queued.min.messages", "100000"},
    {"queued.max.messages.kbytes", "16384"},
    /* Topics of tables that come later. */
    {"topic.metadata.refresh.interval.ms", "5000"},
};

/* Not to be overridden: what the sink relies on. */
static const struct config_pair fixed[] = {
    /* Only what the target has is committed, and a gap is an error, never passed over. */
    {"enable.auto.commit", "false"},       {"enable.auto.offset.store", "false"},
    {"auto.offset.reset", "error"},        {"enable.partition.eof", "true"},
    {"isolation.level", "read_committed"}, {"partition.assignment.strategy", "range,roundrobin"},
    {"log.connection.close", "false"},
};

/* Called from any of librdkafka's threads. What matters comes as an error, too. */
static void on_log(const rd_kafka_t *kafka, int level, const char *facility, const char *text)
{
    (void)kafka;
    (void)level;
    wr_log(WR_LOG_DEBUG, "kafka", WR_MSG(text), WR_STR("facility", facility));
}

static enum wr_status apply_array(rd_kafka_conf_t *conf, const struct config_pair *pairs,
                                  size_t count, struct wr_error *err)
{
    char reason[REASON_SIZE_MAX];

    for (size_t i = 0; i < count; i++) {
        if (rd_kafka_conf_set(conf, pairs[i].name, pairs[i].value, reason, sizeof(reason)) !=
            RD_KAFKA_CONF_OK) {
            return wr_fail(err, WR_FATAL, "sink", "%s: %s", pairs[i].name, reason);
        }
    }
    return WR_OK;
}

enum wr_status consumer_conf_apply(rd_kafka_conf_t *conf, const struct config_pairs *settings,
                                   struct wr_error *err)
{
    return apply_array(conf, settings->items, settings->count, err);
}

enum wr_status consumer_conf_new(const struct config *config, const char *group,
                                 rd_kafka_conf_t **out, struct wr_error *err)
{
    const struct config_pair own[] = {{"group.id", group}};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    enum wr_status status =
        apply_array(conf, defaults, sizeof(defaults) / sizeof(defaults[0]), err);

    if (status == WR_OK) {
        status = consumer_conf_apply(conf, &config->kafka_consumer, err);
    }
    if (status == WR_OK) {
        status = apply_array(conf, fixed, sizeof(fixed) / sizeof(fixed[0]), err);
    }
    if (status == WR_OK) {
        status = apply_array(conf, own, 1, err);
    }
    if (status != WR_OK) {
        rd_kafka_conf_destroy(conf);
        conf = NULL;
    } else {
        rd_kafka_conf_set_log_cb(conf, on_log);
    }
    *out = conf;
    return status;
}
