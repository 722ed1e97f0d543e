/* golden/replay.h - recorded pgoutput through decoder, router and codec, without any service. */
#ifndef WR_TEST_REPLAY_H
#define WR_TEST_REPLAY_H

#include "base/status.h"
#include "decoder/catalog.h"

struct config;
struct kafka_records;
struct replay;

/* Adds what would have gone to Kafka to `out`. All three must outlive the replay. */
WR_MUST_USE enum wr_status replay_new(const struct config *config,
                                      const struct catalog_source *catalog,
                                      struct kafka_records *out, struct replay **replay,
                                      struct wr_error *err);
void replay_free(struct replay *replay);

/*
 * The rows inserted in a recorded stream, as a snapshot has them: table after table by name, each
 * with its place in the snapshot.
 */
WR_MUST_USE enum wr_status replay_snapshot(struct replay *replay, const char *path,
                                           struct wr_error *err);
/* A recorded stream, message after message. */
WR_MUST_USE enum wr_status replay_stream(struct replay *replay, const char *path,
                                         struct wr_error *err);

#endif /* WR_TEST_REPLAY_H */
