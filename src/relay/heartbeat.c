/* Heartbeats: a record by timer, and with it the statement of heartbeat.action.query. */
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "config/config.h"
#include "relay/delivery.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/state.h"
#include "streamer/action.h"

enum { ACTION_LOOK_US = 10000 }; /* how soon a statement that runs is looked at again */

struct heartbeat {
    struct action *action; /* NULL: there is none */
    int64_t interval_us;
    int64_t due_us;
};

void relay_open_heartbeat(struct relay *r)
{
    const char *query = r->config->heartbeat_action_query;

    if (r->config->heartbeat_interval_ms == 0) {
        return;
    }
    struct heartbeat *heartbeat = calloc(1, sizeof(*heartbeat));
    if (heartbeat == NULL) {
        abort();
    }
    heartbeat->interval_us = r->config->heartbeat_interval_ms * 1000;
    heartbeat->due_us = wr_clock_monotonic_us() + heartbeat->interval_us;
    if (query != NULL && query[0] != '\0') {
        heartbeat->action = action_new(r->config, query);
    }
    r->heartbeat = heartbeat;
}

void relay_close_heartbeat(struct relay *r)
{
    if (r->heartbeat != NULL) {
        action_free(r->heartbeat->action);
        free(r->heartbeat);
        r->heartbeat = NULL;
    }
}

/*
 * Between transactions, because the record takes part in what is confirmed: as a transaction of its
 * own, that ends with what was received before it.
 */
enum wr_status relay_beat(struct relay *r, struct wr_error *err)
{
    struct heartbeat *heartbeat = r->heartbeat;

    if (heartbeat == NULL) {
        return WR_OK;
    }
    if (heartbeat->action != NULL && action_is_running(heartbeat->action)) {
        action_serve(heartbeat->action);
    }
    int64_t now_us = wr_clock_monotonic_us();
    wr_lsn lsn = ledger_received(r->ledger);
    if (now_us < heartbeat->due_us || ledger_is_open(r->ledger) || relay_is_paused(r) || lsn == 0) {
        return WR_OK;
    }
    heartbeat->due_us = now_us + heartbeat->interval_us;
    intake_clock(r->intake, wr_clock_realtime_ns());
    enum wr_status status = intake_heartbeat(r->intake, lsn, err);
    if (status == WR_OK && r->delivery != NULL) {
        delivery_mark(r); /* it is a transaction of its own, and may be committed */
    }
    if (status == WR_OK && heartbeat->action != NULL) {
        action_start(heartbeat->action);
    }
    return status;
}

int64_t relay_until_beat_us(const struct relay *r)
{
    const struct heartbeat *heartbeat = r->heartbeat;

    if (heartbeat == NULL) {
        return INT64_MAX;
    }
    int64_t left_us = heartbeat->due_us - wr_clock_monotonic_us();
    if (heartbeat->action != NULL && action_is_running(heartbeat->action) &&
        left_us > ACTION_LOOK_US) {
        left_us = ACTION_LOOK_US;
    }
    return left_us > 0 ? left_us : 0;
}
