/* relay/intake.h - one pgoutput message or snapshot row in, its records on their way to Kafka. */
#ifndef WR_RELAY_INTAKE_H
#define WR_RELAY_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/slice.h"
#include "base/status.h"
#include "decoder/catalog.h"
#include "decoder/pgoutput.h"
#include "decoder/snapshot_marker.h"

struct change;
struct config;
struct intake;
struct ledger;
struct message;
struct notification;
struct publisher;
struct skip;
struct reselect;

/* Who looks on while the stream passes, for incremental snapshots and signals. */
struct intake_watch {
    void *context;
    /* A logical message: true when it was meant for walrelay itself, and is no event. */
    bool (*message)(void *context, const struct message *message, enum wr_status *status,
                    struct wr_error *err);
    bool (*is_signal_table)(void *context, const char *schema, const char *table);
    /* A row that was inserted into the signal table, behind its own record. */
    enum wr_status (*signal)(void *context, const struct change *change, struct wr_error *err);
    /* With intake_watch_rows(): a change, once it was taken in; and a Relation, before it is. */
    enum wr_status (*row)(void *context, const struct change *change, struct wr_error *err);
    void (*relation)(void *context, const struct relation *relation);
};

/* What the intake works with. All of it outlives the intake. */
struct intake_parts {
    const struct config *config;
    struct ledger *ledger;
    struct publisher *publisher;
    struct catalog_source catalog;
    struct reselect *reselect; /* NULL: what was not sent is not read */
    struct intake_watch watch;
    void *context;
    /* Called while the publisher's queue is full: serves acknowledgements and timers, waits. */
    enum wr_status (*wait)(void *context, struct wr_error *err);
};

WR_MUST_USE enum wr_status intake_new(const struct intake_parts *parts, struct intake **out,
                                      struct wr_error *err);
void intake_free(struct intake *intake); /* NULL is allowed */

/* For a new connection: no relation and no transaction is known. */
void intake_restart(struct intake *intake);

/* The time that records say they were handled at; set when bytes were read, not for each row. */
void intake_clock(struct intake *intake, int64_t now_ns);
/*
 * Publishes a heartbeat, between transactions: as one of its own, which ends at `lsn`. That must be
 * what was received last.
 */
WR_MUST_USE enum wr_status intake_heartbeat(struct intake *in, wr_lsn lsn, struct wr_error *err);
/* The slot's catalog_xmin, for source.xmin of the transactions that begin from now on; 0: none. */
void intake_xmin(struct intake *in, uint32_t xmin);

/*
 * One message of the stream; `lsn` is its XLogData's. WR_FATAL: it cannot be relayed, and the text
 * says which table, topic, key and LSN; or the stream is broken. WR_RETRY: a connection is lost.
 */
WR_MUST_USE enum wr_status intake_message(struct intake *intake, wr_lsn lsn,
                                          struct wr_slice payload, struct wr_error *err);
/* End LSN of the last transaction that was taken in whole, 0: none. */
wr_lsn intake_end_lsn(const struct intake *intake);

/* Where the open transaction is committed, or a message outside of one stands. */
wr_lsn intake_commit_lsn(const struct intake *intake);

/* The rows of a snapshot: one transaction of the ledger, from begin to end. */
void intake_snapshot_begin(struct intake *intake, wr_lsn lsn, uint32_t xid);
WR_MUST_USE enum wr_status intake_snapshot_table(struct intake *intake, struct relation *relation,
                                                 struct wr_error *err);
WR_MUST_USE enum wr_status intake_snapshot_row(struct intake *intake, uint32_t relation_oid,
                                               const struct tuple *row, enum snapshot_marker marker,
                                               struct wr_error *err);
void intake_snapshot_end(struct intake *intake);
/*
 * Divides that transaction in two. Once the ledger has passed the mark that comes back, everything
 * before it is acknowledged.
 */
uint64_t intake_snapshot_divide(struct intake *intake);

/* What is taken in and not published, because Kafka has it: for the caller to set and to ask. */
struct skip *intake_skip(struct intake *intake);
/* From now on, or no more. */
void intake_watch_rows(struct intake *intake, bool watches);

/*
 * A row of an incremental snapshot, in the transaction that is open. Its relation is no message's:
 * made ready by intake_incremental_table(), and the caller's.
 */
WR_MUST_USE enum wr_status
intake_incremental_table(struct intake *intake, struct relation *relation, struct wr_error *err);
WR_MUST_USE enum wr_status intake_incremental_row(struct intake *intake,
                                                  const struct relation *relation,
                                                  const struct tuple *row, struct wr_error *err);

/* A transaction of the ledger for what walrelay says itself, while none is open. */
void intake_own_begin(struct intake *intake);
void intake_own_end(struct intake *intake);

/* A notification, in the transaction that is open. */
WR_MUST_USE enum wr_status
intake_notify(struct intake *intake, const struct notification *notification, struct wr_error *err);

/* A record of walrelay's own, for itself, in the transaction that is open; as bytes. */
WR_MUST_USE enum wr_status intake_note(struct intake *intake, const char *topic,
                                       struct wr_slice key, struct wr_slice value,
                                       struct wr_error *err);

/* The ticket of a record that belongs to no transaction, and did not come from here: it counts. */
#define INTAKE_ASIDE UINT64_MAX
void intake_count_aside(struct intake *intake);

bool intake_captures(const struct intake *intake, const char *schema, const char *table);

/* The number that rows of the table "schema.table" have in relation->tag; 0: too many have passed.
 */
uint32_t intake_tag_of(struct intake *intake, const char *name);

/* Tickets that come back from the publisher: which of the ledger's they are, and whose table. */
enum { INTAKE_TAG_SHIFT = 48 }; /* a ticket is 16 bits of table and 48 of the ledger's ticket */
static inline uint64_t intake_ledger_ticket(uint64_t ticket)
{
    return ticket & ((UINT64_C(1) << INTAKE_TAG_SHIFT) - 1);
}

const char *intake_table_of(const struct intake *intake, uint64_t ticket);

/* Records that were handed to the publisher. */
uint64_t intake_record_count(const struct intake *intake);

#endif /* WR_RELAY_INTAKE_H */
