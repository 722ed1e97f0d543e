#include "publisher/topic_creator.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/regex.h"
#include "config/config.h"
#include "config/topic_group.h"

enum {
    ANSWER_TIMEOUT_MS = 15000,
    RETRY_US = 1000000, /* after an answer that will not stay so */
    REASON_SIZE_MAX = 512,
};

struct group {
    const struct topic_group *config;
    struct wr_regex_list *include, *exclude; /* NULL: none */
};

struct topic_creator {
    rd_kafka_t *kafka;
    rd_kafka_queue_t *answers;
    struct group *groups; /* the last one is the default group, which has all topics */
    size_t group_count;
    char topic[WR_TOPIC_SIZE_MAX + 1]; /* that is being made; one at a time, as records come */
    const struct group *group;         /* which it belongs to */
    bool is_asked;
    int64_t retry_at_us;
    bool may_not_create; /* was said */
};

static enum wr_status compile(const char *patterns, struct wr_regex_list **out,
                              struct wr_error *err)
{
    return patterns == NULL ? WR_OK : wr_regex_list_new(patterns, out, err);
}

enum wr_status topic_creator_new(const struct config *config, rd_kafka_t *kafka,
                                 struct topic_creator **out, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    *out = NULL;
    if (config->topic_group_count == 0) {
        return WR_OK;
    }
    struct topic_creator *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        abort();
    }
    c->kafka = kafka;
    c->group_count = config->topic_group_count;
    c->groups = calloc(c->group_count, sizeof(*c->groups));
    if (c->groups == NULL) {
        abort();
    }
    c->answers = rd_kafka_queue_new(kafka);
    for (size_t i = 0; status == WR_OK && i < c->group_count; i++) {
        c->groups[i].config = &config->topic_groups[i];
        status = compile(config->topic_groups[i].include, &c->groups[i].include, err);
        if (status == WR_OK) {
            status = compile(config->topic_groups[i].exclude, &c->groups[i].exclude, err);
        }
    }
    if (status != WR_OK) {
        topic_creator_free(c);
        return status;
    }
    *out = c;
    return WR_OK;
}

void topic_creator_free(struct topic_creator *c)
{
    if (c == NULL) {
        return;
    }
    for (size_t i = 0; i < c->group_count; i++) {
        wr_regex_list_free(c->groups[i].include);
        wr_regex_list_free(c->groups[i].exclude);
    }
    rd_kafka_queue_destroy(c->answers);
    free(c->groups);
    free(c);
}

/* The first group that has it; an exclusion counts more than an inclusion. */
static const struct group *find_group(const struct topic_creator *c, struct wr_slice topic)
{
    for (size_t i = 0; i + 1 < c->group_count; i++) {
        const struct group *group = &c->groups[i];
        bool is_excluded = group->exclude != NULL && wr_regex_list_matches(group->exclude, topic);
        if (!is_excluded && wr_regex_list_matches(group->include, topic)) {
            return group;
        }
    }
    return &c->groups[c->group_count - 1];
}

static enum wr_status ask(struct topic_creator *c, struct wr_error *err)
{
    const struct topic_group *group = c->group->config;
    char reason[REASON_SIZE_MAX];
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(
        c->topic, group->partition_count, group->replication_factor, reason, sizeof(reason));

    if (topic == NULL) {
        return wr_fail(err, WR_FATAL, "kafka", "topic %s cannot be created: %s", c->topic, reason);
    }
    for (size_t i = 0; i < group->settings.count; i++) {
        (void)rd_kafka_NewTopic_set_config(topic, group->settings.items[i].name,
                                           group->settings.items[i].value);
    }
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(c->kafka, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    (void)rd_kafka_AdminOptions_set_request_timeout(options, ANSWER_TIMEOUT_MS, NULL, 0);
    rd_kafka_CreateTopics(c->kafka, &topic, 1, options, c->answers);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_NewTopic_destroy(topic);
    c->is_asked = true;
    return WR_OK;
}

/* What stays so until somebody changes a setting. */
static bool is_lasting(rd_kafka_resp_err_t code)
{
    static const rd_kafka_resp_err_t codes[] = {
        RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR,
        RD_KAFKA_RESP_ERR_INVALID_PARTITIONS,
        RD_KAFKA_RESP_ERR_INVALID_CONFIG,
        RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
        RD_KAFKA_RESP_ERR_INVALID_REQUEST,
        RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
        RD_KAFKA_RESP_ERR__INVALID_ARG,
        RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE,
    };

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (code == codes[i]) {
            return true;
        }
    }
    return false;
}

static enum wr_status judge(struct topic_creator *c, rd_kafka_resp_err_t code, const char *reason,
                            struct wr_error *err)
{
    const char *group = c->group->config->name;

    /* Not -Wswitch-enum: librdkafka has some 200 codes. */
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        wr_log(WR_LOG_INFO, "kafka", WR_MSG("a topic was created"), WR_STR("topic", c->topic),
               WR_STR("group", group));
        return WR_OK;
    }
    if (code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
        return WR_OK;
    }
    if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
        code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED) {
        if (!c->may_not_create) {
            wr_log(WR_LOG_WARN, "kafka",
                   WR_MSG("this user may not create topics: they must be there, or the broker "
                          "makes them; grant CREATE, or leave topic.creation.* out"),
                   WR_STR("topic", c->topic), WR_STR("reason", reason));
        }
        c->may_not_create = true;
        return WR_OK;
    }
    if (is_lasting(code)) {
        return wr_fail(err, WR_FATAL, "kafka",
                       "topic %s cannot be created: %s (%s); see topic.creation.%s.*", c->topic,
                       reason, rd_kafka_err2name(code), group);
    }
    wr_log(WR_LOG_WARN, "kafka", WR_MSG("a topic could not be created, trying again"),
           WR_STR("topic", c->topic), WR_STR("reason", reason));
    c->retry_at_us = wr_clock_monotonic_us() + RETRY_US;
    return wr_fail(err, WR_AGAIN, "kafka", "topic %s is not there yet", c->topic);
}

/* One topic was asked for, so there is one result. */
static enum wr_status take_answer(struct topic_creator *c, rd_kafka_event_t *event,
                                  struct wr_error *err)
{
    size_t count = 0;
    const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);

    c->is_asked = false;
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR || result == NULL) {
        return judge(c, rd_kafka_event_error(event), rd_kafka_event_error_string(event), err);
    }
    const rd_kafka_topic_result_t **topics = rd_kafka_CreateTopics_result_topics(result, &count);
    assert(count == 1);
    rd_kafka_resp_err_t code = rd_kafka_topic_result_error(topics[0]);
    const char *reason = rd_kafka_topic_result_error_string(topics[0]);
    return judge(c, code, reason == NULL ? rd_kafka_err2str(code) : reason, err);
}

/* What walrelay notes for itself: made where it is needed, and compacted. */
static bool is_own(struct wr_slice topic)
{
    static const char PREFIX[] = "walrelay.state.";

    return topic.size >= sizeof(PREFIX) - 1 && memcmp(topic.data, PREFIX, sizeof(PREFIX) - 1) == 0;
}

static void turn_to(struct topic_creator *c, struct wr_slice topic)
{
    assert(topic.size < sizeof(c->topic));
    memcpy(c->topic, topic.data, topic.size);
    c->topic[topic.size] = '\0';
    c->group = find_group(c, topic);
    c->retry_at_us = 0;
}

enum wr_status topic_creator_ensure(struct topic_creator *c, struct wr_slice topic,
                                    struct wr_error *err)
{
    if (c->may_not_create || is_own(topic)) {
        return WR_OK;
    }
    if (!c->is_asked && !wr_slice_is(topic, c->topic)) {
        turn_to(c, topic);
    }
    if (!c->is_asked && wr_clock_monotonic_us() >= c->retry_at_us) {
        enum wr_status status = ask(c, err);
        if (status != WR_OK) {
            return status;
        }
    }
    rd_kafka_event_t *event = rd_kafka_queue_poll(c->answers, 0);
    if (event == NULL) {
        return wr_fail(err, WR_AGAIN, "kafka", "topic %s is not there yet", c->topic);
    }
    bool is_it = wr_slice_is(topic, c->topic); /* not one whose record nobody waits for any more */
    enum wr_status status = take_answer(c, event, err);
    rd_kafka_event_destroy(event);
    return status == WR_OK && !is_it ? wr_fail(err, WR_AGAIN, "kafka", "another topic first")
                                     : status;
}
