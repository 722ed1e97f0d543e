/*
 * A signal is read once: its place is committed when Kafka has acknowledged what it made us
 * remember. A crash in between brings it again.
 */
#include "relay/signal_channel.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "config/config.h"
#include "publisher/signal_topic.h"
#include "relay/incremental.h"
#include "relay/ledger.h"
#include "relay/signal.h"
#include "relay/state.h"

enum { SIGNAL_SIZE_MAX = 16 << 20 };

struct signal_channel {
    struct relay *r;
    struct signal_topic *topic;
    struct wr_slice again; /* a signal that could not be carried out yet; data NULL: none */
    bool is_pending;       /* something was carried out and is not committed */
    bool is_marked;        /* `behind` says since when */
    ledger_ticket behind;  /* once the ledger has passed it, it is acknowledged */
};

enum wr_status signal_channel_open(struct relay *r, struct signal_channel **out,
                                   struct wr_error *err)
{
    *out = NULL;
    if (!r->config->signal_by_kafka || r->options->to_stdout) {
        return WR_OK;
    }
    struct signal_channel *channel = calloc(1, sizeof(*channel));
    if (channel == NULL) {
        abort();
    }
    channel->r = r;
    *out = channel;
    return signal_topic_open(r->config, &channel->topic, err);
}

void signal_channel_close(struct signal_channel *channel)
{
    if (channel != NULL) {
        signal_topic_close(channel->topic);
        free(channel);
    }
}

static enum wr_status carry_out(struct signal_channel *channel, struct wr_slice value,
                                struct wr_error *err)
{
    struct wr_arena *arena = wr_arena_new(SIGNAL_SIZE_MAX);
    struct signal signal;
    enum wr_status status = signal_read_whole(value, arena, &signal, err);

    if (status == WR_OK) {
        status = incremental_signal(channel->r->incremental, &signal, err);
    } else if (status == WR_REJECT) {
        wr_log(WR_LOG_ERROR, "signal", WR_MSG("a signal is passed over"),
               WR_STR("reason", err->text));
        status = WR_OK;
    }
    wr_arena_free(arena);
    return status;
}

static void commit(struct signal_channel *channel)
{
    const struct ledger *ledger = channel->r->ledger;

    if (channel->is_pending && !channel->is_marked && !ledger_is_open(ledger)) {
        channel->behind = ledger_mark(ledger);
        channel->is_marked = true;
    }
    if (channel->is_marked && ledger_has_passed(ledger, channel->behind)) {
        signal_topic_commit(channel->topic);
        channel->is_pending = channel->is_marked = false;
    }
}

enum wr_status signal_channel_turn(struct signal_channel *channel, struct wr_error *err)
{
    if (channel == NULL) {
        return WR_OK;
    }
    commit(channel);
    if (channel->is_pending || !ledger_has_room(channel->r->ledger)) {
        return WR_OK; /* one after the other */
    }
    struct wr_slice value = channel->again;
    enum wr_status status =
        value.data == NULL ? signal_topic_next(channel->topic, &value, err) : WR_OK;
    if (status == WR_OK) {
        status = carry_out(channel, value, err);
        channel->again = status == WR_RETRY ? value : (struct wr_slice){NULL, 0};
        channel->is_pending = status == WR_OK;
    }
    return status == WR_AGAIN ? WR_OK : status;
}

int signal_channel_fd(const struct signal_channel *channel)
{
    return channel == NULL ? -1 : signal_topic_fd(channel->topic);
}
