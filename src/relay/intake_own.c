/* What comes into Kafka beside the stream: rows of snapshots, and what walrelay says itself. */
#include <string.h>

#include "base/arena.h"
#include "publisher/publisher.h"
#include "relay/intake_state.h"
#include "relay/ledger.h"
#include "router/router.h"

void intake_snapshot_begin(struct intake *in, wr_lsn lsn, uint32_t xid)
{
    ledger_begin(in->parts.ledger);
    intake_source_clear(in);
    in->source.commit_time_us = in->source.now_ns / 1000;
    in->source.lsn = lsn;
    in->source.xid = xid;
    in->position.version = lsn;
    in->position.seq = 0;
    in->skip.until_count = 0;
}

enum wr_status intake_snapshot_table(struct intake *in, struct relation *relation,
                                     struct wr_error *err)
{
    return intake_take_relation(in, relation, err);
}

enum wr_status intake_snapshot_row(struct intake *in, uint32_t relation_oid,
                                   const struct tuple *row, enum snapshot_marker marker,
                                   struct wr_error *err)
{
    struct change change = {.op = OP_READ, .new_tuple = *row, .source = in->source};
    enum wr_status status = intake_find_relation(in, relation_oid, &change.relation, err);

    change.source.snapshot = marker;
    return status == WR_OK ? intake_take_change(in, &change, err) : status;
}

void intake_snapshot_end(struct intake *in)
{
    ledger_commit(in->parts.ledger, in->source.lsn);
    in->end_lsn = in->source.lsn;
    intake_source_clear(in);
}

enum wr_status intake_heartbeat(struct intake *in, wr_lsn lsn, struct wr_error *err)
{
    struct change_source source = {.connector = &in->connector, .now_ns = in->source.now_ns};

    ledger_begin(in->parts.ledger);
    enum wr_status status = router_heartbeat(in->router, &source, in->scratch, err);
    wr_arena_reset(in->scratch);
    if (status == WR_OK) {
        ledger_commit(in->parts.ledger, lsn);
    }
    return status;
}

uint64_t intake_snapshot_divide(struct intake *in)
{
    ledger_commit(in->parts.ledger, in->source.lsn);
    uint64_t mark = ledger_mark(in->parts.ledger);
    ledger_begin(in->parts.ledger);
    return mark;
}

enum wr_status intake_incremental_table(struct intake *in, struct relation *relation,
                                        struct wr_error *err)
{
    return intake_compile(in, relation, err);
}

/* It belongs to no transaction, so that none counts it. */
enum wr_status intake_incremental_row(struct intake *in, const struct relation *relation,
                                      const struct tuple *row, struct wr_error *err)
{
    struct change change = {
        .op = OP_READ, .relation = relation, .new_tuple = *row, .source = in->source};

    change.source.snapshot = SNAPSHOT_MARKER_INCREMENTAL;
    change.source.transaction = NULL;
    change.source.xid = 0;
    change.source.xmin = 0;
    change.source.commit_time_us = in->source.now_ns / 1000;
    change.source.origin = NULL;
    return intake_take_change(in, &change, err);
}

wr_lsn intake_commit_lsn(const struct intake *in)
{
    return in->position.version;
}

void intake_own_begin(struct intake *in)
{
    ledger_begin(in->parts.ledger);
    in->skip.until_count = 0;
}

/* It stands where the stream is: what may be confirmed once it and all before it are there. */
void intake_own_end(struct intake *in)
{
    ledger_commit(in->parts.ledger, ledger_received(in->parts.ledger));
}

enum wr_status intake_notify(struct intake *in, const struct notification *notification,
                             struct wr_error *err)
{
    enum wr_status status =
        router_notification(in->router, notification, &in->source, in->scratch, err);

    wr_arena_reset(in->scratch);
    return status;
}

enum wr_status intake_note(struct intake *in, const char *topic, struct wr_slice key,
                           struct wr_slice value, struct wr_error *err)
{
    struct publisher_record record = {.topic = wr_slice_str(topic),
                                      .partition = 0,
                                      .timestamp_ms = -1,
                                      .key = key,
                                      .value = value};
    enum wr_status status = intake_produce(in, &record, 0, err);

    if (status == WR_REJECT) {
        err->status = WR_FATAL;
        return WR_FATAL;
    }
    return status;
}

void intake_count_aside(struct intake *in)
{
    in->record_count++;
}
