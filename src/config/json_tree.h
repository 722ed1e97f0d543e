/* config/json_tree.h - a small JSON text as a tree: what somebody asks walrelay for. */
#ifndef WR_CONFIG_JSON_TREE_H
#define WR_CONFIG_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct wr_arena;

/* Other numbers than integers are as null: nobody asks for one. */
enum tree_kind { TREE_NULL, TREE_BOOL, TREE_INTEGER, TREE_STRING, TREE_ARRAY, TREE_OBJECT };

struct json_tree {
    enum tree_kind kind;
    const char *name; /* of a member of an object, else NULL */
    bool boolean;
    int64_t integer;
    const char *string;
    const struct json_tree *items; /* of an array or an object */
    size_t count;
};

/* One JSON value, owned by `arena`. False when `text` is none, or the arena is full. */
bool json_tree_read(struct wr_slice text, struct wr_arena *arena, struct json_tree *out);

/* The member of that name; NULL where `tree` is no object or has none. */
const struct json_tree *json_tree_member(const struct json_tree *tree, const char *name);
/* The string of that name, NULL where there is none. */
const char *json_tree_string(const struct json_tree *tree, const char *name);

#endif /* WR_CONFIG_JSON_TREE_H */
