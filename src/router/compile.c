#include "router/compile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "config/config.h"
#include "decoder/catalog.h"
#include "decoder/relation.h"
#include "decoder/schema.h"
#include "router/adjust.h"
#include "router/filter.h"
#include "router/plan.h"
#include "router/rules.h"
#include "router/schemas.h"
#include "router/source_type.h"

/* pg_type.dat: what mask and truncate rules apply to, as Debezium's "character-based" columns. */
enum { OID_NAME = 19, OID_TEXT = 25, OID_BPCHAR = 1042, OID_VARCHAR = 1043 };

/* One run over one relation. */
struct compilation {
    const struct compile_context *context;
    struct relation *relation;
    struct route_plan *plan;
    struct column_plan *columns;
    const struct schema **plain_schemas; /* of the columns, as no rule has changed them */
    struct column_plan *key_copies;
    struct table_info table; /* column_count 0 when the catalog does not know it any more */
};

static enum wr_status too_large(const struct compilation *c, struct wr_error *err)
{
    return wr_fail(err, WR_FATAL, "router", "%s.%s does not fit WR_RELATION_SIZE_MAX (%d bytes)",
                   c->relation->schema, c->relation->table, WR_RELATION_SIZE_MAX);
}

static const struct column_info *find_info(const struct table_info *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, name) == 0) {
            return &table->columns[i];
        }
    }
    return NULL;
}

/* `"schema":"public","table":"orders"`, as every envelope's source has it. */
static struct wr_slice table_json(const struct relation *relation)
{
    struct wr_buffer out;

    wr_buffer_init(&out, WR_RELATION_SIZE_MAX);
    WR_BUFFER_LITERAL(&out, "\"schema\":");
    wr_json_string(&out, wr_slice_str(relation->schema));
    WR_BUFFER_LITERAL(&out, ",\"table\":");
    wr_json_string(&out, wr_slice_str(relation->table));
    size_t size = out.size;
    const char *copy = wr_arena_strndup(relation->arena, out.data, size);
    wr_buffer_done(&out);
    return (struct wr_slice){copy, copy == NULL ? 0 : size};
}

static struct wr_slice json_name(struct wr_arena *arena, const char *name)
{
    struct wr_buffer out;

    wr_buffer_init(&out, WR_RELATION_SIZE_MAX);
    wr_json_string(&out, wr_slice_str(name));
    wr_buffer_add_char(&out, ':');
    size_t size = out.size;
    const char *copy = wr_arena_strndup(arena, out.data, size);
    wr_buffer_done(&out);
    return (struct wr_slice){copy, copy == NULL ? 0 : size};
}

/* A column's name as field.name.adjustment.mode has it. NULL: the arena is full. */
static const char *field_name(const struct compilation *c, const char *name)
{
    enum name_adjustment_mode mode = c->context->config->field_name_adjustment_mode;
    struct wr_buffer out;

    if (mode == NAME_ADJUSTMENT_NONE) {
        return name;
    }
    wr_buffer_init(&out, WR_RELATION_SIZE_MAX);
    adjust_name(&out, mode, ADJUST_FIELD, wr_slice_str(name));
    const char *copy = wr_arena_strndup(c->relation->arena, out.data, out.size);
    wr_buffer_done(&out);
    return copy;
}

static bool is_character_type(uint32_t oid)
{
    return oid == OID_NAME || oid == OID_TEXT || oid == OID_BPCHAR || oid == OID_VARCHAR;
}

/* Every value is `size` asterisks. */
static bool apply_mask(const struct compilation *c, struct column_plan *column, uint32_t size)
{
    char *stars = wr_arena_alloc(c->relation->arena, size + (size_t)1, 1);
    struct datum *mask = wr_arena_alloc(c->relation->arena, 1, sizeof(*mask));

    if (stars == NULL || mask == NULL) {
        return false;
    }
    memset(stars, '*', size);
    *mask = (struct datum){.kind = DATUM_STRING, .as.bytes = {stars, size}};
    column->mask = mask;
    return true;
}

static bool apply_rule(const struct compilation *c, struct column_plan *column,
                       const struct column_rule *rule)
{
    if (rule == NULL || !is_character_type(column->type.oid)) {
        return true;
    }
    if (rule->hash_algorithm != NULL) {
        column->hash = rules_column_hash(c->context->rules, rule);
        column->truncate_size = source_type_text_size_max(&column->type);
        return true;
    }
    if (!rule->is_mask) {
        column->truncate_size = rule->size;
        return true;
    }
    return apply_mask(c, column, rule->size);
}

/* The column's type as pg_type names it; that of a domain is the domain. WR_RETRY as the catalog.
 */
static enum wr_status type_name(const struct compilation *c, const struct column_plan *column,
                                const char **out, struct wr_error *err)
{
    const struct catalog_source *catalog = c->context->catalog;
    struct type_info info = {0};
    enum wr_status status =
        catalog->type(catalog->context, c->relation->columns[column->index].type_oid,
                      c->relation->arena, &info, err);

    *out = status == WR_OK ? info.name : column->type.name;
    return status == WR_REJECT ? WR_OK : status; /* dropped meanwhile */
}

/* What a rule and column.propagate.source.type say of the column in its schema. */
static enum wr_status parameters_compile(const struct compilation *c, struct column_plan *column,
                                         const struct column_rule *rule, const char *full_name,
                                         struct wr_error *err)
{
    struct wr_arena *arena = c->relation->arena;
    struct schema_parameter more[SOURCE_TYPE_PARAMETER_COUNT + 1];
    size_t count = 0;

    if (rule != NULL && (rule->is_mask || rule->hash_algorithm != NULL)) {
        more[count++] = (struct schema_parameter){"masked", "true"};
    } else if (rule != NULL) {
        more[count++] = (struct schema_parameter){"truncateLength",
                                                  wr_arena_printf(arena, "%" PRIu32, rule->size)};
    }
    if (rules_ask_types(c->context->rules)) {
        const char *type = NULL;
        enum wr_status status = type_name(c, column, &type, err);
        if (status != WR_OK) {
            return status;
        }
        const char *datatype =
            wr_arena_printf(arena, "%s.%s.%s", c->relation->schema, c->relation->table, type);
        if (datatype == NULL) {
            return too_large(c, err);
        }
        if (rules_propagate_type(c->context->rules, wr_slice_str(full_name),
                                 wr_slice_str(datatype))) {
            if (!source_type_parameters(&column->type, type,
                                        c->relation->columns[column->index].name, arena,
                                        &more[count])) {
                return too_large(c, err);
            }
            count += SOURCE_TYPE_PARAMETER_COUNT;
        }
    }
    column->schema = schemas_with_parameters(arena, column->schema, more, count);
    return column->schema == NULL ? too_large(c, err) : WR_OK;
}

/* What the configuration says of this column. */
static enum wr_status rules_compile(const struct compilation *c, struct column_plan *column,
                                    struct wr_error *err)
{
    const char *name =
        wr_arena_printf(c->relation->arena, "%s.%s.%s", c->relation->schema, c->relation->table,
                        c->relation->columns[column->index].name);
    if (name == NULL) {
        return too_large(c, err);
    }
    const struct column_rule *rule = rules_column(c->context->rules, wr_slice_str(name));
    if (!apply_rule(c, column, rule)) {
        return too_large(c, err);
    }
    return parameters_compile(c, column, rule, name, err);
}

/* The columns of the replica identity, where that is a key or an index, are never null. */
static bool is_required(const struct compilation *c, const struct column_plan *column,
                        const struct column_info *info)
{
    return (info != NULL && info->is_not_null) ||
           (column->is_identity && c->relation->replica_identity != 'f');
}

static enum wr_status schema_compile(const struct compilation *c, struct column_plan *column,
                                     const struct column_info *info, struct wr_error *err)
{
    struct wr_arena *arena = c->relation->arena;
    struct datum default_value;
    enum wr_status status = type_default(&column->type, info == NULL ? NULL : info->default_text,
                                         arena, &default_value, err);

    if (status != WR_OK) {
        return status;
    }
    if (default_value.kind == DATUM_STRUCT) { /* Connect compares such defaults wrongly */
        default_value.kind = DATUM_NULL;
    }
    column->schema =
        schemas_column(arena, &column->type, !is_required(c, column, info), &default_value);
    return column->schema == NULL && column->type.schema != NULL ? too_large(c, err) : WR_OK;
}

static enum wr_status column_compile(struct compilation *c, uint16_t index, struct wr_error *err)
{
    struct relation *relation = c->relation;
    const struct column *source = &relation->columns[index];
    struct column_plan *column = &c->columns[index];
    const struct column_info *info = find_info(&c->table, source->name);

    column->name = field_name(c, source->name);
    column->json_name =
        column->name == NULL ? (struct wr_slice){0} : json_name(relation->arena, column->name);
    column->index = index;
    column->is_identity = source->is_key;
    enum wr_status status =
        type_compile(c->context->type_options, c->context->catalog, source->type_oid,
                     source->type_mod, relation->arena, &column->type, err);
    if (status != WR_OK || column->type.parse == NULL) {
        return status;
    }
    status = type_unavailable(&column->type, relation->arena, &column->unavailable, err);
    if (status == WR_OK && info != NULL && info->is_not_null) {
        status =
            type_absent(&column->type, info->default_text, relation->arena, &column->absent, err);
    }
    if (status == WR_OK) {
        status = schema_compile(c, column, info, err);
    }
    c->plain_schemas[index] = column->schema;
    if (status == WR_OK) {
        status = rules_compile(c, column, err);
    }
    if (status != WR_OK) {
        return status;
    }
    return column->json_name.size > 0 ? WR_OK : too_large(c, err);
}

static enum wr_status columns_compile(struct compilation *c, struct wr_error *err)
{
    struct relation *relation = c->relation;
    struct route_plan *plan = c->plan;
    size_t count = relation->column_count;

    c->columns = wr_arena_alloc(relation->arena, count + 1, sizeof(*c->columns));
    plan->value_columns = wr_arena_alloc(relation->arena, count + 1, sizeof(*plan->value_columns));
    c->plain_schemas = wr_arena_alloc(relation->arena, count + 1, sizeof(const struct schema *));
    if (c->columns == NULL || plan->value_columns == NULL || c->plain_schemas == NULL) {
        return too_large(c, err);
    }
    plan->columns = c->columns;
    for (uint16_t i = 0; i < count; i++) {
        enum wr_status status = column_compile(c, i, err);
        if (status != WR_OK) {
            return status;
        }
        if (c->columns[i].type.parse != NULL &&
            filter_has_column(c->context->filter, relation->schema, relation->table,
                              relation->columns[i].name)) {
            plan->value_columns[plan->value_column_count++] = &c->columns[i];
        }
    }
    return WR_OK;
}

static const struct column_plan *find_column(const struct compilation *c, const char *name)
{
    for (uint16_t i = 0; i < c->relation->column_count; i++) {
        if (strcmp(c->relation->columns[i].name, name) == 0) {
            return &c->columns[i];
        }
    }
    return NULL;
}

/*
 * A column stands in the key as it is, even when column.exclude.list takes it from the value or a
 * rule masks or cuts it there: rows that differ must not come under one key.
 */
static bool key_add(struct compilation *c, const struct column_plan *column)
{
    if (column == NULL || column->type.parse == NULL) {
        return false;
    }
    struct column_plan *own = &c->key_copies[c->plan->key_column_count];
    *own = *column;
    own->schema = c->plain_schemas[column->index];
    own->mask = NULL;
    own->hash = NULL;
    own->truncate_size = 0;
    c->plan->key_columns[c->plan->key_column_count++] = own;
    return true;
}

static void key_from_identity(struct compilation *c)
{
    c->plan->key_column_count = 0;
    for (uint16_t i = 0; i < c->relation->column_count; i++) {
        if (c->columns[i].is_identity) {
            (void)key_add(c, &c->columns[i]);
        }
    }
}

/*
 * The primary key in its index's order. The catalog speaks of today's columns, the relation of
 * those of the row: where a name is not found, and both have as many columns, the place decides
 * (the column was renamed since).
 */
static bool key_from_catalog(struct compilation *c)
{
    const struct table_info *table = &c->table;

    for (size_t i = 0; i < table->key_column_count; i++) {
        const struct column_plan *column = find_column(c, table->key_columns[i]);
        const struct column_info *info = find_info(table, table->key_columns[i]);
        if (column == NULL && info != NULL && table->column_count == c->relation->column_count) {
            column = &c->columns[info - table->columns];
        }
        if (!key_add(c, column)) {
            return false;
        }
    }
    return table->key_column_count > 0;
}

/* True when exactly the identity's columns are in the key. */
static bool key_is_identity(const struct compilation *c)
{
    size_t identity_count = 0;

    for (uint16_t i = 0; i < c->relation->column_count; i++) {
        identity_count += c->columns[i].is_identity;
    }
    for (size_t i = 0; i < c->plan->key_column_count; i++) {
        if (!c->plan->key_columns[i]->is_identity) {
            return false;
        }
    }
    return identity_count == c->plan->key_column_count;
}

static enum wr_status key_from_rule(struct compilation *c, const char **names, size_t count,
                                    struct wr_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (c->plan->key_column_count >= c->relation->column_count ||
            !key_add(c, find_column(c, names[i]))) {
            return wr_fail(err, WR_FATAL, "router",
                           "message.key.columns names the column %s, which %s.%s does not have",
                           names[i], c->relation->schema, c->relation->table);
        }
    }
    return WR_OK;
}

/*
 * Which columns make the key: message.key.columns; else the replica identity where it is a key or
 * an index; else, under FULL and NOTHING, which flag all columns or none, the catalog's primary
 * key.
 */
static enum wr_status key_compile(struct compilation *c, struct wr_error *err)
{
    struct relation *relation = c->relation;
    const char **names = NULL;
    size_t count = 0;
    const char *table =
        wr_arena_printf(relation->arena, "%s.%s", relation->schema, relation->table);

    c->plan->key_columns = wr_arena_alloc(relation->arena, relation->column_count + (size_t)1,
                                          sizeof(*c->plan->key_columns));
    c->key_copies =
        wr_arena_alloc(relation->arena, relation->column_count + (size_t)1, sizeof(*c->key_copies));
    if (c->plan->key_columns == NULL || c->key_copies == NULL || table == NULL) {
        return too_large(c, err);
    }
    if (rules_key(c->context->rules, wr_slice_str(table), &names, &count)) {
        return key_from_rule(c, names, count, err);
    }
    if (relation->replica_identity == 'i') {
        key_from_identity(c);
        return WR_OK;
    }
    bool found = key_from_catalog(c);
    if (relation->replica_identity == 'd' && !(found && key_is_identity(c))) {
        key_from_identity(c);
    } else if (!found) {
        c->plan->key_column_count = 0;
    }
    return WR_OK;
}

enum wr_status plan_compile(const struct compile_context *context, struct relation *relation,
                            struct wr_error *err)
{
    struct compilation c = {.context = context, .relation = relation};

    c.plan = wr_arena_alloc(relation->arena, 1, sizeof(*c.plan));
    if (c.plan == NULL) {
        return too_large(&c, err);
    }
    c.plan->is_captured = filter_has_table(context->filter, relation->schema, relation->table);
    enum wr_status status = WR_OK;
    if (c.plan->is_captured) {
        status = context->catalog->table(context->catalog->context, relation->oid, relation->arena,
                                         &c.table, err);
        if (status == WR_REJECT) { /* dropped meanwhile: the WAL's word has to do */
            c.table = (struct table_info){0};
            status = WR_OK;
        }
        c.plan->table_json = table_json(relation);
        if (status == WR_OK && c.plan->table_json.size == 0) {
            status = too_large(&c, err);
        }
        if (status == WR_OK) {
            status = columns_compile(&c, err);
        }
        if (status == WR_OK) {
            status = key_compile(&c, err);
        }
    }
    if (status == WR_OK) {
        relation->plan = c.plan;
    }
    return status;
}
