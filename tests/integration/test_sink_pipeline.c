/*
 * From PostgreSQL to the targets in one process: `walrelay run --sinks`. A seeded workload of
 * inserts, updates, deletes, moved keys, rolled back transactions, large values and truncates, with
 * the process killed in between; then index and cache are what the table is.
 */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>

#include "base/clock.h"
#include "support/http_client.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/server.h"

static struct live l;
static struct server search, cache;
static redisContext *redis;

enum { KEY_COUNT = 200, SECONDS = 12, SETTLE_MS = 60000 };

static const char *ask(const char *method, const char *body, const char *path)
{
    char url[512];

    snprintf(url, sizeof(url), "http://%s/%s%s", search.address, l.prefix, path);
    return http_ask(method, url, body, NULL);
}

static void set_up(void)
{
    server_open_search(&search);
    server_open(&cache, SERVER_REDIS, NULL);
    redis = redisConnect("127.0.0.1", atoi(cache.port));
    live_open(&l, "sinks");
    live_run(&l,
             "create table shows (id int primary key, title text not null, price numeric(12,2), "
             "big text, tags jsonb, at timestamptz default now());"
             "alter table shows alter column big set storage external");
    live_set(&l, "routes=search,rows");
    live_set(&l, "routes.search.type=search");
    live_set(&l, "routes.search.sink.url=http://%s", search.address);
    live_set(&l, "routes.search.sink.index=%s-${table}", l.prefix);
    live_set(&l, "routes.search.sink.index.create=true");
    live_set(&l, "routes.search.sink.batch.wait.ms=20");
    live_set(&l, "routes.rows.type=cache");
    live_set(&l, "routes.rows.keys=show:${id}");
    live_set(&l, "routes.rows.value=document");
    live_set(&l, "routes.rows.sink.url=redis://%s", cache.address);
    live_set(&l, "consumer.session.timeout.ms=6000");
}

static void tear_down(void)
{
    if (redis != NULL) {
        redisFree(redis);
    }
    if (l.sql != NULL) {
        ask("DELETE", NULL, "-*");
    }
    live_close(&l);
    server_close(&cache);
}

TestSuite(sink_pipeline, .init = set_up, .fini = tear_down, .timeout = 300);

static void change_row(unsigned int *seed)
{
    int id = rand_r(seed) % KEY_COUNT;
    int to = rand_r(seed) % KEY_COUNT;

    switch (rand_r(seed) % 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        pg_execf(l.sql,
                 "insert into shows values (%d, 'title %d \"\\', %d.25, repeat('%d', 3000), "
                 "'{\"n\": [1, 2.50], \"s\": \"%d\"}') on conflict do nothing",
                 id, id, rand_r(seed) % 1000, id, id);
        break;
    case 4:
    case 5:
    case 6:
        pg_execf(l.sql, "update shows set price = price + 1 where id = %d", id);
        break;
    case 7:
        pg_execf(l.sql, "update shows set big = repeat('%d', 2500) where id = %d",
                 rand_r(seed) % 10, id);
        break;
    case 8:
        pg_execf(l.sql, "update shows set big = null, at = 'infinity' where id = %d", id);
        break;
    case 9:
        pg_execf(l.sql, "delete from shows where id = %d", id);
        break;
    default:
        pg_execf(
            l.sql,
            "update shows set id = %d where id = %d and not exists (select from shows where id "
            "= %d)",
            to, id, to);
        break;
    }
}

static void transaction(unsigned int *seed)
{
    int count = rand_r(seed) % 8 + 1;

    pg_exec(l.sql, "begin; savepoint s");
    if (rand_r(seed) % 400 == 0) {
        pg_exec(l.sql, "truncate shows");
    }
    for (int i = 0; i < count; i++) {
        pg_exec(l.sql, "savepoint s");
        change_row(seed);
    }
    if (rand_r(seed) % 4 == 0) {
        pg_exec(l.sql, "rollback to s");
    }
    pg_exec(l.sql, rand_r(seed) % 8 == 0 ? "rollback" : "commit");
}

/* A row as JSON, less what it was written like. */
static bool is_same(const char *found, const char *expected)
{
    json_t *a = json_loads(found, JSON_DECODE_ANY, NULL);
    json_t *b = json_loads(expected, JSON_DECODE_ANY, NULL);

    json_object_del(a, "at"); /* of two spellings */
    json_object_del(b, "at");
    bool is_equal = a != NULL && b != NULL && json_equal(a, b) == 1;
    json_decref(a);
    json_decref(b);
    return is_equal;
}

static const char *cached(int id)
{
    static char text[16384];
    redisReply *reply = redisCommand(redis, "GET show:%d", id);

    cr_assert_not_null(reply);
    snprintf(text, sizeof(text), "%s", reply->type == REDIS_REPLY_NIL ? "" : reply->str);
    freeReplyObject(reply);
    return text;
}

static const char *indexed(int id)
{
    char path[64];
    static char text[16384];

    snprintf(path, sizeof(path), "-shows/_source/%d", id);
    const char *answer = ask("GET", NULL, path);
    snprintf(text, sizeof(text), "%s", strncmp(answer, "{\"error\"", 8) == 0 ? "" : answer);
    return text;
}

/* The number of rows that are not the same in index and cache; the first one is printed. */
static int difference(bool prints)
{
    int count = 0;

    for (int id = 0; id < KEY_COUNT; id++) {
        char row[16384];
        snprintf(row, sizeof(row), "%s",
                 pg_queryf(l.sql, "select row_to_json(shows) from shows where id = %d", id));
        /* A row with a value that was not sent is not cached; any other that is there is right. */
        const char *in_cache = cached(id);
        const char *in_index = indexed(id);
        bool is_gone = row[0] == '\0';
        bool is_right =
            is_gone ? in_index[0] == '\0' && in_cache[0] == '\0'
                    : is_same(in_index, row) && (in_cache[0] == '\0' || is_same(in_cache, row));
        if (!is_right && prints && count == 0) {
            cr_log_error("row %d: %.300s\nindex: %.300s\ncache: %.300s", id, row, in_index,
                         in_cache);
        }
        count += is_right ? 0 : 1;
    }
    return count;
}

static void expect_equal(void)
{
    int64_t end_us = wr_clock_monotonic_us() + SETTLE_MS * INT64_C(1000);

    live_wait_confirmed(&l);
    while (difference(false) > 0 && wr_clock_monotonic_us() < end_us) {
        sleep_ms(500);
    }
    if (difference(true) > 0) {
        live_fail(&l, "the targets differ from the table");
    }
}

Test(sink_pipeline, targets_are_what_the_table_is_after_kills)
{
    unsigned int seed = (unsigned int)wr_clock_realtime_ns();
    const char *given = getenv("WALRELAY_TEST_SEED");

    seed = given == NULL ? seed : (unsigned int)strtoul(given, NULL, 10);
    fprintf(stderr, "WALRELAY_TEST_SEED=%u\n", seed);
    live_start(&l, "--sinks");
    live_wait_streaming(&l);
    for (int round = 0; round < 3; round++) {
        int64_t end_us = wr_clock_monotonic_us() + SECONDS * INT64_C(1000000) / 3;
        while (wr_clock_monotonic_us() < end_us) {
            transaction(&seed);
        }
        if (round < 2) {
            live_kill(&l);
            live_start(&l, "--sinks");
        }
    }
    expect_equal();
    live_stop(&l);
}

Test(sink_pipeline, one_sink_that_fails_leaves_the_others_alone)
{
    live_set(&l, "routes.search.sink.index.create=false");
    live_start(&l, "--sinks");
    live_wait_streaming(&l);
    pg_exec(l.sql, "insert into shows values (1, 'a', 1, null, '{}')");
    live_wait_log(&l, "create it, or set sink.index.create=true");
    pg_exec(l.sql, "insert into shows values (2, 'b', 1, null, '{}')");
    int64_t end_us = wr_clock_monotonic_us() + SETTLE_MS * INT64_C(1000);
    while (cached(2)[0] == '\0' && wr_clock_monotonic_us() < end_us) {
        sleep_ms(50);
    }
    cr_expect_not_null(strstr(cached(2), "\"title\":\"b\""));
    live_wait_confirmed(&l);
    process_signal(&l.process, SIGTERM);
    cr_expect_eq(live_wait_exit(&l), 1);
}
