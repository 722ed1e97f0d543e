/* publisher/kafka_produce.h - one record into librdkafka's queue. */
#ifndef WR_PUBLISHER_KAFKA_PRODUCE_H
#define WR_PUBLISHER_KAFKA_PRODUCE_H

#include <librdkafka/rdkafka.h>

struct kafka_topics;
struct publisher_record;

/*
 * `opaque` comes back with the delivery report. `flags`: RD_KAFKA_MSG_F_COPY, or 0 when the value
 * lies still until the record is delivered or given up.
 */
rd_kafka_resp_err_t kafka_produce_one(rd_kafka_t *kafka, struct kafka_topics *topics,
                                      const struct publisher_record *r, void *opaque, int flags);

#endif /* WR_PUBLISHER_KAFKA_PRODUCE_H */
