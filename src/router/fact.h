/* router/fact.h - what an envelope says of its change beside the rows, each without a tree. */
#ifndef WR_ROUTER_FACT_H
#define WR_ROUTER_FACT_H

#include <stdbool.h>

#include "base/slice.h"
#include "decoder/datum.h"
#include "router/record.h"

struct wr_arena;

/* Where in the envelope a fact stands. */
enum fact_place { FACT_IN_SOURCE, FACT_IN_TRANSACTION, FACT_IN_ENVELOPE };

/* In the order in which they are published. */
enum fact {
    FACT_VERSION, /* of `source` */
    FACT_CONNECTOR,
    FACT_NAME,
    FACT_SOURCE_TS_MS,
    FACT_SNAPSHOT,
    FACT_DB,
    FACT_SEQUENCE,
    FACT_SOURCE_TS_US,
    FACT_SOURCE_TS_NS,
    FACT_SCHEMA,
    FACT_TABLE,
    FACT_TX_ID,
    FACT_LSN,
    FACT_XMIN,
    FACT_ORIGIN,
    FACT_ORIGIN_LSN,
    FACT_TRANSACTION_ID, /* of `transaction` */
    FACT_TOTAL_ORDER,
    FACT_DATA_COLLECTION_ORDER,
    FACT_OP, /* of the envelope itself */
    FACT_TS_MS,
    FACT_TS_US,
    FACT_TS_NS,
    FACT_COUNT,
};

const char *fact_name(enum fact fact);
enum fact_place fact_place(enum fact fact);

/* The fact of that name in that place; FACT_COUNT: there is none. */
enum fact fact_find(enum fact_place place, struct wr_slice name);

/*
 * The fact as `part`, an envelope or a message of `record`, has it. False: `scratch` has no room.
 */
bool fact_datum(enum fact fact, const struct record *record, const struct record_part *part,
                struct wr_arena *scratch, struct datum *out);

#endif /* WR_ROUTER_FACT_H */
