#include "publisher/kafka_produce.h"

#include <stdint.h>

#include "publisher/kafka_topics.h"
#include "publisher/publisher.h"

/* librdkafka's arguments are not const though it only reads them; empty is not null there. */
static rd_kafka_vu_t bytes_argument(rd_kafka_vtype_t vtype, struct wr_slice bytes, bool is_null)
{
    const char *start = bytes.size > 0 ? bytes.data : "";
    rd_kafka_vu_t argument = {.vtype = vtype};

    if (!is_null) {
        argument.u.mem.ptr = (void *)(uintptr_t)start;
        argument.u.mem.size = bytes.size;
    }
    return argument;
}

static rd_kafka_headers_t *headers_new(const struct publisher_record *r)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(r->header_count);

    for (size_t i = 0; i < r->header_count; i++) {
        const struct publisher_header *header = &r->headers[i];
        const char *value = header->value.size > 0 ? header->value.data : "";
        (void)rd_kafka_header_add(headers, header->name, -1, header->is_null ? NULL : value,
                                  header->is_null ? 0 : (ssize_t)header->value.size);
    }
    return headers;
}

rd_kafka_resp_err_t kafka_produce_one(rd_kafka_t *kafka, struct kafka_topics *topics,
                                      const struct publisher_record *r, void *opaque, int flags)
{
    rd_kafka_headers_t *headers = NULL;
    size_t count = 6;
    rd_kafka_vu_t arguments[8] = {
        {.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = kafka_topics_get(topics, r->topic)},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = r->partition},
        bytes_argument(RD_KAFKA_VTYPE_KEY, r->key, r->key_is_null),
        bytes_argument(RD_KAFKA_VTYPE_VALUE, r->value, r->value_is_null),
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = opaque},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = flags},
    };

    if (r->timestamp_ms >= 0) {
        arguments[count++] =
            (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = r->timestamp_ms};
    }
    if (r->header_count > 0) {
        headers = headers_new(r);
        arguments[count++] = (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers};
    }
    rd_kafka_error_t *error = rd_kafka_produceva(kafka, arguments, count);
    if (error == NULL) {
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    rd_kafka_error_destroy(error);
    if (headers != NULL) {
        rd_kafka_headers_destroy(headers); /* taken over only by a message that was queued */
    }
    return code;
}
