/*
 * bench/produce.c - sends records as large as a snapshot's, and does nothing else.
 *
 * It is the ceiling for whatever publishes a table through librdkafka: the rows come from nowhere,
 * and all that is written anew for each is its number. The settings are walrelay's.
 */
#include <stdio.h>
#include <stdlib.h>

#include <librdkafka/rdkafka.h>

enum { RECORD_SIZE = 1024, FLUSH_TIMEOUT_MS = 60000, POLL_EVERY = 256 };

static const char *const settings[][2] = {
    {"enable.idempotence", "true"},   {"acks", "all"},
    {"compression.type", "lz4"},      {"batch.size", "1000000"},
    {"batch.num.messages", "10000"},  {"linger.ms", "5"},
    {"socket.nagle.disable", "true"}, {"queue.buffering.max.kbytes", "8192"},
};

/* An event's envelope, in which only the row's number changes. */
static int write_value(char *out, long number)
{
    return snprintf(
        out, RECORD_SIZE,
        "{\"before\":null,\"after\":{\"id\":%ld,\"title\":\"Season opening concert number %ld\","
        "\"venue\":\"Hall 17\",\"starts_at\":\"2027-03-01T20:00:00.000000Z\",\"price\":\"B9A=\","
        "\"capacity\":100,\"tags\":\"[\\\"music\\\", \\\"live\\\", \\\"season-3\\\"]\","
        "\"updated_at\":\"2026-12-01T07:17:20.297110Z\"},\"source\":{\"version\":\"0.1.0\","
        "\"connector\":\"postgresql\",\"name\":\"walrelay_snapshot_1\",\"ts_ms\":1796109442351,"
        "\"snapshot\":\"true\",\"db\":\"bench_snapshot\",\"sequence\":\"[null,\\\"6194519688\\\"]"
        "\","
        "\"ts_us\":1796109442351512,\"ts_ns\":1796109442351512000,\"schema\":\"public\","
        "\"table\":\"events\",\"txId\":8627400,\"lsn\":6194519688,\"xmin\":null,\"origin\":null,"
        "\"origin_lsn\":null},\"transaction\":null,\"op\":\"r\",\"ts_ms\":1796109442356,"
        "\"ts_us\":1796109442356241,\"ts_ns\":1796109442356241530}",
        number, number);
}

static rd_kafka_t *producer_new(const char *bootstrap)
{
    char reason[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    (void)rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, NULL, 0);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], reason, sizeof(reason)) !=
            RD_KAFKA_CONF_OK) {
            (void)fprintf(stderr, "%s\n", reason);
            exit(1);
        }
    }
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    if (producer == NULL) {
        (void)fprintf(stderr, "%s\n", reason);
        exit(1);
    }
    return producer;
}

/* Tries again while the queue is full. */
static void produce(rd_kafka_t *producer, rd_kafka_topic_t *topic, long number)
{
    char key[64];
    char value[RECORD_SIZE];
    char seq[24];
    int key_size = snprintf(key, sizeof(key), "{\"id\":%ld}", number);
    int value_size = write_value(value, number);
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__QUEUE_FULL;

    (void)snprintf(seq, sizeof(seq), "%ld", number);
    rd_kafka_vu_t arguments[] = {
        {.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = 0},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {.ptr = key, .size = (size_t)key_size}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {.ptr = value, .size = (size_t)value_size}},
        {.vtype = RD_KAFKA_VTYPE_HEADER,
         .u.header = {.name = "walrelay.lsn", .val = "6194519688", .size = -1}},
        {.vtype = RD_KAFKA_VTYPE_HEADER,
         .u.header = {.name = "walrelay.seq", .val = seq, .size = -1}},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
    };
    while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        rd_kafka_error_t *error =
            rd_kafka_produceva(producer, arguments, sizeof(arguments) / sizeof(arguments[0]));
        code = rd_kafka_error_code(error); /* of NULL: none */
        rd_kafka_error_destroy(error);
        if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            (void)rd_kafka_poll(producer, 1);
        }
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        (void)fprintf(stderr, "%s\n", rd_kafka_err2str(code));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void)fprintf(stderr, "usage: bench_produce BOOTSTRAP TOPIC COUNT\n");
        return 2;
    }
    rd_kafka_t *producer = producer_new(argv[1]);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, argv[2], NULL);
    long count = strtol(argv[3], NULL, 10);

    for (long number = 1; number <= count; number++) {
        produce(producer, topic, number);
        if (number % POLL_EVERY == 0) {
            (void)rd_kafka_poll(producer, 0);
        }
    }
    rd_kafka_resp_err_t code = rd_kafka_flush(producer, FLUSH_TIMEOUT_MS);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(producer);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? 0 : 1;
}
