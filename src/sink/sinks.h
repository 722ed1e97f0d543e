/* sink/sinks.h - the sinks of one process, a thread each. */
#ifndef WR_SINK_SINKS_H
#define WR_SINK_SINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct config;
struct sinks;

/*
 * Starts the sink of the route with that name; of every route that has a sink.url where `route` is
 * NULL. WR_FATAL when there is none or one cannot be set up: then nothing was started. SIGTERM and
 * SIGINT must be blocked by then, so that no other thread takes them.
 */
WR_MUST_USE enum wr_status sinks_start(const struct config *config, const char *route,
                                       struct sinks **out, struct wr_error *err);
/* Readable once one of them has ended by itself, which it does only when it cannot go on. The
 * others run on. */
int sinks_fd(const struct sinks *s);
/* Stops those that run, waits for them and frees all. False when one had failed, which was logged.
 */
bool sinks_stop(struct sinks *s);

/* `walrelay sink ROUTE`: until SIGTERM, SIGINT or a failure, which is logged. */
bool sinks_run_one(const struct config *config, const char *route);

#endif /* WR_SINK_SINKS_H */
