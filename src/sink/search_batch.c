#include "sink/search_batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_path.h"
#include "base/json_scan.h"
#include "sink/sink.h"

enum {
    ARENA_SIZE_MAX = 1 << 30,
    ID_SIZE_MAX = 512, /* of both servers */
    SLOTS_MIN = 1024,
};

void search_batch_init(struct search_batch *b)
{
    *b = (struct search_batch){.arena = wr_arena_new(ARENA_SIZE_MAX)};
}

void search_batch_reset(struct search_batch *b)
{
    wr_arena_reset(b->arena);
    if (b->slot_count > 0) {
        memset(b->slots, 0, b->slot_count * sizeof(*b->slots));
    }
    b->count = 0;
    b->has_moves = false;
}

void search_batch_done(struct search_batch *b)
{
    wr_arena_free(b->arena);
    free(b->actions);
    free(b->slots);
    *b = (struct search_batch){0};
}

/* FNV-1a */
static size_t hash_of(const struct search_index *index, struct wr_slice id)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ (uintptr_t)index;

    for (size_t i = 0; i < id.size; i++) {
        hash = (hash ^ (unsigned char)id.data[i]) * UINT64_C(1099511628211);
    }
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of that document, or the free one where it belongs. */
static size_t *slot_of(struct search_batch *b, const struct search_index *index, struct wr_slice id)
{
    size_t at = hash_of(index, id) & (b->slot_count - 1);

    while (b->slots[at] != 0) {
        const struct search_action *action = &b->actions[b->slots[at] - 1];
        if (action->index == index && wr_slice_eq(action->id, id)) {
            break;
        }
        at = (at + 1) & (b->slot_count - 1);
    }
    return &b->slots[at];
}

/* Half of the slots stay free. */
static void make_room(struct search_batch *b)
{
    if (b->count == b->capacity) {
        b->capacity = b->capacity == 0 ? SLOTS_MIN / 2 : b->capacity * 2;
        b->actions = reallocarray(b->actions, b->capacity, sizeof(*b->actions));
        free(b->slots);
        b->slot_count = b->capacity * 2;
        b->slots = calloc(b->slot_count, sizeof(*b->slots));
        assert(b->actions != NULL && b->slots != NULL);
        for (size_t i = 0; i < b->count; i++) {
            *slot_of(b, b->actions[i].index, b->actions[i].id) = i + 1;
        }
    }
}

struct search_action *search_batch_find(struct search_batch *b, const struct search_index *index,
                                        struct wr_slice id)
{
    size_t at = b->slot_count == 0 ? 0 : *slot_of(b, index, id);

    return at == 0 ? NULL : &b->actions[at - 1];
}

static void *take(struct search_batch *b, size_t count, size_t size)
{
    void *memory = wr_arena_alloc(b->arena, count + 1, size);

    assert(memory != NULL); /* far more than a batch may hold */
    return memory;
}

/* Requests are lines: a line break in JSON stands between tokens only, where a blank does as well.
 */
static struct wr_slice on_one_line(struct search_batch *b, struct wr_slice json)
{
    if (memchr(json.data, '\n', json.size) == NULL && memchr(json.data, '\r', json.size) == NULL) {
        return json;
    }
    char *copy = take(b, json.size, 1);
    for (size_t i = 0; i < json.size; i++) {
        copy[i] = json.data[i] == '\n' || json.data[i] == '\r' ? ' ' : json.data[i];
    }
    return (struct wr_slice){copy, json.size};
}

static bool has_name(const struct wr_slice *names, size_t count, struct wr_slice name)
{
    for (size_t i = 0; i < count; i++) {
        if (wr_slice_eq(names[i], name)) {
            return true;
        }
    }
    return false;
}

static void drop_name(struct search_action *action, struct wr_slice name)
{
    for (size_t i = 0; i < action->missing_count; i++) {
        if (wr_slice_eq(action->missing[i], name)) {
            action->missing[i] = action->missing[--action->missing_count];
            return;
        }
    }
}

/* `document` with one more member behind its last. */
static struct wr_slice with_member(struct search_batch *b, struct wr_slice document,
                                   struct wr_slice name, struct wr_slice value)
{
    size_t size = document.size;
    while (document.data[size - 1] != '}') {
        size--;
    }
    size--;
    struct wr_json_walk walk;
    struct wr_slice first_name, first_value;
    bool is_empty = !wr_json_walk_start(&walk, document) ||
                    !wr_json_walk_next(&walk, &first_name, &first_value);
    char *text = take(b, size + name.size + value.size + 3, 1);
    char *at = mempcpy(text, document.data, size);
    if (!is_empty) {
        *at++ = ',';
    }
    at = mempcpy(at, name.data, name.size);
    *at++ = ':';
    at = mempcpy(at, value.data, value.size);
    *at++ = '}';
    return (struct wr_slice){text, (size_t)(at - text)};
}

void search_action_fill(struct search_batch *b, struct search_action *action,
                        struct wr_slice source)
{
    struct wr_json_walk walk;
    struct wr_slice name, value;
    bool is_open = action->missing_count > 0 && wr_json_walk_start(&walk, source);

    while (is_open && wr_json_walk_next(&walk, &name, &value)) {
        if (has_name(action->missing, action->missing_count, name)) {
            action->document = with_member(b, action->document, name, value);
            drop_name(action, name);
        }
    }
}

static void read_missing(struct search_batch *b, const struct sink_record *record,
                         struct search_action *action)
{
    struct wr_json_walk walk;
    struct wr_slice name, value;
    size_t most = 0;

    for (size_t i = 0; i < record->left_out.size; i++) {
        most += record->left_out.data[i] == ',' ? 1 : 0;
    }
    action->missing = take(b, most + 1, sizeof(*action->missing));
    bool is_open = wr_json_walk_start(&walk, record->left_out);
    while (is_open && action->missing_count <= most && wr_json_walk_next(&walk, &name, &value)) {
        action->missing[action->missing_count++] = value;
    }
}

/* An earlier change of the batch to the same row has the fields that this one lacks, or knows where
 * else they are. What was deleted in between was another row. */
static void inherit(struct search_batch *b, struct search_action *action,
                    const struct search_action *before)
{
    if (before->is_delete || action->moved_from.data != NULL) {
        return;
    }
    search_action_fill(b, action, before->document);
    action->moved_from = before->moved_from;
}

static const char *read_document(struct search_batch *b, const struct sink_record *record,
                                 struct search_action *action)
{
    struct wr_json_walk walk;

    if (!wr_json_is_valid(record->value) || !wr_json_walk_start(&walk, record->value) ||
        walk.close != '}') {
        return "the value is no JSON object";
    }
    action->document = on_one_line(b, record->value);
    if (record->left_out.size > 0) {
        read_missing(b, record, action);
    }
    if (record->moved_from.size > 0 && action->missing_count > 0) {
        action->moved_from = record->moved_from;
        b->has_moves = true;
        const struct search_action *old = search_batch_find(b, action->index, record->moved_from);
        if (old != NULL && old->before.data != NULL) {
            search_action_fill(b, action, old->before);
        }
        if (old != NULL && old->moved_from.data != NULL) {
            action->moved_from = old->moved_from;
        }
    }
    return NULL;
}

static void put(struct search_batch *b, struct search_action *action)
{
    make_room(b);
    size_t *slot = slot_of(b, action->index, action->id);
    if (*slot == 0) {
        b->actions[b->count++] = *action;
        *slot = b->count;
        return;
    }
    struct search_action *before = &b->actions[*slot - 1];
    if (action->is_delete) {
        action->before = before->is_delete ? before->before : before->document;
        action->moved_from = before->moved_from;
    } else {
        inherit(b, action, before);
    }
    *before = *action;
}

const char *search_batch_add(struct search_batch *b, struct search_index *index, size_t number,
                             const struct sink_record *record)
{
    struct search_action action = {
        .index = index,
        .id = record->key,
        .version = record->lsn,
        .seq = record->seq,
        .record = number,
        .is_delete = record->value_is_null,
    };

    if (record->key_is_null || record->key.size == 0) {
        return "it has no key to be the document's id";
    }
    if (record->key.size > ID_SIZE_MAX) {
        return "its id is longer than 512 bytes";
    }
    const char *fault = action.is_delete ? NULL : read_document(b, record, &action);
    if (fault == NULL) {
        put(b, &action);
    }
    return fault;
}

void search_batch_delete(struct search_batch *b, struct search_index *index, size_t number,
                         struct wr_slice id, uint64_t version)
{
    char *copy = take(b, id.size, 1);

    memcpy(copy, id.data, id.size);
    put(b, &(struct search_action){.index = index,
                                   .id = {copy, id.size},
                                   .version = version,
                                   .record = number,
                                   .is_delete = true});
}

void search_action_delete(struct search_action *action, uint64_t version)
{
    action->is_delete = true;
    action->document = (struct wr_slice){"", 0};
    action->missing_count = 0;
    action->version = version;
}
