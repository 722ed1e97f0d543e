/* decoder/relcache.h - the relations of one connection, by oid. */
#ifndef WR_DECODER_RELCACHE_H
#define WR_DECODER_RELCACHE_H

#include <stdint.h>

#include "base/status.h"
#include "decoder/relation.h"

struct relcache;

struct relcache *relcache_new(void);
void relcache_free(struct relcache *cache); /* NULL is allowed */

/*
 * Takes `relation` (and its arena) over and frees the one it replaces: a Relation message always
 * replaces, since it comes again when the table has changed. WR_FATAL past WR_RELATION_COUNT_MAX.
 */
WR_MUST_USE enum wr_status relcache_put(struct relcache *cache, struct relation *relation,
                                        struct wr_error *err);
/* NULL when no Relation message has named `oid`. */
struct relation *relcache_get(const struct relcache *cache, uint32_t oid);
/* For a new connection, on which the server sends every Relation again. */
void relcache_clear(struct relcache *cache);

#endif /* WR_DECODER_RELCACHE_H */
