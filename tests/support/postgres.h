/* support/postgres.h - the test's own connections to PostgreSQL. */
#ifndef WR_TEST_POSTGRES_H
#define WR_TEST_POSTGRES_H

#include <stdbool.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "support/services.h"

/* Every function aborts the running test, with the server's own words, when something fails. */

/* `dbname` NULL is the maintenance database. Close with PQfinish. */
PGconn *pg_open(const struct services *services, const char *dbname);

/* Runs one or more statements in one implicit transaction. */
void pg_exec(PGconn *connection, const char *sql);
/* As pg_exec, for SQL made from a pattern. */
void pg_execf(PGconn *connection, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first column of the first row, in static storage until the next call; "" when there is none.
 */
const char *pg_query(PGconn *connection, const char *sql);
const char *pg_queryf(PGconn *connection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Asks every 50 ms until the answer is `expected`; false after `timeout_ms`. */
bool pg_query_becomes(PGconn *connection, const char *sql, const char *expected, int timeout_ms);

/* Drops `dbname` with its slots when it is there, and makes it anew, its time zone UTC. */
void pg_create_database(const struct services *services, const char *dbname);
void pg_drop_database(const struct services *services, const char *dbname);

/* Each statement of the file in its own transaction, as psql -f does. */
void pg_run_file(const struct services *services, const char *dbname, const char *path);

#endif /* WR_TEST_POSTGRES_H */
