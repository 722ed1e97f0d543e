#include "config/config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "config/loader.h"
#include "config/property.h"
#include "config/route_config.h"

/* The options of transforms, predicates and routes are read with the one they belong to. */
static bool is_plugin_option(const char *key)
{
    return strncmp(key, "transforms.", strlen("transforms.")) == 0 ||
           strncmp(key, "predicates.", strlen("predicates.")) == 0 ||
           strncmp(key, "routes.", strlen("routes.")) == 0;
}

static void apply_entries(struct loader *l)
{
    for (size_t i = 0; i < l->entry_count; i++) {
        const struct entry *e = &l->entries[i];
        struct property_match match = {0};

        if (e->is_overridden || is_plugin_option(e->key)) {
            continue;
        }
        if (property_find(SCOPE_CONFIG, e->key, &match)) {
            property_apply(l, &match, e, l->config);
        } else if (!processors_have(l, e->key)) {
            property_report_unknown(l, e, SCOPE_CONFIG, e->key);
        }
    }
}

static void check_exclusive(struct loader *l)
{
    static const char *const pairs[][2] = {
        {"schema.include.list", "schema.exclude.list"},
        {"table.include.list", "table.exclude.list"},
        {"column.include.list", "column.exclude.list"},
        {"message.prefix.include.list", "message.prefix.exclude.list"},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const struct entry *include = loader_find(l, pairs[i][0]);
        const struct entry *exclude = loader_find(l, pairs[i][1]);
        bool has_both = include != NULL && include->value[0] != '\0' && exclude != NULL &&
                        exclude->value[0] != '\0';
        if (has_both) {
            loader_problem(l, exclude, "stands beside %s; only one of them may be given",
                           pairs[i][0]);
        }
    }
}

/* A worker with exactly.once.source.support=enabled has it for all its connectors. */
static void settle_delivery(struct config *config)
{
    config->exactly_once = config->exactly_once_support == EXACTLY_ONCE_REQUIRED ||
                           config->exactly_once_source_support == EXACTLY_ONCE_SOURCE_ENABLED;
    if (config->exactly_once) { /* the parts of a snapshot end one after the other */
        config->snapshot_thread_count = 1;
    }
}

static int compare_problems(const void *left, const void *right)
{
    const struct problem *a = left;
    const struct problem *b = right;

    if (a->position != b->position) {
        return a->position < b->position ? -1 : 1;
    }
    return a->sequence < b->sequence ? -1 : 1;
}

static void report_problems(struct loader *l, void (*report)(const char *problem))
{
    if (report == NULL || l->problem_count == 0) {
        return;
    }
    qsort(l->problems, l->problem_count, sizeof(*l->problems), compare_problems);
    for (size_t i = 0; i < l->problem_count; i++) {
        report(l->problems[i].text);
    }
}

enum wr_status config_load(const struct config_source *sources, size_t count, bool needs_kafka,
                           void (*report)(const char *problem), struct config **out,
                           struct wr_error *err)
{
    struct wr_arena *arena = wr_arena_new(WR_CONFIG_SIZE_MAX);
    struct loader l = {.arena = arena};

    *out = NULL;
    l.config = loader_alloc(&l, 1, sizeof(*l.config));
    l.config->arena = arena;
    property_apply_defaults(&l, SCOPE_CONFIG, l.config);
    assert(l.problem_count == 0);
    for (size_t i = 0; i < count; i++) {
        source_load(&l, &sources[i]);
    }
    apply_entries(&l);
    transforms_apply(&l);
    routes_apply(&l);
    converters_apply(&l);
    processors_apply(&l);
    snapshot_check(&l);
    slot_check(&l);
    settle_delivery(l.config);
    topic_groups_apply(&l);
    signals_check(&l);
    kafka_apply(&l, needs_kafka);
    check_exclusive(&l);
    if (!l.is_incomplete) {
        property_check_required(&l, SCOPE_CONFIG, "");
    }
    report_problems(&l, report);
    if (l.problem_count > 0) {
        size_t problem_count = l.problem_count;
        wr_arena_free(arena);
        return wr_fail(err, WR_FATAL, "config", "%zu problem%s in the configuration", problem_count,
                       problem_count == 1 ? "" : "s");
    }
    *out = l.config;
    return WR_OK;
}

void config_free(struct config *config)
{
    if (config != NULL) {
        wr_arena_free(config->arena);
    }
}

bool config_publishes_all_updates(const struct config *config)
{
    for (size_t i = 0; i < config->route_count; i++) {
        if (config->routes[i].only_when_changed.count > 0) {
            return false;
        }
    }
    return !config->skip_update && !config->skip_unchanged && config->transform_count == 0;
}
