#include "router/notification.h"

#include <stdlib.h>

#include "base/arena.h"
#include "config/config.h"
#include "decoder/datum.h"
#include "decoder/schema.h"
#include "router/record.h"

enum { SCHEMAS_SIZE_MAX = 1 << 16, VALUE_FIELD_COUNT = 5 };

struct notifications {
    struct wr_arena *arena;
    const char *topic;
    const struct schema *key, *value;
};

/* Map<String, String>, optional. */
static struct schema *data_schema(struct wr_arena *arena)
{
    struct schema *schema = schema_new(arena, SCHEMA_MAP);

    if (schema != NULL) {
        schema->is_optional = true;
        schema->key = schema->element = schema_plain(SCHEMA_STRING, false);
    }
    return schema;
}

struct notifications *notifications_new(const struct config *config)
{
    struct notifications *n = calloc(1, sizeof(*n));
    struct wr_arena *arena = wr_arena_new(SCHEMAS_SIZE_MAX);

    if (n == NULL) {
        abort();
    }
    const struct schema_field fields[VALUE_FIELD_COUNT] = {
        {WR_SLICE("id"), schema_plain(SCHEMA_STRING, false)},
        {WR_SLICE("type"), schema_plain(SCHEMA_STRING, false)},
        {WR_SLICE("aggregate_type"), schema_plain(SCHEMA_STRING, false)},
        {WR_SLICE("additional_data"), data_schema(arena)},
        {WR_SLICE("timestamp"), schema_plain(SCHEMA_INT64, false)},
    };
    n->arena = arena;
    n->topic = config->notification_topic;
    n->key = schema_struct(arena, "io.debezium.connector.common.NotificationKey", 1, fields, 1);
    n->value = schema_struct(arena, "io.debezium.connector.common.Notification", 1, fields,
                             VALUE_FIELD_COUNT);
    if (n->key == NULL || n->value == NULL || fields[3].schema == NULL) {
        abort(); /* constant, and small */
    }
    return n;
}

void notifications_free(struct notifications *n)
{
    if (n != NULL) {
        wr_arena_free(n->arena);
        free(n);
    }
}

static struct datum text(const char *bytes)
{
    return (struct datum){.kind = DATUM_STRING, .as.bytes = wr_slice_str(bytes)};
}

enum wr_status notifications_record(const struct notifications *n,
                                    const struct notification *notification,
                                    const struct change_source *source, struct wr_arena *scratch,
                                    struct record *out, struct wr_error *err)
{
    struct datum_field *data = wr_arena_alloc(scratch, NOTIFICATION_DATA_MAX, sizeof(*data));
    struct datum_field *fields = wr_arena_alloc(scratch, VALUE_FIELD_COUNT, sizeof(*fields));

    if (data == NULL || fields == NULL) {
        return wr_fail(err, WR_FATAL, "router", "a notification does not fit its memory");
    }
    for (size_t i = 0; i < notification->data_count; i++) {
        data[i] = (struct datum_field){wr_slice_str(notification->data[i].name),
                                       text(notification->data[i].value)};
    }
    fields[0] = (struct datum_field){WR_SLICE("id"), text(notification->id)};
    fields[1] = (struct datum_field){WR_SLICE("type"), text(notification->type)};
    fields[2] =
        (struct datum_field){WR_SLICE("aggregate_type"), text(notification->aggregate_type)};
    fields[3] = (struct datum_field){
        WR_SLICE("additional_data"),
        {.kind = DATUM_STRUCT, .as.structure = {data, notification->data_count}}};
    fields[4] = (struct datum_field){WR_SLICE("timestamp"),
                                     {.kind = DATUM_INT, .as.integer = notification->timestamp_ms}};
    *out = (struct record){
        .source = source,
        .topic = wr_slice_str(n->topic),
        .partition = -1,
        .timestamp_ms = -1,
        .key = {.kind = PART_DATUM,
                .schema = n->key,
                .as.datum = {.kind = DATUM_STRUCT, .as.structure = {fields, 1}}},
        .value = {.kind = PART_DATUM,
                  .schema = n->value,
                  .as.datum = {.kind = DATUM_STRUCT, .as.structure = {fields, VALUE_FIELD_COUNT}}},
    };
    return WR_OK;
}
