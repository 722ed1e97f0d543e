/* publisher/state_lookup.h - one key of a state topic, asked for on a thread of its own. */
#ifndef WR_PUBLISHER_STATE_LOOKUP_H
#define WR_PUBLISHER_STATE_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

struct config;
struct state_lookup;

/* Asks, makes the topic where it is missing, and goes on asking while Kafka does not answer. */
struct state_lookup *state_lookup_start(const struct config *config, const char *topic,
                                        const char *key);
/* True once there is an answer; waits for it at most so long. */
bool state_lookup_wait(struct state_lookup *lookup, int64_t timeout_ms);
/* The answer: the last value of the key, its data NULL where there is none; the lookup owns it. Or
 * WR_REJECT, WR_FATAL, as of state_topic_read(). */
WR_MUST_USE enum wr_status state_lookup_result(const struct state_lookup *lookup,
                                               struct wr_slice *value, struct wr_error *err);
/* Gives up asking. NULL is allowed. */
void state_lookup_free(struct state_lookup *lookup);

#endif /* WR_PUBLISHER_STATE_LOOKUP_H */
