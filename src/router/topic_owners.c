#include "router/topic_owners.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKET_COUNT = 4096 }; /* asked once a Relation message, so that long chains do no harm */

struct owner {
    struct owner *next;
    char *topic;
    char *table;
};

struct topic_owners {
    struct owner *buckets[BUCKET_COUNT];
};

struct topic_owners *topic_owners_new(void)
{
    struct topic_owners *owners = calloc(1, sizeof(*owners));

    if (owners == NULL) {
        abort();
    }
    return owners;
}

static void bucket_free(struct owner *owner)
{
    while (owner != NULL) {
        struct owner *next = owner->next;
        free(owner->topic);
        free(owner->table);
        free(owner);
        owner = next;
    }
}

void topic_owners_free(struct topic_owners *owners)
{
    if (owners == NULL) {
        return;
    }
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        bucket_free(owners->buckets[i]);
    }
    free(owners);
}

static struct owner **bucket_of(struct topic_owners *owners, const char *topic)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

    for (; *topic != '\0'; topic++) {
        hash = (hash ^ (unsigned char)*topic) * UINT64_C(1099511628211);
    }
    return &owners->buckets[(hash ^ hash >> 32) % BUCKET_COUNT];
}

static struct owner *owner_new(const char *topic, const char *table)
{
    struct owner *owner = calloc(1, sizeof(*owner));

    if (owner != NULL) {
        owner->topic = strdup(topic);
        owner->table = strdup(table);
    }
    if (owner == NULL || owner->topic == NULL || owner->table == NULL) {
        abort();
    }
    return owner;
}

bool topic_owners_add(struct topic_owners *owners, const char *topic, const char *table,
                      const char **other)
{
    struct owner **bucket = bucket_of(owners, topic);

    *other = NULL;
    for (const struct owner *known = *bucket; known != NULL; known = known->next) {
        if (strcmp(known->topic, topic) != 0) {
            continue;
        }
        if (strcmp(known->table, table) == 0) {
            *other = NULL;
            return false;
        }
        *other = known->table;
    }
    struct owner *owner = owner_new(topic, table);
    owner->next = *bucket;
    *bucket = owner;
    return true;
}
