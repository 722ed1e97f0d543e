/*
 * io.debezium.transforms.ByLogicalTableRouter: the records of several tables under one topic. The
 * key gets a field that says which table it is of, since keys of several tables may be alike, and
 * the schemas get the names of the new topic. A table's topic does not change from row to row, so
 * what it becomes is settled at the Relation message.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/limits.h"
#include "base/regex.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "decoder/schema.h"
#include "router/adjust.h"
#include "router/plan.h"
#include "router/transform.h"
#include "router/tree.h"

struct logical_router {
    struct wr_regex *topic;
    struct wr_regex *key; /* NULL: the key's field is the old topic */
};

/* What becomes of the records of one topic. */
struct logical_route {
    struct wr_slice from;
    struct wr_slice to;         /* empty: they stay */
    struct wr_slice identifier; /* for the key */
};

static enum wr_status regex_make(const char *pattern, const char *replacement,
                                 struct wr_regex **regex, struct wr_error *err)
{
    enum wr_status status = wr_regex_new(pattern, false, regex, err);

    return status == WR_OK ? wr_regex_check_replacement(*regex, replacement, err) : status;
}

static enum wr_status logical_router_make(const struct transform_config *config,
                                          struct transform *t, struct wr_error *err)
{
    const struct logical_router_config *c = &config->as.logical_router;
    struct logical_router *router = calloc(1, sizeof(*router));

    if (router == NULL) {
        abort();
    }
    t->state = router;
    enum wr_status status = regex_make(c->topic_regex, c->topic_replacement, &router->topic, err);
    if (status != WR_OK || c->key_field_regex == NULL) {
        return status;
    }
    if (c->key_field_replacement == NULL) {
        return wr_fail(err, WR_FATAL, "router",
                       "transforms.%s.key.field.replacement: is required beside key.field.regex",
                       config->name);
    }
    return regex_make(c->key_field_regex, c->key_field_replacement, &router->key, err);
}

static void logical_router_free(struct transform *t)
{
    struct logical_router *router = t->state;

    wr_regex_free(router->topic);
    wr_regex_free(router->key);
    free(router);
}

/* `text` as `regex` and `replacement` make it, in `arena`. False: no match, or no room. */
static bool replace(const struct wr_regex *regex, const char *replacement, struct wr_slice text,
                    struct wr_arena *arena, struct wr_slice *out, bool *fits)
{
    struct wr_buffer name;

    wr_buffer_init(&name, WR_RELATION_SIZE_MAX);
    bool matches = wr_regex_replace(regex, text, replacement, &name);
    if (matches) {
        *out = (struct wr_slice){wr_arena_strndup(arena, name.data, name.size), name.size};
        *fits = out->data != NULL && !name.failed;
    }
    wr_buffer_done(&name);
    return matches && *fits;
}

/* False: `arena` has no room. */
static bool route_make(const struct transform *t, struct wr_slice from, struct wr_arena *arena,
                       struct logical_route *out)
{
    const struct logical_router *router = t->state;
    const struct logical_router_config *c = &t->config->as.logical_router;
    bool fits = true;

    *out = (struct logical_route){.from = from, .identifier = from};
    if (replace(router->topic, c->topic_replacement, from, arena, &out->to, &fits) &&
        router->key != NULL) {
        (void)replace(router->key, c->key_field_replacement, from, arena, &out->identifier, &fits);
    }
    return fits;
}

static enum wr_status logical_router_compile(const struct transform *t,
                                             const struct relation *relation, void **compiled,
                                             struct wr_error *err)
{
    struct logical_route *route = wr_arena_alloc(relation->arena, 1, sizeof(*route));

    if (route == NULL || !route_make(t, relation->plan->topic, relation->arena, route)) {
        return wr_fail(err, WR_FATAL, "logical_router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                       relation->schema, relation->table);
    }
    *compiled = route;
    return WR_OK;
}

/* "<topic>.<suffix>", as the mode has it. NULL: the arena is full. */
static const char *schema_name(const struct transform *t, struct wr_arena *arena,
                               struct wr_slice topic, const char *suffix)
{
    enum name_adjustment_mode mode = t->config->as.logical_router.schema_name_adjustment_mode;
    struct wr_buffer name, adjusted;

    wr_buffer_init(&name, WR_RELATION_SIZE_MAX);
    wr_buffer_init(&adjusted, WR_RELATION_SIZE_MAX);
    wr_buffer_add_slice(&name, topic);
    wr_buffer_add_char(&name, '.');
    wr_buffer_add_str(&name, suffix);
    adjust_name(&adjusted, mode, ADJUST_SCHEMA, wr_buffer_slice(&name));
    const char *copy = wr_arena_strndup(arena, adjusted.data, adjusted.size);
    wr_buffer_done(&name);
    wr_buffer_done(&adjusted);
    return copy;
}

/* The record has its new topic already. */
static const struct schema *key_schema_make(const struct transform *t, const struct record *record,
                                            const struct schema *old, struct wr_arena *arena)
{
    const struct logical_router_config *c = &t->config->as.logical_router;
    struct schema *schema = schema_copy(arena, old);
    struct schema_field *fields = wr_arena_alloc(arena, old->field_count + 1, sizeof(*fields));
    const char *name = schema_name(t, arena, record->topic, "Key");

    if (schema == NULL || fields == NULL || name == NULL) {
        return NULL;
    }
    memcpy(fields, old->fields, old->field_count * sizeof(*fields));
    schema->name = name;
    schema->fields = fields;
    if (c->key_enforce_uniqueness) {
        fields[schema->field_count++] = (struct schema_field){wr_slice_str(c->key_field_name),
                                                              schema_plain(SCHEMA_STRING, false)};
    }
    return schema;
}

static bool is_row(struct wr_slice field)
{
    return wr_slice_is(field, "before") || wr_slice_is(field, "after");
}

static const struct schema *envelope_schema_make(const struct transform *t,
                                                 const struct record *record,
                                                 const struct schema *old, struct wr_arena *arena)
{
    struct schema *envelope = schema_copy(arena, old);
    struct schema *row = schema_copy(arena, schema_field(old, WR_SLICE("after"))->schema);
    struct schema_field *fields = wr_arena_alloc(arena, old->field_count + 1, sizeof(*fields));
    const char *row_name = schema_name(t, arena, record->topic, "Value");
    const char *name = schema_name(t, arena, record->topic, "Envelope");

    if (envelope == NULL || row == NULL || fields == NULL || row_name == NULL || name == NULL) {
        return NULL;
    }
    row->name = row_name;
    envelope->name = name;
    envelope->fields = fields;
    for (size_t i = 0; i < old->field_count; i++) {
        fields[i] = old->fields[i];
        if (is_row(fields[i].name)) {
            fields[i].schema = row;
        }
    }
    return envelope;
}

/* `count` fields with room for one more, which is `name`. NULL: no room. */
static struct datum_field *append(const struct datum_field *fields, size_t count, const char *name,
                                  struct wr_slice value, struct wr_arena *scratch)
{
    struct datum_field *longer = wr_arena_alloc(scratch, count + 1, sizeof(*longer));

    if (longer == NULL) {
        return NULL;
    }
    if (count > 0) {
        memcpy(longer, fields, count * sizeof(*fields));
    }
    longer[count] =
        (struct datum_field){wr_slice_str(name), {.kind = DATUM_STRING, .as.bytes = value}};
    return longer;
}

static enum wr_status key_identify(const struct transform *t, struct record_part *key,
                                   struct wr_slice identifier, struct wr_arena *scratch,
                                   struct wr_error *err)
{
    const char *name = t->config->as.logical_router.key_field_name;
    const struct datum_field *fields = NULL;

    if (key->kind == PART_ROW) {
        struct row_view *row = &key->as.row;
        fields = append(row->added, row->added_count, name, identifier, scratch);
        row->added = fields;
        row->added_count++;
    } else if (key->kind == PART_DATUM && key->as.datum.kind == DATUM_STRUCT) {
        struct datum *datum = &key->as.datum;
        fields = append(datum->as.structure.fields, datum->as.structure.count, name, identifier,
                        scratch);
        datum->as.structure.fields = fields;
        datum->as.structure.count++;
    } else {
        return wr_fail(err, WR_REJECT, "logical_router",
                       "transforms.%s: the key is no structure, to which a field could be added",
                       t->config->name);
    }
    if (fields == NULL) {
        return wr_fail(err, WR_REJECT, "logical_router", "the record is too large");
    }
    return WR_OK;
}

static enum wr_status key_change(const struct transform *t, struct record *record,
                                 struct wr_slice identifier, struct wr_arena *scratch,
                                 struct wr_error *err)
{
    struct record_part *key = &record->key;

    if (key->kind == PART_NULL) { /* a table without a key */
        return WR_OK;
    }
    enum wr_status status =
        transform_schema(t, record, key->schema, key_schema_make, scratch, &key->schema, err);
    if (status == WR_OK && t->config->as.logical_router.key_enforce_uniqueness) {
        status = key_identify(t, key, identifier, scratch, err);
    }
    return status;
}

static enum wr_status logical_router_apply(const struct transform *t, const void *compiled,
                                           struct record *record, struct wr_arena *scratch,
                                           bool *keep, struct wr_error *err)
{
    const struct logical_route *settled = compiled;
    struct logical_route route;

    *keep = true;
    if (part_is_expanded_envelope(&record->value)) {
        return envelope_is_expanded(t->config->name, err);
    }
    if (settled != NULL && record->topic.data == settled->from.data) {
        route = *settled;
    } else if (!route_make(t, record->topic, scratch, &route)) {
        return wr_fail(err, WR_REJECT, "logical_router", "topic %.*s: its new name is too long",
                       (int)record->topic.size, record->topic.data);
    }
    if (route.to.size == 0) {
        return WR_OK;
    }
    record->topic = route.to;
    enum wr_status status = key_change(t, record, route.identifier, scratch, err);
    if (status == WR_OK && record->value.kind == PART_ENVELOPE) {
        status = transform_schema(t, record, record->value.schema, envelope_schema_make, scratch,
                                  &record->value.schema, err);
    }
    return status;
}

const struct transform_ops logical_router_ops = {
    .make = logical_router_make,
    .free = logical_router_free,
    .compile = logical_router_compile,
    .apply = logical_router_apply,
};
