/*
 * io.debezium.transforms.ExtractNewRecordState: the row alone in place of the envelope around it.
 *
 * Most used of all transforms, so a row stays what it was, columns over a tuple (PART_ROW), and
 * what the transform adds stands behind them. What the fields to be added are is settled for each
 * table, and the new schema is made once for each old one.
 *
 *   create, update, read   the row after
 *   delete                 as delete.tombstone.handling.mode says: nothing, a null with the row's
 *                          schema, a tombstone, or the row before with __deleted
 *   tombstone              dropped, unless the mode keeps it
 *   truncate               dropped
 *   anything else          as it is
 */
#include "router/transforms/unwrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "decoder/schema.h"
#include "router/chain.h"
#include "router/fact.h"
#include "router/plan.h"
#include "router/row.h"
#include "router/transform.h"
#include "router/tree.h"

static const struct datum DELETED = {.kind = DATUM_STRING, .as.bytes = {"true", 4}};
static const struct datum LIVE = {.kind = DATUM_STRING, .as.bytes = {"false", 5}};

/* One of add.fields or add.headers, as far as one table decides it. */
struct found {
    enum fact fact;                   /* FACT_COUNT: a column, or nothing */
    const struct column_plan *column; /* of the row before or after; NULL: there is none */
    const struct schema *schema;      /* optional, without a default */
};

/* Of one table. */
struct unwrap_plan {
    struct found *fields;  /* by reference */
    struct found *headers; /* likewise */
    const struct column_plan *route;
    const char *route_problem; /* why no row can be routed; NULL: it can */
};

static bool is_rewrite(const struct unwrap_config *c)
{
    return c->deletes == DELETE_REWRITE || c->deletes == DELETE_REWRITE_WITH_TOMBSTONE;
}

static enum wr_status unwrap_make(const struct transform_config *config, struct transform *t,
                                  struct wr_error *err)
{
    const struct unwrap_config *c = &config->as.unwrap;
    struct unwrap *unwrap = calloc(1, sizeof(*unwrap));

    if (unwrap == NULL) {
        abort();
    }
    unwrap->arena = wr_arena_new(UNWRAP_REFERENCES_SIZE_MAX);
    t->state = unwrap;
    enum wr_status status = references_read(t, "add.fields", &c->add_fields, c->add_fields_prefix,
                                            &unwrap->fields, err);
    if (status == WR_OK) {
        status = references_read(t, "add.headers", &c->add_headers, c->add_headers_prefix,
                                 &unwrap->headers, err);
    }
    return status;
}

static void unwrap_free(struct transform *t)
{
    struct unwrap *unwrap = t->state;

    wr_arena_free(unwrap->arena);
    free(unwrap);
}

static const struct column_plan *find_column(const struct route_plan *plan, struct wr_slice name)
{
    for (size_t i = 0; i < plan->value_column_count; i++) {
        if (wr_slice_is(name, plan->value_columns[i]->name)) {
            return plan->value_columns[i];
        }
    }
    return NULL;
}

/* The envelope's own copy of what it says, as an optional value without a default. */
static const struct schema *fact_schema(struct wr_arena *arena, const struct schema *envelope,
                                        enum fact fact)
{
    static const char *const places[] = {
        [FACT_IN_SOURCE] = "source", [FACT_IN_TRANSACTION] = "transaction"};
    const struct schema *parent = envelope;

    if (fact_place(fact) != FACT_IN_ENVELOPE) {
        parent = schema_field(envelope, wr_slice_str(places[fact_place(fact)]))->schema;
    }
    return unwrap_optional(arena, schema_field(parent, wr_slice_str(fact_name(fact)))->schema);
}

static bool find_reference(const struct relation *relation, const struct reference *reference,
                           struct found *found)
{
    const struct route_plan *plan = relation->plan;

    found->fact = reference->fact;
    if (reference->is_column) {
        found->column = find_column(plan, reference->field);
        found->fact = found->column != NULL ? FACT_COUNT : reference->fact;
    }
    if (plan->envelope_schema == NULL) {
        return true;
    }
    if (found->fact != FACT_COUNT) {
        found->schema = fact_schema(relation->arena, plan->envelope_schema, found->fact);
    } else if (found->column != NULL) {
        found->schema = unwrap_optional(relation->arena, found->column->schema);
    }
    return found->schema != NULL || (found->fact == FACT_COUNT && found->column == NULL);
}

/* NULL: the arena is full. */
static struct found *find_references(const struct relation *relation,
                                     const struct references *references)
{
    struct found *found = wr_arena_alloc(relation->arena, references->count + 1, sizeof(*found));

    for (size_t i = 0; found != NULL && i < references->count; i++) {
        if (!find_reference(relation, &references->items[i], &found[i])) {
            return NULL;
        }
    }
    return found;
}

static bool route_compile(const struct relation *relation, const char *name,
                          struct unwrap_plan *plan)
{
    const char *problem = NULL;

    if (name == NULL) {
        return true;
    }
    plan->route = find_column(relation->plan, wr_slice_str(name));
    if (plan->route == NULL) {
        problem = "is no column of it";
    } else if (plan->route->schema != NULL && plan->route->schema->type != SCHEMA_STRING) {
        problem = "is no text";
    }
    if (problem != NULL) {
        plan->route_problem = wr_arena_printf(relation->arena, "%s.%s: route.by.field %s %s",
                                              relation->schema, relation->table, name, problem);
    }
    return problem == NULL || plan->route_problem != NULL;
}

static enum wr_status unwrap_compile(const struct transform *t, const struct relation *relation,
                                     void **compiled, struct wr_error *err)
{
    const struct unwrap *unwrap = t->state;
    struct unwrap_plan *plan = wr_arena_alloc(relation->arena, 1, sizeof(*plan));
    bool fits = plan != NULL && route_compile(relation, t->config->as.unwrap.route_by_field, plan);

    if (fits) {
        plan->fields = find_references(relation, &unwrap->fields);
        plan->headers = find_references(relation, &unwrap->headers);
        fits = plan->fields != NULL && plan->headers != NULL;
    }
    if (!fits) {
        return wr_fail(err, WR_FATAL, "unwrap", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                       relation->schema, relation->table);
    }
    *compiled = plan;
    return WR_OK;
}

/* One record on its way. */
struct unwrapping {
    const struct transform *transform;
    const struct unwrap_config *config;
    const struct unwrap *unwrap;
    const struct unwrap_plan *plan;
    struct record *record;
    struct record_part envelope; /* what the record's value was */
    struct wr_arena *scratch;
};

static enum wr_status too_large(struct wr_error *err)
{
    return wr_fail(err, WR_REJECT, "unwrap", "the record is too large");
}

/* What stands where a reference points to; false in `is_there` where the table has no such thing.
 */
static enum wr_status resolve(const struct unwrapping *u, const struct reference *reference,
                              const struct found *found, struct datum *out, bool *is_there,
                              struct wr_error *err)
{
    *is_there = true;
    if (found->fact != FACT_COUNT) {
        return fact_datum(found->fact, u->record, &u->envelope, u->scratch, out) ? WR_OK
                                                                                 : too_large(err);
    }
    const struct row_view *row =
        reference->is_before ? &u->envelope.as.envelope.before : &u->envelope.as.envelope.after;
    *is_there = found->column != NULL;
    *out = (struct datum){.kind = DATUM_NULL};
    if (!*is_there || row->columns == NULL) {
        return WR_OK;
    }
    return row_datum(row, found->column, u->scratch, out, err);
}

static enum wr_status add_headers(const struct unwrapping *u, struct wr_error *err)
{
    for (size_t i = 0; i < u->unwrap->headers.count; i++) {
        const struct reference *reference = &u->unwrap->headers.items[i];
        const struct found *found = &u->plan->headers[i];
        struct record_part value = {.kind = PART_DATUM, .schema = found->schema};
        bool is_there = false;
        enum wr_status status = resolve(u, reference, found, &value.as.datum, &is_there, err);
        if (status == WR_OK && is_there) {
            status = record_header_add(u->record, reference->name, &value, err);
        }
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

/* All that a tombstone still says is that the row was deleted. */
static enum wr_status add_tombstone_headers(const struct unwrap *unwrap, struct record *record,
                                            struct wr_error *err)
{
    const struct record_part deleted = {
        .kind = PART_DATUM,
        .schema = schema_plain(SCHEMA_STRING, false),
        .as.datum = {.kind = DATUM_STRING, .as.bytes = WR_SLICE("d")},
    };

    for (size_t i = 0; i < unwrap->headers.count; i++) {
        const struct reference *reference = &unwrap->headers.items[i];
        if (!wr_slice_is(reference->field, "op")) {
            continue;
        }
        enum wr_status status = record_header_add(record, reference->name, &deleted, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

/* <topic>.Value as it is in the envelope. */
static const struct schema *row_schema(const struct schema *envelope)
{
    return envelope == NULL ? NULL : schema_field(envelope, WR_SLICE("after"))->schema;
}

/* The row's schema, required, with the fields that are added. */
static const struct schema *value_schema_make(const struct transform *t,
                                              const struct record *record,
                                              const struct schema *envelope, struct wr_arena *arena)
{
    const struct unwrap *unwrap = t->state;
    const struct unwrap_plan *plan =
        record->change->relation->plan->chain->links[t->index].compiled;
    const struct schema *row = row_schema(envelope);
    struct schema *value = schema_copy(arena, row);
    struct schema_field *fields =
        wr_arena_alloc(arena, row->field_count + 1 + unwrap->fields.count, sizeof(*fields));

    if (value == NULL || fields == NULL) {
        return NULL;
    }
    memcpy(fields, row->fields, row->field_count * sizeof(*fields));
    value->fields = fields;
    value->is_optional = false;
    if (is_rewrite(&t->config->as.unwrap)) {
        fields[value->field_count++] =
            (struct schema_field){WR_SLICE("__deleted"), schema_plain(SCHEMA_STRING, true)};
    }
    for (size_t i = 0; i < unwrap->fields.count; i++) {
        if (plan->fields[i].schema != NULL) {
            fields[value->field_count++] = (struct schema_field){
                wr_slice_str(unwrap->fields.items[i].name), plan->fields[i].schema};
        }
    }
    return value;
}

static enum wr_status add_fields(const struct unwrapping *u, const struct datum *deleted,
                                 struct row_view *row, struct wr_error *err)
{
    struct datum_field *fields =
        wr_arena_alloc_raw(u->scratch, u->unwrap->fields.count + 1, sizeof(*fields));
    size_t count = 0;

    if (fields == NULL) {
        return too_large(err);
    }
    if (is_rewrite(u->config)) {
        fields[count++] = (struct datum_field){WR_SLICE("__deleted"), *deleted};
    }
    for (size_t i = 0; i < u->unwrap->fields.count; i++) {
        const struct reference *reference = &u->unwrap->fields.items[i];
        bool is_there = false;
        enum wr_status status =
            resolve(u, reference, &u->plan->fields[i], &fields[count].value, &is_there, err);
        if (status != WR_OK) {
            return status;
        }
        fields[count].name = wr_slice_str(reference->name);
        count += is_there ? 1 : 0;
    }
    row->added = fields;
    row->added_count = count;
    return WR_OK;
}

/* Puts the row in the place of its envelope. */
static enum wr_status set_row(const struct unwrapping *u, struct row_view row,
                              const struct datum *deleted, struct wr_error *err)
{
    const struct schema *schema = NULL;
    enum wr_status status = WR_OK;

    if (is_rewrite(u->config) || u->unwrap->fields.count > 0) {
        status = add_fields(u, deleted, &row, err);
    }
    if (status == WR_OK) {
        status = transform_schema(u->transform, u->record, u->envelope.schema, value_schema_make,
                                  u->scratch, &schema, err);
    }
    u->record->value = (struct record_part){.kind = PART_ROW, .schema = schema, .as.row = row};
    return status;
}

static enum wr_status set_topic(const struct unwrapping *u, const struct row_view *row,
                                struct wr_error *err)
{
    struct datum topic;

    if (u->config->route_by_field == NULL) {
        return WR_OK;
    }
    if (u->plan->route_problem != NULL) {
        return wr_fail(err, WR_REJECT, "unwrap", "%s", u->plan->route_problem);
    }
    enum wr_status status = row_datum(row, u->plan->route, u->scratch, &topic, err);
    if (status == WR_OK && topic.kind == DATUM_STRING) {
        status = unwrap_route(u->record, topic.as.bytes, u->scratch, err);
    }
    return status;
}

static enum wr_status unwrap_delete(const struct unwrapping *u, bool *keep, struct wr_error *err)
{
    const struct row_view *before = &u->envelope.as.envelope.before;
    enum wr_status status = set_topic(u, before, err);

    if (status != WR_OK) {
        return status;
    }
    switch (u->config->deletes) {
    case DELETE_DROP:
        *keep = false;
        return WR_OK;
    case DELETE_TO_NULL:
        u->record->value = (struct record_part){.kind = PART_DATUM,
                                                .schema = row_schema(u->envelope.schema),
                                                .as.datum = {.kind = DATUM_NULL}};
        return WR_OK;
    case DELETE_TO_TOMBSTONE:
        u->record->value = (struct record_part){.kind = PART_NULL};
        return WR_OK;
    case DELETE_REWRITE:
    case DELETE_REWRITE_WITH_TOMBSTONE:
        return set_row(u, *before, &DELETED, err);
    }
    abort();
}

static enum wr_status unwrap_envelope(const struct unwrapping *u, bool *keep, struct wr_error *err)
{
    const struct row_view *before = &u->envelope.as.envelope.before;
    const struct row_view *after = &u->envelope.as.envelope.after;
    enum wr_status status = add_headers(u, err);

    if (status != WR_OK) {
        return status;
    }
    if (after->columns == NULL && before->columns == NULL) { /* a truncate */
        *keep = false;
        return WR_OK;
    }
    if (after->columns == NULL) {
        status = unwrap_delete(u, keep, err);
    } else {
        status = set_topic(u, after, err);
        if (status == WR_OK) {
            status = set_row(u, *after, &LIVE, err);
        }
    }
    if (status == WR_OK && *keep && u->config->drop_fields_header != NULL) {
        status = unwrap_drop_fields(u->config, u->record, u->scratch, err);
    }
    return status;
}

static enum wr_status unwrap_apply(const struct transform *t, const void *compiled,
                                   struct record *record, struct wr_arena *scratch, bool *keep,
                                   struct wr_error *err)
{
    const struct unwrap_config *config = &t->config->as.unwrap;

    if (record_is_tombstone(record)) {
        *keep = config->deletes == DELETE_REWRITE_WITH_TOMBSTONE || !config->drop_tombstones;
        return add_tombstone_headers(t->state, record, err);
    }
    if (part_is_expanded_envelope(&record->value)) {
        return envelope_is_expanded(t->config->name, err);
    }
    if (record->value.kind != PART_ENVELOPE) {
        return WR_OK;
    }
    const struct unwrapping u = {
        .transform = t,
        .config = config,
        .unwrap = t->state,
        .plan = compiled,
        .record = record,
        .envelope = record->value,
        .scratch = scratch,
    };
    return unwrap_envelope(&u, keep, err);
}

const struct transform_ops unwrap_ops = {
    .make = unwrap_make,
    .free = unwrap_free,
    .compile = unwrap_compile,
    .apply = unwrap_apply,
};
