#include "relay/signal.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "config/json_tree.h"

static const struct {
    const char *type;
    enum signal_kind kind;
} kinds[] = {
    {"execute-snapshot", SIGNAL_EXECUTE_SNAPSHOT},
    {"stop-snapshot", SIGNAL_STOP_SNAPSHOT},
    {"pause-snapshot", SIGNAL_PAUSE_SNAPSHOT},
    {"resume-snapshot", SIGNAL_RESUME_SNAPSHOT},
    {"log", SIGNAL_LOG},
    {"snapshot-window-open", SIGNAL_NONE},
    {"snapshot-window-close", SIGNAL_NONE},
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

static enum wr_status refuse(const char *type, const char *why, struct wr_error *err)
{
    return wr_fail(err, WR_REJECT, "signal", "%s: %s", type, why);
}

static const char *trimmed(struct wr_arena *arena, const char *text)
{
    static const char BLANK[] = " \t\r\n";
    const char *start = text + strspn(text, BLANK);
    size_t size = strlen(start);

    while (size > 0 && strchr(BLANK, start[size - 1]) != NULL) {
        size--;
    }
    return wr_arena_strndup(arena, start, size);
}

static enum wr_status read_collections(const struct json_tree *data, const char *type,
                                       struct wr_arena *arena, struct signal *out,
                                       struct wr_error *err)
{
    const struct json_tree *list = json_tree_member(data, "data-collections");

    if (list == NULL || list->kind == TREE_NULL) {
        return WR_OK;
    }
    if (list->kind != TREE_ARRAY) {
        return refuse(type, "data-collections is no array", err);
    }
    out->collections = wr_arena_alloc(arena, list->count + 1, sizeof(*out->collections));
    for (size_t i = 0; out->collections != NULL && i < list->count; i++) {
        if (list->items[i].kind != TREE_STRING) {
            return refuse(type, "data-collections holds what is no text", err);
        }
        out->collections[i] = trimmed(arena, list->items[i].string);
        out->collection_count++;
    }
    return out->collections == NULL ? refuse(type, "too large", err) : WR_OK;
}

static enum wr_status read_conditions(const struct json_tree *data, const char *type,
                                      struct wr_arena *arena, struct signal *out,
                                      struct wr_error *err)
{
    const struct json_tree *list = json_tree_member(data, "additional-conditions");
    const char *old = json_tree_string(data, "additional-condition"); /* of all tables */
    size_t count = list != NULL && list->kind == TREE_ARRAY ? list->count : 0;
    struct signal_condition *conditions = wr_arena_alloc(arena, count + 1, sizeof(*conditions));

    if (conditions == NULL) {
        return refuse(type, "too large", err);
    }
    if (old != NULL && old[strspn(old, " ")] != '\0') {
        conditions[0] = (struct signal_condition){.collection = ".*", .filter = old};
        out->condition_count = 1;
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct signal_condition *condition = &conditions[out->condition_count++];
        condition->collection = json_tree_string(&list->items[i], "data-collection");
        condition->filter = json_tree_string(&list->items[i], "filter");
        if (condition->collection == NULL || condition->filter == NULL) {
            return refuse(type, "one of additional-conditions lacks data-collection or filter",
                          err);
        }
    }
    out->conditions = conditions;
    return WR_OK;
}

static enum wr_status read_execute(const struct json_tree *data, struct wr_arena *arena,
                                   struct signal *out, struct wr_error *err)
{
    const char *type = json_tree_string(data, "type");
    const char *key = json_tree_string(data, "surrogate-key");
    enum wr_status status = read_collections(data, "execute-snapshot", arena, out, err);

    if (status == WR_OK && out->collection_count == 0) {
        status = refuse("execute-snapshot", "data-collections is missing or empty", err);
    }
    if (status == WR_OK && type != NULL && strcasecmp(type, "incremental") != 0 &&
        strcasecmp(type, "blocking") != 0) {
        status = wr_fail(err, WR_REJECT, "signal",
                         "execute-snapshot: type \"%s\" is neither incremental nor blocking", type);
    }
    out->is_blocking = type != NULL && strcasecmp(type, "blocking") == 0;
    out->surrogate_key = key != NULL && key[strspn(key, " ")] != '\0' ? key : NULL;
    return status == WR_OK ? read_conditions(data, "execute-snapshot", arena, out, err) : status;
}

static enum wr_status read_stop(const struct json_tree *data, struct wr_arena *arena,
                                struct signal *out, struct wr_error *err)
{
    const char *type = json_tree_string(data, "type");

    if (type != NULL && strcasecmp(type, "incremental") != 0) {
        return refuse("stop-snapshot", "only an incremental snapshot can be stopped", err);
    }
    return read_collections(data, "stop-snapshot", arena, out, err);
}

static enum wr_status read_kind(const struct json_tree *data, struct wr_arena *arena,
                                struct signal *out, struct wr_error *err)
{
    switch (out->kind) {
    case SIGNAL_EXECUTE_SNAPSHOT:
        return read_execute(data, arena, out, err);
    case SIGNAL_STOP_SNAPSHOT:
        return read_stop(data, arena, out, err);
    case SIGNAL_LOG:
        out->message = json_tree_string(data, "message");
        return out->message == NULL ? refuse("log", "message is missing", err) : WR_OK;
    case SIGNAL_PAUSE_SNAPSHOT:
    case SIGNAL_RESUME_SNAPSHOT:
    case SIGNAL_NONE:
        break;
    }
    return WR_OK;
}

static enum wr_status read_tree(const char *id, const char *type, const struct json_tree *data,
                                struct wr_arena *arena, struct signal *out, struct wr_error *err)
{
    size_t kind = 0;

    while (kind < KIND_COUNT && strcmp(kinds[kind].type, type) != 0) {
        kind++;
    }
    if (kind == KIND_COUNT) {
        return refuse(type, "no signal of that type is known", err);
    }
    *out = (struct signal){.kind = kinds[kind].kind, .id = wr_arena_strdup(arena, id)};
    return out->id == NULL ? refuse(type, "too large", err) : read_kind(data, arena, out, err);
}

enum wr_status signal_read(const char *id, const char *type, struct wr_slice data,
                           struct wr_arena *arena, struct signal *out, struct wr_error *err)
{
    struct json_tree tree = {.kind = TREE_NULL};

    if (data.size > 0 && !json_tree_read(data, arena, &tree)) {
        return refuse(type, "its data is no JSON", err);
    }
    return read_tree(id, type, &tree, arena, out, err);
}

enum wr_status signal_read_whole(struct wr_slice text, struct wr_arena *arena, struct signal *out,
                                 struct wr_error *err)
{
    struct json_tree tree;

    if (!json_tree_read(text, arena, &tree)) {
        return refuse("a signal", "it is no JSON", err);
    }
    const char *id = json_tree_string(&tree, "id");
    const char *type = json_tree_string(&tree, "type");
    const struct json_tree *data = json_tree_member(&tree, "data");
    if (type == NULL) {
        return refuse("a signal", "it has no type", err);
    }
    if (data != NULL && data->kind == TREE_STRING) {
        return signal_read(id == NULL ? "" : id, type, wr_slice_str(data->string), arena, out, err);
    }
    return read_tree(id == NULL ? "" : id, type, data == NULL ? &tree : data, arena, out, err);
}
