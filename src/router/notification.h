/* router/notification.h - what walrelay tells of its snapshots, as Debezium's records have it. */
#ifndef WR_ROUTER_NOTIFICATION_H
#define WR_ROUTER_NOTIFICATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

struct change_source;
struct config;
struct record;
struct wr_arena;

enum { NOTIFICATION_DATA_MAX = 8 };

struct notification {
    const char *id;
    const char *type;           /* STARTED, … */
    const char *aggregate_type; /* "Incremental Snapshot" */
    struct {
        const char *name, *value;
    } data[NOTIFICATION_DATA_MAX]; /* additional_data, in the order in which it is written */
    size_t data_count;
    int64_t timestamp_ms;
};

struct notifications;

struct notifications *notifications_new(const struct config *config);
void notifications_free(struct notifications *n); /* NULL is allowed */

/* The record of one, in `scratch`; everything else is borrowed. WR_FATAL: no room. */
WR_MUST_USE enum wr_status notifications_record(const struct notifications *n,
                                                const struct notification *notification,
                                                const struct change_source *source,
                                                struct wr_arena *scratch, struct record *out,
                                                struct wr_error *err);

#endif /* WR_ROUTER_NOTIFICATION_H */
