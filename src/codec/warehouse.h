/* codec/warehouse.h - what both forms of a warehouse row share. */
#ifndef WR_CODEC_WAREHOUSE_H
#define WR_CODEC_WAREHOUSE_H

#include "router/record.h"

enum { WAREHOUSE_VERSION = 1 }; /* what a reader has to understand */

/* Where the record stands; zeroes where nobody counts. */
static inline struct record_position warehouse_position(const struct record *record)
{
    const struct record_position *position = record->source->position;

    return position == NULL ? (struct record_position){0} : *position;
}

#endif /* WR_CODEC_WAREHOUSE_H */
