/* relay/signal_channel.h - signals that come by Kafka. */
#ifndef WR_RELAY_SIGNAL_CHANNEL_H
#define WR_RELAY_SIGNAL_CHANNEL_H

#include "base/status.h"

struct relay;
struct signal_channel;

/* `*out` is NULL where the configuration names no topic. */
WR_MUST_USE enum wr_status signal_channel_open(struct relay *r, struct signal_channel **out,
                                               struct wr_error *err);
void signal_channel_close(struct signal_channel *channel); /* NULL is allowed */

/* Carries out what has come. */
WR_MUST_USE enum wr_status signal_channel_turn(struct signal_channel *channel,
                                               struct wr_error *err);
/* -1 without a channel. */
int signal_channel_fd(const struct signal_channel *channel);

#endif /* WR_RELAY_SIGNAL_CHANNEL_H */
