/* relay/own.h - records of walrelay's own, between transactions. */
#ifndef WR_RELAY_OWN_H
#define WR_RELAY_OWN_H

#include <stdbool.h>

struct relay;

/*
 * A transaction of the ledger for what walrelay says itself while none is open. True: it was begun,
 * and relay_own_end() ends it. False: one is open, and takes it.
 */
bool relay_own_begin(struct relay *r);
void relay_own_end(struct relay *r, bool was_begun);

#endif /* WR_RELAY_OWN_H */
