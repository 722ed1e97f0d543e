/* What ExtractNewRecordState is told to add, to drop and to route by. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/limits.h"
#include "config/config.h"
#include "decoder/schema.h"
#include "router/record.h"
#include "router/topic.h"
#include "router/transform.h"
#include "router/transforms/unwrap.h"
#include "router/tree.h"

/* Up to `separator`, which is taken off `text` as well. */
static struct wr_slice take(struct wr_slice *text, char separator)
{
    const char *end = text->size > 0 ? memchr(text->data, separator, text->size) : NULL;
    struct wr_slice taken = {text->data, end == NULL ? text->size : (size_t)(end - text->data)};
    size_t used = taken.size + (end == NULL ? 0 : 1);

    *text = (struct wr_slice){text->data + used, text->size - used};
    return taken;
}

/* The structure that a field without one is meant to be of. */
static struct wr_slice structure_of(struct wr_slice field)
{
    if (fact_find(FACT_IN_ENVELOPE, field) != FACT_COUNT) {
        return WR_SLICE("");
    }
    return fact_find(FACT_IN_TRANSACTION, field) != FACT_COUNT ? WR_SLICE("transaction")
                                                               : WR_SLICE("source");
}

/* False: no envelope has such a structure. What is not in it may stand in the envelope itself. */
static bool reference_find(struct reference *reference, struct wr_slice structure)
{
    reference->is_before = wr_slice_is(structure, "before");
    reference->is_column = reference->is_before || wr_slice_is(structure, "after");
    reference->fact = FACT_COUNT;
    if (wr_slice_is(structure, "source")) {
        reference->fact = fact_find(FACT_IN_SOURCE, reference->field);
    } else if (wr_slice_is(structure, "transaction")) {
        reference->fact = fact_find(FACT_IN_TRANSACTION, reference->field);
    } else if (!reference->is_column && structure.size > 0) {
        return false;
    }
    if (reference->fact == FACT_COUNT) {
        reference->fact = fact_find(FACT_IN_ENVELOPE, reference->field);
    }
    return true;
}

/* "field", "structure.field" or either with ":name". */
static bool reference_read(struct wr_arena *arena, struct wr_slice text, const char *prefix,
                           struct reference *out)
{
    struct wr_slice rest = text;
    struct wr_slice path = take(&rest, ':');
    struct wr_slice alias = take(&rest, ':');
    bool has_structure = path.size > 0 && memchr(path.data, '.', path.size) != NULL;
    struct wr_slice structure = has_structure ? take(&path, '.') : structure_of(path);

    out->field = take(&path, '.');
    if (alias.size > 0) {
        out->name = wr_arena_printf(arena, "%s%.*s", prefix, (int)alias.size, alias.data);
    } else if (has_structure) {
        out->name = wr_arena_printf(arena, "%s%.*s_%.*s", prefix, (int)structure.size,
                                    structure.data, (int)out->field.size, out->field.data);
    } else {
        out->name = wr_arena_printf(arena, "%s%.*s", prefix, (int)out->field.size, out->field.data);
    }
    return rest.size == 0 && out->field.size > 0 && out->name != NULL &&
           reference_find(out, structure);
}

static void notice_unknown(const struct transform *t, const char *option, const char *text)
{
    char notice[512];

    (void)snprintf(notice, sizeof(notice),
                   "transforms.%s.%s: no change has the field %s, which is left out",
                   t->config->name, option, text);
    t->sink->notice(t->sink->context, notice);
}

enum wr_status references_read(const struct transform *t, const char *option,
                               const struct config_names *names, const char *prefix,
                               struct references *out, struct wr_error *err)
{
    const struct unwrap *unwrap = t->state;

    out->items = wr_arena_alloc(unwrap->arena, names->count + 1, sizeof(*out->items));
    for (size_t i = 0; i < names->count; i++) {
        struct reference *reference = &out->items[out->count];
        if (out->items == NULL ||
            !reference_read(unwrap->arena, wr_slice_str(names->items[i]), prefix, reference)) {
            return wr_fail(err, WR_FATAL, "router",
                           "transforms.%s.%s: %s must be a field of a change or of its source, "
                           "transaction, before or after, with :name where its name is to be "
                           "another",
                           t->config->name, option, names->items[i]);
        }
        if (reference->fact == FACT_COUNT && !reference->is_column) {
            notice_unknown(t, option, names->items[i]);
        } else {
            out->count++;
        }
    }
    return WR_OK;
}

const struct schema *unwrap_optional(struct wr_arena *arena, const struct schema *schema)
{
    if (schema == NULL || (schema->is_optional && schema->default_value == NULL)) {
        return schema;
    }
    struct schema *copy = schema_copy(arena, schema);
    if (copy != NULL) {
        copy->is_optional = true;
        copy->default_value = NULL;
    }
    return copy;
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

enum wr_status unwrap_route(struct record *record, struct wr_slice name, struct wr_arena *scratch,
                            struct wr_error *err)
{
    struct wr_buffer topic;

    if (is_blank(name)) {
        return WR_OK;
    }
    wr_buffer_init(&topic, WR_RECORD_SIZE_MAX);
    (void)topic_sanitize(&topic, name);
    const char *problem = topic_problem(wr_buffer_slice(&topic));
    const char *copy = wr_arena_strndup(scratch, topic.data, topic.size);
    record->topic = (struct wr_slice){copy, topic.size};
    wr_buffer_done(&topic);
    if (copy == NULL || problem != NULL) {
        return wr_fail(err, WR_REJECT, "unwrap", "route.by.field \"%.*s\" makes no topic: %s",
                       (int)(name.size > 40 ? 40 : name.size), name.data,
                       problem == NULL ? "it is too large" : problem);
    }
    return WR_OK;
}

static bool is_listed(const struct datum *list, struct wr_slice name)
{
    for (size_t i = 0; i < list->as.array.count; i++) {
        if (wr_slice_eq(list->as.array.items[i].as.bytes, name)) {
            return true;
        }
    }
    return false;
}

static bool is_list_of_names(const struct datum *list)
{
    for (size_t i = 0; list->kind == DATUM_ARRAY && i < list->as.array.count; i++) {
        if (list->as.array.items[i].kind != DATUM_STRING) {
            return false;
        }
    }
    return list->kind == DATUM_ARRAY;
}

/* Whether a field of `schema` goes away. Without a schema nothing says that it must stay. */
static bool is_dropped(const struct schema *schema, const struct datum *list, struct wr_slice name,
                       bool keeps_compatible)
{
    const struct schema_field *field = schema == NULL ? NULL : schema_field(schema, name);
    bool must_stay = keeps_compatible && field != NULL && !field->schema->is_optional;

    return is_listed(list, name) && !must_stay;
}

static struct schema *drop_from_schema(const struct schema *old, const struct datum *list,
                                       bool keeps_compatible, struct wr_arena *scratch)
{
    struct schema *schema = schema_copy(scratch, old);
    struct schema_field *fields = wr_arena_alloc(scratch, old->field_count + 1, sizeof(*fields));

    if (schema == NULL || fields == NULL) {
        return NULL;
    }
    schema->is_optional = false;
    schema->fields = fields;
    schema->field_count = 0;
    for (size_t i = 0; i < old->field_count; i++) {
        if (!is_dropped(old, list, old->fields[i].name, keeps_compatible)) {
            fields[schema->field_count++] = old->fields[i];
        }
    }
    return schema;
}

static enum wr_status drop_from_part(const struct record *record, struct record_part *part,
                                     const struct datum *list, bool keeps_compatible,
                                     struct wr_arena *scratch, struct wr_error *err)
{
    const struct schema *old = part->schema;
    size_t count = 0;
    enum wr_status status = part_expand(record, part, scratch, err);

    if (status != WR_OK || part->kind == PART_NULL || part->as.datum.kind != DATUM_STRUCT) {
        return status;
    }
    const struct datum tree = part->as.datum;
    struct datum_field *fields =
        wr_arena_alloc(scratch, tree.as.structure.count + 1, sizeof(*fields));
    if (old != NULL) {
        part->schema = drop_from_schema(old, list, keeps_compatible, scratch);
    }
    if (fields == NULL || (old != NULL && part->schema == NULL)) {
        return wr_fail(err, WR_REJECT, "unwrap", "the record is too large");
    }
    for (size_t i = 0; i < tree.as.structure.count; i++) {
        const struct datum_field *field = &tree.as.structure.fields[i];
        if (!is_dropped(old, list, field->name, keeps_compatible)) {
            fields[count++] = *field;
        }
    }
    part->as.datum.as.structure.fields = fields;
    part->as.datum.as.structure.count = count;
    return WR_OK;
}

/* The first header of that name, as Debezium looks for it. */
static const struct record_header *find_header(const struct record *record, const char *name)
{
    for (size_t i = 0; i < record->header_count; i++) {
        if (strcmp(record->headers[i].name, name) == 0) {
            return &record->headers[i];
        }
    }
    return NULL;
}

enum wr_status unwrap_drop_fields(const struct unwrap_config *c, struct record *record,
                                  struct wr_arena *scratch, struct wr_error *err)
{
    const struct record_header *header = find_header(record, c->drop_fields_header);

    if (header == NULL || header->value.kind != PART_DATUM ||
        header->value.as.datum.kind == DATUM_NULL) {
        return WR_OK;
    }
    const struct datum *list = &header->value.as.datum;
    if (!is_list_of_names(list)) {
        return wr_fail(err, WR_REJECT, "unwrap",
                       "the header %s (drop.fields.header.name) is no list of names",
                       c->drop_fields_header);
    }
    if (list->as.array.count == 0) {
        return WR_OK;
    }
    enum wr_status status = WR_OK;
    if (c->drop_fields_from_key) {
        status = drop_from_part(record, &record->key, list, c->drop_fields_keep_schema_compatible,
                                scratch, err);
    }
    if (status == WR_OK) {
        status = drop_from_part(record, &record->value, list, c->drop_fields_keep_schema_compatible,
                                scratch, err);
    }
    return status;
}
