/* relay/intake_state.h - an intake, for the files of it only. */
#ifndef WR_RELAY_INTAKE_STATE_H
#define WR_RELAY_INTAKE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/status.h"
#include "decoder/pgoutput.h"
#include "relay/intake.h"
#include "relay/skip.h"
#include "relay/table_tags.h"
#include "router/record.h"

struct encoder;
struct publisher_record;
struct relation;
struct relcache;
struct router;
struct wr_arena;

struct intake {
    struct intake_parts parts;
    struct router *router;
    struct encoder *encoder;
    struct relcache *relations;
    struct pgoutput decoder;
    struct wr_arena *scratch;
    struct table_tags tables;
    struct connector_info connector;
    struct change_source source; /* of the open transaction */
    char origin[512];
    struct record_position position; /* of the record that is made */
    uint32_t xmin;                   /* of the slot, 0: not known */
    wr_lsn end_lsn;
    uint64_t record_count;
    struct skip skip;
    struct intake_watch watch;
    bool watches_rows;
    uint32_t signal_oid; /* of signal.data.collection, once its Relation message came */
};

/* Of no transaction. */
void intake_source_clear(struct intake *in);
/* Makes the plan of a relation that is known by no message, or that is in `relations`. */
WR_MUST_USE enum wr_status intake_compile(struct intake *in, struct relation *relation,
                                          struct wr_error *err);
/* The Relation of a message, or of a snapshot's table: taken over. */
WR_MUST_USE enum wr_status intake_take_relation(struct intake *in, struct relation *relation,
                                                struct wr_error *err);
WR_MUST_USE enum wr_status intake_take_change(struct intake *in, const struct change *change,
                                              struct wr_error *err);
WR_MUST_USE enum wr_status intake_find_relation(const struct intake *in, uint32_t oid,
                                                const struct relation **out, struct wr_error *err);
/* Into the publisher, in the transaction that is open. What was refused is not in the ledger. */
WR_MUST_USE enum wr_status intake_produce(struct intake *in, struct publisher_record *record,
                                          uint32_t tag, struct wr_error *err);

#endif /* WR_RELAY_INTAKE_STATE_H */
