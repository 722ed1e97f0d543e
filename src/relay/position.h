/* relay/position.h - how far the stream is in Kafka, as Kafka remembers it. */
#ifndef WR_RELAY_POSITION_H
#define WR_RELAY_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/slice.h"
#include "base/status.h"

struct config;

enum { POSITION_NAME_SIZE = 768, POSITION_VALUE_SIZE = 512 };

/*
 * One record of the topic walrelay.state.<slot.name>, a line of JSON under the key
 * position/<slot.name>/<topic.prefix>. It is written before what it says is confirmed to
 * PostgreSQL: so the slot is never ahead of it, unless somebody else has moved the slot, or made
 * another of its name.
 */
struct position {
    bool is_known; /* a record was found, or is to be written */
    uint64_t system_identifier;
    uint32_t timeline;
    wr_lsn acked_lsn;    /* what may be confirmed: everything before it is in Kafka */
    wr_lsn last_end_lsn; /* end of the last transaction that is in Kafka; <= acked_lsn */
    /* Of a transaction that is too large to be in one of Kafka's: what Kafka has of it. */
    wr_lsn partial_lsn;     /* of its commit record; 0: there is none */
    uint64_t partial_count; /* of its changes */
    uint64_t txn_no;        /* counts what was written here */
};

/* The key and the topic. */
void position_key(const struct config *config, char out[POSITION_NAME_SIZE]);
void position_topic(const struct config *config, char out[POSITION_NAME_SIZE]);

/* Appends NUL; returns the size without it. */
size_t position_write(const struct position *position, char out[POSITION_VALUE_SIZE]);
/* False: it is not a record of this form, which nobody but us writes. */
bool position_read(struct wr_slice value, struct position *out);

/* What the server looks like at a start. */
struct position_server {
    uint64_t system_identifier;
    uint32_t timeline;
    wr_lsn wal_lsn;    /* how far it has written */
    wr_lsn switch_lsn; /* where it left the timeline of the position, 0: it is on that */
    const char *slot_name;
    bool has_slot;
    bool has_snapshot_slot; /* of a snapshot that goes on */
    wr_lsn confirmed_lsn;
};

/*
 * Whether the stream can go on where the position says, without a gap. WR_FATAL names what is
 * wrong, what was lost and what can be done. A position that is not known fits everywhere.
 */
WR_MUST_USE enum wr_status position_check(const struct position *position,
                                          const struct position_server *server,
                                          struct wr_error *err);

#endif /* WR_RELAY_POSITION_H */
