/* streamer/copy_text.h - one line of COPY … TO STDOUT in text format. */
#ifndef WR_STREAMER_COPY_TEXT_H
#define WR_STREAMER_COPY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct cell;

/*
 * Splits the line (with its line feed) into exactly `count` cells, unescaping in place: the cells
 * borrow from `line`. WR_FATAL for another number of cells, a missing line feed, or an escape that
 * the server does not write.
 */
WR_MUST_USE enum wr_status copy_text_split(char *line, size_t size, struct cell *cells,
                                           uint16_t count, struct wr_error *err);

#endif /* WR_STREAMER_COPY_TEXT_H */
