/* relay/message_signal.h - signals as logical messages: what `walrelay snapshot` sends. */
#ifndef WR_RELAY_MESSAGE_SIGNAL_H
#define WR_RELAY_MESSAGE_SIGNAL_H

#include "base/slice.h"
#include "base/status.h"

struct config;
struct signal;
struct wr_arena;
struct wr_buffer;

#define MESSAGE_SIGNAL_PREFIX "walrelay.signal"

/*
 * Anybody who may connect to the database may write logical messages, and a condition is SQL that
 * the relay runs. So a signal is signed with a secret that both know, signal.message.secret or the
 * password of the database; where there is none, "-" stands for the signature, and a condition is
 * refused.
 *
 *   content = signature ' ' {"id":…,"type":…,"data":{…}}
 */

/* Appends the content. */
void message_signal_write(const struct config *config, struct wr_slice json, struct wr_buffer *out);
/* WR_REJECT: it is not signed as it has to be, or is no signal. */
WR_MUST_USE enum wr_status message_signal_read(const struct config *config, struct wr_slice content,
                                               struct wr_arena *arena, struct signal *out,
                                               struct wr_error *err);

#endif /* WR_RELAY_MESSAGE_SIGNAL_H */
