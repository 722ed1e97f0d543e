/* streamer/command.h - one command on a libpq connection, waited for without losing SIGTERM. */
#ifndef WR_STREAMER_COMMAND_H
#define WR_STREAMER_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "base/status.h"

struct wr_buffer;

struct command {
    const char *where; /* the module, for err->where */
    const char *sql;
    const char *const *values; /* of $1 …; none: the simple protocol, all that a walsender knows */
    int value_count;
    int64_t timeout_ms; /* 0: none */
    const char *note;   /* logged once when the answer takes longer than a second; may be NULL */
    char sqlstate[6];   /* out: of the server's error; "" when it was not the server that failed */
};

/*
 * Runs it and waits for the answer. On WR_OK `*out` is the last result, to be freed with PQclear;
 * a COPY has then begun. WR_RETRY with the text "interrupted" as soon as the descriptor of
 * streamer_abort_fd() is readable. After WR_RETRY the connection is only good for PQfinish; the
 * command has then been cancelled where it still ran.
 */
WR_MUST_USE enum wr_status command_run(PGconn *conn, struct command *command, PGresult **out,
                                       struct wr_error *err);

enum command_wait { COMMAND_WAIT_ABORTABLE, COMMAND_WAIT_TO_THE_END };

/* Waits for `events` on `fd`: WR_AGAIN once `deadline_us` has passed (0: never), WR_RETRY
 * "interrupted". */
WR_MUST_USE enum wr_status command_wait(int fd, short events, int64_t deadline_us,
                                        enum command_wait kind, struct wr_error *err);

/*
 * Fills `err` from a result that failed, or from the connection when there is none, and returns
 * what the SQLSTATE asks for. `sqlstate` gets the code, or "".
 */
enum wr_status command_fail(const PGconn *conn, const PGresult *result, const char *where,
                            char sqlstate[6], struct wr_error *err);
/* Adds "; " and the remedy to the text of `err`. */
void command_advise(struct wr_error *err, const char *format, ...) WR_PRINTF(2, 3);

/* Connections lost, servers that start or stop, and locks pass by themselves: WR_RETRY. Anything
 * else stays wrong until somebody mends it: WR_FATAL. */
enum wr_status command_sqlstate_status(const char *sqlstate);

/* libpq's messages have several lines: joins them with "; " and leaves the LOCATION line out. */
void command_one_line(const char *message, char *out, size_t size);

/* The two ways of quoting that the SQL and the replication grammar share: "a""b" and 'a''b'. */
void command_add_identifier(struct wr_buffer *out, const char *name);
void command_add_literal(struct wr_buffer *out, const char *text);

#endif /* WR_STREAMER_COMMAND_H */
