/* router/record.h - what a change is on its way in, and the record it becomes on its way out. */
#ifndef WR_ROUTER_RECORD_H
#define WR_ROUTER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lsn.h"
#include "base/slice.h"
#include "base/status.h"
#include "decoder/datum.h"
#include "decoder/pgoutput.h"
#include "decoder/snapshot_marker.h"

struct relation;
struct column_plan;
struct schema;

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

/* `source` of Debezium's envelope, as far as it varies from row to row. */
struct change_source {
    const struct connector_info *connector;
    const struct transaction_block *transaction; /* NULL: none is provided */
    int64_t commit_time_us; /* since 1970; of a snapshot row: when the snapshot began */
    wr_lsn lsn;             /* of the change */
    wr_lsn last_commit_lsn; /* end LSN of the transaction before, 0 when there was none */
    uint32_t xid;           /* 0: none (a message outside a transaction) */
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

/*
 * Some columns of one tuple, not yet typed: the plain envelope goes from here straight to bytes.
 * Behind them stand the fields that transforms added.
 */
struct row_view {
    const struct relation *relation;
    const struct column_plan *const *columns; /* NULL: there is no row here */
    size_t column_count;
    const struct tuple *tuple;
    const struct tuple *older; /* holds the value of an unchanged TOAST cell; NULL: nobody does */
    bool is_key_only;          /* cells outside the replica identity are unknown, not NULL */
    const struct datum_field *added;
    size_t added_count;
};

enum part_kind {
    PART_NULL = 0, /* Kafka's null: a tombstone, or no key */
    PART_DATUM,    /* `datum`; DATUM_NULL in here is a typed null, which a converter may spell */
    PART_ROW,      /* `row` as a structure */
    PART_ENVELOPE, /* before, after and the record's change as Debezium's envelope */
    PART_MESSAGE,  /* a logical message as Debezium's envelope with op m */
};

struct record_part {
    enum part_kind kind;
    const struct schema *schema; /* of the value; NULL: Connect would have none either */
    union {
        struct datum datum;
        struct row_view row;
        struct {
            enum change_op op; /* of this record: a moved key is a delete and a create */
            struct row_view before, after;
        } envelope;
        struct {
            struct wr_slice prefix, content;
        } message;
    } as;
};

enum { RECORD_HEADERS_MAX = 32 };

struct record_header {
    const char *name;
    struct record_part value; /* PART_NULL, PART_DATUM or PART_ROW */
};

/* Everything is borrowed, and lives until the emit callback returns. */
struct record {
    const struct change *change; /* NULL for a logical message */
    const struct change_source *source;
    struct wr_slice topic;
    int32_t partition;    /* -1: by the key */
    int64_t timestamp_ms; /* -1: the producer's clock */
    struct record_part key;
    struct record_part value;
    struct record_header headers[RECORD_HEADERS_MAX];
    size_t header_count;
};

/* Kafka's: a value that is null, with or without a schema. */
bool record_is_tombstone(const struct record *record);

/* The last header of that name; NULL: there is none. Kafka may have several of one name. */
const struct record_header *record_header_find(const struct record *record, const char *name);
/* Behind those that are there. `name` is borrowed. WR_REJECT: there are RECORD_HEADERS_MAX. */
WR_MUST_USE enum wr_status record_header_add(struct record *record, const char *name,
                                             const struct record_part *value, struct wr_error *err);
/* All of that name. */
void record_header_drop(struct record *record, const char *name);
/* Drops all of that name, then adds. */
WR_MUST_USE enum wr_status record_header_replace(struct record *record, const char *name,
                                                 const struct record_part *value,
                                                 struct wr_error *err);

#endif /* WR_ROUTER_RECORD_H */
