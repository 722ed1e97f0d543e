#include "sink/consumer.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>

#include "base/log.h"
#include "sink/consumer_conf.h"
#include "sink/consumer_dead_letter.h"
#include "sink/route_record.h"
#include "sink/sink.h"

enum {
    REASON_SIZE_MAX = 512,
    ANSWER_TIMEOUT_MS = 10000,
    ANSWER_TRIES = 6, /* together below max.poll.interval.ms */
};

/*
 * Partitions come and go all at once (the eager protocol). `epoch` counts how often they went: a
 * message of an older one belongs to a partition that may be somebody else's by now, and nothing
 * may be committed for it. Kafka would take such a commit, and go back.
 */
struct consumer {
    struct consumer_settings settings;
    rd_kafka_t *kafka;
    rd_kafka_queue_t *queue;
    int fd;
    struct consumer_partition *partitions;
    size_t partition_count;
    uint64_t epoch;
    struct dead_letters *dead_letters; /* made when the first one is written */
    struct wr_error failure;           /* of a callback; status WR_OK: none */
    bool is_paused;
};

struct consumer_message {
    rd_kafka_message_t *kafka;
    uint64_t epoch;
    size_t partition;
    const char *fault;
    bool is_skipped;
};

static void forget_partitions(struct consumer *c)
{
    for (size_t i = 0; i < c->partition_count; i++) {
        free((void *)(uintptr_t)c->partitions[i].topic);
    }
    free(c->partitions);
    c->partitions = NULL;
    c->partition_count = 0;
    c->epoch++;
    c->is_paused = false;
}

static enum wr_status read_committed(struct consumer *c, rd_kafka_topic_partition_list_t *list,
                                     struct wr_error *err)
{
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;

    for (int i = 0; i < ANSWER_TRIES; i++) {
        code = rd_kafka_committed(c->kafka, list, ANSWER_TIMEOUT_MS);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            return WR_OK;
        }
    }
    return wr_fail(err, WR_FATAL, "sink", "group %s: its offsets cannot be read: %s",
                   c->settings.group, rd_kafka_err2str(code));
}

/* An offset above the end means that the topic is another one than that which was read before. */
static enum wr_status check_end(struct consumer *c, const struct consumer_partition *p,
                                struct wr_error *err)
{
    int64_t low = 0;
    int64_t high = 0;
    rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(c->kafka, p->topic, p->number, &low,
                                                                &high, ANSWER_TIMEOUT_MS);

    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || p->next <= high) {
        return WR_OK; /* what cannot be asked now shows when it is read */
    }
    return wr_fail(
        err, WR_FATAL, "sink",
        "topic %s partition %d ends at offset %lld, but group %s has read up to %lld: the "
        "topic was made anew; empty the target and reset the group's offsets",
        p->topic, p->number, (long long)high, c->settings.group, (long long)p->next);
}

static enum wr_status start_partition(struct consumer *c, rd_kafka_topic_partition_t *from,
                                      struct consumer_partition *p, struct wr_error *err)
{
    int64_t offset = from->offset >= 0 ? from->offset : -1;
    int64_t committed = offset;
    enum wr_status status = c->settings.events.assign(c->settings.events.context, from->topic,
                                                      from->partition, &offset, err);

    if (status != WR_OK) {
        return status;
    }
    *p = (struct consumer_partition){.topic = strdup(from->topic),
                                     .number = from->partition,
                                     .next = offset,
                                     .read = offset,
                                     .committed = committed};
    if (offset < 0) {
        from->offset = RD_KAFKA_OFFSET_BEGINNING;
        return WR_OK;
    }
    from->offset = offset;
    return check_end(c, p, err);
}

static enum wr_status take_assignment(struct consumer *c, rd_kafka_topic_partition_list_t *list,
                                      struct wr_error *err)
{
    enum wr_status status = list->cnt > 0 ? read_committed(c, list, err) : WR_OK;

    forget_partitions(c);
    c->partitions = calloc((size_t)list->cnt + 1, sizeof(*c->partitions));
    for (int i = 0; c->partitions != NULL && status == WR_OK && i < list->cnt; i++) {
        status = start_partition(c, &list->elems[i], &c->partitions[c->partition_count], err);
        c->partition_count += status == WR_OK || c->partitions[i].topic != NULL ? 1 : 0;
    }
    return status;
}

static void assign(struct consumer *c, rd_kafka_topic_partition_list_t *list)
{
    struct wr_error err = {0};

    if (take_assignment(c, list, &err) != WR_OK) {
        c->failure = err;
        forget_partitions(c);
        (void)rd_kafka_assign(c->kafka, NULL);
        return;
    }
    (void)rd_kafka_assign(c->kafka, list);
    wr_log(WR_LOG_INFO, "sink", WR_MSG("partitions assigned"), WR_STR("group", c->settings.group),
           WR_INT("partitions", list->cnt));
}

static void on_rebalance(rd_kafka_t *kafka, rd_kafka_resp_err_t code,
                         rd_kafka_topic_partition_list_t *list, void *opaque)
{
    struct consumer *c = opaque;

    if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        assign(c, list);
        return;
    }
    bool is_lost = rd_kafka_assignment_lost(kafka) != 0;
    c->settings.events.revoke(c->settings.events.context, is_lost);
    if (!is_lost) {
        consumer_commit(c, true);
    }
    wr_log(WR_LOG_INFO, "sink", WR_MSG(is_lost ? "partitions lost" : "partitions given back"),
           WR_STR("group", c->settings.group), WR_INT("partitions", c->partition_count));
    forget_partitions(c);
    (void)rd_kafka_assign(kafka, NULL);
}

static enum wr_status subscribe(struct consumer *c, struct wr_error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

    rd_kafka_topic_partition_list_add(list, c->settings.topic_pattern, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t code = rd_kafka_subscribe(c->kafka, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return wr_fail(err, WR_FATAL, "sink", "cannot subscribe to %s: %s",
                       c->settings.topic_pattern, rd_kafka_err2str(code));
    }
    return WR_OK;
}

enum wr_status consumer_new(const struct consumer_settings *settings, struct consumer **out,
                            struct wr_error *err)
{
    char reason[REASON_SIZE_MAX];
    rd_kafka_conf_t *conf = NULL;

    *out = NULL;
    enum wr_status status = consumer_conf_new(settings->config, settings->group, &conf, err);
    if (status != WR_OK) {
        return status;
    }
    struct consumer *c = calloc(1, sizeof(*c));
    assert(c != NULL);
    c->settings = *settings;
    c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rd_kafka_conf_set_opaque(conf, c);
    rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
    c->kafka = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof(reason));
    if (c->kafka == NULL) {
        rd_kafka_conf_destroy(conf);
        consumer_free(c);
        return wr_fail(err, WR_FATAL, "sink", "%s", reason);
    }
    (void)rd_kafka_poll_set_consumer(c->kafka);
    c->queue = rd_kafka_queue_get_consumer(c->kafka);
    static const uint64_t one = 1;
    rd_kafka_queue_io_event_enable(c->queue, c->fd, &one, sizeof(one));
    status = subscribe(c, err);
    if (status != WR_OK) {
        consumer_free(c);
        return status;
    }
    *out = c;
    return WR_OK;
}

void consumer_free(struct consumer *c)
{
    if (c == NULL) {
        return;
    }
    if (c->kafka != NULL) {
        (void)rd_kafka_consumer_close(c->kafka); /* on_rebalance() commits */
    }
    dead_letters_free(c->dead_letters);
    if (c->queue != NULL) {
        rd_kafka_queue_destroy(c->queue);
    }
    if (c->kafka != NULL) {
        rd_kafka_destroy(c->kafka);
    }
    forget_partitions(c);
    (void)close(c->fd);
    free(c);
}

int consumer_fd(const struct consumer *c)
{
    return c->fd;
}

static size_t find_partition(const struct consumer *c, const rd_kafka_message_t *message)
{
    const char *topic = rd_kafka_topic_name(message->rkt);

    for (size_t i = 0; i < c->partition_count; i++) {
        if (c->partitions[i].number == message->partition &&
            strcmp(c->partitions[i].topic, topic) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static struct wr_slice bytes_of(const void *data, size_t size)
{
    return (struct wr_slice){data, data == NULL ? 0 : size};
}

static void read_record(struct consumer_message *m, struct sink_record *record)
{
    const rd_kafka_message_t *message = m->kafka;
    rd_kafka_headers_t *headers = NULL;
    const char *name = NULL;
    const void *value = NULL;
    size_t size = 0;

    *record = (struct sink_record){
        .topic = wr_slice_str(rd_kafka_topic_name(message->rkt)),
        .partition = message->partition,
        .offset = message->offset,
        .key = bytes_of(message->key, message->key_len),
        .value = bytes_of(message->payload, message->len),
        .key_is_null = message->key == NULL,
        .value_is_null = message->payload == NULL,
    };
    bool has_headers = rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR;
    for (size_t i = 0; has_headers && rd_kafka_header_get_all(headers, i, &name, &value, &size) ==
                                          RD_KAFKA_RESP_ERR_NO_ERROR;
         i++) {
        const char *fault = route_record_header(record, name, bytes_of(value, size));
        m->fault = m->fault == NULL ? fault : m->fault;
    }
    m->is_skipped = route_record_is_foreign_tombstone(record);
    if (m->fault == NULL && !m->is_skipped) {
        m->fault = route_record_check(record);
    }
}

static enum wr_status judge(const struct consumer *c, const rd_kafka_message_t *message,
                            struct wr_error *err)
{
    const char *topic = message->rkt == NULL ? "" : rd_kafka_topic_name(message->rkt);
    bool is_gap = message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
                  message->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
    bool is_refused = message->err == RD_KAFKA_RESP_ERR__FATAL ||
                      message->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
                      message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;

    if (message->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        wr_log(WR_LOG_INFO, "sink", WR_MSG("no topic yet, waiting for one"),
               WR_STR("topics", c->settings.topic_pattern));
        return WR_AGAIN;
    }
    if (is_gap) {
        return wr_fail(err, WR_FATAL, "sink",
                       "topic %s partition %d no longer has what group %s reads next (%s): records "
                       "are missing; fill the target by a new snapshot, then reset the group's "
                       "offsets",
                       topic, message->partition, c->settings.group,
                       rd_kafka_message_errstr(message));
    }
    if (is_refused) {
        return wr_fail(err, WR_FATAL, "sink", "Kafka refuses group %s %s: %s", c->settings.group,
                       topic, rd_kafka_message_errstr(message));
    }
    wr_log(WR_LOG_WARN, "sink", WR_MSG(rd_kafka_message_errstr(message)),
           WR_STR("group", c->settings.group), WR_STR("error", rd_kafka_err2name(message->err)));
    return WR_AGAIN;
}

/* An end that Kafka tells is behind markers of transactions too, which are no records. */
static enum wr_status take_end(struct consumer *c, const rd_kafka_message_t *message)
{
    size_t at = find_partition(c, message);

    if (at != SIZE_MAX) {
        struct consumer_partition *p = &c->partitions[at];
        bool is_drained = p->next == p->read || p->read < 0;
        p->read = message->offset;
        p->next = is_drained ? message->offset : p->next;
        p->is_at_end = true;
    }
    return WR_AGAIN;
}

static enum wr_status take_message(struct consumer *c, rd_kafka_message_t *kafka,
                                   struct sink_record *record, struct consumer_message **out,
                                   struct wr_error *err)
{
    size_t at = kafka->err == RD_KAFKA_RESP_ERR_NO_ERROR ? find_partition(c, kafka) : SIZE_MAX;

    if (at == SIZE_MAX) {
        enum wr_status status = WR_AGAIN;
        if (kafka->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            status = take_end(c, kafka);
        } else if (kafka->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            status = judge(c, kafka, err);
        }
        rd_kafka_message_destroy(kafka);
        return status;
    }
    struct consumer_partition *p = &c->partitions[at];
    p->next = p->next < 0 ? kafka->offset : p->next;
    p->read = kafka->offset + 1;
    p->is_at_end = false;
    struct consumer_message *m = calloc(1, sizeof(*m));
    assert(m != NULL);
    *m = (struct consumer_message){.kafka = kafka, .epoch = c->epoch, .partition = at};
    read_record(m, record);
    *out = m;
    return WR_OK;
}

enum wr_status consumer_poll(struct consumer *c, struct sink_record *record,
                             struct consumer_message **message, struct wr_error *err)
{
    uint64_t count = 0;
    rd_kafka_message_t *kafka = rd_kafka_consumer_poll(c->kafka, 0);

    if (kafka == NULL) {
        /* The queue was empty after this read, or the next event writes again. */
        if (read(c->fd, &count, sizeof(count)) == (ssize_t)sizeof(count)) {
            kafka = rd_kafka_consumer_poll(c->kafka, 0);
        }
    }
    if (c->failure.status != WR_OK) {
        *err = c->failure;
        if (kafka != NULL) {
            rd_kafka_message_destroy(kafka);
        }
        return err->status;
    }
    return kafka == NULL ? WR_AGAIN : take_message(c, kafka, record, message, err);
}

const char *consumer_message_fault(const struct consumer_message *m)
{
    return m->fault;
}

bool consumer_message_is_skipped(const struct consumer_message *m)
{
    return m->is_skipped;
}

const char *consumer_message_topic(const struct consumer_message *m)
{
    return rd_kafka_topic_name(m->kafka->rkt);
}

int32_t consumer_message_number(const struct consumer_message *m)
{
    return m->kafka->partition;
}

int64_t consumer_message_offset(const struct consumer_message *m)
{
    return m->kafka->offset;
}

struct wr_slice consumer_message_key(const struct consumer_message *m)
{
    return bytes_of(m->kafka->key, m->kafka->key_len);
}

size_t consumer_message_size(const struct consumer_message *m)
{
    return m->kafka->len + m->kafka->key_len;
}

size_t consumer_message_partition(const struct consumer *c, const struct consumer_message *m)
{
    return m->epoch == c->epoch ? m->partition : SIZE_MAX;
}

void consumer_message_free(struct consumer *c, struct consumer_message *m)
{
    (void)c;
    rd_kafka_message_destroy(m->kafka);
    free(m);
}

struct consumer_partition *consumer_partitions(struct consumer *c, size_t *count)
{
    *count = c->partition_count;
    return c->partitions;
}

void consumer_applied(struct consumer *c, size_t partition, int64_t offset)
{
    struct consumer_partition *p = &c->partitions[partition];

    assert(partition < c->partition_count && offset <= p->read);
    if (offset > p->next) {
        p->next = offset;
    }
}

void consumer_commit(struct consumer *c, bool waits)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new((int)c->partition_count);

    for (size_t i = 0; i < c->partition_count; i++) {
        struct consumer_partition *p = &c->partitions[i];
        if (p->next > p->committed) {
            rd_kafka_topic_partition_list_add(list, p->topic, p->number)->offset = p->next;
            p->committed = p->next;
        }
    }
    rd_kafka_resp_err_t code =
        list->cnt > 0 ? rd_kafka_commit(c->kafka, list, !waits) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        wr_log(WR_LOG_WARN, "sink", WR_MSG("offsets were not committed, records will come again"),
               WR_STR("group", c->settings.group), WR_STR("error", rd_kafka_err2name(code)));
    }
    rd_kafka_topic_partition_list_destroy(list);
}

void consumer_pause(struct consumer *c, bool is_paused)
{
    rd_kafka_topic_partition_list_t *list = NULL;

    if (is_paused == c->is_paused || rd_kafka_assignment(c->kafka, &list) != 0) {
        return;
    }
    (void)(is_paused ? rd_kafka_pause_partitions(c->kafka, list)
                     : rd_kafka_resume_partitions(c->kafka, list));
    rd_kafka_topic_partition_list_destroy(list);
    c->is_paused = is_paused;
}

int64_t consumer_lag(struct consumer *c)
{
    int64_t lag = 0;

    for (size_t i = 0; i < c->partition_count; i++) {
        const struct consumer_partition *p = &c->partitions[i];
        int64_t low = 0;
        int64_t high = 0;
        bool is_known = rd_kafka_get_watermark_offsets(c->kafka, p->topic, p->number, &low,
                                                       &high) == RD_KAFKA_RESP_ERR_NO_ERROR &&
                        high >= 0;
        int64_t next = p->next > low ? p->next : low;
        if (!is_known) {
            return -1;
        }
        lag += high > next ? high - next : 0;
    }
    return lag;
}

enum wr_status consumer_dead_letter(struct consumer *c, struct consumer_message *m,
                                    const char *reason, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    if (c->dead_letters == NULL) {
        status = dead_letters_new(c->settings.config, &c->dead_letters, err);
    }
    if (status == WR_OK) {
        status = dead_letters_write(c->dead_letters, m->kafka, reason, err);
    }
    return status;
}
