/* sink/redis_link.h - a connection to one Redis server, plain or TLS. */
#ifndef WR_SINK_REDIS_LINK_H
#define WR_SINK_REDIS_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "base/status.h"

struct redisReply;
struct redis_link;
struct sink_report;
struct sink_setup;

/* Connects, and shakes hands when the scheme is rediss. WR_RETRY when nobody answers; WR_FATAL when
 * what answers cannot be trusted. */
WR_MUST_USE enum wr_status redis_link_open(const struct sink_setup *setup, struct redis_link **out,
                                           struct wr_error *err);
void redis_link_close(struct redis_link *link); /* NULL is allowed */

/*
 * Sends `commands` and takes as many replies, in order, giving each to `take` (which must not keep
 * it). Reading and writing go on side by side, so that no buffer in between can fill up. `report`
 * may be NULL. WR_RETRY when the connection is lost, silent for the configured timeout, or no
 * longer wanted: close it then, some of the commands may have been done.
 */
WR_MUST_USE enum wr_status redis_link_exchange(struct redis_link *link, struct wr_slice commands,
                                               size_t count, const struct sink_report *report,
                                               void (*take)(void *context, size_t index,
                                                            const struct redisReply *reply),
                                               void *context, struct wr_error *err);

#endif /* WR_SINK_REDIS_LINK_H */
