#include <jansson.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "config/loader.h"
#include "config/properties.h"

static void load_properties(struct loader *l, const char *source, struct wr_slice text)
{
    struct properties_reader reader;

    properties_open(&reader, text);
    while (properties_next(&reader)) {
        if (reader.problem != NULL) {
            loader_problem_source(l, source, reader.line, "%s", reader.problem);
            l->is_incomplete = true;
            continue;
        }
        loader_add(l, source, reader.line, reader.key.data, reader.value.data);
    }
    properties_close(&reader);
}

static void load_json_value(struct loader *l, const char *source, const char *key,
                            const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        loader_add(l, source, 0, key, json_string_value(value));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        loader_add(l, source, 0, key, json_is_true(value) ? "true" : "false");
        return;
    case JSON_INTEGER:
        loader_add(l, source, 0, key,
                   wr_arena_printf(l->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value)));
        return;
    case JSON_REAL:
        loader_add(l, source, 0, key, wr_arena_printf(l->arena, "%.15g", json_real_value(value)));
        return;
    case JSON_NULL:
        return; /* Connect takes a null for a property that is not there */
    case JSON_OBJECT:
    case JSON_ARRAY:
        loader_problem_source(l, source, 0, "%s: must be a string, a number or a boolean", key);
        return;
    }
}

static void load_json_object(struct loader *l, const char *source, json_t *object)
{
    const char *key = NULL;
    json_t *value = NULL;

    json_object_foreach(object, key, value)
    {
        load_json_value(l, source, key, value);
    }
}

/* {"name": …, "config": {…}}, with what Connect's REST interface adds when it shows one. */
static void load_json_wrapped(struct loader *l, const char *source, json_t *object)
{
    const char *key = NULL;
    json_t *value = NULL;

    json_object_foreach(object, key, value)
    {
        if (strcmp(key, "config") == 0) {
            load_json_object(l, source, value);
        } else if (strcmp(key, "name") == 0) {
            load_json_value(l, source, key, value);
        } else if (strcmp(key, "tasks") != 0 && strcmp(key, "type") != 0 &&
                   strcmp(key, "initial_state") != 0) {
            loader_problem_source(l, source, 0, "%s: stands beside \"config\"; put it inside", key);
        }
    }
}

static void load_json(struct loader *l, const char *source, struct wr_slice text)
{
    json_error_t error;
    json_t *root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &error);

    if (root == NULL) {
        /* What comes after " near " is a piece of the file, and that may be a password. */
        const char *near = strstr(error.text, " near ");
        int size = near == NULL ? (int)strlen(error.text) : (int)(near - error.text);
        loader_problem_source(l, source, error.line > 0 ? (uint32_t)error.line : 0,
                              "is not JSON: %.*s at column %d", size, error.text, error.column);
        l->is_incomplete = true;
        return;
    }
    if (json_is_object(json_object_get(root, "config"))) {
        load_json_wrapped(l, source, root);
    } else {
        load_json_object(l, source, root);
    }
    json_decref(root);
}

static struct wr_slice without_byte_order_mark(struct wr_slice text)
{
    if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
        return (struct wr_slice){text.data + 3, text.size - 3};
    }
    return text;
}

/* The format shows in the first byte: no property's name starts with a brace. */
static bool is_json(struct wr_slice text)
{
    size_t at = 0;

    while (at < text.size && strchr(" \t\r\n", text.data[at]) != NULL) {
        at++;
    }
    return at < text.size && text.data[at] == '{';
}

static void load_file(struct loader *l, const char *path)
{
    struct wr_buffer file;
    struct wr_error err;

    wr_buffer_init(&file, CONFIG_TEXT_SIZE_MAX);
    if (loader_read_file(path, &file, &err) != WR_OK) {
        loader_problem_source(l, NULL, 0, "%s", err.text);
        l->is_incomplete = true;
    } else if (file.size > 0 && memchr(file.data, '\0', file.size) != NULL) {
        loader_problem_source(l, path, 0, "is not a text file: it has a NUL byte");
        l->is_incomplete = true;
    } else if (file.size > 0) {
        struct wr_slice text = without_byte_order_mark(wr_buffer_slice(&file));
        (is_json(text) ? load_json : load_properties)(l, path, text);
    }
    wr_buffer_done(&file);
}

/* "KEY=VALUE", without escapes. What stands there may be a secret: it is not shown. */
static void load_set(struct loader *l, const char *set)
{
    const char *equals = strchr(set, '=');

    if (equals == NULL || equals == set) {
        loader_problem_source(l, "--set", 0, "must be followed by KEY=VALUE");
        l->is_incomplete = true;
        return;
    }
    const char *key = loader_copy(l, (struct wr_slice){set, (size_t)(equals - set)});
    loader_add(l, "--set", 0, key, equals + 1);
}

void source_load(struct loader *l, const struct config_source *source)
{
    if (source->path != NULL) {
        load_file(l, source->path);
    }
    if (source->set != NULL) {
        load_set(l, source->set);
    }
}
