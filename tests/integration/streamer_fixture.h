/* integration/streamer_fixture.h - a database of its own, and a configuration that points there. */
#ifndef WR_TEST_STREAMER_FIXTURE_H
#define WR_TEST_STREAMER_FIXTURE_H

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "config/config.h"
#include "streamer/catalog_pg.h"
#include "streamer/snapshot.h"
#include "streamer/stream.h"
#include "support/postgres.h"
#include "support/services.h"

enum { FIXTURE_WAIT_MS = 15000 };

struct fixture {
    const struct services *services;
    const char *dbname; /* also the slot's name */
    PGconn *sql;
    struct config_pair pairs[6];
    struct config config;
    struct wr_error err;
};

static inline void fixture_open(struct fixture *f, const char *dbname)
{
    *f = (struct fixture){.services = services_or_skip(), .dbname = dbname};
    pg_create_database(f->services, dbname);
    f->sql = pg_open(f->services, dbname);
    f->pairs[0] = (struct config_pair){"host", f->services->pg_host};
    f->pairs[1] = (struct config_pair){"port", f->services->pg_port};
    f->pairs[2] = (struct config_pair){"user", f->services->pg_user};
    f->config = (struct config){
        .snapshot_thread_count = 1,
        .database = {f->pairs, 3},
        .database_dbname = dbname,
        .slot_name = dbname,
        .publication_name = "wr_pub",
        .skip_truncate = true,
    };
}

static inline void fixture_close(struct fixture *f)
{
    PQfinish(f->sql);
    pg_drop_database(f->services, f->dbname);
}

/* Table filters. */
static inline bool capture_public(void *context, const char *schema, const char *table)
{
    (void)context;
    (void)table;
    return strcmp(schema, "public") == 0;
}

static inline bool capture_all(void *context, const char *schema, const char *table)
{
    (void)context;
    (void)schema;
    (void)table;
    return true;
}

/* `context` is a table's name. */
static inline bool capture_one(void *context, const char *schema, const char *table)
{
    (void)schema;
    return strcmp(context, table) == 0;
}

/* True when `fd` became readable in time. */
static inline bool wait_readable(int fd, int timeout_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    return poll(&ready, 1, timeout_ms) == 1;
}

/* Connects, creates the slot of the fixture without a snapshot, and starts at its beginning. */
static inline struct stream *fixture_stream(struct fixture *f)
{
    struct stream *stream = NULL;
    wr_lsn lsn = 0;

    cr_assert_eq(stream_connect(&f->config, &stream, &f->err), WR_OK, "%s", f->err.text);
    cr_assert_eq(stream_create_slot(stream, &lsn, &f->err), WR_OK, "%s", f->err.text);
    cr_assert_eq(stream_start(stream, 0, true, &f->err), WR_OK, "%s", f->err.text);
    return stream;
}

/* The next event; whatever stream_read or stream_consume said when it was not WR_OK. */
static inline enum wr_status next_event(struct fixture *f, struct stream *stream,
                                        struct stream_event *out)
{
    int64_t end_us = wr_clock_monotonic_us() + FIXTURE_WAIT_MS * 1000;
    enum wr_status status = stream_read(stream, out, &f->err);

    while (status == WR_AGAIN && wr_clock_monotonic_us() < end_us) {
        (void)wait_readable(stream_fd(stream), 100);
        status = stream_consume(stream, &f->err);
        if (status == WR_OK) {
            status = stream_read(stream, out, &f->err);
        }
    }
    return status;
}

/* The next message of `kind`, a pgoutput type byte. */
static inline struct stream_event next_message(struct fixture *f, struct stream *stream, char kind)
{
    struct stream_event event = {0};

    do {
        cr_assert_eq(next_event(f, stream, &event), WR_OK, "no '%c': %s", kind, f->err.text);
    } while (event.kind != STREAM_DATA || event.payload.data[0] != kind);
    return event;
}

/* True when the bytes of `text` stand somewhere in the payload. */
static inline bool payload_has(const struct stream_event *event, const char *text)
{
    return memmem(event->payload.data, event->payload.size, text, strlen(text)) != NULL;
}

#endif /* WR_TEST_STREAMER_FIXTURE_H */
