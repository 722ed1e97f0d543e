/* publisher/topic_creator.h - topics that Kafka does not have yet, made as topic.creation.* says.
 */
#ifndef WR_PUBLISHER_TOPIC_CREATOR_H
#define WR_PUBLISHER_TOPIC_CREATOR_H

#include <librdkafka/rdkafka.h>

#include "base/slice.h"
#include "base/status.h"

struct config;
struct topic_creator;

/* NULL in `*out` where no topics are to be created. */
WR_MUST_USE enum wr_status topic_creator_new(const struct config *config, rd_kafka_t *kafka,
                                             struct topic_creator **out, struct wr_error *err);
void topic_creator_free(struct topic_creator *creator); /* NULL is allowed */

/*
 * Sees to it that the topic is there; one that is stays as it is. WR_AGAIN: Kafka has not answered
 * yet, ask for the same topic again soon. Nothing here waits. WR_FATAL: Kafka does not want it so.
 * A user that may create no topics is said once, and then left to the broker, as Connect does it.
 */
WR_MUST_USE enum wr_status topic_creator_ensure(struct topic_creator *creator,
                                                struct wr_slice topic, struct wr_error *err);

#endif /* WR_PUBLISHER_TOPIC_CREATOR_H */
