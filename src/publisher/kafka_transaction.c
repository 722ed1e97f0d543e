/*
 * What the producer of librdkafka wants of whoever uses its transactions, and what goes wrong:
 *
 * - A call that fails and may be tried again is called again, and never answered with an abort: as
 *   long as the answer to a commit is missing, only the commit itself can say how it ended.
 * - A commit succeeds although a record was not taken when it was produced. So what could not be
 *   produced ends the transaction before that.
 * - Whatever else fails ends the producer. The next one's rd_kafka_init_transactions() aborts what
 *   is open or finishes what was being committed, and raises the epoch, so that nothing of the old
 *   one that is still on its way can arrive. The state record then says which of the two it was.
 * - That last danger also exists where a commit succeeded after an answer was lost: what was sent
 *   again may reach the broker within the next transaction of the same epoch (KAFKA-17754). So such
 *   a producer is replaced as well, before it begins another.
 */
#include "publisher/kafka_transaction.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "config/config.h"
#include "publisher/kafka_conf.h"
#include "publisher/kafka_errors.h"
#include "publisher/kafka_produce.h"
#include "publisher/kafka_topics.h"
#include "publisher/record_batch.h"
#include "publisher/topic_creator.h"

enum {
    REASON_SIZE_MAX = 512,
    CALL_TIMEOUT_MS = 500, /* of one try; how late a stop is seen */
    TRANSACTION_TIMEOUT_MS = 30000,
    SYSLOG_WARNING = 4,
    /* librdkafka's RD_KAFKAP_MESSAGE_V2_MAX_OVERHEAD and the head of a batch. */
    RECORD_OVERHEAD_MAX = 128,
    TOPIC_LOOK_US = 5000, /* while a topic is made */
};

struct kafka_transaction {
    const struct config *config;
    const char *transactional_id;
    const _Atomic bool *is_closing;
    rd_kafka_t *kafka; /* NULL: there is no producer */
    struct kafka_topics *topics;
    struct topic_creator *creator; /* NULL: topics are left to the broker */
    size_t size_max;
    bool has_begun;
    bool is_doubtful; /* an answer was lost: to be replaced before the next transaction */
    bool is_dropping;
    bool is_unreachable;
    int64_t unreachable_since_us;
    rd_kafka_resp_err_t failed_code; /* of the first record that was not taken */
    bool is_record_refused;
    struct publisher_header *headers;
    size_t header_capacity;
    struct kafka_log_gate log_gate;
};

static void on_log(const rd_kafka_t *kafka, int level, const char *facility, const char *text)
{
    struct kafka_transaction *t = rd_kafka_opaque(kafka);

    /* A lost connection is told by on_error(); the ids are asked for again and again meanwhile. */
    if (level > SYSLOG_WARNING || strcmp(facility, "FAIL") == 0 ||
        strcmp(facility, "GETPID") == 0) {
        wr_log(WR_LOG_DEBUG, "kafka", WR_MSG(text), WR_STR("facility", facility));
    } else if (kafka_log_gate_opens(&t->log_gate)) {
        wr_log(WR_LOG_WARN, "kafka", WR_MSG(text), WR_STR("facility", facility));
    }
}

static bool is_of_connection(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR__TRANSPORT || code == RD_KAFKA_RESP_ERR__TIMED_OUT ||
           code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ||
           code == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT;
}

/* Called from within rd_kafka_poll() and rd_kafka_flush(), on this thread. */
static void on_error(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
    struct kafka_transaction *t = opaque;

    (void)kafka;
    if (t->is_dropping) {
        return;
    }
    t->is_doubtful = t->is_doubtful || is_of_connection((rd_kafka_resp_err_t)code);
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !t->is_unreachable) {
        t->is_unreachable = true;
        t->unreachable_since_us = wr_clock_monotonic_us();
        wr_log(WR_LOG_WARN, "kafka", WR_MSG("kafka is unreachable, records wait"),
               WR_STR("reason", reason));
    }
}

static void on_delivery(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
    struct kafka_transaction *t = opaque;
    struct batch_record *record = message->_private;

    (void)kafka;
    if (t->is_dropping || message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    if (t->failed_code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        t->failed_code = message->err;
    }
    if (record != NULL && (kafka_is_records_own(message->err) ||
                           message->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)) {
        record->error = message->err;
        t->is_record_refused = true;
    }
}

struct kafka_transaction *kafka_transaction_new(const struct config *config,
                                                const char *transactional_id,
                                                const _Atomic bool *is_closing)
{
    struct kafka_transaction *t = calloc(1, sizeof(*t));

    if (t == NULL) {
        abort();
    }
    t->config = config;
    t->transactional_id = transactional_id;
    t->is_closing = is_closing;
    return t;
}

/* What the producer had in hand is dropped with it; a transaction that is open stays so until the
 * next producer, or the time-out of the brokers, ends it. */
static void drop(struct kafka_transaction *t)
{
    if (t->kafka == NULL) {
        return;
    }
    t->is_dropping = true;
    (void)rd_kafka_purge(t->kafka, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    kafka_topics_free(t->topics);
    topic_creator_free(t->creator);
    rd_kafka_destroy(t->kafka);
    t->topics = NULL;
    t->creator = NULL;
    t->kafka = NULL;
    t->is_dropping = false;
    t->has_begun = false;
    t->is_doubtful = false;
}

void kafka_transaction_free(struct kafka_transaction *t)
{
    if (t != NULL) {
        drop(t);
        free(t->headers);
        free(t);
    }
}

size_t kafka_transaction_size_max(const struct kafka_transaction *t)
{
    return t->size_max;
}

static enum wr_status closing(struct wr_error *err)
{
    return wr_fail(err, WR_RETRY, "kafka", "interrupted");
}

/* The first error tells what happened; the later ones only that it did. */
static enum wr_status judge(struct kafka_transaction *t, const char *what, rd_kafka_resp_err_t code,
                            const char *text, struct wr_error *err)
{
    char fatal[REASON_SIZE_MAX] = "";
    char reason[REASON_SIZE_MAX];
    rd_kafka_resp_err_t fatal_code = t->kafka == NULL
                                         ? RD_KAFKA_RESP_ERR_NO_ERROR
                                         : rd_kafka_fatal_error(t->kafka, fatal, sizeof(fatal));

    if (fatal_code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = fatal_code;
        text = fatal;
    }
    bool is_hopeless = code == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED ||
                       code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED ||
                       code == RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT ||
                       code == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE;
    bool is_fenced = code == RD_KAFKA_RESP_ERR__FENCED ||
                     code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
                     code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;

    kafka_reason(code, text, reason, sizeof(reason));
    return wr_fail(err, is_hopeless ? WR_FATAL : WR_RETRY, "kafka", "%s: %s (%s)%s", what, reason,
                   rd_kafka_err2name(code),
                   is_fenced ? "; another producer has taken over transactional.id, or a "
                               "transaction took longer than transaction.timeout.ms"
                             : "");
}

static enum wr_status judge_error(struct kafka_transaction *t, const char *what,
                                  rd_kafka_error_t *error, struct wr_error *err)
{
    enum wr_status status =
        judge(t, what, rd_kafka_error_code(error), rd_kafka_error_string(error), err);

    rd_kafka_error_destroy(error);
    return status;
}

static bool is_user_set(const struct kafka_transaction *t, const char *name)
{
    for (size_t i = 0; i < t->config->kafka.count; i++) {
        if (strcmp(t->config->kafka.items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static enum wr_status configure(const struct kafka_transaction *t, rd_kafka_conf_t *conf,
                                struct wr_error *err)
{
    char timeout_ms[32];
    char linger_ms[32];
    size_t size = sizeof(timeout_ms);
    char reason[REASON_SIZE_MAX] = "";

    (void)snprintf(timeout_ms, sizeof(timeout_ms), "%d", TRANSACTION_TIMEOUT_MS);
    if (is_user_set(t, "transaction.timeout.ms")) {
        (void)rd_kafka_conf_get(conf, "transaction.timeout.ms", timeout_ms, &size);
    }
    (void)snprintf(linger_ms, sizeof(linger_ms), "%lld", strtoll(timeout_ms, NULL, 10) / 2);
    const char *const settings[][2] = {
        {"transactional.id", t->transactional_id},
        {"transaction.timeout.ms", timeout_ms},
        /* What outlives its transaction is of no use, and librdkafka wants it to be less. */
        {"message.timeout.ms", timeout_ms},
        /* The commit is what sends the last of them; and it is to be less than that time. */
        {"linger.ms", linger_ms},
        {"delivery.report.only.error", "true"},
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], reason, sizeof(reason)) !=
            RD_KAFKA_CONF_OK) {
            return wr_fail(err, WR_FATAL, "kafka", "%s: %s", settings[i][0], reason);
        }
    }
    return WR_OK;
}

static enum wr_status create(struct kafka_transaction *t, struct wr_error *err)
{
    rd_kafka_conf_t *conf = NULL;
    char reason[REASON_SIZE_MAX];
    char size_max[32];
    size_t size = sizeof(size_max);

    if (kafka_conf_new(t->config, &conf, err) != WR_OK) {
        return WR_FATAL;
    }
    if (configure(t, conf, err) != WR_OK) {
        rd_kafka_conf_destroy(conf);
        return WR_FATAL;
    }
    /* Once: the other thread reads it, from when the first producer is there. */
    if (t->size_max == 0 &&
        rd_kafka_conf_get(conf, "message.max.bytes", size_max, &size) == RD_KAFKA_CONF_OK) {
        t->size_max = (size_t)strtoll(size_max, NULL, 10);
    }
    rd_kafka_conf_set_opaque(conf, t);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    t->kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    if (t->kafka == NULL) {
        rd_kafka_conf_destroy(conf);
        return wr_fail(err, WR_FATAL, "kafka", "%s", reason);
    }
    t->topics = kafka_topics_new(t->kafka);
    return topic_creator_new(t->config, t->kafka, &t->creator, err);
}

enum wr_status kafka_transaction_open(struct kafka_transaction *t, struct wr_error *err)
{
    drop(t);
    enum wr_status status = create(t, err);

    while (status == WR_OK) {
        rd_kafka_error_t *error = rd_kafka_init_transactions(t->kafka, CALL_TIMEOUT_MS);
        (void)rd_kafka_poll(t->kafka, 0);
        if (error == NULL) {
            break;
        }
        if (rd_kafka_error_is_retriable(error) == 0) {
            status = judge_error(t, "rd_kafka_init_transactions", error, err);
            break;
        }
        rd_kafka_error_destroy(error);
        status = atomic_load(t->is_closing) ? closing(err) : WR_OK;
    }
    if (status != WR_OK) {
        drop(t);
        return status;
    }
    t->is_doubtful = false; /* what was lost until now belongs to no transaction of this one */
    return WR_OK;
}

static enum wr_status begin(struct kafka_transaction *t, struct wr_error *err)
{
    if (t->has_begun) {
        return WR_OK;
    }
    if (t->is_doubtful) {
        wr_log(WR_LOG_INFO, "kafka",
               WR_MSG("a new producer, since an answer of the brokers was lost"));
        enum wr_status status = kafka_transaction_open(t, err);
        if (status != WR_OK) {
            return status;
        }
    }
    (void)rd_kafka_poll(t->kafka, 0);
    t->is_doubtful = false; /* a connection that nobody used may come and go */
    t->failed_code = RD_KAFKA_RESP_ERR_NO_ERROR;
    t->is_record_refused = false;
    rd_kafka_error_t *error = rd_kafka_begin_transaction(t->kafka);
    if (error != NULL) {
        return judge_error(t, "rd_kafka_begin_transaction", error, err);
    }
    t->has_begun = true;
    return WR_OK;
}

static rd_kafka_resp_err_t produce(struct kafka_transaction *t, const struct publisher_record *r,
                                   void *opaque)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;

    for (;;) {
        code = kafka_produce_one(t->kafka, t->topics, r, opaque, 0);
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL || atomic_load(t->is_closing)) {
            return code;
        }
        (void)rd_kafka_flush(t->kafka, CALL_TIMEOUT_MS);
    }
}

/* Waits, on a thread of its own, until the topic is there. */
static enum wr_status make_topic(struct kafka_transaction *t, struct wr_slice topic,
                                 struct wr_error *err)
{
    enum wr_status status = WR_AGAIN;

    if (t->creator == NULL || kafka_topics_has(t->topics, topic)) {
        return WR_OK;
    }
    while (status == WR_AGAIN) {
        status = topic_creator_ensure(t->creator, topic, err);
        if (status == WR_AGAIN && atomic_load(t->is_closing)) {
            return closing(err);
        }
        if (status == WR_AGAIN) {
            (void)usleep(TOPIC_LOOK_US);
        }
    }
    return status;
}

static enum wr_status produce_batch(struct kafka_transaction *t, const struct record_batch *batch,
                                    struct wr_error *err)
{
    struct publisher_record r;

    for (struct batch_record *at = record_batch_next(batch, NULL); at != NULL;
         at = record_batch_next(batch, at)) {
        if (at->error != 0) {
            continue; /* refused in an earlier try */
        }
        if (at->header_count > t->header_capacity) {
            t->header_capacity = at->header_count + 8U;
            t->headers = realloc(t->headers, t->header_capacity * sizeof(*t->headers));
            if (t->headers == NULL) {
                abort();
            }
        }
        batch_record_read(at, &r, t->headers);
        enum wr_status status = make_topic(t, r.topic, err);
        if (status != WR_OK) {
            return status;
        }
        rd_kafka_resp_err_t code = produce(t, &r, at);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            if (kafka_is_records_own(code)) {
                at->error = code;
                t->is_record_refused = true;
                continue; /* all that are refused are found at once */
            }
            return judge(t, "rd_kafka_produceva", code, rd_kafka_err2str(code), err);
        }
    }
    return WR_OK;
}

/* What was produced and failed, at once or later. */
static enum wr_status check_records(struct kafka_transaction *t, struct wr_error *err)
{
    if (t->is_record_refused) {
        return wr_fail(err, WR_REJECT, "kafka", "a record was refused");
    }
    if (t->failed_code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return judge(t, "a record was not delivered", t->failed_code,
                     rd_kafka_err2str(t->failed_code), err);
    }
    return WR_OK;
}

static enum wr_status flush(struct kafka_transaction *t, struct wr_error *err)
{
    while (rd_kafka_flush(t->kafka, CALL_TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (atomic_load(t->is_closing)) {
            return closing(err);
        }
        if (rd_kafka_fatal_error(t->kafka, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return judge(t, "rd_kafka_flush", RD_KAFKA_RESP_ERR__FATAL, "", err);
        }
    }
    (void)rd_kafka_poll(t->kafka, 0);
    return check_records(t, err);
}

static enum wr_status commit(struct kafka_transaction *t, struct wr_error *err)
{
    for (;;) {
        rd_kafka_error_t *error = rd_kafka_commit_transaction(t->kafka, CALL_TIMEOUT_MS);
        if (error == NULL) {
            break;
        }
        if (rd_kafka_error_is_retriable(error) == 0) {
            (void)rd_kafka_poll(t->kafka, 0);
            enum wr_status status = check_records(t, err);
            if (status == WR_REJECT) {
                rd_kafka_error_destroy(error);
                return status;
            }
            return judge_error(t, "rd_kafka_commit_transaction", error, err);
        }
        rd_kafka_error_destroy(error);
        t->is_doubtful = true;
        if (atomic_load(t->is_closing)) {
            return closing(err);
        }
    }
    t->has_begun = false;
    (void)rd_kafka_poll(t->kafka, 0); /* has an answer been lost meanwhile? */
    if (t->is_unreachable) {
        t->is_unreachable = false;
        wr_log(WR_LOG_INFO, "kafka", WR_MSG("kafka is reachable again"),
               WR_INT("after_ms", (wr_clock_monotonic_us() - t->unreachable_since_us) / 1000));
    }
    return WR_OK;
}

static enum wr_status ended(struct kafka_transaction *t, enum wr_status status)
{
    if (status != WR_OK) {
        drop(t);
    }
    return status;
}

enum wr_status kafka_transaction_feed(struct kafka_transaction *t, const struct record_batch *batch,
                                      struct wr_error *err)
{
    enum wr_status status = begin(t, err);

    if (status == WR_OK) {
        status = produce_batch(t, batch, err);
    }
    return ended(t, status == WR_OK ? flush(t, err) : status);
}

enum wr_status kafka_transaction_commit(struct kafka_transaction *t,
                                        const struct record_batch *batch,
                                        const struct publisher_record *note, struct wr_error *err)
{
    enum wr_status status = begin(t, err);

    if (status == WR_OK) {
        status = produce_batch(t, batch, err);
    }
    if (status == WR_OK && t->is_record_refused) {
        status = check_records(t, err);
    }
    wr_failpoint_at(WR_FAILPOINT_PRODUCED);
    if (status == WR_OK && note != NULL) {
        rd_kafka_resp_err_t code = produce(t, note, NULL);
        status = code == RD_KAFKA_RESP_ERR_NO_ERROR
                     ? WR_OK
                     : judge(t, "the state record", code, rd_kafka_err2str(code), err);
    }
    wr_failpoint_at(WR_FAILPOINT_STATE_RECORD);
    if (status == WR_OK) {
        status = commit(t, err);
    }
    wr_failpoint_at(WR_FAILPOINT_COMMITTED);
    return ended(t, status);
}
