/* sink/targets.h - the targets there are. */
#ifndef WR_SINK_TARGETS_H
#define WR_SINK_TARGETS_H

struct sink_target_ops;

extern const struct sink_target_ops redis_target;
extern const struct sink_target_ops search_target;

#endif /* WR_SINK_TARGETS_H */
