/* codec/warehouse_json.h - a warehouse row as natural JSON. */
#ifndef WR_CODEC_WAREHOUSE_JSON_H
#define WR_CODEC_WAREHOUSE_JSON_H

#include "base/buffer.h"
#include "base/status.h"
#include "router/record.h"

struct wr_arena;

/*
 * {"version":1,"op":"u","schema":…,"table":…,"lsn":…,"seq":…,"row_lsn":…,"xid":…,"commit_time":…,
 * "key":{…},"before":{…},"after":{…},"unavailable":[…]}; the last one only where it
 * is not empty. Statuses as route_value_json().
 */
WR_MUST_USE enum wr_status warehouse_json_write(struct wr_buffer *out, const struct record *record,
                                                struct wr_arena *scratch, struct wr_error *err);

#endif /* WR_CODEC_WAREHOUSE_JSON_H */
