#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "config/config.h"
#include "config/loader.h"
#include "config/property.h"
#include "config/table_rows.h"
#include "config/topic_group.h"

/* topic.creation.*: groups of topics, as Connect has them, and what those are made with. */

static const char PREFIX[] = "topic.creation.";
static const char GROUPS_KEY[] = "topic.creation.groups";

static struct topic_group *find_group(const struct config *config, struct wr_slice name)
{
    for (size_t i = 0; i < config->topic_group_count; i++) {
        if (wr_slice_is(name, config->topic_groups[i].name)) {
            return &config->topic_groups[i];
        }
    }
    return NULL;
}

static void add_group(struct loader *l, struct wr_slice name)
{
    struct config *config = l->config;
    size_t count = config->topic_group_count;

    config->topic_groups =
        loader_grow(l, config->topic_groups, count, sizeof(*config->topic_groups));
    config->topic_groups[count] = (struct topic_group){.name = loader_copy(l, name)};
    config->topic_group_count++;
}

/* -1 is the broker's own default; 0: not a number that a topic can have. */
static int32_t read_count(const char *text, int32_t max)
{
    char *end = NULL;
    long long count = strtoll(text, &end, 10);

    return *text == '\0' || *end != '\0' || count < -1 || count > max ? 0 : (int32_t)count;
}

static void set_count(struct loader *l, const struct entry *e, int32_t max, int32_t *out)
{
    *out = read_count(e->value, max);
    if (*out == 0) {
        loader_problem(
            l, e, "must be a number from 1 to %" PRId32 ", or -1 for the broker's default", max);
    }
}

static void set_expressions(struct loader *l, const struct entry *e, const char **out)
{
    *out = e->value;
    (void)loader_check_regex_list(l, e, e->value);
}

static void set_option(struct loader *l, const struct entry *e, struct topic_group *group,
                       const char *option, bool is_default)
{
    if (strcmp(option, "partitions") == 0) {
        set_count(l, e, INT32_MAX, &group->partition_count);
    } else if (strcmp(option, "replication.factor") == 0) {
        set_count(l, e, INT16_MAX, &group->replication_factor);
    } else if (is_default && (strcmp(option, "include") == 0 || strcmp(option, "exclude") == 0)) {
        loader_problem_name(l, e, "the default group has all topics that no other group has");
    } else if (strcmp(option, "include") == 0) {
        set_expressions(l, e, &group->include);
    } else if (strcmp(option, "exclude") == 0) {
        set_expressions(l, e, &group->exclude);
    } else {
        loader_pair_set(l, &group->settings, option, e->value);
    }
}

static void take_option(struct loader *l, const struct entry *e)
{
    const char *rest = e->key + sizeof(PREFIX) - 1;
    const char *dot = strchr(rest, '.');
    struct wr_slice name = {rest, dot == NULL ? strlen(rest) : (size_t)(dot - rest)};
    struct topic_group *group = find_group(l->config, name);

    if (dot == NULL || dot[1] == '\0') {
        loader_problem_name(l, e,
                            "must end with GROUP.SETTING, as topic.creation.default.partitions");
    } else if (group == NULL) {
        loader_problem_name(l, e, "there is no group %.*s in topic.creation.groups", (int)name.size,
                            name.data);
    } else {
        set_option(l, e, group, dot + 1, wr_slice_is(name, "default"));
    }
}

static bool is_option(const struct entry *e)
{
    return !e->is_overridden && strncmp(e->key, PREFIX, sizeof(PREFIX) - 1) == 0 &&
           strcmp(e->key, GROUPS_KEY) != 0 && strcmp(e->key, "topic.creation.enable") != 0;
}

static void check_default(struct loader *l, const struct topic_group *group)
{
    if (group->partition_count == 0 &&
        loader_find(l, "topic.creation.default.partitions") == NULL) {
        loader_problem_source(l, NULL, 0,
                              "topic.creation.default.partitions: is required where "
                              "topics are to be created; -1 is the broker's default");
    }
    if (group->replication_factor == 0 &&
        loader_find(l, "topic.creation.default.replication.factor") == NULL) {
        loader_problem_source(l, NULL, 0,
                              "topic.creation.default.replication.factor: is required where topics "
                              "are to be created; -1 is the broker's default");
    }
}

static void check_group(struct loader *l, struct topic_group *group,
                        const struct topic_group *default_group)
{
    if (group->include == NULL) {
        loader_problem_source(l, NULL, 0,
                              "topic.creation.%s.include: is required: the topics of the "
                              "group, as expressions",
                              group->name);
    }
    if (group->partition_count == 0) {
        group->partition_count = default_group->partition_count;
    }
    if (group->replication_factor == 0) {
        group->replication_factor = default_group->replication_factor;
    }
}

/* The groups in the order in which they are asked for a topic; the default group is the last. */
void topic_groups_apply(struct loader *l)
{
    struct config *config = l->config;
    const struct entry *groups = loader_find(l, GROUPS_KEY);
    struct wr_slice left = wr_slice_str(groups == NULL ? "" : groups->value);
    struct wr_slice name = {0};
    bool is_asked_for = false;

    for (size_t i = 0; i < l->entry_count; i++) {
        is_asked_for = is_asked_for || is_option(&l->entries[i]);
    }
    while (loader_take_item(&left, ',', &name)) {
        if (name.size > 0 && !wr_slice_is(name, "default") && find_group(config, name) == NULL) {
            add_group(l, name);
            is_asked_for = true;
        }
    }
    if (!is_asked_for) {
        return;
    }
    add_group(l, WR_SLICE("default"));
    for (size_t i = 0; i < l->entry_count; i++) {
        if (is_option(&l->entries[i])) {
            take_option(l, &l->entries[i]);
        }
    }
    const struct topic_group *last = &config->topic_groups[config->topic_group_count - 1];
    check_default(l, last);
    for (size_t i = 0; i + 1 < config->topic_group_count; i++) {
        check_group(l, &config->topic_groups[i], last);
    }
    if (!config->topic_creation_enable) {
        config->topic_group_count = 0; /* checked, and then left to the broker */
    }
}
