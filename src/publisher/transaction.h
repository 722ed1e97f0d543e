/* publisher/transaction.h - records out in Kafka transactions: what publisher.h lacks for that. */
#ifndef WR_PUBLISHER_TRANSACTION_H
#define WR_PUBLISHER_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "publisher/publisher.h"

struct config;

/*
 * A publisher for exactly once. publisher_produce() copies a record into the batch that is being
 * filled, and nothing leaves before it is told to: Kafka gets what is handed over, on a thread of
 * its own, while the next batch is filled. Acknowledged, by publisher_poll(), is a record whose
 * transaction is committed.
 *
 * Whatever goes wrong ends the producer: publisher_poll() says WR_RETRY, once, and nothing can be
 * handed over before transaction_open() has made a new one, which aborts what the old one left
 * open, or finishes what it was committing. Which of the two is in the state record. So after it
 * everything is dropped (transaction_discard), the state is read, and the stream starts there.
 * A record that Kafka refuses for what it is goes to `failed` of the events instead.
 */
WR_MUST_USE enum wr_status publisher_transaction_open(const struct config *config,
                                                      const char *transactional_id,
                                                      const struct publisher_events *events,
                                                      struct publisher **out, struct wr_error *err);

/* A record of our own that belongs into the same transaction, or NULL; borrowed for the call. */
struct transaction_note {
    const char *topic;
    struct wr_slice key, value;
    bool value_is_null; /* forget the key */
};

/* The thread has something to do: nothing can be handed over now. */
bool transaction_is_busy(const struct publisher *p);
/* A producer is there, and owns its transactional id as far as we know. */
bool transaction_is_ready(const struct publisher *p);

/* What was produced and not yet handed over. */
struct transaction_fill {
    size_t count, size;
    size_t marked_count;  /* of it, up to the last transaction_mark() */
    uint64_t tail_ticket; /* of the first record behind that */
    size_t fed_count;     /* handed over with transaction_feed(), and not yet committed */
};
void transaction_fill(const struct publisher *p, struct transaction_fill *out);
/* What was produced until now may be committed; what comes behind it belongs to something that has
 * not ended. */
void transaction_mark(struct publisher *p);

/* Each hands over, and must not be called while it is busy. */

/* A new producer, which fences an older one of the same transactional id. */
void transaction_open(struct publisher *p);
/* Everything goes to Kafka, into a transaction that stays open: for what is larger than memory. */
void transaction_feed(struct publisher *p);
/* Everything up to the mark, or everything, is committed with what was fed and the note. */
void transaction_commit(struct publisher *p, bool is_whole, const struct transaction_note *note);

/* Drops what is not committed, without a callback. Not while it is busy. */
void transaction_discard(struct publisher *p);

#endif /* WR_PUBLISHER_TRANSACTION_H */
