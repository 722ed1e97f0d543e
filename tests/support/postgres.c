#include "support/postgres.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/process.h"

enum { SQL_SIZE_MAX = 16384 };

PGconn *pg_open(const struct services *services, const char *dbname)
{
    const char *const names[] = {"host",    "port", "user", "dbname", "client_encoding",
                                 "options", NULL};
    const char *const values[] = {services->pg_host,
                                  services->pg_port,
                                  services->pg_user,
                                  dbname == NULL ? "postgres" : dbname,
                                  "UTF8",
                                  "-c client_min_messages=warning",
                                  NULL};
    PGconn *connection = PQconnectdbParams(names, values, 0);

    cr_assert_eq(PQstatus(connection), CONNECTION_OK, "%s", PQerrorMessage(connection));
    return connection;
}

static PGresult *run(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);

    cr_assert(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s%s",
              PQerrorMessage(connection), sql);
    return result;
}

void pg_exec(PGconn *connection, const char *sql)
{
    PQclear(run(connection, sql));
}

void pg_execf(PGconn *connection, const char *format, ...)
{
    char sql[SQL_SIZE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sql, sizeof(sql), format, arguments);
    va_end(arguments);
    pg_exec(connection, sql);
}

const char *pg_query(PGconn *connection, const char *sql)
{
    static char answer[SQL_SIZE_MAX];
    PGresult *result = run(connection, sql);

    snprintf(answer, sizeof(answer), "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return answer;
}

const char *pg_queryf(PGconn *connection, const char *format, ...)
{
    char sql[SQL_SIZE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sql, sizeof(sql), format, arguments);
    va_end(arguments);
    return pg_query(connection, sql);
}

bool pg_query_becomes(PGconn *connection, const char *sql, const char *expected, int timeout_ms)
{
    int64_t end_us = wr_clock_monotonic_us() + (int64_t)timeout_ms * 1000;

    while (strcmp(pg_query(connection, sql), expected) != 0) {
        if (wr_clock_monotonic_us() >= end_us) {
            return false;
        }
        sleep_ms(50);
    }
    return true;
}

static void drop(PGconn *connection, const char *dbname)
{
    char active[256];

    /* A walsender keeps its slot, and with it the database, for a moment after its client left. */
    snprintf(active, sizeof(active),
             "select count(pg_terminate_backend(active_pid)) from pg_replication_slots"
             " where database = '%s' and active_pid is not null",
             dbname);
    cr_assert(pg_query_becomes(connection, active, "0", 10000), "a slot of %s stays active",
              dbname);
    pg_execf(connection,
             "select pg_drop_replication_slot(slot_name) from pg_replication_slots"
             " where database = '%s'",
             dbname);
    pg_execf(connection, "drop database if exists \"%s\" with (force)", dbname);
}

void pg_create_database(const struct services *services, const char *dbname)
{
    PGconn *connection = pg_open(services, NULL);

    drop(connection, dbname);
    pg_execf(connection, "create database \"%s\"", dbname);
    pg_execf(connection, "alter database \"%s\" set timezone = 'UTC'", dbname);
    PQfinish(connection);
}

void pg_drop_database(const struct services *services, const char *dbname)
{
    PGconn *connection = pg_open(services, NULL);

    drop(connection, dbname);
    PQfinish(connection);
}

void pg_run_file(const struct services *services, const char *dbname, const char *path)
{
    char target[512];
    const char *const psql[] = {"psql", "-X",        "-q", "-v", "ON_ERROR_STOP=1",
                                "-o",   "/dev/null", "-f", path, "-d",
                                target, NULL};

    snprintf(target, sizeof(target),
             "host=%s port=%s user=%s dbname=%s options='-c client_min_messages=warning'",
             services->pg_host, services->pg_port, services->pg_user, dbname);
    cr_assert_eq(process_run(psql, NULL), 0, "psql -f %s failed", path);
}
