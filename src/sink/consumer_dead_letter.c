#include "sink/consumer_dead_letter.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "config/config.h"
#include "sink/consumer_conf.h"

enum { REASON_SIZE_MAX = 512, DELIVERY_TIMEOUT_MS = 60000, POLL_MS = 100 };

/* Records of a partition up to here have theirs. */
struct written {
    char *topic;
    int32_t partition;
    int64_t next;
};

struct dead_letters {
    const struct config *config;
    rd_kafka_t *kafka;
    bool is_reported; /* the one that is under way */
    rd_kafka_resp_err_t code;
    struct written *written;
    size_t written_count;
};

static struct written *written_in(struct dead_letters *d, const rd_kafka_message_t *message)
{
    const char *topic = rd_kafka_topic_name(message->rkt);

    for (size_t i = 0; i < d->written_count; i++) {
        struct written *w = &d->written[i];
        if (w->partition == message->partition && strcmp(w->topic, topic) == 0) {
            return w;
        }
    }
    d->written = reallocarray(d->written, d->written_count + 1, sizeof(*d->written));
    assert(d->written != NULL);
    d->written[d->written_count] =
        (struct written){.topic = strdup(topic), .partition = message->partition};
    return &d->written[d->written_count++];
}

static void on_delivery(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque)
{
    struct dead_letters *d = opaque;

    (void)kafka;
    d->is_reported = true;
    d->code = message->err;
}

enum wr_status dead_letters_new(const struct config *config, struct dead_letters **out,
                                struct wr_error *err)
{
    char reason[REASON_SIZE_MAX];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    *out = NULL;
    (void)rd_kafka_conf_set(conf, "log_level", "3", NULL, 0);
    enum wr_status status = consumer_conf_apply(conf, &config->kafka, err);
    if (status != WR_OK) {
        rd_kafka_conf_destroy(conf);
        return status;
    }
    struct dead_letters *d = calloc(1, sizeof(*d));
    assert(d != NULL);
    d->config = config;
    (void)rd_kafka_conf_set(conf, "acks", "all", NULL, 0);
    (void)rd_kafka_conf_set(conf, "linger.ms", "0", NULL, 0);
    rd_kafka_conf_set_opaque(conf, d);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    d->kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    if (d->kafka == NULL) {
        rd_kafka_conf_destroy(conf);
        free(d);
        return wr_fail(err, WR_FATAL, "sink", "%s", reason);
    }
    *out = d;
    return WR_OK;
}

void dead_letters_free(struct dead_letters *d)
{
    if (d != NULL) {
        for (size_t i = 0; i < d->written_count; i++) {
            free(d->written[i].topic);
        }
        free(d->written);
        rd_kafka_destroy(d->kafka);
        free(d);
    }
}

static void add_header(rd_kafka_headers_t *headers, const char *name, const char *value)
{
    (void)rd_kafka_header_add(headers, name, -1, value, -1);
}

/* Kafka Connect's names for the context of a dead letter. */
static rd_kafka_headers_t *headers_of(const rd_kafka_message_t *message, const char *reason)
{
    rd_kafka_headers_t *old = NULL;
    char number[32];
    rd_kafka_headers_t *headers =
        rd_kafka_message_headers(message, &old) == RD_KAFKA_RESP_ERR_NO_ERROR
            ? rd_kafka_headers_copy(old)
            : rd_kafka_headers_new(4);

    add_header(headers, "__connect.errors.topic", rd_kafka_topic_name(message->rkt));
    (void)snprintf(number, sizeof(number), "%" PRId32, message->partition);
    add_header(headers, "__connect.errors.partition", number);
    (void)snprintf(number, sizeof(number), "%" PRId64, message->offset);
    add_header(headers, "__connect.errors.offset", number);
    add_header(headers, "__connect.errors.exception.message", reason);
    return headers;
}

static enum wr_status fail(const struct dead_letters *d, const rd_kafka_message_t *message,
                           rd_kafka_resp_err_t code, struct wr_error *err)
{
    return wr_fail(
        err, WR_FATAL, "sink",
        "the dead letter of topic %s partition %d offset %lld cannot be written to %s: %s",
        rd_kafka_topic_name(message->rkt), message->partition, (long long)message->offset,
        d->config->dead_letter_topic, rd_kafka_err2str(code));
}

static rd_kafka_vu_t bytes_argument(rd_kafka_vtype_t type, const void *data, size_t size)
{
    return (rd_kafka_vu_t){.vtype = type, .u.mem = {.ptr = (void *)(uintptr_t)data, .size = size}};
}

static enum wr_status write_letter(struct dead_letters *d, const rd_kafka_message_t *message,
                                   const char *reason, struct wr_error *err)
{
    int64_t end_us = wr_clock_monotonic_us() + (int64_t)DELIVERY_TIMEOUT_MS * 1000;
    rd_kafka_headers_t *headers = headers_of(message, reason);

    d->is_reported = false;
    const rd_kafka_vu_t arguments[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = d->config->dead_letter_topic},
        bytes_argument(RD_KAFKA_VTYPE_KEY, message->key, message->key_len),
        bytes_argument(RD_KAFKA_VTYPE_VALUE, message->payload, message->len),
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
    };
    rd_kafka_error_t *error =
        rd_kafka_produceva(d->kafka, arguments, sizeof(arguments) / sizeof(arguments[0]));
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    rd_kafka_error_destroy(error);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_headers_destroy(headers);
        return fail(d, message, code, err);
    }
    while (!d->is_reported && wr_clock_monotonic_us() < end_us) {
        (void)rd_kafka_poll(d->kafka, POLL_MS);
    }
    code = d->is_reported ? d->code : RD_KAFKA_RESP_ERR__TIMED_OUT;
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? WR_OK : fail(d, message, code, err);
}

enum wr_status dead_letters_write(struct dead_letters *d, const rd_kafka_message_t *message,
                                  const char *reason, struct wr_error *err)
{
    struct written *written = written_in(d, message);

    if (message->offset < written->next) {
        return WR_OK;
    }
    enum wr_status status = write_letter(d, message, reason, err);
    if (status == WR_OK) {
        written->next = message->offset + 1;
    }
    return status;
}
