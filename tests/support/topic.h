/* support/topic.h - one topic of Kafka, of any size. */
#ifndef WR_TEST_TOPIC_H
#define WR_TEST_TOPIC_H

#include <stdint.h>

#include <librdkafka/rdkafka.h>

/* Every function aborts the running test when Kafka does not answer in time. */

/* `setting` is one of the topic's, "name=value", or NULL. */
void topic_create(const char *bootstrap, const char *topic, int partition_count,
                  const char *setting);
/* And waits until it is gone; there may be none. */
void topic_delete(const char *bootstrap, const char *topic);
/* Of a topic that exists. */
void topic_set(const char *bootstrap, const char *topic, const char *name, const char *value);

/*
 * Calls `each` for every message, of each partition in its order, from the first to the one that is
 * the last now; borrowed for the call. Returns how many there were: 0 where there is no such topic.
 */
int64_t topic_read(const char *bootstrap, const char *topic,
                   void (*each)(void *context, const rd_kafka_message_t *message), void *context);

/* One record, and waits until Kafka has it. */
void topic_write(const char *bootstrap, const char *topic, const char *key, const char *value);

/* Asks Kafka over and over how many messages a topic holds, without reading them. */
struct topic_counter *topic_counter_new(const char *bootstrap, const char *topic);
int64_t topic_counter_now(struct topic_counter *counter);
void topic_counter_free(struct topic_counter *counter);

#endif /* WR_TEST_TOPIC_H */
