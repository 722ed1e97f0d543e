#include "router/transactions.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "config/config.h"

enum {
    ID_SIZE_MAX = 40,     /* two decimal numbers and a colon */
    TOPIC_TEXT_MAX = 4096 /* of the configuration, checked there */
};

struct collection {
    char *name;
    int64_t event_count; /* in the open transaction */
};

struct transactions {
    struct wr_buffer topic;
    struct transaction_block block;
    char id[ID_SIZE_MAX];
    struct collection *collections; /* of the whole run: as many as there are names of tables */
    size_t collection_count;
    size_t *met; /* of the open transaction, in the order of their first events */
    size_t met_count;
};

static void *resize(void *items, size_t count, size_t size)
{
    void *resized = reallocarray(items, count, size);

    if (resized == NULL) {
        abort();
    }
    return resized;
}

static size_t collection_add(struct transactions *t, const char *name)
{
    char *copy = strdup(name);

    if (copy == NULL) {
        abort();
    }
    t->collections = resize(t->collections, t->collection_count + 1, sizeof(*t->collections));
    t->met = resize(t->met, t->collection_count + 1, sizeof(*t->met));
    t->collections[t->collection_count] = (struct collection){.name = copy};
    return t->collection_count++;
}

struct transactions *transactions_new(const struct config *config)
{
    struct transactions *t = calloc(1, sizeof(*t));

    if (t == NULL) {
        abort();
    }
    wr_buffer_init(&t->topic, TOPIC_TEXT_MAX);
    wr_buffer_add_str(&t->topic, config->topic_prefix);
    wr_buffer_add_str(&t->topic, config->topic_delimiter);
    wr_buffer_add_str(&t->topic, config->topic_transaction);
    size_t messages = collection_add(t, "LOGICAL_DECODING_MESSAGE");
    assert(messages == COLLECTION_MESSAGES);
    (void)messages;
    return t;
}

void transactions_free(struct transactions *t)
{
    if (t == NULL) {
        return;
    }
    for (size_t i = 0; i < t->collection_count; i++) {
        free(t->collections[i].name);
    }
    free(t->collections);
    free(t->met);
    wr_buffer_done(&t->topic);
    free(t);
}

/* Asked once a Relation message, so that looking through all of them does no harm. */
size_t transactions_collection(struct transactions *t, const char *schema, const char *table)
{
    char name[256];

    (void)snprintf(name, sizeof(name), "%s.%s", schema, table);
    for (size_t i = COLLECTION_MESSAGES + 1; i < t->collection_count; i++) {
        if (strcmp(t->collections[i].name, name) == 0) {
            return i;
        }
    }
    return collection_add(t, name);
}

const struct transaction_block *transactions_begin(struct transactions *t)
{
    for (size_t i = 0; i < t->met_count; i++) {
        t->collections[t->met[i]].event_count = 0;
    }
    t->met_count = 0;
    t->block = (struct transaction_block){0};
    return &t->block;
}

/* Debezium's id names the place of the event too, so that it differs within one transaction. */
static void identify(struct transactions *t, const struct change_source *source)
{
    int size = snprintf(t->id, sizeof(t->id), "%" PRIu32 ":%" PRIu64, source->xid, source->lsn);

    t->block.id = (struct wr_slice){t->id, (size_t)size};
}

void transactions_count(struct transactions *t, size_t collection,
                        const struct change_source *source)
{
    struct collection *c = &t->collections[collection];

    assert(collection < t->collection_count);
    identify(t, source);
    if (c->event_count == 0) {
        t->met[t->met_count++] = collection;
    }
    t->block.total_order++;
    t->block.data_collection_order = ++c->event_count;
}

static struct datum text(struct wr_slice bytes)
{
    return (struct datum){.kind = DATUM_STRING, .as.bytes = bytes};
}

static struct datum number(int64_t value)
{
    return (struct datum){.kind = DATUM_INT, .as.integer = value};
}

/* A structure of `count` members in `scratch`; DATUM_NULL when there is no room. */
static struct datum structure(struct wr_arena *scratch, const struct datum_field *fields,
                              size_t count)
{
    struct datum_field *copy = wr_arena_alloc_raw(scratch, count, sizeof(*copy));

    if (copy == NULL) {
        return (struct datum){.kind = DATUM_NULL};
    }
    memcpy(copy, fields, count * sizeof(*copy));
    return (struct datum){.kind = DATUM_STRUCT, .as.structure = {copy, count}};
}

static struct datum counts(const struct transactions *t, struct wr_arena *scratch)
{
    struct datum *items = wr_arena_alloc(scratch, t->met_count + 1, sizeof(*items));

    for (size_t i = 0; items != NULL && i < t->met_count; i++) {
        const struct collection *c = &t->collections[t->met[i]];
        const struct datum_field fields[] = {
            {WR_SLICE("data_collection"), text(wr_slice_str(c->name))},
            {WR_SLICE("event_count"), number(c->event_count)},
        };
        items[i] = structure(scratch, fields, 2);
        items = items[i].kind == DATUM_NULL ? NULL : items;
    }
    return items == NULL ? (struct datum){.kind = DATUM_NULL}
                         : (struct datum){.kind = DATUM_ARRAY, .as.array = {items, t->met_count}};
}

static enum wr_status make(struct transactions *t, const struct change_source *source, bool is_end,
                           struct wr_arena *scratch, struct record *out, struct wr_error *err)
{
    identify(t, source);
    struct datum collections = is_end ? counts(t, scratch) : (struct datum){.kind = DATUM_NULL};
    /* The id is copied: a transform may look at the record after the next event. */
    const char *id = wr_arena_strndup(scratch, t->block.id.data, t->block.id.size);
    const struct datum_field key[] = {
        {WR_SLICE("id"), text((struct wr_slice){id, t->block.id.size})}};
    const struct datum_field value[] = {
        {WR_SLICE("status"), text(is_end ? WR_SLICE("END") : WR_SLICE("BEGIN"))},
        key[0],
        {WR_SLICE("event_count"),
         is_end ? number(t->block.total_order) : (struct datum){.kind = DATUM_NULL}},
        {WR_SLICE("data_collections"), collections},
        {WR_SLICE("ts_ms"), number(source->commit_time_us / 1000)},
    };

    *out = (struct record){
        .source = source,
        .topic = wr_buffer_slice(&t->topic),
        .partition = -1,
        .timestamp_ms = -1,
        .key = {.kind = PART_DATUM, .as.datum = structure(scratch, key, 1)},
        .value = {.kind = PART_DATUM, .as.datum = structure(scratch, value, 5)},
    };
    bool is_whole = id != NULL && out->key.as.datum.kind == DATUM_STRUCT &&
                    out->value.as.datum.kind == DATUM_STRUCT &&
                    (!is_end || collections.kind == DATUM_ARRAY);
    return is_whole ? WR_OK
                    : wr_fail(err, WR_FATAL, "router",
                              "the metadata of transaction %" PRIu32 " does not fit the memory of "
                              "one message",
                              source->xid);
}

enum wr_status transactions_begin_record(struct transactions *t, const struct change_source *source,
                                         struct wr_arena *scratch, struct record *out,
                                         struct wr_error *err)
{
    return make(t, source, false, scratch, out, err);
}

enum wr_status transactions_end_record(struct transactions *t, const struct change_source *source,
                                       struct wr_arena *scratch, struct record *out,
                                       struct wr_error *err)
{
    return make(t, source, true, scratch, out, err);
}
