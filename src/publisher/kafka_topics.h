/* publisher/kafka_topics.h - librdkafka's topic handles, found by name. */
#ifndef WR_PUBLISHER_KAFKA_TOPICS_H
#define WR_PUBLISHER_KAFKA_TOPICS_H

#include <stdbool.h>

#include <librdkafka/rdkafka.h>

#include "base/slice.h"

struct kafka_topics;

struct kafka_topics *kafka_topics_new(rd_kafka_t *kafka);
void kafka_topics_free(struct kafka_topics *topics); /* NULL is allowed */

/* Whether it has a handle already. */
bool kafka_topics_has(struct kafka_topics *topics, struct wr_slice name);

/* The handle of a topic, made when it is new; lives until the next call. `name` must be a valid
 * topic name. */
rd_kafka_topic_t *kafka_topics_get(struct kafka_topics *topics, struct wr_slice name);

#endif /* WR_PUBLISHER_KAFKA_TOPICS_H */
