#include "router/fact.h"

#include <stdlib.h>

#include "base/arena.h"
#include "decoder/relation.h"

static const struct {
    enum fact_place place;
    const char *name;
} FACTS[] = {
    [FACT_VERSION] = {FACT_IN_SOURCE, "version"},
    [FACT_CONNECTOR] = {FACT_IN_SOURCE, "connector"},
    [FACT_NAME] = {FACT_IN_SOURCE, "name"},
    [FACT_SOURCE_TS_MS] = {FACT_IN_SOURCE, "ts_ms"},
    [FACT_SNAPSHOT] = {FACT_IN_SOURCE, "snapshot"},
    [FACT_DB] = {FACT_IN_SOURCE, "db"},
    [FACT_SEQUENCE] = {FACT_IN_SOURCE, "sequence"},
    [FACT_SOURCE_TS_US] = {FACT_IN_SOURCE, "ts_us"},
    [FACT_SOURCE_TS_NS] = {FACT_IN_SOURCE, "ts_ns"},
    [FACT_SCHEMA] = {FACT_IN_SOURCE, "schema"},
    [FACT_TABLE] = {FACT_IN_SOURCE, "table"},
    [FACT_TX_ID] = {FACT_IN_SOURCE, "txId"},
    [FACT_LSN] = {FACT_IN_SOURCE, "lsn"},
    [FACT_XMIN] = {FACT_IN_SOURCE, "xmin"},
    [FACT_ORIGIN] = {FACT_IN_SOURCE, "origin"},
    [FACT_ORIGIN_LSN] = {FACT_IN_SOURCE, "origin_lsn"},
    [FACT_TRANSACTION_ID] = {FACT_IN_TRANSACTION, "id"},
    [FACT_TOTAL_ORDER] = {FACT_IN_TRANSACTION, "total_order"},
    [FACT_DATA_COLLECTION_ORDER] = {FACT_IN_TRANSACTION, "data_collection_order"},
    [FACT_OP] = {FACT_IN_ENVELOPE, "op"},
    [FACT_TS_MS] = {FACT_IN_ENVELOPE, "ts_ms"},
    [FACT_TS_US] = {FACT_IN_ENVELOPE, "ts_us"},
    [FACT_TS_NS] = {FACT_IN_ENVELOPE, "ts_ns"},
};

const char *fact_name(enum fact fact)
{
    return FACTS[fact].name;
}

enum fact_place fact_place(enum fact fact)
{
    return FACTS[fact].place;
}

enum fact fact_find(enum fact_place place, struct wr_slice name)
{
    unsigned fact = 0;

    while (fact < FACT_COUNT &&
           (FACTS[fact].place != place || !wr_slice_is(name, FACTS[fact].name))) {
        fact++;
    }
    return (enum fact)fact;
}

static struct datum of_null(void)
{
    return (struct datum){.kind = DATUM_NULL};
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
    return text == NULL ? of_null() : of_text(wr_slice_str(text));
}

/* Before 1970 too, the unit that a moment falls into. */
static int64_t floor_div(int64_t value, int64_t divisor)
{
    return value / divisor - (value % divisor < 0);
}

/* At most the last moment that a count of nanoseconds can say, in the year 2262. */
static int64_t ns_of(int64_t time_us)
{
    int64_t time_ns = 0;

    return __builtin_mul_overflow(time_us, 1000, &time_ns) ? INT64_MAX : time_ns;
}

/* A JSON array in a string: the end of the commit before, then the change's own LSN. */
static struct datum sequence_of(const struct change_source *source, struct wr_arena *scratch)
{
    unsigned long long last = source->last_commit_lsn;
    unsigned long long own = source->lsn;

    return of_str(last == 0 ? wr_arena_printf(scratch, "[null,\"%llu\"]", own)
                            : wr_arena_printf(scratch, "[\"%llu\",\"%llu\"]", last, own));
}

static const char *op_text(const struct record_part *part)
{
    if (part->kind != PART_ENVELOPE) {
        return "m";
    }
    switch (part->as.envelope.op) {
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

static struct datum connector_datum(enum fact fact, const struct connector_info *connector)
{
    if (connector == NULL) {
        return of_null();
    }
    return of_text(fact == FACT_VERSION ? connector->version
                   : fact == FACT_NAME  ? connector->name
                                        : connector->database);
}

static struct datum source_datum(enum fact fact, const struct record *record,
                                 struct wr_arena *scratch)
{
    const struct change_source *source = record->source;
    const struct relation *relation = record->change == NULL ? NULL : record->change->relation;

    switch ((int)fact) {
    case FACT_VERSION:
    case FACT_NAME:
    case FACT_DB:
        return connector_datum(fact, source->connector);
    case FACT_CONNECTOR:
        return of_str("postgresql");
    case FACT_SOURCE_TS_MS:
        return of_int(floor_div(source->commit_time_us, 1000));
    case FACT_SNAPSHOT:
        return of_str(snapshot_marker_text(source->snapshot));
    case FACT_SEQUENCE:
        return sequence_of(source, scratch);
    case FACT_SOURCE_TS_US:
        return of_int(source->commit_time_us);
    case FACT_SOURCE_TS_NS:
        return of_int(ns_of(source->commit_time_us));
    case FACT_SCHEMA:
        return of_str(relation == NULL ? "" : relation->schema);
    case FACT_TABLE:
        return of_str(relation == NULL ? "" : relation->table);
    case FACT_TX_ID:
        return source->xid == 0 ? of_null() : of_int(source->xid);
    case FACT_LSN:
        return source->snapshot == SNAPSHOT_MARKER_INCREMENTAL ? of_null()
                                                               : of_int((int64_t)source->lsn);
    case FACT_ORIGIN:
        return of_str(source->origin);
    case FACT_ORIGIN_LSN:
        return source->origin == NULL ? of_null() : of_int((int64_t)source->origin_lsn);
    default: /* FACT_XMIN */
        return source->xmin == 0 ? of_null() : of_int(source->xmin);
    }
}

static struct datum transaction_datum(enum fact fact, const struct transaction_block *transaction)
{
    if (transaction == NULL) {
        return of_null();
    }
    if (fact == FACT_TRANSACTION_ID) {
        return of_text(transaction->id);
    }
    return of_int(fact == FACT_TOTAL_ORDER ? transaction->total_order
                                           : transaction->data_collection_order);
}

static struct datum envelope_datum(enum fact fact, const struct record *record,
                                   const struct record_part *part)
{
    int64_t now_ns = record->source->now_ns;

    if (fact == FACT_OP) {
        return of_str(op_text(part));
    }
    return of_int(fact == FACT_TS_MS   ? floor_div(now_ns, 1000000)
                  : fact == FACT_TS_US ? floor_div(now_ns, 1000)
                                       : now_ns);
}

bool fact_datum(enum fact fact, const struct record *record, const struct record_part *part,
                struct wr_arena *scratch, struct datum *out)
{
    switch (FACTS[fact].place) {
    case FACT_IN_SOURCE:
        *out = source_datum(fact, record, scratch);
        return fact != FACT_SEQUENCE || out->kind != DATUM_NULL;
    case FACT_IN_TRANSACTION:
        *out = transaction_datum(fact, record->source->transaction);
        return true;
    case FACT_IN_ENVELOPE:
        *out = envelope_datum(fact, record, part);
        return true;
    }
    abort();
}
