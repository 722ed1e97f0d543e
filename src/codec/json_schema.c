/*
 * A schema is often longer than the row that it goes with, and the same for all rows of a table:
 * so its text is kept under its id, which never means another one. A table that changes has a new
 * schema and with it a new id; the text of the old one is overwritten some day.
 */
#include "codec/json_schema.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/json_write.h"
#include "codec/json.h"
#include "decoder/schema.h"

enum {
    SLOT_COUNT = 4096,            /* ids are consecutive numbers, so tables rarely share a slot */
    KEPT_SIZE_MAX = 16 << 20,     /* some 2,000 tables of ordinary width */
    TEXT_KEPT_SIZE_MAX = 1 << 20, /* one text that is longer is written anew each time */
};

struct kept_text {
    uint64_t id; /* 0: none */
    struct wr_buffer text;
};

struct json_schemas {
    struct kept_text slots[SLOT_COUNT];
    size_t size; /* that all texts take */
};

static const char *type_name(enum schema_type type)
{
    switch (type) {
    case SCHEMA_INT8:
        return "int8";
    case SCHEMA_INT16:
        return "int16";
    case SCHEMA_INT32:
        return "int32";
    case SCHEMA_INT64:
        return "int64";
    case SCHEMA_FLOAT32:
        return "float";
    case SCHEMA_FLOAT64:
        return "double";
    case SCHEMA_BOOLEAN:
        return "boolean";
    case SCHEMA_STRING:
        return "string";
    case SCHEMA_BYTES:
        return "bytes";
    case SCHEMA_ARRAY:
        return "array";
    case SCHEMA_MAP:
        return "map";
    case SCHEMA_STRUCT:
        return "struct";
    }
    abort();
}

static void write_string(struct wr_buffer *out, const char *text)
{
    wr_json_string(out, wr_slice_str(text));
}

static void write_members(struct wr_buffer *out, const struct schema *schema);

static void write_fields(struct wr_buffer *out, const struct schema *schema)
{
    WR_BUFFER_LITERAL(out, ",\"fields\":[");
    for (size_t i = 0; i < schema->field_count; i++) {
        if (i > 0) {
            wr_buffer_add_char(out, ',');
        }
        wr_buffer_add_char(out, '{');
        write_members(out, schema->fields[i].schema);
        WR_BUFFER_LITERAL(out, ",\"field\":");
        wr_json_string(out, schema->fields[i].name);
        wr_buffer_add_char(out, '}');
    }
    wr_buffer_add_char(out, ']');
}

static void write_parameters(struct wr_buffer *out, const struct schema *schema)
{
    WR_BUFFER_LITERAL(out, ",\"parameters\":{");
    for (size_t i = 0; i < schema->parameter_count; i++) {
        if (i > 0) {
            wr_buffer_add_char(out, ',');
        }
        write_string(out, schema->parameters[i].name);
        wr_buffer_add_char(out, ':');
        write_string(out, schema->parameters[i].value);
    }
    wr_buffer_add_char(out, '}');
}

/* What the type is made of. */
static void write_content(struct wr_buffer *out, const struct schema *schema)
{
    if (schema->type == SCHEMA_STRUCT) {
        write_fields(out, schema);
    } else if (schema->type == SCHEMA_ARRAY) {
        WR_BUFFER_LITERAL(out, ",\"items\":");
        json_schema_write(out, schema->element);
    } else if (schema->type == SCHEMA_MAP) {
        WR_BUFFER_LITERAL(out, ",\"keys\":");
        json_schema_write(out, schema->key);
        WR_BUFFER_LITERAL(out, ",\"values\":");
        json_schema_write(out, schema->element);
    }
}

/* In the order of JsonConverter.asJsonSchema(). */
static void write_members(struct wr_buffer *out, const struct schema *schema)
{
    WR_BUFFER_LITERAL(out, "\"type\":");
    write_string(out, type_name(schema->type));
    write_content(out, schema);
    WR_BUFFER_LITERAL(out, ",\"optional\":");
    wr_json_bool(out, schema->is_optional);
    if (schema->name != NULL) {
        WR_BUFFER_LITERAL(out, ",\"name\":");
        write_string(out, schema->name);
    }
    if (schema->version != 0) {
        WR_BUFFER_LITERAL(out, ",\"version\":");
        wr_json_int(out, schema->version);
    }
    if (schema->doc != NULL) {
        WR_BUFFER_LITERAL(out, ",\"doc\":");
        write_string(out, schema->doc);
    }
    if (schema->parameter_count > 0) {
        write_parameters(out, schema);
    }
    if (schema->default_value != NULL) {
        WR_BUFFER_LITERAL(out, ",\"default\":");
        json_datum(out, schema->default_value);
    }
}

void json_schema_write(struct wr_buffer *out, const struct schema *schema)
{
    if (schema == NULL) {
        WR_BUFFER_LITERAL(out, "null");
        return;
    }
    wr_buffer_add_char(out, '{');
    write_members(out, schema);
    wr_buffer_add_char(out, '}');
}

struct json_schemas *json_schemas_new(void)
{
    struct json_schemas *schemas = calloc(1, sizeof(*schemas));

    if (schemas == NULL) {
        abort();
    }
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        wr_buffer_init(&schemas->slots[i].text, TEXT_KEPT_SIZE_MAX);
    }
    return schemas;
}

static void forget(struct json_schemas *schemas, struct kept_text *kept)
{
    schemas->size -= kept->text.capacity;
    kept->id = 0;
    wr_buffer_done(&kept->text);
    wr_buffer_init(&kept->text, TEXT_KEPT_SIZE_MAX);
}

static void forget_all(struct json_schemas *schemas)
{
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        forget(schemas, &schemas->slots[i]);
    }
}

void json_schemas_free(struct json_schemas *schemas)
{
    if (schemas == NULL) {
        return;
    }
    forget_all(schemas);
    free(schemas);
}

/* Keeps what was written into `out` from `start` on. */
static void keep(struct json_schemas *schemas, const struct wr_buffer *out, size_t start,
                 uint64_t id)
{
    struct kept_text *kept = &schemas->slots[id % SLOT_COUNT];
    size_t size = out->size - start;

    if (out->failed || size > TEXT_KEPT_SIZE_MAX) {
        return;
    }
    forget(schemas, kept);
    wr_buffer_add(&kept->text, out->data + start, size);
    kept->id = id;
    schemas->size += kept->text.capacity;
    if (schemas->size > KEPT_SIZE_MAX) {
        forget_all(schemas);
    }
}

void json_schemas_add(struct json_schemas *schemas, struct wr_buffer *out,
                      const struct schema *schema)
{
    const struct kept_text *kept = schema == NULL ? NULL : &schemas->slots[schema->id % SLOT_COUNT];

    if (kept != NULL && kept->id == schema->id) {
        wr_buffer_add_slice(out, wr_buffer_slice(&kept->text));
        return;
    }
    size_t start = out->size;
    json_schema_write(out, schema);
    if (schema != NULL) {
        keep(schemas, out, start, schema->id);
    }
}
