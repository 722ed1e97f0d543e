#include "publisher/transaction.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>

#include "config/config.h"
#include "publisher/backend.h"
#include "publisher/committer.h"
#include "publisher/kafka_errors.h"
#include "publisher/kafka_transaction.h"
#include "publisher/record_batch.h"

enum {
    REASON_SIZE_MAX = 512,
    NAME_SIZE_MAX = 1024,
    RECORD_SIZE_MAX_DEFAULT = 1048576,
    RECORD_OVERHEAD = 64, /* Kafka's own, at most, beside key, value and headers */
};

enum job_kind { JOB_OPEN, JOB_FEED, JOB_COMMIT };

/* Records that were fed: only their tickets are still needed, which are the same in long runs. */
struct fed {
    uint64_t ticket;
    uint64_t count;
};

struct transaction_publisher {
    struct publisher base;
    struct publisher_events events;
    const struct config *config;
    struct committer *committer;
    _Atomic bool is_closing;

    struct record_batch *filling;
    size_t marked_count, marked_size;
    struct fed *fed;
    size_t fed_runs, fed_capacity;
    size_t fed_count;

    /* The thread's from committer_start() to committer_take(). */
    struct kafka_transaction *kafka;
    enum job_kind job;
    struct record_batch *handed;
    bool has_note;
    struct publisher_record note;
    char note_topic[NAME_SIZE_MAX], note_key[NAME_SIZE_MAX], note_value[NAME_SIZE_MAX];
    enum wr_status status;
    struct wr_error err;

    bool is_ready;
    char transactional_id[NAME_SIZE_MAX];
};

static struct transaction_publisher *self(struct publisher *p)
{
    return (struct transaction_publisher *)p;
}

static const struct transaction_publisher *const_self(const struct publisher *p)
{
    return (const struct transaction_publisher *)p;
}

/* errors.tolerance=all: what is left when the refused records are left out goes in another
 * transaction. What was fed before cannot be sent again, so that this ends as without it. */
static enum wr_status commit_the_rest(struct transaction_publisher *p)
{
    const struct publisher_record *note = p->has_note ? &p->note : NULL;
    enum wr_status status = WR_REJECT;

    while (status == WR_REJECT) {
        status = kafka_transaction_open(p->kafka, &p->err);
        if (status == WR_OK) {
            status = kafka_transaction_commit(p->kafka, p->handed, note, &p->err);
        }
    }
    return status;
}

/* On the committer's thread. */
static void run_job(void *context)
{
    struct transaction_publisher *p = context;

    switch (p->job) {
    case JOB_OPEN:
        p->status = kafka_transaction_open(p->kafka, &p->err);
        return;
    case JOB_FEED:
        p->status = kafka_transaction_feed(p->kafka, p->handed, &p->err);
        return;
    case JOB_COMMIT:
        p->status =
            kafka_transaction_commit(p->kafka, p->handed, p->has_note ? &p->note : NULL, &p->err);
        if (p->status == WR_REJECT && p->config->errors_tolerance == TOLERANCE_ALL &&
            p->fed_count == 0) {
            p->status = commit_the_rest(p);
        }
        return;
    }
    abort();
}

static void hand_over(struct transaction_publisher *p, enum job_kind job)
{
    assert(!committer_is_busy(p->committer));
    p->job = job;
    p->err = (struct wr_error){0};
    committer_start(p->committer);
}

static void forget_fed(struct transaction_publisher *p)
{
    p->fed_runs = 0;
    p->fed_count = 0;
}

static void add_fed(struct transaction_publisher *p, uint64_t ticket)
{
    p->fed_count++;
    if (p->fed_runs > 0 && p->fed[p->fed_runs - 1].ticket == ticket) {
        p->fed[p->fed_runs - 1].count++;
        return;
    }
    if (p->fed_runs == p->fed_capacity) {
        p->fed_capacity = p->fed_capacity == 0 ? 64 : p->fed_capacity * 2;
        p->fed = realloc(p->fed, p->fed_capacity * sizeof(*p->fed));
        if (p->fed == NULL) {
            abort();
        }
    }
    p->fed[p->fed_runs++] = (struct fed){.ticket = ticket, .count = 1};
}

static void report_refused(struct transaction_publisher *p, const struct batch_record *record)
{
    struct publisher_record r;
    char topic[NAME_SIZE_MAX];
    char reason[REASON_SIZE_MAX];
    rd_kafka_resp_err_t code = (rd_kafka_resp_err_t)record->error;

    batch_record_read(record, &r, NULL);
    (void)snprintf(topic, sizeof(topic), "%.*s", (int)r.topic.size, r.topic.data);
    kafka_reason(code, rd_kafka_err2str(code), reason, sizeof(reason));
    struct publisher_failure failure = {
        .reason = reason,
        .name = rd_kafka_err2name(code),
        .topic = wr_slice_str(topic),
        .key = r.key,
        .size = r.key.size + r.value.size,
    };
    p->events.failed(p->events.context, record->ticket, &failure);
}

static void count_out(struct transaction_publisher *p, const struct batch_record *record)
{
    size_t size = (size_t)record->key_size + record->value_size;

    assert(p->base.inflight_bytes >= size);
    p->base.inflight_bytes -= size;
}

static void acknowledge(struct transaction_publisher *p, uint64_t ticket)
{
    assert(p->base.inflight_count > 0);
    p->base.inflight_count--;
    p->events.acknowledged(p->events.context, ticket);
}

static void take_commit(struct transaction_publisher *p)
{
    for (size_t i = 0; i < p->fed_runs; i++) {
        for (uint64_t n = 0; n < p->fed[i].count; n++) {
            acknowledge(p, p->fed[i].ticket);
        }
    }
    forget_fed(p);
    for (const struct batch_record *at = record_batch_next(p->handed, NULL); at != NULL;
         at = record_batch_next(p->handed, at)) {
        count_out(p, at);
        if (at->error == 0) {
            acknowledge(p, at->ticket);
        } else {
            p->base.inflight_count--;
            report_refused(p, at);
        }
    }
    record_batch_reset(p->handed);
}

static void take_feed(struct transaction_publisher *p)
{
    for (const struct batch_record *at = record_batch_next(p->handed, NULL); at != NULL;
         at = record_batch_next(p->handed, at)) {
        count_out(p, at);
        add_fed(p, at->ticket);
    }
    record_batch_reset(p->handed);
}

static enum wr_status take_failure(struct transaction_publisher *p, struct wr_error *err)
{
    p->is_ready = false;
    *err = p->err;
    if (p->status != WR_REJECT) {
        return p->status;
    }
    for (const struct batch_record *at = record_batch_next(p->handed, NULL); at != NULL;
         at = record_batch_next(p->handed, at)) {
        if (at->error != 0) {
            report_refused(p, at);
        }
    }
    err->status = WR_FATAL;
    return WR_FATAL;
}

static enum wr_status transaction_poll(struct publisher *base, struct wr_error *err)
{
    struct transaction_publisher *p = self(base);
    uint64_t events = 0;
    ssize_t size = read(p->base.fd, &events, sizeof(events));

    (void)size; /* nothing to read is fine */
    if (!committer_take(p->committer)) {
        return WR_OK;
    }
    if (p->status != WR_OK) {
        return take_failure(p, err);
    }
    switch (p->job) {
    case JOB_OPEN:
        p->is_ready = true;
        break;
    case JOB_FEED:
        take_feed(p);
        break;
    case JOB_COMMIT:
        take_commit(p);
        break;
    }
    return WR_OK;
}

static size_t size_with_headers(const struct publisher_record *r)
{
    size_t size = publisher_record_size(r) + RECORD_OVERHEAD;

    for (size_t i = 0; i < r->header_count; i++) {
        size += strlen(r->headers[i].name) + r->headers[i].value.size + 10;
    }
    return size;
}

static enum wr_status transaction_produce(struct publisher *base, const struct publisher_record *r,
                                          struct wr_error *err)
{
    struct transaction_publisher *p = self(base);
    size_t size_max = kafka_transaction_size_max(p->kafka);
    char reason[REASON_SIZE_MAX];

    if (!publisher_topic_is_valid(r->topic.data, r->topic.size)) {
        return publisher_reject(r, "kafka", "invalid topic name", err);
    }
    if (size_with_headers(r) > (size_max == 0 ? RECORD_SIZE_MAX_DEFAULT : size_max)) {
        kafka_reason(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
                     rd_kafka_err2str(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE), reason,
                     sizeof(reason));
        return publisher_reject(r, "kafka", reason, err);
    }
    record_batch_add(p->filling, r);
    p->base.inflight_count++;
    p->base.inflight_bytes += publisher_record_size(r);
    return WR_OK;
}

/* Whoever hands over decides when; a flush adds nothing to that. */
static enum wr_status transaction_flush(struct publisher *base, int64_t timeout_ms,
                                        struct wr_error *err)
{
    (void)timeout_ms;
    return transaction_poll(base, err);
}

static void transaction_close(struct publisher *base)
{
    struct transaction_publisher *p = self(base);

    atomic_store(&p->is_closing, true);
    committer_free(p->committer);
    kafka_transaction_free(p->kafka);
    record_batch_free(p->filling);
    record_batch_free(p->handed);
    free(p->fed);
    if (p->base.fd >= 0) {
        (void)close(p->base.fd);
    }
    free(p);
}

static const struct publisher_backend transaction_backend = {
    .produce = transaction_produce,
    .poll = transaction_poll,
    .flush = transaction_flush,
    .close = transaction_close,
};

enum wr_status publisher_transaction_open(const struct config *config, const char *transactional_id,
                                          const struct publisher_events *events,
                                          struct publisher **out, struct wr_error *err)
{
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

    *out = NULL;
    if (fd < 0) {
        return wr_fail(err, WR_FATAL, "kafka", "eventfd: %s", strerror(errno));
    }
    struct transaction_publisher *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        abort();
    }
    p->base = (struct publisher){.backend = &transaction_backend, .fd = fd};
    p->events = *events;
    p->config = config;
    p->filling = record_batch_new();
    p->handed = record_batch_new();
    (void)snprintf(p->transactional_id, sizeof(p->transactional_id), "%s", transactional_id);
    p->kafka = kafka_transaction_new(config, p->transactional_id, &p->is_closing);
    p->committer = committer_new(run_job, p, fd);
    *out = &p->base;
    return WR_OK;
}

bool transaction_is_busy(const struct publisher *base)
{
    return committer_is_busy(const_self(base)->committer);
}

bool transaction_is_ready(const struct publisher *base)
{
    return const_self(base)->is_ready;
}

void transaction_fill(const struct publisher *base, struct transaction_fill *out)
{
    const struct transaction_publisher *p = const_self(base);

    *out = (struct transaction_fill){
        .count = record_batch_count(p->filling),
        .size = record_batch_size(p->filling),
        .marked_count = p->marked_count,
        .fed_count = p->fed_count,
    };
    if (out->count > out->marked_count) {
        out->tail_ticket = record_batch_at(p->filling, p->marked_size)->ticket;
    }
}

void transaction_mark(struct publisher *base)
{
    struct transaction_publisher *p = self(base);

    p->marked_count = record_batch_count(p->filling);
    p->marked_size = record_batch_size(p->filling);
}

void transaction_open(struct publisher *base)
{
    struct transaction_publisher *p = self(base);

    p->is_ready = false;
    hand_over(p, JOB_OPEN);
}

/* What is being filled is handed over, up to the mark or as a whole. */
static void swap(struct transaction_publisher *p, bool is_whole)
{
    struct record_batch *filled = p->filling;

    assert(p->is_ready && record_batch_count(p->handed) == 0);
    if (!is_whole) {
        record_batch_split(filled, p->marked_count, p->marked_size, p->handed);
    }
    p->filling = p->handed;
    p->handed = filled;
    p->marked_count = 0;
    p->marked_size = 0;
}

void transaction_feed(struct publisher *base)
{
    struct transaction_publisher *p = self(base);

    assert(!committer_is_busy(p->committer));
    swap(p, true);
    hand_over(p, JOB_FEED);
}

static struct wr_slice keep(char *to, struct wr_slice from)
{
    assert(from.size < NAME_SIZE_MAX);
    if (from.size > 0) {
        memcpy(to, from.data, from.size);
    }
    return (struct wr_slice){to, from.size};
}

void transaction_commit(struct publisher *base, bool is_whole, const struct transaction_note *note)
{
    struct transaction_publisher *p = self(base);

    assert(!committer_is_busy(p->committer));
    swap(p, is_whole);
    p->has_note = note != NULL;
    if (note != NULL) {
        p->note = (struct publisher_record){
            .topic = keep(p->note_topic, wr_slice_str(note->topic)),
            .timestamp_ms = -1,
            .key = keep(p->note_key, note->key),
            .value = keep(p->note_value, note->value),
            .value_is_null = note->value_is_null,
        };
    }
    hand_over(p, JOB_COMMIT);
}

void transaction_discard(struct publisher *base)
{
    struct transaction_publisher *p = self(base);

    assert(!committer_is_busy(p->committer));
    record_batch_reset(p->filling);
    record_batch_reset(p->handed);
    forget_fed(p);
    p->marked_count = 0;
    p->marked_size = 0;
    p->base.inflight_count = 0;
    p->base.inflight_bytes = 0;
}
