/* streamer/action.h - SQL of the user's, run beside the stream without ever waiting for it. */
#ifndef WR_STREAMER_ACTION_H
#define WR_STREAMER_ACTION_H

#include <stdbool.h>

struct action;
struct config;

/*
 * On a connection of its own, with the role's own settings (nothing is pinned), made when it is
 * needed and again after it was lost. What goes wrong is logged, and that is all: a heartbeat is no
 * reason to stop. `sql` must outlive it.
 */
struct action *action_new(const struct config *config, const char *sql);
void action_free(struct action *action); /* NULL is allowed */

/* Starts it. When the last one has not ended, it is not started, which is logged. */
void action_start(struct action *action);
/* Goes on with it as far as that needs no waiting. To be called now and then while it runs. */
void action_serve(struct action *action);
bool action_is_running(const struct action *action);

#endif /* WR_STREAMER_ACTION_H */
