#include "sink/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "sink/batch.h"
#include "sink/sink.h"

enum {
    REASON_SIZE_MAX = 1024,
    REPEAT_US = 30000000, /* how often an outage that goes on is told again */
};

enum job { JOB_NONE, JOB_OPEN, JOB_APPLY, JOB_QUIT };

struct sink_report {
    struct worker *worker;
    struct batch *batch;
    /* An outage: tries in a row that have failed. */
    int64_t tries;
    int64_t since_us, told_us;
    char told[sizeof(((struct wr_error *)NULL)->text)];
};

/* The mutex guards `job`, `is_done`, `status` and `err`; the target is the thread's while a job is
 * under way, the consumer's otherwise. */
struct worker {
    const struct sink_target_ops *ops;
    const struct sink_setup *setup;
    struct worker_backoff backoff;
    struct sink_target *target;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum job job;
    struct batch *batch;
    bool is_done;
    enum wr_status status;
    struct wr_error err;
    _Atomic bool is_cancelled;
    int fd;
    unsigned int seed; /* of the jitter */
    struct sink_report report;
};

void sink_reject(struct sink_report *report, size_t index, const char *format, ...)
{
    char reason[REASON_SIZE_MAX];
    va_list args;

    assert(index < report->batch->record_count);
    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    batch_refuse(report->batch, report->batch->record_messages[index], reason);
}

void sink_newer(struct sink_report *report, size_t index, uint64_t version)
{
    assert(index < report->batch->record_count);
    report->batch->superseded++;
    report->batch->newer[index] = version;
}

bool sink_is_cancelled(const struct sink_report *report)
{
    return atomic_load(&report->worker->is_cancelled);
}

/* Once when an outage begins, when its reason changes, and now and then. */
static void tell_outage(struct sink_report *report, const struct wr_error *err)
{
    int64_t now_us = wr_clock_monotonic_us();
    bool is_new = report->tries == 0 || strcmp(report->told, err->text) != 0 ||
                  now_us - report->told_us > REPEAT_US;

    if (report->tries == 0) {
        report->since_us = now_us;
    }
    if (is_new) {
        wr_log(WR_LOG_WARN, err->where, WR_MSG(err->text),
               WR_STR("route", report->worker->setup->route->name),
               WR_STR("then", "tried again until it works"));
        (void)snprintf(report->told, sizeof(report->told), "%s", err->text);
        report->told_us = now_us;
    }
}

void sink_progress(struct sink_report *report)
{
    if (report->tries > 0) {
        wr_log(WR_LOG_INFO, "sink", WR_MSG("the target takes records again"),
               WR_STR("route", report->worker->setup->route->name),
               WR_INT("after_ms", (wr_clock_monotonic_us() - report->since_us) / 1000));
    }
    report->tries = 0;
}

static struct timespec after_ms(int64_t ms)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)(ms / 1000);
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    at.tv_sec += at.tv_nsec >= 1000000000 ? 1 : 0;
    at.tv_nsec -= at.tv_nsec >= 1000000000 ? 1000000000 : 0;
    return at;
}

/* Doubles with each try; between half of that and all, so that many do not come at once. */
static int64_t backoff_ms(struct worker *w, int64_t tries)
{
    int64_t ms = w->backoff.ms_min;

    for (int64_t i = 0; i < tries && ms < w->backoff.ms_max; i++) {
        ms *= 2;
    }
    ms = ms > w->backoff.ms_max ? w->backoff.ms_max : ms;
    return ms / 2 + (int64_t)rand_r(&w->seed) % (ms / 2 + 1);
}

static bool is_last_try(const struct sink_report *report)
{
    int64_t most = report->worker->backoff.tries_max; /* errors.max.retries */

    return most >= 0 && report->tries >= most;
}

bool sink_wait(struct sink_report *report, const struct wr_error *err)
{
    struct worker *w = report->worker;

    if (is_last_try(report)) {
        return false;
    }
    tell_outage(report, err);
    struct timespec until = after_ms(backoff_ms(w, report->tries++));
    (void)pthread_mutex_lock(&w->mutex);
    int code = 0;
    while (code != ETIMEDOUT && !atomic_load(&w->is_cancelled)) {
        code = pthread_cond_timedwait(&w->changed, &w->mutex, &until);
    }
    (void)pthread_mutex_unlock(&w->mutex);
    return !atomic_load(&w->is_cancelled);
}

static enum wr_status try_once(struct worker *w, enum job job, struct wr_error *err)
{
    if (job == JOB_OPEN) {
        return w->ops->open(w->setup, &w->target, err);
    }
    batch_rewind(w->batch);
    if (w->batch->record_count == 0) {
        return WR_OK;
    }
    return w->ops->apply(w->target, w->batch->records, w->batch->record_count, &w->report, err);
}

static enum wr_status work(struct worker *w, enum job job, struct wr_error *err)
{
    enum wr_status status = WR_RETRY;

    while (!atomic_load(&w->is_cancelled)) {
        status = try_once(w, job, err);
        if (status != WR_RETRY) {
            break;
        }
        if (atomic_load(&w->is_cancelled)) {
            break;
        }
        if (is_last_try(&w->report)) {
            err->status = WR_FATAL;
            return WR_FATAL;
        }
        (void)sink_wait(&w->report, err);
    }
    if (status == WR_OK) {
        sink_progress(&w->report);
    } else if (status != WR_RETRY) {
        status = WR_FATAL;
    }
    return status;
}

static void finish(struct worker *w, enum wr_status status, const struct wr_error *err)
{
    static const uint64_t one = 1;

    w->job = JOB_NONE;
    w->is_done = true;
    w->status = status;
    w->err = *err;
    (void)pthread_cond_broadcast(&w->changed);
    (void)!write(w->fd, &one, sizeof(one));
}

static void *run(void *argument)
{
    struct worker *w = argument;

    (void)pthread_mutex_lock(&w->mutex);
    while (w->job != JOB_QUIT) {
        if (w->job == JOB_NONE) {
            (void)pthread_cond_wait(&w->changed, &w->mutex);
            continue;
        }
        enum job job = w->job;
        struct wr_error err = {0};
        (void)pthread_mutex_unlock(&w->mutex);
        enum wr_status status = work(w, job, &err);
        (void)pthread_mutex_lock(&w->mutex);
        finish(w, status, &err);
    }
    (void)pthread_mutex_unlock(&w->mutex);
    return NULL;
}

struct worker *worker_new(const struct sink_target_ops *ops, const struct sink_setup *setup,
                          const struct worker_backoff *backoff)
{
    struct worker *w = calloc(1, sizeof(*w));
    pthread_condattr_t attributes;

    assert(w != NULL);
    w->ops = ops;
    w->setup = setup;
    w->backoff = *backoff;
    w->report.worker = w;
    w->seed = (unsigned int)wr_clock_realtime_ns();
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&w->mutex, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&w->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    int code = pthread_create(&w->thread, NULL, run, w);
    assert(code == 0);
    (void)code;
    return w;
}

static void start(struct worker *w, enum job job, struct batch *batch)
{
    (void)pthread_mutex_lock(&w->mutex);
    assert(w->job == JOB_NONE && !w->is_done);
    atomic_store(&w->is_cancelled, false);
    w->batch = batch;
    w->report.batch = batch;
    w->job = job;
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
}

void worker_free(struct worker *w)
{
    if (w == NULL) {
        return;
    }
    worker_cancel(w);
    (void)worker_wait(w, INT64_MAX / 2);
    w->is_done = false;
    start(w, JOB_QUIT, NULL);
    (void)pthread_join(w->thread, NULL);
    if (w->target != NULL) {
        w->ops->close(w->target);
    }
    (void)pthread_cond_destroy(&w->changed);
    (void)pthread_mutex_destroy(&w->mutex);
    (void)close(w->fd);
    free(w);
}

int worker_fd(const struct worker *w)
{
    return w->fd;
}

void worker_start_open(struct worker *w)
{
    start(w, JOB_OPEN, NULL);
}

void worker_start_apply(struct worker *w, struct batch *batch)
{
    start(w, JOB_APPLY, batch);
}

enum wr_status worker_result(struct worker *w, struct wr_error *err)
{
    uint64_t count = 0;
    enum wr_status status = WR_AGAIN;

    (void)pthread_mutex_lock(&w->mutex);
    if (w->is_done) {
        (void)!read(w->fd, &count, sizeof(count));
        w->is_done = false;
        status = w->status;
        *err = w->err;
    }
    (void)pthread_mutex_unlock(&w->mutex);
    return status;
}

bool worker_wait(struct worker *w, int64_t timeout_ms)
{
    struct timespec until = after_ms(timeout_ms);
    int code = 0;

    (void)pthread_mutex_lock(&w->mutex);
    while (code != ETIMEDOUT && w->job != JOB_NONE) {
        code = pthread_cond_timedwait(&w->changed, &w->mutex, &until);
    }
    bool is_idle = w->job == JOB_NONE;
    (void)pthread_mutex_unlock(&w->mutex);
    return is_idle;
}

void worker_cancel(struct worker *w)
{
    (void)pthread_mutex_lock(&w->mutex);
    atomic_store(&w->is_cancelled, true);
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
}

enum wr_status worker_position(struct worker *w, const char *topic, int32_t partition,
                               int64_t *offset, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    if (w->ops->position == NULL) {
        return WR_OK;
    }
    do {
        int64_t found = -1;
        status = w->ops->position(w->target, topic, partition, &found, err);
        if (status == WR_OK && found >= 0) {
            *offset = found;
        }
    } while (status == WR_RETRY && sink_wait(&w->report, err));
    return status == WR_RETRY ? WR_FATAL : status;
}
