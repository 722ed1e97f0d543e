/* publisher/signal_topic.h - the topic that signals come by (signal.enabled.channels=kafka). */
#ifndef WR_PUBLISHER_SIGNAL_TOPIC_H
#define WR_PUBLISHER_SIGNAL_TOPIC_H

#include "base/slice.h"
#include "base/status.h"

struct config;
struct signal_topic;

/*
 * Partition 0 of it, from where the consumer group has committed, else from its beginning. Does not
 * wait for Kafka. WR_FATAL: librdkafka does not take a setting.
 */
WR_MUST_USE enum wr_status signal_topic_open(const struct config *config, struct signal_topic **out,
                                             struct wr_error *err);
void signal_topic_close(struct signal_topic *topic); /* NULL is allowed */

/* Readable when there may be a signal. */
int signal_topic_fd(const struct signal_topic *topic);
/* The value of the next record whose key is topic.prefix, borrowed until the next call. WR_AGAIN:
 * there is none. */
WR_MUST_USE enum wr_status signal_topic_next(struct signal_topic *topic, struct wr_slice *value,
                                             struct wr_error *err);
/* All that was read is carried out, or remembered: it does not come again. */
void signal_topic_commit(struct signal_topic *topic);

#endif /* WR_PUBLISHER_SIGNAL_TOPIC_H */
