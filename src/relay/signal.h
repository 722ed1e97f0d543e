/* relay/signal.h - what somebody asks of a running relay, in Debezium's words. Pure. */
#ifndef WR_RELAY_SIGNAL_H
#define WR_RELAY_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "base/status.h"

struct wr_arena;

enum signal_kind {
    SIGNAL_EXECUTE_SNAPSHOT,
    SIGNAL_STOP_SNAPSHOT,
    SIGNAL_PAUSE_SNAPSHOT,
    SIGNAL_RESUME_SNAPSHOT,
    SIGNAL_LOG,
    SIGNAL_NONE, /* Debezium's own watermarks, which ask for nothing */
};

/* One of "additional-conditions". */
struct signal_condition {
    const char *collection; /* an expression, of any case */
    const char *filter;     /* SQL */
};

struct signal {
    enum signal_kind kind;
    const char *id;
    bool is_blocking;                          /* EXECUTE: "type" */
    const char **collections;                  /* EXECUTE, STOP: expressions over schema.table */
    size_t collection_count;                   /* STOP: 0 is all */
    const struct signal_condition *conditions; /* EXECUTE */
    size_t condition_count;
    const char *surrogate_key; /* EXECUTE: NULL is none */
    const char *message;       /* LOG */
};

/*
 * Reads a signal of the type `type` with the JSON `data`, which may be NULL. Everything in `out` is
 * owned by `arena`. WR_REJECT: it is none that is known, or lacks what it needs.
 */
WR_MUST_USE enum wr_status signal_read(const char *id, const char *type, struct wr_slice data,
                                       struct wr_arena *arena, struct signal *out,
                                       struct wr_error *err);
/* The same of one JSON object with "id", "type" and "data", an object or its text. */
WR_MUST_USE enum wr_status signal_read_whole(struct wr_slice text, struct wr_arena *arena,
                                             struct signal *out, struct wr_error *err);

#endif /* WR_RELAY_SIGNAL_H */
