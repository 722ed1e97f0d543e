/*
 * Trees cost memory for each column and are made only where a transform asks. What the codec writes
 * of an envelope without one (codec/json.c) has the same members in the same order.
 */
#include "router/tree.h"

#include <string.h>

#include "base/arena.h"
#include "decoder/schema.h"
#include "router/fact.h"
#include "router/plan.h"
#include "router/row.h"

/* One part that becomes a tree. */
struct expansion {
    const struct record *record;
    const struct record_part *part;
    struct wr_arena *scratch;
};

/* A structure whose members are added one by one, as many as there is room for. */
struct tree {
    struct datum_field *fields;
    size_t count;
};

static enum wr_status too_large(struct wr_error *err)
{
    return wr_fail(err, WR_REJECT, "router", "the record is too large for its transforms");
}

static bool tree_start(struct tree *tree, size_t count_max, struct wr_arena *scratch)
{
    tree->fields = wr_arena_alloc_raw(scratch, count_max + 1, sizeof(*tree->fields));
    tree->count = 0;
    return tree->fields != NULL;
}

static struct datum tree_end(const struct tree *tree)
{
    return (struct datum){.kind = DATUM_STRUCT, .as.structure = {tree->fields, tree->count}};
}

static void add(struct tree *tree, const char *name, struct datum value)
{
    tree->fields[tree->count++] = (struct datum_field){wr_slice_str(name), value};
}

/* The facts from `first` to `last`. False: no room. */
static bool add_facts(const struct expansion *e, struct tree *tree, enum fact first, enum fact last)
{
    for (unsigned fact = first; fact <= last; fact++) {
        struct datum datum;
        if (!fact_datum((enum fact)fact, e->record, e->part, e->scratch, &datum)) {
            return false;
        }
        add(tree, fact_name((enum fact)fact), datum);
    }
    return true;
}

static enum wr_status row_expand(const struct row_view *row, struct wr_arena *scratch,
                                 struct datum *out, struct wr_error *err)
{
    struct tree tree;

    if (row->columns == NULL) {
        *out = (struct datum){.kind = DATUM_NULL};
        return WR_OK;
    }
    if (!tree_start(&tree, row->column_count + row->added_count, scratch)) {
        return too_large(err);
    }
    for (size_t i = 0; i < row->column_count; i++) {
        struct datum_field *field = &tree.fields[tree.count++];
        field->name = wr_slice_str(row->columns[i]->name);
        enum wr_status status = row_datum(row, row->columns[i], scratch, &field->value, err);
        if (status != WR_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < row->added_count; i++) {
        tree.fields[tree.count++] = row->added[i];
    }
    *out = tree_end(&tree);
    return WR_OK;
}

static bool source_expand(const struct expansion *e, struct datum *out)
{
    struct tree tree;
    bool ok = tree_start(&tree, FACT_ORIGIN_LSN - FACT_VERSION + 1, e->scratch) &&
              add_facts(e, &tree, FACT_VERSION, FACT_ORIGIN_LSN);

    *out = tree_end(&tree);
    return ok;
}

static bool transaction_expand(const struct expansion *e, struct datum *out)
{
    struct tree tree;

    *out = (struct datum){.kind = DATUM_NULL};
    if (e->record->source->transaction == NULL) {
        return true;
    }
    bool ok = tree_start(&tree, 3, e->scratch) &&
              add_facts(e, &tree, FACT_TRANSACTION_ID, FACT_DATA_COLLECTION_ORDER);
    *out = tree_end(&tree);
    return ok;
}

static enum wr_status envelope_expand(const struct expansion *e, struct datum *out,
                                      struct wr_error *err)
{
    struct datum before, after, source, transaction;
    struct tree tree;
    enum wr_status status = row_expand(&e->part->as.envelope.before, e->scratch, &before, err);

    if (status == WR_OK) {
        status = row_expand(&e->part->as.envelope.after, e->scratch, &after, err);
    }
    if (status != WR_OK) {
        return status;
    }
    if (!source_expand(e, &source) || !transaction_expand(e, &transaction) ||
        !tree_start(&tree, 8, e->scratch)) {
        return too_large(err);
    }
    add(&tree, "before", before);
    add(&tree, "after", after);
    add(&tree, "source", source);
    add(&tree, "transaction", transaction);
    if (!add_facts(e, &tree, FACT_OP, FACT_TS_NS)) {
        return too_large(err);
    }
    *out = tree_end(&tree);
    return WR_OK;
}

static enum wr_status message_expand(const struct expansion *e, struct datum *out,
                                     struct wr_error *err)
{
    struct datum prefix = {.kind = DATUM_STRING, .as.bytes = e->part->as.message.prefix};
    struct datum content = {.kind = DATUM_BYTES, .as.bytes = e->part->as.message.content};
    struct datum source, transaction;
    struct tree tree, message;

    if (!source_expand(e, &source) || !transaction_expand(e, &transaction) ||
        !tree_start(&tree, 5, e->scratch) || !tree_start(&message, 2, e->scratch) ||
        !add_facts(e, &tree, FACT_OP, FACT_TS_MS)) {
        return too_large(err);
    }
    add(&message, "prefix", prefix);
    add(&message, "content", content);
    add(&tree, "source", source);
    add(&tree, "transaction", transaction);
    add(&tree, "message", tree_end(&message));
    *out = tree_end(&tree);
    return WR_OK;
}

enum wr_status part_expand(const struct record *record, struct record_part *part,
                           struct wr_arena *scratch, struct wr_error *err)
{
    const struct expansion e = {record, part, scratch};
    struct datum datum;
    enum wr_status status = WR_OK;

    switch (part->kind) {
    case PART_NULL:
    case PART_DATUM:
        return WR_OK;
    case PART_ROW:
        status = row_expand(&part->as.row, scratch, &datum, err);
        break;
    case PART_ENVELOPE:
        status = envelope_expand(&e, &datum, err);
        break;
    case PART_MESSAGE:
        status = message_expand(&e, &datum, err);
        break;
    case PART_VERBATIM:
    case PART_DOCUMENT:
    case PART_WAREHOUSE:
        return wr_fail(err, WR_FATAL, "router", "a route's record has no tree");
    }
    if (status == WR_OK) {
        part->kind = PART_DATUM;
        part->as.datum = datum;
    }
    return status;
}

bool part_is_expanded_envelope(const struct record_part *part)
{
    static const char suffix[] = ".Envelope"; /* Envelope.SCHEMA_NAME_SUFFIX */
    const struct schema *schema = part->kind == PART_DATUM ? part->schema : NULL;
    size_t size = schema == NULL || schema->name == NULL ? 0 : strlen(schema->name);

    return size >= sizeof(suffix) - 1 &&
           strcmp(schema->name + size - (sizeof(suffix) - 1), suffix) == 0;
}

enum wr_status envelope_is_expanded(const char *transform, struct wr_error *err)
{
    return wr_fail(err, WR_REJECT, "router",
                   "transforms.%s: a transform before it changed the envelope itself; let that one "
                   "come after it",
                   transform);
}

const struct datum *datum_member(const struct datum *datum, struct wr_slice name)
{
    for (size_t i = 0; datum->kind == DATUM_STRUCT && i < datum->as.structure.count; i++) {
        if (wr_slice_eq(datum->as.structure.fields[i].name, name)) {
            return &datum->as.structure.fields[i].value;
        }
    }
    return NULL;
}
