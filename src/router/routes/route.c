#include "router/routes/route.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/regex.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "router/filter.h"
#include "router/plan.h"
#include "router/router.h"
#include "router/routes/state.h"
#include "router/topic.h"
#include "router/topic_owners.h"

/* One route of one table while it is settled. */
struct settling {
    struct routes *routes;
    const struct route_config *config;
    struct route_source source;
    struct table_route *out;
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL) {
        abort();
    }
    return memory;
}

enum wr_status routes_new(const struct config *config, const struct router_sink *sink,
                          struct routes **out, struct wr_error *err)
{
    *out = NULL;
    if (config->route_count == 0) {
        return WR_OK;
    }
    struct routes *r = allocate(1, sizeof(*r));
    r->config = config;
    r->sink = sink;
    r->known = topic_owners_new();
    r->tables = allocate(config->route_count, sizeof(struct wr_regex_list *));
    r->commit_us = -1;
    wr_buffer_init(&r->keys, WR_RECORD_SIZE_MAX);
    wr_buffer_init(&r->names, WR_RECORD_SIZE_MAX);
    for (size_t i = 0; i < config->route_count; i++) {
        const char *list = config->routes[i].table_include_list;
        enum wr_status status = list == NULL ? WR_OK : wr_regex_list_new(list, &r->tables[i], err);
        if (status != WR_OK) {
            routes_free(r);
            return status;
        }
    }
    *out = r;
    return WR_OK;
}

void routes_free(struct routes *r)
{
    if (r == NULL) {
        return;
    }
    for (size_t i = 0; i < r->config->route_count; i++) {
        wr_regex_list_free(r->tables[i]);
    }
    free(r->tables);
    topic_owners_free(r->known);
    wr_buffer_done(&r->keys);
    wr_buffer_done(&r->names);
    free(r);
}

/* True the first time that this is asked of the table. */
static bool is_new(struct routes *r, const struct relation *relation, const char *what)
{
    char table[512];
    const char *other = NULL;

    (void)snprintf(table, sizeof(table), "%s.%s", relation->schema, relation->table);
    return topic_owners_add(r->known, table, what, &other);
}

static void notice(const struct settling *s, const char *format, ...) WR_PRINTF(2, 3);

/* "route NAME: TEXT", once a table. */
static void notice(const struct settling *s, const char *format, ...)
{
    char text[1024];
    int size = snprintf(text, sizeof(text), "route %s: ", s->config->name);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text + size, sizeof(text) - (size_t)size, format, args);
    va_end(args);
    if (is_new(s->routes, s->source.relation, text)) {
        s->routes->sink->notice(s->routes->sink->context, text);
    }
}

static enum wr_status no_room(const struct settling *s, struct wr_error *err)
{
    return wr_fail(err, WR_FATAL, "router",
                   "%s.%s does not fit WR_RELATION_SIZE_MAX with its "
                   "routes",
                   s->source.relation->schema, s->source.relation->table);
}

static void topic_by_template(const struct settling *s, struct wr_buffer *out)
{
    const struct template_config *t = s->config->topic;

    for (size_t i = 0; i < t->piece_count; i++) {
        if (!t->pieces[i].is_column) {
            wr_buffer_add_slice(out, t->pieces[i].text);
        } else {
            bool is_table = wr_slice_is(t->pieces[i].text, "table");
            wr_buffer_add_str(out,
                              is_table ? s->source.relation->table : s->source.relation->schema);
        }
    }
}

static void topic_by_default(const struct settling *s, struct wr_buffer *out)
{
    const struct config *config = s->routes->config;

    wr_buffer_add_str(out, config->topic_prefix);
    wr_buffer_add_str(out, config->topic_delimiter);
    wr_buffer_add_str(out, s->config->name);
    wr_buffer_add_str(out, config->topic_delimiter);
    wr_buffer_add_str(out, s->source.relation->table);
}

static enum wr_status settle_topic(struct settling *s, struct wr_error *err)
{
    const struct relation *relation = s->source.relation;
    struct wr_buffer name;
    struct wr_buffer legal;
    enum wr_status status = WR_OK;

    wr_buffer_init(&name, WR_RELATION_SIZE_MAX);
    wr_buffer_init(&legal, WR_RELATION_SIZE_MAX);
    if (s->config->topic != NULL) {
        topic_by_template(s, &name);
    } else {
        topic_by_default(s, &name);
    }
    bool is_changed = topic_sanitize(&legal, wr_buffer_slice(&name));
    const char *problem = topic_problem(wr_buffer_slice(&legal));
    const char *topic = wr_arena_strndup(relation->arena, legal.data, legal.size);
    if (problem != NULL) {
        status = wr_fail(err, WR_FATAL, "router", "%s.%s: the topic of the route %s %s",
                         relation->schema, relation->table, s->config->name, problem);
    } else if (topic == NULL) {
        status = no_room(s, err);
    } else {
        s->out->topic = (struct wr_slice){topic, legal.size};
        if (is_changed) {
            notice(s, "table %s.%s publishes to the topic %s: its own name is none",
                   relation->schema, relation->table, topic);
        }
    }
    wr_buffer_done(&name);
    wr_buffer_done(&legal);
    return status;
}

/* A table without one has inserts only. */
static bool has_identity(const struct relation *relation)
{
    for (uint16_t i = 0; i < relation->column_count; i++) {
        if (relation->columns[i].is_key) {
            return true;
        }
    }
    return false;
}

static const char *column_name(const struct settling *s, const struct column_plan *column)
{
    return s->source.relation->columns[column->index].name;
}

static void watch(struct table_route *out, const struct column_plan *column)
{
    out->watched[out->watched_count++] = column;
}

/* Where the record's key changes, too, there is something to say. */
static enum wr_status settle_watched(struct settling *s, struct wr_error *err)
{
    const struct config_names *names = &s->config->only_when_changed;
    const struct route_plan *plan = s->source.relation->plan;
    size_t count_max = names->count + plan->key_column_count + s->out->id.part_count;

    if (names->count == 0) {
        return WR_OK;
    }
    s->out->watched =
        wr_arena_alloc(s->source.relation->arena, count_max, sizeof(*s->out->watched));
    if (s->out->watched == NULL) {
        return no_room(s, err);
    }
    for (size_t i = 0; i < names->count; i++) {
        struct route_value value;
        enum wr_status status =
            route_value_find(&s->source, wr_slice_str(names->items[i]), &value, err);
        if (status != WR_OK) {
            return status;
        }
        watch(s->out, value.column);
        if (!value.column->is_identity && has_identity(s->source.relation)) {
            notice(s,
                   "every update of %s.%s counts as a change of %s, as its old value is not "
                   "sent: ALTER TABLE … REPLICA IDENTITY FULL sends it",
                   s->source.relation->schema, s->source.relation->table, names->items[i]);
        }
    }
    for (size_t i = 0; i < plan->key_column_count; i++) {
        watch(s->out, plan->key_columns[i]);
    }
    for (size_t i = 0; i < s->out->id.part_count; i++) {
        if (s->out->id.parts[i].value.column != NULL) {
            watch(s->out, s->out->id.parts[i].value.column);
        }
    }
    return WR_OK;
}

static enum wr_status settle_document(struct settling *s, struct wr_error *err)
{
    const struct route_config *config = s->config;

    if (config->document_field_count == 0) {
        return document_of_row(&s->source, &s->out->document, err);
    }
    return document_compile(config->document_fields, config->document_field_count, &s->source,
                            &s->out->document, err);
}

/* An id has to be known of every row that is deleted. */
static enum wr_status settle_search(struct settling *s, struct wr_error *err)
{
    struct relation *relation = s->source.relation;
    struct template *id = &s->out->id;
    enum wr_status status = s->config->document_id == NULL
                                ? template_of_key(relation, id, err)
                                : template_compile(s->config->document_id, &s->source, id, err);

    if (status != WR_OK) {
        return status;
    }
    if (id->part_count == 0) {
        return wr_fail(err, WR_REJECT, "router",
                       "%s.%s has no key that a document's id could be made of; set document.id",
                       relation->schema, relation->table);
    }
    const struct route_value *outside = template_outside_identity(id);
    if (outside != NULL && has_identity(relation)) {
        return wr_fail(err, WR_REJECT, "router",
                       "document.id is made of %s.%s.%s, which deletes do not tell: ALTER TABLE … "
                       "REPLICA IDENTITY FULL makes them",
                       relation->schema, relation->table, column_name(s, outside->column));
    }
    return settle_document(s, err);
}

static enum wr_status settle_cache(struct settling *s, struct wr_error *err)
{
    struct relation *relation = s->source.relation;
    struct template *keys =
        wr_arena_alloc(relation->arena, s->config->key_count + 1, sizeof(*keys));

    if (keys == NULL) {
        return no_room(s, err);
    }
    s->out->keys = keys;
    s->out->key_count = s->config->key_count;
    for (size_t i = 0; i < s->config->key_count; i++) {
        enum wr_status status = template_compile(&s->config->keys[i], &s->source, &keys[i], err);
        if (status != WR_OK) {
            return status;
        }
        const struct route_value *outside = template_outside_identity(&keys[i]);
        if (outside != NULL && has_identity(relation)) {
            notice(s,
                   "the key %s of a row as it was before is not known, as the old %s of %s.%s is "
                   "not sent, and stays in the cache: ALTER TABLE … REPLICA IDENTITY FULL sends it",
                   keys[i].text, column_name(s, outside->column), relation->schema,
                   relation->table);
        }
    }
    return s->config->cache_value == CACHE_VALUE_NONE ? WR_OK : settle_document(s, err);
}

/* The key that message.key.columns makes has to be known of every row that is deleted, too. */
static enum wr_status settle_warehouse(struct settling *s, struct wr_error *err)
{
    struct warehouse_shape *shape = &s->out->warehouse;
    const struct relation *relation = s->source.relation;
    const struct route_plan *plan = relation->plan;

    for (size_t i = 0; i < plan->key_column_count; i++) {
        if (!plan->key_columns[i]->is_identity && has_identity(relation)) {
            return wr_fail(err, WR_REJECT, "router",
                           "the key has %s.%s.%s, which deletes do not tell: ALTER TABLE … REPLICA "
                           "IDENTITY FULL makes them",
                           relation->schema, relation->table, column_name(s, plan->key_columns[i]));
        }
    }

    shape->relation = s->source.relation;
    shape->format = s->config->format;
    enum wr_status status = document_of_key(s->source.relation, &shape->key, err);
    return status == WR_OK ? document_of_row(&s->source, &shape->columns, err) : status;
}

static enum wr_status settle_type(struct settling *s, struct wr_error *err)
{
    switch (s->config->type) {
    case ROUTE_SEARCH:
        return settle_search(s, err);
    case ROUTE_CACHE:
        return settle_cache(s, err);
    case ROUTE_WAREHOUSE:
        return settle_warehouse(s, err);
    }
    abort();
}

static bool catalog_knows(const struct settling *s, const struct catalog_source *catalog)
{
    const struct relation *relation = s->source.relation;
    struct wr_slice name = *s->source.missing;
    struct table_info table = {0};
    struct wr_error err;

    if (name.data == NULL ||
        catalog->table(catalog->context, relation->oid, relation->arena, &table, &err) != WR_OK) {
        return false;
    }
    for (size_t i = 0; i < table.column_count; i++) {
        size_t size = strlen(table.columns[i].name);
        bool is_start = size <= name.size && memcmp(table.columns[i].name, name.data, size) == 0;
        if (is_start && (size == name.size || name.data[size] == '.')) {
            return true;
        }
    }
    return false;
}

/* What is wrong from the start is the configuration's fault; what became so is the rows'. */
static enum wr_status settle_fault(struct settling *s, const struct catalog_source *catalog,
                                   struct wr_error *err)
{
    struct relation *relation = s->source.relation;
    char key[256];
    struct wr_error inner = *err;
    const char *other = NULL;

    (void)snprintf(key, sizeof(key), "%s %s.%s", s->config->name, relation->schema,
                   relation->table);
    (void)wr_fail(err, WR_FATAL, inner.where, "route %s: %s", s->config->name, inner.text);
    bool was_right = !topic_owners_add(s->routes->known, key, "right", &other);
    if (!was_right && !catalog_knows(s, catalog)) {
        return WR_FATAL;
    }
    s->out->broken = wr_arena_strdup(relation->arena, err->text);
    return s->out->broken == NULL ? no_room(s, err) : WR_OK;
}

static void note_right(struct settling *s)
{
    char key[256];
    const char *other = NULL;

    (void)snprintf(key, sizeof(key), "%s %s.%s", s->config->name, s->source.relation->schema,
                   s->source.relation->table);
    (void)topic_owners_add(s->routes->known, key, "right", &other);
}

static enum wr_status settle(struct settling *s, const struct catalog_source *catalog,
                             struct wr_error *err)
{
    struct relation *relation = s->source.relation;
    const char *table =
        wr_arena_printf(relation->arena, "%s.%s", relation->schema, relation->table);

    if (table == NULL) {
        return no_room(s, err);
    }
    s->out->config = s->config;
    s->out->table = wr_slice_str(table);
    enum wr_status status = settle_topic(s, err);
    if (status == WR_OK) {
        status = settle_type(s, err);
    }
    if (status == WR_OK) {
        status = condition_compile(&s->config->where, &s->source, &s->out->where, err);
    }
    if (status == WR_OK) {
        status = settle_watched(s, err);
    }
    if (status == WR_REJECT) {
        return settle_fault(s, catalog, err);
    }
    if (status == WR_OK) {
        note_right(s);
    }
    return status;
}

static bool takes(const struct routes *r, size_t index, const struct relation *relation)
{
    char table[512];

    (void)snprintf(table, sizeof(table), "%s.%s", relation->schema, relation->table);
    return r->tables[index] == NULL || wr_regex_list_matches(r->tables[index], wr_slice_str(table));
}

enum wr_status routes_compile(struct routes *r, const struct filter *filter,
                              struct relation *relation, const struct catalog_source *catalog,
                              struct wr_error *err)
{
    const struct config *config = r->config;
    struct route_plan *plan = relation->plan;
    struct table_route *routes =
        wr_arena_alloc(relation->arena, config->route_count, sizeof(*routes));
    struct wr_slice missing = {NULL, 0};

    if (routes == NULL) {
        return wr_fail(err, WR_FATAL, "router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                       relation->schema, relation->table);
    }
    plan->routes = routes;
    for (size_t i = 0; i < config->route_count; i++) {
        struct settling s = {
            .routes = r,
            .config = &config->routes[i],
            .source = {relation, filter, &missing},
            .out = &routes[plan->route_count],
        };
        if (!takes(r, i, relation)) {
            continue;
        }
        if (!plan->is_captured) {
            if (r->tables[i] != NULL) {
                notice(&s,
                       "table %s.%s is not captured: schema and table include and exclude "
                       "lists leave it out",
                       relation->schema, relation->table);
            }
            continue;
        }
        missing = (struct wr_slice){NULL, 0};
        enum wr_status status = settle(&s, catalog, err);
        if (status != WR_OK) {
            return status;
        }
        plan->route_count++;
        plan->is_routed_only = plan->is_routed_only || s.config->only;
    }
    return WR_OK;
}
