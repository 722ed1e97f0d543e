#include "relay/snapshot_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "config/config.h"
#include "publisher/state_topic.h"

enum {
    VALUE_SIZE_MAX = 256,
    NAME_SIZE_MAX = 1024, /* of a slot, a publication and a prefix, and what is between them */
};

struct snapshot_state {
    const struct config *config;
    char topic[NAME_SIZE_MAX];
    char head[NAME_SIZE_MAX]; /* the key of the head; a table's begins with it */
    wr_lsn lsn;
    struct mark {
        wr_lsn lsn; /* of the snapshot that it belongs to: the head may come later */
        struct snapshot_mark at;
    } * marks; /* by oid */
    size_t mark_count, mark_capacity;
};

struct snapshot_state *snapshot_state_new(const struct config *config, uint64_t system_identifier)
{
    struct snapshot_state *state = calloc(1, sizeof(*state));

    if (state == NULL) {
        abort();
    }
    state->config = config;
    (void)snprintf(state->topic, sizeof(state->topic), "walrelay.state.%s", config->slot_name);
    (void)snprintf(state->head, sizeof(state->head), "initial-snapshot/%" PRIu64 "/%s/%s/%s",
                   system_identifier, config->slot_name, config->publication_name,
                   config->topic_prefix);
    return state;
}

void snapshot_state_free(struct snapshot_state *state)
{
    if (state != NULL) {
        free(state->marks);
        free(state);
    }
}

const char *snapshot_state_topic(const struct snapshot_state *state)
{
    return state->topic;
}

static void take_record(void *context, struct wr_slice key, struct wr_slice value)
{
    snapshot_state_take(context, key, value);
}

enum wr_status snapshot_state_load(struct snapshot_state *state, struct wr_error *err)
{
    enum wr_status status = state_topic_prepare(state->config, state->topic, NULL, err);

    state->lsn = 0;
    state->mark_count = 0;
    return status == WR_OK
               ? state_topic_read(state->config, state->topic, state, take_record, NULL, err)
               : status;
}

/* The place of the first mark whose oid is not less. */
static size_t place_of(const struct snapshot_state *state, uint32_t oid)
{
    size_t low = 0;
    size_t high = state->mark_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->marks[middle].at.oid < oid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct mark *mark_of(struct snapshot_state *state, uint32_t oid)
{
    size_t place = place_of(state, oid);

    if (place < state->mark_count && state->marks[place].at.oid == oid) {
        return &state->marks[place];
    }
    if (state->mark_count == state->mark_capacity) {
        state->mark_capacity = state->mark_capacity == 0 ? 64 : state->mark_capacity * 2;
        state->marks = realloc(state->marks, state->mark_capacity * sizeof(*state->marks));
        if (state->marks == NULL) {
            abort();
        }
    }
    struct mark *mark = &state->marks[place];
    memmove(mark + 1, mark, (state->mark_count - place) * sizeof(*mark));
    state->mark_count++;
    mark->at.oid = oid;
    return mark;
}

/* What nobody but us wrote has exactly this form; anything else is not ours. */
void snapshot_state_take(struct snapshot_state *state, struct wr_slice key, struct wr_slice value)
{
    char key_text[NAME_SIZE_MAX + 16];
    char text[VALUE_SIZE_MAX];
    size_t head_size = strlen(state->head);
    struct snapshot_mark at = {0};
    wr_lsn lsn = 0;

    if (key.data == NULL || value.data == NULL || key.size >= sizeof(key_text) ||
        value.size >= sizeof(text) || key.size < head_size ||
        memcmp(key.data, state->head, head_size) != 0) {
        return;
    }
    memcpy(key_text, key.data, key.size);
    key_text[key.size] = '\0';
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    if (key.size == head_size && sscanf(text, "{\"snapshot\":%" SCNu64 "}", &lsn) == 1) {
        state->lsn = lsn;
        return;
    }
    if (sscanf(key_text + head_size, "/%" SCNu32, &at.oid) == 1 &&
        sscanf(text, "{\"snapshot\":%" SCNu64 ",\"file_node\":%" SCNu32 ",\"blocks\":%" SCNu32 "}",
               &lsn, &at.file_node, &at.block_count) == 3) {
        *mark_of(state, at.oid) = (struct mark){.lsn = lsn, .at = at};
    }
}

wr_lsn snapshot_state_lsn(const struct snapshot_state *state)
{
    return state->lsn;
}

bool snapshot_state_find(void *context, uint32_t oid, struct snapshot_mark *out)
{
    const struct snapshot_state *state = context;
    size_t place = place_of(state, oid);

    if (place == state->mark_count || state->marks[place].at.oid != oid ||
        state->marks[place].lsn != state->lsn) {
        return false;
    }
    *out = state->marks[place].at;
    return true;
}

void snapshot_state_begin(struct snapshot_state *state, wr_lsn lsn)
{
    state->lsn = lsn;
    state->mark_count = 0;
}

void snapshot_state_write_head(const struct snapshot_state *state, struct wr_buffer *key,
                               struct wr_buffer *value)
{
    char text[VALUE_SIZE_MAX];

    (void)snprintf(text, sizeof(text), "{\"snapshot\":%" PRIu64 "}", state->lsn);
    wr_buffer_add_str(key, state->head);
    wr_buffer_add_str(value, text);
}

void snapshot_state_write_mark(const struct snapshot_state *state, const struct snapshot_mark *mark,
                               struct wr_buffer *key, struct wr_buffer *value)
{
    char text[VALUE_SIZE_MAX];

    wr_buffer_add_str(key, state->head);
    (void)snprintf(text, sizeof(text), "/%" PRIu32, mark->oid);
    wr_buffer_add_str(key, text);
    (void)snprintf(text, sizeof(text),
                   "{\"snapshot\":%" PRIu64 ",\"file_node\":%" PRIu32 ",\"blocks\":%" PRIu32 "}",
                   state->lsn, mark->file_node, mark->block_count);
    wr_buffer_add_str(value, text);
}
