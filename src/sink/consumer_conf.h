/* sink/consumer_conf.h - librdkafka's configuration for a consumer. */
#ifndef WR_SINK_CONSUMER_CONF_H
#define WR_SINK_CONSUMER_CONF_H

#include <librdkafka/rdkafka.h>

#include "base/status.h"

struct config;
struct config_pairs;

/* walrelay's defaults, over them what the user set. The caller's, until rd_kafka_new() takes it. */
WR_MUST_USE enum wr_status consumer_conf_new(const struct config *config, const char *group,
                                             rd_kafka_conf_t **out, struct wr_error *err);
WR_MUST_USE enum wr_status consumer_conf_apply(rd_kafka_conf_t *conf,
                                               const struct config_pairs *settings,
                                               struct wr_error *err);

#endif /* WR_SINK_CONSUMER_CONF_H */
