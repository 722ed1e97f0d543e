#include "relay/incremental_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_write.h"
#include "config/json_tree.h"

enum { TREE_SIZE_MAX = 64 << 20 };

static char *copy_of(const char *text)
{
    char *copy = text == NULL ? NULL : strdup(text);

    if (copy == NULL && text != NULL) {
        abort();
    }
    return copy;
}

void incremental_key_done(struct incremental_key *key)
{
    for (uint16_t i = 0; i < key->count; i++) {
        free(key->texts[i]);
    }
    *key = (struct incremental_key){.count = 0};
}

void incremental_key_copy(struct incremental_key *out, const struct incremental_key *key)
{
    struct incremental_key copy = {.count = key->count};

    for (uint16_t i = 0; i < key->count; i++) {
        copy.texts[i] = copy_of(key->texts[i]);
    }
    incremental_key_done(out);
    *out = copy;
}

void incremental_keys_done(struct incremental_keys *keys)
{
    incremental_keys_drop(keys, keys->count);
    free(keys->items);
    *keys = (struct incremental_keys){.count = 0};
}

void incremental_keys_add(struct incremental_keys *keys, const struct incremental_key *key)
{
    if (keys->count == keys->capacity) {
        keys->capacity = keys->capacity == 0 ? 64 : keys->capacity * 2;
        keys->items = reallocarray(keys->items, keys->capacity, sizeof(*keys->items));
        if (keys->items == NULL) {
            abort();
        }
    }
    keys->items[keys->count] = (struct incremental_key){.count = 0};
    incremental_key_copy(&keys->items[keys->count++], key);
}

void incremental_keys_drop(struct incremental_keys *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        incremental_key_done(&keys->items[i]);
    }
    if (count > 0) {
        keys->count -= count;
        memmove(keys->items, keys->items + count, keys->count * sizeof(*keys->items));
    }
}

void incremental_keys_copy(struct incremental_keys *out, const struct incremental_keys *keys)
{
    incremental_keys_drop(out, out->count);
    for (size_t i = 0; i < keys->count; i++) {
        incremental_keys_add(out, &keys->items[i]);
    }
}

void incremental_progress_done(struct incremental_progress *progress)
{
    incremental_key_done(&progress->last);
    incremental_key_done(&progress->max);
    incremental_keys_done(&progress->reread);
    *progress = (struct incremental_progress){.serial = 0};
}

void incremental_progress_copy(struct incremental_progress *out,
                               const struct incremental_progress *progress)
{
    incremental_key_copy(&out->last, &progress->last);
    incremental_key_copy(&out->max, &progress->max);
    incremental_keys_copy(&out->reread, &progress->reread);
    out->serial = progress->serial;
    out->is_behind_max = progress->is_behind_max;
    out->row_count = progress->row_count;
}

static void item_done(struct incremental_item *item)
{
    const char *const texts[] = {item->id, item->name, item->condition, item->surrogate_key};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        free((void *)(uintptr_t)texts[i]); /* a copy of its own */
    }
}

void incremental_state_done(struct incremental_state *state)
{
    for (size_t i = 0; i < state->count; i++) {
        item_done(&state->items[i]);
    }
    free(state->items);
    *state = (struct incremental_state){.next_serial = state->next_serial};
}

const struct incremental_item *incremental_state_find(const struct incremental_state *state,
                                                      uint64_t serial)
{
    for (size_t i = 0; i < state->count; i++) {
        if (state->items[i].serial >= serial) {
            return &state->items[i];
        }
    }
    return NULL;
}

void incremental_state_add(struct incremental_state *state, const struct incremental_item *item)
{
    if (state->count == state->capacity) {
        state->capacity = state->capacity == 0 ? 8 : state->capacity * 2;
        state->items = reallocarray(state->items, state->capacity, sizeof(*state->items));
        if (state->items == NULL) {
            abort();
        }
    }
    state->items[state->count++] = (struct incremental_item){
        .serial = ++state->next_serial,
        .run = item->run,
        .is_expression = item->is_expression,
        .id = copy_of(item->id),
        .name = copy_of(item->name),
        .condition = copy_of(item->condition),
        .surrogate_key = copy_of(item->surrogate_key),
    };
}

void incremental_state_expand(struct incremental_state *state, uint64_t serial,
                              const struct incremental_item *items, size_t count)
{
    const struct incremental_item *current = incremental_state_find(state, serial);
    struct incremental_state old = *state;
    uint64_t run = current == NULL ? 0 : current->run;
    bool is_expanded = false;

    state->items = NULL;
    state->count = state->capacity = 0;
    for (size_t i = 0; i < old.count; i++) {
        struct incremental_item *item = &old.items[i];
        bool is_done = item->serial < serial;
        bool is_replaced = !is_done && item->run == run && item->is_expression;
        for (size_t j = 0; is_replaced && !is_expanded && j < count; j++) {
            incremental_state_add(state, &items[j]);
        }
        is_expanded = is_expanded || is_replaced;
        if (!is_replaced) {
            incremental_state_add(state, item);
        }
        if (is_done) { /* what is done stays behind */
            state->items[state->count - 1].serial = item->serial;
        }
        item_done(item);
    }
    free(old.items);
}

static void drop_at(struct incremental_state *state, size_t index)
{
    item_done(&state->items[index]);
    state->count--;
    memmove(&state->items[index], &state->items[index + 1],
            (state->count - index) * sizeof(*state->items));
}

void incremental_state_drop_below(struct incremental_state *state, uint64_t serial)
{
    while (state->count > 0 && state->items[0].serial < serial) {
        drop_at(state, 0);
    }
}

void incremental_state_drop(struct incremental_state *state, uint64_t serial)
{
    for (size_t i = 0; i < state->count; i++) {
        if (state->items[i].serial == serial) {
            drop_at(state, i);
            return;
        }
    }
}

/* Writing. */

static void add_text(struct wr_buffer *out, const char *name, const char *text)
{
    if (text != NULL) {
        WR_BUFFER_LITERAL(out, ",\"");
        wr_buffer_add_str(out, name);
        WR_BUFFER_LITERAL(out, "\":");
        wr_json_string(out, wr_slice_str(text));
    }
}

static void add_texts(struct wr_buffer *out, const struct incremental_key *key)
{
    wr_buffer_add_char(out, '[');
    for (uint16_t i = 0; i < key->count; i++) {
        wr_buffer_add_str(out, i == 0 ? "" : ",");
        wr_json_string(out, wr_slice_str(key->texts[i]));
    }
    wr_buffer_add_char(out, ']');
}

static void add_key(struct wr_buffer *out, const char *name, const struct incremental_key *key)
{
    if (key->count > 0) {
        WR_BUFFER_LITERAL(out, ",\"");
        wr_buffer_add_str(out, name);
        WR_BUFFER_LITERAL(out, "\":");
        add_texts(out, key);
    }
}

static void add_reread(struct wr_buffer *out, const struct incremental_keys *first,
                       const struct incremental_keys *second)
{
    WR_BUFFER_LITERAL(out, ",\"reread\":[");
    for (size_t i = 0; i < first->count + second->count; i++) {
        wr_buffer_add_str(out, i == 0 ? "" : ",");
        add_texts(out, i < first->count ? &first->items[i] : &second->items[i - first->count]);
    }
    wr_buffer_add_char(out, ']');
}

void incremental_state_write(const struct incremental_state *state,
                             const struct incremental_progress *progress,
                             const struct incremental_keys *more, struct wr_buffer *out)
{
    const char *comma = "";

    char cluster[24]; /* as text: not every reader of JSON has 64 bits without a sign */

    (void)snprintf(cluster, sizeof(cluster), "%" PRIu64, state->system_identifier);
    WR_BUFFER_LITERAL(out, "{\"cluster\":");
    wr_json_string(out, wr_slice_str(cluster));
    WR_BUFFER_LITERAL(out, ",\"paused\":");
    wr_json_bool(out, state->is_paused);
    WR_BUFFER_LITERAL(out, ",\"signal\":[");
    wr_json_int(out, (int64_t)state->signal_commit_lsn);
    wr_buffer_add_char(out, ',');
    wr_json_int(out, (int64_t)state->signal_lsn);
    WR_BUFFER_LITERAL(out, "],\"rows\":");
    wr_json_int(out, (int64_t)progress->row_count);
    WR_BUFFER_LITERAL(out, ",\"behind_max\":");
    wr_json_bool(out, progress->is_behind_max);
    add_key(out, "last", &progress->last);
    add_key(out, "max", &progress->max);
    add_reread(out, &progress->reread, more);
    WR_BUFFER_LITERAL(out, ",\"tables\":[");
    for (size_t i = 0; i < state->count; i++) {
        const struct incremental_item *item = &state->items[i];
        if (item->serial < progress->serial) {
            continue;
        }
        wr_buffer_add_str(out, comma);
        WR_BUFFER_LITERAL(out, "{\"run\":");
        wr_json_int(out, (int64_t)item->run);
        /* What was read belongs to the table that it was read from. */
        WR_BUFFER_LITERAL(out, ",\"begun\":");
        wr_json_bool(out, item->serial == progress->serial);
        WR_BUFFER_LITERAL(out, ",\"expression\":");
        wr_json_bool(out, item->is_expression);
        add_text(out, "id", item->id);
        add_text(out, "table", item->name);
        add_text(out, "condition", item->condition);
        add_text(out, "surrogate_key", item->surrogate_key);
        wr_buffer_add_char(out, '}');
        comma = ",";
    }
    WR_BUFFER_LITERAL(out, "]}");
}

/* Reading. */

static int64_t number_of(const struct json_tree *tree, const char *name)
{
    const struct json_tree *member = json_tree_member(tree, name);

    return member != NULL && member->kind == TREE_INTEGER ? member->integer : 0;
}

static bool is_true(const struct json_tree *tree, const char *name)
{
    const struct json_tree *member = json_tree_member(tree, name);

    return member != NULL && member->kind == TREE_BOOL && member->boolean;
}

static void read_texts(const struct json_tree *list, struct incremental_key *out)
{
    for (size_t i = 0; list != NULL && i < list->count && i < INCREMENTAL_KEY_MAX; i++) {
        if (list->items[i].kind == TREE_STRING) {
            out->texts[out->count++] = copy_of(list->items[i].string);
        }
    }
}

static void read_reread(const struct json_tree *tree, struct incremental_keys *out)
{
    const struct json_tree *list = json_tree_member(tree, "reread");

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        struct incremental_key key = {.count = 0};
        read_texts(&list->items[i], &key);
        incremental_keys_add(out, &key);
        incremental_key_done(&key);
    }
}

static const char *text_of(const struct json_tree *tree, const char *name, const char *otherwise)
{
    const char *text = json_tree_string(tree, name);

    return text == NULL ? otherwise : text;
}

static void read_items(const struct json_tree *tree, struct incremental_state *state,
                       struct incremental_progress *progress)
{
    const struct json_tree *list = json_tree_member(tree, "tables");

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct json_tree *item = &list->items[i];
        if (json_tree_string(item, "table") == NULL) {
            continue;
        }
        incremental_state_add(state, &(struct incremental_item){
                                         .run = (uint64_t)number_of(item, "run"),
                                         .is_expression = is_true(item, "expression"),
                                         .id = text_of(item, "id", ""),
                                         .name = text_of(item, "table", ""),
                                         .condition = text_of(item, "condition", NULL),
                                         .surrogate_key = text_of(item, "surrogate_key", NULL),
                                     });
        if (is_true(item, "begun")) {
            progress->serial = state->next_serial;
        }
    }
}

static void read_signal(const struct json_tree *tree, struct incremental_state *state)
{
    const struct json_tree *list = json_tree_member(tree, "signal");

    if (list != NULL && list->count == 2) {
        state->signal_commit_lsn = (uint64_t)list->items[0].integer;
        state->signal_lsn = (uint64_t)list->items[1].integer;
    }
}

bool incremental_state_read(struct wr_slice text, struct incremental_state *state,
                            struct incremental_progress *progress)
{
    struct wr_arena *arena = wr_arena_new(TREE_SIZE_MAX);
    struct json_tree tree;

    incremental_state_done(state);
    incremental_progress_done(progress);
    bool is_read = json_tree_read(text, arena, &tree) && tree.kind == TREE_OBJECT;
    if (is_read) {
        state->is_paused = is_true(&tree, "paused");
        read_signal(&tree, state);
        const char *cluster = json_tree_string(&tree, "cluster");
        state->system_identifier = cluster == NULL ? 0 : strtoull(cluster, NULL, 10);
        read_items(&tree, state, progress);
    }
    if (is_read && progress->serial != 0) {
        progress->row_count = (uint64_t)number_of(&tree, "rows");
        progress->is_behind_max = is_true(&tree, "behind_max");
        read_texts(json_tree_member(&tree, "last"), &progress->last);
        read_texts(json_tree_member(&tree, "max"), &progress->max);
        read_reread(&tree, &progress->reread);
    }
    wr_arena_free(arena);
    return is_read;
}
