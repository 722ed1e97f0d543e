/*
 * One route's sink. The calling thread reads Kafka and gathers a batch while the worker's thread
 * waits for the target with the one before. Only one batch is on its way at any time, so that of
 * two changes of a key the later one always arrives later.
 *
 * What may be committed: the offsets of batches that the target has taken, up to the first record
 * of a partition that was refused and has no dead letter. When the partitions go, the batch on its
 * way is waited for a while and then given up; whoever gets them begins behind what was committed,
 * and what the target had already is written once more, which changes nothing.
 */
#include "sink/sink.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "sink/batch.h"
#include "sink/consumer.h"
#include "sink/progress.h"
#include "sink/topics.h"
#include "sink/url.h"
#include "sink/worker.h"

enum {
    SINK_ARENA_SIZE_MAX = 1 << 20,
    HOLD_MS = 1000,        /* a full batch that waits longer pauses the partitions */
    COMMIT_MS = 1000,      /* between commits while records come */
    COMMIT_SOON_MS = 100,  /* once there is nothing more to do */
    IDLE_MS = 1000,        /* the longest time without a look at Kafka */
    HAND_OVER_MS = 5000,   /* for the batch on its way when the partitions go */
    POLL_COUNT_MAX = 1000, /* records in a row before the worker is looked at */
};

struct sink {
    const struct config *config;
    const struct route_config *route;
    const struct sink_target_ops *ops;
    struct wr_arena *arena;
    struct sink_url url;
    struct sink_setup setup;
    const char *group;
    const char *topic_pattern;
    struct worker *worker;
    struct consumer *consumer;
    int stop_fd;
    bool is_stopping;

    struct batch batches[2];
    struct batch *filling, *applying; /* applying: NULL while the worker is idle */
    /* One record that begins the next batch, since its transaction is another one. */
    struct sink_record ahead;
    struct consumer_message *ahead_message;
    int64_t batch_count, batch_bytes, wait_us;
    int64_t full_since_us;
    bool has_news; /* something to commit */
    int64_t committed_us;
    struct sink_progress progress;
};

static enum wr_status on_assign(void *context, const char *topic, int32_t partition,
                                int64_t *offset, struct wr_error *err)
{
    struct sink *s = context;

    return worker_position(s->worker, topic, partition, offset, err);
}

static enum wr_status take_applied(struct sink *s, struct wr_error *err);

static void drop_gathered(struct sink *s)
{
    batch_reset(s->filling, s->consumer);
    if (s->ahead_message != NULL) {
        consumer_message_free(s->consumer, s->ahead_message);
        s->ahead_message = NULL;
    }
}

static void on_revoke(void *context, bool is_lost)
{
    struct sink *s = context;
    struct wr_error err = {0};

    if (s->applying != NULL) {
        if (is_lost || !worker_wait(s->worker, HAND_OVER_MS)) {
            worker_cancel(s->worker);
            (void)worker_wait(s->worker, INT32_MAX);
        }
        enum wr_status status = take_applied(s, &err);
        if (status == WR_FATAL) {
            s->progress.failure = err;
        }
    }
    drop_gathered(s);
}

static int64_t either(int64_t configured, int64_t otherwise)
{
    return configured >= 0 ? configured : otherwise;
}

static enum wr_status read_url(struct sink *s, struct wr_error *err)
{
    const char *url = s->route->sink.url;

    if (url == NULL) {
        return wr_fail(err, WR_FATAL, "sink",
                       "routes.%s.sink.url is not set: where shall its records go?",
                       s->route->name);
    }
    enum wr_status status = sink_url_parse(url, s->arena, &s->url, err);
    if (status != WR_OK) {
        char reason[sizeof(err->text)];
        memcpy(reason, err->text, sizeof(reason));
        return wr_fail(err, WR_FATAL, "sink", "routes.%s.sink.url: %.500s", s->route->name, reason);
    }
    s->ops = sink_target_find(s->route->type, wr_slice_str(s->url.scheme));
    if (s->ops == NULL) {
        return wr_fail(
            err, WR_FATAL, "sink",
            "routes.%s.sink.url begins with %.50s://, which routes of this type do not know: %s",
            s->route->name, s->url.scheme, sink_target_schemes(s->route->type));
    }
    return WR_OK;
}

enum wr_status sink_new(const struct config *config, const struct route_config *route,
                        struct sink **out, struct wr_error *err)
{
    struct sink *s = calloc(1, sizeof(*s));

    assert(s != NULL);
    *out = NULL;
    s->config = config;
    s->route = route;
    s->arena = wr_arena_new(SINK_ARENA_SIZE_MAX);
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum wr_status status = read_url(s, err);
    if (status != WR_OK) {
        sink_free(s);
        return status;
    }
    s->setup = (struct sink_setup){.config = config, .route = route, .url = &s->url};
    s->group =
        route->sink.group == NULL
            ? wr_arena_printf(s->arena, "walrelay.%s.%s",
                              config->topic_prefix == NULL ? "" : config->topic_prefix, route->name)
            : route->sink.group;
    s->topic_pattern = sink_topic_pattern(config, route, s->arena);
    s->batch_count = either(route->sink.batch_count, s->ops->batch_count);
    s->batch_bytes = either(route->sink.batch_bytes, s->ops->batch_bytes);
    s->wait_us = either(route->sink.wait_ms, s->ops->wait_ms) * 1000;
    s->filling = &s->batches[0];
    *out = s;
    return WR_OK;
}

void sink_free(struct sink *s)
{
    if (s == NULL) {
        return;
    }
    (void)close(s->stop_fd);
    wr_arena_free(s->arena);
    free(s);
}

void sink_stop(struct sink *s)
{
    static const uint64_t one = 1;

    (void)!write(s->stop_fd, &one, sizeof(one));
}

static bool is_full(const struct sink *s, const struct batch *b, int64_t times)
{
    return (int64_t)b->message_count >= s->batch_count * times ||
           (int64_t)b->bytes >= s->batch_bytes * times;
}

/* A transaction is not cut where it need not be: a row that moves to another key is two records,
 * which a target may have to see together. */
static bool begins_next(const struct sink *s, const struct sink_record *record)
{
    const struct batch *b = s->filling;

    if (!is_full(s, b, 1)) {
        return false;
    }
    const struct sink_record *last = b->record_count == 0 ? NULL : &b->records[b->record_count - 1];
    bool continues = last != NULL && last->lsn == record->lsn &&
                     last->partition == record->partition &&
                     wr_slice_eq(last->topic, record->topic);
    return !continues || is_full(s, b, 2);
}

static void take_ahead(struct sink *s)
{
    if (s->ahead_message != NULL) {
        batch_add(s->filling, &s->ahead, s->ahead_message);
        s->ahead_message = NULL;
    }
}

/* Reads what Kafka has at hand, until the batch is full. */
static enum wr_status gather(struct sink *s, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    for (int i = 0; status == WR_OK && i < POLL_COUNT_MAX; i++) {
        struct sink_record record;
        struct consumer_message *message = NULL;
        status = consumer_poll(s->consumer, &record, &message, err);
        if (status == WR_OK && begins_next(s, &record)) {
            take_ahead(s); /* only what comes in spite of a pause finds one there */
            s->ahead = record;
            s->ahead_message = message;
            break;
        }
        if (status == WR_OK) {
            batch_add(s->filling, &record, message);
        }
    }
    return status == WR_AGAIN ? WR_OK : status;
}

static bool is_due(const struct sink *s, int64_t now_us)
{
    const struct batch *b = s->filling;

    if (s->applying != NULL || b->message_count == 0) {
        return false;
    }
    return s->ahead_message != NULL || is_full(s, b, 2) || now_us - b->started_us >= s->wait_us;
}

static void start_apply(struct sink *s)
{
    s->applying = s->filling;
    s->filling = s->filling == &s->batches[0] ? &s->batches[1] : &s->batches[0];
    worker_start_apply(s->worker, s->applying);
    take_ahead(s);
    s->full_since_us = 0;
    consumer_pause(s->consumer, false);
}

static enum wr_status refuse(struct sink *s, struct batch *b, const struct batch_refusal *refusal,
                             struct wr_error *err)
{
    struct consumer_message *m = b->messages[refusal->message];

    sink_progress_refusal(&s->progress, s->route, m, refusal->reason);
    if (s->config->errors_tolerance == TOLERANCE_NONE) {
        return sink_progress_fail(s->route, m, refusal->reason, err);
    }
    return s->config->dead_letter_topic == NULL
               ? WR_OK
               : consumer_dead_letter(s->consumer, m, refusal->reason, err);
}

static int compare_refusals(const void *left, const void *right)
{
    const struct batch_refusal *a = left;
    const struct batch_refusal *b = right;

    return (a->message > b->message) - (a->message < b->message);
}

/* Positions move up to the first record that may not be passed; then `err` says which. */
static enum wr_status settle(struct sink *s, struct batch *b, struct wr_error *err)
{
    size_t count = 0;
    (void)consumer_partitions(s->consumer, &count);
    bool *is_blocked = calloc(count + 1, sizeof(*is_blocked));
    enum wr_status status = WR_OK;
    size_t next = 0;

    assert(is_blocked != NULL);
    if (b->refusal_count > 0) {
        qsort(b->refusals, b->refusal_count, sizeof(*b->refusals), compare_refusals);
    }
    for (size_t i = 0; i < b->message_count; i++) {
        size_t partition = consumer_message_partition(s->consumer, b->messages[i]);
        if (partition == SIZE_MAX || is_blocked[partition]) {
            continue;
        }
        while (next < b->refusal_count && b->refusals[next].message < i) {
            next++;
        }
        bool is_refused = next < b->refusal_count && b->refusals[next].message == i;
        struct wr_error failure = {0};
        if (is_refused && refuse(s, b, &b->refusals[next], &failure) != WR_OK) {
            is_blocked[partition] = true;
            *err = status == WR_OK ? failure : *err;
            status = WR_FATAL;
        } else {
            consumer_applied(s->consumer, partition, b->offsets[i] + 1);
        }
    }
    free(is_blocked);
    return status;
}

/* Which versions the partitions have, and which the target had instead. */
static void compare_versions(struct sink *s, const struct batch *b)
{
    size_t count = 0;
    struct consumer_partition *partitions = consumer_partitions(s->consumer, &count);

    for (size_t i = 0; i < b->record_count; i++) {
        size_t at = consumer_message_partition(s->consumer, b->messages[b->record_messages[i]]);
        if (at == SIZE_MAX) {
            continue;
        }
        struct consumer_partition *p = &partitions[at];
        p->version = b->records[i].lsn > p->version ? b->records[i].lsn : p->version;
        p->version_there = b->newer[i] > p->version_there ? b->newer[i] : p->version_there;
    }
}

/* All of a partition is in the target, and still the target has newer: a database that was restored
 * or replaced began to count anew, and would be passed over for ever. */
static enum wr_status check_source(struct sink *s, struct wr_error *err)
{
    size_t count = 0;
    const struct consumer_partition *partitions = consumer_partitions(s->consumer, &count);

    for (size_t i = 0; i < count; i++) {
        const struct consumer_partition *p = &partitions[i];
        if (p->is_at_end && p->next == p->read && p->version_there > p->version) {
            return wr_fail(err, WR_FATAL, "sink",
                           "route %s: the target has version %" PRIu64
                           ", but topic %s partition %" PRId32 " ends at version %" PRIu64
                           ": it was filled from another database, or this one was "
                           "restored; empty the target, or name a new one, and publish a snapshot",
                           s->route->name, p->version_there, p->topic, p->number, p->version);
        }
    }
    return WR_OK;
}

/* What has become of the batch on its way; WR_OK also while it still is. */
static enum wr_status take_applied(struct sink *s, struct wr_error *err)
{
    struct batch *b = s->applying;
    enum wr_status status = b == NULL ? WR_AGAIN : worker_result(s->worker, err);

    if (status == WR_AGAIN) {
        return WR_OK;
    }
    s->applying = NULL;
    if (status == WR_OK) {
        s->has_news = true;
        compare_versions(s, b);
        status = settle(s, b, err);
        sink_progress_applied(&s->progress, b);
    }
    batch_reset(b, s->consumer);
    return status == WR_RETRY ? WR_OK : status; /* cancelled: its partitions are gone */
}

static int64_t commit_at_us(const struct sink *s)
{
    bool is_busy = s->applying != NULL || s->filling->message_count > 0;

    return s->committed_us + (int64_t)(is_busy ? COMMIT_MS : COMMIT_SOON_MS) * 1000;
}

static void commit_when_due(struct sink *s, int64_t now_us)
{
    if (s->has_news && now_us >= commit_at_us(s)) {
        consumer_commit(s->consumer, false);
        s->has_news = false;
        s->committed_us = now_us;
    }
}

/* Polling goes on with a full batch at hand: fetching stops, the membership lives. A short wait
 * does without, since a pause throws away what was fetched. */
static bool holds_back(struct sink *s, int64_t now_us)
{
    if (s->ahead_message == NULL) {
        return false;
    }
    if (s->full_since_us == 0) {
        s->full_since_us = now_us;
    }
    if (now_us - s->full_since_us < (int64_t)HOLD_MS * 1000) {
        return true;
    }
    consumer_pause(s->consumer, true);
    return false;
}

static int64_t sleep_ms(const struct sink *s, bool is_held_back, int64_t now_us)
{
    int64_t until_us = now_us + (int64_t)IDLE_MS * 1000;
    int64_t due_us = s->filling->started_us + s->wait_us;

    if (s->applying == NULL && s->filling->message_count > 0 && due_us < until_us) {
        until_us = due_us;
    }
    if (s->has_news && commit_at_us(s) < until_us) {
        until_us = commit_at_us(s);
    }
    if (is_held_back && s->full_since_us + (int64_t)HOLD_MS * 1000 < until_us) {
        until_us = s->full_since_us + (int64_t)HOLD_MS * 1000;
    }
    return until_us <= now_us ? 0 : (until_us - now_us + 999) / 1000;
}

static void wait_for_events(struct sink *s, bool is_held_back, int64_t timeout_ms)
{
    struct pollfd fds[] = {
        {.fd = s->stop_fd, .events = POLLIN},
        {.fd = worker_fd(s->worker), .events = POLLIN},
        {.fd = is_held_back || s->consumer == NULL ? -1 : consumer_fd(s->consumer),
         .events = POLLIN},
    };

    (void)poll(fds, sizeof(fds) / sizeof(fds[0]), (int)timeout_ms);
    s->is_stopping = s->is_stopping || (fds[0].revents & POLLIN) != 0;
}

static enum wr_status step(struct sink *s, struct wr_error *err)
{
    int64_t now_us = wr_clock_monotonic_us();
    enum wr_status status = take_applied(s, err);

    if (status == WR_OK && is_due(s, now_us)) {
        start_apply(s);
    }
    bool is_held_back = status == WR_OK && holds_back(s, now_us);
    if (status == WR_OK && !is_held_back) {
        status = gather(s, err);
    }
    if (status == WR_OK) {
        status = check_source(s, err);
    }
    if (status == WR_OK && s->progress.failure.status != WR_OK) {
        *err = s->progress.failure;
        status = err->status;
    }
    now_us = wr_clock_monotonic_us();
    if (status == WR_OK) {
        commit_when_due(s, now_us);
        sink_progress_log(&s->progress, s->route, s->consumer, s->applying, s->filling, now_us);
        wait_for_events(s, is_held_back, is_due(s, now_us) ? 0 : sleep_ms(s, is_held_back, now_us));
    }
    return status;
}

/* The target first: a sink whose target is away takes no partitions from those that work. */
static enum wr_status open_target(struct sink *s, struct wr_error *err)
{
    enum wr_status status = WR_AGAIN;

    worker_start_open(s->worker);
    while (!s->is_stopping && status == WR_AGAIN) {
        wait_for_events(s, true, IDLE_MS);
        status = worker_result(s->worker, err);
    }
    return status;
}

static enum wr_status consume(struct sink *s, struct wr_error *err)
{
    const struct consumer_settings settings = {
        .config = s->config,
        .group = s->group,
        .topic_pattern = s->topic_pattern,
        .events = {.context = s, .assign = on_assign, .revoke = on_revoke},
    };
    enum wr_status status = consumer_new(&settings, &s->consumer, err);

    if (status == WR_OK) {
        wr_log(WR_LOG_INFO, "sink", WR_MSG("reading"), WR_STR("route", s->route->name),
               WR_STR("topics", s->topic_pattern), WR_STR("group", s->group),
               WR_STR("target", s->url.scheme), WR_STR("host", s->url.host));
    }
    while (status == WR_OK && !s->is_stopping) {
        status = step(s, err);
    }
    if (s->consumer != NULL) {
        consumer_free(s->consumer); /* on_revoke() sees to what is on its way */
        drop_gathered(s);
    }
    return status;
}

enum wr_status sink_run(struct sink *s, struct wr_error *err)
{
    const struct worker_backoff backoff = {
        .ms_min = s->config->retry_backoff_ms_min,
        .ms_max = s->config->retry_backoff_ms_max,
        .tries_max = s->config->errors_max_retries,
    };

    s->worker = worker_new(s->ops, &s->setup, &backoff);
    enum wr_status status = open_target(s, err);
    if (status == WR_OK) {
        status = consume(s, err);
    }
    worker_free(s->worker);
    s->worker = NULL;
    batch_done(&s->batches[0], s->consumer);
    batch_done(&s->batches[1], s->consumer);
    return s->is_stopping && status != WR_FATAL ? WR_OK : status;
}
