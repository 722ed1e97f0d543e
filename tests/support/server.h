/* support/server.h - a server of one test's own, to be stopped and broken. A PostgreSQL is of the
 * version that tests/run was asked for. */
#ifndef WR_TEST_SERVER_H
#define WR_TEST_SERVER_H

#include <stdbool.h>

enum server_kind { SERVER_POSTGRES, SERVER_KAFKA, SERVER_REDIS, SERVER_OPENSEARCH };

struct server {
    enum server_kind kind;
    char directory[256];
    char port[16];
    char address[32]; /* 127.0.0.1:port */
};

/*
 * Starts one in a new directory, on free ports; `settings` (ends with NULL) are lines of its own
 * configuration. Every function aborts the test when the server does not do what it is told.
 */
void server_open(struct server *s, enum server_kind kind, const char *const *settings);
/* The OpenSearch of tests/run, which takes long to start: to be broken too, but not to be closed.
 */
void server_open_search(struct server *s);
/* Stops it and removes its directory. Allowed when it was never opened. */
void server_close(struct server *s);

/* As its administrator would, or, `at_once`, as a crash does. */
void server_stop(struct server *s, bool at_once);
/* The same data, port and settings as before. */
void server_start_again(struct server *s, const char *const *settings);
/* To the process of all but PostgreSQL: SIGSTOP and SIGCONT. */
void server_signal(const struct server *s, int number);

#endif /* WR_TEST_SERVER_H */
