#include <string.h>

#include "base/arena.h"
#include "config/loader.h"
#include "config/plugin.h"
#include "config/property.h"
#include "config/table_rows.h"
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
    {"io.debezium.transforms.ToLogicalTopicRouter",
     "use io.debezium.transforms.ByLogicalTableRouter"},
    {"io.debezium.transforms.EnforceRecordSize",
     "use column.truncate.to.<n>.chars; a record that is too large follows errors.tolerance"},
    {"io.debezium.transforms.openlineage.OpenLineage", "leave it out: no lineage is reported"},
    {"io.debezium.connector.postgresql.transforms.timescaledb.TimescaleDb",
     "use io.debezium.transforms.ByLogicalTableRouter to bring chunks together"},
    {"io.debezium.ai.embeddings.FieldToEmbedding",
     "leave it out and do it where the topic is read"},
    {"io.debezium.ai.docling.FieldToDocling", "leave it out and do it where the topic is read"},
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

static void read_predicates(struct loader *l)
{
    struct config *config = l->config;
    const char **names = plugin_names(l, "predicates", &config->predicate_count);

    config->predicates = loader_alloc(l, config->predicate_count + 1, sizeof(*config->predicates));
    for (size_t i = 0; i < config->predicate_count; i++) {
        config->predicates[i].name = names[i];
        struct plugin plugin = predicate_plugin(&config->predicates[i]);
        if (plugin_read_kind(l, &plugin)) {
            plugin = predicate_plugin(&config->predicates[i]);
            plugin_apply_options(l, &plugin);
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
        loader_problem(l, plugin_option(l, &plugin, "predicate"),
                       "must be one of those that \"predicates\" names");
    }
}

static void read_transforms(struct loader *l)
{
    struct config *config = l->config;
    const char **names = plugin_names(l, "transforms", &config->transform_count);

    config->transforms = loader_alloc(l, config->transform_count + 1, sizeof(*config->transforms));
    for (size_t i = 0; i < config->transform_count; i++) {
        struct transform_config *t = &config->transforms[i];
        t->name = names[i];
        struct plugin plugin = transform_plugin(t);
        if (plugin_read_kind(l, &plugin)) {
            size_t problems = l->problem_count;
            plugin = transform_plugin(t);
            plugin_apply_options(l, &plugin);
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
