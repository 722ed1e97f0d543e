/* sink/topics.h - the topics of a route, as a pattern to subscribe to. */
#ifndef WR_SINK_TOPICS_H
#define WR_SINK_TOPICS_H

struct config;
struct route_config;
struct wr_arena;

/* "^shop\.search\.[^.]*$": a POSIX extended expression; tables stand for whatever name. */
const char *sink_topic_pattern(const struct config *config, const struct route_config *route,
                               struct wr_arena *arena);

#endif /* WR_SINK_TOPICS_H */
