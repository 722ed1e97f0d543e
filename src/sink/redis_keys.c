/* Rows and TRUNCATEs as commands of Redis. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "config/route_config.h"
#include "sink/redis_state.h"

/* Between the prefix and what is walrelay's own. */
#define OWN       "walrelay:"
#define TRUNCATED OWN "truncated:"

/* What is known of a table's last TRUNCATE; read after each batch of stored rows. */
struct redis_table {
    char *name;
    uint64_t truncated; /* rows of a lower version are gone; 0: none was seen */
};

static struct wr_slice version_text(char *out, uint64_t lsn, uint64_t seq)
{
    (void)snprintf(out, REDIS_VERSION_SIZE + 1, "%016" PRIx64 "%016" PRIx64, lsn, seq);
    return (struct wr_slice){out, REDIS_VERSION_SIZE};
}

/* In the slot of `key`, should there ever be more than one: what stands in braces decides. */
static struct wr_slice version_key(struct redis *r, struct wr_slice key)
{
    const char *open = memchr(key.data, '{', key.size);
    bool has_tag = open != NULL && memchr(open, '}', key.size - (size_t)(open - key.data)) != NULL;

    wr_buffer_reset(&r->version_key);
    wr_buffer_add_slice(&r->version_key, r->prefix);
    WR_BUFFER_LITERAL(&r->version_key, OWN "version:");
    wr_buffer_add_str(&r->version_key, has_tag ? "" : "{");
    wr_buffer_add_slice(&r->version_key, key);
    wr_buffer_add_str(&r->version_key, has_tag ? "" : "}");
    return wr_buffer_slice(&r->version_key);
}

/* `key` with its prefix; a NULL `value` drops it. */
static void add_versioned(struct redis *r, size_t number, struct wr_slice key,
                          const struct wr_slice *value, struct wr_slice version, const char *ttl_ms)
{
    const struct wr_slice words[] = {
        WR_SLICE("EVALSHA"),
        {r->script, REDIS_SCRIPT_SIZE},
        WR_SLICE("2"),
        key,
        version_key(r, key),
        version,
        value == NULL ? WR_SLICE("") : WR_SLICE("set"),
        value == NULL ? WR_SLICE("") : *value,
        wr_slice_str(ttl_ms),
        wr_slice_str(r->tombstone_ms),
    };

    redis_add(r, REDIS_ROW, number, words, sizeof(words) / sizeof(words[0]));
}

static void add_notice(struct redis *r, struct wr_slice key)
{
    const char *channel = r->setup->route->sink.channel;

    if (channel != NULL) {
        const struct wr_slice words[] = {WR_SLICE("PUBLISH"), wr_slice_str(channel), key};
        redis_add(r, REDIS_OTHER, 0, words, 3);
    }
}

static struct wr_slice prefixed(struct redis *r, struct wr_slice key)
{
    wr_buffer_reset(&r->key);
    wr_buffer_add_slice(&r->key, r->prefix);
    wr_buffer_add_slice(&r->key, key);
    return wr_buffer_slice(&r->key);
}

static void drop_key(struct redis *r, size_t number, struct wr_slice key, struct wr_slice version)
{
    const struct wr_slice words[] = {WR_SLICE("UNLINK"), key};

    if (r->is_versioned) {
        add_versioned(r, number, key, NULL, version, "0");
    } else {
        redis_add(r, REDIS_ROW, number, words, 2);
    }
    add_notice(r, key);
}

void redis_add_row(struct redis *r, const struct sink_record *record, size_t number)
{
    char text[REDIS_VERSION_SIZE + 1];
    struct wr_slice version = version_text(text, record->lsn, record->seq);
    struct wr_slice key = prefixed(r, record->key);
    /* A value that lacks a part would stand for the whole: the next reader fills it in. */
    bool is_whole = !record->value_is_null && record->left_out.size == 0;

    if (r->is_stored && is_whole) {
        add_versioned(r, number, key, &record->value, version, r->ttl_ms);
        add_notice(r, key);
    } else {
        drop_key(r, number, key, version);
    }
}

static size_t table_of(struct redis *r, struct wr_slice name)
{
    for (size_t i = 0; i < r->table_count; i++) {
        if (wr_slice_is(name, r->tables[i].name)) {
            return i;
        }
    }
    r->tables = reallocarray(r->tables, r->table_count + 1, sizeof(*r->tables));
    assert(r->tables != NULL);
    r->tables[r->table_count] = (struct redis_table){.name = strndup(name.data, name.size)};
    return r->table_count++;
}

static struct wr_slice fence_key(struct redis *r, size_t table)
{
    wr_buffer_reset(&r->key);
    wr_buffer_add_slice(&r->key, r->prefix);
    WR_BUFFER_LITERAL(&r->key, TRUNCATED);
    wr_buffer_add_str(&r->key, r->tables[table].name);
    return wr_buffer_slice(&r->key);
}

void redis_take_fence(struct redis *r, size_t table, struct wr_slice version)
{
    char lsn[17] = {0};

    memcpy(lsn, version.data, version.size < 16 ? version.size : 16);
    uint64_t number = strtoull(lsn, NULL, 16);
    if (number > r->tables[table].truncated) {
        r->tables[table].truncated = number;
    }
}

static void add_fences(struct redis *r, const struct sink_record *records, size_t count)
{
    size_t asked = SIZE_MAX;

    for (size_t i = 0; i < count; i++) {
        size_t table = table_of(r, records[i].table);
        if (table != asked) { /* those of one table mostly stand together */
            const struct wr_slice words[] = {WR_SLICE("GET"), fence_key(r, table)};
            redis_add(r, REDIS_FENCE, table, words, 2);
            asked = table;
        }
    }
}

/* A member that reads another partition may have met a TRUNCATE that these rows are older than. */
static void drop_truncated(struct redis *r, const struct sink_record *records, size_t count)
{
    char text[REDIS_VERSION_SIZE + 1];

    for (size_t i = 0; i < count; i++) {
        uint64_t truncated = r->tables[table_of(r, records[i].table)].truncated;
        if (records[i].op != 't' && !records[i].key_is_null && records[i].lsn < truncated) {
            drop_key(r, i, prefixed(r, records[i].key), version_text(text, truncated, 0));
        }
    }
}

enum wr_status redis_finish(struct redis *r, const struct sink_record *records, size_t count,
                            struct wr_error *err)
{
    if (!r->is_stored) {
        return redis_exchange(r, err);
    }
    add_fences(r, records, count);
    enum wr_status status = redis_exchange(r, err);
    if (status == WR_OK) {
        drop_truncated(r, records, count);
        status = redis_exchange(r, err);
    }
    return status;
}

/* [cursor, [key, …]] */
void redis_take_scan(struct redis *r, const struct redisReply *reply)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) {
        return;
    }
    (void)snprintf(r->cursor, sizeof(r->cursor), "%s", reply->element[0]->str);
    const struct redisReply *keys = reply->element[1];
    for (size_t i = 0; i < keys->elements; i++) {
        size_t size = (size_t)keys->element[i]->len;
        wr_buffer_add(&r->found, &size, sizeof(size));
        wr_buffer_add(&r->found, keys->element[i]->str, size);
    }
}

static bool is_own(const struct redis *r, struct wr_slice key)
{
    return key.size >= r->prefix.size + sizeof(OWN) - 1 &&
           memcmp(key.data + r->prefix.size, OWN, sizeof(OWN) - 1) == 0;
}

static void drop_found(struct redis *r, const struct sink_record *record, size_t number)
{
    char text[REDIS_VERSION_SIZE + 1];
    struct wr_slice version = version_text(text, record->lsn, record->seq);
    size_t at = 0;

    while (at < r->found.size) {
        size_t size = 0;
        memcpy(&size, r->found.data + at, sizeof(size));
        struct wr_slice key = {r->found.data + at + sizeof(size), size};
        if (!is_own(r, key)) {
            drop_key(r, number, key, version);
        }
        at += sizeof(size) + size;
    }
    wr_buffer_reset(&r->found);
}

/* The prefix as a pattern that only itself matches. */
static void add_pattern(struct redis *r, struct wr_slice glob)
{
    wr_buffer_reset(&r->key);
    for (size_t i = 0; i < r->prefix.size; i++) {
        if (strchr("*?[]\\^", r->prefix.data[i]) != NULL) {
            wr_buffer_add_char(&r->key, '\\');
        }
        wr_buffer_add_char(&r->key, r->prefix.data[i]);
    }
    wr_buffer_add_slice(&r->key, glob);
}

static enum wr_status raise_fence(struct redis *r, const struct sink_record *record, size_t number,
                                  struct wr_error *err)
{
    char text[REDIS_VERSION_SIZE + 1];
    struct wr_slice version = version_text(text, record->lsn, record->seq);

    if (!r->is_stored) {
        return WR_OK;
    }
    add_versioned(r, number, fence_key(r, table_of(r, record->table)), &version, version, "0");
    return redis_exchange(r, err);
}

/* "event:*": the key is a pattern of all keys that rows of the table have. */
enum wr_status redis_truncate(struct redis *r, const struct sink_record *record, size_t number,
                              struct wr_error *err)
{
    bool is_anything = record->key.size == 0 || record->key.data[0] == '*';

    if (r->prefix.size == 0 && is_anything) {
        sink_reject(
            r->report, number,
            "a TRUNCATE of %.*s would delete every key there is: begin keys with a word, or "
            "set sink.key.prefix",
            (int)record->table.size, record->table.data);
        return WR_OK;
    }
    enum wr_status status = redis_exchange(r, err); /* what came before it */
    if (status == WR_OK) {
        status = raise_fence(r, record, number, err);
    }
    (void)snprintf(r->cursor, sizeof(r->cursor), "0");
    do {
        add_pattern(r, record->key);
        const struct wr_slice words[] = {WR_SLICE("SCAN"),  wr_slice_str(r->cursor),
                                         WR_SLICE("MATCH"), wr_buffer_slice(&r->key),
                                         WR_SLICE("COUNT"), WR_SLICE("1000")};
        if (status == WR_OK) {
            redis_add(r, REDIS_SCAN, number, words, 6);
            status = redis_exchange(r, err);
        }
        if (status == WR_OK) {
            drop_found(r, record, number);
            status = redis_exchange(r, err);
        }
    } while (status == WR_OK && strcmp(r->cursor, "0") != 0);
    return status;
}

void redis_tables_free(struct redis *r)
{
    for (size_t i = 0; i < r->table_count; i++) {
        free(r->tables[i].name);
    }
    free(r->tables);
}
