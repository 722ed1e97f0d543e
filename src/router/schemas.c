/*
 * The Connect schemas of what is published, as SchemaFactory, PostgresSchemaFactory and
 * TableSchemaBuilder of Debezium make them. Those that name no table are made once a run, the
 * others once a relation; tables are named by their topic, as in Debezium.
 */
#include "router/schemas.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/limits.h"
#include "config/config.h"
#include "decoder/datum.h"
#include "decoder/relation.h"
#include "decoder/schema.h"
#include "router/adjust.h"
#include "router/plan.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    SHARED_SIZE_MAX = 1 << 20, /* a dozen schemas of constant size, and the names in them */
    ENVELOPE_VERSION = 2,      /* Envelope.SCHEMA_VERSION */
};

static struct schema_field field(const char *name, const struct schema *schema)
{
    return (struct schema_field){.name = wr_slice_str(name), .schema = schema};
}

static struct schema_field required(const char *name, enum schema_type type)
{
    return field(name, schema_plain(type, false));
}

static struct schema_field optional(const char *name, enum schema_type type)
{
    return field(name, schema_plain(type, true));
}

/* The arena of what all tables share is never too small. */
static struct schema *must(struct schema *schema)
{
    if (schema == NULL) {
        abort();
    }
    return schema;
}

/* `source.snapshot`: which kind of record of a snapshot, where it is one. */
static const struct schema *snapshot_make(struct wr_arena *arena)
{
    static const struct schema_parameter ALLOWED = {
        "allowed", "true,first,first_in_data_collection,last_in_data_collection,last,false,"
                   "incremental"};
    static const struct datum FALSE = {.kind = DATUM_STRING, .as.bytes = {"false", 5}};
    struct schema *schema = must(schema_new(arena, SCHEMA_STRING));

    schema->name = "io.debezium.data.Enum";
    schema->version = 1;
    schema->is_optional = true;
    schema->parameters = &ALLOWED;
    schema->parameter_count = 1;
    schema->default_value = &FALSE;
    return schema;
}

static const struct schema *source_make(struct wr_arena *arena)
{
    const struct schema_field fields[] = {
        required("version", SCHEMA_STRING),      required("connector", SCHEMA_STRING),
        required("name", SCHEMA_STRING),         required("ts_ms", SCHEMA_INT64),
        field("snapshot", snapshot_make(arena)), required("db", SCHEMA_STRING),
        optional("sequence", SCHEMA_STRING),     optional("ts_us", SCHEMA_INT64),
        optional("ts_ns", SCHEMA_INT64),         required("schema", SCHEMA_STRING),
        required("table", SCHEMA_STRING),        optional("txId", SCHEMA_INT64),
        optional("lsn", SCHEMA_INT64),           optional("xmin", SCHEMA_INT64),
        optional("origin", SCHEMA_STRING),       optional("origin_lsn", SCHEMA_INT64),
    };

    return must(
        schema_struct(arena, "io.debezium.connector.postgresql.Source", 1, fields, COUNT(fields)));
}

static const struct schema *transaction_make(struct wr_arena *arena)
{
    const struct schema_field fields[] = {
        required("id", SCHEMA_STRING),
        required("total_order", SCHEMA_INT64),
        required("data_collection_order", SCHEMA_INT64),
    };
    struct schema *schema = must(schema_struct(arena, "event.block", 1, fields, COUNT(fields)));

    schema->is_optional = true;
    return schema;
}

static const struct schema *message_key_make(struct wr_arena *arena)
{
    const struct schema_field prefix = optional("prefix", SCHEMA_STRING);

    return must(schema_struct(arena, "io.debezium.connector.postgresql.MessageKey", 1, &prefix, 1));
}

static const struct schema *heartbeat_part_make(struct wr_arena *arena, const char *name,
                                                struct schema_field only)
{
    return must(schema_struct(arena, name, 1, &only, 1));
}

static const struct schema *message_value_make(const struct schemas *schemas)
{
    const struct schema_field block[] = {
        optional("prefix", SCHEMA_STRING),
        optional("content", SCHEMA_BYTES),
    };
    const struct schema_field fields[] = {
        required("op", SCHEMA_STRING),
        optional("ts_ms", SCHEMA_INT64),
        field("source", schemas->source),
        field("transaction", schemas->transaction),
        field("message",
              must(schema_struct(schemas->arena, "io.debezium.connector.postgresql.Message", 1,
                                 block, COUNT(block)))),
    };

    return must(schema_struct(schemas->arena, "io.debezium.connector.postgresql.MessageValue", 1,
                              fields, COUNT(fields)));
}

void schemas_init(struct schemas *schemas, const struct config *config)
{
    struct wr_arena *arena = wr_arena_new(SHARED_SIZE_MAX);

    *schemas = (struct schemas){
        .arena = arena,
        .config = config,
        .source = source_make(arena),
        .transaction = transaction_make(arena),
        .message_key = message_key_make(arena),
        .heartbeat_key = heartbeat_part_make(arena, "io.debezium.connector.common.ServerNameKey",
                                             required("serverName", SCHEMA_STRING)),
        .heartbeat_value = heartbeat_part_make(arena, "io.debezium.connector.common.Heartbeat",
                                               required("ts_ms", SCHEMA_INT64)),
    };
    schemas->message_value = message_value_make(schemas);
}

void schemas_done(struct schemas *schemas)
{
    wr_arena_free(schemas->arena);
}

const struct schema *schemas_column(struct wr_arena *arena, const struct column_type *type,
                                    bool is_optional, const struct datum *default_value)
{
    if (default_value->kind == DATUM_NULL || type->schema == NULL) {
        return schema_with_optional(arena, type->schema, is_optional);
    }
    struct schema *schema = schema_copy(arena, type->schema);
    struct datum *copy = wr_arena_alloc(arena, 1, sizeof(*copy));
    if (schema == NULL || copy == NULL) {
        return NULL;
    }
    *copy = *default_value;
    schema->is_optional = is_optional;
    schema->default_value = copy;
    return schema;
}

const struct schema *schemas_with_parameters(struct wr_arena *arena, const struct schema *schema,
                                             const struct schema_parameter *more, size_t count)
{
    if (count == 0) {
        return schema;
    }
    struct schema *copy = schema_copy(arena, schema);
    struct schema_parameter *parameters =
        wr_arena_alloc(arena, schema->parameter_count + count, sizeof(*parameters));
    if (copy == NULL || parameters == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < schema->parameter_count; i++) {
        parameters[i] = schema->parameters[i];
    }
    for (size_t i = 0; i < count; i++) {
        parameters[schema->parameter_count + i] = more[i];
    }
    copy->parameters = parameters;
    copy->parameter_count = schema->parameter_count + count;
    return copy;
}

/* "<topic>.<suffix>", as schema.name.adjustment.mode has it. NULL: the arena is full. */
static const char *table_schema_name(const struct schemas *schemas, const struct relation *relation,
                                     const char *suffix)
{
    struct wr_buffer name, adjusted;

    wr_buffer_init(&name, WR_RELATION_SIZE_MAX);
    wr_buffer_init(&adjusted, WR_RELATION_SIZE_MAX);
    wr_buffer_add_slice(&name, relation->plan->topic);
    wr_buffer_add_char(&name, '.');
    wr_buffer_add_str(&name, suffix);
    adjust_name(&adjusted, schemas->config->schema_name_adjustment_mode, ADJUST_SCHEMA,
                wr_buffer_slice(&name));
    const char *copy = wr_arena_strndup(relation->arena, adjusted.data, adjusted.size);
    wr_buffer_done(&name);
    wr_buffer_done(&adjusted);
    return copy;
}

/* A struct of columns, named after the topic. NULL: the arena is full. */
static struct schema *columns_compile(const struct schemas *schemas,
                                      const struct relation *relation,
                                      const struct column_plan *const *columns, size_t count,
                                      const char *suffix)
{
    const char *name = table_schema_name(schemas, relation, suffix);
    struct schema *schema = schema_new(relation->arena, SCHEMA_STRUCT);
    struct schema_field *fields = wr_arena_alloc(relation->arena, count + 1, sizeof(*fields));

    if (name == NULL || schema == NULL || fields == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        fields[i] = field(columns[i]->name, columns[i]->schema);
    }
    schema->name = name;
    schema->fields = fields;
    schema->field_count = count;
    return schema;
}

static const struct schema *envelope_compile(const struct schemas *schemas,
                                             const struct relation *relation)
{
    const char *name = table_schema_name(schemas, relation, "Envelope");
    const struct schema_field fields[] = {
        field("before", relation->plan->row_schema),
        field("after", relation->plan->row_schema),
        field("source", schemas->source),
        field("transaction", schemas->transaction),
        required("op", SCHEMA_STRING),
        optional("ts_ms", SCHEMA_INT64),
        optional("ts_us", SCHEMA_INT64),
        optional("ts_ns", SCHEMA_INT64),
    };

    return name == NULL
               ? NULL
               : schema_struct(relation->arena, name, ENVELOPE_VERSION, fields, COUNT(fields));
}

enum wr_status schemas_compile(const struct schemas *schemas, struct relation *relation,
                               struct wr_error *err)
{
    struct route_plan *plan = relation->plan;
    struct schema *row =
        columns_compile(schemas, relation, plan->value_columns, plan->value_column_count, "Value");

    if (row != NULL) {
        row->is_optional = true;
    }
    plan->row_schema = row;
    if (plan->key_column_count > 0) {
        plan->key_schema =
            columns_compile(schemas, relation, plan->key_columns, plan->key_column_count, "Key");
    }
    plan->envelope_schema = envelope_compile(schemas, relation);
    if (row == NULL || plan->envelope_schema == NULL ||
        (plan->key_column_count > 0 && plan->key_schema == NULL)) {
        return wr_fail(err, WR_FATAL, "router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                       relation->schema, relation->table);
    }
    return WR_OK;
}
