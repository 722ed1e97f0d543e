/* config/topic_group.h - which topics are made, and how (topic.creation.*). */
#ifndef WR_CONFIG_TOPIC_GROUP_H
#define WR_CONFIG_TOPIC_GROUP_H

#include <stdint.h>

#include "config/config.h"

/* One of topic.creation.groups, or the default group. -1 is the broker's own default. */
struct topic_group {
    const char *name;
    const char
        *include; /* topics, a list of expressions; NULL of the default group, which has all */
    const char *exclude; /* of these; NULL: none */
    int32_t partition_count;
    int32_t replication_factor;
    struct config_pairs settings; /* of a topic, by Kafka's names */
};

#endif /* WR_CONFIG_TOPIC_GROUP_H */
