/* relay/ask.h - asks a running relay for a snapshot: `walrelay snapshot`. */
#ifndef WR_RELAY_ASK_H
#define WR_RELAY_ASK_H

#include <stddef.h>

#include "base/status.h"

struct config;
struct wr_buffer;

enum ask_kind { ASK_EXECUTE, ASK_STOP, ASK_PAUSE, ASK_RESUME };

struct ask {
    enum ask_kind kind;
    const char *const *tables; /* expressions over schema.table */
    size_t table_count;
    const char *const *filters; /* "TABLE=SQL" */
    size_t filter_count;
    const char *surrogate_key; /* NULL: none */
};

/* Sends it, and appends to `answer` what a person should know. */
WR_MUST_USE enum wr_status ask_relay(const struct config *config, const struct ask *ask,
                                     struct wr_buffer *answer, struct wr_error *err);

#endif /* WR_RELAY_ASK_H */
