/* router/transactions.h - what each transaction holds, counted (provide.transaction.metadata). */
#ifndef WR_ROUTER_TRANSACTIONS_H
#define WR_ROUTER_TRANSACTIONS_H

#include <stddef.h>

#include "base/status.h"
#include "router/record.h"

struct config;
struct transactions;
struct wr_arena;

/* Logical messages are counted like a table. */
enum { COLLECTION_MESSAGES = 0 };

struct transactions *transactions_new(const struct config *config);
void transactions_free(struct transactions *t); /* NULL is allowed */

/* The number of a table, for its plan: the same whenever the table of that name comes again. */
size_t transactions_collection(struct transactions *t, const char *schema, const char *table);

/* The block for the events of the open transaction: its content changes with each event. */
const struct transaction_block *transactions_begin(struct transactions *t);
/* One more event, at `source`: the block then says its place. */
void transactions_count(struct transactions *t, size_t collection,
                        const struct change_source *source);

/*
 * The record that announces the transaction, or the one that sums it up. The values live in
 * `scratch`. WR_FATAL: it is full.
 */
WR_MUST_USE enum wr_status transactions_begin_record(struct transactions *t,
                                                     const struct change_source *source,
                                                     struct wr_arena *scratch, struct record *out,
                                                     struct wr_error *err);
WR_MUST_USE enum wr_status transactions_end_record(struct transactions *t,
                                                   const struct change_source *source,
                                                   struct wr_arena *scratch, struct record *out,
                                                   struct wr_error *err);

#endif /* WR_ROUTER_TRANSACTIONS_H */
