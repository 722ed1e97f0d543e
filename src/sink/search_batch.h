/* sink/search_batch.h - the changes of a batch, one for each document. Pure. */
#ifndef WR_SINK_SEARCH_BATCH_H
#define WR_SINK_SEARCH_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct search_index;
struct sink_record;
struct wr_arena;

/*
 * What is to be done to one document. Two changes of one key may have the same version (those of
 * one transaction), so only the last may go out: in one request or two, the server would take
 * either for the later one.
 */
struct search_action {
    struct search_index *index;
    struct wr_slice id;
    uint64_t version, seq;
    size_t record; /* of the batch: the one that it does */
    bool is_delete;
    bool is_skipped;
    bool is_probe;            /* a delete that asks whether the index has newer data */
    struct wr_slice document; /* not of a delete */
    /* Unchanged TOAST values that the batch does not hold: names, with quotes. */
    struct wr_slice *missing;
    size_t missing_count;
    /* Of a row that has moved within the batch, maybe more than once: the id under which the index
     * has it, or had it before this was a delete; `data` NULL where that is its own. */
    struct wr_slice moved_from;
    /* Of a delete: the document before it, when that came in this batch; `data` NULL otherwise. */
    struct wr_slice before;
};

struct search_batch {
    struct wr_arena *arena; /* all but the arrays */
    struct search_action *actions;
    size_t count, capacity;
    size_t *slots; /* open addressing: index + 1, 0 is free */
    size_t slot_count;
    bool has_moves;
};

void search_batch_init(struct search_batch *b);
void search_batch_reset(struct search_batch *b);
void search_batch_done(struct search_batch *b);

/*
 * Adds the record at place `number`, over an earlier one of the same key. NULL, or why no document
 * can be made of it.
 */
const char *search_batch_add(struct search_batch *b, struct search_index *index, size_t number,
                             const struct sink_record *record);
/* The action for that document; NULL: there is none. */
struct search_action *search_batch_find(struct search_batch *b, const struct search_index *index,
                                        struct wr_slice id);
/* Adds a deletion; the id is copied. */
void search_batch_delete(struct search_batch *b, struct search_index *index, size_t number,
                         struct wr_slice id, uint64_t version);
/* Makes a deletion of it. */
void search_action_delete(struct search_action *action, uint64_t version);
/* Adds those of the missing fields that `source`, a JSON object, has. */
void search_action_fill(struct search_batch *b, struct search_action *action,
                        struct wr_slice source);

#endif /* WR_SINK_SEARCH_BATCH_H */
