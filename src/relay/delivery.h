/* relay/delivery.h - exactly once: Kafka transactions that hold whole PostgreSQL transactions. */
#ifndef WR_RELAY_DELIVERY_H
#define WR_RELAY_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct config;
struct delivery;
struct position;
struct publisher;
struct publisher_events;
struct relay;

/* Opens the publisher that it works with. */
WR_MUST_USE enum wr_status delivery_new(const struct config *config,
                                        const struct publisher_events *events,
                                        struct delivery **out, struct publisher **publisher,
                                        struct wr_error *err);
void delivery_free(struct delivery *d); /* NULL is allowed; not the publisher */

/*
 * A producer that owns the transactional id; what an earlier one left open is over then. To be
 * called under a lock that only one process can hold, so that two never fence each other in turn;
 * before the position is read. WR_RETRY "interrupted" when a stop is wanted.
 */
WR_MUST_USE enum wr_status delivery_open(struct relay *r, struct wr_error *err);
/* The stream is lost: waits for the commit that is under way, and drops the rest. */
WR_MUST_USE enum wr_status delivery_settle(struct relay *r, struct wr_error *err);

/* What was published until now ends a transaction, or a part of a snapshot that is noted. */
void delivery_mark(struct relay *r);
/* Takes in the position of a commit that has ended. To be called behind publisher_poll(). */
void delivery_serve(struct relay *r);
/* Hands over what is due. To be called on every turn. */
WR_MUST_USE enum wr_status delivery_send(struct relay *r, bool is_quiet, struct wr_error *err);
int64_t delivery_until_send_us(const struct relay *r);
bool delivery_is_full(const struct relay *r);

/* The position is to be written, as soon as can be, with or without records. */
void delivery_want_note(struct relay *r);
/* This position is written, though nothing is streamed. Nothing may be in flight. */
WR_MUST_USE enum wr_status delivery_put_position(struct relay *r, const struct position *position,
                                                 struct wr_error *err);
/* Removes the position from Kafka, and waits for it. Nothing may be in flight. */
WR_MUST_USE enum wr_status delivery_forget_position(struct relay *r, struct wr_error *err);

#endif /* WR_RELAY_DELIVERY_H */
