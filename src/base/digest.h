/* base/digest.h - message digests, by the names that Java has for them. */
#ifndef WR_BASE_DIGEST_H
#define WR_BASE_DIGEST_H

#include <stddef.h>

#include "base/slice.h"

enum { WR_DIGEST_HEX_SIZE_MAX = 128 }; /* of 512 bits */

struct wr_digest;

/* "SHA-256", "MD5", "SHA-512/256", "SHA3-384", …, in any case of letters. NULL: not known. */
struct wr_digest *wr_digest_new(const char *name);
void wr_digest_free(struct wr_digest *digest); /* NULL is allowed */

/*
 * Writes the digest of all `pieces`, one behind the other, as lower-case hexadecimal digits without
 * a NUL, and returns how many. `digest` may be used again.
 */
size_t wr_digest_hex(struct wr_digest *digest, const struct wr_slice *pieces, size_t count,
                     char out[WR_DIGEST_HEX_SIZE_MAX]);

#endif /* WR_BASE_DIGEST_H */
