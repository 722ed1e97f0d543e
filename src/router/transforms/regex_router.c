/*
 * org.apache.kafka.connect.transforms.RegexRouter: a topic that matches as a whole is replaced.
 * A table's topic does not change from row to row, so its result is settled at the Relation
 * message; a topic that an earlier transform took from a row is matched each time.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/limits.h"
#include "base/regex.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "router/plan.h"
#include "router/transform.h"

struct settled {
    struct wr_slice from;
    struct wr_slice to;
};

static enum wr_status regex_router_make(const struct transform_config *config, struct transform *t,
                                        struct wr_error *err)
{
    struct wr_regex *regex = NULL;
    enum wr_status status = wr_regex_new(config->as.regex_router.regex, false, &regex, err);

    if (status == WR_OK) {
        status = wr_regex_check_replacement(regex, config->as.regex_router.replacement, err);
    }
    if (status != WR_OK) {
        wr_regex_free(regex);
        regex = NULL;
    }
    t->state = regex;
    return status;
}

static void regex_router_free(struct transform *t)
{
    wr_regex_free(t->state);
}

/* The name that `topic` becomes, in `arena`; `topic` itself when it does not match. */
static enum wr_status route(const struct transform *t, struct wr_slice topic,
                            struct wr_arena *arena, struct wr_slice *out, struct wr_error *err)
{
    struct wr_buffer name;
    enum wr_status status = WR_OK;

    *out = topic;
    wr_buffer_init(&name, WR_RELATION_SIZE_MAX);
    if (wr_regex_replace(t->state, topic, t->config->as.regex_router.replacement, &name)) {
        *out = (struct wr_slice){wr_arena_strndup(arena, name.data, name.size), name.size};
        if (name.failed || out->data == NULL) {
            status = wr_fail(err, WR_FATAL, "regex_router", "topic %.*s: its new name is too long",
                             (int)topic.size, topic.data);
        }
    }
    wr_buffer_done(&name);
    return status;
}

static enum wr_status regex_router_compile(const struct transform *t,
                                           const struct relation *relation, void **compiled,
                                           struct wr_error *err)
{
    struct settled *settled = wr_arena_alloc(relation->arena, 1, sizeof(*settled));

    if (settled == NULL) {
        return wr_fail(err, WR_FATAL, "regex_router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                       relation->schema, relation->table);
    }
    settled->from = relation->plan->topic;
    *compiled = settled;
    return route(t, settled->from, relation->arena, &settled->to, err);
}

static enum wr_status regex_router_apply(const struct transform *t, const void *compiled,
                                         struct record *record, struct wr_arena *scratch,
                                         bool *keep, struct wr_error *err)
{
    const struct settled *settled = compiled;

    *keep = true;
    if (settled != NULL && record->topic.data == settled->from.data) {
        record->topic = settled->to;
        return WR_OK;
    }
    return route(t, record->topic, scratch, &record->topic, err);
}

const struct transform_ops regex_router_ops = {
    .make = regex_router_make,
    .free = regex_router_free,
    .compile = regex_router_compile,
    .apply = regex_router_apply,
};
