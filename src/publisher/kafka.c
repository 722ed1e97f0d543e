#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "base/log.h"
#include "publisher/backend.h"
#include "publisher/kafka_conf.h"
#include "publisher/kafka_errors.h"
#include "publisher/kafka_produce.h"
#include "publisher/kafka_topics.h"
#include "publisher/publisher.h"
#include "publisher/topic_creator.h"

enum {
    REASON_SIZE_MAX = 512,
    FLUSH_STEP_MS = 100, /* how late a fatal error may be seen while flushing */
    SYSLOG_WARNING = 4,  /* the least severe level of librdkafka that is shown as a warning */
};

struct kafka_publisher {
    struct publisher base;
    struct publisher_events events;
    rd_kafka_t *kafka;
    struct kafka_topics *topics;
    struct topic_creator *creator; /* NULL: topics are left to the broker */
    size_t queue_size;             /* queue.buffering.max.kbytes */
    bool is_closing;

    /* An outage begins when librdkafka has lost every broker, and ends with an acknowledgement. */
    bool is_unreachable;
    int64_t unreachable_since_us;
    rd_kafka_resp_err_t error_code; /* the last one of a connection */

    struct kafka_log_gate log_gate;
};

static struct kafka_publisher *kafka_publisher(struct publisher *p)
{
    return (struct kafka_publisher *)p;
}

/* Called from any of librdkafka's threads. */
static void on_log(const rd_kafka_t *kafka, int level, const char *facility, const char *text)
{
    struct kafka_publisher *p = rd_kafka_opaque(kafka);

    /* FAIL is a lost connection, which on_error() hears of too; GETPID says that a producer id is
     * asked for again, over and over while the brokers are away. */
    if (level > SYSLOG_WARNING || strcmp(facility, "FAIL") == 0 ||
        strcmp(facility, "GETPID") == 0) {
        wr_log(WR_LOG_DEBUG, "kafka", WR_MSG(text), WR_STR("facility", facility));
    } else if (kafka_log_gate_opens(&p->log_gate)) {
        wr_log(WR_LOG_WARN, "kafka", WR_MSG(text), WR_STR("facility", facility));
    }
}

static void outage_begins(struct kafka_publisher *p, const char *reason)
{
    if (p->is_unreachable) {
        return;
    }
    p->is_unreachable = true;
    p->unreachable_since_us = wr_clock_monotonic_us();
    wr_log(WR_LOG_WARN, "kafka", WR_MSG("kafka is unreachable, records wait"),
           WR_STR("reason", reason), WR_INT("waiting", p->base.inflight_count));
}

static void outage_ends(struct kafka_publisher *p)
{
    int64_t lasted_ms = (wr_clock_monotonic_us() - p->unreachable_since_us) / 1000;

    p->is_unreachable = false;
    p->error_code = RD_KAFKA_RESP_ERR_NO_ERROR;
    wr_log(WR_LOG_INFO, "kafka", WR_MSG("kafka is reachable again"), WR_INT("after_ms", lasted_ms),
           WR_INT("waiting", p->base.inflight_count));
}

/* Called from rd_kafka_poll(). Nothing here fails a record: librdkafka tries again by itself. */
static void on_error(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
    struct kafka_publisher *p = opaque;

    (void)kafka;
    if (p->is_closing || code == RD_KAFKA_RESP_ERR__FATAL) {
        return; /* publisher_poll() asks for a fatal error itself */
    }
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        outage_begins(p, reason);
        return;
    }
    bool is_new = (rd_kafka_resp_err_t)code != p->error_code;
    p->error_code = (rd_kafka_resp_err_t)code;
    if (is_new && kafka_log_gate_opens(&p->log_gate)) {
        wr_log(WR_LOG_WARN, "kafka", WR_MSG(reason),
               WR_STR("error", rd_kafka_err2name((rd_kafka_resp_err_t)code)));
    }
}

static void report_failure(struct kafka_publisher *p, const rd_kafka_message_t *message)
{
    const char *topic = rd_kafka_topic_name(message->rkt);
    char reason[REASON_SIZE_MAX];

    kafka_reason(message->err, rd_kafka_err2str(message->err), reason, sizeof(reason));
    struct publisher_failure failure = {
        .reason = reason,
        .name = rd_kafka_err2name(message->err),
        .topic = wr_slice_str(topic),
        .key = {message->key, message->key_len},
        .size = message->len + message->key_len,
    };
    p->events.failed(p->events.context, (uint64_t)(uintptr_t)message->_private, &failure);
}

/* A delivery report. Called from rd_kafka_poll(). */
static void on_delivery(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
    struct kafka_publisher *p = opaque;
    size_t size = message->len + message->key_len;

    (void)kafka;
    assert(p->base.inflight_count > 0 && p->base.inflight_bytes >= size);
    p->base.inflight_count--;
    p->base.inflight_bytes -= size;
    if (p->is_closing) {
        return;
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        report_failure(p, message);
        return;
    }
    if (p->is_unreachable) {
        outage_ends(p);
    }
    p->events.acknowledged(p->events.context, (uint64_t)(uintptr_t)message->_private);
}

static enum wr_status fail_fatally(struct kafka_publisher *p, struct wr_error *err)
{
    char reason[REASON_SIZE_MAX] = "unknown";
    rd_kafka_resp_err_t code = rd_kafka_fatal_error(p->kafka, reason, sizeof(reason));

    return wr_fail(err, WR_FATAL, "kafka", "the producer cannot go on: %s (%s)", reason,
                   rd_kafka_err2name(code));
}

/* What a record that librdkafka did not take means for the caller. */
static enum wr_status refused(struct kafka_publisher *p, const struct publisher_record *r,
                              rd_kafka_resp_err_t code, struct wr_error *err)
{
    char reason[REASON_SIZE_MAX];

    /* Not -Wswitch-enum: librdkafka has some 200 codes, of which few can come back here. */
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        return wr_fail(err, WR_AGAIN, "kafka", "the queue is full");
    }
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        return fail_fatally(p, err);
    }
    kafka_reason(code, rd_kafka_err2str(code), reason, sizeof(reason));
    if (kafka_is_records_own(code)) {
        return publisher_reject(r, "kafka", reason, err);
    }
    return wr_fail(err, WR_FATAL, "kafka", "cannot produce to \"%.*s\": %s", (int)r->topic.size,
                   r->topic.data, reason);
}

/* librdkafka bounds the bytes of values alone; here keys count too. One record always finds room.
 */
static bool is_full(const struct kafka_publisher *p, size_t size)
{
    return p->base.inflight_count > 0 && (p->base.inflight_bytes >= p->queue_size ||
                                          size > p->queue_size - p->base.inflight_bytes);
}

static enum wr_status kafka_produce(struct publisher *base, const struct publisher_record *r,
                                    struct wr_error *err)
{
    struct kafka_publisher *p = kafka_publisher(base);

    if (!publisher_topic_is_valid(r->topic.data, r->topic.size)) {
        return publisher_reject(r, "kafka", "invalid topic name", err);
    }
    if (p->creator != NULL && !kafka_topics_has(p->topics, r->topic)) {
        enum wr_status status = topic_creator_ensure(p->creator, r->topic, err);
        if (status != WR_OK) {
            return status;
        }
    }
    size_t size = publisher_record_size(r);
    rd_kafka_resp_err_t code =
        is_full(p, size) ? RD_KAFKA_RESP_ERR__QUEUE_FULL
                         : kafka_produce_one(p->kafka, p->topics, r, (void *)(uintptr_t)r->ticket,
                                             RD_KAFKA_MSG_F_COPY);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return refused(p, r, code, err);
    }
    p->base.inflight_count++;
    p->base.inflight_bytes += size;
    return WR_OK;
}

/*
 * librdkafka writes to the event fd when its queue becomes non-empty, so the fd is emptied before
 * the queue is: what comes in between wakes the loop once for nothing, and no event is lost.
 */
static void serve(struct kafka_publisher *p, int timeout_ms)
{
    uint64_t events = 0;
    ssize_t size = read(p->base.fd, &events, sizeof(events));

    (void)size; /* nothing to read is fine */
    (void)rd_kafka_poll(p->kafka, timeout_ms);
}

static enum wr_status check_fatal(struct kafka_publisher *p, struct wr_error *err)
{
    if (rd_kafka_fatal_error(p->kafka, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return fail_fatally(p, err);
    }
    return WR_OK;
}

static enum wr_status kafka_poll(struct publisher *base, struct wr_error *err)
{
    struct kafka_publisher *p = kafka_publisher(base);

    serve(p, 0);
    return check_fatal(p, err);
}

static enum wr_status kafka_flush(struct publisher *base, int64_t timeout_ms, struct wr_error *err)
{
    struct kafka_publisher *p = kafka_publisher(base);
    int64_t end_us = wr_clock_monotonic_us() + timeout_ms * 1000;

    serve(p, 0);
    while (p->base.inflight_count > 0) {
        int64_t left_ms = (end_us - wr_clock_monotonic_us() + 999) / 1000;
        if (check_fatal(p, err) != WR_OK) {
            return WR_FATAL;
        }
        if (left_ms <= 0) {
            return wr_fail(err, WR_AGAIN, "kafka", "%zu records not acknowledged within %lld ms",
                           p->base.inflight_count, (long long)timeout_ms);
        }
        /* Not only a wait: while it runs, linger.ms does not count. It serves the callbacks, too.
         */
        (void)rd_kafka_flush(p->kafka, left_ms < FLUSH_STEP_MS ? (int)left_ms : FLUSH_STEP_MS);
    }
    return check_fatal(p, err);
}

static void kafka_close(struct publisher *base)
{
    struct kafka_publisher *p = kafka_publisher(base);

    p->is_closing = true;
    if (p->kafka != NULL) {
        /* Without this, what waits would hold up the end. */
        (void)rd_kafka_purge(p->kafka, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        kafka_topics_free(p->topics);
        topic_creator_free(p->creator);
        rd_kafka_destroy(p->kafka);
    }
    if (p->base.fd >= 0) {
        (void)close(p->base.fd); /* only now: librdkafka's threads wrote to it */
    }
    free(p);
}

static const struct publisher_backend kafka_backend = {
    .produce = kafka_produce,
    .poll = kafka_poll,
    .flush = kafka_flush,
    .close = kafka_close,
};

static enum wr_status start(struct kafka_publisher *p, rd_kafka_conf_t *conf, struct wr_error *err)
{
    static const uint64_t one = 1;
    char reason[REASON_SIZE_MAX];

    p->queue_size = kafka_conf_queue_size(conf);
    rd_kafka_conf_set_opaque(conf, p);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    p->kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    if (p->kafka == NULL) {
        rd_kafka_conf_destroy(conf);
        return wr_fail(err, WR_FATAL, "kafka", "%s", reason);
    }
    p->topics = kafka_topics_new(p->kafka);
    rd_kafka_queue_t *queue = rd_kafka_queue_get_main(p->kafka);
    rd_kafka_queue_io_event_enable(queue, p->base.fd, &one, sizeof(one));
    rd_kafka_queue_destroy(queue);
    serve(p, 0); /* what was queued before that would never have written */
    return WR_OK;
}

enum wr_status publisher_kafka_open(const struct config *config,
                                    const struct publisher_events *events, struct publisher **out,
                                    struct wr_error *err)
{
    rd_kafka_conf_t *conf = NULL;

    *out = NULL;
    if (kafka_conf_new(config, &conf, err) != WR_OK) {
        return WR_FATAL;
    }
    struct kafka_publisher *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        abort();
    }
    p->base = (struct publisher){
        .backend = &kafka_backend,
        .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
    };
    p->events = *events;
    enum wr_status status = WR_OK;
    if (p->base.fd < 0) {
        rd_kafka_conf_destroy(conf);
        status = wr_fail(err, WR_FATAL, "kafka", "eventfd: %s", strerror(errno));
    } else {
        status = start(p, conf, err);
    }
    if (status == WR_OK) {
        status = topic_creator_new(config, p->kafka, &p->creator, err);
    }
    if (status != WR_OK) {
        kafka_close(&p->base);
        return status;
    }
    *out = &p->base;
    return WR_OK;
}
