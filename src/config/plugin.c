#include "config/plugin.h"

#include <string.h>

#include "base/arena.h"
#include "base/regex.h"
#include "config/loader.h"
#include "config/property.h"

static const char *prefix_of(struct loader *l, const struct plugin *p)
{
    return wr_arena_printf(l->arena, "%s%s.", p->family, p->name);
}

const struct entry *plugin_option(struct loader *l, const struct plugin *p, const char *name)
{
    return loader_find(l, wr_arena_printf(l->arena, "%s%s.%s", p->family, p->name, name));
}

bool plugin_read_kind(struct loader *l, const struct plugin *p)
{
    const struct entry *e = plugin_option(l, p, "type");
    struct property_match match = {0};
    size_t problems = l->problem_count;

    property_check_required(l, p->common_scope, prefix_of(l, p));
    if (e == NULL || e->value[0] == '\0' || !property_find(p->common_scope, "type", &match)) {
        return false;
    }
    property_apply(l, &match, e, p->common);
    return l->problem_count == problems;
}

static void apply_option(struct loader *l, const struct plugin *p, const struct entry *e,
                         const char *name)
{
    struct property_match match = {0};

    if (property_find(p->own_scope, name, &match)) {
        property_apply(l, &match, e, p->own);
    } else if (!property_find(p->common_scope, name, &match)) {
        bool is_like_own = property_nearest(p->own_scope, name) != NULL;
        property_report_unknown(l, e, is_like_own ? p->own_scope : p->common_scope, name);
    } else if (strcmp(name, "type") != 0) {
        property_apply(l, &match, e, p->common);
    }
}

/* A replacement may name only groups that its expression has. */
static void check_replacement(struct loader *l, const struct plugin *p, const char *name,
                              const char *pattern, const char *replacement)
{
    const struct entry *e = plugin_option(l, p, name);
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
                                  p->family, p->name, name, err.text);
        } else {
            loader_problem(l, e, "%s", e->is_secret ? "names a group that is not there" : err.text);
        }
    }
    wr_regex_free(regex);
}

static const char *stored_text(const struct plugin *p, const struct property *property)
{
    const char *text = NULL;

    memcpy(&text, (const char *)p->own + property->offset, sizeof(text));
    return text;
}

static void check_replacements(struct loader *l, const struct plugin *p)
{
    const struct property *property = NULL;
    struct property_match match = {0};

    for (size_t i = 0; (property = property_at(i)) != NULL; i++) {
        if (property->scope == p->own_scope && property->groups_of != NULL &&
            property_find(p->own_scope, property->groups_of, &match)) {
            check_replacement(l, p, property->name, stored_text(p, match.property),
                              stored_text(p, property));
        }
    }
}

void plugin_apply_options(struct loader *l, const struct plugin *p)
{
    const char *prefix = prefix_of(l, p);
    size_t prefix_size = strlen(prefix);

    property_apply_defaults(l, p->own_scope, p->own);
    for (size_t i = 0; i < l->entry_count; i++) {
        const struct entry *e = &l->entries[i];
        if (!e->is_overridden && strncmp(e->key, prefix, prefix_size) == 0) {
            apply_option(l, p, e, e->key + prefix_size);
        }
    }
    property_check_required(l, p->own_scope, prefix);
    check_replacements(l, p);
}

/* The names in a list, each once; NULL and a count of 0 when something is wrong with it. */
static const char **read_names(struct loader *l, const struct entry *e, size_t *count)
{
    const char **names = loader_alloc(l, CONFIG_TRANSFORM_COUNT_MAX, sizeof(*names));
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice name = {0};

    *count = 0;
    while (loader_take_item(&list, ',', &name)) {
        for (size_t i = 0; i < *count; i++) {
            if (wr_slice_is(name, names[i])) {
                loader_problem(l, e, "has %s twice", names[i]);
                return names;
            }
        }
        if (*count == CONFIG_TRANSFORM_COUNT_MAX) {
            loader_problem(l, e, "must be at most %d names", CONFIG_TRANSFORM_COUNT_MAX);
            return names;
        }
        if (name.size > 0) {
            names[(*count)++] = loader_copy(l, name);
        }
    }
    return names;
}

/* A problem for each key of the family that belongs to none of `names`, which may have dots. */
static void report_strays(struct loader *l, const char *list, const char *const *names,
                          size_t count)
{
    size_t list_size = strlen(list);

    for (size_t i = 0; i < l->entry_count; i++) {
        const struct entry *e = &l->entries[i];
        if (e->is_overridden || strncmp(e->key, list, list_size) != 0 || e->key[list_size] != '.') {
            continue;
        }
        const char *rest = e->key + list_size + 1;
        bool has_owner = false;
        for (size_t j = 0; j < count && !has_owner; j++) {
            size_t size = strlen(names[j]);
            has_owner = strncmp(rest, names[j], size) == 0 && rest[size] == '.';
        }
        if (!has_owner) {
            loader_problem_name(l, e, "belongs to no %.*s that \"%s\" names", (int)list_size - 1,
                                list, list);
        }
    }
}

const char **plugin_names(struct loader *l, const char *list, size_t *count)
{
    const struct entry *e = loader_find(l, list);
    const char **names = NULL;

    *count = 0;
    if (e != NULL) {
        names = read_names(l, e, count);
    }
    if (!l->is_incomplete) {
        report_strays(l, list, names, *count);
    }
    return names;
}
