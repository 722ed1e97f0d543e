/* streamer/message_send.h - a logical message to whoever reads a slot. */
#ifndef WR_STREAMER_MESSAGE_SEND_H
#define WR_STREAMER_MESSAGE_SEND_H

#include <stdbool.h>

#include "base/lsn.h"
#include "base/status.h"

struct config;

struct message_receipt {
    wr_lsn lsn;
    bool is_read; /* the slot is active: somebody reads it now */
};

/*
 * Writes a transactional logical message, and waits for that. WR_FATAL: there is no slot.name that
 * could bring it to a relay; nothing was written then.
 */
WR_MUST_USE enum wr_status message_send(const struct config *config, const char *prefix,
                                        const char *content, struct message_receipt *out,
                                        struct wr_error *err);

#endif /* WR_STREAMER_MESSAGE_SEND_H */
