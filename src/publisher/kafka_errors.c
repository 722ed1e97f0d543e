#include "publisher/kafka_errors.h"

#include <stdio.h>

#include "base/clock.h"

enum {
    LOG_LINES_MAX = 10, /* of librdkafka's own, in each window */
    LOG_WINDOW_US = 10000000,
};

bool kafka_log_gate_opens(struct kafka_log_gate *gate)
{
    int64_t now_us = wr_clock_monotonic_us();

    if (now_us >= atomic_load(&gate->window_end_us)) {
        atomic_store(&gate->window_end_us, now_us + LOG_WINDOW_US);
        atomic_store(&gate->line_count, 0);
    }
    return atomic_fetch_add(&gate->line_count, 1) < LOG_LINES_MAX;
}

bool kafka_is_records_own(rd_kafka_resp_err_t code)
{
    /* Not -Wswitch-enum: librdkafka has some 200 codes. */
    return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
           code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
           code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
           code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
           code == RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION;
}

/* What to do about an error that stands for one record, "" where there is nothing to add. */
static const char *remedy(rd_kafka_resp_err_t code)
{
    static const struct {
        rd_kafka_resp_err_t code;
        const char *text;
    } remedies[] = {
        {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
         "; create it, or let the brokers do so with auto.create.topics.enable=true"},
        {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
         "; create it, or let the brokers do so with auto.create.topics.enable=true"},
        {RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, "; the topic has fewer partitions than that"},
        {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
         "; raise producer.message.max.bytes here and max.message.bytes of the topic"},
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "; the user needs WRITE on the topic"},
        {RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
         "; the user needs WRITE and DESCRIBE on that TransactionalId"},
        {RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT,
         "; set producer.transaction.timeout.ms to at most transaction.max.timeout.ms of the "
         "brokers"},
    };

    for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
        if (remedies[i].code == code) {
            return remedies[i].text;
        }
    }
    return "";
}

void kafka_reason(rd_kafka_resp_err_t code, const char *reason, char *out, size_t capacity)
{
    (void)snprintf(out, capacity, "%s%s", reason, remedy(code));
}
