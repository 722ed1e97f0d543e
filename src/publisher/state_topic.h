/* publisher/state_topic.h - what has to be known again after a crash, in a compacted topic. */
#ifndef WR_PUBLISHER_STATE_TOPIC_H
#define WR_PUBLISHER_STATE_TOPIC_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/slice.h"
#include "base/status.h"

struct config;

/*
 * The topic has one partition, and of each key the last value counts. It is written with
 * publisher_produce(), as any other; it is read as a whole, before anything is published.
 *
 * Both wait for Kafka, some seconds at most, and no longer once `is_closing` (NULL: never) is true:
 * WR_RETRY when it does not answer, WR_REJECT when it does not let us.
 */

/* Makes it where it is missing, compacted. */
WR_MUST_USE enum wr_status state_topic_prepare(const struct config *config, const char *topic,
                                               const _Atomic bool *is_closing,
                                               struct wr_error *err);
/* Calls `each` for every record, in order; the slices are borrowed for the call, and the data of a
 * null value is NULL. A topic that is not there has no records. */
WR_MUST_USE enum wr_status
state_topic_read(const struct config *config, const char *topic, void *context,
                 void (*each)(void *context, struct wr_slice key, struct wr_slice value),
                 const _Atomic bool *is_closing, struct wr_error *err);

#endif /* WR_PUBLISHER_STATE_TOPIC_H */
