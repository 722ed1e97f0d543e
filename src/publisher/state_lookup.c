#include "publisher/state_lookup.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/limits.h"
#include "publisher/state_topic.h"

enum { NAME_SIZE_MAX = 1024, RETRY_MS = 100 };

struct state_lookup {
    const struct config *config;
    char topic[NAME_SIZE_MAX], key[NAME_SIZE_MAX];
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t answers;
    bool is_done;
    _Atomic bool is_closing;
    struct wr_buffer value;
    bool is_found;
    enum wr_status status;
    struct wr_error err;
};

static void take_record(void *context, struct wr_slice key, struct wr_slice value)
{
    struct state_lookup *l = context;

    if (key.size != strlen(l->key) || memcmp(key.data, l->key, key.size) != 0) {
        return;
    }
    wr_buffer_reset(&l->value);
    l->is_found = value.data != NULL;
    wr_buffer_add_slice(&l->value, value);
}

static enum wr_status ask(struct state_lookup *l)
{
    l->is_found = false;
    enum wr_status status =
        state_topic_read(l->config, l->topic, l, take_record, &l->is_closing, &l->err);

    if (status == WR_OK && l->value.failed) {
        return wr_fail(&l->err, WR_FATAL, "kafka",
                       "the value of \"%s\" in topic %s is larger than "
                       "%d bytes",
                       l->key, l->topic, WR_RECORD_SIZE_MAX);
    }
    return status == WR_OK && !l->is_found
               ? state_topic_prepare(l->config, l->topic, &l->is_closing, &l->err)
               : status;
}

static void *work(void *argument)
{
    struct state_lookup *l = argument;
    struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};

    l->status = ask(l);
    while (l->status == WR_RETRY && !atomic_load(&l->is_closing)) {
        (void)nanosleep(&pause, NULL);
        l->status = ask(l);
    }
    (void)pthread_mutex_lock(&l->mutex);
    l->is_done = true;
    (void)pthread_cond_signal(&l->answers);
    (void)pthread_mutex_unlock(&l->mutex);
    return NULL;
}

struct state_lookup *state_lookup_start(const struct config *config, const char *topic,
                                        const char *key)
{
    struct state_lookup *l = calloc(1, sizeof(*l));

    if (l == NULL) {
        abort();
    }
    l->config = config;
    (void)snprintf(l->topic, sizeof(l->topic), "%s", topic);
    (void)snprintf(l->key, sizeof(l->key), "%s", key);
    wr_buffer_init(&l->value, WR_RECORD_SIZE_MAX);
    (void)pthread_mutex_init(&l->mutex, NULL);
    (void)pthread_cond_init(&l->answers, NULL);
    if (pthread_create(&l->thread, NULL, work, l) != 0) {
        abort();
    }
    return l;
}

bool state_lookup_wait(struct state_lookup *l, int64_t timeout_ms)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    int64_t ns = until.tv_nsec + timeout_ms % 1000 * 1000000;
    until.tv_sec += timeout_ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    (void)pthread_mutex_lock(&l->mutex);
    int code = 0;
    while (!l->is_done && timeout_ms > 0 && code == 0) {
        code = pthread_cond_timedwait(&l->answers, &l->mutex, &until);
    }
    bool is_done = l->is_done;
    (void)pthread_mutex_unlock(&l->mutex);
    return is_done;
}

enum wr_status state_lookup_result(const struct state_lookup *l, struct wr_slice *value,
                                   struct wr_error *err)
{
    *value = l->is_found ? wr_buffer_slice(&l->value) : (struct wr_slice){0};
    if (l->is_found && value->data == NULL) {
        *value = WR_SLICE(""); /* there, and empty */
    }
    if (l->status != WR_OK) {
        *err = l->err;
    }
    return l->status;
}

void state_lookup_free(struct state_lookup *l)
{
    if (l == NULL) {
        return;
    }
    atomic_store(&l->is_closing, true);
    (void)pthread_join(l->thread, NULL);
    (void)pthread_cond_destroy(&l->answers);
    (void)pthread_mutex_destroy(&l->mutex);
    wr_buffer_done(&l->value);
    free(l);
}
