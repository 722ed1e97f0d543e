#include "sink/search_index.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_path.h"
#include "base/json_write.h"
#include "base/log.h"
#include "config/route_config.h"
#include "sink/search_mapping.h"
#include "sink/search_state.h"

enum { NAME_SIZE_MAX = 256, PATH_SIZE_MAX = 600 };

/* Noted in the mapping's _meta, where every member of the group sees it. */
#define META_TRUNCATED "walrelay_truncated"

static struct search_index *find(struct search *s, struct wr_slice table)
{
    for (struct search_index *i = s->indexes; i != NULL; i = i->next) {
        if (wr_slice_is(table, i->table)) {
            return i;
        }
    }
    return NULL;
}

/* Ids of two tables would meet in one index, and each would delete the other's documents. */
static const struct search_index *namesake(const struct search *s, const char *name)
{
    for (const struct search_index *i = s->indexes; i != NULL; i = i->next) {
        if (strcmp(i->name, name) == 0) {
            return i;
        }
    }
    return NULL;
}

static enum wr_status add(struct search *s, struct wr_slice table, struct search_index **out,
                          struct wr_error *err)
{
    wr_buffer_reset(&s->text);
    search_index_name(s->setup->route->sink.index, table, &s->text);
    char *name = strndup(s->text.data, s->text.size);
    const struct search_index *other = namesake(s, name);

    if (other != NULL || s->text.size == 0 || s->text.size >= NAME_SIZE_MAX) {
        enum wr_status status =
            other != NULL ? wr_fail(err, WR_FATAL, "search",
                                    "the tables %s and %.*s would share the index %s: name it with "
                                    "sink.index=${schema}-${table}",
                                    other->table, (int)table.size, table.data, name)
                          : wr_fail(err, WR_FATAL, "search",
                                    "no index can be named after the table %.*s: set sink.index",
                                    (int)table.size, table.data);
        free(name);
        return status;
    }
    struct search_index *index = calloc(1, sizeof(*index));
    assert(index != NULL);
    index->table = strndup(table.data, table.size);
    index->name = name;
    index->next = s->indexes;
    s->indexes = index;
    *out = index;
    return WR_OK;
}

static enum wr_status say_missing(const struct search_index *index, struct wr_error *err)
{
    return wr_fail(
        err, WR_FATAL, "search",
        "the index %s of table %s is not there: create it, or set sink.index.create=true",
        index->name, index->table);
}

static enum wr_status write_creation(struct search *s, const struct sink_record *record,
                                     struct wr_error *err)
{
    const struct sink_config *sink = &s->setup->route->sink;

    wr_buffer_reset(&s->text);
    if (sink->mapping != NULL) {
        wr_buffer_add_str(&s->text, sink->mapping);
        return WR_OK;
    }
    /* What is not in the mapping is stored all the same, and no guess is made from its value. */
    WR_BUFFER_LITERAL(&s->text, "{\"mappings\":{\"dynamic\":false,\"date_detection\":false,"
                                "\"properties\":");
    enum wr_status status = search_properties(record->types, &s->text, err);
    WR_BUFFER_LITERAL(&s->text, "}}");
    return status;
}

static void remember_types(struct search_index *index, struct wr_slice types)
{
    free(index->types);
    index->types = types.size == 0 ? NULL : strndup(types.data, types.size);
}

/* The alias stays where it is, if it is somewhere: to move it is for who knows when this one is
 * complete. */
static enum wr_status set_alias(struct search *s, const struct search_index *index,
                                const struct sink_report *report, struct wr_error *err)
{
    const char *alias = s->setup->route->sink.alias;
    char path[PATH_SIZE_MAX];
    struct http_answer answer;

    if (alias == NULL) {
        return WR_OK;
    }
    (void)snprintf(path, sizeof(path), "/_alias/%s", alias);
    enum wr_status status = search_ask(s, "GET", path, (struct wr_slice){0}, report, &answer, err);
    if (status != WR_OK) {
        return status;
    }
    if (answer.status == 200) {
        wr_log(WR_LOG_WARN, "search",
               WR_MSG("the alias stands for another index; move it when the new one is complete"),
               WR_STR("alias", alias), WR_STR("index", index->name));
        return WR_OK;
    }
    (void)snprintf(path, sizeof(path), "/%s/_alias/%s", index->name, alias);
    status = search_ask(s, "PUT", path, WR_SLICE("{}"), report, &answer, err);
    if (status == WR_OK && answer.status != 200) {
        status = wr_fail(err, WR_FATAL, "search", "the alias %s cannot be made: %.300s", alias,
                         search_reason(answer.body));
    }
    return status;
}

static enum wr_status create(struct search *s, struct search_index *index,
                             const struct sink_record *record, const struct sink_report *report,
                             struct wr_error *err)
{
    char path[PATH_SIZE_MAX];
    struct http_answer answer;
    enum wr_status status = write_creation(s, record, err);

    if (status != WR_OK) {
        return status;
    }
    (void)snprintf(path, sizeof(path), "/%s", index->name);
    status = search_ask(s, "PUT", path, wr_buffer_slice(&s->text), report, &answer, err);
    if (status != WR_OK) {
        return status;
    }
    /* Another member may have been first. */
    if (answer.status != 200 && strstr(answer.body.data, "resource_already_exists") == NULL) {
        return wr_fail(err, WR_FATAL, "search", "the index %s cannot be made: %.400s", index->name,
                       search_reason(answer.body));
    }
    wr_log(WR_LOG_INFO, "search", WR_MSG("index made"), WR_STR("index", index->name),
           WR_STR("table", index->table));
    remember_types(index, record->types);
    index->is_there = true;
    return set_alias(s, index, report, err);
}

/* Fields that came later get their place before a document has them. */
static enum wr_status widen(struct search *s, struct search_index *index,
                            const struct sink_record *record, const struct sink_report *report,
                            struct wr_error *err)
{
    char path[PATH_SIZE_MAX];
    struct http_answer answer;

    wr_buffer_reset(&s->text);
    WR_BUFFER_LITERAL(&s->text, "{\"properties\":");
    enum wr_status status = search_properties(record->types, &s->text, err);
    wr_buffer_add_char(&s->text, '}');
    if (status != WR_OK) {
        return status;
    }
    (void)snprintf(path, sizeof(path), "/%s/_mapping", index->name);
    status = search_ask(s, "PUT", path, wr_buffer_slice(&s->text), report, &answer, err);
    if (status == WR_OK && answer.status != 200) {
        wr_log(WR_LOG_WARN, "search",
               WR_MSG("the index does not fit the table any more; a new one would"),
               WR_STR("index", index->name), WR_STR("reason", search_reason(answer.body)));
    }
    if (status == WR_OK) {
        remember_types(index, record->types);
    }
    return status;
}

static enum wr_status look(struct search *s, struct search_index *index,
                           const struct sink_report *report, struct wr_error *err)
{
    char path[PATH_SIZE_MAX];
    struct http_answer answer;

    (void)snprintf(path, sizeof(path), "/%s", index->name);
    enum wr_status status = search_ask(s, "HEAD", path, (struct wr_slice){0}, report, &answer, err);
    if (status == WR_OK) {
        index->is_there = answer.status == 200;
    }
    return status;
}

enum wr_status search_index_get(struct search *s, const struct sink_record *record,
                                const struct sink_report *report, struct search_index **out,
                                struct wr_error *err)
{
    const struct sink_config *sink = &s->setup->route->sink;
    struct search_index *index = find(s, record->table);
    enum wr_status status = index == NULL ? add(s, record->table, &index, err) : WR_OK;

    if (status == WR_OK && !index->is_there) {
        status = look(s, index, report, err);
    }
    if (status != WR_OK) {
        return status;
    }
    *out = index;
    bool has_types = record->types.size > 0;
    if (!index->is_there) {
        /* A deletion says nothing about the fields; and there is nothing to delete. */
        if (sink->index_create && !has_types) {
            return WR_OK;
        }
        return sink->index_create ? create(s, index, record, report, err) : say_missing(index, err);
    }
    bool is_new = has_types && (index->types == NULL || !wr_slice_is(record->types, index->types));
    if (is_new && sink->index_create && sink->mapping == NULL) {
        return widen(s, index, record, report, err);
    }
    return WR_OK;
}

/* {"shows":{"mappings":{"_meta":{…}}}}: the _meta, "" where there is none. */
static struct wr_slice meta_of(struct wr_slice body)
{
    const struct wr_slice path[] = {WR_SLICE("mappings"), WR_SLICE("_meta")};
    struct wr_json_walk walk;
    struct wr_slice name, value, meta;

    if (!wr_json_walk_start(&walk, body) || !wr_json_walk_next(&walk, &name, &value) ||
        !wr_json_find(value, path, 2, &meta)) {
        return (struct wr_slice){"", 0};
    }
    return meta;
}

static enum wr_status read_meta(struct search *s, struct search_index *index,
                                const struct sink_report *report, struct wr_slice *meta,
                                struct wr_error *err)
{
    const struct wr_slice member[] = {WR_SLICE(META_TRUNCATED)};
    char path[PATH_SIZE_MAX];
    struct http_answer answer;
    struct wr_slice value;

    (void)snprintf(path, sizeof(path), "/%s/_mapping?filter_path=*.mappings._meta", index->name);
    enum wr_status status = search_ask(s, "GET", path, (struct wr_slice){0}, report, &answer, err);
    if (status != WR_OK) {
        return status;
    }
    *meta = meta_of(answer.body);
    if (wr_json_find(*meta, member, 1, &value) && value.size > 2) {
        uint64_t version = strtoull(value.data + 1, NULL, 10);
        index->truncated = version > index->truncated ? version : index->truncated;
    }
    return WR_OK;
}

enum wr_status search_index_read_fence(struct search *s, struct search_index *index,
                                       const struct sink_report *report, struct wr_error *err)
{
    struct wr_slice meta;

    return read_meta(s, index, report, &meta, err);
}

/* What others have noted in _meta stays: a mapping's _meta is replaced whole. */
static void write_meta(struct wr_buffer *out, struct wr_slice meta, uint64_t version)
{
    struct wr_json_walk walk;
    struct wr_slice name, value;
    char number[64];

    (void)snprintf(number, sizeof(number), "\"" META_TRUNCATED "\":\"%" PRIu64 "\"", version);
    wr_buffer_reset(out);
    WR_BUFFER_LITERAL(out, "{\"_meta\":{");
    wr_buffer_add_str(out, number);
    bool is_open = wr_json_walk_start(&walk, meta);
    while (is_open && wr_json_walk_next(&walk, &name, &value)) {
        if (!wr_slice_is(name, "\"" META_TRUNCATED "\"")) {
            wr_buffer_add_char(out, ',');
            wr_buffer_add_slice(out, name);
            wr_buffer_add_char(out, ':');
            wr_buffer_add_slice(out, value);
        }
    }
    WR_BUFFER_LITERAL(out, "}}");
}

enum wr_status search_index_raise_fence(struct search *s, struct search_index *index,
                                        uint64_t version, const struct sink_report *report,
                                        struct wr_error *err)
{
    char path[PATH_SIZE_MAX];
    struct http_answer answer;
    struct wr_slice meta;
    enum wr_status status = read_meta(s, index, report, &meta, err);

    if (status != WR_OK || index->truncated >= version) {
        return status;
    }
    write_meta(&s->text, meta, version);
    (void)snprintf(path, sizeof(path), "/%s/_mapping", index->name);
    status = search_ask(s, "PUT", path, wr_buffer_slice(&s->text), report, &answer, err);
    if (status == WR_OK && answer.status != 200) {
        return wr_fail(err, WR_FATAL, "search", "the mapping of index %s cannot be changed: %.300s",
                       index->name, search_reason(answer.body));
    }
    if (status == WR_OK) {
        index->truncated = version;
    }
    return status;
}

void search_index_free_all(struct search_index *first)
{
    while (first != NULL) {
        struct search_index *next = first->next;
        free((void *)(uintptr_t)first->table);
        free((void *)(uintptr_t)first->name);
        free(first->types);
        free(first);
        first = next;
    }
}
