/*
 * Cache keys to Redis. By default a key that is no longer right goes, by UNLINK. With
 * sink.tombstone.ttl.ms, and where whole rows are stored, each key has a neighbour that says for a
 * while which version made it: then older never replaces newer, and readers can tell that what they
 * have read meanwhile is stale (docs/sinks.md).
 *
 * Every reply is looked at. What Redis cannot do for now (no memory, a replica, still loading)
 * makes the whole batch come again, which changes nothing.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "base/log.h"
#include "config/route_config.h"
#include "sink/redis_link.h"
#include "sink/redis_state.h"
#include "sink/sink.h"
#include "sink/targets.h"
#include "sink/url.h"

enum {
    COMMANDS_SIZE_MAX = 1 << 30,
    TOMBSTONE_MS = 86400000, /* where rows are stored and nothing else is said: a day */
};

/*
 * Numbers of Lua lose digits of an LSN, so versions are hexadecimal text of one width, of which Lua
 * compares one with another. UNLINK works without memory, and comes before what does not.
 */
static const char STORE[] = "local v = redis.call('GET', KEYS[2])\n"
                            "if v and v > ARGV[1] then return v end\n"
                            "if ARGV[2] == '' then redis.call('UNLINK', KEYS[1])\n"
                            "elseif ARGV[4] == '0' then redis.call('SET', KEYS[1], ARGV[3])\n"
                            "else redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end\n"
                            "redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[5])\n"
                            "return false\n";

void redis_add(struct redis *r, enum redis_command command, size_t record,
               const struct wr_slice *words, size_t count)
{
    char head[32];

    (void)snprintf(head, sizeof(head), "*%zu\r\n", count);
    wr_buffer_add_str(&r->commands, head);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(head, sizeof(head), "$%zu\r\n", words[i].size);
        wr_buffer_add_str(&r->commands, head);
        wr_buffer_add_slice(&r->commands, words[i]);
        WR_BUFFER_LITERAL(&r->commands, "\r\n");
    }
    const struct redis_sent sent = {command, record};
    wr_buffer_add(&r->sent, &sent, sizeof(sent));
}

/* What Redis may take back by itself, or an administrator: no reason to give up a record. */
static bool is_passing(const char *error)
{
    static const char *const words[] = {"OOM ",
                                        "READONLY ",
                                        "LOADING ",
                                        "MISCONF ",
                                        "BUSY ",
                                        "CLUSTERDOWN",
                                        "TRYAGAIN",
                                        "MASTERDOWN ",
                                        "NOREPLICAS ",
                                        "NOSCRIPT ",
                                        "ERR max number of clients"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strncmp(error, words[i], strlen(words[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static enum wr_status judge(const struct redis *r, const char *error, struct wr_error *err)
{
    const char *host = r->setup->url->host;

    if (begins_with(error, "MOVED ") || begins_with(error, "ASK ")) {
        return wr_fail(err, WR_FATAL, "redis",
                       "Redis at %s is part of a cluster, which is not "
                       "supported: name a single server",
                       host);
    }
    if (begins_with(error, "NOAUTH") || begins_with(error, "WRONGPASS") ||
        begins_with(error, "NOPERM") || begins_with(error, "ERR invalid password") ||
        begins_with(error, "ERR AUTH") || begins_with(error, "ERR Client sent AUTH")) {
        return wr_fail(err, WR_FATAL, "redis",
                       "Redis at %s refuses the user: see sink.user, sink.password, and what the "
                       "user may do: %.300s",
                       host, error);
    }
    return wr_fail(err, is_passing(error) ? WR_RETRY : WR_FATAL, "redis", "Redis at %s: %.400s",
                   host, error);
}

/* One reply in a batch. What fails for now is remembered, the last such reason. */
static void take_reply(void *context, size_t index, const struct redisReply *reply)
{
    struct redis *r = context;
    const struct redis_sent *sent = (const struct redis_sent *)(const void *)r->sent.data + index;
    struct wr_error err;

    if (reply->type == REDIS_REPLY_ERROR) {
        enum wr_status status = judge(r, reply->str, &err);
        bool is_refusal = status == WR_FATAL && !begins_with(reply->str, "NO") &&
                          !begins_with(reply->str, "MOVED") && !begins_with(reply->str, "ASK");
        if (is_refusal && sent->command == REDIS_ROW) {
            sink_reject(r->report, sent->record, "%s", reply->str);
        } else if (r->failure.status != WR_FATAL) {
            r->failure = err;
        }
        return;
    }
    if (sent->command == REDIS_ROW && reply->type == REDIS_REPLY_STRING && reply->len >= 16) {
        char lsn[17] = {0};
        memcpy(lsn, reply->str, 16);
        sink_newer(r->report, sent->record, strtoull(lsn, NULL, 16));
    }
    if (sent->command == REDIS_FENCE && reply->type == REDIS_REPLY_STRING) {
        redis_take_fence(r, sent->record, (struct wr_slice){reply->str, (size_t)reply->len});
    }
    if (sent->command == REDIS_SCAN) {
        redis_take_scan(r, reply);
    }
}

static void drop_link(struct redis *r)
{
    redis_link_close(r->link);
    r->link = NULL;
}

enum wr_status redis_exchange(struct redis *r, struct wr_error *err)
{
    size_t count = r->sent.size / sizeof(struct redis_sent);
    enum wr_status status = WR_OK;

    r->failure.status = WR_OK;
    if (r->commands.failed) {
        return wr_fail(err, WR_FATAL, "redis", "commands of more than 1 GB");
    }
    if (count > 0) {
        status = redis_link_exchange(r->link, wr_buffer_slice(&r->commands), count, r->report,
                                     take_reply, r, err);
    }
    wr_buffer_reset(&r->commands);
    wr_buffer_reset(&r->sent);
    if (status == WR_OK && r->failure.status != WR_OK) {
        *err = r->failure;
        status = err->status;
    }
    if (status == WR_RETRY) {
        drop_link(r); /* a replica may be a master elsewhere by then */
    }
    return status;
}

struct greeting {
    struct redis *r;
    enum wr_status status;
    struct wr_error *err;
};

/* INFO cluster, SCRIPT LOAD, and before them AUTH and SELECT where they are needed. */
static void take_greeting(void *context, size_t index, const struct redisReply *reply)
{
    struct greeting *g = context;
    bool is_info = reply->type == REDIS_REPLY_STRING;

    (void)index;
    if (g->status != WR_OK) {
        return;
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        g->status = judge(g->r, reply->str, g->err);
    } else if (is_info && strstr(reply->str, "cluster_enabled:1") != NULL) {
        g->status = judge(g->r, "MOVED ", g->err);
    } else if (is_info && reply->len == (int)sizeof(g->r->script) - 1) {
        memcpy(g->r->script, reply->str, sizeof(g->r->script));
    }
}

static struct wr_slice database(const struct sink_url *url)
{
    const char *name = url->path[0] == '/' ? url->path + 1 : url->path;

    return wr_slice_str(name[0] == '\0' ? "0" : name);
}

static enum wr_status greet(struct redis *r, struct wr_error *err)
{
    const struct sink_config *sink = &r->setup->route->sink;
    const char *user = sink->user == NULL ? r->setup->url->user : sink->user;
    const char *password = sink->password == NULL ? r->setup->url->password : sink->password;
    struct greeting greeting = {.r = r, .status = WR_OK, .err = err};

    wr_buffer_reset(&r->commands);
    wr_buffer_reset(&r->sent);
    if (password[0] != '\0') {
        const struct wr_slice words[] = {WR_SLICE("AUTH"), wr_slice_str(user),
                                         wr_slice_str(password)};
        const struct wr_slice bare[] = {WR_SLICE("AUTH"), wr_slice_str(password)};
        redis_add(r, REDIS_OTHER, 0, user[0] == '\0' ? bare : words, user[0] == '\0' ? 2 : 3);
    }
    const struct wr_slice select[] = {WR_SLICE("SELECT"), database(r->setup->url)};
    redis_add(r, REDIS_OTHER, 0, select, 2);
    const struct wr_slice info[] = {WR_SLICE("INFO"), WR_SLICE("cluster")};
    redis_add(r, REDIS_OTHER, 0, info, 2);
    const struct wr_slice load[] = {WR_SLICE("SCRIPT"), WR_SLICE("LOAD"), wr_slice_str(STORE)};
    if (r->is_versioned) {
        redis_add(r, REDIS_OTHER, 0, load, 3);
    }
    size_t count = r->sent.size / sizeof(struct redis_sent);
    enum wr_status status = redis_link_exchange(r->link, wr_buffer_slice(&r->commands), count,
                                                r->report, take_greeting, &greeting, err);
    return status == WR_OK ? greeting.status : status;
}

static enum wr_status connect_again(struct redis *r, struct wr_error *err)
{
    if (r->link != NULL) {
        return WR_OK;
    }
    enum wr_status status = redis_link_open(r->setup, &r->link, err);
    if (status == WR_OK) {
        status = greet(r, err);
    }
    if (status != WR_OK) {
        drop_link(r);
    }
    return status;
}

static void redis_close(struct sink_target *target)
{
    struct redis *r = (struct redis *)target;

    redis_link_close(r->link);
    redis_tables_free(r);
    wr_buffer_done(&r->commands);
    wr_buffer_done(&r->sent);
    wr_buffer_done(&r->key);
    wr_buffer_done(&r->version_key);
    wr_buffer_done(&r->found);
    free(r);
}

static enum wr_status redis_open(const struct sink_setup *setup, struct sink_target **out,
                                 struct wr_error *err)
{
    const struct sink_config *sink = &setup->route->sink;
    bool is_stored = setup->route->cache_value == CACHE_VALUE_DOCUMENT;
    struct redis *r = calloc(1, sizeof(*r));

    assert(r != NULL);
    r->base.ops = &redis_target;
    r->setup = setup;
    r->is_stored = is_stored;
    r->is_versioned = is_stored || sink->tombstone_ms > 0;
    r->prefix = wr_slice_str(sink->key_prefix == NULL ? "" : sink->key_prefix);
    int64_t tombstone_ms = sink->tombstone_ms == 0 ? TOMBSTONE_MS : sink->tombstone_ms;
    (void)snprintf(r->tombstone_ms, sizeof(r->tombstone_ms), "%" PRId64,
                   tombstone_ms > sink->ttl_ms ? tombstone_ms : sink->ttl_ms);
    (void)snprintf(r->ttl_ms, sizeof(r->ttl_ms), "%" PRId64, sink->ttl_ms);
    wr_buffer_init(&r->commands, COMMANDS_SIZE_MAX);
    wr_buffer_init(&r->sent, COMMANDS_SIZE_MAX);
    wr_buffer_init(&r->key, COMMANDS_SIZE_MAX);
    wr_buffer_init(&r->version_key, COMMANDS_SIZE_MAX);
    wr_buffer_init(&r->found, COMMANDS_SIZE_MAX);
    enum wr_status status = connect_again(r, err);
    if (status != WR_OK) {
        redis_close(&r->base);
        return status;
    }
    *out = &r->base;
    return WR_OK;
}

static enum wr_status redis_apply(struct sink_target *target, const struct sink_record *records,
                                  size_t count, struct sink_report *report, struct wr_error *err)
{
    struct redis *r = (struct redis *)target;
    enum wr_status status = connect_again(r, err);

    r->report = report;
    wr_buffer_reset(&r->commands);
    wr_buffer_reset(&r->sent);
    for (size_t i = 0; status == WR_OK && i < count; i++) {
        if (records[i].op == 't') {
            status = redis_truncate(r, &records[i], i, err);
        } else if (records[i].key_is_null) {
            sink_reject(report, i, "it has no key");
        } else {
            redis_add_row(r, &records[i], i);
        }
    }
    if (status == WR_OK) {
        status = redis_finish(r, records, count, err);
    }
    r->report = NULL;
    return status;
}

const struct sink_target_ops redis_target = {
    .schemes = "redis rediss",
    .type = ROUTE_CACHE,
    .batch_count = 5000,
    .batch_bytes = 1 << 20,
    .wait_ms = 0,
    .open = redis_open,
    .apply = redis_apply,
    .close = redis_close,
};
