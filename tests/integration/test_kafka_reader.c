/* The reader that the other tests trust: it must see what is new, all of it, as it stands. */
#include <string.h>

#include <criterion/criterion.h>

#include "support/kafka.h"
#include "support/records.h"
#include "support/services.h"

#define TOPIC "kafka-reader"

static void produce(const char *key, const char *value)
{
    const struct services *services = services_or_skip();
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    size_t key_size = key == NULL ? 0 : strlen(key);
    size_t value_size = value == NULL ? 0 : strlen(value);
    char text[512];

    rd_kafka_conf_set(conf, "bootstrap.servers", services->bootstrap, NULL, 0);
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    cr_assert_not_null(producer, "%s", text);
    rd_kafka_resp_err_t code = rd_kafka_producev(
        producer, RD_KAFKA_V_TOPIC(TOPIC), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY((void *)(uintptr_t)key, key_size),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)value, value_size), RD_KAFKA_V_HEADER("null", NULL, 0),
        RD_KAFKA_V_HEADER("empty", "", 0), RD_KAFKA_V_END);
    cr_assert_eq(code, RD_KAFKA_RESP_ERR_NO_ERROR);
    cr_assert_eq(rd_kafka_flush(producer, 30000), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_destroy(producer);
}

Test(kafka_reader, reads_what_is_new_and_tells_null_from_empty)
{
    struct kafka_records records = {0};

    produce("old", "seen before");
    struct kafka_reader *reader = kafka_reader_new(services_or_skip()->bootstrap);
    produce("k", NULL);
    produce(NULL, "");
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);

    cr_assert_eq(records.count, 2);
    cr_expect(wr_slice_is(records.items[0].topic, TOPIC));
    cr_expect(wr_slice_is(records.items[0].key, "k"));
    cr_expect(records.items[0].value_is_null);
    cr_expect(records.items[1].key_is_null);
    cr_expect(!records.items[1].value_is_null);
    cr_assert_eq(records.items[1].header_count, 2);
    cr_expect(records.items[1].headers[0].is_null);
    cr_expect(!records.items[1].headers[1].is_null);
    records_done(&records);
}

Test(kafka_reader, reads_nothing_where_nothing_came)
{
    struct kafka_records records = {0};
    struct kafka_reader *reader = kafka_reader_new(services_or_skip()->bootstrap);

    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    cr_expect_eq(records.count, 0);
}
