/* router/predicate.h - Kafka Connect's predicates: for which records a transform works. */
#ifndef WR_ROUTER_PREDICATE_H
#define WR_ROUTER_PREDICATE_H

#include <stdbool.h>

#include "base/slice.h"
#include "base/status.h"

struct predicate_config;
struct record;
struct wr_regex;

struct predicate {
    const struct predicate_config *config;
    struct wr_regex *pattern; /* of TopicNameMatches */
};

/* `config` must outlive it. WR_FATAL: the pattern is none. */
WR_MUST_USE enum wr_status predicate_init(struct predicate *predicate,
                                          const struct predicate_config *config,
                                          struct wr_error *err);
void predicate_done(struct predicate *predicate);

bool predicate_holds(const struct predicate *predicate, const struct record *record);
/* What a TopicNameMatches says of `topic`; false of every other predicate. */
bool predicate_matches_topic(const struct predicate *predicate, struct wr_slice topic);

#endif /* WR_ROUTER_PREDICATE_H */
