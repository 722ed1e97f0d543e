/*
 * From a change to records. Which records a change makes is decided here; what a transform makes
 * of them is its own file's business.
 *
 *   create, read     envelope
 *   update           envelope; when it moves the key: delete and tombstone under the old key,
 *                    create under the new one, with __debezium.newkey and __debezium.oldkey
 *   delete           envelope, tombstone
 *   truncate         envelope without a key
 *   logical message  envelope with op m
 */
#include "router/router.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "decoder/types.h"
#include "router/chain.h"
#include "router/compile.h"
#include "router/filter.h"
#include "router/heartbeat.h"
#include "router/left_out.h"
#include "router/notification.h"
#include "router/plan.h"
#include "router/router_state.h"
#include "router/routes/route.h"
#include "router/row.h"
#include "router/rules.h"
#include "router/schemas.h"
#include "router/topic.h"
#include "router/topic_owners.h"
#include "router/transactions.h"

static void topic_build(const struct router *r, struct wr_buffer *out, const char *schema,
                        const char *table)
{
    const char *parts[] = {r->config->topic_prefix, schema, table};

    for (size_t i = 0; i < 3; i++) {
        if (parts[i] == NULL) {
            continue;
        }
        if (i > 0) {
            wr_buffer_add_str(out, r->config->topic_delimiter);
        }
        wr_buffer_add_str(out, parts[i]);
    }
}

enum wr_status router_new(const struct config *config, const struct router_sink *sink,
                          struct router **out, struct wr_error *err)
{
    struct router *r = calloc(1, sizeof(*r));

    if (r == NULL) {
        abort();
    }
    r->config = config;
    r->sink = *sink;
    r->type_options = (struct type_options){
        .decimal_handling_mode = config->decimal_handling_mode,
        .time_precision_mode = config->time_precision_mode,
        .binary_handling_mode = config->binary_handling_mode,
        .interval_handling_mode = config->interval_handling_mode,
        .hstore_handling_mode = config->hstore_handling_mode,
        .include_unknown_datatypes = config->include_unknown_datatypes,
        .money_fraction_digits = (int)config->money_fraction_digits,
        .unavailable_value_placeholder = wr_slice_str(config->unavailable_value_placeholder),
    };
    schemas_init(&r->schemas, config);
    r->topic_owners = topic_owners_new();
    r->left_out = left_out_new();
    topic_of_messages(config, &r->message_topic);
    if (config->heartbeat_interval_ms > 0) {
        heartbeat_topic(config, &r->heartbeat_topic);
    }
    if (config->provide_transaction_metadata) {
        r->transactions = transactions_new(config);
    }
    if (config->notifies_topic) {
        r->notifications = notifications_new(config);
    }
    enum wr_status status = filter_new(config, &r->filter, err);
    if (status == WR_OK) {
        status = rules_new(config, &r->rules, err);
    }
    if (status == WR_OK) {
        status = chain_new(config, &r->sink, &r->chain, err);
    }
    if (status == WR_OK) {
        status = routes_new(config, &r->sink, &r->routes, err);
    }
    if (status != WR_OK) {
        router_free(r);
        r = NULL;
    }
    *out = r;
    return status;
}

void router_free(struct router *r)
{
    if (r == NULL) {
        return;
    }
    chain_free(r->chain);
    rules_free(r->rules);
    filter_free(r->filter);
    schemas_done(&r->schemas);
    topic_owners_free(r->topic_owners);
    left_out_free(r->left_out);
    transactions_free(r->transactions);
    routes_free(r->routes);
    notifications_free(r->notifications);
    wr_buffer_done(&r->message_topic);
    wr_buffer_done(&r->heartbeat_topic);
    free(r);
}

bool router_captures(const struct router *r, const char *schema, const char *table)
{
    return filter_has_table(r->filter, schema, table);
}

/* Says once that a name was changed, or that another table has the same topic. */
static void topic_notice(struct router *r, const struct relation *relation, const char *topic,
                         bool changed)
{
    char text[1024];
    char table[512];
    const char *other = NULL;

    (void)snprintf(table, sizeof(table), "%s.%s", relation->schema, relation->table);
    if (!topic_owners_add(r->topic_owners, topic, table, &other)) {
        return;
    }
    if (other != NULL) {
        (void)snprintf(text, sizeof(text), "tables %s and %s both publish to the topic %s", other,
                       table, topic);
    } else if (changed) {
        (void)snprintf(text, sizeof(text),
                       "table %s publishes to the topic %s: its own name is none", table, topic);
    } else {
        return;
    }
    r->sink.notice(r->sink.context, text);
}

static enum wr_status topic_compile(struct router *r, struct relation *relation,
                                    struct wr_error *err)
{
    struct wr_buffer name;
    struct wr_buffer legal;
    enum wr_status status = WR_OK;

    wr_buffer_init(&name, WR_RELATION_SIZE_MAX);
    wr_buffer_init(&legal, WR_RELATION_SIZE_MAX);
    topic_build(r, &name, relation->schema, relation->table);
    bool changed = topic_sanitize(&legal, wr_buffer_slice(&name));
    const char *problem = topic_problem(wr_buffer_slice(&legal));
    const char *topic = wr_arena_strndup(relation->arena, legal.data, legal.size);
    if (problem != NULL) {
        status = wr_fail(err, WR_FATAL, "router", "%s.%s: its topic name %s", relation->schema,
                         relation->table, problem);
    } else if (topic == NULL) {
        status = wr_fail(err, WR_FATAL, "router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                         relation->schema, relation->table);
    } else {
        relation->plan->topic = (struct wr_slice){topic, legal.size};
        topic_notice(r, relation, topic, changed);
    }
    wr_buffer_done(&name);
    wr_buffer_done(&legal);
    return status;
}

enum wr_status router_compile(struct router *r, struct relation *relation,
                              const struct catalog_source *catalog, struct wr_error *err)
{
    struct compile_context context = {
        .config = r->config,
        .filter = r->filter,
        .rules = r->rules,
        .type_options = &r->type_options,
        .catalog = catalog,
    };
    enum wr_status status = plan_compile(&context, relation, err);

    if (status == WR_OK && relation->plan->is_captured && r->transactions != NULL) {
        relation->plan->collection =
            transactions_collection(r->transactions, relation->schema, relation->table);
    }
    if (status == WR_OK && relation->plan->is_captured) {
        left_out_notice(r->left_out, r->filter, relation, &r->sink);
        status = topic_compile(r, relation, err);
        if (status == WR_OK) {
            status = schemas_compile(&r->schemas, relation, err);
        }
        if (status == WR_OK) {
            status = chain_compile(r->chain, relation, err);
        }
    }
    if (status == WR_OK && r->routes != NULL) {
        status = routes_compile(r->routes, r->filter, relation, catalog, err);
    }
    return status;
}

/* Its place in the transaction, which counts what transforms may drop, and no tombstones. */
static void count_event(struct router *r, const struct record *record)
{
    if (record->value.kind == PART_ENVELOPE) {
        transactions_count(r->transactions, record->change->relation->plan->collection,
                           record->source);
    } else if (record->value.kind == PART_MESSAGE) {
        transactions_count(r->transactions, COLLECTION_MESSAGES, record->source);
    }
}

enum wr_status router_emit(struct router *r, struct record *record, struct wr_arena *scratch,
                           struct wr_error *err)
{
    bool keep = true;

    if (r->transactions != NULL && record->source->transaction != NULL) {
        count_event(r, record);
    }
    enum wr_status status = chain_apply(r->chain, record, scratch, &keep, err);

    if (status != WR_OK || !keep) {
        return status;
    }
    return r->sink.emit(r->sink.context, record, err);
}

/* One change on its way through, with what its records share. */
struct routing {
    struct router *router;
    const struct change *change;
    const struct route_plan *plan;
    struct wr_arena *scratch;
};

static struct row_view view_of(const struct routing *route, const struct tuple *tuple, bool is_old)
{
    const struct change *change = route->change;

    return (struct row_view){
        .relation = change->relation,
        .columns = route->plan->value_columns,
        .column_count = route->plan->value_column_count,
        .tuple = tuple,
        .older = !is_old && change->old_kind == OLD_ROW ? &change->old_tuple : NULL,
        .is_key_only = is_old && change->old_kind == OLD_KEY,
    };
}

static struct row_view old_row(const struct routing *route)
{
    if (route->change->old_kind == OLD_NONE) {
        return (struct row_view){0};
    }
    return view_of(route, &route->change->old_tuple, true);
}

static struct row_view new_row(const struct routing *route)
{
    return view_of(route, &route->change->new_tuple, false);
}

static struct record_part key_of(const struct routing *route, struct row_view row)
{
    if (route->plan->key_column_count == 0) {
        return (struct record_part){.kind = PART_NULL};
    }
    row.columns = route->plan->key_columns;
    row.column_count = route->plan->key_column_count;
    return (struct record_part){.kind = PART_ROW, .schema = route->plan->key_schema, .as.row = row};
}

/* Headers are not touched: whoever adds one counts it. */
static void record_start(struct record *record, const struct routing *route, struct record_part key)
{
    record->change = route->change;
    record->route = NULL;
    record->source = &route->change->source;
    record->topic = route->plan->topic;
    record->partition = -1;
    record->timestamp_ms = -1;
    record->key = key;
    record->value.kind = PART_NULL;
    record->value.schema = NULL;
    record->header_count = 0;
}

static void record_envelope(struct record *record, enum change_op op, struct row_view before,
                            struct row_view after)
{
    record->value.kind = PART_ENVELOPE;
    record->value.schema = record->change->relation->plan->envelope_schema;
    record->value.as.envelope.op = op;
    record->value.as.envelope.before = before;
    record->value.as.envelope.after = after;
}

static enum wr_status emit_upsert(const struct routing *route, struct wr_error *err)
{
    struct record record;
    struct row_view after = new_row(route);

    record_start(&record, route, key_of(route, after));
    record_envelope(&record, route->change->op, old_row(route), after);
    return router_emit(route->router, &record, route->scratch, err);
}

/* The delete and its tombstone; `moved_to` is the new key of a moved row, or NULL. */
static enum wr_status emit_delete(const struct routing *route, const struct record_part *moved_to,
                                  struct wr_error *err)
{
    struct record record;
    struct row_view before = old_row(route);
    struct record_part key = key_of(route, before);

    for (int is_tombstone = 0; is_tombstone < 2; is_tombstone++) {
        record_start(&record, route, key);
        if (moved_to != NULL) {
            record.headers[record.header_count++] =
                (struct record_header){.name = "__debezium.newkey", .value = *moved_to};
        }
        if (is_tombstone == 0) {
            record_envelope(&record, OP_DELETE, before, (struct row_view){0});
        } else if (key.kind == PART_NULL || !route->router->config->tombstones_on_delete) {
            break; /* without a key a tombstone deletes nothing */
        }
        enum wr_status status = router_emit(route->router, &record, route->scratch, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

static enum wr_status emit_move(const struct routing *route, struct wr_error *err)
{
    struct record record;
    struct row_view after = new_row(route);
    struct record_part new_key = key_of(route, after);
    enum wr_status status = emit_delete(route, &new_key, err);

    if (status != WR_OK) {
        return status;
    }
    record_start(&record, route, new_key);
    record.headers[record.header_count++] = (struct record_header){
        .name = "__debezium.oldkey",
        .value = key_of(route, old_row(route)),
    };
    record_envelope(&record, OP_CREATE, (struct row_view){0}, after);
    return router_emit(route->router, &record, route->scratch, err);
}

static enum wr_status emit_truncate(const struct routing *route, struct wr_error *err)
{
    struct record record;

    record_start(&record, route, (struct record_part){.kind = PART_NULL});
    record_envelope(&record, OP_TRUNCATE, (struct row_view){0}, (struct row_view){0});
    return router_emit(route->router, &record, route->scratch, err);
}

static bool cells_differ(const struct cell *before, const struct cell *after)
{
    if (before->kind == CELL_UNCHANGED || after->kind == CELL_UNCHANGED) {
        return false;
    }
    return before->kind != after->kind ||
           (before->kind == CELL_TEXT && !wr_slice_eq(before->text, after->text));
}

/* An unknown old value (a key column outside the replica identity) counts as not moved. */
static bool key_moved(const struct routing *route)
{
    const struct change *change = route->change;

    for (size_t i = 0; i < route->plan->key_column_count; i++) {
        const struct column_plan *column = route->plan->key_columns[i];
        if (change->old_kind == OLD_KEY && !column->is_identity) {
            continue;
        }
        if (cells_differ(&change->old_tuple.cells[column->index],
                         &change->new_tuple.cells[column->index])) {
            return true;
        }
    }
    return false;
}

/*
 * Whether an update changed anything that is published. What is masked alike counts as the same;
 * what was not sent did not change.
 */
static enum wr_status row_changed(const struct routing *route, bool *out, struct wr_error *err)
{
    struct row_view before = old_row(route);
    struct row_view after = new_row(route);

    *out = false;
    for (size_t i = 0; i < after.column_count && !*out; i++) {
        const struct column_plan *column = after.columns[i];
        struct datum was, is;
        if (column->mask != NULL || !cells_differ(&before.tuple->cells[column->index],
                                                  &after.tuple->cells[column->index])) {
            continue;
        }
        *out = true;
        if (column->truncate_size == 0) {
            continue;
        }
        enum wr_status status = row_datum(&before, column, route->scratch, &was, err);
        if (status == WR_OK) {
            status = row_datum(&after, column, route->scratch, &is, err);
        }
        if (status != WR_OK) {
            return status;
        }
        *out = was.kind != DATUM_STRING || is.kind != DATUM_STRING ||
               !wr_slice_eq(was.as.bytes, is.as.bytes);
    }
    return WR_OK;
}

static enum wr_status emit_update(const struct routing *route, struct wr_error *err)
{
    bool is_changed = true;
    enum wr_status status = WR_OK;

    if (route->change->old_kind != OLD_NONE && key_moved(route)) {
        return emit_move(route, err);
    }
    if (route->router->config->skip_unchanged && route->change->old_kind == OLD_ROW) {
        status = row_changed(route, &is_changed, err);
    }
    return status == WR_OK && is_changed ? emit_upsert(route, err) : status;
}

static enum wr_status check_tuple(const struct change *change, const struct tuple *tuple,
                                  struct wr_error *err)
{
    const struct relation *relation = change->relation;

    if (tuple->column_count != relation->column_count) {
        return wr_fail(err, WR_FATAL, "router", "%s.%s has %u columns, a row of it has %u",
                       relation->schema, relation->table, relation->column_count,
                       tuple->column_count);
    }
    return WR_OK;
}

static enum wr_status check_change(const struct change *change, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    if (change->op != OP_DELETE && change->op != OP_TRUNCATE) {
        status = check_tuple(change, &change->new_tuple, err);
    }
    if (status == WR_OK && change->old_kind != OLD_NONE) {
        status = check_tuple(change, &change->old_tuple, err);
    }
    return status;
}

static enum wr_status emit_change(const struct routing *route, struct wr_error *err)
{
    const struct config *config = route->router->config;

    switch (route->change->op) {
    case OP_CREATE:
        return config->skip_create ? WR_OK : emit_upsert(route, err);
    case OP_READ:
        return emit_upsert(route, err);
    case OP_UPDATE:
        return config->skip_update ? WR_OK : emit_update(route, err);
    case OP_DELETE:
        return config->skip_delete ? WR_OK : emit_delete(route, NULL, err);
    case OP_TRUNCATE:
        return config->skip_truncate ? WR_OK : emit_truncate(route, err);
    }
    abort();
}

enum wr_status router_change(struct router *r, const struct change *change,
                             struct wr_arena *scratch, struct wr_error *err)
{
    struct routing route = {
        .router = r, .change = change, .plan = change->relation->plan, .scratch = scratch};
    enum wr_status status = check_change(change, err);

    if (status != WR_OK || !route.plan->is_captured) {
        return status;
    }
    if (!route.plan->is_routed_only) {
        status = emit_change(&route, err);
    }
    if (route.plan->route_count == 0) {
        return status;
    }
    if (status == WR_REJECT) { /* what Debezium's form cannot say, a route's may */
        status = r->sink.refuse(r->sink.context, change, err);
    }
    return status == WR_OK ? routes_change(r->routes, change, scratch, err) : status;
}
