/*
 * Documents to OpenSearch or Elasticsearch, by _bulk with the transaction's LSN as version: an
 * older change never replaces a newer one, and a replay changes nothing. That the server takes
 * equal versions in any order is why a batch holds one change for each document (search_batch.c).
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_path.h"
#include "base/log.h"
#include "config/route_config.h"
#include "sink/search_index.h"
#include "sink/search_state.h"
#include "sink/targets.h"

enum {
    BODY_SIZE_MAX = 1 << 30,
    REASON_SIZE_MAX = 400,
    ARENA_SIZE_MAX = 64 << 10,
    BATCH_BYTES = 5 << 20,
};

const char *search_reason(struct wr_slice body)
{
    const struct wr_slice nested[] = {WR_SLICE("error"), WR_SLICE("reason")};
    static _Thread_local char text[REASON_SIZE_MAX];
    struct wr_slice reason = body;

    if (wr_json_find(body, nested, 2, &reason) || wr_json_find(body, nested, 1, &reason)) {
        bool is_string = reason.size >= 2 && reason.data[0] == '"';
        reason = is_string ? (struct wr_slice){reason.data + 1, reason.size - 2} : reason;
    }
    (void)snprintf(text, sizeof(text), "%.*s", (int)reason.size,
                   reason.data == NULL ? "" : reason.data);
    return text;
}

enum wr_status search_judge(const struct search *s, const struct http_answer *answer,
                            struct wr_error *err)
{
    const char *reason = search_reason(answer->body);
    long status = answer->status;

    if (status == 401 || status == 403) {
        return wr_fail(err, WR_FATAL, "search",
                       "%s refuses the user (%ld): see sink.user, sink.password, sink.api.key, and "
                       "what the role may do: %.300s",
                       http_address(s->http), status, reason);
    }
    bool is_passing = status == 408 || status == 413 || status == 429 || status >= 500;
    return wr_fail(err, is_passing ? WR_RETRY : WR_FATAL, "search", "%s answers %ld: %.300s",
                   http_address(s->http), status, reason);
}

enum wr_status search_ask(struct search *s, const char *method, const char *path,
                          struct wr_slice body, const struct sink_report *report,
                          struct http_answer *answer, struct wr_error *err)
{
    const struct http_request request = {
        .method = method,
        .path = path,
        .content_type = body.size == 0 ? NULL : "application/json",
        .body = body,
    };
    enum wr_status status = http_send(s->http, &request, report, answer, err);

    if (status != WR_OK) {
        return status;
    }
    /* A mapping that cannot be is an error of the server's own, to itself. */
    bool is_answered = answer->status / 100 == 2 || answer->status == 404 ||
                       answer->status == 400 ||
                       strstr(answer->body.data, "\"mapper_exception\"") != NULL;
    return is_answered ? WR_OK : search_judge(s, answer, err);
}

static enum wr_status greet(struct search *s, struct wr_error *err)
{
    struct http_answer answer;
    enum wr_status status = search_ask(s, "GET", "/", (struct wr_slice){0}, NULL, &answer, err);

    if (status != WR_OK) {
        return status;
    }
    if (answer.status != 200 || strstr(answer.body.data, "\"number\"") == NULL) {
        return wr_fail(err, WR_FATAL, "search", "%s is neither OpenSearch nor Elasticsearch",
                       http_address(s->http));
    }
    return WR_OK;
}

static void search_close(struct sink_target *target)
{
    struct search *s = (struct search *)target;

    http_free(s->http);
    wr_arena_free(s->arena);
    search_index_free_all(s->indexes);
    search_batch_done(&s->batch);
    wr_buffer_done(&s->body);
    wr_buffer_done(&s->text);
    free(s);
}

static enum wr_status search_open(const struct sink_setup *setup, struct sink_target **out,
                                  struct wr_error *err)
{
    const struct sink_config *sink = &setup->route->sink;
    struct search *s = calloc(1, sizeof(*s));

    assert(s != NULL);
    s->base.ops = &search_target;
    s->setup = setup;
    s->request_size_max = sink->batch_bytes < 0 ? BATCH_BYTES : (size_t)sink->batch_bytes;
    s->request_size = s->request_size_max;
    s->arena = wr_arena_new(ARENA_SIZE_MAX);
    search_batch_init(&s->batch);
    wr_buffer_init(&s->body, BODY_SIZE_MAX);
    wr_buffer_init(&s->text, BODY_SIZE_MAX);
    if (sink->api_key != NULL) {
        s->login = wr_arena_printf(s->arena, "Authorization: ApiKey %s", sink->api_key);
    }
    enum wr_status status = http_new(setup, "the search server", s->login, &s->http, err);
    if (status == WR_OK) {
        status = greet(s, err);
    }
    if (status != WR_OK) {
        search_close(&s->base);
        return status;
    }
    *out = &s->base;
    return WR_OK;
}

/* Rows that are older than a TRUNCATE go the way of those that it has met. True: there are some. */
static bool truncate_actions(struct search *s)
{
    bool is_any = false;

    for (size_t i = 0; i < s->batch.count; i++) {
        struct search_action *action = &s->batch.actions[i];
        action->is_skipped = action->is_delete || action->version >= action->index->truncated;
        if (!action->is_skipped) {
            search_action_delete(action, action->index->truncated);
            is_any = true;
        }
    }
    return is_any;
}

/* A member that reads another partition may have seen a TRUNCATE while this batch was on its way,
 * and not found what was written only then. */
static enum wr_status look_again(struct search *s, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    for (struct search_index *i = s->indexes; status == WR_OK && i != NULL; i = i->next) {
        if (i->is_there) {
            status = search_index_read_fence(s, i, s->report, err);
        }
    }
    return status == WR_OK && truncate_actions(s) ? search_send(s, err) : status;
}

static enum wr_status flush(struct search *s, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    if (s->batch.count == 0) {
        return WR_OK;
    }
    if (truncate_actions(s)) {
        wr_log(WR_LOG_DEBUG, "search", WR_MSG("rows older than a truncate"));
    }
    for (size_t i = 0; i < s->batch.count; i++) {
        s->batch.actions[i].is_skipped = false;
    }
    status = search_complete(s, err);
    if (status == WR_OK) {
        status = search_send(s, err);
    }
    if (status == WR_OK) {
        status = look_again(s, err);
    }
    search_batch_reset(&s->batch);
    return status;
}

/* Of the same transaction, what came before it: other partitions may be ahead of this one. */
static bool is_before(const struct search_action *action, const struct sink_record *record)
{
    return action->version < record->lsn ||
           (action->version == record->lsn && action->seq < record->seq);
}

/* What the batch has for this table so far goes with the rest. */
static enum wr_status take_truncate(struct search *s, struct search_index *index,
                                    const struct sink_record *record, size_t number,
                                    struct wr_error *err)
{
    for (size_t i = 0; i < s->batch.count; i++) {
        struct search_action *action = &s->batch.actions[i];
        if (action->index == index && is_before(action, record)) {
            search_action_delete(action, record->lsn);
        }
    }
    enum wr_status status = flush(s, err);
    if (status == WR_OK && index->is_there) {
        status = search_truncate(s, index, record->lsn, number, err);
    }
    search_batch_reset(&s->batch);
    return status;
}

static enum wr_status take_record(struct search *s, const struct sink_record *record, size_t number,
                                  struct wr_error *err)
{
    struct search_index *index = NULL;
    enum wr_status status = search_index_get(s, record, s->report, &index, err);

    if (status == WR_REJECT) {
        sink_reject(s->report, number, "%s", err->text);
        return WR_OK;
    }
    if (status != WR_OK) {
        return status;
    }
    if (record->op == 't') {
        return take_truncate(s, index, record, number, err);
    }
    const char *fault = search_batch_add(&s->batch, index, number, record);
    if (fault != NULL) {
        sink_reject(s->report, number, "%s", fault);
    }
    return WR_OK;
}

static enum wr_status search_apply(struct sink_target *target, const struct sink_record *records,
                                   size_t count, struct sink_report *report, struct wr_error *err)
{
    struct search *s = (struct search *)target;
    enum wr_status status = WR_OK;

    s->report = report;
    search_batch_reset(&s->batch);
    for (size_t i = 0; status == WR_OK && i < count; i++) {
        status = take_record(s, &records[i], i, err);
    }
    return status == WR_OK ? flush(s, err) : status;
}

const struct sink_target_ops search_target = {
    .schemes = "http https",
    .type = ROUTE_SEARCH,
    .batch_count = 10000,
    .batch_bytes = BATCH_BYTES,
    .wait_ms = 100,
    .open = search_open,
    .apply = search_apply,
    .close = search_close,
};
