#include "relay/own.h"

#include "relay/delivery.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/state.h"

bool relay_own_begin(struct relay *r)
{
    if (ledger_is_open(r->ledger)) {
        return false;
    }
    intake_own_begin(r->intake);
    return true;
}

void relay_own_end(struct relay *r, bool was_begun)
{
    if (was_begun) {
        intake_own_end(r->intake);
        if (r->delivery != NULL) {
            delivery_mark(r);
        }
    }
}
