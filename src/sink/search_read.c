/* What has to be read from an index: fields that the database did not send, and what a TRUNCATE
 * has to find. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_path.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/log.h"
#include "config/route_config.h"
#include "sink/search_index.h"
#include "sink/search_state.h"

enum {
    DOCUMENTS_MAX = 500, /* of one _mget */
    ID_SIZE_MAX = 4096,
    PATH_SIZE_MAX = 512,
};

static struct wr_slice member(struct wr_slice json, const char *name)
{
    const struct wr_slice path[] = {wr_slice_str(name)};
    struct wr_slice value;

    return wr_json_find(json, path, 1, &value) ? value : (struct wr_slice){"", 0};
}

static void warn_once(struct search_index *index, const struct search_action *action)
{
    if (!index->is_warned) {
        wr_log(
            WR_LOG_WARN, "search",
            WR_MSG("documents are read before they are written, since unchanged TOAST values are "
                   "not sent: ALTER TABLE … REPLICA IDENTITY FULL is the cheaper way"),
            WR_STR("table", index->table), WR_STR("index", index->name),
            WR_INT("fields", action->missing_count));
    }
    index->is_warned = true;
}

static void add_id(struct search *s, const struct search_index *index, struct wr_slice id)
{
    WR_BUFFER_LITERAL(&s->body, "{\"_index\":\"");
    wr_buffer_add_str(&s->body, index->name);
    WR_BUFFER_LITERAL(&s->body, "\",\"_id\":");
    wr_json_string(&s->body, id);
    WR_BUFFER_LITERAL(&s->body, "},");
}

static bool is_found(struct wr_slice document)
{
    return wr_slice_is(member(document, "found"), "true");
}

static uint64_t version_of(struct wr_slice document)
{
    struct wr_slice version = member(document, "_version");

    return version.size == 0 ? 0 : strtoull(version.data, NULL, 10);
}

/* The document under the row's own id, and the one under the id it had before (empty: none). */
static void complete_one(struct search *s, struct search_action *action, struct wr_slice own,
                         struct wr_slice old)
{
    bool has_moved = action->moved_from.data != NULL;
    /* What is under the new id of a moved row is that row only if this is a replay. */
    bool own_counts = is_found(own) && (!has_moved || version_of(own) >= action->version);
    bool old_counts = has_moved && is_found(old);

    if (own_counts) {
        search_action_fill(&s->batch, action, member(own, "_source"));
    }
    if (old_counts) {
        search_action_fill(&s->batch, action, member(old, "_source"));
    }
    if (!own_counts && !old_counts) {
        action->is_delete = true;
        action->is_probe = true;
        action->document = (struct wr_slice){"", 0};
    }
}

/* {"docs":[{"_id":"1","found":true,"_version":7,"_source":{…}},…]}, in the order of the request. */
static enum wr_status take_documents(struct search *s, struct search_action **actions, size_t count,
                                     struct wr_slice body, struct wr_error *err)
{
    struct wr_json_walk walk;
    struct wr_slice name, own, old;

    bool is_open = wr_json_is_valid(body) && wr_json_walk_start(&walk, member(body, "docs"));
    for (size_t i = 0; i < count; i++) {
        bool has_moved = actions[i]->moved_from.data != NULL;
        old = (struct wr_slice){"", 0};
        if (!is_open || !wr_json_walk_next(&walk, &name, &own) ||
            (has_moved && !wr_json_walk_next(&walk, &name, &old))) {
            return wr_fail(err, WR_RETRY, "search", "%s: an answer to _mget that was cut",
                           http_address(s->http));
        }
        if (member(own, "error").size > 0 || member(old, "error").size > 0) {
            return wr_fail(err, WR_RETRY, "search", "%s: index %s cannot be read: %.300s",
                           http_address(s->http), actions[i]->index->name, search_reason(own));
        }
        complete_one(s, actions[i], own, old);
    }
    return WR_OK;
}

static enum wr_status read_some(struct search *s, struct search_action **actions, size_t count,
                                struct wr_error *err)
{
    struct http_answer answer;

    wr_buffer_reset(&s->body);
    WR_BUFFER_LITERAL(&s->body, "{\"docs\":[");
    for (size_t i = 0; i < count; i++) {
        add_id(s, actions[i]->index, actions[i]->id);
        if (actions[i]->moved_from.data != NULL) {
            add_id(s, actions[i]->index, actions[i]->moved_from);
        }
    }
    s->body.size--; /* the last comma */
    WR_BUFFER_LITERAL(&s->body, "]}");
    enum wr_status status =
        search_ask(s, "POST", "/_mget", wr_buffer_slice(&s->body), s->report, &answer, err);
    if (status == WR_OK && answer.status != 200) {
        status = search_judge(s, &answer, err);
    }
    return status == WR_OK ? take_documents(s, actions, count, answer.body, err) : status;
}

enum wr_status search_complete(struct search *s, struct wr_error *err)
{
    struct search_action *actions[DOCUMENTS_MAX];
    enum wr_status status = WR_OK;
    size_t count = 0;

    for (size_t i = 0; status == WR_OK && i < s->batch.count; i++) {
        struct search_action *action = &s->batch.actions[i];
        if (action->missing_count > 0 && !action->is_delete) {
            warn_once(action->index, action);
            actions[count++] = action;
        }
        if (count == DOCUMENTS_MAX) {
            status = read_some(s, actions, count, err);
            count = 0;
        }
    }
    return status == WR_OK && count > 0 ? read_some(s, actions, count, err) : status;
}

/* {"_scroll_id":"…","hits":{"hits":[{"_id":"1","_version":7},…]}}: the older ones are to go. */
static bool take_hits(struct search *s, struct search_index *index, uint64_t version, size_t number,
                      struct wr_slice body)
{
    const struct wr_slice path[] = {WR_SLICE("hits"), WR_SLICE("hits")};
    struct wr_buffer id;
    struct wr_json_walk walk;
    struct wr_slice name, hit, hits;
    bool is_any = false;

    if (!wr_json_find(body, path, 2, &hits) || !wr_json_walk_start(&walk, hits)) {
        return false;
    }
    wr_buffer_init(&id, ID_SIZE_MAX);
    while (wr_json_walk_next(&walk, &name, &hit)) {
        is_any = true;
        if (version_of(hit) < version) {
            wr_buffer_reset(&id);
            wr_json_plain(&id, member(hit, "_id"));
            search_batch_delete(&s->batch, index, number, wr_buffer_slice(&id), version);
        }
    }
    wr_buffer_done(&id);
    return is_any;
}

static enum wr_status page(struct search *s, const char *path, struct wr_slice body,
                           struct http_answer *answer, struct wr_error *err)
{
    enum wr_status status = search_ask(s, "POST", path, body, s->report, answer, err);

    return status == WR_OK && answer->status != 200 ? search_judge(s, answer, err) : status;
}

/* {"scroll":"1m","scroll_id":"…"} for the next page. */
static void write_next(struct search *s, struct wr_slice body)
{
    wr_buffer_reset(&s->text);
    WR_BUFFER_LITERAL(&s->text, "{\"scroll\":\"1m\",\"scroll_id\":");
    wr_buffer_add_slice(&s->text, member(body, "_scroll_id"));
    wr_buffer_add_char(&s->text, '}');
}

/* Frees the server's memory of it a minute earlier; no more than that. */
static void end_scroll(struct search *s)
{
    const size_t skipped = sizeof("{\"scroll\":\"1m\",") - 1;
    struct http_answer answer;
    struct wr_error err;

    if (s->text.size <= skipped) {
        return; /* none was begun */
    }
    s->text.data[skipped - 1] = '{';
    const struct wr_slice body = {s->text.data + skipped - 1, s->text.size - skipped + 1};
    if (search_ask(s, "DELETE", "/_search/scroll", body, s->report, &answer, &err) != WR_OK) {
        wr_log(WR_LOG_DEBUG, "search", WR_MSG(err.text));
    }
}

/* The fence first: what another member writes from now on, it looks at again itself. */
enum wr_status search_truncate(struct search *s, struct search_index *index, uint64_t version,
                               size_t number, struct wr_error *err)
{
    static const char query[] =
        "{\"size\":1000,\"_source\":false,\"version\":true,\"sort\":[\"_doc\"]}";
    char path[PATH_SIZE_MAX];
    struct http_answer answer;
    enum wr_status status = search_index_raise_fence(s, index, version, s->report, err);

    (void)snprintf(path, sizeof(path), "/%s/_refresh", index->name);
    if (status == WR_OK) {
        status = page(s, path, WR_SLICE("{}"), &answer, err);
    }
    (void)snprintf(path, sizeof(path), "/%s/_search?scroll=1m", index->name);
    wr_buffer_reset(&s->text);
    if (status == WR_OK) {
        status = page(s, path, wr_slice_str(query), &answer, err);
    }
    bool has_more = status == WR_OK;
    while (status == WR_OK && has_more) {
        write_next(s, answer.body);
        search_batch_reset(&s->batch);
        has_more = take_hits(s, index, version, number, answer.body);
        status = search_send(s, err);
        if (status == WR_OK && has_more) {
            status = page(s, "/_search/scroll", wr_buffer_slice(&s->text), &answer, err);
        }
    }
    end_scroll(s);
    return status;
}
