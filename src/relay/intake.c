#include "relay/intake.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/failpoint.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/log.h"
#include "config/config.h"
#include "decoder/relcache.h"
#include "publisher/publisher.h"
#include "relay/encoder.h"
#include "relay/intake_state.h"
#include "relay/ledger.h"
#include "relay/refusal.h"
#include "relay/reselect.h"
#include "router/plan.h"
#include "router/router.h"

static void notice(void *context, const char *text)
{
    (void)context;
    wr_log(WR_LOG_WARN, "router", WR_MSG(text));
}

/* As soon as it has room. */
enum wr_status intake_produce(struct intake *in, struct publisher_record *record, uint32_t tag,
                              struct wr_error *err)
{
    enum wr_status status = WR_AGAIN;

    record->ticket =
        (uint64_t)tag << INTAKE_TAG_SHIFT | intake_ledger_ticket(ledger_add(in->parts.ledger));
    for (;;) {
        status = publisher_produce(in->parts.publisher, record, err);
        if (status != WR_AGAIN) {
            break;
        }
        status = in->parts.wait(in->parts.context, err);
        if (status != WR_OK) {
            break;
        }
    }
    if (status == WR_OK) {
        wr_failpoint_at(WR_FAILPOINT_PRODUCED);
        in->record_count++;
    } else {
        ledger_remove(in->parts.ledger);
    }
    return status;
}

/* The refused record with the reason in its headers, as Connect's dead letter queue has them. */
static enum wr_status dead_letter(struct intake *in, const struct encoded *refused,
                                  const char *reason, struct wr_error *err)
{
    char lsn[24];
    (void)snprintf(lsn, sizeof(lsn), WR_LSN_FMT, WR_LSN_ARGS(in->position.version));
    struct publisher_header headers[] = {
        {.name = "__connect.errors.topic", .value = refused->record.topic},
        {.name = "__connect.errors.exception.message", .value = wr_slice_str(reason)},
        {.name = "walrelay.lsn", .value = wr_slice_str(lsn)},
    };
    struct publisher_record record = refused->record;

    record.topic = wr_slice_str(in->parts.config->dead_letter_topic);
    record.partition = -1;
    record.headers = headers;
    record.header_count = sizeof(headers) / sizeof(headers[0]);
    enum wr_status status = intake_produce(in, &record, 0, err);
    if (status == WR_REJECT) { /* as large there: the reason alone */
        record.value = (struct wr_slice){NULL, 0};
        record.value_is_null = true;
        status = intake_produce(in, &record, 0, err);
    }
    return status == WR_REJECT ? WR_FATAL : status;
}

/* errors.tolerance: stop before the row, or say so, keep it aside, and go on. */
static enum wr_status tolerate(struct intake *in, const struct encoded *refused,
                               struct wr_error *err)
{
    if (in->parts.config->errors_tolerance == TOLERANCE_NONE) {
        err->status = WR_FATAL;
        return WR_FATAL;
    }
    wr_log(WR_LOG_ERROR, err->where, WR_MSG(err->text), WR_STR("errors.tolerance", "all"));
    if (refused == NULL || in->parts.config->dead_letter_topic == NULL) {
        return WR_OK;
    }
    struct wr_error reason = *err;
    return dead_letter(in, refused, reason.text, err);
}

/* A change, or a record of it, that walrelay itself cannot tell. */
static enum wr_status refuse_event(struct intake *in, const struct encoded *refused,
                                   struct wr_error *err)
{
    if (!refusal_is_passed_over(in->parts.config, err)) {
        return tolerate(in, refused, err);
    }
    return WR_OK;
}

static enum wr_status publish(void *context, const struct record *record, struct wr_error *err)
{
    struct intake *in = context;
    struct encoded encoded;
    uint32_t tag = record->change == NULL ? 0 : record->change->relation->tag;

    in->position.seq++;
    if (skip_covers(&in->skip)) {
        return WR_OK;
    }
    enum wr_status status = encoder_encode(in->encoder, record, in->scratch, &encoded, err);
    bool is_encoded = status == WR_OK;
    if (is_encoded) {
        status = intake_produce(in, &encoded.record, tag, err);
    }
    if (status == WR_REJECT) {
        (void)refusal_of_record(record, &encoded.record, in->position.version, err);
        status = is_encoded ? tolerate(in, &encoded, err) : refuse_event(in, &encoded, err);
    }
    return status;
}

/* A change that cannot be told as one of its records. */
static enum wr_status refuse_change(void *context, const struct change *change,
                                    struct wr_error *err)
{
    (void)refusal_of_change(change, err);
    return refuse_event(context, NULL, err);
}

/* Of no transaction; the clock goes on. */
void intake_source_clear(struct intake *in)
{
    in->source = (struct change_source){
        .connector = &in->connector, .position = &in->position, .now_ns = in->source.now_ns};
}

enum wr_status intake_new(const struct intake_parts *parts, struct intake **out,
                          struct wr_error *err)
{
    struct intake *in = calloc(1, sizeof(*in));

    if (in == NULL) {
        abort();
    }
    in->parts = *parts;
    in->watch = parts->watch;
    in->connector = (struct connector_info){
        .version = wr_slice_str(WR_VERSION),
        .name = wr_slice_str(parts->config->topic_prefix),
        .database = wr_slice_str(parts->config->database_dbname),
    };
    intake_source_clear(in);
    in->relations = relcache_new();
    in->scratch = wr_arena_new(WR_MESSAGE_ARENA_SIZE_MAX);
    in->encoder = encoder_new(parts->config);
    pgoutput_init(&in->decoder);
    struct router_sink sink = {
        .context = in, .emit = publish, .refuse = refuse_change, .notice = notice};
    enum wr_status status = router_new(parts->config, &sink, &in->router, err);
    if (status != WR_OK) {
        intake_free(in);
        in = NULL;
    }
    *out = in;
    return status;
}

void intake_free(struct intake *in)
{
    if (in == NULL) {
        return;
    }
    router_free(in->router);
    encoder_free(in->encoder);
    relcache_free(in->relations);
    wr_arena_free(in->scratch);
    table_tags_done(&in->tables);
    free(in);
}

void intake_restart(struct intake *in)
{
    relcache_clear(in->relations);
    in->signal_oid = 0;
    pgoutput_init(&in->decoder);
    wr_lsn last_commit_lsn = in->source.last_commit_lsn;
    intake_source_clear(in);
    in->source.last_commit_lsn = last_commit_lsn;
}

void intake_clock(struct intake *in, int64_t now_ns)
{
    in->source.now_ns = now_ns;
}

void intake_xmin(struct intake *in, uint32_t xmin)
{
    in->xmin = xmin;
}

wr_lsn intake_end_lsn(const struct intake *in)
{
    return in->end_lsn;
}

bool intake_captures(const struct intake *in, const char *schema, const char *table)
{
    return router_captures(in->router, schema, table);
}

void intake_watch_rows(struct intake *in, bool watches)
{
    in->watches_rows = watches;
}

const char *intake_table_of(const struct intake *in, uint64_t ticket)
{
    return table_tags_name(&in->tables, ticket >> INTAKE_TAG_SHIFT);
}

uint32_t intake_tag_of(struct intake *in, const char *name)
{
    return table_tags_named(&in->tables, name);
}

uint64_t intake_record_count(const struct intake *in)
{
    return in->record_count;
}

enum wr_status intake_compile(struct intake *in, struct relation *relation, struct wr_error *err)
{
    relation->tag = table_tags_of(&in->tables, relation);
    return router_compile(in->router, relation, &in->parts.catalog, err);
}

enum wr_status intake_take_relation(struct intake *in, struct relation *relation,
                                    struct wr_error *err)
{
    enum wr_status status = relcache_put(in->relations, relation, err);

    if (status != WR_OK) {
        return status;
    }
    if (in->watch.is_signal_table(in->watch.context, relation->schema, relation->table)) {
        in->signal_oid = relation->oid;
    }
    if (in->watches_rows) {
        in->watch.relation(in->watch.context, relation);
    }
    return intake_compile(in, relation, err);
}

enum wr_status intake_take_change(struct intake *in, const struct change *change,
                                  struct wr_error *err)
{
    enum wr_status status = reselect_fill(in->parts.reselect, change, in->scratch, err);

    if (status == WR_OK) {
        status = router_change(in->router, change, in->scratch, err);
    }
    wr_arena_reset(in->scratch);
    return status == WR_REJECT ? refuse_change(in, change, err) : status;
}

enum wr_status intake_find_relation(const struct intake *in, uint32_t oid,
                                    const struct relation **out, struct wr_error *err)
{
    *out = relcache_get(in->relations, oid);
    if (*out == NULL) {
        return wr_fail(err, WR_FATAL, "relay", "a row of the unknown relation %u", oid);
    }
    return WR_OK;
}

static enum wr_status take_row(struct intake *in, const struct message *message, enum change_op op,
                               struct wr_error *err)
{
    struct change change = {
        .op = op,
        .old_kind = message->old_kind,
        .old_tuple = message->old_tuple,
        .new_tuple = message->new_tuple,
        .source = in->source,
    };
    enum wr_status status = intake_find_relation(in, message->relation_oid, &change.relation, err);

    in->skip.change_count++;
    if (status == WR_OK) {
        status = intake_take_change(in, &change, err);
    }
    if (status == WR_OK && in->watches_rows) {
        status = in->watch.row(in->watch.context, &change, err);
    }
    if (status == WR_OK && message->relation_oid == in->signal_oid && op == OP_CREATE) {
        status = in->watch.signal(in->watch.context, &change, err);
    }
    return status;
}

static enum wr_status take_truncate(struct intake *in, const struct message *message,
                                    struct wr_error *err)
{
    in->skip.change_count++;
    for (uint32_t i = 0; i < message->truncate.count; i++) {
        struct change change = {.op = OP_TRUNCATE, .source = in->source};
        enum wr_status status =
            intake_find_relation(in, truncate_oid(message, i), &change.relation, err);
        if (status != WR_OK) {
            return status;
        }
        const struct route_plan *plan = change.relation->plan;
        if (in->parts.config->skip_truncate && plan->is_captured && plan->route_count == 0) {
            wr_log(WR_LOG_INFO, "relay", WR_MSG("a TRUNCATE is skipped (skipped.operations)"),
                   WR_STR("table",
                          intake_table_of(in, (uint64_t)change.relation->tag << INTAKE_TAG_SHIFT)),
                   WR_LSN("lsn", in->source.lsn));
        }
        status = intake_take_change(in, &change, err);
        if (status == WR_OK && in->watches_rows) {
            status = in->watch.row(in->watch.context, &change, err);
        }
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

static enum wr_status begin(struct intake *in, const struct message *message, struct wr_error *err)
{
    if (skip_begin(&in->skip, message->commit_lsn, err) != WR_OK) {
        return WR_FATAL;
    }
    ledger_begin(in->parts.ledger);
    in->source.commit_time_us = message->commit_time_us;
    in->source.xid = message->xid;
    in->source.xmin = in->xmin;
    in->source.snapshot = SNAPSHOT_MARKER_FALSE;
    in->source.origin = NULL;
    in->source.origin_lsn = 0;
    in->position.version = message->commit_lsn;
    in->position.seq = 0;
    enum wr_status status = router_begin(in->router, &in->source, in->scratch, err);
    wr_arena_reset(in->scratch);
    return status;
}

static enum wr_status commit(struct intake *in, const struct message *message, struct wr_error *err)
{
    if (skip_commit(&in->skip, err) != WR_OK) {
        return WR_FATAL;
    }
    enum wr_status status = router_commit(in->router, &in->source, in->scratch, err);

    wr_arena_reset(in->scratch);
    if (status != WR_OK) {
        return status;
    }
    skip_done(&in->skip);
    ledger_commit(in->parts.ledger, message->end_lsn);
    in->source.last_commit_lsn = message->end_lsn;
    in->source.origin = NULL;
    in->end_lsn = message->end_lsn;
    return WR_OK;
}

/* Outside a transaction it is one of its own, which the server does not send again from a byte on.
 */
static enum wr_status take_logical(struct intake *in, const struct message *message,
                                   struct wr_error *err)
{
    struct change_source source = in->source;
    bool is_alone = !ledger_is_open(in->parts.ledger);

    source.lsn = message->logical.lsn;
    in->skip.change_count++;
    if (is_alone) {
        skip_message(&in->skip, message->logical.lsn);
        ledger_begin(in->parts.ledger);
        source.xid = 0;
        source.xmin = in->xmin;
        source.commit_time_us = source.now_ns / 1000;
        source.origin = NULL;
        in->position.version = message->logical.lsn;
        in->position.seq = 0;
    }
    enum wr_status status = WR_OK;
    if (!in->watch.message(in->watch.context, message, &status, err)) {
        status = router_message(in->router, message, &source, in->scratch, err);
        wr_arena_reset(in->scratch);
    }
    if (is_alone && status == WR_OK) {
        skip_done(&in->skip);
        ledger_commit(in->parts.ledger, message->logical.lsn + 1);
        in->end_lsn = message->logical.lsn + 1;
    }
    return status;
}

static enum wr_status dispatch(struct intake *in, const struct message *message,
                               struct wr_error *err)
{
    switch (message->kind) {
    case MESSAGE_BEGIN:
        return begin(in, message, err);
    case MESSAGE_COMMIT:
        return commit(in, message, err);
    case MESSAGE_ORIGIN:
        (void)snprintf(in->origin, sizeof(in->origin), "%s", message->origin);
        in->source.origin = in->origin;
        in->source.origin_lsn = message->origin_lsn;
        return WR_OK;
    case MESSAGE_RELATION:
        return intake_take_relation(in, message->relation, err);
    case MESSAGE_INSERT:
        return take_row(in, message, OP_CREATE, err);
    case MESSAGE_UPDATE:
        return take_row(in, message, OP_UPDATE, err);
    case MESSAGE_DELETE:
        return take_row(in, message, OP_DELETE, err);
    case MESSAGE_TRUNCATE:
        return take_truncate(in, message, err);
    case MESSAGE_LOGICAL:
        return take_logical(in, message, err);
    case MESSAGE_TYPE:
    case MESSAGE_STREAM_ABORT:
        return WR_OK;
    case MESSAGE_STREAM_START:
    case MESSAGE_STREAM_STOP:
    case MESSAGE_STREAM_COMMIT:
    case MESSAGE_BEGIN_PREPARE:
    case MESSAGE_PREPARE:
    case MESSAGE_COMMIT_PREPARED:
    case MESSAGE_ROLLBACK_PREPARED:
    case MESSAGE_STREAM_PREPARE:
        break; /* the decoder has refused them */
    }
    abort();
}

enum wr_status intake_message(struct intake *in, wr_lsn lsn, struct wr_slice payload,
                              struct wr_error *err)
{
    struct message message;
    enum wr_status status = pgoutput_decode(&in->decoder, payload, &message, err);

    if (status != WR_OK) {
        return status;
    }
    in->source.lsn = lsn;
    return dispatch(in, &message, err);
}

struct skip *intake_skip(struct intake *in)
{
    return &in->skip;
}
