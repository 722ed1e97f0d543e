/* base/lsn.h - a place in the write-ahead log. */
#ifndef WR_BASE_LSN_H
#define WR_BASE_LSN_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint64_t wr_lsn; /* 0 is no LSN, PostgreSQL's InvalidXLogRecPtr */

#define WR_LSN_FMT       "%" PRIX32 "/%" PRIX32
#define WR_LSN_ARGS(lsn) (uint32_t)((lsn) >> 32), (uint32_t)(lsn)

/* Reads PostgreSQL's text form, "16/B374D848". False when `text` is anything else. */
bool wr_lsn_parse(const char *text, wr_lsn *out);

#endif /* WR_BASE_LSN_H */
