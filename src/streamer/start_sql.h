/* streamer/start_sql.h - the command that starts a slot's stream. */
#ifndef WR_STREAMER_START_SQL_H
#define WR_STREAMER_START_SQL_H

#include <stdbool.h>

#include "base/lsn.h"

struct config;
struct wr_buffer;

/*
 * Appends START_REPLICATION with pgoutput's options, and a NUL: the publication, logical messages
 * where they are wanted, and slot.stream.params.
 */
void start_sql_write(struct wr_buffer *sql, const struct config *config, const char *slot_name,
                     wr_lsn start, bool with_messages);

#endif /* WR_STREAMER_START_SQL_H */
