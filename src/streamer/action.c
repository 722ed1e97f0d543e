#include "streamer/action.h"

#include <poll.h>
#include <stdint.h>
#include <stdlib.h>

#include <libpq-fe.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "streamer/command.h"
#include "streamer/connect.h"

enum action_state {
    ACTION_IDLE,
    ACTION_CONNECTING,
    ACTION_PREPARING, /* database.initial.statements, one by one */
    ACTION_RUNNING,
};

struct action {
    const struct config *config;
    const char *sql;
    PGconn *conn; /* NULL until the first run, and after a failure of the connection */
    enum action_state state;
    PostgresPollingStatusType next; /* what a connection that is made waits for */
    size_t prepared_count;
    int64_t deadline_us; /* 0: none */
};

struct action *action_new(const struct config *config, const char *sql)
{
    struct action *a = calloc(1, sizeof(*a));

    if (a == NULL) {
        abort();
    }
    a->config = config;
    a->sql = sql;
    return a;
}

void action_free(struct action *a)
{
    if (a != NULL) {
        PQfinish(a->conn);
        free(a);
    }
}

bool action_is_running(const struct action *a)
{
    return a->state != ACTION_IDLE;
}

static void report(const char *reason)
{
    wr_log(WR_LOG_WARN, "heartbeat", WR_MSG("heartbeat.action.query failed"),
           WR_STR("reason", reason));
}

static void give_up(struct action *a, const char *reason)
{
    report(reason);
    PQfinish(a->conn);
    a->conn = NULL;
    a->state = ACTION_IDLE;
}

static void give_up_as_connection(struct action *a)
{
    char text[256];

    command_one_line(PQerrorMessage(a->conn), text, sizeof(text));
    give_up(a, text[0] == '\0' ? "the connection was closed" : text);
}

/* The next statement: those that prepare the session first. */
static void send_next(struct action *a)
{
    const struct config_pairs *statements = &a->config->initial_statements;
    bool is_prepared = a->prepared_count == statements->count;
    const char *sql = is_prepared ? a->sql : statements->items[a->prepared_count].value;

    a->state = is_prepared ? ACTION_RUNNING : ACTION_PREPARING;
    if (PQsendQuery(a->conn, sql) == 0 || PQflush(a->conn) < 0) {
        give_up_as_connection(a);
    }
}

static bool is_ready(const PGconn *conn, short events)
{
    struct pollfd fd = {.fd = PQsocket(conn), .events = events};

    return poll(&fd, 1, 0) == 1;
}

static void serve_connecting(struct action *a)
{
    while (a->next != PGRES_POLLING_OK) {
        if (a->next == PGRES_POLLING_FAILED || PQstatus(a->conn) == CONNECTION_BAD) {
            give_up_as_connection(a);
            return;
        }
        if (!is_ready(a->conn, a->next == PGRES_POLLING_READING ? POLLIN : POLLOUT)) {
            return;
        }
        a->next = PQconnectPoll(a->conn);
    }
    (void)PQsetnonblocking(a->conn, 1);
    a->prepared_count = 0;
    send_next(a);
}

/* One result; false: it was a COPY, which nobody serves, or an error. */
static bool take_result(struct action *a, const PGresult *result)
{
    struct wr_error err;
    char sqlstate[6];

    ExecStatusType status = PQresultStatus(result);

    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) {
        return true;
    }
    if (status == PGRES_FATAL_ERROR) {
        (void)command_fail(a->conn, result, "heartbeat", sqlstate, &err);
        report(err.text);
    } else {
        give_up(a, "a COPY cannot be run like this");
    }
    return false;
}

static void serve_statement(struct action *a)
{
    bool is_good = true;

    if (PQflush(a->conn) < 0 || PQconsumeInput(a->conn) == 0) {
        give_up_as_connection(a);
        return;
    }
    while (PQisBusy(a->conn) == 0) {
        PGresult *result = PQgetResult(a->conn);
        if (result == NULL) {
            break;
        }
        is_good = take_result(a, result) && is_good;
        PQclear(result);
        if (a->conn == NULL) {
            return;
        }
    }
    if (PQisBusy(a->conn) != 0) {
        return;
    }
    if (PQstatus(a->conn) == CONNECTION_BAD) {
        give_up_as_connection(a);
    } else if (a->state == ACTION_RUNNING || !is_good) {
        a->state = ACTION_IDLE;
    } else {
        a->prepared_count++;
        send_next(a);
    }
}

void action_serve(struct action *a)
{
    if (a->state == ACTION_CONNECTING) {
        serve_connecting(a);
    } else if (a->state != ACTION_IDLE) {
        serve_statement(a);
    }
    if (a->state != ACTION_IDLE && a->deadline_us != 0 &&
        wr_clock_monotonic_us() >= a->deadline_us) {
        give_up(a, "no answer within database.query.timeout.ms");
    }
}

void action_start(struct action *a)
{
    struct wr_error err;
    int64_t timeout_ms = a->config->database_query_timeout_ms;

    if (a->state != ACTION_IDLE) {
        report("the last one has not ended; this one is left out");
        return;
    }
    a->deadline_us = timeout_ms == 0 ? 0 : wr_clock_monotonic_us() + timeout_ms * 1000;
    if (a->conn != NULL && (PQconsumeInput(a->conn) == 0 || PQstatus(a->conn) == CONNECTION_BAD)) {
        PQfinish(a->conn); /* ended meanwhile, which is no failure yet */
        a->conn = NULL;
    }
    if (a->conn != NULL) {
        send_next(a);
    } else if (connect_start(a->config, &a->conn, &err) == WR_OK) {
        a->state = ACTION_CONNECTING;
        a->next = PGRES_POLLING_WRITING;
    } else {
        report(err.text);
    }
    action_serve(a);
}
