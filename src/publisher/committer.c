#include "publisher/committer.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum job_state { JOB_NONE, JOB_RUNNING, JOB_DONE };

struct committer {
    pthread_t thread;
    pthread_mutex_t mutex; /* only to sleep by: what changes hands does so with `state` */
    pthread_cond_t wakes;
    void (*run)(void *context);
    void *context;
    int fd;
    _Atomic int state;
    bool is_ending;
};

static void *work(void *argument)
{
    static const uint64_t one = 1;
    struct committer *c = argument;

    (void)pthread_mutex_lock(&c->mutex);
    while (!c->is_ending) {
        if (atomic_load(&c->state) != JOB_RUNNING) {
            (void)pthread_cond_wait(&c->wakes, &c->mutex);
            continue;
        }
        (void)pthread_mutex_unlock(&c->mutex);
        c->run(c->context);
        atomic_store(&c->state, JOB_DONE);
        ssize_t size = write(c->fd, &one, sizeof(one));
        (void)size; /* an eventfd that is full wakes as well */
        (void)pthread_mutex_lock(&c->mutex);
    }
    (void)pthread_mutex_unlock(&c->mutex);
    return NULL;
}

struct committer *committer_new(void (*run)(void *context), void *context, int fd)
{
    struct committer *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        abort();
    }
    c->run = run;
    c->context = context;
    c->fd = fd;
    (void)pthread_mutex_init(&c->mutex, NULL);
    (void)pthread_cond_init(&c->wakes, NULL);
    if (pthread_create(&c->thread, NULL, work, c) != 0) {
        abort();
    }
    return c;
}

void committer_start(struct committer *c)
{
    (void)pthread_mutex_lock(&c->mutex);
    assert(atomic_load(&c->state) == JOB_NONE);
    atomic_store(&c->state, JOB_RUNNING);
    (void)pthread_cond_signal(&c->wakes);
    (void)pthread_mutex_unlock(&c->mutex);
}

bool committer_is_busy(const struct committer *c)
{
    return atomic_load(&c->state) != JOB_NONE;
}

bool committer_take(struct committer *c)
{
    if (atomic_load(&c->state) != JOB_DONE) {
        return false;
    }
    atomic_store(&c->state, JOB_NONE);
    return true;
}

void committer_free(struct committer *c)
{
    if (c == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&c->mutex);
    c->is_ending = true;
    (void)pthread_cond_signal(&c->wakes);
    (void)pthread_mutex_unlock(&c->mutex);
    (void)pthread_join(c->thread, NULL);
    (void)pthread_cond_destroy(&c->wakes);
    (void)pthread_mutex_destroy(&c->mutex);
    free(c);
}
