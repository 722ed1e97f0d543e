/* sink/search_state.h - what the files of the search target share. */
#ifndef WR_SINK_SEARCH_STATE_H
#define WR_SINK_SEARCH_STATE_H

#include <stddef.h>

#include "base/buffer.h"
#include "sink/http.h"
#include "sink/search_batch.h"
#include "sink/sink.h"

struct search_index;

struct search {
    struct sink_target base;
    const struct sink_setup *setup;
    struct http *http;
    struct wr_arena *arena;
    const char *login; /* the header of an API key; NULL: none */
    struct search_index *indexes;
    struct search_batch batch;
    struct wr_buffer body;
    struct wr_buffer text; /* of search_index.c */
    /* Of a bulk at most: what is configured, and what the server lets pass at the time. */
    size_t request_size_max, request_size;
    struct sink_report *report; /* of the batch that is being applied */
};

/*
 * One request that is no bulk. WR_OK: answered with 2xx, or with 404, or with 400 (`answer` says
 * which); other answers are failures of the server or of its settings.
 */
WR_MUST_USE enum wr_status search_ask(struct search *s, const char *method, const char *path,
                                      struct wr_slice body, const struct sink_report *report,
                                      struct http_answer *answer, struct wr_error *err);
/* The server's own words, out of an answer's body; static until the next call on this thread. */
const char *search_reason(struct wr_slice body);
/* Whether an answer means that it may work later; else WR_FATAL. `status` is no 2xx. */
enum wr_status search_judge(const struct search *s, const struct http_answer *answer,
                            struct wr_error *err);

/* Sends the actions of the batch that are not skipped. As apply(). */
WR_MUST_USE enum wr_status search_send(struct search *s, struct wr_error *err);
/* Reads the fields that documents lack from the index. */
WR_MUST_USE enum wr_status search_complete(struct search *s, struct wr_error *err);
/* Deletes what is older than that version, for the record at place `number`; uses the batch. */
WR_MUST_USE enum wr_status search_truncate(struct search *s, struct search_index *index,
                                           uint64_t version, size_t number, struct wr_error *err);

#endif /* WR_SINK_SEARCH_STATE_H */
