/* Cache keys into a real Redis: sink-cases 9 to 11, 19 to 21, 26, 28 and 29. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>

#include "base/clock.h"
#include "support/bed.h"
#include "support/server.h"

static struct bed bed;
static struct server server;
static redisContext *redis;

enum { ENTRY_COUNT = 2000 };

static void connect_redis(void)
{
    if (redis != NULL) {
        redisFree(redis);
    }
    redis = redisConnect("127.0.0.1", atoi(server.port));
    cr_assert(redis != NULL && redis->err == 0);
}

static void open_with(const char *const *settings, int partitions)
{
    char url[64];

    (void)services_or_skip();
    server_open(&server, SERVER_REDIS, settings);
    connect_redis();
    snprintf(url, sizeof(url), "redis://%s/0", server.address);
    bed_open(&bed, "cache", url, partitions);
    bed_set(&bed, ".keys=show:${id}");
}

static void tear_down(void)
{
    bed_close(&bed);
    if (redis != NULL) {
        redisFree(redis);
        redis = NULL;
    }
    if (server.directory[0] != '\0') {
        server_signal(&server, SIGCONT);
        server_close(&server);
    }
}

TestSuite(sink_cache, .fini = tear_down, .timeout = 120);

/* The reply as text: "nil", a number, or what it says. */
static const char *ask(const char *format, ...)
{
    static char text[4096];
    va_list args;

    va_start(args, format);
    redisReply *reply = redisvCommand(redis, format, args);
    va_end(args);
    cr_assert_not_null(reply, "%s", redis->errstr);
    if (reply->type == REDIS_REPLY_NIL) {
        snprintf(text, sizeof(text), "nil");
    } else if (reply->type == REDIS_REPLY_INTEGER) {
        snprintf(text, sizeof(text), "%lld", reply->integer);
    } else {
        snprintf(text, sizeof(text), "%s", reply->str == NULL ? "" : reply->str);
    }
    freeReplyObject(reply);
    return text;
}

#define expect_reply(expected, ...) cr_expect_str_eq(ask(__VA_ARGS__), (expected))

static void put_drop(const char *key, uint64_t lsn)
{
    bed_put(&bed, &(struct bed_record){.key = key, .op = 'u', .lsn = lsn, .seq = 1});
}

static void put_row(const char *key, const char *value, uint64_t lsn, uint64_t seq)
{
    bed_put(&bed,
            &(struct bed_record){.key = key, .value = value, .op = 'u', .lsn = lsn, .seq = seq});
}

/* show:0 … show:N-1, all of them there. */
static void fill(int count)
{
    for (int i = 0; i < count; i++) {
        redisAppendCommand(redis, "SET show:%d old", i);
    }
    for (int i = 0; i < count; i++) {
        redisReply *reply = NULL;
        cr_assert_eq(redisGetReply(redis, (void **)&reply), REDIS_OK);
        freeReplyObject(reply);
    }
}

static void put_drops(int from, int to, int partitions)
{
    char key[32];

    for (int i = from; i < to; i++) {
        snprintf(key, sizeof(key), "show:%d", i);
        bed_put(&bed, &(struct bed_record){.key = key,
                                           .op = 'u',
                                           .lsn = (uint64_t)(1000 + i),
                                           .seq = 1,
                                           .partition = i % partitions});
    }
}

static void store_rows(void)
{
    bed_set(&bed, ".value=document");
}

Test(sink_cache, drops_keys_and_leaves_others)
{
    open_with(NULL, 1);
    bed_set(&bed, ".sink.key.prefix=app:");
    bed_set(&bed, ".sink.notify.channel=changes");
    redisContext *listener = redisConnect("127.0.0.1", atoi(server.port));
    redisReply *reply = redisCommand(listener, "SUBSCRIBE changes");
    freeReplyObject(reply);
    ask("SET app:show:1 a");
    ask("SET app:show:2 b");
    ask("SET show:1 c");
    put_drop("show:1", 10);
    put_drop("show:3", 11); /* never there */
    bed_start(&bed);
    bed_drain(&bed);
    expect_reply("nil", "GET app:show:1");
    expect_reply("b", "GET app:show:2");
    expect_reply("c", "GET show:1");
    cr_assert_eq(redisGetReply(listener, (void **)&reply), REDIS_OK);
    cr_expect_str_eq(reply->element[2]->str, "app:show:1");
    freeReplyObject(reply);
    redisFree(listener);
    bed_stop(&bed);
}

/* Case 21: one key a command, by length, never by quotes. */
Test(sink_cache, takes_any_bytes_as_a_key)
{
    static const struct {
        const char *key;
        size_t size;
    } keys[] = {{"a b", 3}, {"a\r\nDEL show:9\r\n", 15}, {"a\0b", 3}, {"{tag}x", 6}, {"\xff\"'", 3},
                {"", 0}};

    open_with(NULL, 1);
    bed_set(&bed, ".sink.tombstone.ttl.ms=60000");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        ask("SET %b x", keys[i].key, keys[i].size);
        bed_put(
            &bed,
            &(struct bed_record){
                .key = keys[i].key, .key_size = keys[i].size, .op = 'd', .lsn = 5 + i, .seq = 1});
    }
    ask("SET show:9 stays");
    bed_start(&bed);
    bed_drain(&bed);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        expect_reply("nil", "GET %b", keys[i].key, keys[i].size);
    }
    expect_reply("stays", "GET show:9");
    bed_stop(&bed);
}

/* Case 19: the rule for readers that docs/sinks.md gives. */
Test(sink_cache, tombstone_keeps_a_late_reader_from_filling_in_what_is_stale)
{
    static const char fill_in[] =
        "if redis.call('GET', KEYS[2]) ~= (ARGV[2] ~= '' and ARGV[2]) then return 0 end "
        "redis.call('SET', KEYS[1], ARGV[1], 'PX', 60000) return 1";

    open_with(NULL, 1);
    bed_set(&bed, ".sink.tombstone.ttl.ms=60000");
    bed_start(&bed);
    expect_reply("nil", "GET show:1");                    /* the reader misses, */
    expect_reply("nil", "GET walrelay:version:{show:1}"); /* sees no version, reads OLD, */
    put_drop("show:1", (1ULL << 53) + 1);                 /* the row changes, */
    bed_drain(&bed);                                      /* and OLD comes too late */
    expect_reply("0", "EVAL %s 2 show:1 walrelay:version:{show:1} OLD %s", fill_in, "");
    expect_reply("nil", "GET show:1");
    char version[64];
    snprintf(version, sizeof(version), "%s", ask("GET walrelay:version:{show:1}"));
    cr_expect_str_eq(version, "00200000000000010000000000000001");
    expect_reply("1", "EVAL %s 2 show:1 walrelay:version:{show:1} NEW %s", fill_in, version);
    expect_reply("NEW", "GET show:1");
    cr_expect_gt(atoll(ask("PTTL walrelay:version:{show:1}")), 0);
    bed_stop(&bed);
}

/* Cases 19 and 10. */
Test(sink_cache, stored_rows_are_never_replaced_by_older_ones)
{
    uint64_t large = 1ULL << 53; /* where Lua's numbers have no odd ones any more */

    open_with(NULL, 1);
    store_rows();
    bed_set(&bed, ".sink.ttl.ms=3600000");
    put_row("show:1", "{\"v\":2}", large + 1, 1);
    put_row("show:1", "{\"v\":1}", large, 1); /* a zombie's */
    put_row("show:2", "{\"v\":1}", 100, 1);
    put_row("show:2", "{\"v\":2}", 100, 2); /* of one transaction */
    put_row("show:2", "{\"v\":3}", 100, 10);
    put_row("show:3", "{\"v\":1}", 100, 1);
    put_drop("show:3", 200);
    put_row("show:3", "{\"v\":1}", 150, 1); /* deleted since */
    put_drop("show:4", 300);
    put_row("show:4", "{\"v\":9}", 301, 1); /* deleted and made again */
    bed_start(&bed);
    bed_drain(&bed);
    expect_reply("{\"v\":2}", "GET show:1");
    expect_reply("{\"v\":3}", "GET show:2");
    expect_reply("nil", "GET show:3");
    expect_reply("{\"v\":9}", "GET show:4");
    cr_expect_gt(atoll(ask("PTTL show:1")), 3000000);
    bed_wait_log(&bed, "superseded=2");
    bed_stop(&bed);
}

Test(sink_cache, a_replay_from_the_start_changes_nothing)
{
    const char *const settings[] = {"enable-debug-command local", NULL};
    char before[64];

    open_with(settings, 1);
    store_rows();
    for (int i = 0; i < 300; i++) {
        char key[32], value[32];
        snprintf(key, sizeof(key), "show:%d", i % 50);
        snprintf(value, sizeof(value), "{\"v\":%d}", i);
        put_row(key, i % 7 == 0 ? NULL : value, (uint64_t)(100 + i / 3), (uint64_t)(i % 3 + 1));
    }
    bed_start(&bed);
    bed_drain(&bed);
    bed_stop(&bed);
    snprintf(before, sizeof(before), "%s", ask("DEBUG DIGEST"));
    cr_assert_eq(strlen(before), 40, "%s", before);
    bed_rewind(&bed, 0);
    bed_start(&bed);
    bed_drain(&bed);
    expect_reply(before, "DEBUG DIGEST");
    bed_stop(&bed);
}

/* Case 9: half a row is no row. */
Test(sink_cache, drops_a_stored_row_whose_toast_value_was_not_sent)
{
    open_with(NULL, 1);
    store_rows();
    put_row("show:1", "{\"a\":1,\"big\":\"x\"}", 100, 1);
    bed_put(&bed, &(struct bed_record){.key = "show:1",
                                       .value = "{\"a\":2}",
                                       .op = 'u',
                                       .lsn = 200,
                                       .seq = 1,
                                       .unavailable = "[\"big\"]"});
    bed_start(&bed);
    bed_drain(&bed);
    expect_reply("nil", "GET show:1");
    bed_stop(&bed);
}

/* Case 11: the truncate is in one partition, and older rows come later in others. */
Test(sink_cache, truncate_drops_what_is_older_in_every_partition)
{
    char key[32];

    open_with(NULL, 3);
    store_rows();
    bed_set(&bed, ".sink.key.prefix=a[*");
    ask("SET show:77 of-another");
    for (int i = 0; i < 99; i++) {
        snprintf(key, sizeof(key), "show:%d", i);
        bed_put(&bed, &(struct bed_record){.key = key,
                                           .value = "{}",
                                           .op = 'c',
                                           .lsn = 100,
                                           .seq = (uint64_t)i + 1,
                                           .partition = i % 3});
    }
    bed_put(&bed, &(struct bed_record){.key = "show:*", .op = 't', .lsn = 200, .seq = 1});
    for (int i = 0; i < 5; i++) {
        snprintf(key, sizeof(key), "show:%d", i);
        bed_put(&bed, &(struct bed_record){.key = key,
                                           .value = "{\"new\":1}",
                                           .op = 'c',
                                           .lsn = 200,
                                           .seq = (uint64_t)i + 2,
                                           .partition = i % 3});
    }
    bed_start(&bed);
    bed_drain(&bed);
    bed_put(&bed, &(struct bed_record){
                      .key = "show:50", .value = "{}", .op = 'c', .lsn = 150, .partition = 2});
    bed_put(&bed, &(struct bed_record){
                      .key = "show:500", .value = "{}", .op = 'c', .lsn = 150, .partition = 2});
    bed_drain(&bed);
    expect_reply("nil", "GET a[*show:500");
    for (int i = 0; i < 99; i++) {
        cr_expect_str_eq(ask("GET a[*show:%d", i), i < 5 ? "{\"new\":1}" : "nil", "show:%d", i);
    }
    expect_reply("of-another", "GET show:77");
    bed_stop(&bed);
}

Test(sink_cache, truncate_that_would_drop_everything_is_refused)
{
    open_with(NULL, 1);
    bed_set(&bed, ".keys=${id}");
    ask("SET other x");
    bed_put(&bed, &(struct bed_record){.key = "*", .op = 't', .lsn = 200, .seq = 1});
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_log_count(&bed, "would delete every key there is"), 2);
    expect_reply("x", "GET other");
}

/* Case 20. */
Test(sink_cache, waits_while_redis_has_no_memory)
{
    open_with(NULL, 1);
    store_rows();
    bed_start(&bed);
    ask("CONFIG SET maxmemory 1");
    put_row("show:1", "{\"v\":1}", 100, 1);
    put_row("show:2", "{\"v\":2}", 101, 1);
    put_drop("show:3", 102);
    bed_flush(&bed);
    bed_wait_log(&bed, "OOM command not allowed");
    cr_expect_eq(bed_committed(&bed, 0), -1);
    sleep_ms(1000);
    cr_expect_eq(bed_log_count(&bed, "OOM command not allowed"), 1, "one line, whatever it lasts");
    ask("CONFIG SET maxmemory 0");
    bed_drain(&bed);
    expect_reply("{\"v\":1}", "GET show:1");
    expect_reply("{\"v\":2}", "GET show:2");
    bed_wait_log(&bed, "takes records again");
    bed_stop(&bed);
}

Test(sink_cache, drops_keys_without_memory)
{
    open_with(NULL, 1);
    fill(100);
    ask("CONFIG SET maxmemory 1");
    put_drops(0, 100, 1);
    bed_start(&bed);
    bed_drain(&bed);
    expect_reply("0", "EXISTS show:0 show:50 show:99");
    bed_stop(&bed);
}

Test(sink_cache, waits_for_a_replica_to_be_a_master)
{
    open_with(NULL, 1);
    fill(10);
    bed_start(&bed);
    put_drops(0, 5, 1);
    bed_drain(&bed);
    ask("REPLICAOF 127.0.0.1 1");
    put_drops(5, 10, 1);
    bed_flush(&bed);
    bed_wait_log(&bed, "READONLY");
    cr_expect_eq(bed_committed(&bed, 0), 5);
    ask("REPLICAOF NO ONE");
    bed_drain(&bed);
    expect_reply("0", "EXISTS show:5 show:9");
    bed_stop(&bed);
}

Test(sink_cache, refuses_a_ttl_that_is_none)
{
    open_with(NULL, 1);
    bed_set(&bed, ".sink.ttl.ms=0");
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 2);
    bed_wait_log(&bed, "must be a whole number from 1");
}

/* Case 21. */
Test(sink_cache, refuses_a_cluster)
{
    const char *const settings[] = {"cluster-enabled yes", NULL};

    open_with(settings, 1);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_log_count(&bed, "is part of a cluster, which is not supported"), 1);
}

Test(sink_cache, logs_in)
{
    const char *const settings[] = {"user default on >secret ~* &* +@all",
                                    "user relay on >p@ss:w/rd ~show:* +@all", NULL};
    char url[128];

    (void)services_or_skip();
    server_open(&server, SERVER_REDIS, settings);
    connect_redis();
    expect_reply("OK", "AUTH secret");
    ask("SET show:1 x");
    ask("SET show:2 x");
    snprintf(url, sizeof(url), "redis://relay:wrong@%s", server.address);
    bed_open(&bed, "cache", url, 1);
    bed_set(&bed, ".keys=show:${id}");
    put_drop("show:1", 1);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_log_count(&bed, "refuses the user"), 1);
    cr_expect_eq(bed_log_count(&bed, "wrong@"), 0, "no password in a log");
    bed_set(&bed, ".sink.url=redis://relay:p%%40ss%%3Aw%%2Frd@%s", server.address);
    bed_start(&bed);
    bed_drain(&bed);
    bed_stop(&bed);
    expect_reply("nil", "GET show:1");
    put_drop("show:2", 2);
    bed_set(&bed, ".sink.url=redis://%s", server.address);
    bed_set(&bed, ".sink.password=secret");
    bed_start(&bed);
    bed_drain(&bed);
    bed_stop(&bed);
    expect_reply("nil", "GET show:2");
}

static void run_shell(const char *command)
{
    cr_assert_eq(process_run((const char *const[]){"sh", "-c", command, NULL}, NULL), 0, "%s",
                 command);
}

Test(sink_cache, speaks_tls_and_trusts_nobody_by_itself)
{
    char directory[] = "/tmp/walrelay-tls-XXXXXX";
    char text[1024], cert[64], key[64];

    (void)services_or_skip();
    cr_assert_not_null(mkdtemp(directory));
    snprintf(text, sizeof(text),
             "openssl req -x509 -newkey rsa:2048 -nodes -keyout %s/key -out %s/cert -days 2 "
             "-subj /CN=redis -addext subjectAltName=IP:127.0.0.1 2>/dev/null",
             directory, directory);
    run_shell(text);
    snprintf(text, sizeof(text), "tls-port %d", 0);
    snprintf(cert, sizeof(cert), "tls-cert-file %s/cert", directory);
    snprintf(key, sizeof(key), "tls-key-file %s/key", directory);
    const char *const settings[] = {
        cert, key, "tls-auth-clients no", "tls-ca-cert-dir /etc/ssl", "bind 127.0.0.1 127.0.0.2",
        NULL};
    open_with(settings, 1);
    int port = atoi(server.port) + 1;
    snprintf(text, sizeof(text), "%d", port);
    expect_reply("OK", "CONFIG SET tls-port %s", text);
    fill(ENTRY_COUNT);
    put_drops(0, ENTRY_COUNT, 1);
    bed_set(&bed, ".sink.url=rediss://127.0.0.1:%d/0", port);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_log_count(&bed, "its certificate is not trusted"), 1);
    bed_set(&bed, ".sink.tls.ca.location=%s/cert", directory);
    bed_set(&bed, ".sink.url=rediss://localhost:%d/0", port);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1, "the certificate names an address, not localhost");
    bed_set(&bed, ".sink.url=rediss://127.0.0.2:%d/0", port);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1, "nor this address");
    bed_set(&bed, ".sink.url=rediss://127.0.0.1:%d/0", port);
    bed_start(&bed);
    bed_drain(&bed);
    bed_stop(&bed);
    expect_reply("0", "DBSIZE");
    snprintf(text, sizeof(text), "rm -rf %s", directory);
    run_shell(text);
}

Test(sink_cache, waits_for_redis_at_the_start_and_later)
{
    open_with(NULL, 1);
    fill(20);
    put_drops(0, 10, 1);
    server_stop(&server, true);
    bed_start(&bed);
    bed_wait_log(&bed, "Connection refused");
    cr_expect_eq(bed_log_count(&bed, "partitions assigned"), 0,
                 "it takes no part without a target");
    server_start_again(&server, NULL);
    bed_drain(&bed);
    server_stop(&server, true);
    put_drops(10, 20, 1);
    bed_flush(&bed);
    bed_wait_log(&bed, "the connection is lost");
    cr_expect_eq(bed_committed(&bed, 0), 10);
    server_start_again(&server, NULL);
    connect_redis();
    bed_drain(&bed);
    bed_stop(&bed);
}

/* Case 26: Redis is silent for longer than max.poll.interval.ms, and a second member comes. */
Test(sink_cache, stays_in_the_group_while_redis_is_slow)
{
    open_with(NULL, 2);
    bed_set(&bed, "consumer.max.poll.interval.ms=6000");
    bed_set(&bed, ".sink.batch.records=10");
    fill(200);
    bed_start(&bed);
    bed_wait_log(&bed, "partitions assigned");
    server_signal(&server, SIGSTOP);
    put_drops(0, 200, 2);
    bed_flush(&bed);
    sleep_ms(8000);
    server_signal(&server, SIGCONT);
    while (bed_committed(&bed, 0) < 50) {
        sleep_ms(50);
    }
    cr_expect_eq(bed_log_count(&bed, "partitions lost"), 0);
    cr_expect_eq(bed_log_count(&bed, "partitions given back"), 0);
    bed_start_reading(&bed);
    put_drops(0, 100, 2);
    bed_drain(&bed);
    expect_reply("0", "DBSIZE");
    bed_stop(&bed);
    bed_stop(&bed);
}

Test(sink_cache, loses_nothing_when_it_is_killed_in_mid_batch)
{
    open_with(NULL, 1);
    fill(ENTRY_COUNT);
    bed_start(&bed);
    put_drops(0, 10, 1);
    bed_drain(&bed);
    server_signal(&server, SIGSTOP);
    put_drops(10, ENTRY_COUNT, 1);
    bed_flush(&bed);
    sleep_ms(500);
    bed_kill(&bed);
    server_signal(&server, SIGCONT);
    cr_expect_eq(bed_committed(&bed, 0), 10);
    bed_start(&bed);
    bed_drain(&bed);
    expect_reply("0", "DBSIZE");
    bed_stop(&bed);
}

Test(sink_cache, members_come_and_go_in_mid_batch)
{
    open_with(NULL, 4);
    store_rows();
    bed_set(&bed, ".sink.batch.records=50");
    bed_start_reading(&bed);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < ENTRY_COUNT; i++) {
            char key[32], value[32];
            snprintf(key, sizeof(key), "show:%d", i);
            snprintf(value, sizeof(value), "{\"v\":%d}", round);
            bed_put(&bed, &(struct bed_record){.key = key,
                                               .value = value,
                                               .op = 'u',
                                               .lsn = (uint64_t)(round * ENTRY_COUNT + i + 1),
                                               .seq = 1,
                                               .partition = i % 4});
        }
        bed_flush(&bed);
        if (round == 0 || round == 2) {
            bed_start_reading(&bed);
        } else if (round == 1) {
            bed_kill(&bed);
        } else {
            bed_stop(&bed);
        }
    }
    bed_drain(&bed);
    for (int i = 0; i < ENTRY_COUNT; i++) {
        cr_assert_str_eq(ask("GET show:%d", i), "{\"v\":3}");
    }
    bed_stop(&bed);
}

/* Case 28. */
static void put_with_poison(void)
{
    put_drops(0, 500, 1);
    bed_put(&bed, &(struct bed_record){.key = "show:future", .op = 'x', .lsn = 7, .seq = 1});
    put_drops(500, 1000, 1);
}

Test(sink_cache, stops_at_a_record_of_the_future_and_applies_its_neighbours)
{
    open_with(NULL, 1);
    fill(1000);
    put_with_poison();
    bed_flush(&bed);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_committed(&bed, 0), 500);
    expect_reply("0", "EXISTS show:0 show:499");
    char line[512];
    snprintf(line, sizeof(line),
             "route cache stops at topic %s partition 0 offset 500 key \\\"show:future\\\": header "
             "walrelay.op is of a walrelay newer than this one",
             bed.topic);
    cr_expect_eq(bed_log_count(&bed, line), 1, "%s", bed_log(&bed));
}

Test(sink_cache, gives_a_refused_record_one_dead_letter)
{
    char topic[128];
    char *values[8];

    open_with(NULL, 1);
    fill(1000);
    snprintf(topic, sizeof(topic), "%s.dead", bed.prefix);
    bed_set(&bed, "errors.tolerance=all");
    bed_set(&bed, "errors.deadletterqueue.topic.name=%s", topic);
    put_drops(0, 500, 1);
    bed_put(&bed, &(struct bed_record){.key = "k", .value = "no headers at all"});
    put_drops(500, 1000, 1);
    bed_put(&bed, &(struct bed_record){.key = "show:1"}); /* a tombstone that nobody knows */
    bed_start(&bed);
    bed_drain(&bed);
    expect_reply("0", "DBSIZE");
    bed_stop(&bed);
    cr_assert_eq(bed_read(&bed, topic, values, 8), 1);
    cr_expect_str_eq(values[0], "no headers at all");
    free(values[0]);
}

Test(sink_cache, stops_when_a_dead_letter_cannot_be_written)
{
    open_with(NULL, 1);
    bed_set(&bed, "errors.tolerance=all");
    bed_set(&bed, "errors.deadletterqueue.topic.name=not a topic");
    put_drops(0, 5, 1);
    bed_put(&bed, &(struct bed_record){.key = "k", .value = "no headers at all"});
    put_drops(5, 9, 1);
    bed_flush(&bed);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_committed(&bed, 0), 5);
    bed_wait_log(&bed, "cannot be written to not a topic");
}

/* Case 4. */
Test(sink_cache, refuses_a_source_whose_versions_went_back)
{
    open_with(NULL, 1);
    store_rows();
    put_row("show:1", "{\"v\":1}", 0x500000000, 1);
    bed_start(&bed);
    bed_drain(&bed);
    bed_stop(&bed);
    bed_close(&bed);
    char url[64];
    snprintf(url, sizeof(url), "redis://%s/0", server.address);
    bed_open(&bed, "cache", url, 1); /* the restored database publishes to a topic of its own */
    bed_set(&bed, ".keys=show:${id}");
    store_rows();
    put_row("show:1", "{\"v\":2}", 0x100, 1);
    bed_flush(&bed);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_log_count(&bed, "it was filled from another database"), 1);
    expect_reply("{\"v\":1}", "GET show:1");
}

/* Case 29. */
Test(sink_cache, says_how_far_behind_it_is)
{
    open_with(NULL, 1);
    bed_set(&bed, ".sink.batch.records=10");
    fill(100);
    bed_start(&bed);
    bed_wait_log(&bed, "partitions assigned");
    server_signal(&server, SIGSTOP);
    put_drops(0, 100, 1);
    bed_flush(&bed);
    bed_wait_log(&bed, "lag_records=100");
    sleep_ms(1500);
    server_signal(&server, SIGCONT);
    bed_drain(&bed);
    bed_wait_log(&bed, "lag_records=0 lag_ms=0");
    bed_stop(&bed);
}

/* A gap is never silent: what Kafka has dropped before it was read. */
Test(sink_cache, refuses_a_position_that_kafka_no_longer_has)
{
    open_with(NULL, 1);
    put_drops(0, 10, 1);
    bed_start(&bed);
    bed_drain(&bed);
    bed_stop(&bed);
    put_drops(10, 20, 1);
    bed_flush(&bed);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, bed.topic, 0)->offset = 15;
    rd_kafka_DeleteRecords_t *deletion = rd_kafka_DeleteRecords_new(list);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(bed.producer);
    rd_kafka_DeleteRecords(bed.producer, &deletion, 1, NULL, queue);
    rd_kafka_event_destroy(rd_kafka_queue_poll(queue, 30000));
    rd_kafka_queue_destroy(queue);
    rd_kafka_DeleteRecords_destroy(deletion);
    rd_kafka_topic_partition_list_destroy(list);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_log_count(&bed, "no longer has what group"), 1);
    cr_expect_eq(bed_committed(&bed, 0), 10);
}
