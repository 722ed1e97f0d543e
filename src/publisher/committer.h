/* publisher/committer.h - one thread for calls that block, with one job at a time. */
#ifndef WR_PUBLISHER_COMMITTER_H
#define WR_PUBLISHER_COMMITTER_H

#include <stdbool.h>

struct committer;

/*
 * `run` is called on the thread, once for each job; what it works with belongs to it from
 * committer_start() until committer_take() has said that the job is done. Then `fd`, an eventfd,
 * becomes readable.
 */
struct committer *committer_new(void (*run)(void *context), void *context, int fd);
void committer_start(struct committer *c);
bool committer_is_busy(const struct committer *c);
/* True once for each job that is done. */
bool committer_take(struct committer *c);
/* Waits for the job that is running. NULL is allowed. */
void committer_free(struct committer *c);

#endif /* WR_PUBLISHER_COMMITTER_H */
