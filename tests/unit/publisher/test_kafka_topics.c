#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "publisher/kafka_topics.h"

/* A producer without brokers: handles need no more. */
static rd_kafka_t *kafka;
static struct kafka_topics *topics;

static void open_topics(void)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
    kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
    cr_assert_not_null(kafka, "%s", text);
    topics = kafka_topics_new(kafka);
}

static void close_topics(void)
{
    kafka_topics_free(topics);
    rd_kafka_destroy(kafka);
}

TestSuite(kafka_topics, .init = open_topics, .fini = close_topics);

Test(kafka_topics, gives_one_handle_a_name)
{
    char name[] = "orders";
    rd_kafka_topic_t *orders = kafka_topics_get(topics, wr_slice_str(name));

    cr_expect_str_eq(rd_kafka_topic_name(orders), "orders");
    name[0] = 'b'; /* the name that was passed is not kept */
    rd_kafka_topic_t *other = kafka_topics_get(topics, wr_slice_str(name));
    cr_expect_str_eq(rd_kafka_topic_name(other), "brders");
    cr_expect_neq(orders, other);
    cr_expect_eq(kafka_topics_get(topics, WR_SLICE("orders")), orders);
    cr_expect_eq(kafka_topics_get(topics, WR_SLICE("orders")), orders);
}

Test(kafka_topics, takes_a_name_from_the_middle_of_bytes)
{
    char *bytes = malloc(6);

    memcpy(bytes, "orders", 6);
    cr_expect_str_eq(rd_kafka_topic_name(kafka_topics_get(topics, (struct wr_slice){bytes, 6})),
                     "orders");
    cr_expect_str_eq(rd_kafka_topic_name(kafka_topics_get(topics, (struct wr_slice){bytes, 3})),
                     "ord");
    free(bytes);
}

Test(kafka_topics, stays_right_with_more_names_than_it_holds)
{
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2500; i++) {
            char name[32];
            snprintf(name, sizeof(name), "topic-%d", i);
            rd_kafka_topic_t *topic = kafka_topics_get(topics, wr_slice_str(name));
            cr_assert_str_eq(rd_kafka_topic_name(topic), name);
        }
    }
}
