/* relay/incremental_run.h - a run of incremental snapshots, for the files of it only. */
#ifndef WR_RELAY_INCREMENTAL_RUN_H
#define WR_RELAY_INCREMENTAL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "decoder/pgoutput.h"
#include "relay/incremental.h"
#include "relay/incremental_state.h"
#include "streamer/chunk_table.h"

struct change;
struct chunk_reader;
struct relation;
struct signal_channel;
struct state_lookup;
struct window;
struct wr_arena;

enum { INCREMENTAL_MARK_SIZE = 80 };

/* What the reader was asked for last. */
enum incremental_phase {
    INCREMENTAL_IDLE,
    INCREMENTAL_FINDING, /* the tables that there are */
    INCREMENTAL_MARKING, /* a low watermark, for the horizon */
    INCREMENTAL_LOOKING, /* a snapshot, whether it reaches the horizon */
    INCREMENTAL_LOCKING, /* a lock on the table, before it is looked up */
    INCREMENTAL_MAXING,  /* the highest key */
    INCREMENTAL_READING, /* a chunk, until its high watermark comes */
};

/* The table whose rows are being read. */
struct incremental_table {
    uint32_t oid;
    uint32_t tag;
    struct wr_arena *arena;     /* of the target; NULL: the table has to be found */
    struct chunk_target target; /* what was found */
    struct chunk_table *chunks; /* NULL: it has to be looked up */
    struct relation *relation;
    bool is_free;      /* the lock was to be had */
    bool has_failed;   /* once: the next refusal is its end */
    bool nulls_read;   /* the rows without a key */
    bool has_changed;  /* a Relation message says that it looks otherwise now */
    int64_t row_limit; /* of the next chunk */
};

struct incremental {
    struct relay *r;
    struct signal_channel *channel; /* of Kafka; NULL: none */
    struct window *window;
    struct chunk_reader *reader; /* NULL: not connected */
    struct incremental_state state;
    struct incremental_progress progress; /* published */
    struct incremental_table table;
    size_t reread_count; /* the first ones of progress.reread, whose chunk is being read; or 0 */
    bool was_reread;     /* the last chunk was one of these: the other rows take their turn */
    enum incremental_phase phase;
    bool is_running;  /* changes are being noted */
    bool has_reached; /* snapshots reach the horizon, as all later ones do */
    uint64_t asked_generation;
    char nonce[33]; /* of this run of walrelay: nobody else can write its watermarks */
    uint64_t mark_count;
    char mark[INCREMENTAL_MARK_SIZE]; /* the high watermark of the chunk in question */
    bool *is_watched;                 /* by the tag of a table, NULL: none */
    int64_t wait_until_us;            /* nothing is asked before */
    int64_t wait_us;
    int64_t started_us;
    uint64_t next_run;
    struct {
        struct state_lookup *lookup; /* of what an earlier run has noted, not answered yet */
        bool is_known;               /* that was read, or cannot be */
        bool is_off;                 /* nothing can be remembered */
        bool is_wanted;              /* more was published than is noted */
        bool is_pending;
        uint64_t behind; /* once the ledger has passed it, `pending` is acknowledged */
        struct incremental_progress pending, done;
        struct wr_buffer key, value;
        char topic[256];
    } note;
    struct cell cells[WR_COLUMN_COUNT_MAX];
};

/* Asking for rows (incremental.c). */
const struct incremental_item *incremental_current(const struct incremental *inc);
/* Nothing is published of what was asked for, and it is asked for anew. */
void incremental_void_chunk(struct incremental *inc);
/* As if nothing had ever been asked for. */
void incremental_forget(struct incremental *inc);
/* Connections come back by themselves. */
void incremental_lose_reader(struct incremental *inc, const struct wr_error *cause);
/* Notes begin anew, for tables were added. */
void incremental_begin_notes(struct incremental *inc);

/* The server has listed its tables (incremental_find.c). */
WR_MUST_USE enum wr_status incremental_found(struct incremental *inc, struct wr_error *err);

/* The table (incremental_table.c). */

/* Finds the current one, then asks for a lock on it, then, once that was to be had, looks it up and
 * makes its plan. One that cannot be read is over at once. */
WR_MUST_USE enum wr_status incremental_table_open(struct incremental *inc, struct wr_error *err);
void incremental_forget_table(struct incremental *inc);
/* The current one is done, with a status of Debezium's. */
WR_MUST_USE enum wr_status incremental_table_over(struct incremental *inc, const char *status,
                                                  struct wr_error *err);
/* The same, for a reason that is logged. */
WR_MUST_USE enum wr_status incremental_table_refuse(struct incremental *inc, const char *status,
                                                    const struct wr_error *cause,
                                                    struct wr_error *err);

/* Publishing them (incremental_chunk.c). The high watermark has come: publishes the chunk, where it
 * still may be. */
WR_MUST_USE enum wr_status incremental_publish(struct incremental *inc, struct wr_error *err);
/* A change passes. */
WR_MUST_USE enum wr_status
incremental_note_change(struct incremental *inc, const struct change *change, struct wr_error *err);

/* Telling of them (incremental_tell.c). */
WR_MUST_USE enum wr_status incremental_tell_run(struct incremental *inc, const char *type,
                                                const char *id, uint64_t run, bool lists_tables,
                                                struct wr_error *err);
WR_MUST_USE enum wr_status incremental_tell_aborted(struct incremental *inc, const char *id,
                                                    const char *tables, struct wr_error *err);
WR_MUST_USE enum wr_status incremental_tell_progress(struct incremental *inc,
                                                     const struct incremental_key *last,
                                                     struct wr_error *err);
WR_MUST_USE enum wr_status incremental_tell_table(struct incremental *inc, const char *status,
                                                  struct wr_error *err);

/* Remembering them (incremental_note.c). Remembers what is asked for, with how far it was
 * acknowledged. */
WR_MUST_USE enum wr_status incremental_remember(struct incremental *inc, struct wr_error *err);
/* Asks Kafka what an earlier run has noted. */
void incremental_ask_note(struct incremental *inc);
/* Takes in an answer that did not come at the start. */
void incremental_recall_late(struct incremental *inc);
/* Before anything new is noted: waits for it, serving all but the stream. */
WR_MUST_USE enum wr_status incremental_need_note(struct incremental *inc, struct wr_error *err);
/* Rows of a chunk were published, or a table is done. */
WR_MUST_USE enum wr_status incremental_note_with_rows(struct incremental *inc,
                                                      struct wr_error *err);
/* Notes what is acknowledged by now. */
WR_MUST_USE enum wr_status incremental_note_turn(struct incremental *inc, struct wr_error *err);

#endif /* WR_RELAY_INCREMENTAL_RUN_H */
