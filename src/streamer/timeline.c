#include "streamer/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "streamer/command.h"

enum { COMMAND_TIMEOUT_MS = 30 * 1000 };

enum wr_status timeline_read(struct pg_conn *conn, uint32_t timeline, char **out,
                             struct wr_error *err)
{
    char sql[64];
    PGresult *result = NULL;
    struct command command = {.where = "stream", .sql = sql, .timeout_ms = COMMAND_TIMEOUT_MS};

    *out = NULL;
    if (timeline <= 1) {
        return WR_OK;
    }
    (void)snprintf(sql, sizeof(sql), "TIMELINE_HISTORY %" PRIu32, timeline);
    enum wr_status status = command_run(conn, &command, &result, err);
    if (status == WR_OK && PQntuples(result) == 1 && PQnfields(result) == 2) {
        *out = strdup(PQgetvalue(result, 0, 1));
    }
    PQclear(result);
    return status == WR_FATAL ? WR_OK : status;
}

/* Lines of "timeline<TAB>LSN<TAB>reason", one for each that was left. */
enum wr_status timeline_end(const char *history, uint32_t timeline, wr_lsn *lsn,
                            struct wr_error *err)
{
    for (const char *line = history; line != NULL && *line != '\0';) {
        char *end = NULL;
        unsigned long number = strtoul(line, &end, 10);
        const char *start = end + strspn(end, " \t");
        size_t size = strcspn(start, " \t\n");
        char text[32];
        if (end != line && number == timeline && size < sizeof(text)) {
            memcpy(text, start, size);
            text[size] = '\0';
            if (wr_lsn_parse(text, lsn)) {
                return WR_OK;
            }
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return wr_fail(err, WR_FATAL, "stream",
                   "the server did not come from timeline %" PRIu32 ", or its history is gone",
                   timeline);
}
