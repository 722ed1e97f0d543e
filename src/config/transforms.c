#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/regex.h"
#include "config/loader.h"
#include "config/property.h"
#include "config/transform_config.h"

/*
 * "transforms=a,b" and all that stands behind "transforms.a." and "transforms.b."; and likewise
 * "predicates", which say for which records a transform works.
 */

static const struct transform_type {
    const char *class;
    bool has_side;
    enum property_scope scope; /* of its own options */
} TYPES[] = {
#define TYPE(KIND, name, class, side) [TRANSFORM_##KIND] = {class, side, SCOPE_##KIND},
    WR_TRANSFORMS(TYPE)
#undef TYPE
};

enum { TYPE_COUNT = sizeof(TYPES) / sizeof(TYPES[0]) };

/* Classes that are known and not built in, with what does their work here. */
static const struct {
    const char *class;
    const char *instead;
} REFUSED[] = {
    {"io.debezium.transforms.Filter",
     "use a row filter of the publication (CREATE PUBLICATION … WHERE), skipped.operations, or "
     "org.apache.kafka.connect.transforms.Filter with a predicate"},
    {"io.debezium.transforms.ContentBasedRouter",
     "use route.by.field of io.debezium.transforms.ExtractNewRecordState, or "
     "io.debezium.transforms.ByLogicalTableRouter with a predicate"},
    {"io.debezium.transforms.SchemaChangeEventFilter", "leave it out: there are no such events"},
    {"io.debezium.transforms.tracing.ActivateTracingSpan", "leave it out: there are no traces"},
    {"io.debezium.transforms.partitions.PartitionRouting",
     "use message.key.columns: records with the same key come to the same partition"},
    {"io.debezium.transforms.HeaderToValue",
     "use add.fields of io.debezium.transforms.ExtractNewRecordState"},
    {"io.debezium.transforms.TimezoneConverter",
     "leave it out and convert where the topic is read: times are in UTC"},
    {"io.debezium.transforms.ExtractChangedRecordState",
     "use io.debezium.transforms.ExtractNewRecordState"},
    {"io.debezium.transforms.ExtractSchemaToNewRecord",
     "use key.converter.schemas.enable and value.converter.schemas.enable"},
    {"io.debezium.connector.postgresql.transforms.DecodeLogicalDecodingMessageContent",
     "leave it out and decode message.content, which is bytes, where the topic is read"},
    {"io.debezium.transforms.VectorToJsonConverter",
     "leave it out: a vector is published as an array of numbers"},
    {"io.debezium.transforms.SwapGeometryCoordinates",
     "leave it out and swap the coordinates where the topic is read"},
    {"io.debezium.transforms.GeometryFormatTransformer",
     "leave it out and convert geometries where the topic is read"},
};

/* One transform or predicate while it is read. */
struct plugin {
    const char *family; /* "transforms." or "predicates." */
    const char *name;
    enum property_scope common_scope; /* of what all of the family have */
    void *common;                     /* the struct of that scope */
    enum property_scope own_scope;
    void *own;
};

static struct plugin transform_plugin(struct transform_config *t)
{
    return (struct plugin){"transforms.",        t->name, SCOPE_TRANSFORM, t,
                           TYPES[t->kind].scope, &t->as};
}

static struct plugin predicate_plugin(struct predicate_config *p)
{
    static const enum property_scope own[] = {
        [PREDICATE_TOPIC_NAME_MATCHES] = SCOPE_TOPIC_NAME_MATCHES,
        [PREDICATE_RECORD_IS_TOMBSTONE] = SCOPE_RECORD_IS_TOMBSTONE,
        [PREDICATE_HAS_HEADER_KEY] = SCOPE_HAS_HEADER_KEY,
    };

    return (struct plugin){"predicates.", p->name, SCOPE_PREDICATE, p, own[p->kind], p};
}

static const char *prefix_of(struct loader *l, const struct plugin *p)
{
    return wr_arena_printf(l->arena, "%s%s.", p->family, p->name);
}

static const struct entry *find_option(struct loader *l, const struct plugin *p, const char *name)
{
    return loader_find(l, wr_arena_printf(l->arena, "%s%s.%s", p->family, p->name, name));
}

/* False when nobody can tell what kind it is; then that is a problem already. */
static bool read_kind(struct loader *l, const struct plugin *p)
{
    const struct entry *e = find_option(l, p, "type");
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
        property_report_unknown(l, e, p->own_scope, name);
    } else if (strcmp(name, "type") != 0) {
        property_apply(l, &match, e, p->common);
    }
}

/* A replacement may name only groups that its expression has. */
static void check_replacement(struct loader *l, const struct plugin *p, const char *name,
                              const char *pattern, const char *replacement)
{
    const struct entry *e = find_option(l, p, name);
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

static void apply_options(struct loader *l, const struct plugin *p)
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

/* Kafka Connect takes a class by its bare name, too. */
static bool class_is(struct wr_slice text, const char *class)
{
    return wr_slice_is(text, class) || wr_slice_is(text, strrchr(class, '.') + 1);
}

static const char *instead_of(const char *class)
{
    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++) {
        if (strcmp(REFUSED[i].class, class) == 0) {
            return REFUSED[i].instead;
        }
    }
    return "`walrelay config transforms.<name>.type` lists those that are";
}

void set_transform_type(struct loader *l, const struct property_match *match, const struct entry *e,
                        void *base)
{
    struct transform_config *t = base;
    struct wr_slice class = {e->value, strcspn(e->value, "$")};
    const char *side = e->value + class.size;
    bool is_key = strcmp(side, "$Key") == 0;
    bool has_side = is_key || strcmp(side, "$Value") == 0;

    (void)match;
    for (unsigned i = 0; i < TYPE_COUNT; i++) {
        if (!class_is(class, TYPES[i].class)) {
            continue;
        }
        if (TYPES[i].has_side ? !has_side : side[0] != '\0') {
            loader_problem(l, e,
                           TYPES[i].has_side ? "must have $Key or $Value behind it"
                                             : "must have no $ behind it");
        }
        t->kind = (enum transform_kind)i;
        t->is_key = is_key;
        return;
    }
    loader_problem(l, e, "is not built in; %s", instead_of(e->value));
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

/* What the list of that name holds; its strays become problems. */
static const char **take_list(struct loader *l, const char *list, size_t *count)
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

static void read_predicates(struct loader *l)
{
    struct config *config = l->config;
    const char **names = take_list(l, "predicates", &config->predicate_count);

    config->predicates = loader_alloc(l, config->predicate_count + 1, sizeof(*config->predicates));
    for (size_t i = 0; i < config->predicate_count; i++) {
        config->predicates[i].name = names[i];
        struct plugin plugin = predicate_plugin(&config->predicates[i]);
        if (read_kind(l, &plugin)) {
            plugin = predicate_plugin(&config->predicates[i]);
            apply_options(l, &plugin);
        }
    }
}

static void find_predicate(struct loader *l, struct transform_config *t)
{
    const struct config *config = l->config;

    for (size_t i = 0; t->predicate_name != NULL && i < config->predicate_count; i++) {
        if (strcmp(config->predicates[i].name, t->predicate_name) == 0) {
            t->predicate = &config->predicates[i];
            return;
        }
    }
    if (t->predicate_name != NULL) {
        const struct plugin plugin = transform_plugin(t);
        loader_problem(l, find_option(l, &plugin, "predicate"),
                       "must be one of those that \"predicates\" names");
    }
}

static void read_transforms(struct loader *l)
{
    struct config *config = l->config;
    const char **names = take_list(l, "transforms", &config->transform_count);

    config->transforms = loader_alloc(l, config->transform_count + 1, sizeof(*config->transforms));
    for (size_t i = 0; i < config->transform_count; i++) {
        struct transform_config *t = &config->transforms[i];
        t->name = names[i];
        struct plugin plugin = transform_plugin(t);
        if (read_kind(l, &plugin)) {
            size_t problems = l->problem_count;
            plugin = transform_plugin(t);
            apply_options(l, &plugin);
            find_predicate(l, t);
            if (l->problem_count == problems) {
                smt_check(l, t);
            }
        }
    }
}

void transforms_apply(struct loader *l)
{
    read_predicates(l);
    read_transforms(l);
}
