/*
 * Relations of one replication connection. An open-addressing table by oid: a look-up stands on
 * the path of every row, so it is one multiplication and, nearly always, one comparison.
 */
#include "decoder/relcache.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/limits.h"

enum { SLOT_COUNT_MIN = 64 };

struct relcache {
    struct relation **slots;
    size_t slot_count; /* a power of two, at most half used */
    size_t used;
};

struct relcache *relcache_new(void)
{
    struct relcache *cache = calloc(1, sizeof(*cache));
    struct relation **slots = calloc(SLOT_COUNT_MIN, sizeof(*slots));

    if (cache == NULL || slots == NULL) {
        abort();
    }
    cache->slots = slots;
    cache->slot_count = SLOT_COUNT_MIN;
    return cache;
}

void relcache_clear(struct relcache *cache)
{
    for (size_t i = 0; i < cache->slot_count; i++) {
        if (cache->slots[i] != NULL) {
            wr_arena_free(cache->slots[i]->arena);
            cache->slots[i] = NULL;
        }
    }
    cache->used = 0;
}

void relcache_free(struct relcache *cache)
{
    if (cache == NULL) {
        return;
    }
    relcache_clear(cache);
    free(cache->slots);
    free(cache);
}

/* Where `oid` is, or the empty slot where it would be. */
static struct relation **find(struct relation **slots, size_t slot_count, uint32_t oid)
{
    /* Fibonacci hashing: what distinguishes oids ends up in the upper half, which is folded in. */
    uint32_t hash = oid * UINT32_C(2654435769);
    size_t i = (hash ^ hash >> 16) & (slot_count - 1);

    while (slots[i] != NULL && slots[i]->oid != oid) {
        i = (i + 1) & (slot_count - 1);
    }
    return &slots[i];
}

static void grow(struct relcache *cache)
{
    size_t slot_count = cache->slot_count * 2;
    struct relation **slots = calloc(slot_count, sizeof(*slots));

    if (slots == NULL) {
        abort();
    }
    for (size_t i = 0; i < cache->slot_count; i++) {
        if (cache->slots[i] != NULL) {
            *find(slots, slot_count, cache->slots[i]->oid) = cache->slots[i];
        }
    }
    free(cache->slots);
    cache->slots = slots;
    cache->slot_count = slot_count;
}

enum wr_status relcache_put(struct relcache *cache, struct relation *relation, struct wr_error *err)
{
    if (cache->used * 2 >= cache->slot_count) {
        grow(cache);
    }
    struct relation **slot = find(cache->slots, cache->slot_count, relation->oid);
    if (*slot != NULL) {
        wr_arena_free((*slot)->arena);
    } else if (cache->used >= WR_RELATION_COUNT_MAX) {
        wr_arena_free(relation->arena);
        return wr_fail(err, WR_FATAL, "relcache", "more than %d tables (WR_RELATION_COUNT_MAX)",
                       WR_RELATION_COUNT_MAX);
    } else {
        cache->used++;
    }
    *slot = relation;
    return WR_OK;
}

struct relation *relcache_get(const struct relcache *cache, uint32_t oid)
{
    return *find(cache->slots, cache->slot_count, oid);
}
