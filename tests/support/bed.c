#include "support/bed.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/clock.h"

enum { WAIT_MS = 60000, ANSWER_MS = 30000, LOG_SIZE_MAX = 4 << 20 };

static rd_kafka_t *client(const struct bed *b, rd_kafka_type_t type, const char *group)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[512];

    rd_kafka_conf_set(conf, "bootstrap.servers", b->services->bootstrap, NULL, 0);
    rd_kafka_conf_set(conf, "partitioner", "murmur2_random", NULL, 0);
    rd_kafka_conf_set(conf, "linger.ms", "1", NULL, 0);
    rd_kafka_conf_set(conf, "message.max.bytes", "10000000", NULL, 0);
    rd_kafka_conf_set(conf, "enable.auto.commit", "false", NULL, 0);
    rd_kafka_conf_set(conf, "enable.partition.eof", "true", NULL, 0);
    rd_kafka_conf_set(conf, "log_level", "3", NULL, 0);
    rd_kafka_conf_set(conf, "group.id", group, NULL, 0);
    rd_kafka_t *kafka = rd_kafka_new(type, conf, text, sizeof(text));
    cr_assert_not_null(kafka, "%s", text);
    return kafka;
}

static void create_topic(struct bed *b, const char *name, int partitions)
{
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, partitions, 1, NULL, 0);
    rd_kafka_NewTopic_set_config(topic, "max.message.bytes", "10000000");
    rd_kafka_queue_t *queue = rd_kafka_queue_new(b->producer);

    rd_kafka_CreateTopics(b->producer, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, ANSWER_MS);
    cr_assert_not_null(event);
    cr_assert_eq(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR, "%s",
                 rd_kafka_event_error_string(event));
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(topic);
}

void bed_open(struct bed *b, const char *route, const char *url, int partitions)
{
    const char *parent = getenv("TMPDIR");

    *b = (struct bed){.services = services_or_skip(), .route = route};
    snprintf(b->prefix, sizeof(b->prefix), "t%llx", (unsigned long long)wr_clock_realtime_ns());
    snprintf(b->topic, sizeof(b->topic), "%s.%s.shows", b->prefix, route);
    snprintf(b->group, sizeof(b->group), "walrelay.%s.%s", b->prefix, route);
    snprintf(b->directory, sizeof(b->directory), "%s/walrelay-bed-XXXXXX",
             parent == NULL ? P_tmpdir : parent);
    cr_assert_not_null(mkdtemp(b->directory));
    snprintf(b->log_path, sizeof(b->log_path), "%s/log", b->directory);
    b->producer = client(b, RD_KAFKA_PRODUCER, b->group);
    create_topic(b, b->topic, partitions);
    bed_set(b, "bootstrap.servers=%s", b->services->bootstrap);
    bed_set(b, "database.dbname=none");
    bed_set(b, "topic.prefix=%s", b->prefix);
    bed_set(b, "errors.retry.delay.initial.ms=50");
    bed_set(b, "errors.retry.delay.max.ms=500");
    bed_set(b, "consumer.session.timeout.ms=6000");
    bed_set(b, "routes=%s", route);
    bed_set(b, ".type=%s", route);
    bed_set(b, ".sink.url=%s", url);
    bed_set(b, ".sink.report.interval.ms=200");
}

void bed_close(struct bed *b)
{
    const char *const arguments[] = {"rm", "-rf", b->directory, NULL};

    if (b->directory[0] == '\0') {
        return;
    }
    for (size_t i = 0; i < b->process_count; i++) {
        process_signal(&b->processes[i], SIGCONT);
        process_signal(&b->processes[i], SIGKILL);
        process_wait(&b->processes[i], WAIT_MS);
    }
    rd_kafka_destroy(b->producer);
    (void)process_run(arguments, NULL);
    b->directory[0] = '\0';
}

void bed_set(struct bed *b, const char *format, ...)
{
    char text[BED_SETTING_SIZE / 2];
    char setting[BED_SETTING_SIZE];
    va_list args;
    size_t at = 0;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(setting, sizeof(setting), "%s%s%s", text[0] == '.' ? "routes." : "",
             text[0] == '.' ? b->route : "", text);
    size_t name_size = strcspn(setting, "=") + 1;
    while (at < b->setting_count && strncmp(b->settings[at], setting, name_size) != 0) {
        at++;
    }
    cr_assert_lt(at, BED_SETTING_COUNT_MAX);
    memcpy(b->settings[at], setting, sizeof(setting));
    b->setting_count += at == b->setting_count ? 1 : 0;
}

static void header(rd_kafka_headers_t *headers, const char *name, const char *value)
{
    if (value != NULL) {
        rd_kafka_header_add(headers, name, -1, value, -1);
    }
}

static rd_kafka_headers_t *headers_of(const struct bed_record *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(8);
    const char op[] = {record->op, '\0'};
    char number[32];

    if (record->op == '\0') {
        return headers;
    }
    header(headers, "walrelay.op", op);
    header(headers, "walrelay.table", record->table == NULL ? "public.shows" : record->table);
    snprintf(number, sizeof(number), "%lld", (long long)(wr_clock_realtime_ns() / 1000));
    header(headers, "walrelay.commit", number);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)record->lsn);
    header(headers, "walrelay.lsn", number);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)record->seq);
    header(headers, "walrelay.seq", number);
    header(headers, "walrelay.types", record->types);
    header(headers, "walrelay.unavailable", record->unavailable);
    header(headers, "walrelay.moved.from", record->moved_from);
    return headers;
}

static size_t size_of(const char *text, size_t size)
{
    return size > 0 || text == NULL ? size : strlen(text);
}

void bed_put(struct bed *b, const struct bed_record *record)
{
    const rd_kafka_vu_t arguments[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = b->topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = record->partition},
        {.vtype = RD_KAFKA_VTYPE_KEY,
         .u.mem = {(void *)(uintptr_t)record->key, size_of(record->key, record->key_size)}},
        {.vtype = RD_KAFKA_VTYPE_VALUE,
         .u.mem = {(void *)(uintptr_t)record->value, size_of(record->value, record->value_size)}},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers_of(record)},
    };
    rd_kafka_error_t *error = NULL;

    do {
        error =
            rd_kafka_produceva(b->producer, arguments, sizeof(arguments) / sizeof(arguments[0]));
        rd_kafka_poll(b->producer, error == NULL ? 0 : 100);
    } while (rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL);
    cr_assert_null(error, "%s", rd_kafka_error_string(error));
}

void bed_flush(struct bed *b)
{
    cr_assert_eq(rd_kafka_flush(b->producer, ANSWER_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

static const char *write_settings(struct bed *b)
{
    static char path[300];

    snprintf(path, sizeof(path), "%s/sink.properties", b->directory);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    for (size_t i = 0; i < b->setting_count; i++) {
        for (const char *c = b->settings[i]; *c != '\0'; c++) {
            fprintf(file, *c == '\\' ? "\\\\" : "%c", *c); /* Java's escape */
        }
        fputc('\n', file);
    }
    fclose(file);
    return path;
}

void bed_start(struct bed *b)
{
    const char *const arguments[] = {b->services->binary, "sink", b->route, "-c",
                                     write_settings(b),   NULL};

    cr_assert_lt(b->process_count, BED_PROCESS_COUNT_MAX);
    b->processes[b->process_count++] = process_start(arguments, b->log_path);
}

void bed_start_reading(struct bed *b)
{
    int64_t end_us = wr_clock_monotonic_us() + WAIT_MS * INT64_C(1000);
    size_t before = bed_log_count(b, "msg=reading");

    bed_start(b);
    while (bed_log_count(b, "msg=reading") == before) {
        if (wr_clock_monotonic_us() > end_us) {
            bed_fail(b, "the sink does not begin to read");
        }
        sleep_ms(20);
    }
}

static struct process *last(struct bed *b)
{
    cr_assert_gt(b->process_count, 0);
    return &b->processes[b->process_count - 1];
}

int bed_wait_exit(struct bed *b)
{
    struct process *p = last(b);

    if (!process_wait(p, WAIT_MS)) {
        bed_fail(b, "the sink does not end");
    }
    b->process_count--;
    return b->processes[b->process_count].exit_code;
}

void bed_stop(struct bed *b)
{
    process_signal(last(b), SIGTERM);
    int code = bed_wait_exit(b);
    if (code != 0) {
        bed_fail(b, "the sink ended with %d", code);
    }
}

void bed_kill(struct bed *b)
{
    process_signal(last(b), SIGKILL);
    (void)bed_wait_exit(b);
}

static int partition_count(struct bed *b)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(b->producer, b->topic, NULL);

    cr_assert_eq(rd_kafka_metadata(b->producer, 0, topic, &metadata, ANSWER_MS),
                 RD_KAFKA_RESP_ERR_NO_ERROR);
    int count = metadata->topics[0].partition_cnt;
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(topic);
    return count;
}

static int64_t committed(rd_kafka_t *consumer, const char *topic, int partition)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

    rd_kafka_topic_partition_list_add(list, topic, partition);
    rd_kafka_resp_err_t code = rd_kafka_committed(consumer, list, ANSWER_MS);
    int64_t offset = code == RD_KAFKA_RESP_ERR_NO_ERROR ? list->elems[0].offset : -1;
    rd_kafka_topic_partition_list_destroy(list);
    return offset < 0 ? -1 : offset;
}

int64_t bed_committed(struct bed *b, int partition)
{
    rd_kafka_t *consumer = client(b, RD_KAFKA_CONSUMER, b->group);
    int64_t offset = committed(consumer, b->topic, partition);

    rd_kafka_destroy(consumer);
    return offset;
}

static bool is_drained(struct bed *b, rd_kafka_t *consumer, int partition)
{
    int64_t low = 0;
    int64_t high = 0;

    return rd_kafka_query_watermark_offsets(consumer, b->topic, partition, &low, &high,
                                            ANSWER_MS) == RD_KAFKA_RESP_ERR_NO_ERROR &&
           (high == low || committed(consumer, b->topic, partition) >= high);
}

void bed_drain(struct bed *b)
{
    int64_t end_us = wr_clock_monotonic_us() + WAIT_MS * INT64_C(1000);
    rd_kafka_t *consumer = client(b, RD_KAFKA_CONSUMER, b->group);
    bed_flush(b);
    int count = partition_count(b);

    for (int i = 0; i < count;) {
        if (is_drained(b, consumer, i)) {
            i++;
            continue;
        }
        bool has_ended = b->process_count > 0 && process_wait(last(b), 0);
        if (wr_clock_monotonic_us() > end_us || has_ended) {
            bed_fail(b, "partition %d was not drained%s", i, has_ended ? ": the sink ended" : "");
        }
        sleep_ms(50);
    }
    rd_kafka_destroy(consumer);
}

void bed_rewind(struct bed *b, int64_t offset)
{
    rd_kafka_t *consumer = client(b, RD_KAFKA_CONSUMER, b->group);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    int count = partition_count(b);
    int64_t end_us = wr_clock_monotonic_us() + WAIT_MS * INT64_C(1000);
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;

    for (int i = 0; i < count; i++) {
        rd_kafka_topic_partition_list_add(list, b->topic, i)->offset = offset;
    }
    do { /* a member that was killed is one for a while */
        sleep_ms(100);
        code = rd_kafka_commit(consumer, list, 0);
    } while (code != RD_KAFKA_RESP_ERR_NO_ERROR && wr_clock_monotonic_us() < end_us);
    cr_assert_eq(code, RD_KAFKA_RESP_ERR_NO_ERROR, "%s", rd_kafka_err2str(code));
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(consumer);
}

size_t bed_read(struct bed *b, const char *topic, char **values, size_t most)
{
    rd_kafka_t *consumer = client(b, RD_KAFKA_CONSUMER, "walrelay-tests");
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    size_t count = 0;
    bool is_over = false;

    rd_kafka_topic_partition_list_add(list, topic, 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_assign(consumer, list);
    while (!is_over) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, ANSWER_MS);
        cr_assert_not_null(message, "%s was not read to its end", topic);
        is_over = message->err != RD_KAFKA_RESP_ERR_NO_ERROR;
        if (!is_over && count < most) {
            values[count++] =
                strndup(message->payload == NULL ? "" : message->payload, message->len);
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    return count;
}

const char *bed_log(const struct bed *b)
{
    static char text[LOG_SIZE_MAX];
    FILE *file = fopen(b->log_path, "r");
    size_t size = 0;

    if (file != NULL) {
        size = fread(text, 1, sizeof(text) - 1, file);
        fclose(file);
    }
    text[size] = '\0';
    return text;
}

size_t bed_log_count(const struct bed *b, const char *text)
{
    size_t count = 0;

    for (const char *at = bed_log(b); (at = strstr(at, text)) != NULL; at++) {
        count++;
    }
    return count;
}

void bed_wait_log(struct bed *b, const char *text)
{
    int64_t end_us = wr_clock_monotonic_us() + WAIT_MS * INT64_C(1000);

    while (strstr(bed_log(b), text) == NULL) {
        if (wr_clock_monotonic_us() > end_us) {
            bed_fail(b, "the log never says \"%s\"", text);
        }
        sleep_ms(20);
    }
}

void bed_fail(const struct bed *b, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    process_print_log(b->log_path);
    cr_assert(false, "%s", text);
    abort();
}
