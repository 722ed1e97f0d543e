#include "router/schema_memo.h"

#include "config/transform_config.h"
#include "decoder/relation.h"
#include "decoder/schema.h"
#include "router/chain.h"
#include "router/plan.h"
#include "router/record.h"
#include "router/transform.h"

static struct schema_memo *memo_of(const struct transform *t, const struct record *record)
{
    if (record->change == NULL) {
        return t->memo;
    }
    return &record->change->relation->plan->chain->links[t->index].memo;
}

enum wr_status transform_schema(
    const struct transform *t, const struct record *record, const struct schema *old,
    const struct schema *(*make)(const struct transform *t, const struct record *record,
                                 const struct schema *old, struct wr_arena *arena),
    struct wr_arena *scratch, const struct schema **out, struct wr_error *err)
{
    struct schema_memo *memo = memo_of(t, record);

    *out = NULL;
    if (old == NULL) {
        return WR_OK;
    }
    for (size_t i = 0; i < memo->count; i++) {
        if (memo->entries[i].old_id == old->id) {
            *out = memo->entries[i].made;
            return WR_OK;
        }
    }
    if (memo->count < SCHEMA_MEMO_SIZE && (*out = make(t, record, old, memo->arena)) != NULL) {
        memo->entries[memo->count].old_id = old->id;
        memo->entries[memo->count++].made = *out;
        return WR_OK;
    }
    *out = make(t, record, old, scratch);
    if (*out == NULL) {
        return wr_fail(err, WR_REJECT, "router", "transform %s: its schema is too large",
                       t->config->name);
    }
    return WR_OK;
}
