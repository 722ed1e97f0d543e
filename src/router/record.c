#include "router/record.h"

#include <string.h>

bool record_is_tombstone(const struct record *record)
{
    return record->value.kind == PART_NULL ||
           (record->value.kind == PART_DATUM && record->value.as.datum.kind == DATUM_NULL);
}

const struct record_header *record_header_find(const struct record *record, const char *name)
{
    for (size_t i = record->header_count; i > 0; i--) {
        if (strcmp(record->headers[i - 1].name, name) == 0) {
            return &record->headers[i - 1];
        }
    }
    return NULL;
}

enum wr_status record_header_add(struct record *record, const char *name,
                                 const struct record_part *value, struct wr_error *err)
{
    if (record->header_count == RECORD_HEADERS_MAX) {
        return wr_fail(err, WR_REJECT, "router", "header %s: a record has at most %d headers", name,
                       RECORD_HEADERS_MAX);
    }
    record->headers[record->header_count++] = (struct record_header){name, *value};
    return WR_OK;
}

void record_header_drop(struct record *record, const char *name)
{
    size_t kept = 0;

    for (size_t i = 0; i < record->header_count; i++) {
        if (strcmp(record->headers[i].name, name) != 0) {
            record->headers[kept++] = record->headers[i];
        }
    }
    record->header_count = kept;
}

enum wr_status record_header_replace(struct record *record, const char *name,
                                     const struct record_part *value, struct wr_error *err)
{
    record_header_drop(record, name);
    return record_header_add(record, name, value, err);
}
