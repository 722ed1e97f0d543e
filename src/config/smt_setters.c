#include <string.h>
#include <strings.h>

#include "base/date_format.h"
#include "config/loader.h"
#include "config/property.h"
#include "config/table_rows.h"
#include "config/transform_config.h"

/* Setters of the options of Kafka's own transforms, and what one option asks of another. */

/* "name", "name?" or "name!". */
static void set_inserted(struct loader *l, const struct entry *e, struct inserted_field *field)
{
    struct wr_slice name = wr_slice_str(e->value);
    char last = name.data[name.size - 1]; /* an empty value never comes here */

    if (last == '?' || last == '!') {
        name.size--;
    }
    if (name.size == 0) {
        loader_problem(l, e, "must be the name of a field, with or without ! or ? behind it");
        return;
    }
    field->name = loader_copy(l, name);
    field->is_required = last == '!';
}

void set_topic_field(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base)
{
    (void)match;
    set_inserted(l, e, &((struct insert_field_config *)base)->topic);
}

void set_partition_field(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base)
{
    (void)match;
    set_inserted(l, e, &((struct insert_field_config *)base)->partition);
}

void set_timestamp_field(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base)
{
    (void)match;
    set_inserted(l, e, &((struct insert_field_config *)base)->timestamp);
}

void set_static_field(struct loader *l, const struct property_match *match, const struct entry *e,
                      void *base)
{
    (void)match;
    set_inserted(l, e, &((struct insert_field_config *)base)->fixed);
}

/* Kafka Connect takes it, and then fails at the first record of a source. */
void set_offset_field(struct loader *l, const struct property_match *match, const struct entry *e,
                      void *base)
{
    (void)match;
    (void)base;
    loader_problem(l, e, "is for sinks: a record on its way to Kafka has no offset; leave it out");
}

static bool read_cast_type(struct wr_slice text, enum cast_type *out)
{
    static const char *const NAMES[] = {
        [CAST_INT8] = "int8",       [CAST_INT16] = "int16",     [CAST_INT32] = "int32",
        [CAST_INT64] = "int64",     [CAST_FLOAT32] = "float32", [CAST_FLOAT64] = "float64",
        [CAST_BOOLEAN] = "boolean", [CAST_STRING] = "string",
    };

    for (unsigned i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        if (text.size == strlen(NAMES[i]) && strncasecmp(text.data, NAMES[i], text.size) == 0) {
            *out = (enum cast_type)i;
            return true;
        }
    }
    return false;
}

/* "field:type", or a type alone. */
static bool read_cast_field(struct loader *l, struct wr_slice item, struct cast_field *out)
{
    struct wr_slice name = {0}, type = {0}, more = {0};

    (void)loader_take_item(&item, ':', &name);
    if (!loader_take_item(&item, ':', &type)) {
        return read_cast_type(name, &out->type);
    }
    out->name = loader_copy(l, name);
    return name.size > 0 && read_cast_type(type, &out->type) &&
           !loader_take_item(&item, ':', &more);
}

void set_cast_spec(struct loader *l, const struct property_match *match, const struct entry *e,
                   void *base)
{
    struct cast_config *cast = base;
    struct wr_slice list = wr_slice_str(e->value);
    struct wr_slice item = {0};
    bool has_whole = false;

    (void)match;
    cast->fields = NULL;
    cast->field_count = 0;
    while (loader_take_item(&list, ',', &item)) {
        struct cast_field field = {0};
        if (!read_cast_field(l, item, &field)) {
            loader_problem(l, e,
                           "must be a list of field:type, or one type alone; types are int8, "
                           "int16, int32, int64, float32, float64, boolean and string");
            return;
        }
        cast->fields = loader_grow(l, cast->fields, cast->field_count, sizeof(*cast->fields));
        cast->fields[cast->field_count++] = field;
        has_whole |= field.name == NULL;
    }
    if (has_whole && cast->field_count > 1) {
        loader_problem(l, e, "has a type for the whole and types of fields: one or the other");
    }
}

void set_date_format(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base)
{
    struct wr_date_format *format = NULL;
    struct wr_error err;

    if (wr_date_format_new(e->value, &format, &err) != WR_OK) {
        loader_problem(l, e, "%s", e->is_secret ? "is no pattern of a date" : err.text);
    }
    wr_date_format_free(format);
    memcpy((char *)base + match->property->offset, &e->value, sizeof(e->value));
}

static void problem(struct loader *l, const struct transform_config *t, const char *option,
                    const char *text)
{
    loader_problem_source(l, NULL, 0, "transforms.%s.%s: %s", t->name, option, text);
}

static void check_names(struct loader *l, const struct transform_config *t, const char *option,
                        const struct config_names *names)
{
    if (names->count == 0) {
        problem(l, t, option, "must have at least one name");
    }
}

static void check_insert_field(struct loader *l, const struct transform_config *t)
{
    const struct insert_field_config *c = &t->as.insert_field;

    if (c->topic.name == NULL && c->partition.name == NULL && c->timestamp.name == NULL &&
        c->fixed.name == NULL) {
        problem(l, t, "type",
                "needs topic.field, partition.field, timestamp.field or static.field");
    }
    if (c->fixed.name != NULL && c->static_value == NULL) {
        problem(l, t, "static.value", "is required with static.field");
    }
}

static void check_header_from(struct loader *l, const struct transform_config *t)
{
    const struct header_from_config *c = &t->as.header_from;

    check_names(l, t, "fields", &c->fields);
    check_names(l, t, "headers", &c->headers);
    if (c->fields.count != c->headers.count) {
        problem(l, t, "headers", "must have as many names as fields");
    }
}

static void check_drop_headers(struct loader *l, const struct transform_config *t)
{
    check_names(l, t, "headers", &t->as.drop_headers.headers);
}

static void check_mask_field(struct loader *l, const struct transform_config *t)
{
    check_names(l, t, "fields", &t->as.mask_field.fields);
}

static void check_value_to_key(struct loader *l, const struct transform_config *t)
{
    check_names(l, t, "fields", &t->as.value_to_key.fields);
}

static void check_set_schema_metadata(struct loader *l, const struct transform_config *t)
{
    const struct set_schema_metadata_config *c = &t->as.set_schema_metadata;

    if (c->schema_name == NULL && c->schema_version < 0) {
        problem(l, t, "type", "needs schema.name, schema.version or both");
    }
}

static void check_timestamp_converter(struct loader *l, const struct transform_config *t)
{
    const struct timestamp_converter_config *c = &t->as.timestamp_converter;

    if (c->target_type == TIMESTAMP_STRING && c->format == NULL) {
        problem(l, t, "format", "is required with target.type=string");
    }
}

void smt_check(struct loader *l, const struct transform_config *t)
{
    static void (*const CHECKS[])(struct loader * l, const struct transform_config *t) = {
        [TRANSFORM_DROP_HEADERS] = check_drop_headers,
        [TRANSFORM_HEADER_FROM] = check_header_from,
        [TRANSFORM_INSERT_FIELD] = check_insert_field,
        [TRANSFORM_MASK_FIELD] = check_mask_field,
        [TRANSFORM_SET_SCHEMA_METADATA] = check_set_schema_metadata,
        [TRANSFORM_TIMESTAMP_CONVERTER] = check_timestamp_converter,
        [TRANSFORM_VALUE_TO_KEY] = check_value_to_key,
    };

    if (t->kind < sizeof(CHECKS) / sizeof(CHECKS[0]) && CHECKS[t->kind] != NULL) {
        CHECKS[t->kind](l, t);
    }
}
