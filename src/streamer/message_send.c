#include "streamer/message_send.h"

#include <libpq-fe.h>

#include "config/config.h"
#include "streamer/command.h"
#include "streamer/connect.h"

enum { TIMEOUT_MS = 30 * 1000 };

/* Only where there is a slot that begins before it. */
static const char *const SEND_SQL =
    "SELECT pg_catalog.pg_logical_emit_message(true, $2::text, $3::text), s.active"
    " FROM pg_catalog.pg_replication_slots s"
    " WHERE s.slot_name = $1 AND s.database = pg_catalog.current_database()";

static enum wr_status send(PGconn *conn, const struct config *config, const char *prefix,
                           const char *content, struct message_receipt *out, struct wr_error *err)
{
    const char *const values[] = {config->slot_name, prefix, content};
    struct command command = {.where = "snapshot",
                              .sql = SEND_SQL,
                              .values = values,
                              .value_count = 3,
                              .timeout_ms = TIMEOUT_MS};
    PGresult *result = NULL;
    enum wr_status status = command_run(conn, &command, &result, err);

    if (status == WR_OK && PQntuples(result) == 0) {
        status = wr_fail(err, WR_FATAL, "snapshot",
                         "there is no slot %s in the database %s: nothing was asked for. Start "
                         "`walrelay run` first, with the same slot.name",
                         config->slot_name, config->database_dbname);
    }
    if (status == WR_OK && !wr_lsn_parse(PQgetvalue(result, 0, 0), &out->lsn)) {
        status = wr_fail(err, WR_FATAL, "snapshot", "an odd LSN: %s", PQgetvalue(result, 0, 0));
    }
    if (status == WR_OK) {
        out->is_read = PQgetvalue(result, 0, 1)[0] == 't';
    }
    PQclear(result);
    return status;
}

enum wr_status message_send(const struct config *config, const char *prefix, const char *content,
                            struct message_receipt *out, struct wr_error *err)
{
    PGconn *conn = NULL;
    enum wr_status status = connect_open(config, CONNECT_QUERY, &conn, err);

    if (status == WR_OK) {
        status = send(conn, config, prefix, content, out, err);
    }
    PQfinish(conn);
    return status;
}
