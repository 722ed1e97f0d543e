/* sink/search_index.h - the indexes of a route: one a table, made where that is asked for. */
#ifndef WR_SINK_SEARCH_INDEX_H
#define WR_SINK_SEARCH_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

struct search;
struct sink_record;
struct sink_report;

/* Lives as long as the target. */
struct search_index {
    struct search_index *next;
    const char *table; /* schema.table */
    const char *name;
    bool is_there;
    bool is_warned; /* of documents that had to be read first */
    char *types;    /* those that its mapping has; NULL: not known */
    /* Documents of a lower version are gone by a TRUNCATE, whoever has seen it; 0: by none. */
    uint64_t truncated;
};

/*
 * The index of a record's table, made or widened first where it has to be. WR_REJECT: the table can
 * have none; otherwise as apply().
 */
WR_MUST_USE enum wr_status search_index_get(struct search *s, const struct sink_record *record,
                                            const struct sink_report *report,
                                            struct search_index **out, struct wr_error *err);
/* Reads `truncated` from the index, or raises it there. */
WR_MUST_USE enum wr_status search_index_read_fence(struct search *s, struct search_index *index,
                                                   const struct sink_report *report,
                                                   struct wr_error *err);
WR_MUST_USE enum wr_status search_index_raise_fence(struct search *s, struct search_index *index,
                                                    uint64_t version,
                                                    const struct sink_report *report,
                                                    struct wr_error *err);
void search_index_free_all(struct search_index *first);

#endif /* WR_SINK_SEARCH_INDEX_H */
