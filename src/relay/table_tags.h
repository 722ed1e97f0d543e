/* relay/table_tags.h - a short number for each table, for tickets that come back long after. */
#ifndef WR_RELAY_TABLE_TAGS_H
#define WR_RELAY_TABLE_TAGS_H

#include <stddef.h>
#include <stdint.h>

struct relation;

enum { TABLE_TAG_COUNT_MAX = 1 << 16 };

/* Init with zeroes. */
struct table_tags {
    char **names; /* by tag less one; tag 0 is no table */
    size_t count;
};

void table_tags_done(struct table_tags *tags);

/* The tag of the relation's name: the same when it comes again. 0 once there are too many. */
uint32_t table_tags_of(struct table_tags *tags, const struct relation *relation);
/* The same of "schema.table". */
uint32_t table_tags_named(struct table_tags *tags, const char *name);

/* "schema.table", or "unknown". Valid as long as the tags. */
const char *table_tags_name(const struct table_tags *tags, uint64_t tag);

#endif /* WR_RELAY_TABLE_TAGS_H */
