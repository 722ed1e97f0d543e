/* publisher/kafka_errors.h - what librdkafka's errors and log lines mean for whoever reads them. */
#ifndef WR_PUBLISHER_KAFKA_ERRORS_H
#define WR_PUBLISHER_KAFKA_ERRORS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <librdkafka/rdkafka.h>

/* True when one record is refused for what it is, and another may well be taken. */
bool kafka_is_records_own(rd_kafka_resp_err_t code);
/* `reason`, and what to do about it where there is something to do. */
void kafka_reason(rd_kafka_resp_err_t code, const char *reason, char *out, size_t capacity);

/* Lets through the first lines of each window. Approximate, because any thread may log. */
struct kafka_log_gate {
    _Atomic int64_t window_end_us;
    _Atomic int line_count;
};
bool kafka_log_gate_opens(struct kafka_log_gate *gate);

#endif /* WR_PUBLISHER_KAFKA_ERRORS_H */
