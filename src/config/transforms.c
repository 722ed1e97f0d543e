#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/regex.h"
#include "config/loader.h"
#include "config/property.h"

/* "transforms=a,b" and all that stands behind "transforms.a." and "transforms.b.". */

static const char family[] = "transforms.";

/* The scope of a transform's own options, and the struct they are stored in. */
static enum property_scope own_scope(const struct transform_config *t)
{
    switch (t->kind) {
    case TRANSFORM_EVENT_ROUTER:
        return SCOPE_EVENT_ROUTER;
    case TRANSFORM_REGEX_ROUTER:
        return SCOPE_REGEX_ROUTER;
    }
    abort();
}

static const char *prefix_of(struct loader *l, const struct transform_config *t)
{
    return wr_arena_printf(l->arena, "%s%s.", family, t->name);
}

static const struct entry *find_option(struct loader *l, const struct transform_config *t,
                                       const char *name)
{
    return loader_find(l, wr_arena_printf(l->arena, "%s%s.%s", family, t->name, name));
}

/* False when nobody can tell what kind the transform is; then that is a problem already. */
static bool read_kind(struct loader *l, struct transform_config *t)
{
    const struct entry *e = find_option(l, t, "type");
    struct property_match match = {0};
    size_t problems = l->problem_count;

    property_check_required(l, SCOPE_TRANSFORM, prefix_of(l, t));
    if (e == NULL || e->value[0] == '\0' || !property_find(SCOPE_TRANSFORM, "type", &match)) {
        return false;
    }
    property_apply(l, &match, e, t);
    return l->problem_count == problems;
}

static void apply_option(struct loader *l, struct transform_config *t, const struct entry *e,
                         const char *name)
{
    struct property_match match = {0};

    if (property_find(own_scope(t), name, &match)) {
        property_apply(l, &match, e, &t->as);
    } else if (!property_find(SCOPE_TRANSFORM, name, &match)) {
        property_report_unknown(l, e, own_scope(t), name);
    } else if (strcmp(name, "type") != 0) {
        property_apply(l, &match, e, t);
    }
}

static void apply_options(struct loader *l, struct transform_config *t)
{
    const char *prefix = prefix_of(l, t);
    size_t prefix_size = strlen(prefix);

    property_apply_defaults(l, own_scope(t), &t->as);
    for (size_t i = 0; i < l->entry_count; i++) {
        const struct entry *e = &l->entries[i];
        if (!e->is_overridden && strncmp(e->key, prefix, prefix_size) == 0) {
            apply_option(l, t, e, e->key + prefix_size);
        }
    }
    property_check_required(l, own_scope(t), prefix);
}

/* A replacement may name only groups that its expression has. */
static void check_replacement(struct loader *l, const struct transform_config *t, const char *name,
                              const char *pattern, const char *replacement)
{
    const struct entry *e = find_option(l, t, name);
    struct wr_regex *regex = NULL;
    struct wr_error err;

    if (pattern == NULL || replacement == NULL ||
        wr_regex_new(pattern, false, &regex, &err) != WR_OK) {
        return; /* that is a problem already */
    }
    if (wr_regex_check_replacement(regex, replacement, &err) != WR_OK) {
        if (e == NULL) { /* the default, beside an expression without its group */
            loader_problem_source(l, NULL, 0,
                                  "%s%s.%s: is required, as its default does not go "
                                  "with the expression: %s",
                                  family, t->name, name, err.text);
        } else {
            loader_problem(l, e, "%s", e->is_secret ? "names a group that is not there" : err.text);
        }
    }
    wr_regex_free(regex);
}

static void check_replacements(struct loader *l, const struct transform_config *t)
{
    switch (t->kind) {
    case TRANSFORM_EVENT_ROUTER:
        check_replacement(l, t, "route.topic.replacement", t->as.event_router.route_topic_regex,
                          t->as.event_router.route_topic_replacement);
        return;
    case TRANSFORM_REGEX_ROUTER:
        check_replacement(l, t, "replacement", t->as.regex_router.regex,
                          t->as.regex_router.replacement);
        return;
    }
}

static bool is_listed(const struct config *config, struct wr_slice name)
{
    for (size_t i = 0; i < config->transform_count; i++) {
        if (wr_slice_is(name, config->transforms[i].name)) {
            return true;
        }
    }
    return false;
}

/* The transforms that are listed, with their names only. */
static void read_names(struct loader *l, const struct entry *e)
{
    struct config *config = l->config;
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice name = {0};

    config->transforms = loader_alloc(l, CONFIG_TRANSFORM_COUNT_MAX, sizeof(*config->transforms));
    while (loader_take_item(&list, ',', &name)) {
        if (name.size == 0) {
            continue;
        }
        if (is_listed(config, name)) {
            loader_problem(l, e, "has %.*s twice", (int)name.size, name.data);
            return;
        }
        if (config->transform_count == CONFIG_TRANSFORM_COUNT_MAX) {
            loader_problem(l, e, "must be at most %d transforms", CONFIG_TRANSFORM_COUNT_MAX);
            return;
        }
        config->transforms[config->transform_count++].name = loader_copy(l, name);
    }
}

/* True when the key is of a transform that is listed, whose name may have dots. */
static bool has_owner(const struct config *config, const char *key)
{
    const char *rest = key + sizeof(family) - 1;

    for (size_t i = 0; i < config->transform_count; i++) {
        size_t size = strlen(config->transforms[i].name);
        if (strncmp(rest, config->transforms[i].name, size) == 0 && rest[size] == '.') {
            return true;
        }
    }
    return false;
}

static void report_strays(struct loader *l)
{
    for (size_t i = 0; i < l->entry_count; i++) {
        const struct entry *e = &l->entries[i];
        bool is_option = strncmp(e->key, family, sizeof(family) - 1) == 0;
        if (is_option && !e->is_overridden && !has_owner(l->config, e->key)) {
            loader_problem_name(l, e, "belongs to no transform that \"transforms\" names");
        }
    }
}

void transforms_apply(struct loader *l)
{
    const struct entry *list = loader_find(l, "transforms");

    if (list != NULL) {
        read_names(l, list);
    }
    for (size_t i = 0; i < l->config->transform_count; i++) {
        struct transform_config *t = &l->config->transforms[i];
        if (read_kind(l, t)) {
            apply_options(l, t);
            check_replacements(l, t);
        }
    }
    if (!l->is_incomplete) {
        report_strays(l);
    }
}
