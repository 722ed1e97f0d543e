/* router/heartbeat.h - the record that says, by timer, that walrelay is alive. */
#ifndef WR_ROUTER_HEARTBEAT_H
#define WR_ROUTER_HEARTBEAT_H

#include "base/slice.h"
#include "base/status.h"
#include "router/record.h"

struct config;
struct schemas;
struct wr_arena;
struct wr_buffer;

/* Inits `out` with the name of the topic: topic.heartbeat.name, or prefix and topic.prefix. */
void heartbeat_topic(const struct config *config, struct wr_buffer *out);

/* A heartbeat at `source->now_ns`, as Debezium has them. Its values live in `scratch`; WR_FATAL:
 * it is full. */
WR_MUST_USE enum wr_status heartbeat_record(const struct schemas *schemas, struct wr_slice topic,
                                            const struct change_source *source,
                                            struct wr_arena *scratch, struct record *out,
                                            struct wr_error *err);

#endif /* WR_ROUTER_HEARTBEAT_H */
