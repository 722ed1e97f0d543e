/*
 * Trees cost memory for each column and are made only where a transform asks. What the codec writes
 * of an envelope without one (codec/json.c) has the same members in the same order.
 */
#include "router/tree.h"

#include <stdlib.h>

#include "base/arena.h"
#include "decoder/relation.h"
#include "router/plan.h"
#include "router/row.h"

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

static struct datum of_int(int64_t value)
{
    return (struct datum){.kind = DATUM_INT, .as.integer = value};
}

static struct datum of_text(struct wr_slice text)
{
    return (struct datum){.kind = DATUM_STRING, .as.bytes = text};
}

static struct datum of_str(const char *text)
{
    return text == NULL ? (struct datum){.kind = DATUM_NULL} : of_text(wr_slice_str(text));
}

static struct datum of_null(void)
{
    return (struct datum){.kind = DATUM_NULL};
}

/* Before 1970 too, the unit that a moment falls into. */
static int64_t floor_div(int64_t value, int64_t divisor)
{
    return value / divisor - (value % divisor < 0);
}

static enum wr_status row_expand(const struct row_view *row, struct wr_arena *scratch,
                                 struct datum *out, struct wr_error *err)
{
    struct tree tree;

    if (row->columns == NULL) {
        *out = of_null();
        return WR_OK;
    }
    if (!tree_start(&tree, row->column_count, scratch)) {
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
    *out = tree_end(&tree);
    return WR_OK;
}

/* A JSON array in a string: the end of the commit before, then the change's own LSN. */
static struct datum sequence_of(const struct change_source *source, struct wr_arena *scratch)
{
    unsigned long long last = source->last_commit_lsn;
    unsigned long long own = source->lsn;

    return of_str(last == 0 ? wr_arena_printf(scratch, "[null,\"%llu\"]", own)
                            : wr_arena_printf(scratch, "[\"%llu\",\"%llu\"]", last, own));
}

static void add_times(struct tree *tree, int64_t time_us, int64_t time_ns)
{
    add(tree, "ts_us", of_int(time_us));
    add(tree, "ts_ns", of_int(time_ns));
}

static bool source_expand(const struct record *record, struct wr_arena *scratch, struct datum *out)
{
    const struct change_source *source = record->source;
    const struct connector_info *connector = source->connector;
    const struct relation *relation = record->change == NULL ? NULL : record->change->relation;
    int64_t time_ns = 0;
    struct tree tree;

    if (!tree_start(&tree, 16, scratch)) {
        return false;
    }
    if (__builtin_mul_overflow(source->commit_time_us, 1000, &time_ns)) {
        time_ns = INT64_MAX; /* behind the year 2262 */
    }
    struct datum sequence = sequence_of(source, scratch);
    add(&tree, "version", connector == NULL ? of_null() : of_text(connector->version));
    add(&tree, "connector", of_str("postgresql"));
    add(&tree, "name", connector == NULL ? of_null() : of_text(connector->name));
    add(&tree, "ts_ms", of_int(floor_div(source->commit_time_us, 1000)));
    add(&tree, "snapshot", of_str(snapshot_marker_text(source->snapshot)));
    add(&tree, "db", connector == NULL ? of_null() : of_text(connector->database));
    add(&tree, "sequence", sequence);
    add_times(&tree, source->commit_time_us, time_ns);
    add(&tree, "schema", of_str(relation == NULL ? "" : relation->schema));
    add(&tree, "table", of_str(relation == NULL ? "" : relation->table));
    add(&tree, "txId", source->xid == 0 ? of_null() : of_int(source->xid));
    add(&tree, "lsn", of_int((int64_t)source->lsn));
    add(&tree, "xmin", of_null());
    add(&tree, "origin", of_str(source->origin));
    add(&tree, "origin_lsn",
        source->origin == NULL ? of_null() : of_int((int64_t)source->origin_lsn));
    *out = tree_end(&tree);
    return sequence.kind != DATUM_NULL;
}

static bool transaction_expand(const struct transaction_block *transaction,
                               struct wr_arena *scratch, struct datum *out)
{
    struct tree tree;

    *out = of_null();
    if (transaction == NULL) {
        return true;
    }
    if (!tree_start(&tree, 3, scratch)) {
        return false;
    }
    add(&tree, "id", of_text(transaction->id));
    add(&tree, "total_order", of_int(transaction->total_order));
    add(&tree, "data_collection_order", of_int(transaction->data_collection_order));
    *out = tree_end(&tree);
    return true;
}

static const char *op_text(enum change_op op)
{
    switch (op) {
    case OP_CREATE:
        return "c";
    case OP_UPDATE:
        return "u";
    case OP_DELETE:
        return "d";
    case OP_TRUNCATE:
        return "t";
    case OP_READ:
        return "r";
    }
    abort();
}

static enum wr_status envelope_expand(const struct record *record, const struct record_part *part,
                                      struct wr_arena *scratch, struct datum *out,
                                      struct wr_error *err)
{
    int64_t now_ns = record->source->now_ns;
    struct datum before, after, source, transaction;
    struct tree tree;
    enum wr_status status = row_expand(&part->as.envelope.before, scratch, &before, err);

    if (status == WR_OK) {
        status = row_expand(&part->as.envelope.after, scratch, &after, err);
    }
    if (status != WR_OK) {
        return status;
    }
    if (!source_expand(record, scratch, &source) ||
        !transaction_expand(record->source->transaction, scratch, &transaction) ||
        !tree_start(&tree, 8, scratch)) {
        return too_large(err);
    }
    add(&tree, "before", before);
    add(&tree, "after", after);
    add(&tree, "source", source);
    add(&tree, "transaction", transaction);
    add(&tree, "op", of_str(op_text(part->as.envelope.op)));
    add(&tree, "ts_ms", of_int(floor_div(now_ns, 1000000)));
    add_times(&tree, floor_div(now_ns, 1000), now_ns);
    *out = tree_end(&tree);
    return WR_OK;
}

static enum wr_status message_expand(const struct record *record, const struct record_part *part,
                                     struct wr_arena *scratch, struct datum *out,
                                     struct wr_error *err)
{
    struct datum source, transaction, content;
    struct tree tree, message;

    if (!source_expand(record, scratch, &source) ||
        !transaction_expand(record->source->transaction, scratch, &transaction) ||
        !tree_start(&tree, 5, scratch) || !tree_start(&message, 2, scratch)) {
        return too_large(err);
    }
    content = (struct datum){.kind = DATUM_BYTES, .as.bytes = part->as.message.content};
    add(&message, "prefix", of_text(part->as.message.prefix));
    add(&message, "content", content);
    add(&tree, "op", of_str("m"));
    add(&tree, "ts_ms", of_int(floor_div(record->source->now_ns, 1000000)));
    add(&tree, "source", source);
    add(&tree, "transaction", transaction);
    add(&tree, "message", tree_end(&message));
    *out = tree_end(&tree);
    return WR_OK;
}

enum wr_status part_expand(const struct record *record, struct record_part *part,
                           struct wr_arena *scratch, struct wr_error *err)
{
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
        status = envelope_expand(record, part, scratch, &datum, err);
        break;
    case PART_MESSAGE:
        status = message_expand(record, part, scratch, &datum, err);
        break;
    }
    if (status == WR_OK) {
        part->kind = PART_DATUM;
        part->as.datum = datum;
    }
    return status;
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
