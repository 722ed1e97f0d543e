/* Requests of many documents, and what becomes of each of them. */
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
    REQUEST_SIZE_MIN = 1024,
    LINE_SIZE_MAX = 64,
};

#define BULK_PATH "/_bulk?filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason"

/* The actions of a request, and what is known of it. */
struct bulk {
    struct search_action **actions;
    size_t count;
    size_t next;            /* below: sent and settled, or kept */
    size_t kept;            /* the first so many are to be sent again */
    struct wr_error outage; /* why */
};

static void add_line(struct search *s, const struct search_action *action)
{
    char version[LINE_SIZE_MAX];

    wr_buffer_add_str(&s->body, action->is_delete ? "{\"delete\":{\"_index\":\""
                                                  : "{\"index\":{\"_index\":\"");
    wr_buffer_add_str(&s->body, action->index->name);
    WR_BUFFER_LITERAL(&s->body, "\",\"_id\":");
    wr_json_string(&s->body, action->id);
    (void)snprintf(version, sizeof(version),
                   ",\"version\":%" PRIu64 ",\"version_type\":\"external_gte\"}}\n",
                   action->version);
    wr_buffer_add_str(&s->body, version);
    if (!action->is_delete) {
        wr_buffer_add_slice(&s->body, action->document);
        wr_buffer_add_char(&s->body, '\n');
    }
}

/* As many as a request may hold, one at least; where the batch has moved rows, no delete together
 * with a document that may have been filled from what it deletes. */
static size_t write_request(struct search *s, const struct bulk *bulk)
{
    size_t at = bulk->next;

    wr_buffer_reset(&s->body);
    while (at < bulk->count) {
        const struct search_action *action = bulk->actions[at];
        size_t size = action->document.size + action->id.size + LINE_SIZE_MAX * 2;
        bool is_cut = s->batch.has_moves && at > bulk->next && action->is_delete &&
                      !bulk->actions[at - 1]->is_delete;
        if (at > bulk->next && (is_cut || s->body.size + size > s->request_size)) {
            break;
        }
        add_line(s, action);
        at++;
    }
    return at - bulk->next;
}

static struct wr_slice member(struct wr_slice json, const char *name)
{
    const struct wr_slice path[] = {wr_slice_str(name)};
    struct wr_slice value;

    return wr_json_find(json, path, 1, &value) ? value : (struct wr_slice){"", 0};
}

static struct wr_slice error_member(struct wr_slice item, const char *name)
{
    struct wr_slice value = member(member(item, "error"), name);
    bool is_string = value.size >= 2 && value.data[0] == '"';

    return is_string ? (struct wr_slice){value.data + 1, value.size - 2} : value;
}

/* "…, current version [50] is higher than the one provided [40]": 50; 0 where it is not said. */
static uint64_t version_there(struct wr_slice reason)
{
    static const char words[] = "current version [";
    const char *found = memmem(reason.data, reason.size, words, sizeof(words) - 1);

    return found == NULL ? 0 : strtoull(found + sizeof(words) - 1, NULL, 10);
}

static void take_conflict(struct search *s, const struct search_action *action,
                          struct wr_slice item)
{
    uint64_t version = version_there(error_member(item, "reason"));

    /* A deletion by a TRUNCATE has that one's version, which other partitions do not know. */
    sink_newer(s->report, action->record, version == action->index->truncated ? 0 : version);
}

/* What a server refuses for now, under whatever status. */
static bool is_passing(long status, struct wr_slice type)
{
    return status == 429 || status >= 500 || wr_slice_is(type, "cluster_block_exception") ||
           wr_slice_is(type, "index_closed_exception") ||
           wr_slice_is(type, "unavailable_shards_exception");
}

/* What became of one action; it may be kept for another request. */
static enum wr_status take_item(struct search *s, struct bulk *bulk, struct search_action *action,
                                struct wr_slice item, struct wr_error *err)
{
    long status = strtol(member(item, "status").data, NULL, 10);
    struct wr_slice type = error_member(item, "type");
    struct wr_slice reason = error_member(item, "reason");

    if (status == 409) {
        take_conflict(s, action, item);
    } else if (action->is_probe && (status == 404 || status < 300)) {
        sink_reject(
            s->report, action->record,
            "the index %s has no such document to take the unchanged TOAST values from: set "
            "REPLICA IDENTITY FULL on table %s, or publish a snapshot",
            action->index->name, action->index->table);
    } else if (status < 300 || (status == 404 && action->is_delete)) {
        return WR_OK;
    } else if (is_passing(status, type)) {
        bulk->actions[bulk->kept++] = action;
        (void)wr_fail(&bulk->outage, WR_RETRY, "search", "%s: index %s: %.*s: %.*s",
                      http_address(s->http), action->index->name, (int)type.size, type.data,
                      reason.size < 300 ? (int)reason.size : 300, reason.data);
    } else if (status == 401 || status == 403) {
        return wr_fail(err, WR_FATAL, "search", "%s: index %s may not be written to: %.*s",
                       http_address(s->http), action->index->name,
                       reason.size < 300 ? (int)reason.size : 300, reason.data);
    } else if (status == 404) {
        return wr_fail(err, WR_FATAL, "search",
                       "the index %s is gone, and what it held: publish a snapshot",
                       action->index->name);
    } else {
        sink_reject(s->report, action->record, "%.*s: %.*s", (int)type.size, type.data,
                    (int)reason.size, reason.data);
    }
    return WR_OK;
}

/* {"errors":true,"items":[{"index":{"status":201}},…]}: one item an action, in their order. */
static enum wr_status take_items(struct search *s, struct bulk *bulk, size_t count,
                                 struct wr_slice body, struct wr_error *err)
{
    struct wr_json_walk items, item;
    struct wr_slice name, value, inner;
    enum wr_status status = WR_OK;
    size_t done = 0;
    size_t start = bulk->next;

    if (!wr_json_is_valid(body)) {
        return wr_fail(err, WR_RETRY, "search", "%s: an answer that is no JSON",
                       http_address(s->http));
    }
    bool is_open = wr_json_walk_start(&items, member(body, "items"));
    while (status == WR_OK && is_open && done < count && wr_json_walk_next(&items, &name, &value)) {
        if (wr_json_walk_start(&item, value) && wr_json_walk_next(&item, &name, &inner)) {
            status = take_item(s, bulk, bulk->actions[start + done], inner, err);
        }
        done++;
    }
    if (status == WR_OK && done < count) {
        return wr_fail(err, WR_FATAL, "search", "%s: an answer with %zu items to %zu actions",
                       http_address(s->http), done, count);
    }
    return status;
}

static bool has_probe(const struct bulk *bulk, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bulk->actions[bulk->next + i]->is_probe) {
            return true;
        }
    }
    return false;
}

/* "…coordinating_operation_bytes=62914837, max_coordinating_and_primary_bytes=53687091]": a request
 * that is larger than all the memory for requests can wait for ever. */
static bool can_never_pass(struct wr_slice body)
{
    const char *size = strstr(body.data, "operation_bytes=");
    const char *most = strstr(body.data, "max_coordinating_and_primary_bytes=");

    return size != NULL && most != NULL &&
           strtoull(size + sizeof("operation_bytes=") - 1, NULL, 10) >
               strtoull(most + sizeof("max_coordinating_and_primary_bytes=") - 1, NULL, 10);
}

static enum wr_status refused_whole(struct search *s, struct bulk *bulk, size_t count,
                                    const struct http_answer *answer, struct wr_error *err)
{
    bool is_large = answer->status == 413 || answer->status == 429;
    bool is_hopeless = answer->status == 413 || can_never_pass(answer->body);

    if (is_large && count > 1) {
        s->request_size = s->body.size / 2 < REQUEST_SIZE_MIN ? REQUEST_SIZE_MIN : s->body.size / 2;
        return answer->status == 413 ? WR_OK : search_judge(s, answer, err);
    }
    if (is_large && is_hopeless) {
        sink_reject(s->report, bulk->actions[bulk->next]->record,
                    "a request of %zu bytes with this document alone is too large for the server",
                    s->body.size);
        bulk->next++;
        return WR_OK;
    }
    return search_judge(s, answer, err);
}

/* Grows back, in case that it was a time of overload. */
static void grow_requests(struct search *s)
{
    s->request_size += s->request_size / 8;
    if (s->request_size > s->request_size_max) {
        s->request_size = s->request_size_max;
    }
}

/* One request. WR_RETRY: nothing of it has moved. */
static enum wr_status send_some(struct search *s, struct bulk *bulk, struct wr_error *err)
{
    struct http_answer answer;
    size_t count = write_request(s, bulk);
    const struct http_request request = {
        .method = "POST",
        .path = BULK_PATH,
        .content_type = "application/x-ndjson",
        .body = wr_buffer_slice(&s->body),
        .is_gzip = s->setup->route->sink.is_gzip,
    };

    if (s->body.failed) {
        return wr_fail(err, WR_FATAL, "search", "a request of more than 1 GB");
    }
    enum wr_status status = http_send(s->http, &request, s->report, &answer, err);
    if (status != WR_OK) {
        return status;
    }
    if (answer.status != 200) {
        return refused_whole(s, bulk, count, &answer, err);
    }
    if (!wr_slice_is(member(answer.body, "errors"), "false") || has_probe(bulk, count)) {
        status = take_items(s, bulk, count, answer.body, err);
    }
    if (status == WR_OK) {
        bulk->next += count;
        grow_requests(s);
    }
    return status;
}

/* Until each action is settled. What has to be sent again goes after all others: no two are of one
 * document. */
static enum wr_status send_all(struct search *s, struct bulk *bulk, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    while (status == WR_OK && bulk->next < bulk->count) {
        status = send_some(s, bulk, err);
        if (status == WR_RETRY && sink_wait(s->report, err)) {
            status = WR_OK;
        } else if (status == WR_OK && bulk->next == bulk->count && bulk->kept > 0) {
            bulk->count = bulk->kept;
            bulk->next = 0;
            bulk->kept = 0;
            *err = bulk->outage;
            status = sink_wait(s->report, err) ? WR_OK : WR_RETRY;
        } else if (status == WR_OK && bulk->kept == 0) {
            sink_progress(s->report);
        }
    }
    return status;
}

static bool takes(const struct search_action *action, bool is_delete)
{
    /* Before an index there is nothing to delete. */
    return action->is_delete == is_delete && action->index->is_there && !action->is_skipped;
}

enum wr_status search_send(struct search *s, struct wr_error *err)
{
    struct search_batch *b = &s->batch;
    struct bulk bulk = {.actions = calloc(b->count + 1, sizeof(*bulk.actions))};

    assert(bulk.actions != NULL);
    for (int is_delete = 0; is_delete <= 1; is_delete++) {
        for (size_t i = 0; i < b->count; i++) {
            if (takes(&b->actions[i], is_delete != 0)) {
                bulk.actions[bulk.count++] = &b->actions[i];
            }
        }
    }
    enum wr_status status = send_all(s, &bulk, err);
    free(bulk.actions);
    return status;
}
