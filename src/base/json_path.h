/* base/json_path.h - one value out of JSON text. */
#ifndef WR_BASE_JSON_PATH_H
#define WR_BASE_JSON_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/slice.h"

/*
 * The value at the end of `path`: members of objects by name, elements of arrays by number ("0" is
 * the first). Of members with the same name the last counts, as for PostgreSQL. `json` is right
 * JSON; of other text any part may come out, but nothing outside it. False: there is none.
 */
bool wr_json_find(struct wr_slice json, const struct wr_slice *path, size_t path_count,
                  struct wr_slice *out);

/* True when `json` is the word null. */
bool wr_json_is_null(struct wr_slice json);

/* Appends what a JSON string means, and anything else as it is. */
void wr_json_plain(struct wr_buffer *out, struct wr_slice json);

#endif /* WR_BASE_JSON_PATH_H */
