/* sink/sink.h - what a target is: all that has to be written for a server that follows a route. */
#ifndef WR_SINK_SINK_H
#define WR_SINK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "config/route_config.h"

struct config;

/*
 * One record of the route, borrowed for the call. Slices without `data` were not there. Records
 * that are no route's, or from a walrelay of the future, never come here: they are refused before.
 */
struct sink_record {
    struct wr_slice topic;
    int32_t partition;
    int64_t offset;
    struct wr_slice key, value;
    bool key_is_null, value_is_null;
    uint64_t lsn;               /* walrelay.lsn, the version: below 2^63 */
    uint64_t seq;               /* walrelay.seq, its place within that transaction */
    int64_t commit_us;          /* walrelay.commit, since 1970; 0: not known */
    char op;                    /* c, u, d, r or t */
    struct wr_slice table;      /* schema.table */
    struct wr_slice types;      /* walrelay.types, JSON */
    struct wr_slice left_out;   /* walrelay.unavailable, JSON */
    struct wr_slice moved_from; /* the key that the row had before */
};

/*
 * What a target says while it applies a batch. All may be called from within apply() only, which
 * runs on a thread of its own.
 */
struct sink_report;
/* This one record can never be applied, whatever is tried: errors.tolerance decides. Its neighbours
 * are applied all the same. Once a record; `format` says why, with the target's own words. */
void sink_reject(struct sink_report *report, size_t index, const char *format, ...) WR_PRINTF(3, 4);
/* The target already has newer data for this record: done, and counted. `version` is the one that
 * it has (0: it does not say). One that no record of the partition has, up to its end, is of
 * another source, and ends the sink. */
void sink_newer(struct sink_report *report, size_t index, uint64_t version);
/* True once the batch is no longer wanted: the partition is gone, or the sink stops. Whatever takes
 * long asks, and then returns WR_RETRY without ado. */
bool sink_is_cancelled(const struct sink_report *report);
/* For what tries again within apply() by itself, as single items of a request: logs `err`, waits
 * longer each time, with jitter. False once cancelled. */
bool sink_wait(struct sink_report *report, const struct wr_error *err);
/* What was tried within apply() has worked: the next wait is a short one again. */
void sink_progress(struct sink_report *report);

/* What a target is opened with; all of it outlives the target. */
struct sink_setup {
    const struct config *config;
    const struct route_config *route;
    const struct sink_url *url; /* of route->sink.url, taken apart (url.h) */
};

struct sink_target {
    const struct sink_target_ops *ops; /* the target's own struct begins with this one */
};

/*
 * All functions of a target are called by one thread at a time, and only one call is under way.
 * There may be several targets of one kind in a process, one a route: no state in globals.
 */
struct sink_target_ops {
    const char *schemes; /* of its URLs: "redis rediss" */
    enum route_type type;
    /* For a batch, where the configuration says nothing. wait_ms: how long it may gather. */
    int64_t batch_count, batch_bytes, wait_ms;

    /*
     * Connects and looks whether it can work there. WR_RETRY: not now (it is called again, by
     * itself, for ever); WR_FATAL: a wrong setting or password. `*out` is of no account then.
     */
    enum wr_status (*open)(const struct sink_setup *setup, struct sink_target **out,
                           struct wr_error *err);
    /*
     * Applies `records`: those of one partition are in the order of its log, those of one key are
     * in one partition. WR_OK: each one is in the target for good, superseded or rejected;
     * their offsets are committed. WR_RETRY: it may work later, as after an outage; the same batch
     * comes again, rejections start anew, and a lost connection is the target's to make again.
     * WR_FATAL: it cannot go on, `err` says why and what to do in one line.
     *
     * Any batch may come again, whole or cut otherwise: after a crash, a retry, or a rebalance.
     * That must change nothing, and older must never win over newer: compare `lsn`, then `seq`.
     */
    enum wr_status (*apply)(struct sink_target *target, const struct sink_record *records,
                            size_t count, struct sink_report *report, struct wr_error *err);
    /*
     * NULL where Kafka keeps the position. For a target that stores it together with the data: the
     * offset to go on from, -1 where it knows none (then Kafka's committed one counts). Called when
     * a partition is assigned, never during apply().
     */
    enum wr_status (*position)(struct sink_target *target, const char *topic, int32_t partition,
                               int64_t *offset, struct wr_error *err);
    void (*close)(struct sink_target *target);
};

/* The target of a URL's scheme for routes of that type; NULL: there is none. New ones: targets.c.
 */
const struct sink_target_ops *sink_target_find(enum route_type type, struct wr_slice scheme);
/* "redis, rediss": what sink_target_find() knows for that type, for messages. Static. */
const char *sink_target_schemes(enum route_type type);

/*
 * One route's sink, from its topics to its target, on the calling thread and one more. Returns
 * WR_OK after sinks_stop(), WR_FATAL when it cannot go on.
 */
struct sink;
WR_MUST_USE enum wr_status sink_new(const struct config *config, const struct route_config *route,
                                    struct sink **out, struct wr_error *err);
WR_MUST_USE enum wr_status sink_run(struct sink *sink, struct wr_error *err);
/* From any thread, also from a signal's: sink_run() comes to an end soon. */
void sink_stop(struct sink *sink);
void sink_free(struct sink *sink);

#endif /* WR_SINK_SINK_H */
