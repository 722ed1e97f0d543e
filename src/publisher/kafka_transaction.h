/* publisher/kafka_transaction.h - one Kafka transaction after the other, by calls that block. */
#ifndef WR_PUBLISHER_KAFKA_TRANSACTION_H
#define WR_PUBLISHER_KAFKA_TRANSACTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "publisher/publisher.h"

struct record_batch;
struct config;
struct kafka_transaction;

/*
 * Everything here waits for Kafka as long as it takes, unless `is_closing` becomes true. WR_RETRY:
 * the transaction is over, and so is the producer. WR_FATAL: a new one would fare no better.
 * WR_REJECT: as WR_RETRY, and records of the batch have an `error` set.
 */
struct kafka_transaction *kafka_transaction_new(const struct config *config,
                                                const char *transactional_id,
                                                const _Atomic bool *is_closing);
void kafka_transaction_free(struct kafka_transaction *t); /* NULL is allowed */
/* The largest record that is taken, with what it costs beside its bytes. */
size_t kafka_transaction_size_max(const struct kafka_transaction *t);

/* A producer that owns the transactional id, in place of the one there was. */
WR_MUST_USE enum wr_status kafka_transaction_open(struct kafka_transaction *t,
                                                  struct wr_error *err);
/* Produces all of `batch`, which must lie still, and waits until the brokers have it. */
WR_MUST_USE enum wr_status kafka_transaction_feed(struct kafka_transaction *t,
                                                  const struct record_batch *batch,
                                                  struct wr_error *err);
/* The same, with `note` (NULL: none) behind it, and commits. */
WR_MUST_USE enum wr_status kafka_transaction_commit(struct kafka_transaction *t,
                                                    const struct record_batch *batch,
                                                    const struct publisher_record *note,
                                                    struct wr_error *err);

#endif /* WR_PUBLISHER_KAFKA_TRANSACTION_H */
