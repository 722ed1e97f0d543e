#include "relay/ledger.h"

#include <assert.h>
#include <stdlib.h>

struct entry {
    uint64_t open_records;
    wr_lsn end_lsn;  /* 0 while the transaction is open */
    wr_lsn idle_lsn; /* the last keepalive behind it, 0: none */
    bool is_abandoned;
};

struct ledger {
    struct entry *ring;
    size_t capacity;
    uint64_t first; /* ticket of the oldest entry that is held */
    uint64_t next;  /* ticket of the next one */
    bool is_open;   /* entry next - 1 is an open transaction */
    wr_lsn confirmable;
    wr_lsn received;
};

struct ledger *ledger_new(size_t capacity)
{
    struct ledger *ledger = calloc(1, sizeof(*ledger));
    struct entry *ring = calloc(capacity, sizeof(*ring));

    assert(capacity > 1 && (capacity & (capacity - 1)) == 0);
    if (ledger == NULL || ring == NULL) {
        abort();
    }
    ledger->ring = ring;
    ledger->capacity = capacity;
    return ledger;
}

void ledger_free(struct ledger *ledger)
{
    if (ledger != NULL) {
        free(ledger->ring);
        free(ledger);
    }
}

static struct entry *entry_of(const struct ledger *ledger, uint64_t ticket)
{
    return &ledger->ring[ticket & (ledger->capacity - 1)];
}

static void receive(struct ledger *ledger, wr_lsn lsn)
{
    if (lsn > ledger->received) {
        ledger->received = lsn;
    }
}

/* The one place where the confirmable LSN moves. */
static void confirm(struct ledger *ledger, wr_lsn lsn)
{
    assert(lsn <= ledger->received);
    if (lsn > ledger->confirmable) {
        ledger->confirmable = lsn;
    }
}

/* Drops the finished prefix, and lets what it ended with be confirmed. */
static void advance(struct ledger *ledger)
{
    while (ledger->first < ledger->next) {
        const struct entry *entry = entry_of(ledger, ledger->first);
        if (entry->open_records > 0 || (entry->end_lsn == 0 && !entry->is_abandoned)) {
            return;
        }
        if (!entry->is_abandoned) {
            confirm(ledger, entry->end_lsn);
            if (entry->idle_lsn != 0) {
                confirm(ledger, entry->idle_lsn);
            }
        }
        ledger->first++;
    }
}

void ledger_restart(struct ledger *ledger, wr_lsn start)
{
    assert(ledger_is_empty(ledger));
    ledger->received = start;
    ledger->confirmable = start;
}

bool ledger_has_room(const struct ledger *ledger)
{
    return ledger->next - ledger->first < ledger->capacity;
}

void ledger_begin(struct ledger *ledger)
{
    assert(!ledger->is_open && ledger_has_room(ledger));
    *entry_of(ledger, ledger->next) = (struct entry){0};
    ledger->next++;
    ledger->is_open = true;
}

ledger_ticket ledger_add(struct ledger *ledger)
{
    assert(ledger->is_open);
    entry_of(ledger, ledger->next - 1)->open_records++;
    return ledger->next - 1;
}

void ledger_remove(struct ledger *ledger)
{
    assert(ledger->is_open && entry_of(ledger, ledger->next - 1)->open_records > 0);
    entry_of(ledger, ledger->next - 1)->open_records--;
}

void ledger_commit(struct ledger *ledger, wr_lsn end_lsn)
{
    assert(ledger->is_open && end_lsn != 0);
    struct entry *entry = entry_of(ledger, ledger->next - 1);
    receive(ledger, end_lsn);
    ledger->is_open = false;
    entry->end_lsn = end_lsn;
    if (entry->open_records == 0 && ledger->next - 1 > ledger->first) {
        /* Nothing of it is awaited: what it says, the one before it can say, as of a keepalive. */
        ledger->next--;
        ledger_keepalive(ledger, end_lsn);
    }
    advance(ledger);
}

void ledger_abandon(struct ledger *ledger)
{
    if (!ledger->is_open) {
        return;
    }
    entry_of(ledger, ledger->next - 1)->is_abandoned = true;
    ledger->is_open = false;
    advance(ledger);
}

void ledger_forget(struct ledger *ledger)
{
    ledger->first = ledger->next;
    ledger->is_open = false;
}

void ledger_keepalive(struct ledger *ledger, wr_lsn wal_end)
{
    if (ledger->is_open) {
        return;
    }
    receive(ledger, wal_end);
    if (ledger->first == ledger->next) {
        confirm(ledger, wal_end);
        return;
    }
    struct entry *last = entry_of(ledger, ledger->next - 1);
    if (wal_end > last->idle_lsn) {
        last->idle_lsn = wal_end;
    }
}

void ledger_acknowledge(struct ledger *ledger, ledger_ticket ticket)
{
    assert(ticket >= ledger->first && ticket < ledger->next);
    struct entry *entry = entry_of(ledger, ticket);
    assert(entry->open_records > 0);
    entry->open_records--;
    if (ticket == ledger->first) {
        advance(ledger);
    }
}

ledger_ticket ledger_mark(const struct ledger *ledger)
{
    assert(!ledger->is_open);
    return ledger->next;
}

bool ledger_has_passed(const struct ledger *ledger, ledger_ticket mark)
{
    return ledger->first >= mark;
}

wr_lsn ledger_confirmable(const struct ledger *ledger)
{
    return ledger->confirmable;
}

wr_lsn ledger_received(const struct ledger *ledger)
{
    return ledger->received;
}

bool ledger_is_empty(const struct ledger *ledger)
{
    return ledger->first == ledger->next;
}

bool ledger_is_open(const struct ledger *ledger)
{
    return ledger->is_open;
}

ledger_ticket ledger_open_ticket(const struct ledger *ledger)
{
    assert(ledger->is_open);
    return ledger->next - 1;
}

wr_lsn ledger_end_lsn(const struct ledger *ledger, ledger_ticket ticket)
{
    if (ticket < ledger->first || ticket >= ledger->next) {
        return 0;
    }
    return entry_of(ledger, ticket)->end_lsn;
}
