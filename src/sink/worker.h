/* sink/worker.h - the thread that waits for the target, so that Kafka is polled meanwhile. */
#ifndef WR_SINK_WORKER_H
#define WR_SINK_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct batch;
struct sink_setup;
struct sink_target;
struct sink_target_ops;
struct worker;

/* Of its waits between two tries. */
struct worker_backoff {
    int64_t ms_min, ms_max;
    int64_t tries_max; /* -1: for ever */
};

struct worker *worker_new(const struct sink_target_ops *ops, const struct sink_setup *setup,
                          const struct worker_backoff *backoff);
/* Waits for what is under way, and closes the target. NULL is allowed. */
void worker_free(struct worker *w);

/* Readable when what was started has come to its end. */
int worker_fd(const struct worker *w);
/* One at a time: opens the target, or applies a batch, again and again until it works. */
void worker_start_open(struct worker *w);
void worker_start_apply(struct worker *w, struct batch *batch);
/* WR_AGAIN while it is under way; WR_RETRY: it was cancelled. Its result is told once. */
WR_MUST_USE enum wr_status worker_result(struct worker *w, struct wr_error *err);
/* Waits for the end, at most `timeout_ms`. False when it is still under way. */
bool worker_wait(struct worker *w, int64_t timeout_ms);
void worker_cancel(struct worker *w);

/* From the consumer's thread, only while nothing is under way; tried until it works or is
 * cancelled. */
WR_MUST_USE enum wr_status worker_position(struct worker *w, const char *topic, int32_t partition,
                                           int64_t *offset, struct wr_error *err);

#endif /* WR_SINK_WORKER_H */
