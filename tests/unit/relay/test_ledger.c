#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <criterion/criterion.h>

#include "relay/ledger.h"

static struct ledger *ledger;

static void open_ledger(void)
{
    ledger = ledger_new(4);
    ledger_restart(ledger, 100);
}

static void close_ledger(void)
{
    ledger_free(ledger);
}

TestSuite(ledger, .init = open_ledger, .fini = close_ledger);

/* A whole transaction, and the ticket of its records; without one the ticket says nothing. */
static ledger_ticket transaction(int record_count, wr_lsn end_lsn)
{
    ledger_ticket ticket = 0;

    ledger_begin(ledger);
    for (int i = 0; i < record_count; i++) {
        ticket = ledger_add(ledger);
    }
    ledger_commit(ledger, end_lsn);
    return ticket;
}

#define EXPECT_CONFIRMABLE(lsn) cr_expect_eq(ledger_confirmable(ledger), (lsn))

Test(ledger, starts_where_the_connection_does)
{
    EXPECT_CONFIRMABLE(100);
    cr_expect_eq(ledger_received(ledger), 100);
    cr_expect(ledger_is_empty(ledger));
    cr_expect(!ledger_is_open(ledger));
}

Test(ledger, confirms_nothing_before_the_first_connection)
{
    struct ledger *fresh = ledger_new(2);

    cr_expect_eq(ledger_confirmable(fresh), 0);
    ledger_free(fresh);
}

Test(ledger, confirms_a_transaction_once_each_of_its_records_is_acknowledged)
{
    ledger_ticket ticket = transaction(2, 200);

    EXPECT_CONFIRMABLE(100);
    cr_expect_eq(ledger_received(ledger), 200);
    ledger_acknowledge(ledger, ticket);
    EXPECT_CONFIRMABLE(100);
    ledger_acknowledge(ledger, ticket);
    EXPECT_CONFIRMABLE(200);
    cr_expect(ledger_is_empty(ledger));
}

Test(ledger, confirms_nothing_of_a_transaction_that_is_open)
{
    ledger_begin(ledger);
    ledger_ticket ticket = ledger_add(ledger);
    ledger_acknowledge(ledger, ticket);
    EXPECT_CONFIRMABLE(100);
    cr_expect(!ledger_is_empty(ledger));
    ledger_commit(ledger, 200);
    EXPECT_CONFIRMABLE(200);
}

Test(ledger, confirms_only_a_prefix)
{
    ledger_ticket first = transaction(1, 200);
    ledger_ticket second = transaction(1, 300);
    ledger_ticket third = transaction(1, 400);

    ledger_acknowledge(ledger, third);
    ledger_acknowledge(ledger, second);
    EXPECT_CONFIRMABLE(100);
    ledger_acknowledge(ledger, first);
    EXPECT_CONFIRMABLE(400);
}

Test(ledger, confirms_up_to_the_gap)
{
    ledger_ticket first = transaction(1, 200);
    (void)transaction(1, 300);
    ledger_ticket third = transaction(1, 400);

    ledger_acknowledge(ledger, first);
    ledger_acknowledge(ledger, third);
    EXPECT_CONFIRMABLE(200);
}

Test(ledger, follows_keepalives_while_nothing_is_awaited)
{
    ledger_keepalive(ledger, 150);
    EXPECT_CONFIRMABLE(150);
    cr_expect_eq(ledger_received(ledger), 150);
}

Test(ledger, never_goes_back)
{
    ledger_keepalive(ledger, 150);
    ledger_keepalive(ledger, 120);
    EXPECT_CONFIRMABLE(150);
    cr_expect_eq(ledger_received(ledger), 150);
    (void)transaction(0, 130);
    EXPECT_CONFIRMABLE(150);
}

Test(ledger, takes_no_keepalive_inside_a_transaction)
{
    ledger_begin(ledger);
    ledger_keepalive(ledger, 500);
    EXPECT_CONFIRMABLE(100);
    cr_expect_eq(ledger_received(ledger), 100);
    ledger_commit(ledger, 200);
    EXPECT_CONFIRMABLE(200);
}

Test(ledger, remembers_a_keepalive_until_all_before_it_is_acknowledged)
{
    ledger_ticket first = transaction(1, 200);
    ledger_ticket second = transaction(1, 300);

    ledger_keepalive(ledger, 900);
    cr_expect_eq(ledger_received(ledger), 900);
    ledger_acknowledge(ledger, first);
    EXPECT_CONFIRMABLE(200);
    ledger_acknowledge(ledger, second);
    EXPECT_CONFIRMABLE(900);
}

Test(ledger, does_not_let_a_keepalive_wait_for_what_came_after_it)
{
    ledger_ticket first = transaction(1, 200);
    ledger_keepalive(ledger, 250);
    ledger_ticket second = transaction(1, 300);

    ledger_acknowledge(ledger, first);
    EXPECT_CONFIRMABLE(250);
    ledger_acknowledge(ledger, second);
    EXPECT_CONFIRMABLE(300);
}

Test(ledger, keeps_the_highest_of_several_keepalives)
{
    ledger_ticket ticket = transaction(1, 200);

    ledger_keepalive(ledger, 400);
    ledger_keepalive(ledger, 300);
    ledger_acknowledge(ledger, ticket);
    EXPECT_CONFIRMABLE(400);
}

/* The ring's places are used again; what the old connection said must not come with them. */
Test(ledger, forgets_a_remembered_keepalive_with_its_place_in_the_ring)
{
    ledger_ticket ticket = transaction(1, 200);
    ledger_keepalive(ledger, 900);
    ledger_acknowledge(ledger, ticket);
    ledger_restart(ledger, 300);
    for (wr_lsn lsn = 310; lsn < 318; lsn++) {
        ledger_acknowledge(ledger, transaction(1, lsn));
        EXPECT_CONFIRMABLE(lsn);
    }
}

Test(ledger, confirms_an_empty_transaction_at_once_when_nothing_is_awaited)
{
    (void)transaction(0, 200);
    EXPECT_CONFIRMABLE(200);
    cr_expect(ledger_is_empty(ledger));
}

Test(ledger, confirms_an_empty_transaction_only_after_those_before_it)
{
    ledger_ticket ticket = transaction(1, 200);

    (void)transaction(0, 300);
    EXPECT_CONFIRMABLE(100);
    cr_expect_eq(ledger_received(ledger), 300);
    ledger_acknowledge(ledger, ticket);
    EXPECT_CONFIRMABLE(300);
}

Test(ledger, has_room_for_any_number_of_empty_transactions)
{
    (void)transaction(1, 200);
    for (wr_lsn lsn = 300; lsn < 400; lsn++) {
        cr_assert(ledger_has_room(ledger));
        (void)transaction(0, lsn);
    }
}

Test(ledger, gives_the_ticket_of_an_empty_transaction_to_the_next)
{
    ledger_ticket first = transaction(1, 200);
    (void)transaction(0, 300);
    ledger_ticket third = transaction(1, 400);

    cr_expect_eq(third, first + 1);
    cr_expect_eq(ledger_end_lsn(ledger, third), 400);
    ledger_acknowledge(ledger, third);
    EXPECT_CONFIRMABLE(100);
    ledger_acknowledge(ledger, first);
    EXPECT_CONFIRMABLE(400);
}

Test(ledger, counts_no_record_that_was_taken_back)
{
    ledger_begin(ledger);
    ledger_ticket ticket = ledger_add(ledger);
    (void)ledger_add(ledger);
    ledger_remove(ledger);
    ledger_commit(ledger, 200);
    EXPECT_CONFIRMABLE(100);
    ledger_acknowledge(ledger, ticket);
    EXPECT_CONFIRMABLE(200);
}

Test(ledger, holds_as_many_transactions_as_it_was_made_for)
{
    ledger_ticket tickets[4];

    for (int i = 0; i < 4; i++) {
        cr_assert(ledger_has_room(ledger));
        tickets[i] = transaction(1, 200 + (wr_lsn)i);
    }
    cr_expect(!ledger_has_room(ledger));
    ledger_acknowledge(ledger, tickets[1]);
    cr_expect(!ledger_has_room(ledger)); /* it is behind one that is awaited */
    ledger_acknowledge(ledger, tickets[0]);
    cr_expect(ledger_has_room(ledger));
    cr_expect_neq(transaction(1, 300), tickets[0]);
}

Test(ledger, confirms_nothing_of_an_abandoned_transaction)
{
    ledger_begin(ledger);
    ledger_ticket ticket = ledger_add(ledger);
    ledger_abandon(ledger);
    cr_expect(!ledger_is_open(ledger));
    cr_expect(!ledger_is_empty(ledger));
    ledger_acknowledge(ledger, ticket);
    EXPECT_CONFIRMABLE(100);
    cr_expect(ledger_is_empty(ledger));
}

Test(ledger, drops_an_abandoned_transaction_that_awaits_nothing)
{
    ledger_begin(ledger);
    ledger_abandon(ledger);
    cr_expect(ledger_is_empty(ledger));
    EXPECT_CONFIRMABLE(100);
    ledger_abandon(ledger); /* nothing is open any more */
    cr_expect(ledger_is_empty(ledger));
}

Test(ledger, confirms_what_came_before_an_abandoned_transaction)
{
    ledger_ticket first = transaction(1, 200);

    ledger_begin(ledger);
    ledger_ticket second = ledger_add(ledger);
    ledger_abandon(ledger);
    ledger_acknowledge(ledger, first);
    EXPECT_CONFIRMABLE(200);
    ledger_acknowledge(ledger, second);
    EXPECT_CONFIRMABLE(200);
    cr_expect(ledger_is_empty(ledger));
}

/* What the server said on the old connection holds no longer. */
Test(ledger, starts_anew_with_a_new_connection)
{
    ledger_keepalive(ledger, 900);
    ledger_restart(ledger, 300);
    EXPECT_CONFIRMABLE(300);
    cr_expect_eq(ledger_received(ledger), 300);
}

Test(ledger, names_the_end_of_a_record_that_is_awaited)
{
    ledger_begin(ledger);
    ledger_ticket ticket = ledger_add(ledger);
    cr_expect_eq(ledger_end_lsn(ledger, ticket), 0);
    ledger_commit(ledger, 200);
    cr_expect_eq(ledger_end_lsn(ledger, ticket), 200);
    cr_expect_eq(ledger_end_lsn(ledger, ticket + 1), 0);
    ledger_acknowledge(ledger, ticket);
    cr_expect_eq(ledger_end_lsn(ledger, ticket), 0);
}

Test(ledger, asserts_that_a_record_is_acknowledged_once, .signal = SIGABRT)
{
    ledger_ticket ticket = transaction(1, 200);

    ledger_acknowledge(ledger, ticket);
    ledger_acknowledge(ledger, ticket);
}

Test(ledger, asserts_that_the_record_of_a_waiting_transaction_is_acknowledged_once,
     .signal = SIGABRT)
{
    (void)transaction(1, 200);
    ledger_ticket ticket = transaction(1, 300);

    ledger_acknowledge(ledger, ticket);
    ledger_acknowledge(ledger, ticket);
}

Test(ledger, asserts_that_it_has_room, .signal = SIGABRT)
{
    for (wr_lsn lsn = 200; lsn < 205; lsn++) {
        (void)transaction(1, lsn);
    }
}

Test(ledger, asserts_that_nothing_is_awaited_on_a_new_connection, .signal = SIGABRT)
{
    (void)transaction(1, 200);
    ledger_restart(ledger, 100);
}

Test(ledger, asserts_that_records_belong_to_a_transaction, .signal = SIGABRT)
{
    (void)transaction(1, 200);
    (void)ledger_add(ledger);
}

/*
 * The same, said slowly. The stream is a list of what came, in its order; the confirmable LSN is
 * looked up anew each time by walking it from the start to the first thing that is not done.
 */
enum {
    STEP_COUNT = 400,
    RUN_COUNT = 400,
    RECORDS_MAX = 4096,
};

struct event {
    enum { EVENT_OPEN, EVENT_COMMITTED, EVENT_ABANDONED, EVENT_KEEPALIVE } kind;
    wr_lsn lsn; /* once committed */
    unsigned awaited;
    bool takes_room;
};

struct awaited_record {
    ledger_ticket ticket;
    size_t event;
};

struct model {
    unsigned seed, random;
    wr_lsn start, received;
    struct event events[STEP_COUNT + 1];
    size_t event_count;
    struct awaited_record records[RECORDS_MAX];
    size_t record_count;
    bool is_disconnected; /* after an abandoned transaction, until the next connection */
};

static struct model m;

static unsigned roll(unsigned sides)
{
    m.random = m.random * 1664525U + 1013904223U;
    return (m.random >> 16) % sides;
}

static bool event_is_done(const struct event *e)
{
    return e->kind != EVENT_OPEN && e->awaited == 0;
}

/* The number of events from the start that are done. */
static size_t done_count(void)
{
    size_t count = 0;

    while (count < m.event_count && event_is_done(&m.events[count])) {
        count++;
    }
    return count;
}

static wr_lsn model_confirmable(void)
{
    wr_lsn confirmable = m.start;
    size_t count = done_count();

    for (size_t i = 0; i < count; i++) {
        const struct event *e = &m.events[i];
        if (e->kind != EVENT_ABANDONED && e->lsn > confirmable) {
            confirmable = e->lsn;
        }
    }
    return confirmable;
}

static bool model_has_room(size_t capacity)
{
    size_t held = 0;

    for (size_t i = done_count(); i < m.event_count; i++) {
        held += m.events[i].takes_room;
    }
    return held < capacity;
}

static struct event *last_event(void)
{
    return &m.events[m.event_count - 1];
}

static bool model_is_open(void)
{
    return m.event_count > 0 && last_event()->kind == EVENT_OPEN;
}

static void event_add(struct event event)
{
    m.events[m.event_count++] = event;
}

static wr_lsn next_lsn(void)
{
    m.received += 1 + roll(50);
    return m.received;
}

static void add_record(void)
{
    m.records[m.record_count++] = (struct awaited_record){ledger_add(ledger), m.event_count - 1};
    last_event()->awaited++;
}

static void acknowledge_one(void)
{
    if (m.record_count == 0) {
        return;
    }
    size_t index = roll((unsigned)m.record_count);
    struct awaited_record record = m.records[index];
    m.records[index] = m.records[--m.record_count];
    m.events[record.event].awaited--;
    ledger_acknowledge(ledger, record.ticket);
}

static void commit_open(void)
{
    struct event *e = last_event();

    e->kind = EVENT_COMMITTED;
    e->lsn = next_lsn();
    e->takes_room = e->awaited > 0;
    ledger_commit(ledger, e->lsn);
}

static void step_outside(size_t capacity)
{
    if (roll(3) == 0) {
        wr_lsn lsn = next_lsn();
        event_add((struct event){.kind = EVENT_KEEPALIVE, .lsn = lsn});
        ledger_keepalive(ledger, lsn);
    } else if (model_has_room(capacity)) {
        event_add((struct event){.kind = EVENT_OPEN, .takes_room = true});
        ledger_begin(ledger);
    }
}

static void step_inside(void)
{
    switch (roll(12)) {
    case 0:
        ledger_keepalive(ledger, m.received + 1000); /* says nothing here */
        break;
    case 1:
    case 2:
    case 3:
    case 4:
        commit_open();
        break;
    case 5:
        (void)ledger_add(ledger);
        ledger_remove(ledger);
        break;
    case 6:
        if (roll(8) == 0) {
            last_event()->kind = EVENT_ABANDONED;
            ledger_abandon(ledger);
            m.is_disconnected = true;
        }
        break;
    default:
        add_record();
        break;
    }
}

/* The next connection starts, as PostgreSQL has it, at what was confirmed. */
static void reconnect(void)
{
    m.start = ledger_confirmable(ledger);
    m.event_count = 0;
    m.received = m.start;
    m.is_disconnected = false;
    ledger_restart(ledger, m.start);
}

static void check(size_t capacity, unsigned step)
{
    wr_lsn expected = model_confirmable();
    bool is_empty = done_count() == m.event_count;

    cr_assert_eq(ledger_confirmable(ledger), expected, "seed %u, step %u: %lu instead of %lu",
                 m.seed, step, (unsigned long)ledger_confirmable(ledger), (unsigned long)expected);
    cr_assert_eq(ledger_received(ledger), m.received, "seed %u, step %u", m.seed, step);
    cr_assert_eq(ledger_is_empty(ledger), is_empty, "seed %u, step %u", m.seed, step);
    cr_assert_eq(ledger_is_open(ledger), model_is_open(), "seed %u, step %u", m.seed, step);
    cr_assert_eq(ledger_has_room(ledger), model_has_room(capacity), "seed %u, step %u", m.seed,
                 step);
}

static void random_step(size_t capacity)
{
    if (roll(3) == 0) {
        acknowledge_one();
    } else if (m.is_disconnected) {
        if (m.record_count == 0) {
            reconnect();
        }
    } else if (model_is_open()) {
        step_inside();
    } else {
        step_outside(capacity);
    }
}

static void random_run(unsigned seed)
{
    m = (struct model){.seed = seed, .random = seed, .start = 100, .received = 100};
    size_t capacity = (size_t)2 << roll(4);

    ledger_free(ledger);
    ledger = ledger_new(capacity);
    ledger_restart(ledger, m.start);
    for (unsigned step = 0; step < STEP_COUNT; step++) {
        random_step(capacity);
        check(capacity, step);
    }
    if (model_is_open()) {
        commit_open();
    }
    while (m.record_count > 0) {
        acknowledge_one();
        check(capacity, STEP_COUNT);
    }
    if (!m.is_disconnected) {
        cr_assert_eq(ledger_confirmable(ledger), m.received, "seed %u: the end", seed);
    }
}

/* WR_TEST_SEED=N repeats the runs that a failure named. */
Test(ledger, agrees_with_a_slow_model_of_itself)
{
    const char *given = getenv("WR_TEST_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

    (void)fprintf(stderr, "ledger: seeds from %u\n", seed);
    for (unsigned i = 0; i < RUN_COUNT; i++) {
        random_run(seed + i);
    }
}
