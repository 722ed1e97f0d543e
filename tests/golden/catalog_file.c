#include "golden/catalog_file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

struct catalog_file {
    json_t *lines; /* an array of {"table":{…}} and {"type":{…}} */
};

struct catalog_file *catalog_file_open(const char *path)
{
    FILE *in = fopen(path, "r");
    struct catalog_file *file = calloc(1, sizeof(*file));
    json_error_t error = {0};
    json_t *line;

    if (in == NULL || file == NULL) {
        perror(path);
        abort();
    }
    file->lines = json_array();
    while ((line = json_loadf(in, JSON_DISABLE_EOF_CHECK, &error)) != NULL) {
        json_array_append_new(file->lines, line);
    }
    bool is_whole = feof(in) != 0;
    fclose(in);
    if (!is_whole) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        catalog_file_close(file);
        return NULL;
    }
    return file;
}

void catalog_file_close(struct catalog_file *file)
{
    json_decref(file->lines);
    free(file);
}

static const json_t *find(const struct catalog_file *file, const char *kind, uint32_t oid)
{
    for (size_t i = 0; i < json_array_size(file->lines); i++) {
        const json_t *object = json_object_get(json_array_get(file->lines, i), kind);

        if (object != NULL && json_integer_value(json_object_get(object, "oid")) == oid) {
            return object;
        }
    }
    return NULL;
}

static const char *text(const json_t *object, const char *name, struct wr_arena *arena)
{
    const char *value = json_string_value(json_object_get(object, name));

    return value == NULL ? NULL : wr_arena_strdup(arena, value);
}

static int64_t integer(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static enum wr_status find_type(void *context, uint32_t oid, struct wr_arena *arena,
                                struct type_info *out, struct wr_error *err)
{
    const json_t *type = find(context, "type", oid);

    if (type == NULL) {
        return wr_fail(err, WR_REJECT, "catalog", "type %u is not in catalog.ndjson", oid);
    }
    *out = (struct type_info){
        .oid = oid,
        .schema = text(type, "schema", arena),
        .name = text(type, "name", arena),
        .typtype = json_string_value(json_object_get(type, "typtype"))[0],
        .base_oid = (uint32_t)integer(type, "base_oid"),
        .base_typmod = (int32_t)integer(type, "base_typmod"),
        .element_oid = (uint32_t)integer(type, "element_oid"),
        .labels = text(type, "labels", arena),
    };
    const char *delimiter = json_string_value(json_object_get(type, "delimiter"));
    out->delimiter = delimiter == NULL ? ',' : delimiter[0];
    if (out->labels == NULL) {
        out->labels = ""; /* no enum */
    }
    return WR_OK;
}

static enum wr_status find_table(void *context, uint32_t oid, struct wr_arena *arena,
                                 struct table_info *out, struct wr_error *err)
{
    const json_t *table = find(context, "table", oid);

    if (table == NULL) {
        return wr_fail(err, WR_REJECT, "catalog", "table %u is not in catalog.ndjson", oid);
    }
    const json_t *columns = json_object_get(table, "columns");
    const json_t *key = json_object_get(table, "key");
    *out = (struct table_info){
        .oid = oid,
        .column_count = json_array_size(columns),
        .key_column_count = json_array_size(key),
    };
    out->columns = wr_arena_alloc(arena, out->column_count + 1, sizeof(*out->columns));
    out->key_columns = wr_arena_alloc(arena, out->key_column_count + 1, sizeof(*out->key_columns));
    for (size_t i = 0; i < out->column_count; i++) {
        const json_t *column = json_array_get(columns, i);

        out->columns[i].name = text(column, "name", arena);
        out->columns[i].is_not_null = json_is_true(json_object_get(column, "not_null"));
        out->columns[i].default_text = text(column, "default", arena);
    }
    for (size_t i = 0; i < out->key_column_count; i++) {
        out->key_columns[i] = wr_arena_strdup(arena, json_string_value(json_array_get(key, i)));
    }
    return WR_OK;
}

struct catalog_source catalog_file_source(struct catalog_file *file)
{
    return (struct catalog_source){.context = file, .type = find_type, .table = find_table};
}
