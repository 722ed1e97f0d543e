#include "support/churn.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/postgres.h"
#include "support/topic.h"

enum { WRITER_TIMEOUT_MS = 60000 };

static const char *const TABLES_SQL =
    "create table churn (id int primary key, n int not null, pad text not null)"
    " with (fillfactor = 60);"
    "create table halt (id int);"
    "create publication wr_pub for table churn;";

/* A version of -1 is a row that is not there. */
static const char *const WRITER_SQL =
    "create procedure write_churn(row_count int) language plpgsql as $$"
    " declare k int; what int; begin"
    " while not exists (select from halt) loop"
    "   k := 1 + floor(random() * row_count)::int;"
    "   what := floor(random() * 20)::int;"
    "   if what = 0 then delete from churn where id = k;"
    "   elsif what = 1 then"
    "     insert into churn values (k, 0, repeat('i', 300)) on conflict do nothing;"
    "   else"
    "     update churn set n = n + 1, pad = repeat('u', 200 + what * 10) where id = k;"
    "   end if;"
    "   commit;"
    " end loop; end $$;";

void churn_create(struct churn *c, struct live *l, int row_count)
{
    *c = (struct churn){.live = l, .row_count = row_count};
    cr_assert_lt(row_count, CHURN_ROWS_MAX);
    live_run(l, TABLES_SQL);
    live_run(l, WRITER_SQL);
    pg_execf(l->sql,
             "insert into churn select g, 0, repeat('p', 300) from generate_series(1, %d) g",
             row_count);
    topic_create(l->services.bootstrap, churn_topic(c), 1, NULL);
}

void churn_start(struct churn *c, int writer_count)
{
    char sql[64];
    char target[256];
    const char *const psql[] = {"psql", "-X", "-q", "-v",   "ON_ERROR_STOP=1",
                                "-c",   sql,  "-d", target, NULL};

    cr_assert_leq(writer_count, CHURN_WRITERS_MAX);
    snprintf(sql, sizeof(sql), "call write_churn(%d)", c->row_count);
    snprintf(target, sizeof(target), "host=%s port=%s user=%s dbname=%s", c->live->services.pg_host,
             c->live->services.pg_port, c->live->services.pg_user, c->live->name);
    for (int i = 0; i < writer_count; i++) {
        c->writers[i] = process_start(psql, NULL);
    }
    c->writer_count = writer_count;
}

void churn_stop(struct churn *c)
{
    live_run(c->live, "insert into halt values (1);");
    for (int i = 0; i < c->writer_count; i++) {
        bool has_ended = process_wait(&c->writers[i], WRITER_TIMEOUT_MS);
        if (!has_ended || c->writers[i].exit_code != 0) {
            live_fail(c->live, "writer %d failed", i);
        }
    }
}

const char *churn_topic(const struct churn *c)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.public.churn", c->live->prefix);
    return name;
}

struct replay {
    int *versions; /* by id; -1: not there */
    int row_count;
    struct churn_result result;
};

static int number_behind(const void *bytes, size_t size, const char *name)
{
    const char *start = memmem(bytes, size, name, strlen(name));

    cr_assert_not_null(start, "no %s in a record", name);
    return (int)strtol(start + strlen(name), NULL, 10);
}

static bool has(const rd_kafka_message_t *message, const char *text)
{
    return memmem(message->payload, message->len, text, strlen(text)) != NULL;
}

/* Any version but that of a row which is not there: 0 never follows 3, but after a delete. */
static void apply(void *context, const rd_kafka_message_t *message)
{
    struct replay *replay = context;
    int id = number_behind(message->key, message->key_len, "\"id\":");

    cr_assert(id >= 1 && id <= replay->row_count, "row %d", id);
    replay->result.record_count++;
    if (message->payload == NULL || has(message, "\"op\":\"d\"")) {
        replay->versions[id] = -1;
        return;
    }
    const char *after = memmem(message->payload, message->len, "\"after\":{", 9);
    cr_assert_not_null(after);
    size_t left = message->len - (size_t)(after - (const char *)message->payload);
    int version = number_behind(after, left, "\"n\":");
    if (has(message, "\"op\":\"r\"")) {
        replay->result.read_count++;
        replay->result.stale_count += version < replay->versions[id];
    }
    replay->versions[id] = version;
}

static void expect_table(const struct churn *c, const struct replay *replay)
{
    PGresult *rows = PQexec(c->live->sql, "select id, n from churn");

    cr_assert_eq(PQresultStatus(rows), PGRES_TUPLES_OK);
    for (int i = 0; i < PQntuples(rows); i++) {
        int id = (int)strtol(PQgetvalue(rows, i, 0), NULL, 10);
        int version = (int)strtol(PQgetvalue(rows, i, 1), NULL, 10);
        cr_assert_eq(replay->versions[id], version, "row %d is %d in the topic, %d in the table",
                     id, replay->versions[id], version);
        replay->versions[id] = -1;
    }
    PQclear(rows);
    for (int id = 1; id <= c->row_count; id++) {
        cr_assert_eq(replay->versions[id], -1, "row %d is in the topic alone", id);
    }
}

struct churn_result churn_check(const struct churn *c)
{
    struct replay replay = {.versions = calloc((size_t)c->row_count + 1, sizeof(int)),
                            .row_count = c->row_count};

    cr_assert_not_null(replay.versions);
    memset(replay.versions, -1, ((size_t)c->row_count + 1) * sizeof(int));
    (void)topic_read(c->live->services.bootstrap, churn_topic(c), apply, &replay);
    expect_table(c, &replay);
    free(replay.versions);
    return replay.result;
}
