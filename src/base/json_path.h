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

/*
 * Goes through the members of an object, or the elements of an array. Reads nothing outside of the
 * text whatever that holds, but only of JSON is what it finds right.
 */
struct wr_json_walk {
    const char *next, *end;
    char close; /* the bracket that ends it */
};

/* False when `json` is neither. */
bool wr_json_walk_start(struct wr_json_walk *walk, struct wr_slice json);
/* `name` is as it is written, with its quotes, and empty in an array. False behind the last. */
bool wr_json_walk_next(struct wr_json_walk *walk, struct wr_slice *name, struct wr_slice *value);

#endif /* WR_BASE_JSON_PATH_H */
