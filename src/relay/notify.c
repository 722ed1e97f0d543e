#include "relay/notify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "relay/intake.h"
#include "relay/own.h"
#include "relay/state.h"

enum { UUID_SIZE = 40 };

void notify_add(struct notification *notification, const char *name, const char *value)
{
    assert(notification->data_count < NOTIFICATION_DATA_MAX);
    notification->data[notification->data_count].name = name;
    notification->data[notification->data_count++].value = value;
}

/* A random UUID, of version 4. */
static void make_uuid(char out[UUID_SIZE])
{
    uint16_t r[8] = {0};

    if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r)) {
        abort();
    }
    (void)snprintf(out, UUID_SIZE, "%04x%04x-%04x-4%03x-%04x-%04x%04x%04x", r[0], r[1], r[2],
                   r[3] & 0xfff, (r[4] & 0x3fff) | 0x8000, r[5], r[6], r[7]);
}

static const char *data_of(const struct notification *notification, const char *name)
{
    for (size_t i = 0; i < notification->data_count; i++) {
        if (wr_slice_is(wr_slice_str(notification->data[i].name), name)) {
            return notification->data[i].value;
        }
    }
    return "";
}

/* A log holds no values of rows, so no keys. */
static void log_it(const struct notification *notification)
{
    wr_log(WR_LOG_INFO, "notification", WR_MSG(notification->aggregate_type),
           WR_STR("type", notification->type), WR_STR("id", notification->id),
           WR_STR("connector_name", data_of(notification, "connector_name")),
           WR_STR("data_collections", data_of(notification, "data_collections")),
           WR_STR("scanned_collection", data_of(notification, "scanned_collection")),
           WR_STR("total_rows_scanned", data_of(notification, "total_rows_scanned")),
           WR_STR("status", data_of(notification, "status")));
}

enum wr_status notify(struct relay *r, struct notification *notification, struct wr_error *err)
{
    char uuid[UUID_SIZE];

    if (notification->id == NULL || notification->id[0] == '\0') {
        make_uuid(uuid);
        notification->id = uuid;
    }
    notification->timestamp_ms = wr_clock_realtime_ns() / 1000000;
    if (r->config->notifies_log) {
        log_it(notification);
    }
    if (!r->config->notifies_topic) {
        return WR_OK;
    }
    bool is_own = relay_own_begin(r);
    enum wr_status status = intake_notify(r->intake, notification, err);
    relay_own_end(r, is_own);
    return status;
}

enum wr_status notify_initial(struct relay *r, const char *type, struct wr_error *err)
{
    struct notification notification = {.type = type, .aggregate_type = "Initial Snapshot"};

    notify_add(&notification, "connector_name", r->config->topic_prefix);
    return notify(r, &notification, err);
}
