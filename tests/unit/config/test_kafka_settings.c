#include "load.h"

TestSuite(kafka_settings, .fini = forget);

static const char *setting(const char *name)
{
    return pair(&config->kafka, name);
}

Test(kafka_settings, find_a_broker_where_none_is_named)
{
    expect_loads(REQUIRED);
    expect_text(setting("bootstrap.servers"), "localhost:9092");
    cr_expect_eq(config->kafka.count, 1);
    expect_loads(REQUIRED "bootstrap.servers=a:1,b:2\n");
    expect_text(setting("bootstrap.servers"), "a:1,b:2");
}

Test(kafka_settings, need_no_broker_without_kafka)
{
    const struct config_source sources[] = {{.set = "topic.prefix=p"},
                                            {.set = "database.dbname=d"}};
    struct wr_error err = {0};

    cr_assert_eq(config_load(sources, 2, false, keep_problem, &config, &err), WR_OK);
    cr_expect_eq(config->kafka.count, 0);
}

Test(kafka_settings, of_an_override_win_over_the_workers_in_any_order)
{
    expect_loads(REQUIRED "producer.override.linger.ms=3\nproducer.linger.ms=2\n"
                          "producer.security.protocol=SSL\nsecurity.protocol=PLAINTEXT\n");
    expect_text(setting("linger.ms"), "3");
    expect_text(setting("security.protocol"), "SSL");
}

Test(kafka_settings, translate_javas_names)
{
    expect_loads(REQUIRED "producer.max.request.size=5000000\nproducer.buffer.memory=33554432\n"
                          "producer.delivery.timeout.ms=7\nproducer.send.buffer.bytes=-1\n"
                          "producer.receive.buffer.bytes=99\nproducer.acks=-1\n"
                          "producer.batch.size=262144\nproducer.compression.type=zstd\n"
                          "producer.max.in.flight.requests.per.connection=5\n");
    expect_text(setting("message.max.bytes"), "5000000");
    expect_text(setting("max.request.size"), NULL);
    expect_text(setting("queue.buffering.max.kbytes"), "32768");
    expect_text(setting("message.timeout.ms"), "7");
    expect_text(setting("socket.send.buffer.bytes"), "0");
    expect_text(setting("socket.receive.buffer.bytes"), "99");
    expect_text(setting("acks"), "all");
    expect_text(setting("batch.size"), "262144");
    expect_text(setting("compression.type"), "zstd");
    expect_text(setting("max.in.flight.requests.per.connection"), "5");
}

Test(kafka_settings, round_a_queue_up_to_whole_kilobytes)
{
    expect_loads(REQUIRED "producer.buffer.memory=1\n");
    expect_text(setting("queue.buffering.max.kbytes"), "1");
    expect_loads(REQUIRED "producer.buffer.memory=1025\n");
    expect_text(setting("queue.buffering.max.kbytes"), "2");
    expect_refused(REQUIRED "producer.buffer.memory=12x\n",
                   "3: producer.buffer.memory=12x: must be a number of bytes");
    expect_refused(REQUIRED "producer.buffer.memory=-1\n",
                   "3: producer.buffer.memory=-1: must be a number of bytes");
}

Test(kafka_settings, drop_what_only_java_has)
{
    expect_loads(REQUIRED "producer.key.serializer=org.apache.kafka.x\nproducer.max.block.ms=5\n"
                          "producer.partitioner.class=org.apache.kafka.x.DefaultPartitioner\n"
                          "producer.partitioner.ignore.keys=false\n"
                          "consumer.fetch.min.bytes=1\nadmin.retries=2\n");
    cr_expect_eq(config->kafka.count, 1);
}

Test(kafka_settings, of_consumers_stand_beside_those_of_the_producer)
{
    expect_loads(REQUIRED "consumer.fetch.max.wait.ms=7\nconsumer.override.fetch.min.bytes=2\n"
                          "consumer.fetch.min.bytes=1\nconsumer.max.poll.records=9\n"
                          "consumer.key.deserializer=org.apache.kafka.x\nssl.ca.pem=P\n"
                          "producer.linger.ms=3\n");
    const struct config_pairs *pairs = &config->kafka_consumer;
    size_t found = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct config_pair *p = &pairs->items[i];
        found += strcmp(p->name, "fetch.wait.max.ms") == 0 && strcmp(p->value, "7") == 0 ? 1 : 0;
        found += strcmp(p->name, "fetch.min.bytes") == 0 && strcmp(p->value, "2") == 0 ? 1 : 0;
        found += strcmp(p->name, "ssl.ca.pem") == 0 ? 1 : 0;
    }
    cr_expect_eq(found, 3);
    cr_expect_eq(pairs->count, 4, "bootstrap.servers beside them");
    cr_expect_null(setting("fetch.min.bytes"));
}

Test(kafka_settings, keep_the_promise_of_delivery)
{
    expect_refused(REQUIRED "producer.acks=1\n",
                   "3: producer.acks=1: must be all: with less, Kafka may lose what it has "
                   "acknowledged");
    expect_refused(REQUIRED "producer.override.request.required.acks=0\n",
                   "3: producer.override.request.required.acks=0: must be all: with less, Kafka "
                   "may lose what it has acknowledged");
    expect_refused(REQUIRED "producer.transactional.id=x\n",
                   "3: producer.transactional.id=x: is not supported; leave it out: delivery is at "
                   "least once");
    expect_refused(REQUIRED "producer.partitioner.class=org.x.RoundRobinPartitioner\n",
                   "3: producer.partitioner.class=org.x.RoundRobinPartitioner: is not supported; "
                   "set librdkafka's producer.partitioner");
}

Test(kafka_settings, read_a_jaas_line)
{
    expect_loads(REQUIRED
                 "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config="
                 "org.apache.kafka.common.security.plain.PlainLoginModule required "
                 "serviceName=\"username\" username=\"relay\" password = 'a\"b\\\\'c d' ;\n");
    expect_text(setting("sasl.mechanism"), "PLAIN");
    expect_text(setting("sasl.username"), "relay");
    expect_text(setting("sasl.password"), "a\"b'c d");
    expect_text(setting("sasl.jaas.config"), NULL);
}

Test(kafka_settings, refuse_a_jaas_line_without_showing_it)
{
    static const char *const bad[] = {
        "com.sun.Krb5LoginModule required username=\"u\" password=\"hidden1\";",
        "a.PlainLoginModule required username=\"u\";",
        "a.PlainLoginModule required username=\"u\" password=\"hidden1;",
        "a.ScramLoginModule required username=\"u\" xpassword=\"hidden1\";",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[512] = {0};
        snprintf(text, sizeof(text), REQUIRED "producer.sasl.jaas.config=%s\n", bad[i]);
        cr_expect_not(load(text), "%s", bad[i]);
        cr_expect_null(strstr(problem(), "hidden1"));
        cr_expect_not_null(strstr(problem(), "[hidden]: must be of PlainLoginModule"));
    }
}

Test(kafka_settings, take_stores_that_are_pem)
{
    expect_loads(REQUIRED "ssl.truststore.type=PEM\nssl.truststore.location=/ca.pem\n"
                          "ssl.keystore.type=pem\nssl.keystore.location=/me.pem\n"
                          "ssl.key.password=k\nssl.truststore.password=t\n"
                          "ssl.endpoint.identification.algorithm=\n");
    expect_text(setting("ssl.ca.location"), "/ca.pem");
    expect_text(setting("ssl.certificate.location"), "/me.pem");
    expect_text(setting("ssl.key.location"), "/me.pem");
    expect_text(setting("ssl.key.password"), "k");
    expect_text(setting("ssl.truststore.password"), NULL);
    expect_text(setting("ssl.endpoint.identification.algorithm"), "none");
    expect_loads(REQUIRED "ssl.keystore.type=PKCS12\nssl.keystore.location=/me.p12\n");
    expect_text(setting("ssl.keystore.location"), "/me.p12");
}

Test(kafka_settings, refuse_stores_of_java)
{
    cr_expect_not(load(REQUIRED "ssl.truststore.location=/ca.jks\n"));
    cr_expect_not_null(strstr(problem(), "must be a PEM file with ssl.truststore.type=PEM"));
    cr_expect_not(load(REQUIRED "producer.ssl.keystore.location=/me.jks\n"
                                "producer.ssl.keystore.type=JKS\n"));
    cr_expect_not_null(strstr(problem(), "must be a PEM or PKCS12 file"));
}
