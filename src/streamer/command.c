#include "streamer/command.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "streamer/stream.h"

enum {
    MS_US = 1000,
    NOTE_AFTER_US = 1000 * 1000,
    CANCEL_COUNT_MAX = 5,
    CANCEL_WAIT_US = 200 * 1000,
    POLL_MS_MAX = 60 * 1000, /* keeps a far deadline inside poll's int */
};

/* One per process, as signals are. -1: poll() then skips it. */
static int abort_fd = -1;

void streamer_abort_fd(int fd)
{
    abort_fd = fd;
}

static int poll_timeout_ms(int64_t deadline_us)
{
    if (deadline_us == 0) {
        return POLL_MS_MAX;
    }
    int64_t left_us = deadline_us - wr_clock_monotonic_us();
    if (left_us <= 0) {
        return 0;
    }
    int64_t left_ms = (left_us + MS_US - 1) / MS_US;
    return left_ms > POLL_MS_MAX ? POLL_MS_MAX : (int)left_ms;
}

enum wr_status command_wait(int fd, short events, int64_t deadline_us, enum command_wait kind,
                            struct wr_error *err)
{
    struct pollfd fds[2] = {
        {.fd = fd, .events = events},
        {.fd = kind == COMMAND_WAIT_ABORTABLE ? abort_fd : -1, .events = POLLIN},
    };

    for (;;) {
        int ready = poll(fds, 2, poll_timeout_ms(deadline_us));
        if (ready < 0 && errno != EINTR) {
            return wr_fail(err, WR_RETRY, "command", "poll: %s", strerror(errno));
        }
        if (ready > 0 && fds[1].revents != 0) {
            return wr_fail(err, WR_RETRY, "command", "interrupted");
        }
        if (ready > 0) {
            return WR_OK;
        }
        if (deadline_us != 0 && wr_clock_monotonic_us() >= deadline_us) {
            return WR_AGAIN;
        }
    }
}

enum wr_status command_sqlstate_status(const char *sqlstate)
{
    static const char *const passing[] = {
        "08",    /* connection exceptions */
        "40",    /* serialization failures and deadlocks */
        "53",    /* too many connections, disk full, out of memory */
        "57",    /* cancelled, shutting down, starting up */
        "55006", /* the slot is active for another process */
        "55P03", /* a lock is not available */
    };

    if (sqlstate[0] == '\0') {
        return WR_RETRY; /* not a word from the server: the connection is gone */
    }
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        if (strncmp(sqlstate, passing[i], strlen(passing[i])) == 0) {
            return WR_RETRY;
        }
    }
    return WR_FATAL;
}

void command_one_line(const char *message, char *out, size_t size)
{
    size_t used = 0;

    assert(size > 0);
    out[0] = '\0';
    while (*message != '\0' && used + 1 < size) {
        message += strspn(message, " \t"); /* libpq indents what it adds */
        size_t line_size = strcspn(message, "\n");
        bool is_wanted = line_size > 0 && strncmp(message, "LOCATION:", 9) != 0;
        if (is_wanted) {
            int added = snprintf(out + used, size - used, "%s%.*s", used > 0 ? "; " : "",
                                 (int)line_size, message);
            used += added < 0 ? 0 : (size_t)added;
        }
        message += line_size + (message[line_size] == '\n');
    }
}

void command_advise(struct wr_error *err, const char *format, ...)
{
    size_t used = strlen(err->text);
    va_list args;

    if (used + 3 >= sizeof(err->text)) {
        return;
    }
    memcpy(err->text + used, "; ", 3);
    va_start(args, format);
    vsnprintf(err->text + used + 2, sizeof(err->text) - used - 2, format, args);
    va_end(args);
}

enum wr_status command_fail(const PGconn *conn, const PGresult *result, const char *where,
                            char sqlstate[6], struct wr_error *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    snprintf(sqlstate, 6, "%s", state == NULL ? "" : state);
    if (state == NULL) {
        char text[sizeof(err->text)];
        const char *message = PQresultErrorMessage(result);
        command_one_line(message[0] == '\0' ? PQerrorMessage(conn) : message, text, sizeof(text));
        return wr_fail(err, WR_RETRY, where, "%s",
                       text[0] == '\0' ? "the connection was closed" : text);
    }
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    return wr_fail(err, command_sqlstate_status(state), where, "%s%s%s%s%s (SQLSTATE %s)",
                   PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), detail == NULL ? "" : "; ",
                   detail == NULL ? "" : detail, hint == NULL ? "" : "; ", hint == NULL ? "" : hint,
                   state);
}

static void request_cancel(PGconn *conn)
{
    char ignored[256];
    PGcancel *handle = PQgetCancel(conn);

    if (handle != NULL) {
        (void)PQcancel(handle, ignored, sizeof(ignored));
        PQfreeCancel(handle);
    }
}

/*
 * Nobody waits for the answer any more. Without this, a CREATE_REPLICATION_SLOT that waits for old
 * transactions would go on, and leave a slot behind that nobody reads. A request that overtakes
 * the command on its way is lost, hence the repetition.
 */
static void cancel(PGconn *conn)
{
    struct wr_error ignored;

    for (int i = 0; i < CANCEL_COUNT_MAX && PQisBusy(conn) != 0; i++) {
        int64_t until_us = wr_clock_monotonic_us() + CANCEL_WAIT_US;
        request_cancel(conn);
        enum wr_status status =
            command_wait(PQsocket(conn), POLLIN, until_us, COMMAND_WAIT_TO_THE_END, &ignored);
        if (status == WR_OK && PQconsumeInput(conn) == 0) {
            return;
        }
    }
}

struct patience {
    int64_t deadline_us; /* 0: none */
    int64_t note_us;     /* 0: nothing to note, or noted */
};

/* Waits once; WR_OK: look again. */
static enum wr_status wait_patiently(PGconn *conn, short events, struct command *command,
                                     struct patience *patience, struct wr_error *err)
{
    int64_t until_us = patience->deadline_us;

    if (patience->note_us != 0 && (until_us == 0 || patience->note_us < until_us)) {
        until_us = patience->note_us;
    }
    enum wr_status status =
        command_wait(PQsocket(conn), events, until_us, COMMAND_WAIT_ABORTABLE, err);
    if (status != WR_AGAIN) {
        return status;
    }
    if (until_us == patience->deadline_us) {
        return wr_fail(err, WR_RETRY, command->where, "no answer from the server within %lld ms",
                       (long long)command->timeout_ms);
    }
    wr_log(WR_LOG_INFO, command->where, WR_MSG(command->note));
    patience->note_us = 0;
    return WR_OK;
}

/* Until PQgetResult would not block. A lost connection counts as an answer: the result that libpq
 * then makes has the reason. */
static enum wr_status await_result(PGconn *conn, struct command *command, struct patience *patience,
                                   struct wr_error *err)
{
    for (;;) {
        int unsent = PQflush(conn);
        if (unsent < 0 || PQisBusy(conn) == 0) {
            return WR_OK;
        }
        short events = unsent > 0 ? POLLIN | POLLOUT : POLLIN;
        enum wr_status status = wait_patiently(conn, events, command, patience, err);
        if (status != WR_OK) {
            return status;
        }
        if (PQconsumeInput(conn) == 0) {
            return WR_OK;
        }
    }
}

static bool result_is_copy(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_COPY_BOTH || status == PGRES_COPY_OUT;
}

static bool result_is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || result_is_copy(result);
}

/* All results of the command; the last one is kept, or the first that failed. */
static enum wr_status collect(PGconn *conn, struct command *command, PGresult **out,
                              struct wr_error *err)
{
    int64_t now_us = wr_clock_monotonic_us();
    struct patience patience = {
        .deadline_us = command->timeout_ms == 0 ? 0 : now_us + command->timeout_ms * MS_US,
        .note_us = command->note == NULL ? 0 : now_us + NOTE_AFTER_US,
    };

    for (;;) {
        enum wr_status status = await_result(conn, command, &patience, err);
        if (status != WR_OK) {
            return status;
        }
        PGresult *result = PQgetResult(conn);
        if (result == NULL) {
            return WR_OK;
        }
        if (*out == NULL || result_is_good(*out)) {
            PQclear(*out);
            *out = result;
        } else {
            PQclear(result);
        }
        if (result_is_copy(*out)) {
            return WR_OK;
        }
    }
}

enum wr_status command_run(PGconn *conn, struct command *command, PGresult **out,
                           struct wr_error *err)
{
    int sent = command->value_count == 0
                   ? PQsendQuery(conn, command->sql)
                   : PQsendQueryParams(conn, command->sql, command->value_count, NULL,
                                       command->values, NULL, NULL, 0);

    *out = NULL;
    command->sqlstate[0] = '\0';
    if (sent == 0) {
        return command_fail(conn, NULL, command->where, command->sqlstate, err);
    }
    enum wr_status status = collect(conn, command, out, err);
    if (status != WR_OK) {
        cancel(conn);
    } else if (*out == NULL || !result_is_good(*out)) {
        status = command_fail(conn, *out, command->where, command->sqlstate, err);
    }
    if (status != WR_OK) {
        PQclear(*out);
        *out = NULL;
    }
    return status;
}

static void add_quoted(struct wr_buffer *out, const char *text, char quote)
{
    wr_buffer_add_char(out, quote);
    for (; *text != '\0'; text++) {
        if (*text == quote) {
            wr_buffer_add_char(out, quote);
        }
        wr_buffer_add_char(out, *text);
    }
    wr_buffer_add_char(out, quote);
}

void command_add_identifier(struct wr_buffer *out, const char *name)
{
    add_quoted(out, name, '"');
}

void command_add_literal(struct wr_buffer *out, const char *text)
{
    add_quoted(out, text, '\'');
}
