/* topic.creation.*: topics that are made as Kafka Connect makes them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <librdkafka/rdkafka.h>

#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/process.h"
#include "support/records.h"
#include "support/server.h"
#include "support/topic.h"

static struct live l;
static struct server kafka;

static void tear_down(void)
{
    live_close(&l);
    server_close(&kafka);
}

TestSuite(topic_creation, .fini = tear_down, .timeout = 300);

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

static void ignore(void *context, const rd_kafka_message_t *message)
{
    (void)context;
    (void)message;
}

static rd_kafka_t *client_new(void)
{
    char reason[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set(conf, "bootstrap.servers", l.services.bootstrap, NULL, 0);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    cr_assert_not_null(client, "%s", reason);
    return client;
}

/* 0: there is no such topic. */
static int partition_count(const char *name)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_t *client = client_new();
    int count = 0;

    cr_assert_eq(rd_kafka_metadata(client, 1, NULL, &metadata, 10000), RD_KAFKA_RESP_ERR_NO_ERROR);
    for (int i = 0; i < metadata->topic_cnt; i++) {
        if (strcmp(metadata->topics[i].topic, name) == 0) {
            count = metadata->topics[i].partition_cnt;
        }
    }
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_destroy(client);
    return count;
}

/* A setting of a topic, as the broker has it. */
static const char *setting_of(const char *name, const char *setting)
{
    static char value[128];
    rd_kafka_t *client = client_new();
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name);
    size_t count = 0, entry_count = 0;

    rd_kafka_DescribeConfigs(client, &resource, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 10000);
    cr_assert_not_null(event);
    const rd_kafka_ConfigResource_t **resources = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event), &count);
    const rd_kafka_ConfigEntry_t **entries =
        rd_kafka_ConfigResource_configs(resources[0], &entry_count);
    value[0] = '\0';
    for (size_t i = 0; i < entry_count; i++) {
        if (strcmp(rd_kafka_ConfigEntry_name(entries[i]), setting) == 0) {
            snprintf(value, sizeof(value), "%s", rd_kafka_ConfigEntry_value(entries[i]));
        }
    }
    rd_kafka_event_destroy(event);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
    return value;
}

#define expect_setting(name, setting, expected)                                                    \
    cr_expect_str_eq(setting_of((name), (setting)), (expected), "%s of %s is %s", (setting),       \
                     (name), setting_of((name), (setting)))

static void open_tables(const char *name)
{
    live_open(&l, name);
    live_run(&l, "create table a (id int primary key); create table b (id int primary key);"
                 "create table c (id int primary key); create publication wr_pub for all tables;");
    live_set(&l, "topic.creation.default.replication.factor=1");
    live_set(&l, "topic.creation.default.partitions=3");
}

/* With a broker that makes none by itself. */
Test(topic_creation, makes_each_topic_as_its_group_says)
{
    server_open(&kafka, SERVER_KAFKA,
                (const char *const[]){"auto.create.topics.enable=false", NULL});
    l.services = *services_or_skip();
    l.services.bootstrap = kafka.address;
    open_tables("topic_creation_groups");
    live_set(&l, "topic.creation.groups=compacted, small");
    live_set(&l, "topic.creation.compacted.include=.*\\.b,.*\\.c");
    live_set(&l, "topic.creation.compacted.exclude=.*\\.c");
    live_set(&l, "topic.creation.compacted.cleanup.policy=compact");
    live_set(&l, "topic.creation.small.include=.*\\.[bc]");
    live_set(&l, "topic.creation.small.partitions=1");
    live_set(&l, "topic.creation.small.retention.ms=3600000");
    live_set(&l, "topic.creation.default.compression.type=lz4");
    live_stream(&l);
    live_run(&l, "insert into a values (1); insert into b values (1); insert into c values (1);"
                 "insert into a values (2);");
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(partition_count(topic("public.a")), 3);
    expect_setting(topic("public.a"), "compression.type", "lz4");
    expect_setting(topic("public.a"), "cleanup.policy", "delete");
    cr_expect_eq(partition_count(topic("public.b")), 3, "from the default group");
    expect_setting(topic("public.b"), "cleanup.policy", "compact");
    expect_setting(topic("public.b"), "compression.type", "producer");
    cr_expect_eq(partition_count(topic("public.c")), 1);
    expect_setting(topic("public.c"), "retention.ms", "3600000");
    cr_expect_eq(topic_read(l.services.bootstrap, topic("public.a"), ignore, NULL), 2);
    cr_expect_eq(topic_read(l.services.bootstrap, topic("public.c"), ignore, NULL), 1);
    cr_expect_eq(live_log_count(&l, "a topic was created"), 3);
}

Test(topic_creation, leaves_a_topic_that_is_there_as_it_is)
{
    open_tables("topic_creation_there");
    live_set(&l, "topic.creation.default.cleanup.policy=compact");
    topic_create(l.services.bootstrap, topic("public.a"), 2, NULL);
    live_stream(&l);
    live_run(&l, "insert into a values (1);");
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(partition_count(topic("public.a")), 2);
    expect_setting(topic("public.a"), "cleanup.policy", "delete");
    cr_expect_eq(topic_read(l.services.bootstrap, topic("public.a"), ignore, NULL), 1);
    expect_no_log(&l, "a topic was created");
}

Test(topic_creation, stops_before_the_row_when_kafka_will_not_have_such_a_topic)
{
    open_tables("topic_creation_refused");
    live_set(&l, "topic.creation.default.replication.factor=7");
    live_start(&l, NULL);
    live_wait_streaming(&l);
    live_run(&l, "insert into a values (1);");
    const char *lsn = pg_query(l.sql, "select pg_current_wal_flush_lsn()");
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "cannot be created: ");
    expect_log(&l, "see topic.creation.default.*");
    cr_expect_str_eq(pg_queryf(l.sql,
                               "select confirmed_flush_lsn < '%s' from pg_replication_slots"
                               " where slot_name = '%s'",
                               lsn, l.slot),
                     "t");
    live_set(&l, "topic.creation.default.replication.factor=1");
    live_set(&l, "topic.creation.default.cleanup.policy=polish");
    live_start(&l, NULL);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "polish");
    live_set(&l, "topic.creation.default.cleanup.policy=compact");
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(topic_read(l.services.bootstrap, topic("public.a"), ignore, NULL), 1);
}

Test(topic_creation, is_left_to_the_broker_when_it_is_switched_off)
{
    open_tables("topic_creation_off");
    live_set(&l, "topic.creation.enable=false");
    live_stream(&l);
    live_run(&l, "insert into a values (1);");
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(partition_count(topic("public.a")), 1);
}

/* Neither the connection nor the end waits for a Kafka that does not answer. */
Test(topic_creation, waits_for_a_silent_kafka_without_holding_up_anything)
{
    server_open(&kafka, SERVER_KAFKA, NULL);
    l.services = *services_or_skip();
    l.services.bootstrap = kafka.address;
    open_tables("topic_creation_silent");
    live_set(&l, "shutdown.timeout.ms=2000");
    pg_exec(l.sql, "alter database topic_creation_silent set wal_sender_timeout = '3s'");
    live_stream(&l);
    server_signal(&kafka, SIGSTOP);
    live_run(&l, "insert into a values (1);");
    sleep_ms(6000);
    expect_no_log(&l, "retry_ms");
    live_stop(&l); /* the row comes again */
    server_signal(&kafka, SIGCONT);
    live_stream(&l);
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_geq(topic_read(l.services.bootstrap, topic("public.a"), ignore, NULL), 1);
    cr_expect_eq(partition_count(topic("public.a")), 3);
}

Test(topic_creation, makes_topics_for_transactions_as_well)
{
    open_tables("topic_creation_eos");
    live_set(&l, "exactly.once.support=required");
    live_stream(&l);
    live_run(&l, "insert into a values (1); insert into b values (1); insert into a values (2);");
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_expect_eq(partition_count(topic("public.a")), 3);
    cr_expect_eq(partition_count(topic("public.b")), 3);
    cr_expect_eq(live_log_count(&l, "a topic was created"), 2);
}
