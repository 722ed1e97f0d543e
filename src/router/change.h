/* router/change.h - what a change is on its way in. */
#ifndef WR_ROUTER_CHANGE_H
#define WR_ROUTER_CHANGE_H

#include <stdint.h>

#include "base/lsn.h"
#include "base/slice.h"
#include "decoder/pgoutput.h"
#include "decoder/snapshot_marker.h"

struct relation;

/* `op` of Debezium's envelope. */
enum change_op {
    OP_CREATE = 'c',
    OP_UPDATE = 'u',
    OP_DELETE = 'd',
    OP_TRUNCATE = 't',
    OP_READ = 'r',
};

/* What `source` of Debezium's envelope says in every record of a run. */
struct connector_info {
    struct wr_slice version;  /* of walrelay */
    struct wr_slice name;     /* topic.prefix */
    struct wr_slice database; /* database.dbname */
};

/* `transaction` of Debezium's envelope (provide.transaction.metadata). */
struct transaction_block {
    struct wr_slice id; /* "xid:lsn" */
    int64_t total_order, data_collection_order;
};

/* Where a record stands, as the headers walrelay.lsn and walrelay.seq say it. */
struct record_position {
    wr_lsn version; /* Begin's LSN of the commit, the highest known while rows pass */
    uint32_t seq;   /* in the transaction */
};

/* `source` of Debezium's envelope, as far as it varies from row to row. */
struct change_source {
    const struct connector_info *connector;
    const struct transaction_block *transaction; /* NULL: none is provided */
    const struct record_position *position;      /* of the record that is made; NULL: not counted */
    int64_t commit_time_us; /* since 1970; of a snapshot row: when the snapshot began */
    wr_lsn lsn;             /* of the change */
    wr_lsn last_commit_lsn; /* end LSN of the transaction before, 0 when there was none */
    uint32_t xid;           /* 0: none (a message outside a transaction) */
    uint32_t xmin;          /* catalog_xmin of the slot, 0: not known */
    enum snapshot_marker snapshot;
    const char *origin; /* replication origin, NULL when local */
    wr_lsn origin_lsn;
    int64_t now_ns; /* when walrelay handled it, since 1970 */
};

/* One row change, or one table's part of a truncate. Everything is borrowed. */
struct change {
    enum change_op op;
    const struct relation *relation;
    enum old_kind old_kind;
    struct tuple old_tuple; /* where old_kind is not OLD_NONE */
    struct tuple new_tuple; /* create, read, update */
    struct change_source source;
};

#endif /* WR_ROUTER_CHANGE_H */
