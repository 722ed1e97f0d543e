#include "router/chain.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/transform_config.h"
#include "decoder/relation.h"
#include "router/plan.h"
#include "router/predicate.h"
#include "router/record.h"
#include "router/transform.h"

static const struct transform_ops *const OPS[] = {
#define OPS_ROW(KIND, name, class, side) [TRANSFORM_##KIND] = &name##_ops,
    WR_TRANSFORMS(OPS_ROW)
#undef OPS_ROW
};

struct chain {
    const struct config *config;
    struct predicate *predicates;
    size_t predicate_count; /* that were made */
    struct transform *transforms;
    size_t transform_count; /* that were made */
    struct wr_arena *arena; /* schemas of records without a relation */
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);

    if (memory == NULL) {
        abort();
    }
    return memory;
}

static enum wr_status predicates_new(struct chain *chain, struct wr_error *err)
{
    const struct config *config = chain->config;

    chain->predicates = allocate(config->predicate_count, sizeof(*chain->predicates));
    for (size_t i = 0; i < config->predicate_count; i++) {
        enum wr_status status = predicate_init(&chain->predicates[i], &config->predicates[i], err);
        if (status != WR_OK) {
            return status;
        }
        chain->predicate_count++;
    }
    return WR_OK;
}

static enum wr_status transforms_new(struct chain *chain, const struct router_sink *sink,
                                     struct wr_error *err)
{
    const struct config *config = chain->config;

    chain->transforms = allocate(config->transform_count, sizeof(*chain->transforms));
    for (size_t i = 0; i < config->transform_count; i++) {
        struct transform *t = &chain->transforms[i];
        t->config = &config->transforms[i];
        t->ops = OPS[t->config->kind];
        t->sink = sink;
        t->index = i;
        t->memo = allocate(1, sizeof(*t->memo));
        t->memo->arena = chain->arena;
        chain->transform_count++;
        enum wr_status status = t->ops->make(t->config, t, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

enum wr_status chain_new(const struct config *config, const struct router_sink *sink,
                         struct chain **out, struct wr_error *err)
{
    struct chain *chain = allocate(1, sizeof(*chain));

    chain->config = config;
    chain->arena = wr_arena_new(WR_RELATION_SIZE_MAX);
    enum wr_status status = predicates_new(chain, err);
    if (status == WR_OK) {
        status = transforms_new(chain, sink, err);
    }
    if (status != WR_OK) {
        chain_free(chain);
        chain = NULL;
    }
    *out = chain;
    return status;
}

void chain_free(struct chain *chain)
{
    if (chain == NULL) {
        return;
    }
    for (size_t i = 0; i < chain->transform_count; i++) {
        if (chain->transforms[i].ops->free != NULL) {
            chain->transforms[i].ops->free(&chain->transforms[i]);
        }
        free(chain->transforms[i].memo);
    }
    for (size_t i = 0; i < chain->predicate_count; i++) {
        predicate_done(&chain->predicates[i]);
    }
    free(chain->transforms);
    free(chain->predicates);
    wr_arena_free(chain->arena);
    free(chain);
}

static struct chain_plan *plan_new(const struct chain *chain, struct relation *relation)
{
    struct chain_plan *plan = wr_arena_alloc(
        relation->arena, 1, sizeof(*plan) + chain->transform_count * sizeof(plan->links[0]));
    bool *matches = wr_arena_alloc(relation->arena, chain->predicate_count + 1, sizeof(*matches));

    if (plan == NULL || matches == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < chain->predicate_count; i++) {
        matches[i] = predicate_matches_topic(&chain->predicates[i], relation->plan->topic);
    }
    for (size_t i = 0; i < chain->transform_count; i++) {
        plan->links[i].memo.arena = relation->arena;
    }
    plan->topic_matches = matches;
    return plan;
}

enum wr_status chain_compile(const struct chain *chain, struct relation *relation,
                             struct wr_error *err)
{
    struct chain_plan *plan = plan_new(chain, relation);

    if (plan == NULL) {
        return wr_fail(err, WR_FATAL, "router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                       relation->schema, relation->table);
    }
    relation->plan->chain = plan;
    for (size_t i = 0; i < chain->transform_count; i++) {
        const struct transform *t = &chain->transforms[i];
        if (t->ops->compile == NULL) {
            continue;
        }
        enum wr_status status = t->ops->compile(t, relation, &plan->links[i].compiled, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

/* Whether `t` is for this record. The topic that most records have was matched at the Relation. */
static bool is_for(const struct chain *chain, const struct transform *t,
                   const struct record *record)
{
    const struct predicate_config *wanted = t->config->predicate;

    if (wanted == NULL) {
        return true;
    }
    size_t index = (size_t)(wanted - chain->config->predicates);
    const struct route_plan *plan = record->change == NULL ? NULL : record->change->relation->plan;
    bool holds = wanted->kind == PREDICATE_TOPIC_NAME_MATCHES && plan != NULL &&
                         plan->topic.data == record->topic.data
                     ? plan->chain->topic_matches[index]
                     : predicate_holds(&chain->predicates[index], record);
    return holds != t->config->negate;
}

enum wr_status chain_apply(const struct chain *chain, struct record *record,
                           struct wr_arena *scratch, bool *keep, struct wr_error *err)
{
    const struct chain_plan *plan =
        record->change == NULL ? NULL : record->change->relation->plan->chain;

    *keep = true;
    for (size_t i = 0; i < chain->transform_count && *keep; i++) {
        const struct transform *t = &chain->transforms[i];
        if (!is_for(chain, t, record)) {
            continue;
        }
        enum wr_status status = t->ops->apply(t, plan == NULL ? NULL : plan->links[i].compiled,
                                              record, scratch, keep, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}
