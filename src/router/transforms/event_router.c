/*
 * io.debezium.transforms.outbox.EventRouter: an inserted outbox row is the event that it holds.
 *
 * Input is the envelope of a change, output the event: topic from route.by.field, key, header id
 * and payload from their columns, further columns as headers, envelope fields or the partition.
 * Inserts and snapshot rows are routed. Deletes, truncates and tombstones pass away quietly: they
 * are housekeeping. An update is what table.op.invalid.behavior says, once a row, also when it
 * moves the key and so comes as a delete and a create. What is no envelope of a change (a logical
 * message, a row that an earlier transform unwrapped) passes through unchanged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_scan.h"
#include "base/limits.h"
#include "base/regex.h"
#include "config/config.h"
#include "decoder/datetime.h"
#include "decoder/relation.h"
#include "decoder/schema.h"
#include "router/plan.h"
#include "router/row.h"
#include "router/topic.h"
#include "router/transform.h"
#include "router/tree.h"

enum {
    OID_TIMESTAMP = 1114, /* pg_type.dat */
    OID_TIMESTAMPTZ = 1184,
    ROUTE_CACHE_SIZE = 256,  /* direct-mapped; aggregate types are few */
    NOTICE_COUNT_MAX = 1000, /* then the log has heard enough of one kind */
};

enum notice_kind { NOTICE_TOPIC, NOTICE_PAYLOAD, NOTICE_UPDATE, NOTICE_KIND_COUNT };

/* What one route.by.field value becomes. */
struct cached_route {
    struct wr_buffer value;
    struct wr_buffer topic;
};

struct event_router {
    struct wr_regex *regex;
    struct cached_route routes[ROUTE_CACHE_SIZE];
    unsigned notice_counts[NOTICE_KIND_COUNT];
};

/* The columns of one outbox table. NULL where the table has none of that name. */
struct event_plan {
    const struct column_plan *id;
    const struct column_plan *key;
    const struct column_plan *payload;
    const struct column_plan *timestamp;
    const struct column_plan *route;
    const struct column_plan **additional;
    const struct schema *envelope_schema; /* of the value; NULL: the payload alone is the value */
    const char *problem; /* why no row of this table can be an event; NULL: it can */
};

static enum wr_status event_router_make(const struct transform_config *config, struct transform *t,
                                        struct wr_error *err)
{
    const struct event_router_config *c = &config->as.event_router;
    struct event_router *router = calloc(1, sizeof(*router));

    if (router == NULL) {
        abort();
    }
    for (size_t i = 0; i < ROUTE_CACHE_SIZE; i++) {
        wr_buffer_init(&router->routes[i].value, WR_RECORD_SIZE_MAX);
        wr_buffer_init(&router->routes[i].topic, WR_RECORD_SIZE_MAX);
    }
    t->state = router;
    enum wr_status status = wr_regex_new(c->route_topic_regex, false, &router->regex, err);
    if (status == WR_OK) {
        status = wr_regex_check_replacement(router->regex, c->route_topic_replacement, err);
    }
    return status;
}

static void event_router_free(struct transform *t)
{
    struct event_router *router = t->state;

    if (router == NULL) {
        return;
    }
    for (size_t i = 0; i < ROUTE_CACHE_SIZE; i++) {
        wr_buffer_done(&router->routes[i].value);
        wr_buffer_done(&router->routes[i].topic);
    }
    wr_regex_free(router->regex);
    free(router);
}

static const struct column_plan *find_column(const struct route_plan *plan, const char *name)
{
    for (size_t i = 0; name != NULL && i < plan->value_column_count; i++) {
        if (strcmp(plan->value_columns[i]->name, name) == 0) {
            return plan->value_columns[i];
        }
    }
    return NULL;
}

/* Finds a column that must be there, and notes the first that is not. */
static const struct column_plan *need_column(const struct relation *relation,
                                             struct event_plan *plan, const char *option,
                                             const char *name)
{
    const struct column_plan *column = find_column(relation->plan, name);

    if (column == NULL && plan->problem == NULL) {
        plan->problem = wr_arena_printf(relation->arena, "table %s.%s has no column %s (%s)",
                                        relation->schema, relation->table, name, option);
    }
    return column;
}

static void check_timestamp(const struct relation *relation, struct event_plan *plan)
{
    if (plan->timestamp == NULL || plan->timestamp->type.oid == OID_TIMESTAMP ||
        plan->timestamp->type.oid == OID_TIMESTAMPTZ || plan->problem != NULL) {
        return;
    }
    plan->problem = wr_arena_printf(relation->arena,
                                    "column %s.%s.%s (table.field.event.timestamp) is of type %s, "
                                    "not timestamp or timestamptz",
                                    relation->schema, relation->table, plan->timestamp->name,
                                    plan->timestamp->type.name);
}

/* The payload, then each field that is placed beside it. False: the arena is full. */
static bool envelope_schema_compile(const struct event_router_config *c,
                                    const struct relation *relation, struct event_plan *plan)
{
    struct schema_field *fields =
        wr_arena_alloc(relation->arena, c->additional_count + 1, sizeof(*fields));
    size_t count = 0;

    if (fields == NULL) {
        return false;
    }
    fields[count++] = (struct schema_field){WR_SLICE("payload"), plan->payload->schema};
    for (size_t i = 0; i < c->additional_count; i++) {
        const struct additional_field *field = &c->additional[i];
        if (field->placement == PLACEMENT_ENVELOPE && plan->additional[i] != NULL) {
            fields[count++] =
                (struct schema_field){wr_slice_str(field->alias), plan->additional[i]->schema};
        }
    }
    plan->envelope_schema = schema_struct(relation->arena, NULL, 0, fields, count);
    return plan->envelope_schema != NULL;
}

static bool additional_compile(const struct event_router_config *c, const struct relation *relation,
                               struct event_plan *plan)
{
    bool has_envelope = false;

    for (size_t i = 0; i < c->additional_count; i++) {
        const char *name = c->additional[i].column;
        plan->additional[i] =
            c->additional_missing_is_error
                ? need_column(relation, plan, "table.fields.additional.placement", name)
                : find_column(relation->plan, name);
        has_envelope |= c->additional[i].placement == PLACEMENT_ENVELOPE;
    }
    return !has_envelope || plan->problem != NULL || envelope_schema_compile(c, relation, plan);
}

static enum wr_status too_large(const struct relation *relation, struct wr_error *err)
{
    return wr_fail(err, WR_FATAL, "event_router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                   relation->schema, relation->table);
}

static enum wr_status event_router_compile(const struct transform *t,
                                           const struct relation *relation, void **compiled,
                                           struct wr_error *err)
{
    const struct event_router_config *c = &t->config->as.event_router;
    struct event_plan *plan = wr_arena_alloc(relation->arena, 1, sizeof(*plan));

    if (plan != NULL) {
        plan->additional =
            wr_arena_alloc(relation->arena, c->additional_count + 1, sizeof(*plan->additional));
    }
    if (plan == NULL || plan->additional == NULL) {
        return too_large(relation, err);
    }
    plan->id = need_column(relation, plan, "table.field.event.id", c->field_event_id);
    plan->key = need_column(relation, plan, "table.field.event.key", c->field_event_key);
    plan->payload =
        need_column(relation, plan, "table.field.event.payload", c->field_event_payload);
    plan->route = need_column(relation, plan, "route.by.field", c->route_by_field);
    if (c->field_event_timestamp != NULL) {
        plan->timestamp =
            need_column(relation, plan, "table.field.event.timestamp", c->field_event_timestamp);
    }
    if (c->field_schema_version != NULL) {
        (void)need_column(relation, plan, "table.field.event.schema.version",
                          c->field_schema_version);
    }
    if (!additional_compile(c, relation, plan)) {
        return too_large(relation, err);
    }
    check_timestamp(relation, plan);
    *compiled = plan;
    return WR_OK;
}

/* One event being made of one row. */
struct event {
    const struct transform *transform;
    const struct event_router_config *config;
    const struct event_plan *plan;
    struct row_view row;
    struct record *record;
    struct wr_arena *scratch;
};

static void notice(const struct transform *t, enum notice_kind kind, const char *text)
{
    struct event_router *router = t->state;

    if (router->notice_counts[kind] < NOTICE_COUNT_MAX) {
        router->notice_counts[kind]++;
        t->sink->notice(t->sink->context, text);
    }
}

/* "schema.table, id 7": where a person finds the row. Valid until the next call. */
static const char *row_name(const struct row_view *row, const struct column_plan *id)
{
    static _Thread_local char name[384];
    const struct relation *relation = row->relation;
    struct wr_slice text = WR_SLICE("unknown");

    if (id != NULL && row->tuple != NULL && row->tuple->cells[id->index].kind == CELL_TEXT) {
        text = row->tuple->cells[id->index].text;
    }
    (void)snprintf(name, sizeof(name), "%s.%s, %s %.*s", relation->schema, relation->table,
                   id == NULL ? "id" : id->name, (int)(text.size > 100 ? 100 : text.size),
                   text.data);
    return name;
}

static const struct cell *cell_of(const struct event *e, const struct column_plan *column)
{
    return &e->row.tuple->cells[column->index];
}

static enum wr_status reject(const struct event *e, const char *problem, struct wr_error *err)
{
    return wr_fail(err, WR_REJECT, "event_router", "%s: %s", row_name(&e->row, e->plan->id),
                   problem);
}

static enum wr_status part_of(const struct event *e, const struct column_plan *column,
                              struct record_part *out, struct wr_error *err)
{
    out->kind = PART_DATUM;
    out->schema = column->schema;
    return row_datum(&e->row, column, e->scratch, &out->as.datum, err);
}

static size_t route_hash(struct wr_slice value)
{
    size_t hash = 14695981039346656037U; /* FNV-1a */

    for (size_t i = 0; i < value.size; i++) {
        hash = (hash ^ (unsigned char)value.data[i]) * 1099511628211U;
    }
    return (hash ^ hash >> 29) % ROUTE_CACHE_SIZE;
}

static enum wr_status route_make(const struct event *e, struct wr_slice value,
                                 struct cached_route *route, struct wr_error *err)
{
    struct event_router *router = e->transform->state;
    struct wr_buffer name;

    wr_buffer_reset(&route->value);
    wr_buffer_reset(&route->topic);
    wr_buffer_init(&name, WR_RECORD_SIZE_MAX);
    if (!wr_regex_replace(router->regex, value, e->config->route_topic_replacement, &name)) {
        wr_buffer_add_slice(&name, value); /* as Kafka's RegexRouter: no match, no change */
    }
    bool changed = topic_sanitize(&route->topic, wr_buffer_slice(&name));
    wr_buffer_done(&name);
    const char *problem = topic_problem(wr_buffer_slice(&route->topic));
    if (value.size == 0 || problem != NULL) {
        char text[160];
        (void)snprintf(text, sizeof(text), "%s \"%.*s\" makes no topic: the name %s",
                       e->config->route_by_field, (int)(value.size > 40 ? 40 : value.size),
                       value.data, value.size == 0 ? "is empty" : problem);
        return reject(e, text, err);
    }
    wr_buffer_add_slice(&route->value, value);
    if (changed) {
        char text[512];
        (void)snprintf(text, sizeof(text), "%s \"%.*s\" is published to the topic %.*s",
                       e->config->route_by_field, (int)(value.size > 200 ? 200 : value.size),
                       value.data, (int)route->topic.size, route->topic.data);
        notice(e->transform, NOTICE_TOPIC, text);
    }
    return WR_OK;
}

static enum wr_status set_topic(const struct event *e, struct wr_error *err)
{
    struct event_router *router = e->transform->state;
    const struct cell *cell = cell_of(e, e->plan->route);

    if (cell->kind != CELL_TEXT) {
        return reject(e, "route.by.field is null", err);
    }
    struct cached_route *route = &router->routes[route_hash(cell->text)];
    if (route->topic.size == 0 || !wr_slice_eq(wr_buffer_slice(&route->value), cell->text)) {
        enum wr_status status = route_make(e, cell->text, route, err);
        if (status != WR_OK) {
            wr_buffer_reset(&route->topic);
            return status;
        }
    }
    e->record->topic = wr_buffer_slice(&route->topic);
    return WR_OK;
}

/* The column's time, where it is one; else (null, infinity) when the row was handled. */
static void set_timestamp(const struct event *e)
{
    int64_t time_us = 0;

    e->record->timestamp_ms = e->record->source->now_ns / 1000000;
    if (e->plan->timestamp == NULL) {
        return;
    }
    const struct cell *cell = cell_of(e, e->plan->timestamp);
    if (cell->kind == CELL_TEXT && datetime_to_us(cell->text, &time_us) && time_us >= 0) {
        e->record->timestamp_ms = time_us / 1000;
    }
}

static bool is_blank(struct wr_slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if ((unsigned char)text.data[i] > ' ') { /* as String.trim() */
            return false;
        }
    }
    return true;
}

static bool payload_is_empty(const struct datum *payload)
{
    return payload->kind == DATUM_NULL ||
           ((payload->kind == DATUM_STRING) && is_blank(payload->as.bytes));
}

/* table.expand.json.payload: an object or array becomes part of the value; anything else stays. */
static enum wr_status expand(const struct event *e, struct datum *payload, struct wr_error *err)
{
    struct wr_json_compact_options options = {
        .drop_null_members = !e->config->json_payload_null_is_kept,
        .drop_empty_array_members = !e->config->json_payload_empty_array_is_kept,
    };
    struct wr_buffer out;

    if (payload->kind == DATUM_NULL) {
        return WR_OK;
    }
    bool is_text = payload->kind == DATUM_STRING && payload->as.bytes.size > 0;
    char first = is_text ? payload->as.bytes.data[0] : '\0';
    wr_buffer_init(&out, WR_RECORD_SIZE_MAX);
    if ((first == '{' || first == '[') && wr_json_compact(payload->as.bytes, &options, &out)) {
        const char *copy = wr_arena_strndup(e->scratch, out.data, out.size);
        payload->kind = DATUM_JSON;
        payload->as.bytes = (struct wr_slice){copy, out.size};
    } else {
        char text[512];
        (void)snprintf(text, sizeof(text),
                       "%s: the payload is no JSON object or array and is "
                       "published as it is",
                       row_name(&e->row, e->plan->id));
        notice(e->transform, NOTICE_PAYLOAD, text);
    }
    bool failed = out.failed || (payload->kind == DATUM_JSON && payload->as.bytes.data == NULL);
    wr_buffer_done(&out);
    return failed ? reject(e, "the expanded payload is too large", err) : WR_OK;
}

static enum wr_status add_header(const struct event *e, const char *name,
                                 const struct column_plan *column, struct wr_error *err)
{
    struct record *record = e->record;

    if (record->header_count >= RECORD_HEADERS_MAX) {
        return reject(e, "more headers than RECORD_HEADERS_MAX", err);
    }
    struct record_header *header = &record->headers[record->header_count++];
    header->name = name;
    return part_of(e, column, &header->value, err);
}

static enum wr_status set_partition(const struct event *e, const struct column_plan *column,
                                    struct wr_error *err)
{
    struct record_part part;
    enum wr_status status = part_of(e, column, &part, err);

    if (status != WR_OK || part.as.datum.kind == DATUM_NULL) {
        return status;
    }
    if (part.as.datum.kind != DATUM_INT || part.as.datum.as.integer < 0 ||
        part.as.datum.as.integer > INT32_MAX) {
        return reject(e, "the partition is not a whole number from 0", err);
    }
    e->record->partition = (int32_t)part.as.datum.as.integer;
    return WR_OK;
}

/* Headers, partition, and the fields of the value's envelope after its first, the payload. */
static enum wr_status place_additional(const struct event *e, struct datum_field *fields,
                                       size_t *field_count, struct wr_error *err)
{
    for (size_t i = 0; i < e->config->additional_count; i++) {
        const struct additional_field *field = &e->config->additional[i];
        const struct column_plan *column = e->plan->additional[i];
        enum wr_status status = WR_OK;
        if (column == NULL) {
            continue;
        }
        switch (field->placement) {
        case PLACEMENT_HEADER:
            status = add_header(e, field->alias, column, err);
            break;
        case PLACEMENT_PARTITION:
            status = set_partition(e, column, err);
            break;
        case PLACEMENT_ENVELOPE:
            fields[*field_count].name = wr_slice_str(field->alias);
            status = row_datum(&e->row, column, e->scratch, &fields[(*field_count)++].value, err);
            break;
        }
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

/* An expanded payload has none: what is in it differs from row to row. */
static const struct schema *value_schema(const struct event *e, const struct datum *payload)
{
    if (payload->kind == DATUM_JSON) {
        return NULL;
    }
    return e->plan->envelope_schema == NULL ? e->plan->payload->schema : e->plan->envelope_schema;
}

static enum wr_status set_value(const struct event *e, struct wr_error *err)
{
    struct record_part *value = &e->record->value;
    struct datum_field *fields = NULL;
    size_t field_count = 0;
    struct datum payload;
    enum wr_status status = row_datum(&e->row, e->plan->payload, e->scratch, &payload, err);

    if (status != WR_OK) {
        return status;
    }
    bool is_tombstone = e->config->tombstone_on_empty_payload && payload_is_empty(&payload);
    if (e->config->expand_json_payload && !is_tombstone) {
        status = expand(e, &payload, err);
    }
    if (status == WR_OK && e->plan->envelope_schema != NULL) {
        fields = wr_arena_alloc(e->scratch, e->config->additional_count + 1, sizeof(*fields));
        if (fields == NULL) {
            return reject(e, "the event is too large", err);
        }
        fields[0] = (struct datum_field){.name = WR_SLICE("payload"), .value = payload};
        field_count = 1;
    }
    if (status == WR_OK) {
        status = place_additional(e, fields, &field_count, err);
    }
    value->kind = is_tombstone ? PART_NULL : PART_DATUM;
    value->schema = is_tombstone ? NULL : value_schema(e, &payload);
    value->as.datum = payload;
    if (!is_tombstone && fields != NULL) {
        value->as.datum = (struct datum){.kind = DATUM_STRUCT,
                                         .as.structure = {.fields = fields, .count = field_count}};
    }
    return status;
}

static enum wr_status set_key(const struct event *e, struct wr_error *err)
{
    enum wr_status status = part_of(e, e->plan->key, &e->record->key, err);

    if (status == WR_OK && e->record->key.as.datum.kind == DATUM_NULL) {
        e->record->key.kind = PART_NULL;
    }
    return status;
}

static enum wr_status event_make(const struct event *e, struct wr_error *err)
{
    if (e->plan->problem != NULL) {
        return wr_fail(err, WR_REJECT, "event_router", "%s", e->plan->problem);
    }
    enum wr_status status = set_topic(e, err);
    if (status == WR_OK) {
        set_timestamp(e);
        status = set_key(e, err);
    }
    if (status == WR_OK) {
        status = add_header(e, "id", e->plan->id, err);
    }
    return status == WR_OK ? set_value(e, err) : status;
}

static enum wr_status update_found(const struct transform *t, const struct event_plan *plan,
                                   const struct record *record, struct wr_error *err)
{
    enum change_op op = record->value.as.envelope.op;
    const struct row_view *row =
        op == OP_DELETE ? &record->value.as.envelope.before : &record->value.as.envelope.after;
    char text[512];

    if (op == OP_CREATE) {
        return WR_OK; /* the second half of a moved key: said already */
    }
    (void)snprintf(text, sizeof(text), "%s: an UPDATE of an outbox row is no event",
                   row_name(row, plan == NULL ? NULL : plan->id));
    if (t->config->as.event_router.op_invalid_behavior == OP_INVALID_FATAL) {
        return wr_fail(err, WR_FATAL, "event_router", "%s (table.op.invalid.behavior=fatal)", text);
    }
    notice(t, NOTICE_UPDATE, text);
    return WR_OK;
}

static enum wr_status event_router_apply(const struct transform *t, const void *compiled,
                                         struct record *record, struct wr_arena *scratch,
                                         bool *keep, struct wr_error *err)
{
    if (part_is_expanded_envelope(&record->value)) {
        return envelope_is_expanded(t->config->name, err);
    }
    if (record->change == NULL || record->value.kind != PART_ENVELOPE) {
        *keep = record->change == NULL || !record_is_tombstone(record);
        return WR_OK;
    }
    *keep = false;
    switch (record->change->op) {
    case OP_DELETE:
    case OP_TRUNCATE:
        return WR_OK;
    case OP_UPDATE:
        return update_found(t, compiled, record, err);
    case OP_CREATE:
    case OP_READ:
        break;
    }
    struct event event = {
        .transform = t,
        .config = &t->config->as.event_router,
        .plan = compiled,
        .row = record->value.as.envelope.after,
        .record = record,
        .scratch = scratch,
    };
    *keep = true;
    return event_make(&event, err);
}

const struct transform_ops event_router_ops = {
    .make = event_router_make,
    .free = event_router_free,
    .compile = event_router_compile,
    .apply = event_router_apply,
};
