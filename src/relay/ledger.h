/* relay/ledger.h - which LSN may be confirmed to PostgreSQL. */
#ifndef WR_RELAY_LEDGER_H
#define WR_RELAY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lsn.h"

/*
 * Transactions in the order of their commits, each with the number of its records that Kafka has
 * not acknowledged. The LSN to confirm is the end LSN of the longest finished prefix.
 *
 * A keepalive says how far the server has read. It may be confirmed only once everything that came
 * before it is acknowledged: at once when nothing is open, else it is remembered on the last
 * transaction and counts when that one and all before it are done. Inside a transaction it says
 * nothing.
 *
 * Invariants, asserted in release builds too, for a wrong confirmation loses rows and a crash does
 * not: the confirmable LSN never falls, never passes what was received on this connection, and
 * never passes a transaction with an open record.
 */
struct ledger;

/* A record's ticket: which transaction it belongs to. */
typedef uint64_t ledger_ticket;

/* Holds at most `capacity` (a power of two) transactions that are not acknowledged. */
struct ledger *ledger_new(size_t capacity);
void ledger_free(struct ledger *ledger); /* NULL is allowed */

/*
 * For a new connection, which starts at `start`: nothing may be open or awaited. What is confirmed
 * from here on is at least `start`.
 */
void ledger_restart(struct ledger *ledger, wr_lsn start);

/* True when one more transaction can be begun: false is back-pressure. */
bool ledger_has_room(const struct ledger *ledger);

/* Begins a transaction; records are added to the one that is open. */
void ledger_begin(struct ledger *ledger);
ledger_ticket ledger_add(struct ledger *ledger);
/* A record that was added and then could not be sent, while its transaction is open. */
void ledger_remove(struct ledger *ledger);
/* Ends the open transaction. One without records takes no room. */
void ledger_commit(struct ledger *ledger, wr_lsn end_lsn);
/*
 * The open transaction lost its connection before the commit: its records are still awaited, and
 * confirm nothing, since the server sends it again.
 */
void ledger_abandon(struct ledger *ledger);

/*
 * Forgets everything that is awaited or open, and confirms nothing of it: for records that were
 * given up, because the server sends them again.
 */
void ledger_forget(struct ledger *ledger);

/* The server has read up to `wal_end`, said in stream order. */
void ledger_keepalive(struct ledger *ledger, wr_lsn wal_end);

/* One record is acknowledged. */
void ledger_acknowledge(struct ledger *ledger, ledger_ticket ticket);

/*
 * A mark behind all that was begun until now, to ask later whether all of it is acknowledged. To be
 * taken while no transaction is open.
 */
ledger_ticket ledger_mark(const struct ledger *ledger);
bool ledger_has_passed(const struct ledger *ledger, ledger_ticket mark);

/* What may be confirmed; 0: nothing yet. */
wr_lsn ledger_confirmable(const struct ledger *ledger);
/* The highest LSN that was received, for the write position of a status update. */
wr_lsn ledger_received(const struct ledger *ledger);
/* True when no transaction waits for an acknowledgement and none is open. */
bool ledger_is_empty(const struct ledger *ledger);
bool ledger_is_open(const struct ledger *ledger);
/* The ticket of the records of the open transaction. */
ledger_ticket ledger_open_ticket(const struct ledger *ledger);
/* End LSN of a ticket's transaction, 0 while it is open: for messages about a record. */
wr_lsn ledger_end_lsn(const struct ledger *ledger, ledger_ticket ticket);

#endif /* WR_RELAY_LEDGER_H */
