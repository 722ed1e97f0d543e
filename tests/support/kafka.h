/* support/kafka.h - what stands in Kafka. */
#ifndef WR_TEST_KAFKA_H
#define WR_TEST_KAFKA_H

#include <stdint.h>

#include <librdkafka/rdkafka.h>

struct kafka_records;

/* Where a partition ends. Waits for one that has no leader yet; aborts the test when that lasts. */
int64_t kafka_end_offset(rd_kafka_t *consumer, const char *topic, int32_t partition);

/*
 * Remembers where every partition of every topic ends, so that a test can read what came after,
 * whatever the topics are called. Aborts the running test when
 * Kafka does not answer. Topics of Kafka and of walrelay itself (walrelay.state.*) are left out.
 */
struct kafka_reader *kafka_reader_new(const char *bootstrap);
void kafka_reader_free(struct kafka_reader *reader);

/* Adds everything that is new since then, in no order between partitions. */
void kafka_reader_read(struct kafka_reader *reader, struct kafka_records *out);

#endif /* WR_TEST_KAFKA_H */
