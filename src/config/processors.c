#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "config/config.h"
#include "config/loader.h"
#include "config/property.h"

/* post.processors, of which Debezium has one that is of use here; and the options of converters. */

static const char RESELECT[] = "io.debezium.processors.reselect.ReselectColumnsPostProcessor";

/* Whether `key` is NAME.… of a name in the list that the property `list` holds. */
static bool is_of_list(const struct loader *l, const char *list, const char *key)
{
    const struct entry *e = loader_find(l, list);
    struct wr_slice left = wr_slice_str(e == NULL ? "" : e->value);
    struct wr_slice name = {0};

    while (loader_take_item(&left, ',', &name)) {
        if (name.size > 0 && strncmp(key, name.data, name.size) == 0 && key[name.size] == '.') {
            return true;
        }
    }
    return false;
}

bool processors_have(const struct loader *l, const char *key)
{
    return is_of_list(l, "post.processors", key) || is_of_list(l, "converters", key);
}

static void set_bool(struct loader *l, const struct entry *e, bool *out)
{
    if (strcasecmp(e->value, "true") != 0 && strcasecmp(e->value, "false") != 0) {
        loader_problem(l, e, "must be true or false");
        return;
    }
    *out = strcasecmp(e->value, "true") == 0;
}

static void set_list(struct loader *l, const struct entry *e, const char **out)
{
    if (loader_check_regex_list(l, e, e->value)) {
        *out = e->value[0] == '\0' ? NULL : e->value;
    }
}

static void set_failure(struct loader *l, const struct entry *e, bool *out)
{
    if (strcasecmp(e->value, "warn") != 0 && strcasecmp(e->value, "fail") != 0) {
        loader_problem(l, e, "must be warn or fail");
        return;
    }
    *out = strcasecmp(e->value, "fail") == 0;
}

/* `option` is what stands behind the name and its point. */
static void set_reselect(struct loader *l, const struct entry *e, const char *option)
{
    struct reselect_config *reselect = &l->config->reselect;

    if (strcmp(option, "reselect.columns.include.list") == 0) {
        set_list(l, e, &reselect->include);
    } else if (strcmp(option, "reselect.columns.exclude.list") == 0) {
        set_list(l, e, &reselect->exclude);
    } else if (strcmp(option, "reselect.unavailable.values") == 0) {
        set_bool(l, e, &reselect->unavailable_values);
    } else if (strcmp(option, "reselect.null.values") == 0) {
        set_bool(l, e, &reselect->null_values);
    } else if (strcmp(option, "reselect.error.handling.mode") == 0) {
        set_failure(l, e, &reselect->fails);
    } else if (strcmp(option, "reselect.use.event.key") != 0 &&
               strncmp(option, "reselect.cache.", 15) != 0 && strcmp(option, "type") != 0) {
        loader_problem_name(l, e, "is no option of %s", RESELECT);
    }
}

static bool is_reselect(const char *class)
{
    return strcmp(class, RESELECT) == 0 || strcmp(class, strrchr(RESELECT, '.') + 1) == 0;
}

static void apply_processor(struct loader *l, const struct entry *list, struct wr_slice name)
{
    const char *prefix = wr_arena_printf(l->arena, "%.*s.", (int)name.size, name.data);
    const struct entry *type = loader_find(l, wr_arena_printf(l->arena, "%stype", prefix));

    if (type == NULL || !is_reselect(type->value)) {
        loader_problem(l, type == NULL ? list : type, "is not supported; there is %s", RESELECT);
        return;
    }
    l->config->reselect.is_enabled = true;
    for (size_t i = 0; i < l->entry_count; i++) {
        const struct entry *e = &l->entries[i];
        if (!e->is_overridden && strncmp(e->key, prefix, strlen(prefix)) == 0) {
            set_reselect(l, e, e->key + strlen(prefix));
        }
    }
}

void processors_apply(struct loader *l)
{
    const struct entry *list = loader_find(l, "post.processors");
    struct wr_slice left = wr_slice_str(list == NULL ? "" : list->value);
    struct wr_slice name = {0};

    l->config->reselect = (struct reselect_config){.unavailable_values = true, .null_values = true};
    while (loader_take_item(&left, ',', &name)) {
        if (name.size > 0 && l->config->reselect.is_enabled) {
            loader_problem(l, list, "names more than one; the first can do all");
            return;
        }
        if (name.size > 0) {
            apply_processor(l, list, name);
        }
    }
    if (l->config->reselect.include != NULL && l->config->reselect.exclude != NULL) {
        loader_problem(l, list,
                       "has both reselect.columns.include.list and "
                       "reselect.columns.exclude.list; only one of them may be given");
    }
}
