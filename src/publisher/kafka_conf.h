/* publisher/kafka_conf.h - librdkafka's configuration. */
#ifndef WR_PUBLISHER_KAFKA_CONF_H
#define WR_PUBLISHER_KAFKA_CONF_H

#include <stddef.h>

#include <librdkafka/rdkafka.h>

#include "base/status.h"

struct config;

/* walrelay's defaults and over them what the user set. `*out` belongs to the caller, until
 * rd_kafka_new() takes it. WR_FATAL with librdkafka's words when it does not take a name or value.
 */
WR_MUST_USE enum wr_status kafka_conf_new(const struct config *config, rd_kafka_conf_t **out,
                                          struct wr_error *err);

/* The bytes that may wait in it. */
size_t kafka_conf_queue_size(const rd_kafka_conf_t *conf);

#endif /* WR_PUBLISHER_KAFKA_CONF_H */
