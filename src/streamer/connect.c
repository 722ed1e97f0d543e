#include "streamer/connect.h"

#include <assert.h>
#include <ctype.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "streamer/command.h"

enum {
    CONNECT_TIMEOUT_S = 10,
    PIN_TIMEOUT_MS = 30 * 1000,
    SQL_SIZE_MAX = 1 << 16,
    PARAMETER_SIZE_MAX = 1 << 20,
};

/*
 * What a role, a database or postgresql.conf may have set otherwise. A value has to have one text,
 * in the snapshot as in the stream, whoever set what.
 */
static const struct pin {
    const char *name;
    const char *value;
    int since_version; /* the server does not know the name before */
} pins[] = {
    {"datestyle", "ISO, YMD", 0},
    {"intervalstyle", "postgres", 0},
    {"timezone", "UTC", 0},
    {"bytea_output", "hex", 0},
    {"extra_float_digits", "3", 0},
    {"lc_monetary", "C", 0},
    /* regclass and its kin print a schema only where the path does not lead to the object, and
     * pg_get_expr() likewise; and nobody's function can stand in for one of pg_catalog. */
    {"search_path", "pg_catalog", 0},
    {"quote_all_identifiers", "off", 0},
    {"standard_conforming_strings", "on", 0},
    /* The stream knows no row security: a snapshot fails rather than leave rows out. */
    {"row_security", "off", 0},
    {"client_min_messages", "notice", 0}, /* the stream's warnings count, see stream.c */
    {"synchronize_seqscans", "off", 0},   /* snapshot rows in the order in which they lie */
    {"statement_timeout", "0", 0},
    {"lock_timeout", "0", 0},
    {"idle_in_transaction_session_timeout", "0", 0},
    {"idle_session_timeout", "0", 140000},
    {"transaction_timeout", "0", 170000},
};

/* Ours unless the configuration says otherwise: together they notice a dead peer within 30 s. */
static const struct config_pair defaults[] = {
    {"application_name", "walrelay"}, {"keepalives", "1"},       {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},     {"keepalives_count", "3"}, {"tcp_user_timeout", "30000"},
};

enum {
    PIN_COUNT = sizeof(pins) / sizeof(pins[0]),
    DEFAULT_COUNT = sizeof(defaults) / sizeof(defaults[0]),
    OURS_COUNT_MAX = DEFAULT_COUNT + 3, /* and dbname, client_encoding, replication */
};

struct parameters {
    const char **names;
    const char **values;
    size_t count;
};

static void add_parameter(struct parameters *p, const char *name, const char *value)
{
    if (value != NULL) {
        p->names[p->count] = name;
        p->values[p->count] = value;
        p->count++;
    }
}

/* libpq takes the last of two values for one name: defaults first, what must be so last. */
static bool make_parameters(const struct config *config, enum connect_kind kind,
                            struct wr_arena *arena, struct parameters *out)
{
    size_t size = config->database.count + OURS_COUNT_MAX + 1;

    out->names = wr_arena_alloc(arena, size, sizeof(*out->names));
    out->values = wr_arena_alloc(arena, size, sizeof(*out->values));
    if (out->names == NULL || out->values == NULL) {
        return false;
    }
    for (size_t i = 0; i < DEFAULT_COUNT; i++) {
        add_parameter(out, defaults[i].name, defaults[i].value);
    }
    for (size_t i = 0; i < config->database.count; i++) {
        add_parameter(out, config->database.items[i].name, config->database.items[i].value);
    }
    add_parameter(out, "dbname", config->database_dbname);
    add_parameter(out, "client_encoding", "UTF8");
    add_parameter(out, "replication", kind == CONNECT_REPLICATION ? "database" : NULL);
    return true;
}

/* libpq keeps connect_timeout only in its blocking calls. */
static int64_t deadline_us(const struct config *config)
{
    int64_t timeout_s = CONNECT_TIMEOUT_S;

    for (size_t i = 0; i < config->database.count; i++) {
        if (strcmp(config->database.items[i].name, "connect_timeout") == 0) {
            timeout_s = strtol(config->database.items[i].value, NULL, 10);
        }
    }
    return timeout_s <= 0 ? 0 : wr_clock_monotonic_us() + timeout_s * 1000 * 1000;
}

/*
 * The SQLSTATE of a refused connection. libpq 15 gives it in the message only, and only when it is
 * asked to be verbose: "FATAL:  28P01: password …". The severity may be translated; the two blanks
 * and the code are not.
 */
static void find_sqlstate(const char *message, char sqlstate[6])
{
    sqlstate[0] = '\0';
    for (const char *at = strstr(message, ":  "); at != NULL; at = strstr(at + 1, ":  ")) {
        const char *code = at + 3;
        size_t size = 0;
        while (size < 5 &&
               (isdigit((unsigned char)code[size]) || isupper((unsigned char)code[size]))) {
            size++;
        }
        if (size == 5 && code[5] == ':') {
            memcpy(sqlstate, code, 5);
            sqlstate[5] = '\0';
        }
    }
}

/* What libpq itself refuses has no code at all. These are the ones that stay as they are until
 * somebody changes a setting. */
static bool is_lasting(const char *message)
{
    static const char *const signs[] = {
        "certificate",
        "does not support SSL",
        "invalid ",
        "private key file",
    };

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (strstr(message, signs[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void advise(const PGconn *conn, const char *sqlstate, enum connect_kind kind,
                   struct wr_error *err)
{
    const char *role = PQuser(conn);

    if (strcmp(sqlstate, "28P01") == 0) {
        command_advise(err, "check database.user and database.password");
    } else if (strcmp(sqlstate, "28000") == 0) {
        command_advise(err, "check that the role exists with LOGIN, and pg_hba.conf");
    } else if (strcmp(sqlstate, "3D000") == 0) {
        command_advise(err, "check database.dbname");
    } else if (strcmp(sqlstate, "42501") == 0 && kind == CONNECT_REPLICATION) {
        command_advise(err,
                       "run: ALTER ROLE \"%s\" REPLICATION; (and where CONNECT is missing: "
                       "GRANT CONNECT ON DATABASE \"%s\" TO \"%s\";)",
                       role, PQdb(conn), role);
    } else if (strcmp(sqlstate, "42501") == 0) {
        command_advise(err, "run: GRANT CONNECT ON DATABASE \"%s\" TO \"%s\";", PQdb(conn), role);
    } else if (strcmp(sqlstate, "53300") == 0) {
        command_advise(err, "raise %s if it stays so",
                       kind == CONNECT_REPLICATION ? "max_wal_senders or max_connections"
                                                   : "max_connections");
    }
}

static enum wr_status refused(PGconn *conn, enum connect_kind kind, struct wr_error *err)
{
    char text[sizeof(err->text)];
    char sqlstate[6];
    const char *message = PQerrorMessage(conn);

    find_sqlstate(message, sqlstate);
    command_one_line(message, text, sizeof(text));
    if (PQconnectionNeedsPassword(conn) != 0) {
        return wr_fail(err, WR_FATAL, "connect", "%s; set database.password, or PGPASSFILE", text);
    }
    enum wr_status status = command_sqlstate_status(sqlstate);
    if (sqlstate[0] == '\0' && is_lasting(message)) {
        status = WR_FATAL;
    }
    wr_fail(err, status, "connect", "%s", text);
    advise(conn, sqlstate, kind, err);
    return status;
}

static enum wr_status handshake(PGconn *conn, enum connect_kind kind, int64_t until_us,
                                struct wr_error *err)
{
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;

    while (PQstatus(conn) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
           next != PGRES_POLLING_FAILED) {
        short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        enum wr_status status =
            command_wait(PQsocket(conn), events, until_us, COMMAND_WAIT_ABORTABLE, err);
        if (status == WR_AGAIN) {
            return wr_fail(err, WR_RETRY, "connect", "%s port %s does not answer in time",
                           PQhost(conn), PQport(conn));
        }
        if (status != WR_OK) {
            return status;
        }
        next = PQconnectPoll(conn);
    }
    return PQstatus(conn) == CONNECTION_OK ? WR_OK : refused(conn, kind, err);
}

static enum wr_status run(PGconn *conn, const char *sql, struct wr_error *err)
{
    struct command command = {.where = "connect", .sql = sql, .timeout_ms = PIN_TIMEOUT_MS};
    PGresult *result = NULL;
    enum wr_status status = command_run(conn, &command, &result, err);

    PQclear(result);
    return status;
}

static enum wr_status pin_settings(PGconn *conn, struct wr_error *err)
{
    struct wr_buffer sql = {0};

    wr_buffer_init(&sql, SQL_SIZE_MAX);
    WR_BUFFER_LITERAL(&sql, "SELECT true");
    for (size_t i = 0; i < PIN_COUNT; i++) {
        if (PQserverVersion(conn) >= pins[i].since_version) {
            WR_BUFFER_LITERAL(&sql, ", pg_catalog.set_config(");
            command_add_literal(&sql, pins[i].name);
            WR_BUFFER_LITERAL(&sql, ", ");
            command_add_literal(&sql, pins[i].value);
            WR_BUFFER_LITERAL(&sql, ", false)");
        }
    }
    wr_buffer_add_char(&sql, '\0');
    assert(!sql.failed);
    enum wr_status status = run(conn, sql.data, err);
    wr_buffer_done(&sql);
    return status;
}

/* database.initial.statements are for SQL sessions, as in Debezium; the pins come after them. */
static enum wr_status prepare_session(const struct config *config, enum connect_kind kind,
                                      PGconn *conn, struct wr_error *err)
{
    size_t count = kind == CONNECT_QUERY ? config->initial_statements.count : 0;

    for (size_t i = 0; i < count; i++) {
        enum wr_status status = run(conn, config->initial_statements.items[i].value, err);
        if (status != WR_OK) {
            command_advise(err, "in database.initial.statements");
            return status;
        }
    }
    return pin_settings(conn, err);
}

static void log_notice(void *context, const PGresult *result)
{
    (void)context;
    wr_log(WR_LOG_INFO, "postgres", WR_MSG(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)),
           WR_STR("severity", PQresultErrorField(result, PG_DIAG_SEVERITY)));
}

static enum wr_status start(const struct config *config, enum connect_kind kind, PGconn **out,
                            struct wr_error *err)
{
    struct wr_arena *arena = wr_arena_new(PARAMETER_SIZE_MAX);
    struct parameters parameters = {0};
    PGconn *conn = NULL;

    if (make_parameters(config, kind, arena, &parameters)) {
        conn = PQconnectStartParams(parameters.names, parameters.values, 0);
    }
    wr_arena_free(arena);
    *out = conn;
    if (conn == NULL) {
        return wr_fail(err, WR_FATAL, "connect", "more database.* properties than fit in %d bytes",
                       PARAMETER_SIZE_MAX);
    }
    PQsetNoticeReceiver(conn, log_notice, NULL);
    return WR_OK;
}

enum wr_status connect_start(const struct config *config, PGconn **out, struct wr_error *err)
{
    return start(config, CONNECT_QUERY, out, err);
}

enum wr_status connect_open(const struct config *config, enum connect_kind kind, PGconn **out,
                            struct wr_error *err)
{
    PGconn *conn = NULL;
    enum wr_status status = start(config, kind, &conn, err);

    *out = NULL;
    if (status != WR_OK) {
        return status;
    }
    PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    status = handshake(conn, kind, deadline_us(config), err);
    if (status == WR_OK) {
        PQsetErrorVerbosity(conn, PQERRORS_DEFAULT);
        PQsetnonblocking(conn, 1);
        status = prepare_session(config, kind, conn, err);
    }
    if (status != WR_OK) {
        PQfinish(conn);
        return status;
    }
    *out = conn;
    return WR_OK;
}
