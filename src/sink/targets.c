#include "sink/targets.h"

#include <string.h>

#include "sink/sink.h"

/* All there are. A new one is a file, and a line here. */
static const struct sink_target_ops *const targets[] = {
    &redis_target,
    &search_target,
};

enum { TARGET_COUNT = sizeof(targets) / sizeof(targets[0]) };

static bool has_word(const char *words, struct wr_slice word)
{
    while (*words != '\0') {
        size_t size = strcspn(words, " ");
        if (wr_slice_eq(word, (struct wr_slice){words, size})) {
            return true;
        }
        words += size + strspn(words + size, " ");
    }
    return false;
}

const struct sink_target_ops *sink_target_find(enum route_type type, struct wr_slice scheme)
{
    for (size_t i = 0; i < TARGET_COUNT; i++) {
        if (targets[i]->type == type && has_word(targets[i]->schemes, scheme)) {
            return targets[i];
        }
    }
    return NULL;
}

const char *sink_target_schemes(enum route_type type)
{
    switch (type) {
    case ROUTE_SEARCH:
        return "http, https";
    case ROUTE_CACHE:
        return "redis, rediss";
    case ROUTE_WAREHOUSE:
        return "clickhouse+http, clickhouse+https, postgresql";
    }
    return "";
}
