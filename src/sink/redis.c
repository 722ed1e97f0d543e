/* Cache keys to Redis: a key that is no longer right goes, by UNLINK. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "base/buffer.h"
#include "config/route_config.h"
#include "sink/redis_link.h"
#include "sink/sink.h"
#include "sink/targets.h"
#include "sink/url.h"

enum { COMMANDS_SIZE_MAX = 1 << 30 };

struct redis {
    struct sink_target base;
    const struct sink_setup *setup;
    struct redis_link *link; /* NULL: to be made again */
    struct wr_buffer commands;
    size_t command_count;
};

static void add_command(struct redis *r, const struct wr_slice *words, size_t count)
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
    r->command_count++;
}

static enum wr_status redis_open(const struct sink_setup *setup, struct sink_target **out,
                                 struct wr_error *err)
{
    struct redis *r = calloc(1, sizeof(*r));

    assert(r != NULL);
    r->base.ops = &redis_target;
    r->setup = setup;
    wr_buffer_init(&r->commands, COMMANDS_SIZE_MAX);
    enum wr_status status = redis_link_open(setup, &r->link, err);
    if (status != WR_OK) {
        wr_buffer_done(&r->commands);
        free(r);
        return status;
    }
    *out = &r->base;
    return WR_OK;
}

static void redis_close(struct sink_target *target)
{
    struct redis *r = (struct redis *)target;

    redis_link_close(r->link);
    wr_buffer_done(&r->commands);
    free(r);
}

struct replies {
    struct sink_report *report;
};

static void take_reply(void *context, size_t index, const struct redisReply *reply)
{
    struct replies *replies = context;

    if (reply->type == REDIS_REPLY_ERROR) {
        sink_reject(replies->report, index, "%s", reply->str);
    }
}

static enum wr_status redis_apply(struct sink_target *target, const struct sink_record *records,
                                  size_t count, struct sink_report *report, struct wr_error *err)
{
    struct redis *r = (struct redis *)target;
    struct replies replies = {.report = report};

    if (r->link == NULL) {
        enum wr_status status = redis_link_open(r->setup, &r->link, err);
        if (status != WR_OK) {
            return status;
        }
    }
    wr_buffer_reset(&r->commands);
    r->command_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wr_slice words[] = {WR_SLICE("UNLINK"), records[i].key};
        add_command(r, words, 2);
    }
    enum wr_status status =
        redis_link_exchange(r->link, wr_buffer_slice(&r->commands), r->command_count, report,
                            take_reply, &replies, err);
    if (status != WR_OK) {
        redis_link_close(r->link);
        r->link = NULL;
    }
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
