#include "support/hot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/postgres.h"
#include "support/topic.h"

/* Some 3,000 changes a second, which a build with sanitizers follows. */
enum { WRITER_TIMEOUT_MS = 60000, PAUSE_MS = 4 };

static const char *const TABLES_SQL =
    "create table hot (id int primary key, n int not null, large text) with (fillfactor = 60);"
    "alter table hot alter large set storage external;"
    "create table halt (id int);"
    "create publication wr_pub for table hot;";

/* `large` is n, written over and over: who has it knows which version it is of. */
static const char *const WRITER_SQL =
    "create function large_of(n int) returns text language sql as"
    " $$ select repeat(n || '.', 2500 / (length(n::text) + 1) + 1) $$;"
    "create procedure write_hot(row_count int, pause_ms int) language plpgsql as $$"
    " declare k int; what int; v int; begin"
    " while not exists (select from halt) loop"
    "   k := 1 + floor(power(random(), 3) * row_count)::int;"
    "   what := floor(random() * 20)::int;"
    "   if what = 0 then"
    "     delete from hot where abs(id) = k and id = k returning n into v;"
    "     if found then insert into hot values (k, v + 1,"
    "       case when k % 3 = 0 then large_of(v + 1) end); end if;"
    "   elsif what = 1 then"
    "     update hot set id = -id, n = n + 1 where id = k;"
    "   elsif what = 2 then"
    "     update hot set id = -id, n = n + 1 where id = -k;"
    "   elsif what = 3 then"
    "     update hot set n = n + 1, large = case when k % 3 = 0 then large_of(n + 1) end"
    "      where id in (k, -k);"
    "   else"
    "     update hot set n = n + 1 where id in (k, -k);"
    "   end if;"
    "   commit;"
    "   perform pg_sleep(pause_ms / 1000.0);"
    " end loop; end $$;";

void hot_create(struct hot *h, struct live *l, int row_count)
{
    const char *pause = getenv("WALRELAY_TEST_PAUSE_MS");

    *h = (struct hot){.live = l,
                      .row_count = row_count,
                      .pause_ms = pause == NULL ? PAUSE_MS : (int)strtol(pause, NULL, 10)};
    live_run(l, TABLES_SQL);
    live_run(l, WRITER_SQL);
    pg_execf(l->sql,
             "insert into hot select g, 0, case when g %% 3 = 0 then large_of(0) end"
             " from generate_series(1, %d) g",
             row_count);
}

void hot_start(struct hot *h, int writer_count)
{
    char sql[64];
    char target[256];
    const char *const psql[] = {"psql", "-X", "-q", "-v",   "ON_ERROR_STOP=1",
                                "-c",   sql,  "-d", target, NULL};

    cr_assert_leq(writer_count, HOT_WRITERS_MAX);
    snprintf(sql, sizeof(sql), "call write_hot(%d, %d)", h->row_count, h->pause_ms);
    snprintf(target, sizeof(target), "host=%s port=%s user=%s dbname=%s", h->live->services.pg_host,
             h->live->services.pg_port, h->live->services.pg_user, h->live->name);
    for (int i = 0; i < writer_count; i++) {
        h->writers[i] = process_start(psql, NULL);
    }
    h->writer_count = writer_count;
}

void hot_stop(struct hot *h)
{
    live_run(h->live, "insert into halt values (1);");
    for (int i = 0; i < h->writer_count; i++) {
        bool has_ended = process_wait(&h->writers[i], WRITER_TIMEOUT_MS);
        if (!has_ended || h->writers[i].exit_code != 0) {
            live_fail(h->live, "writer %d failed", i);
        }
    }
    live_run(h->live, "delete from halt;");
}

int64_t hot_change_count(const struct hot *h)
{
    return strtoll(pg_query(h->live->sql, "select sum(n::bigint) from hot"), NULL, 10);
}

enum row_state { ROW_UNKNOWN, ROW_THERE, ROW_GONE };

struct row {
    enum row_state state;
    int version;
    int large; /* the version that it is of; -1: NULL; LARGE_UNKNOWN */
};

enum { LARGE_UNKNOWN = -2 };

struct replay {
    struct row *rows; /* from -row_count to row_count */
    int row_count;
    struct hot_result result;
};

static struct row *row_of(const struct replay *replay, int id)
{
    cr_assert(id >= -replay->row_count && id <= replay->row_count && id != 0, "row %d", id);
    return &replay->rows[id + replay->row_count];
}

static const char *behind(const void *bytes, size_t size, const char *name)
{
    const char *start = memmem(bytes, size, name, strlen(name));

    cr_assert_not_null(start, "no %s in a record", name);
    return start + strlen(name);
}

static bool has(const rd_kafka_message_t *message, const char *text)
{
    return memmem(message->payload, message->len, text, strlen(text)) != NULL;
}

static void apply(void *context, const rd_kafka_message_t *message)
{
    struct replay *replay = context;
    int id = (int)strtol(behind(message->key, message->key_len, "\"id\":"), NULL, 10);
    struct row *row = row_of(replay, id);

    replay->result.record_count++;
    if (message->payload == NULL || has(message, "\"op\":\"d\"")) {
        row->state = ROW_GONE; /* what it had may go on under another key */
        return;
    }
    const char *after = behind(message->payload, message->len, "\"after\":{");
    size_t left = message->len - (size_t)(after - (const char *)message->payload);
    int version = (int)strtol(behind(after, left, "\"n\":"), NULL, 10);
    const char *large = behind(after, left, "\"large\":");
    if (has(message, "\"op\":\"r\"")) {
        replay->result.read_count++;
        replay->result.stale_count += row->state == ROW_THERE && version < row->version;
        replay->result.resurrected_count += row->state == ROW_GONE;
    }
    if (strncmp(large, "\"__debezium", 11) == 0) {
        row->large = row->state == ROW_THERE ? row->large : row_of(replay, -id)->large;
    } else {
        row->large = strncmp(large, "null", 4) == 0 ? -1 : (int)strtol(large + 1, NULL, 10);
    }
    row->state = ROW_THERE;
    row->version = version;
}

static void expect_table(const struct hot *h, const struct replay *replay)
{
    PGresult *rows =
        PQexec(h->live->sql, "select id, n, coalesce(split_part(large, '.', 1), '-1') from hot");

    cr_assert_eq(PQresultStatus(rows), PGRES_TUPLES_OK);
    for (int i = 0; i < PQntuples(rows); i++) {
        int id = (int)strtol(PQgetvalue(rows, i, 0), NULL, 10);
        int version = (int)strtol(PQgetvalue(rows, i, 1), NULL, 10);
        int large = (int)strtol(PQgetvalue(rows, i, 2), NULL, 10);
        struct row *row = row_of(replay, id);
        cr_assert(row->state == ROW_THERE && row->version == version,
                  "row %d is %d in the topic (state %d), %d in the table", id, row->version,
                  row->state, version);
        cr_assert_eq(row->large, large, "row %d: its value is of %d in the topic, %d in the table",
                     id, row->large, large);
        row->state = ROW_GONE;
    }
    PQclear(rows);
    for (int id = -replay->row_count; id <= replay->row_count; id++) {
        cr_assert(id == 0 || row_of(replay, id)->state != ROW_THERE, "row %d is in the topic alone",
                  id);
    }
}

struct hot_result hot_check(const struct hot *h)
{
    struct replay replay = {.rows = calloc(2 * (size_t)h->row_count + 1, sizeof(struct row)),
                            .row_count = h->row_count};
    char topic[128];

    cr_assert_not_null(replay.rows);
    for (int i = 0; i <= 2 * h->row_count; i++) {
        replay.rows[i].large = LARGE_UNKNOWN;
    }
    snprintf(topic, sizeof(topic), "%s.public.hot", h->live->prefix);
    (void)topic_read(h->live->services.bootstrap, topic, apply, &replay);
    expect_table(h, &replay);
    free(replay.rows);
    return replay.result;
}
