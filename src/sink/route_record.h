/* sink/route_record.h - the headers of a route's record, as docs/routes.md has them. */
#ifndef WR_SINK_ROUTE_RECORD_H
#define WR_SINK_ROUTE_RECORD_H

#include <stdbool.h>

#include "base/slice.h"

struct sink_record;

/* Takes one header; others than walrelay's are passed over. NULL, or what is wrong with it. */
const char *route_record_header(struct sink_record *record, const char *name,
                                struct wr_slice value);
/* Once all headers are there: NULL, or what the record lacks. Static. */
const char *route_record_check(const struct sink_record *record);
/* A tombstone that some other hand has written: no route makes a record without a version. */
bool route_record_is_foreign_tombstone(const struct sink_record *record);

#endif /* WR_SINK_ROUTE_RECORD_H */
