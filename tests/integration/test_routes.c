/* The routes between real servers: what a search index, a cache and a warehouse would read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/process.h"
#include "support/records.h"
#include "support/services.h"
#include "support/topic.h"

static struct live l;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&l);
    records_done(&records);
}

TestSuite(routes, .fini = tear_down);

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

static const char SETUP[] =
    "create table events (id bigserial primary key, title text not null, venue text not null,"
    " starts_at timestamptz not null, price numeric(10,2) not null, capacity int not null,"
    " tags jsonb not null, poster text);"
    "alter table events alter poster set storage external;"
    "insert into events (title, venue, starts_at, price, capacity, tags) values"
    " ('Before', 'Hall', '2026-05-01 20:00+02', 12.50, 100, '{\"genre\": \"rock\"}');"
    "create publication wr_pub for all tables";

static void open_routes(const char *name)
{
    live_open(&l, name);
    live_run(&l, SETUP);
    live_set(&l, "snapshot.mode=initial");
    live_set(&l, "routes=search,cache,dwh");
    live_set(&l, "routes.search.type=search");
    live_set(&l, "routes.search.only=true");
    live_set(&l, "routes.search.document.fields=id,starts_at:startsAt,tags.genre:genre,poster");
    live_set(&l, "routes.cache.type=cache");
    live_set(&l, "routes.cache.keys=event:${id},venue:${venue}:events");
    live_set(&l, "routes.dwh.type=warehouse");
}

static void publish(const char *script)
{
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);

    live_stream(&l);
    live_run(&l, script);
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
}

#define TABLE "walrelay.table=public.events"
#define TYPES                                                                                      \
    "walrelay.types={\"id\":\"int8\",\"startsAt\":\"timestamptz\",\"genre\":\"jsonb\","            \
    "\"poster\":\"text\"}"

/* With a long row of p in one word: the tests need not show it. */
static const char *shorten(const char *p)
{
    static char text[1 << 16];
    size_t size = 0;

    while (*p != '\0') {
        size_t count = strspn(p, "p");
        if (count > 100) {
            p += count;
            size += (size_t)snprintf(text + size, sizeof(text) - size, "(%zu p)", count);
        } else {
            text[size++] = *p++;
        }
    }
    text[size] = '\0';
    return text;
}

static const char *shortened(const char *name)
{
    return shorten(events_of(&records, topic(name)));
}

static const char SCRIPT[] =
    "insert into events (title, venue, starts_at, price, capacity, tags, poster) values"
    " ('Ode', 'Höhle', 'infinity', 99.90, 5, '{\"genre\": 1.50}', repeat('p', 3000));"
    "update events set price = 89.90 where id = 2;"
    "update events set id = 7, poster = null where id = 2;"
    "begin; insert into events (title, venue, starts_at, price, capacity, tags) values"
    " ('No', 'x', now(), 0, 0, '{}'); rollback;"
    "delete from events where id = 7;"
    "truncate events;";

Test(routes, search_and_cache_follow_snapshot_and_stream)
{
    open_routes("routes_follow");
    live_run(&l, "alter table events replica identity full");
    publish(SCRIPT);
    cr_expect_str_eq(
        shortened("search.events"),
        "1 {\"id\":1,\"startsAt\":\"2026-05-01T18:00:00Z\",\"genre\":\"rock\",\"poster\":null}"
        " [walrelay.op=r " TABLE " " TYPES "]\n"
        "2 {\"id\":2,\"startsAt\":\"infinity\",\"genre\":1.50,\"poster\":\"(3000 p)\"}"
        " [walrelay.op=c " TABLE " " TYPES "]\n"
        "2 {\"id\":2,\"startsAt\":\"infinity\",\"genre\":1.50,\"poster\":\"(3000 p)\"}"
        " [walrelay.op=u " TABLE " " TYPES "]\n"
        "2 - [walrelay.op=d " TABLE "]\n"
        "7 {\"id\":7,\"startsAt\":\"infinity\",\"genre\":1.50,\"poster\":null}"
        " [walrelay.op=u " TABLE " " TYPES " walrelay.moved.from=2]\n"
        "7 - [walrelay.op=d " TABLE "]\n"
        " - [walrelay.op=t " TABLE "]\n",
        "%s", shortened("search.events"));
    expect_events(&records, topic("cache.events"),
                  "event:1 - [walrelay.op=r " TABLE "]\n"
                  "venue:Hall:events - [walrelay.op=r " TABLE "]\n"
                  "event:2 - [walrelay.op=c " TABLE "]\n"
                  "venue:Höhle:events - [walrelay.op=c " TABLE "]\n"
                  "event:2 - [walrelay.op=u " TABLE "]\n"
                  "venue:Höhle:events - [walrelay.op=u " TABLE "]\n"
                  "event:7 - [walrelay.op=u " TABLE "]\n"
                  "venue:Höhle:events - [walrelay.op=u " TABLE "]\n"
                  "event:2 - [walrelay.op=u " TABLE "]\n"
                  "event:7 - [walrelay.op=d " TABLE "]\n"
                  "venue:Höhle:events - [walrelay.op=d " TABLE "]\n"
                  "event:* - [walrelay.op=t " TABLE "]\n"
                  "venue:*:events - [walrelay.op=t " TABLE "]\n");
    cr_expect_str_eq(events_of(&records, topic("public.events")), "",
                     "the search route is the only one");
}

Test(routes, name_a_value_that_was_not_sent)
{
    open_routes("routes_toast");
    publish("insert into events (title, venue, starts_at, price, capacity, tags, poster) values"
            " ('Ode', 'x', '2026-05-01', 1, 1, '{}', repeat('p', 3000));"
            "update events set price = 2 where id = 2;");
    cr_expect_not_null(strstr(shortened("search.events"),
                              "2 {\"id\":2,\"startsAt\":\"2026-05-01T00:00:00Z\",\"genre\":null}"
                              " [walrelay.op=u " TABLE " " TYPES
                              " walrelay.unavailable=[\"poster\"]]\n"),
                       "%s", shortened("search.events"));
    cr_expect_eq(live_log_count(&l, "route cache: the key venue:${venue}:events"), 1);
}

/* All numbers of a header, which must rise; and each record has one. */
struct positions {
    long long lsn, seq;
    int count;
};

static long long header_number(const rd_kafka_message_t *message, const char *name)
{
    rd_kafka_headers_t *headers = NULL;
    const void *value = NULL;
    size_t size = 0;
    char text[32] = {0};

    cr_assert_eq(rd_kafka_message_headers(message, &headers), 0);
    cr_assert_eq(rd_kafka_header_get_last(headers, name, &value, &size), 0, "%s", name);
    cr_assert(size < sizeof(text));
    memcpy(text, value, size);
    return strtoll(text, NULL, 10);
}

static void check_position(void *context, const rd_kafka_message_t *message)
{
    struct positions *p = context;
    long long lsn = header_number(message, "walrelay.lsn");
    long long seq = header_number(message, "walrelay.seq");

    cr_expect(lsn > p->lsn || (lsn == p->lsn && seq > p->seq));
    cr_expect(header_number(message, "walrelay.commit") > 1000000000000000);
    *p = (struct positions){lsn, seq, p->count + 1};
}

Test(routes, have_a_version_in_every_record)
{
    static const char *const names[] = {"search.events", "cache.events", "dwh.events"};

    open_routes("routes_version");
    live_set(&l, "extended.headers.enabled=false");
    publish(SCRIPT);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct positions p = {0};
        topic_read(l.services.bootstrap, topic(names[i]), check_position, &p);
        cr_expect(p.count >= 7, "%s has %d", names[i], p.count);
    }
}

/* The interpreter that tests/support/install made; skips or fails where there is none. */
static const char *python(void)
{
    static char path[256];
    char command[512];

    snprintf(command, sizeof(command), "%s path", services_source_path("tests/support/python"));
    FILE *out = popen(command, "r");
    cr_assert_not_null(out);
    bool is_there = fgets(path, sizeof(path), out) != NULL;
    pclose(out);
    path[strcspn(path, "\n")] = '\0';
    if (!is_there && getenv("WALRELAY_TEST_REQUIRED") == NULL) {
        cr_skip_test("no services: tests/support/python install");
    }
    cr_assert(is_there, "run tests/support/python install");
    return path;
}

/* What deploy/consumer/consume.py prints of a topic, less the versions. */
static const char *consumed(const char *name)
{
    static char text[1 << 16];
    char path[LIVE_PATH_SIZE + 32];
    char script[512];
    size_t size = 0;

    snprintf(path, sizeof(path), "%s/consumed", l.directory);
    snprintf(script, sizeof(script), "%s", services_source_path("deploy/consumer/consume.py"));
    const char *const arguments[] = {
        python(), script, "--bootstrap", l.services.bootstrap, "--until-end", topic(name), NULL};
    cr_assert_eq(process_run(arguments, path), 0);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    size = fread(text, 1, sizeof(text) - 1, file);
    text[size] = '\0';
    fclose(file);
    for (char *p = text; (p = strstr(p, ", \"version\": [")) != NULL;) {
        const char *end = strchr(p, ']') + 1;
        memmove(p, end, strlen(end) + 1);
    }
    return text;
}

Test(routes, warehouse_rows_are_read_by_python)
{
    live_open(&l, "routes_python");
    live_run(&l, "create type mood as enum ('sad', 'ok');"
                 "create table t (id int primary key, n numeric, d float8, f float4, b bool,"
                 " raw bytea, day date, at timestamptz, local timestamp, j jsonb, m mood,"
                 " a int[], big text);"
                 "alter table t alter big set storage external;"
                 "insert into t values (1, 12345678901234567890.0123456789, 0.1, 0.5, true,"
                 " '\\x00ff', '2026-05-01', '2026-05-01 20:00+02', '2026-05-01 20:00',"
                 " '{\"x\": 1.50}', 'ok', '{{1,2},{3,null}}', repeat('p', 3000));"
                 "create publication wr_pub for all tables");
    live_set(&l, "snapshot.mode=initial");
    live_set(&l, "routes=dwh");
    live_set(&l, "routes.dwh.type=warehouse");
    live_set(&l, "routes.dwh.only=true");
    publish("update t set n = 'NaN', day = 'infinity', at = '-infinity', a = null;"
            "update t set id = 2, big = null;"
            "delete from t;"
            "truncate t;");
    const char *actual = shorten(consumed("dwh.t"));
    cr_expect_str_eq(actual,
                     "{\"op\": \"read\", \"table\": \"public.t\", \"key\": {\"id\": 1}, "
                     "\"before\": {}, \"after\": {\"id\": 1, \"n\": "
                     "\"12345678901234567890.0123456789\", \"d\": 0.1, \"f\": 0.5, \"b\": true, "
                     "\"raw\": \"AP8=\", \"day\": \"2026-05-01\", \"at\": "
                     "\"2026-05-01T18:00:00+00:00\", \"local\": \"2026-05-01T20:00:00\", \"j\": "
                     "{\"x\": \"1.50\"}, \"m\": \"ok\", \"a\": [[1, 2], [3, null]], \"big\": "
                     "\"(3000 p)\"}}\n"
                     "{\"op\": \"update\", \"table\": \"public.t\", \"key\": {\"id\": 1}, "
                     "\"before\": {}, \"after\": {\"id\": 1, \"n\": \"NaN\", \"d\": 0.1, \"f\": "
                     "0.5, \"b\": true, \"raw\": \"AP8=\", \"day\": \"infinity\", \"at\": "
                     "\"-infinity\", \"local\": \"2026-05-01T20:00:00\", \"j\": {\"x\": "
                     "\"1.50\"}, \"m\": \"ok\", \"a\": null, \"big\": \"unavailable\"}}\n"
                     "{\"op\": \"delete\", \"table\": \"public.t\", \"key\": {\"id\": 1}, "
                     "\"before\": {\"id\": 1}, \"after\": {}}\n"
                     "{\"op\": \"create\", \"table\": \"public.t\", \"key\": {\"id\": 2}, "
                     "\"before\": {}, \"after\": {\"id\": 2, \"n\": \"NaN\", \"d\": 0.1, \"f\": "
                     "0.5, \"b\": true, \"raw\": \"AP8=\", \"day\": \"infinity\", \"at\": "
                     "\"-infinity\", \"local\": \"2026-05-01T20:00:00\", \"j\": {\"x\": "
                     "\"1.50\"}, \"m\": \"ok\", \"a\": null, \"big\": null}}\n"
                     "{\"op\": \"delete\", \"table\": \"public.t\", \"key\": {\"id\": 2}, "
                     "\"before\": {\"id\": 2}, \"after\": {}}\n"
                     "{\"op\": \"truncate\", \"table\": \"public.t\", \"key\": {}, \"before\": "
                     "{}, \"after\": {}}\n",
                     "%s", actual);
}

Test(routes, python_refuses_a_record_of_the_future_by_its_version)
{
    static const char code[] =
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import consume; from walrelay.v1 import change_pb2 as pb\n"
        "consume.decode(pb.Change(version=1).SerializeToString())\n"
        "try:\n"
        "    consume.decode(pb.Change(version=2).SerializeToString())\n"
        "except consume.NewerVersion as e:\n"
        "    sys.exit(0 if str(e) == 'a record of version 2; this reader knows 1' else str(e))\n"
        "sys.exit('taken')\n";
    char directory[512];

    live_open(&l, "routes_future");
    snprintf(directory, sizeof(directory), "%s", services_source_path("deploy/consumer"));
    const char *const arguments[] = {python(), "-c", code, directory, NULL};
    cr_expect_eq(process_run(arguments, NULL), 0);
}

Test(routes, refuse_a_column_that_is_not_there_at_once)
{
    open_routes("routes_unknown");
    live_set(&l, "routes.search.document.fields=id,titel");
    live_start(&l, NULL);
    cr_expect_neq(live_wait_exit(&l), 0);
    expect_log(&l, "route search: public.events has no column titel");
    expect_no_log(&l, "msg=streaming");
}

static void drop_a_column(const char *tolerance)
{
    open_routes("routes_dropped");
    live_set(&l, "errors.tolerance=%s", tolerance);
    live_stream(&l);
    live_run(&l, "alter table events drop column poster;"
                 "insert into events (title, venue, starts_at, price, capacity, tags) values"
                 " ('After', 'x', '2026-05-01', 1, 1, '{}');");
}

Test(routes, stop_before_a_row_whose_column_was_dropped)
{
    drop_a_column("none");
    cr_expect_neq(live_wait_exit(&l), 0);
    expect_log(&l, "route search: public.events has no column poster (table=public.events lsn=");
}

Test(routes, pass_over_a_row_whose_column_was_dropped_where_that_is_tolerated)
{
    struct positions p = {0};

    drop_a_column("all");
    live_wait_confirmed(&l);
    live_stop(&l);
    expect_log(&l, "route search: public.events has no column poster (table=public.events lsn=");
    topic_read(l.services.bootstrap, topic("cache.events"), check_position, &p);
    cr_expect_eq(p.count, 4, "the cache gets what the search does not: %d", p.count);
    p = (struct positions){0};
    topic_read(l.services.bootstrap, topic("search.events"), check_position, &p);
    cr_expect_eq(p.count, 1);
}
