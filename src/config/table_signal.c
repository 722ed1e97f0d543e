#include "config/table_rows.h"

/* Snapshots while the stream goes on, what asks for them, and what tells of them. */

static const struct property signal[] = {
    {.name = "incremental.snapshot.chunk.size",
     .type = PROPERTY_INT,
     .default_value = "1024",
     BETWEEN(1, 1000000),
     STORED(config, incremental_chunk_size),
     .meaning = "rows that an incremental snapshot reads at once; fewer where rows are large"},
    ACCEPTED_CHOICE("incremental.snapshot.watermarking.strategy", "insert_insert",
                    "insert_insert|insert_delete",
                    "watermarks are logical messages, and no rows of a table"),
    ACCEPTED(BOOL, "incremental.snapshot.allow.schema.changes", "false",
             "a table may always change: then the rows in question are read again"),
    {.name = "signal.data.collection",
     .set = set_signal_table,
     .meaning = "table, as schema.table, whose new rows (id, type, data) are signals; it is "
                "captured, too"},
    ACCEPTED(INT, "signal.emit.failure.max.retries", "0", "a watermark is written until it is"),
    ACCEPTED(INT, "signal.emit.failure.backoff.ms", "10000", "a watermark is written until it is"),
    {.name = "signal.enabled.channels",
     .default_value = "source",
     .set = set_signal_channels,
     .meaning = "where signals come from: source (the table) and kafka; `walrelay snapshot` "
                "always works"},
    {.name = "signal.message.secret",
     .type = PROPERTY_PASSWORD,
     STORED(config, signal_message_secret),
     .meaning = "what `walrelay snapshot` proves itself with; database.password where it is not "
                "given"},
    {.name = "signal.kafka.topic",
     STORED(config, signal_kafka_topic),
     .meaning = "topic of signals, <topic.prefix>-signal where it is not given; its one partition "
                "is read from where walrelay stopped"},
    {.name = "signal.kafka.bootstrap.servers",
     STORED(config, signal_kafka_bootstrap),
     .meaning = "brokers that have it, if not bootstrap.servers"},
    {.name = "signal.kafka.groupId",
     .default_value = "kafka-signal",
     STORED(config, signal_kafka_group),
     .meaning = "consumer group under which the place in that topic is kept"},
    ACCEPTED(INT, "signal.kafka.poll.timeout.ms", "100",
             "walrelay waits for Kafka, not for a timer"),
    ACCEPTED(INT, "signal.poll.interval.ms", "5000", "walrelay waits for signals, not for a timer"),
    {.name = "signal.consumer.<rest>",
     .set = set_signal_consumer,
     .meaning = "a setting of the consumer of that topic, by librdkafka's name"},
    ACCEPTED(STRING, "signal.file", "file-signals.txt", "only with signal.enabled.channels=file"),
    {.name = "notification.enabled.channels",
     .set = set_notification_channels,
     .meaning = "where it is told how snapshots go: sink (a topic) and log"},
    {.name = "notification.sink.topic.name",
     STORED(config, notification_topic),
     .meaning = "topic of notifications; required with sink"},
};
const struct property_group table_signal = {
    .heading = "Incremental snapshots, signals and notifications", ROWS(signal)};
