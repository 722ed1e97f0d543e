/* sink/progress.h - what a sink says of itself: how far it is, and what it refused. */
#ifndef WR_SINK_PROGRESS_H
#define WR_SINK_PROGRESS_H

#include <stdint.h>

#include "base/status.h"

struct batch;
struct consumer;
struct consumer_message;
struct route_config;

struct sink_progress {
    int64_t applied, superseded, refused, skipped; /* records, since the start */
    int64_t delay_us_max; /* from the commit to the target, since the last line */
    int64_t told_at_us;
    int64_t told_applied;
    int64_t refusals_told;
    struct wr_error failure; /* what a rebalance has found; status WR_OK: nothing */
};

void sink_progress_applied(struct sink_progress *p, const struct batch *b);
/* Logs a refused record: the first ones, later by their number. */
void sink_progress_refusal(struct sink_progress *p, const struct route_config *route,
                           const struct consumer_message *m, const char *reason);
/* WR_FATAL, naming the record that errors.tolerance=none stops at. */
enum wr_status sink_progress_fail(const struct route_config *route,
                                  const struct consumer_message *m, const char *reason,
                                  struct wr_error *err);
/* The lag, every sink.report.interval.ms: records that Kafka has in wait, and how long ago the
 * oldest of those that were read was committed. `applying` may be NULL. */
void sink_progress_log(struct sink_progress *p, const struct route_config *route,
                       struct consumer *c, const struct batch *applying,
                       const struct batch *filling, int64_t now_us);

#endif /* WR_SINK_PROGRESS_H */
