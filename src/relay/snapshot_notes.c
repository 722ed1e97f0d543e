#include "relay/snapshot_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "relay/intake.h"
#include "relay/ledger.h"
#include "relay/snapshot_state.h"
#include "relay/state.h"

enum { NOTE_SIZE_MAX = 4096 };

/* What is not acknowledged yet, in the order of the parts. */
struct waiting {
    struct snapshot_mark mark;
    ledger_ticket behind; /* passed by the ledger: all rows up to the mark are acknowledged */
};

struct snapshot_notes {
    struct snapshot_state *state;
    struct waiting *items;
    size_t count, capacity;
    struct wr_buffer key, value;
};

struct snapshot_notes *snapshot_notes_new(struct snapshot_state *state)
{
    struct snapshot_notes *notes = calloc(1, sizeof(*notes));

    if (notes == NULL) {
        abort();
    }
    notes->state = state;
    wr_buffer_init(&notes->key, NOTE_SIZE_MAX);
    wr_buffer_init(&notes->value, NOTE_SIZE_MAX);
    return notes;
}

void snapshot_notes_free(struct snapshot_notes *notes)
{
    if (notes != NULL) {
        wr_buffer_done(&notes->key);
        wr_buffer_done(&notes->value);
        free(notes->items);
        free(notes);
    }
}

void snapshot_notes_add(struct snapshot_notes *notes, struct relay *r,
                        const struct snapshot_mark *mark)
{
    if (notes->count == notes->capacity) {
        notes->capacity = notes->capacity == 0 ? 64 : notes->capacity * 2;
        notes->items = realloc(notes->items, notes->capacity * sizeof(*notes->items));
        if (notes->items == NULL) {
            abort();
        }
    }
    notes->items[notes->count++] =
        (struct waiting){.mark = *mark, .behind = intake_snapshot_divide(r->intake)};
}

static enum wr_status produce(struct snapshot_notes *notes, struct relay *r, struct wr_error *err)
{
    return intake_note(r->intake, snapshot_state_topic(notes->state), wr_buffer_slice(&notes->key),
                       wr_buffer_slice(&notes->value), err);
}

static enum wr_status write_mark(struct snapshot_notes *notes, struct relay *r,
                                 const struct snapshot_mark *mark, struct wr_error *err)
{
    wr_buffer_reset(&notes->key);
    wr_buffer_reset(&notes->value);
    snapshot_state_write_mark(notes->state, mark, &notes->key, &notes->value);
    return produce(notes, r, err);
}

enum wr_status snapshot_notes_put(struct snapshot_notes *notes, struct relay *r,
                                  const struct snapshot_mark *mark, struct wr_error *err)
{
    return write_mark(notes, r, mark, err);
}

enum wr_status snapshot_notes_write(struct snapshot_notes *notes, struct relay *r,
                                    struct wr_error *err)
{
    enum wr_status status = WR_OK;
    size_t done = 0;

    while (status == WR_OK && done < notes->count &&
           ledger_has_passed(r->ledger, notes->items[done].behind)) {
        status = write_mark(notes, r, &notes->items[done++].mark, err);
    }
    if (done > 0) {
        notes->count -= done;
        memmove(notes->items, notes->items + done, notes->count * sizeof(*notes->items));
    }
    return status;
}

enum wr_status snapshot_notes_begin(struct snapshot_notes *notes, struct relay *r, wr_lsn lsn,
                                    struct wr_error *err)
{
    notes->count = 0;
    snapshot_state_begin(notes->state, lsn);
    wr_buffer_reset(&notes->key);
    wr_buffer_reset(&notes->value);
    snapshot_state_write_head(notes->state, &notes->key, &notes->value);
    ledger_restart(r->ledger, 0);
    ledger_begin(r->ledger);
    enum wr_status status = produce(notes, r, err);
    ledger_commit(r->ledger, 1); /* an LSN that nobody confirms: nothing is streamed */
    if (status == WR_OK) {
        status = relay_drain(r, -1, true, err);
    }
    return status == WR_AGAIN ? wr_fail(err, WR_RETRY, "snapshot", "interrupted") : status;
}
