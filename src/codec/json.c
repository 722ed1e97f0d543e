/*
 * The plain envelope is the hot path of the whole process: it never builds a tree. Field names come
 * escaped from the table's plan, cells go from the message's bytes into the output, and what does
 * not change inside a transaction is kept as text and copied.
 */
#include "codec/json.h"

#include <assert.h>

#include "base/json_write.h"
#include "base/limits.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "decoder/snapshot_marker.h"
#include "router/plan.h"
#include "router/row.h"

enum { ENVELOPE_TEXT_MAX = 1 << 20 };

void json_datum(struct wr_buffer *out, const struct datum *datum)
{
    switch (datum->kind) {
    case DATUM_NULL:
        WR_BUFFER_LITERAL(out, "null");
        break;
    case DATUM_BOOL:
        wr_json_bool(out, datum->as.boolean);
        break;
    case DATUM_INT:
        wr_json_int(out, datum->as.integer);
        break;
    case DATUM_FLOAT32:
    case DATUM_FLOAT64:
        wr_json_float(out, datum->as.bytes, datum->kind == DATUM_FLOAT32);
        break;
    case DATUM_STRING:
        wr_json_string(out, datum->as.bytes);
        break;
    case DATUM_BYTES:
        wr_json_base64(out, datum->as.bytes);
        break;
    case DATUM_JSON:
        wr_buffer_add_slice(out, datum->as.bytes);
        break;
    case DATUM_ARRAY:
        wr_buffer_add_char(out, '[');
        for (size_t i = 0; i < datum->as.array.count; i++) {
            if (i > 0) {
                wr_buffer_add_char(out, ',');
            }
            json_datum(out, &datum->as.array.items[i]);
        }
        wr_buffer_add_char(out, ']');
        break;
    case DATUM_STRUCT:
        wr_buffer_add_char(out, '{');
        for (size_t i = 0; i < datum->as.structure.count; i++) {
            if (i > 0) {
                wr_buffer_add_char(out, ',');
            }
            wr_json_string(out, datum->as.structure.fields[i].name);
            wr_buffer_add_char(out, ':');
            json_datum(out, &datum->as.structure.fields[i].value);
        }
        wr_buffer_add_char(out, '}');
        break;
    }
}

enum wr_status json_row(struct wr_buffer *out, const struct row_view *row, struct wr_arena *scratch,
                        struct wr_error *err)
{
    char before = '{';

    if (row->columns == NULL) {
        WR_BUFFER_LITERAL(out, "null");
        return WR_OK;
    }
    for (size_t i = 0; i < row->column_count; i++) {
        const struct column_plan *column = row->columns[i];
        struct datum datum;
        enum wr_status status = row_datum(row, column, scratch, &datum, err);
        if (status != WR_OK) {
            return status;
        }
        wr_buffer_add_char(out, before);
        wr_buffer_add_slice(out, column->json_name);
        json_datum(out, &datum);
        before = ',';
    }
    for (size_t i = 0; i < row->added_count; i++) {
        wr_buffer_add_char(out, before);
        wr_json_string(out, row->added[i].name);
        wr_buffer_add_char(out, ':');
        json_datum(out, &row->added[i].value);
        before = ',';
    }
    if (before == '{') { /* a table without a published column */
        wr_buffer_add_char(out, before);
    }
    wr_buffer_add_char(out, '}');
    return WR_OK;
}

void json_envelope_init(struct json_envelope *e, const struct config *config, const char *version)
{
    *e = (struct json_envelope){.tail_ns = -1};
    wr_buffer_init(&e->constant, ENVELOPE_TEXT_MAX);
    wr_buffer_init(&e->database, ENVELOPE_TEXT_MAX);
    wr_buffer_init(&e->head, ENVELOPE_TEXT_MAX);
    wr_buffer_init(&e->middle, ENVELOPE_TEXT_MAX);
    wr_buffer_init(&e->tail, ENVELOPE_TEXT_MAX);
    WR_BUFFER_LITERAL(&e->constant, "\"source\":{\"version\":");
    wr_json_string(&e->constant, wr_slice_str(version));
    WR_BUFFER_LITERAL(&e->constant, ",\"connector\":\"postgresql\",\"name\":");
    wr_json_string(&e->constant, wr_slice_str(config->topic_prefix));
    WR_BUFFER_LITERAL(&e->constant, ",\"ts_ms\":");
    wr_json_string(&e->database, wr_slice_str(config->database_dbname));
}

void json_envelope_done(struct json_envelope *e)
{
    wr_buffer_done(&e->constant);
    wr_buffer_done(&e->database);
    wr_buffer_done(&e->head);
    wr_buffer_done(&e->middle);
    wr_buffer_done(&e->tail);
}

/* Before 1970 too, the millisecond that a moment falls into. */
static int64_t floor_div(int64_t value, int64_t divisor)
{
    return value / divisor - (value % divisor < 0);
}

/* `sequence` is a JSON array inside a JSON string: the LSN of the last commit, then the change's.
 */
static void source_prepare(struct json_envelope *e, const struct change_source *source)
{
    struct change_source *cached = &e->cached;

    if (e->head.size > 0 && cached->commit_time_us == source->commit_time_us &&
        cached->last_commit_lsn == source->last_commit_lsn &&
        cached->snapshot == source->snapshot) {
        return;
    }
    *cached = *source;
    wr_buffer_reset(&e->head);
    wr_json_int(&e->head, floor_div(source->commit_time_us, 1000));
    WR_BUFFER_LITERAL(&e->head, ",\"snapshot\":\"");
    wr_buffer_add_str(&e->head, snapshot_marker_text(source->snapshot));
    WR_BUFFER_LITERAL(&e->head, "\",\"db\":");
    wr_buffer_add_slice(&e->head, wr_buffer_slice(&e->database));
    WR_BUFFER_LITERAL(&e->head, ",\"sequence\":\"[");
    if (source->last_commit_lsn == 0) {
        WR_BUFFER_LITERAL(&e->head, "null,\\\"");
    } else {
        WR_BUFFER_LITERAL(&e->head, "\\\"");
        wr_json_int(&e->head, (int64_t)source->last_commit_lsn);
        WR_BUFFER_LITERAL(&e->head, "\\\",\\\"");
    }
    wr_buffer_reset(&e->middle);
    WR_BUFFER_LITERAL(&e->middle, "\\\"]\",\"ts_us\":");
    wr_json_int(&e->middle, source->commit_time_us);
    WR_BUFFER_LITERAL(&e->middle, ",\"ts_ns\":");
    wr_json_int(&e->middle, source->commit_time_us);
    if (source->commit_time_us != 0) { /* times 1000, which would leave the int64 */
        WR_BUFFER_LITERAL(&e->middle, "000");
    }
    wr_buffer_add_char(&e->middle, ',');
}

static void source_write(struct json_envelope *e, struct wr_buffer *out,
                         const struct change_source *source, struct wr_slice table_json)
{
    source_prepare(e, source);
    wr_buffer_add_slice(out, wr_buffer_slice(&e->constant));
    wr_buffer_add_slice(out, wr_buffer_slice(&e->head));
    wr_json_int(out, (int64_t)source->lsn);
    wr_buffer_add_slice(out, wr_buffer_slice(&e->middle));
    wr_buffer_add_slice(out, table_json);
    WR_BUFFER_LITERAL(out, ",\"txId\":");
    if (source->xid == 0) {
        WR_BUFFER_LITERAL(out, "null");
    } else {
        wr_json_int(out, source->xid);
    }
    if (source->snapshot == SNAPSHOT_MARKER_INCREMENTAL) {
        WR_BUFFER_LITERAL(out, ",\"lsn\":null");
    } else {
        WR_BUFFER_LITERAL(out, ",\"lsn\":");
        wr_json_int(out, (int64_t)source->lsn);
    }
    if (source->xmin == 0 && source->origin == NULL) {
        WR_BUFFER_LITERAL(out, ",\"xmin\":null,\"origin\":null,\"origin_lsn\":null}");
        return;
    }
    WR_BUFFER_LITERAL(out, ",\"xmin\":");
    if (source->xmin == 0) {
        WR_BUFFER_LITERAL(out, "null");
    } else {
        wr_json_int(out, source->xmin);
    }
    if (source->origin == NULL) {
        WR_BUFFER_LITERAL(out, ",\"origin\":null,\"origin_lsn\":null}");
        return;
    }
    WR_BUFFER_LITERAL(out, ",\"origin\":");
    wr_json_string(out, wr_slice_str(source->origin));
    WR_BUFFER_LITERAL(out, ",\"origin_lsn\":");
    wr_json_int(out, (int64_t)source->origin_lsn);
    wr_buffer_add_char(out, '}');
}

static void tail_write(struct json_envelope *e, struct wr_buffer *out, int64_t now_ns)
{
    if (e->tail_ns != now_ns) {
        e->tail_ns = now_ns;
        wr_buffer_reset(&e->tail);
        WR_BUFFER_LITERAL(&e->tail, "\",\"ts_ms\":");
        wr_json_int(&e->tail, floor_div(now_ns, 1000000));
        WR_BUFFER_LITERAL(&e->tail, ",\"ts_us\":");
        wr_json_int(&e->tail, floor_div(now_ns, 1000));
        WR_BUFFER_LITERAL(&e->tail, ",\"ts_ns\":");
        wr_json_int(&e->tail, now_ns);
        wr_buffer_add_char(&e->tail, '}');
    }
    wr_buffer_add_slice(out, wr_buffer_slice(&e->tail));
}

static void transaction_write(struct wr_buffer *out, const struct transaction_block *transaction)
{
    if (transaction == NULL) {
        WR_BUFFER_LITERAL(out, ",\"transaction\":null");
        return;
    }
    WR_BUFFER_LITERAL(out, ",\"transaction\":{\"id\":");
    wr_json_string(out, transaction->id);
    WR_BUFFER_LITERAL(out, ",\"total_order\":");
    wr_json_int(out, transaction->total_order);
    WR_BUFFER_LITERAL(out, ",\"data_collection_order\":");
    wr_json_int(out, transaction->data_collection_order);
    wr_buffer_add_char(out, '}');
}

static void message_write(struct json_envelope *e, struct wr_buffer *out,
                          const struct record *record)
{
    WR_BUFFER_LITERAL(out, "{\"op\":\"m\",\"ts_ms\":");
    wr_json_int(out, floor_div(record->source->now_ns, 1000000));
    wr_buffer_add_char(out, ',');
    source_write(e, out, record->source, WR_SLICE("\"schema\":\"\",\"table\":\"\""));
    transaction_write(out, record->source->transaction);
    WR_BUFFER_LITERAL(out, ",\"message\":{\"prefix\":");
    wr_json_string(out, record->value.as.message.prefix);
    WR_BUFFER_LITERAL(out, ",\"content\":");
    wr_json_base64(out, record->value.as.message.content);
    WR_BUFFER_LITERAL(out, "}}");
}

enum wr_status json_envelope_write(struct json_envelope *e, struct wr_buffer *out,
                                   const struct record *record, struct wr_arena *scratch,
                                   struct wr_error *err)
{
    const struct record_part *value = &record->value;

    if (value->kind == PART_MESSAGE) {
        message_write(e, out, record);
        return WR_OK;
    }
    assert(value->kind == PART_ENVELOPE);
    WR_BUFFER_LITERAL(out, "{\"before\":");
    enum wr_status status = json_row(out, &value->as.envelope.before, scratch, err);
    if (status != WR_OK) {
        return status;
    }
    WR_BUFFER_LITERAL(out, ",\"after\":");
    status = json_row(out, &value->as.envelope.after, scratch, err);
    if (status != WR_OK) {
        return status;
    }
    wr_buffer_add_char(out, ',');
    source_write(e, out, record->source, record->change->relation->plan->table_json);
    transaction_write(out, record->source->transaction);
    WR_BUFFER_LITERAL(out, ",\"op\":\"");
    wr_buffer_add_char(out, (char)value->as.envelope.op);
    tail_write(e, out, record->source->now_ns);
    return WR_OK;
}
