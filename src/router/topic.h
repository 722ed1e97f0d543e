/* router/topic.h - names that Kafka takes. */
#ifndef WR_ROUTER_TOPIC_H
#define WR_ROUTER_TOPIC_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/slice.h"

struct config;

/*
 * Appends `name` with every character outside [A-Za-z0-9._-] replaced by _, as Debezium names
 * the topics of tables (one _ for each UTF-16 unit, as in Java). Returns
 * true when something was replaced.
 */
bool topic_sanitize(struct wr_buffer *out, struct wr_slice name);

/* What is still wrong with a sanitized name, as a clause for an error text; NULL: nothing. */
const char *topic_problem(struct wr_slice name);

/* Inits `out` with the topic of logical messages. */
void topic_of_messages(const struct config *config, struct wr_buffer *out);

#endif /* WR_ROUTER_TOPIC_H */
