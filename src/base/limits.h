/* base/limits.h - the bound of everything that could grow. The names stand in error texts. */
#ifndef WR_BASE_LIMITS_H
#define WR_BASE_LIMITS_H

enum {
    WR_COLUMN_COUNT_MAX = 1664,          /* PostgreSQL's MaxTupleAttributeNumber */
    WR_RELATION_SIZE_MAX = 4 << 20,      /* one relation with its compiled plan */
    WR_RELATION_COUNT_MAX = 100000,      /* tables of one stream */
    WR_TOPIC_SIZE_MAX = 249,             /* Kafka's limit for a topic name */
    WR_MESSAGE_ARENA_SIZE_MAX = 1 << 30, /* values made from one message */
    WR_RECORD_SIZE_MAX = 1 << 30,        /* one encoded key or value */
    WR_CONFIG_SIZE_MAX = 16 << 20,       /* one configuration with all its strings */
};

#endif /* WR_BASE_LIMITS_H */
