#include "publisher/kafka_topics.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"

enum {
    SLOT_COUNT = 2048, /* a power of two */
    TOPIC_COUNT_MAX = SLOT_COUNT / 2,
};

struct slot {
    rd_kafka_topic_t *topic; /* NULL: the slot is free */
    struct wr_slice name;    /* the handle owns it */
};

/* A hash table with linear probing. Rows of one table come in runs, so the last slot is tried
 * before the name is hashed. */
struct kafka_topics {
    rd_kafka_t *kafka;
    const struct slot *last;
    size_t count;
    struct slot slots[SLOT_COUNT];
};

struct kafka_topics *kafka_topics_new(rd_kafka_t *kafka)
{
    struct kafka_topics *topics = calloc(1, sizeof(*topics));

    if (topics == NULL) {
        abort();
    }
    topics->kafka = kafka;
    return topics;
}

static void forget_all(struct kafka_topics *topics)
{
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        if (topics->slots[i].topic != NULL) {
            rd_kafka_topic_destroy(topics->slots[i].topic);
            topics->slots[i] = (struct slot){0};
        }
    }
    topics->count = 0;
    topics->last = NULL;
}

void kafka_topics_free(struct kafka_topics *topics)
{
    if (topics != NULL) {
        forget_all(topics);
        free(topics);
    }
}

/* FNV-1a. */
static uint64_t hash(struct wr_slice name)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < name.size; i++) {
        value = (value ^ (uint8_t)name.data[i]) * UINT64_C(0x100000001b3);
    }
    return value;
}

/* The slot that holds `name`, or the free one where it belongs. */
static struct slot *find(struct kafka_topics *topics, struct wr_slice name)
{
    size_t index = hash(name) % SLOT_COUNT;

    while (topics->slots[index].topic != NULL && !wr_slice_eq(topics->slots[index].name, name)) {
        index = (index + 1) % SLOT_COUNT;
    }
    return &topics->slots[index];
}

static rd_kafka_topic_t *topic_new(rd_kafka_t *kafka, struct wr_slice name)
{
    char text[WR_TOPIC_SIZE_MAX + 1];

    assert(name.size > 0 && name.size < sizeof(text));
    memcpy(text, name.data, name.size);
    text[name.size] = '\0';
    rd_kafka_topic_t *topic = rd_kafka_topic_new(kafka, text, NULL);
    if (topic == NULL) {
        abort(); /* the name is valid and there is no configuration to refuse: no memory */
    }
    return topic;
}

bool kafka_topics_has(struct kafka_topics *topics, struct wr_slice name)
{
    bool is_last = topics->last != NULL && wr_slice_eq(topics->last->name, name);

    return is_last || find(topics, name)->topic != NULL;
}

rd_kafka_topic_t *kafka_topics_get(struct kafka_topics *topics, struct wr_slice name)
{
    if (topics->last != NULL && wr_slice_eq(topics->last->name, name)) {
        return topics->last->topic;
    }
    struct slot *slot = find(topics, name);
    if (slot->topic == NULL) {
        /* Messages that wait hold their handles themselves, so all can be let go at once: far
         * simpler than growing, and bounded however many names the rows bring. */
        if (topics->count == TOPIC_COUNT_MAX) {
            forget_all(topics);
            slot = find(topics, name);
        }
        slot->topic = topic_new(topics->kafka, name);
        slot->name = wr_slice_str(rd_kafka_topic_name(slot->topic));
        topics->count++;
    }
    topics->last = slot;
    return slot->topic;
}
