/* org.apache.kafka.connect.transforms.Filter: no record passes; which ones come here, its predicate
 * says. */
#include "router/transform.h"
#include "router/transforms/smt.h"

static enum wr_status filter_apply(const struct transform *t, const void *compiled,
                                   struct record *record, struct wr_arena *scratch, bool *keep,
                                   struct wr_error *err)
{
    (void)t;
    (void)compiled;
    (void)record;
    (void)scratch;
    (void)err;
    *keep = false;
    return WR_OK;
}

const struct transform_ops filter_ops = {.make = smt_make, .apply = filter_apply};
