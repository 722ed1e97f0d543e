/* What is published beside the rows: messages, heartbeats, notifications, bounds of transactions.
 */
#include "base/arena.h"
#include "config/config.h"
#include "router/filter.h"
#include "router/heartbeat.h"
#include "router/notification.h"
#include "router/record.h"
#include "router/router_state.h"
#include "router/transactions.h"

enum wr_status router_message(struct router *r, const struct message *message,
                              const struct change_source *source, struct wr_arena *scratch,
                              struct wr_error *err)
{
    struct datum_field field = {
        .name = WR_SLICE("prefix"),
        .value = {.kind = DATUM_STRING, .as.bytes = wr_slice_str(message->logical.prefix)},
    };
    struct record record;

    if (!filter_has_prefix(r->filter, message->logical.prefix)) {
        return WR_OK;
    }
    record.change = NULL;
    record.route = NULL;
    record.source = source;
    record.topic = wr_buffer_slice(&r->message_topic);
    record.partition = -1;
    record.timestamp_ms = -1;
    record.header_count = 0;
    record.key.kind = PART_DATUM;
    record.key.schema = r->schemas.message_key;
    record.key.as.datum =
        (struct datum){.kind = DATUM_STRUCT, .as.structure = {.fields = &field, .count = 1}};
    record.value.kind = PART_MESSAGE;
    record.value.schema = r->schemas.message_value;
    record.value.as.message.prefix = field.value.as.bytes;
    record.value.as.message.content = message->logical.content;
    return router_emit(r, &record, scratch, err);
}

enum wr_status router_notification(struct router *r, const struct notification *notification,
                                   const struct change_source *source, struct wr_arena *scratch,
                                   struct wr_error *err)
{
    struct record record;

    if (r->notifications == NULL) {
        return WR_OK;
    }
    enum wr_status status =
        notifications_record(r->notifications, notification, source, scratch, &record, err);
    return status == WR_OK ? router_emit(r, &record, scratch, err) : status;
}

enum wr_status router_begin(struct router *r, struct change_source *source,
                            struct wr_arena *scratch, struct wr_error *err)
{
    struct record record;

    if (r->transactions == NULL) {
        return WR_OK;
    }
    source->transaction = transactions_begin(r->transactions);
    enum wr_status status =
        transactions_begin_record(r->transactions, source, scratch, &record, err);
    return status == WR_OK ? router_emit(r, &record, scratch, err) : status;
}

enum wr_status router_commit(struct router *r, struct change_source *source,
                             struct wr_arena *scratch, struct wr_error *err)
{
    struct record record;

    if (r->transactions == NULL) {
        return WR_OK;
    }
    enum wr_status status = transactions_end_record(r->transactions, source, scratch, &record, err);
    if (status == WR_OK) {
        status = router_emit(r, &record, scratch, err);
    }
    source->transaction = NULL;
    return status;
}

enum wr_status router_heartbeat(struct router *r, const struct change_source *source,
                                struct wr_arena *scratch, struct wr_error *err)
{
    struct record record;
    enum wr_status status = heartbeat_record(&r->schemas, wr_buffer_slice(&r->heartbeat_topic),
                                             source, scratch, &record, err);

    return status == WR_OK ? router_emit(r, &record, scratch, err) : status;
}
