/* support/live.h - a walrelay that runs between real servers, on a database of its own. */
#ifndef WR_TEST_LIVE_H
#define WR_TEST_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include <libpq-fe.h>

#include "support/process.h"
#include "support/services.h"

enum {
    LIVE_SETTING_COUNT_MAX = 96,
    LIVE_SETTING_SIZE = 512,
    LIVE_PATH_SIZE = 256,
    LIVE_WAIT_MS = 60000, /* for what takes milliseconds on a machine that does nothing else */
};

struct live {
    struct services services; /* may be pointed to servers of the test's own before live_open */
    const char *name;         /* of the database */
    const char *slot;         /* the same, unless the test says otherwise after live_open */
    char prefix[64];          /* topic.prefix: of this run alone, so that its topics are new */
    PGconn *sql;              /* to that database */
    struct process process;
    char directory[LIVE_PATH_SIZE];
    char log_path[LIVE_PATH_SIZE + 16];    /* standard error of all its runs */
    char stdout_path[LIVE_PATH_SIZE + 16]; /* standard output of all its runs */
    char settings[LIVE_SETTING_COUNT_MAX][LIVE_SETTING_SIZE];
    size_t setting_count;
};

/*
 * Makes the database `name` anew and a configuration that reads it: slot.name=NAME,
 * publication.name=wr_pub, snapshot.mode=no_data, status updates every half second. Starts nothing.
 * Zeroed `services` are those of tests/run.
 */
void live_open(struct live *l, const char *name);
/* Kills walrelay where it runs, and drops the database. Allowed after an open that failed. */
void live_close(struct live *l);

/* "key=value", in place of an earlier value of that key. */
void live_set(struct live *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Statements in its database, each in its own transaction, as psql does it. */
void live_run(const struct live *l, const char *sql);

/* Starts `walrelay run`; `option` is one more argument ("--stdout"), or NULL. */
void live_start(struct live *l, const char *option);
/* live_start, and waits until it streams. */
void live_stream(struct live *l);
/* Starts it with these arguments after `run` (ends with NULL) instead of the settings. */
void live_start_with(struct live *l, const char *const *arguments);

/* Each aborts the test, with the end of the log, when it does not come true in time. */
void live_wait_streaming(struct live *l);
/* Until everything that is now in the WAL is confirmed. */
void live_wait_confirmed(struct live *l);
/* Until the log has the text. */
void live_wait_log(struct live *l, const char *text);
/* Until it has ended by itself; the exit code. */
int live_wait_exit(struct live *l);

/* SIGTERM; it must end with exit code 0. */
void live_stop(struct live *l);
/* SIGKILL. */
void live_kill(struct live *l);

/* Everything that it has logged. Valid until the next call. */
const char *live_log(const struct live *l);
/* How many of its lines have the text. */
size_t live_log_count(const struct live *l, const char *text);

/* Prints the end of the log and aborts the test. */
void live_fail(const struct live *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define expect_log(l, text)                                                                        \
    cr_expect(strstr(live_log(l), (text)) != NULL, "the log lacks \"%s\":\n%s", (text), live_log(l))
#define expect_no_log(l, text)                                                                     \
    cr_expect(strstr(live_log(l), (text)) == NULL, "the log has \"%s\":\n%s", (text), live_log(l))

#endif /* WR_TEST_LIVE_H */
