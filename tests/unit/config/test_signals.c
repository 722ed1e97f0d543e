#include "load.h"

TestSuite(signals, .fini = forget);

Test(signals, come_from_a_table_unless_they_are_told_otherwise)
{
    expect_loads(REQUIRED "signal.data.collection=public.signals\n");
    cr_expect_str_eq(config->signal_table, "public.signals");
    cr_expect(config->signal_by_table);
    cr_expect_not(config->signal_by_kafka);
    cr_expect_eq(config->incremental_chunk_size, 1024);
}

Test(signals, come_from_kafka_when_they_are_told_so)
{
    expect_loads(REQUIRED "signal.enabled.channels=source, kafka\nsignal.kafka.topic=asks\n"
                          "signal.kafka.groupId=g\nsignal.consumer.fetch.min.bytes=1\n");
    cr_expect(config->signal_by_table);
    cr_expect(config->signal_by_kafka);
    cr_expect_str_eq(config->signal_kafka_topic, "asks");
    cr_expect_str_eq(config->signal_kafka_group, "g");
    cr_assert_eq(config->signal_consumer.count, 1);
    cr_expect_str_eq(config->signal_consumer.items[0].name, "fetch.min.bytes");
}

Test(signals, come_from_no_channel_that_needs_java_or_a_file)
{
    static const char *const channels[] = {"jmx", "file", "source,in-process", "kafka jmx"};

    for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), REQUIRED "signal.enabled.channels=%s\n", channels[i]);
        cr_expect_not(load(text), "%s", channels[i]);
        cr_expect_not_null(strstr(problem(), "use source or kafka"), "%s", problem());
    }
}

Test(signals, need_a_table_with_its_schema)
{
    static const char *const tables[] = {"signals", ".signals", "public."};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), REQUIRED "signal.data.collection=%s\n", tables[i]);
        cr_expect_not(load(text), "%s", tables[i]);
        cr_expect_not_null(strstr(problem(), "schema.table"), "%s", problem());
    }
}

Test(signals, are_told_of_in_a_topic_that_has_a_name)
{
    cr_expect_not(load(REQUIRED "notification.enabled.channels=sink\n"));
    cr_expect_not_null(strstr(problem(), "notification.sink.topic.name"), "%s", problem());
    expect_loads(REQUIRED "notification.enabled.channels=sink,log\n"
                          "notification.sink.topic.name=told\n");
    cr_expect(config->notifies_topic);
    cr_expect(config->notifies_log);
    cr_expect_str_eq(config->notification_topic, "told");
}

Test(signals, are_told_of_nowhere_unless_asked)
{
    expect_loads(REQUIRED);
    cr_expect_not(config->notifies_topic);
    cr_expect_not(config->notifies_log);
    cr_expect_null(config->signal_table);
}

Test(signals, are_not_told_of_by_jmx)
{
    cr_expect_not(load(REQUIRED "notification.enabled.channels=jmx\n"));
    cr_expect_not_null(strstr(problem(), "use sink or log"), "%s", problem());
}
