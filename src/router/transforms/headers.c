/* org.apache.kafka.connect.transforms.InsertHeader, DropHeaders and HeaderFrom. */
#include <stdlib.h>

#include "base/arena.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/header_literal.h"
#include "router/transforms/reshape.h"
#include "router/transforms/smt.h"

enum { LITERAL_SIZE_MAX = 4096 }; /* of what is made of one; its text is the configuration's */

/* What InsertHeader adds. */
struct literal {
    struct wr_arena *arena;
    struct record_part value;
};

static enum wr_status insert_header_make(const struct transform_config *config, struct transform *t,
                                         struct wr_error *err)
{
    struct literal *literal = calloc(1, sizeof(*literal));

    if (literal == NULL) {
        abort();
    }
    literal->arena = wr_arena_new(LITERAL_SIZE_MAX);
    t->state = literal;
    if (!header_literal_parse(wr_slice_str(config->as.insert_header.value_literal), literal->arena,
                              &literal->value)) {
        return wr_fail(err, WR_FATAL, "transform", "transforms.%s.value.literal is too large",
                       config->name);
    }
    return WR_OK;
}

static void insert_header_free(struct transform *t)
{
    struct literal *literal = t->state;

    if (literal != NULL) {
        wr_arena_free(literal->arena);
        free(literal);
    }
}

static enum wr_status insert_header_apply(const struct transform *t, const void *compiled,
                                          struct record *record, struct wr_arena *scratch,
                                          bool *keep, struct wr_error *err)
{
    const struct literal *literal = t->state;

    (void)compiled;
    (void)scratch;
    *keep = true;
    return record_header_add(record, t->config->as.insert_header.header, &literal->value, err);
}

static enum wr_status drop_headers_apply(const struct transform *t, const void *compiled,
                                         struct record *record, struct wr_arena *scratch,
                                         bool *keep, struct wr_error *err)
{
    const struct config_names *names = &t->config->as.drop_headers.headers;

    (void)compiled;
    (void)scratch;
    (void)err;
    *keep = true;
    for (size_t i = 0; i < names->count; i++) {
        record_header_drop(record, names->items[i]);
    }
    return WR_OK;
}

/* How HeaderFrom works on one schema. */
struct header_plan {
    struct reshape rest; /* of "move": the fields that stay */
    size_t *indexes;     /* of the fields that become headers */
};

static enum wr_status header_from_plan(const struct smt_call *call, struct wr_arena *arena,
                                       void **out, struct wr_error *err)
{
    const struct header_from_config *c = &call->transform->config->as.header_from;
    const struct schema *old = call->schema;
    struct header_plan *plan = wr_arena_alloc(arena, 1, sizeof(*plan));

    if (plan != NULL) {
        plan->indexes = wr_arena_alloc(arena, c->fields.count + 1, sizeof(*plan->indexes));
    }
    if (plan == NULL || plan->indexes == NULL ||
        !reshape_init(&plan->rest, old, old, old->field_count, arena)) {
        return smt_no_room(call, err);
    }
    for (size_t i = 0; i < c->fields.count; i++) {
        ptrdiff_t index = smt_field_index(old, wr_slice_str(c->fields.items[i]));
        if (index == SMT_NO_FIELD) {
            return smt_reject(call, err, "there is no field %s for the header %s",
                              c->fields.items[i], c->headers.items[i]);
        }
        plan->indexes[i] = (size_t)index;
    }
    for (size_t i = 0; i < old->field_count; i++) {
        if (!smt_has_name(&c->fields, old->fields[i].name)) {
            (void)reshape_keep(&plan->rest, i, c->replace_null_with_default);
        }
    }
    *out = plan;
    return WR_OK;
}

static enum wr_status add_headers(const struct smt_call *call, const struct header_plan *plan,
                                  struct wr_error *err)
{
    const struct header_from_config *c = &call->transform->config->as.header_from;
    enum wr_status status = WR_OK;

    for (size_t i = 0; status == WR_OK && i < c->fields.count; i++) {
        const struct schema *schema = call->schema->fields[plan->indexes[i]].schema;
        const struct datum *value =
            smt_field_value(call->schema, &call->part->as.datum, plan->indexes[i]);
        const struct datum *instead = smt_default(schema, c->replace_null_with_default);
        struct record_part part = smt_part(
            call, schema, value->kind == DATUM_NULL && instead != NULL ? *instead : *value);
        status = record_header_add(call->record, c->headers.items[i], &part, err);
    }
    return status;
}

static enum wr_status header_from_apply(const struct transform *t, const void *compiled,
                                        struct record *record, struct wr_arena *scratch, bool *keep,
                                        struct wr_error *err)
{
    struct smt_call call;
    const void *plan = NULL;
    struct datum_field *fields = NULL;
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    if (status != WR_OK || call.is_null) {
        return status; /* Kafka's fails on a tombstone, which has nothing to be moved */
    }
    status = smt_need_structure(&call, err);
    if (status == WR_OK) {
        status = smt_plan(&call, header_from_plan, &plan, err);
    }
    if (status == WR_OK) {
        status = add_headers(&call, plan, err);
    }
    if (status == WR_OK && t->config->as.header_from.operation == HEADER_MOVE) {
        status = smt_reshape(&call, header_from_plan, &plan, &fields, err);
    }
    return status;
}

const struct transform_ops insert_header_ops = {
    .make = insert_header_make,
    .free = insert_header_free,
    .apply = insert_header_apply,
};
const struct transform_ops drop_headers_ops = {.make = smt_make, .apply = drop_headers_apply};
const struct transform_ops header_from_ops = {
    .make = smt_make,
    .compile = smt_compile,
    .apply = header_from_apply,
};
