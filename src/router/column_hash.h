/* router/column_hash.h - column.mask.hash[.v2].ALGORITHM.with.salt.SALT. */
#ifndef WR_ROUTER_COLUMN_HASH_H
#define WR_ROUTER_COLUMN_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct wr_arena;
struct wr_digest;

struct column_hash {
    struct wr_digest *digest;
    struct wr_slice salt;
    bool is_v2; /* of the text's bytes; else of the text as Java's ObjectOutputStream writes it */
};

/* The digest of salt and text, as hexadecimal digits in `arena`. False: the arena is full. */
bool column_hash_text(const struct column_hash *hash, struct wr_slice text, struct wr_arena *arena,
                      struct wr_slice *out);

#endif /* WR_ROUTER_COLUMN_HASH_H */
