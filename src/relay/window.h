/* relay/window.h - which rows of a chunk are still true where it is published. Pure. */
#ifndef WR_RELAY_WINDOW_H
#define WR_RELAY_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

/*
 * A chunk of an incremental snapshot is read by a session of its own, under a snapshot S, and
 * published where the stream comes to a high watermark that was written behind S. What S sees is
 * in the WAL before that watermark. What S does not see may stand before it as well: then the row
 * that was read is older than what the stream has published, and must not follow it.
 *
 * So the changes of the tables in question are noted as they are delivered, and a row falls out of
 * its chunk when a transaction that S does not see has changed it. That a commit is in the WAL, and
 * so delivered, before other sessions see it is why a low watermark in the stream cannot say this.
 *
 * Notes begin at some moment. What was delivered before had its transaction id by then, so it is
 * below that of a transaction begun afterwards: the horizon. A snapshot whose xmin has reached the
 * horizon sees all of it.
 */
struct window;

/* pg_current_snapshot(): transaction ids with their epoch. */
struct window_snapshot {
    uint64_t xmin;
    uint64_t xmax;
    uint64_t *in_progress; /* ascending */
    size_t in_progress_count;
};

/* "xmin:xmax:xid,xid". False when it is not of that form. Free with window_snapshot_done(). */
bool window_snapshot_parse(const char *text, struct window_snapshot *out);
void window_snapshot_done(struct window_snapshot *snapshot);
/* Whether it sees a transaction that has committed; pgoutput gives its id without the epoch. */
bool window_snapshot_sees(const struct window_snapshot *snapshot, uint32_t xid);

/* `seed` is to differ from run to run, so that nobody can make two keys that look alike. */
struct window *window_new(uint64_t seed);
void window_free(struct window *w); /* NULL is allowed */

/* The name of a row: its replica identity, as texts in the order of the columns. */
uint64_t window_key_begin(const struct window *w);
uint64_t window_key_add(uint64_t key, struct wr_slice text, bool is_null);

/* Begins to note, with nothing noted and no horizon. */
void window_begin(struct window *w);
/* Forgets everything and notes nothing more. */
void window_end(struct window *w);
/* False before the first horizon, and after an overflow: then another one is needed. */
bool window_has_horizon(const struct window *w);
/* Another one whenever the notes begin anew. */
uint64_t window_generation(const struct window *w);
/* The id of a transaction that was begun while the notes were of this generation; of another one it
 * says nothing, and is passed over. */
void window_set_horizon(struct window *w, uint64_t generation, uint64_t xid);
/* Whether every transaction that is not noted is seen by `snapshot`. */
bool window_reaches(const struct window *w, const struct window_snapshot *snapshot);

/*
 * A row was changed, as the stream has it: both keys where the key was. `is_whole`: the record has
 * every value of the row, or says that it is gone; false where it leaves one out as unchanged.
 */
void window_note(struct window *w, uint32_t xid, uint32_t oid, uint64_t key, bool is_whole);
/* All rows of the table are gone. */
void window_note_truncate(struct window *w, uint32_t xid, uint32_t oid);
size_t window_note_count(const struct window *w);

enum window_verdict {
    WINDOW_KEEP,
    WINDOW_DROP,   /* the stream has published something newer, all of it */
    WINDOW_REREAD, /* something newer, but not all of its values: the row has to be read again */
};

/* The rows of a chunk, in order, after window_chunk_begin(). */
void window_chunk_begin(struct window *w, uint32_t oid);
void window_chunk_add(struct window *w, uint64_t key);
/*
 * Judges the rows that were added, of a chunk read under `snapshot`, where the stream is now, and
 * forgets what no later snapshot can need. False: the notes do not reach so far back, and the chunk
 * has to be read again.
 */
WR_MUST_USE bool window_chunk_judge(struct window *w, const struct window_snapshot *snapshot);
enum window_verdict window_chunk_verdict(const struct window *w, size_t row);

#endif /* WR_RELAY_WINDOW_H */
