/* router/topic_owners.h - which table has which topic, so that two tables do not merge unseen. */
#ifndef WR_ROUTER_TOPIC_OWNERS_H
#define WR_ROUTER_TOPIC_OWNERS_H

#include <stdbool.h>

struct topic_owners;

struct topic_owners *topic_owners_new(void);
void topic_owners_free(struct topic_owners *owners); /* NULL is allowed */

/*
 * Notes that `table` ("schema.table") publishes to `topic`; both are copied. Returns true when that
 * was not known yet. `other` is then a table that has the same topic, or NULL.
 */
bool topic_owners_add(struct topic_owners *owners, const char *topic, const char *table,
                      const char **other);

#endif /* WR_ROUTER_TOPIC_OWNERS_H */
