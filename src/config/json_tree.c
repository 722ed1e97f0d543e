#include "config/json_tree.h"

#include <jansson.h>
#include <string.h>

#include "base/arena.h"

static bool convert(const json_t *json, struct wr_arena *arena, struct json_tree *out);

static bool convert_items(const json_t *json, struct wr_arena *arena, struct json_tree *out)
{
    struct json_tree *items = wr_arena_alloc(arena, json_array_size(json) + 1, sizeof(*items));

    out->kind = TREE_ARRAY;
    out->items = items;
    for (size_t i = 0; items != NULL && i < json_array_size(json); i++) {
        if (!convert(json_array_get(json, i), arena, &items[out->count++])) {
            return false;
        }
    }
    return items != NULL;
}

static bool convert_members(const json_t *json, struct wr_arena *arena, struct json_tree *out)
{
    struct json_tree *items = wr_arena_alloc(arena, json_object_size(json) + 1, sizeof(*items));
    json_t *object = (json_t *)(uintptr_t)json; /* the iterator of jansson wants to write */

    out->kind = TREE_OBJECT;
    out->items = items;
    for (void *at = json_object_iter(object); items != NULL && at != NULL;
         at = json_object_iter_next(object, at)) {
        struct json_tree *item = &items[out->count++];
        if (!convert(json_object_iter_value(at), arena, item)) {
            return false;
        }
        item->name = wr_arena_strdup(arena, json_object_iter_key(at));
        if (item->name == NULL) {
            return false;
        }
    }
    return items != NULL;
}

/* jansson bounds how deep it reads. */
static bool convert(const json_t *json, struct wr_arena *arena, struct json_tree *out)
{
    *out = (struct json_tree){.kind = TREE_NULL};
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return convert_members(json, arena, out);
    case JSON_ARRAY:
        return convert_items(json, arena, out);
    case JSON_STRING:
        out->kind = TREE_STRING;
        out->string = wr_arena_strdup(arena, json_string_value(json));
        return out->string != NULL;
    case JSON_INTEGER:
        out->kind = TREE_INTEGER;
        out->integer = json_integer_value(json);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        out->kind = TREE_BOOL;
        out->boolean = json_is_true(json);
        return true;
    case JSON_REAL:
    case JSON_NULL:
        return true;
    }
    return false;
}

bool json_tree_read(struct wr_slice text, struct wr_arena *arena, struct json_tree *out)
{
    json_t *json = json_loadb(text.data, text.size, JSON_DECODE_ANY, NULL);
    bool is_read = json != NULL && convert(json, arena, out);

    json_decref(json);
    return is_read;
}

const struct json_tree *json_tree_member(const struct json_tree *tree, const char *name)
{
    for (size_t i = 0; tree->kind == TREE_OBJECT && i < tree->count; i++) {
        if (strcmp(tree->items[i].name, name) == 0) {
            return &tree->items[i];
        }
    }
    return NULL;
}

const char *json_tree_string(const struct json_tree *tree, const char *name)
{
    const struct json_tree *member = json_tree_member(tree, name);

    return member != NULL && member->kind == TREE_STRING ? member->string : NULL;
}
