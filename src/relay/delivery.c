#include "relay/delivery.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "publisher/publisher.h"
#include "publisher/transaction.h"
#include "relay/batcher.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/position.h"
#include "relay/progress.h"
#include "relay/skip.h"
#include "relay/state.h"

enum {
    BATCH_SIZE_MAX = 6 << 20, /* two of them, and what librdkafka makes of one, fit into 40 MB */
    FED_MAX = 500000,
    FED_MS_MAX = 5000,
    ID_SIZE_MAX = 512,
};

struct delivery {
    struct batcher batcher;
    struct position next; /* that is being committed */
    bool has_next;        /* a commit is under way that carries it */
    bool is_committing;
    bool is_note_wanted;
    bool is_settling;
};

static int64_t fed_us_max(const struct config *config)
{
    int64_t timeout_ms = INT64_MAX;

    for (size_t i = 0; i < config->kafka.count; i++) {
        if (strcmp(config->kafka.items[i].name, "transaction.timeout.ms") == 0) {
            timeout_ms = strtoll(config->kafka.items[i].value, NULL, 10);
        }
    }
    return (timeout_ms / 4 < FED_MS_MAX ? timeout_ms / 4 : FED_MS_MAX) * 1000;
}

enum wr_status delivery_new(const struct config *config, const struct publisher_events *events,
                            struct delivery **out, struct publisher **publisher,
                            struct wr_error *err)
{
    char id[ID_SIZE_MAX];
    int64_t size_max = config->inflight_bytes_max / 2;
    struct delivery *d = calloc(1, sizeof(*d));

    if (d == NULL) {
        abort();
    }
    *out = d;
    d->batcher = (struct batcher){
        .size_max = (size_t)(size_max < BATCH_SIZE_MAX ? size_max : BATCH_SIZE_MAX),
        .fed_max = FED_MAX,
        .fed_us_max = fed_us_max(config),
    };
    (void)snprintf(id, sizeof(id), "walrelay-%s-%s", config->topic_prefix, config->slot_name);
    return publisher_transaction_open(
        config, config->transactional_id == NULL ? id : config->transactional_id, events, publisher,
        err);
}

void delivery_free(struct delivery *d)
{
    free(d);
}

static struct batcher_view view(const struct relay *r, bool is_quiet)
{
    struct transaction_fill fill;

    transaction_fill(r->publisher, &fill);
    return (struct batcher_view){
        .now_us = wr_clock_monotonic_us(),
        .is_busy = transaction_is_busy(r->publisher),
        .count = fill.count,
        .size = fill.size,
        .marked_count = fill.marked_count,
        .fed_count = fill.fed_count,
        .is_open = ledger_is_open(r->ledger),
        .is_snapshot = !r->is_streaming,
        .is_quiet = is_quiet,
        .is_note_due = r->delivery->is_note_wanted && !ledger_is_open(r->ledger),
    };
}

static void drop_everything(struct relay *r)
{
    transaction_discard(r->publisher);
    ledger_forget(r->ledger);
    batcher_reset(&r->delivery->batcher);
    r->delivery->has_next = false;
    r->delivery->is_committing = false;
    r->delivery->is_note_wanted = false;
    r->progress.is_noting = false;
}

/* Until the publisher's thread has nothing to do. */
static enum wr_status wait_until_idle(struct relay *r, struct wr_error *err)
{
    while (transaction_is_busy(r->publisher)) {
        if (r->stop_wanted && wr_clock_monotonic_us() >= r->stop_by_us) {
            return wr_fail(err, WR_RETRY, "relay", "interrupted");
        }
        enum wr_status status = relay_wait_without_input(r, 100000, err);
        if (status != WR_OK) {
            return status;
        }
    }
    return WR_OK;
}

enum wr_status delivery_open(struct relay *r, struct wr_error *err)
{
    if (transaction_is_busy(r->publisher)) {
        return wr_fail(err, WR_RETRY, "relay", "the last Kafka transaction is not over");
    }
    drop_everything(r);
    transaction_open(r->publisher);
    return wait_until_idle(r, err);
}

enum wr_status delivery_settle(struct relay *r, struct wr_error *err)
{
    r->delivery->is_settling = true;
    enum wr_status status = wait_until_idle(r, err);
    r->delivery->is_settling = false;
    if (!transaction_is_busy(r->publisher)) {
        drop_everything(r);
    }
    /* Whatever became of the commit: the state record will say. */
    return status == WR_RETRY ? WR_OK : status;
}

void delivery_mark(struct relay *r)
{
    transaction_mark(r->publisher);
}

void delivery_want_note(struct relay *r)
{
    r->delivery->is_note_wanted = true;
}

void delivery_serve(struct relay *r)
{
    struct delivery *d = r->delivery;

    if (!d->is_committing || transaction_is_busy(r->publisher)) {
        return;
    }
    d->is_committing = false;
    batcher_committed(&d->batcher, wr_clock_monotonic_us());
    if (d->has_next) {
        d->has_next = false;
        relay_position_noted(r, &d->next);
    }
}

static void commit(struct relay *r, bool is_whole, const struct transaction_note *note)
{
    transaction_commit(r->publisher, is_whole, note);
    r->delivery->is_committing = true;
}

static void commit_with_position(struct relay *r, bool is_whole, const struct position *next)
{
    char topic[POSITION_NAME_SIZE];
    char key[POSITION_NAME_SIZE];
    char value[POSITION_VALUE_SIZE];
    size_t size = position_write(next, value);

    position_topic(r->config, topic);
    position_key(r->config, key);
    struct transaction_note note = {
        .topic = topic, .key = wr_slice_str(key), .value = {value, size}};
    r->delivery->next = *next;
    r->delivery->has_next = true;
    r->delivery->is_note_wanted = false;
    commit(r, is_whole, &note);
}

/*
 * What is received is everything before the transaction that is open: so once this commit is done,
 * all of that is in Kafka. The rows of a snapshot belong to no place in the stream.
 */
static void commit_next(struct relay *r, bool is_part)
{
    wr_lsn received = ledger_received(r->ledger);
    wr_lsn end = intake_end_lsn(r->intake);

    if (!r->is_streaming) {
        commit(r, is_part, NULL);
        return;
    }
    if (end > received) { /* of an earlier connection, or of the snapshot */
        end = received;
    }
    struct position next = batcher_position(&r->position, received, end);
    if (is_part) {
        const struct skip *open = intake_skip(r->intake);
        next = batcher_partial(&r->position, received, end, open->commit_lsn, open->change_count);
    }
    commit_with_position(r, is_part, &next);
}

/* Whatever is behind the mark belongs to the transaction that is open: else the position would say
 * of it that Kafka has it. */
static void check_tail(const struct relay *r)
{
    struct transaction_fill fill;

    transaction_fill(r->publisher, &fill);
    assert(fill.count == fill.marked_count ||
           (ledger_is_open(r->ledger) &&
            intake_ledger_ticket(fill.tail_ticket) == ledger_open_ticket(r->ledger)));
}

enum wr_status delivery_send(struct relay *r, bool is_quiet, struct wr_error *err)
{
    struct delivery *d = r->delivery;

    (void)err;
    if (!transaction_is_ready(r->publisher) || d->is_settling) {
        return WR_OK;
    }
    if (!ledger_is_open(r->ledger)) {
        transaction_mark(r->publisher);
    }
    struct batcher_view now = view(r, is_quiet);
    check_tail(r);
    switch (batcher_decide(&d->batcher, &now)) {
    case CUT_NONE:
        break;
    case CUT_MARKED:
    case CUT_NOTE:
        commit_next(r, false);
        break;
    case CUT_PART:
        commit_next(r, true);
        break;
    case CUT_FEED:
        transaction_feed(r->publisher);
        break;
    }
    return WR_OK;
}

int64_t delivery_until_send_us(const struct relay *r)
{
    struct batcher_view now = view(r, true);

    return transaction_is_ready(r->publisher) ? batcher_until_us(&r->delivery->batcher, &now)
                                              : INT64_MAX;
}

bool delivery_is_full(const struct relay *r)
{
    struct batcher_view now = view(r, true);

    return batcher_is_full(&r->delivery->batcher, &now);
}

enum wr_status delivery_put_position(struct relay *r, const struct position *position,
                                     struct wr_error *err)
{
    enum wr_status status = wait_until_idle(r, err);

    if (status == WR_OK) {
        commit_with_position(r, false, position);
        r->progress.is_noting = true;
    }
    return status;
}

enum wr_status delivery_forget_position(struct relay *r, struct wr_error *err)
{
    char topic[POSITION_NAME_SIZE];
    char key[POSITION_NAME_SIZE];

    position_topic(r->config, topic);
    position_key(r->config, key);
    struct transaction_note note = {
        .topic = topic, .key = wr_slice_str(key), .value_is_null = true};
    enum wr_status status = wait_until_idle(r, err);
    if (status == WR_OK) {
        commit(r, false, &note);
        status = wait_until_idle(r, err);
    }
    return status;
}
