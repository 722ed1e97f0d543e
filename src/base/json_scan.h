/* base/json_scan.h - JSON text read without losing a digit of it. */
#ifndef WR_BASE_JSON_SCAN_H
#define WR_BASE_JSON_SCAN_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/slice.h"

enum {
    WR_JSON_DEPTH_MAX = 1000, /* arrays and objects in each other, as many as Jackson reads */
};

/* Members of objects that are left out, at any depth. Elements of arrays always stay. */
struct wr_json_compact_options {
    bool drop_null_members;        /* "a":null */
    bool drop_empty_array_members; /* "a":[] */
};

/*
 * Appends `text`, one JSON value as RFC 8259 has it, without blanks. The order of members and the
 * digits of numbers stay as they are; strings are escaped as wr_json_string() does it. A surrogate
 * without its twin, which JSON allows, stays an escape. False when `text` is not JSON, is nested
 * deeper than WR_JSON_DEPTH_MAX or holds malformed UTF-8: then nothing was appended.
 */
bool wr_json_compact(struct wr_slice text, const struct wr_json_compact_options *options,
                     struct wr_buffer *out);

/* True when wr_json_compact() would take `text`. */
bool wr_json_is_valid(struct wr_slice text);

#endif /* WR_BASE_JSON_SCAN_H */
