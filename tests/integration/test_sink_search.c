/* Documents into a real OpenSearch: sink-cases 1 to 7, 9 to 12, 26 and 28. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "base/json_path.h"
#include "support/bed.h"
#include "support/http_client.h"
#include "support/server.h"

#define TYPES "{\"id\":\"integer\",\"n\":\"bigint\",\"big\":\"text\"}"

static struct bed bed;
static struct server server;
static char index_name[96]; /* of this test alone */

static void open_with(int partitions)
{
    char url[64];

    server_open_search(&server);
    snprintf(url, sizeof(url), "http://%s", server.address);
    bed_open(&bed, "search", url, partitions);
    snprintf(index_name, sizeof(index_name), "%s-shows", bed.prefix);
    bed_set(&bed, ".sink.index=%s-${table}", bed.prefix);
    bed_set(&bed, ".sink.index.create=true");
    bed_set(&bed, ".sink.batch.wait.ms=50");
}

/* "/INDEX…" of the server. */
static const char *ask(const char *method, const char *body, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static const char *ask(const char *method, const char *body, const char *format, ...)
{
    char path[512];
    char url[640];
    va_list args;

    va_start(args, format);
    vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    snprintf(url, sizeof(url), "http://%s/%s", server.address, path);
    return http_ask(method, url, body, NULL);
}

static void tear_down(void)
{
    bed_close(&bed);
    if (server.directory[0] != '\0') {
        server_signal(&server, SIGCONT);
        ask("DELETE", NULL, "%s*", bed.prefix);
    }
}

TestSuite(sink_search, .fini = tear_down, .timeout = 180);

/* What the index holds under an id, as it was sent; "gone" when it holds nothing. */
static const char *source_of(const char *id)
{
    static char text[1 << 20];
    const struct wr_slice path[] = {WR_SLICE("_source")};
    struct wr_slice found;
    const char *answer = ask("GET", NULL, "%s/_doc/%s", index_name, id);

    bool is_there = wr_json_find(wr_slice_str(answer), path, 1, &found);
    snprintf(text, sizeof(text), "%.*s", is_there ? (int)found.size : 4,
             is_there ? found.data : "gone");
    return text;
}

#define expect_source(id, expected) cr_expect_str_eq(source_of(id), (expected), "document %s", (id))

static int count_documents(void)
{
    ask("POST", NULL, "%s/_refresh", index_name);
    const char *answer = ask("GET", NULL, "%s/_count", index_name);
    const char *found = strstr(answer, "\"count\":");

    return found == NULL ? -1 : atoi(found + 8);
}

static void put(const char *id, const char *value, uint64_t lsn, uint64_t seq)
{
    bed_put(&bed, &(struct bed_record){.key = id,
                                       .value = value,
                                       .op = value == NULL ? 'd' : 'u',
                                       .lsn = lsn,
                                       .seq = seq,
                                       .types = value == NULL ? NULL : TYPES});
}

static void put_many_from(int from, int to, uint64_t lsn, uint64_t seq, int partitions)
{
    char id[16], value[64];

    for (int i = from; i < to; i++) {
        snprintf(id, sizeof(id), "%d", i);
        snprintf(value, sizeof(value), "{\"id\":%d,\"n\":%d}", i, i);
        bed_put(&bed, &(struct bed_record){.key = id,
                                           .value = value,
                                           .op = 'c',
                                           .lsn = lsn,
                                           .seq = seq + (uint64_t)(i - from),
                                           .types = TYPES,
                                           .partition = i % partitions});
    }
}

static void put_many(int from, int to, uint64_t lsn, int partitions)
{
    put_many_from(from, to, lsn, 1, partitions);
}

/* An index that the test makes. */
static void make_index(const char *body)
{
    const char *answer = ask("PUT", body, "%s", index_name);

    cr_assert_not_null(strstr(answer, "\"acknowledged\":true"), "%s", answer);
}

/* Case 1. */
Test(sink_search, looks_at_each_item_of_an_answer)
{
    char topic[128];
    char *values[4];

    open_with(1);
    make_index("{\"mappings\":{\"properties\":{\"n\":{\"type\":\"long\"}}}}");
    ask("PUT", "{\"n\":9}", "%s/_doc/k5?version=500&version_type=external", index_name);
    bed_set(&bed, ".sink.index.create=false");
    snprintf(topic, sizeof(topic), "%s.dead", bed.prefix);
    bed_set(&bed, "errors.tolerance=all");
    bed_set(&bed, "errors.deadletterqueue.topic.name=%s", topic);
    put("k1", "{\"n\":1}", 100, 1);
    put("k2", "{\"n\":\"abc\"}", 100, 2);
    put("k3", "{\"n\":3}", 100, 3);
    put("k4", NULL, 100, 4);
    put("k5", "{\"n\":5}", 100, 5);
    put("k6", "{\"n\":6}", 600, 1);
    bed_start(&bed);
    bed_drain(&bed);
    bed_wait_log(&bed, "applied=4 superseded=1 refused=1");
    bed_stop(&bed);
    expect_source("k1", "{\"n\":1}");
    expect_source("k2", "gone");
    expect_source("k3", "{\"n\":3}");
    expect_source("k5", "{\"n\":9}");
    cr_expect_eq(bed_log_count(&bed, "record refused"), 1, "only the refused one has a line");
    cr_assert_eq(bed_read(&bed, topic, values, 4), 1);
    cr_expect_str_eq(values[0], "{\"n\":\"abc\"}");
    free(values[0]);
}

Test(sink_search, stops_at_a_refused_document_and_writes_its_neighbours)
{
    open_with(1);
    make_index("{\"mappings\":{\"properties\":{\"n\":{\"type\":\"long\"}}}}");
    put_many(0, 500, 100, 1);
    put("bad", "{\"n\":\"abc\"}", 100, 501);
    put_many(501, 1000, 101, 1);
    bed_flush(&bed);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_committed(&bed, 0), 500);
    cr_expect_eq(count_documents(), 999);
    cr_expect_eq(bed_log_count(&bed, "partition 0 offset 500 key \\\"bad\\\": "
                                     "mapper_parsing_exception"),
                 1, "%s", bed_log(&bed));
}

/* Case 28: what is no document cannot spoil the request it would be part of. */
Test(sink_search, refuses_values_that_are_no_documents)
{
    static const char *const values[] = {
        "{\"n\":1", "[1]", "17", "", "{\"n\":1}\n{\"delete\":{}}", "{\"n\":NaN}"};
    char id[600];

    open_with(1);
    bed_set(&bed, "errors.tolerance=all");
    put_many(0, 100, 100, 1);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        snprintf(id, sizeof(id), "bad%zu", i);
        put(id, values[i], 200, i + 1);
    }
    memset(id, 'x', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    put(id, "{\"n\":1}", 200, 50);
    put(NULL, "{\"n\":1}", 200, 51);
    put("lines", "{\"n\":\n1,\r\n\"t\":\"a\\nb\"}", 200, 52);
    put_many(100, 200, 201, 1);
    bed_start(&bed);
    bed_drain(&bed);
    bed_wait_log(&bed, "refused=8");
    expect_source("lines", "{\"n\": 1,  \"t\":\"a\\nb\"}");
    cr_expect_eq(count_documents(), 201);
    bed_stop(&bed);
}

/* Cases 2 and 10: one change a document in a request, whatever shares its version. */
Test(sink_search, of_several_changes_the_last_one_counts)
{
    open_with(1);
    put("k", "{\"n\":1}", 100, 1);
    put("k", "{\"n\":2}", 100, 2);
    put("k", "{\"n\":3}", 100, 3);
    put("1", "{\"n\":1}", 110, 1);
    put("1", NULL, 120, 1);
    bed_put(&bed, &(struct bed_record){.key = "1"}); /* a tombstone of another hand */
    put("1", "{\"n\":2}", 130, 1);
    put("2", "{\"n\":1}", 110, 2);
    put("2", NULL, 140, 1);
    put("3", "{\"n\":1}", 140, 2);
    put("never", NULL, 150, 1);
    bed_put(&bed, &(struct bed_record){.key = NULL});
    put("old", "{\"n\":2}", 160, 1);
    put("old", "{\"n\":1}", 90, 1);
    bed_start(&bed);
    bed_drain(&bed);
    expect_source("k", "{\"n\":3}");
    expect_source("1", "{\"n\":2}");
    expect_source("2", "gone");
    expect_source("3", "{\"n\":1}");
    expect_source("never", "gone");
    cr_expect_eq(bed_log_count(&bed, "record refused"), 0);
    bed_stop(&bed);
}

/* A transaction that was cut between two requests. */
Test(sink_search, of_two_changes_with_one_version_the_later_one_counts)
{
    open_with(1);
    bed_start(&bed);
    put("1", "{\"n\":1}", 100, 1);
    put("2", "{\"n\":1}", 100, 2);
    bed_drain(&bed);
    put("1", "{\"n\":2}", 100, 3);
    put("2", NULL, 100, 4);
    bed_drain(&bed);
    expect_source("1", "{\"n\":2}");
    expect_source("2", "gone");
    bed_stop(&bed);
}

/* Case 3: within the memory of deletions and behind it. */
Test(sink_search, a_replay_to_the_end_leaves_no_ghosts)
{
    char before[4096];

    open_with(1);
    make_index("{\"settings\":{\"index.gc_deletes\":\"100ms\"}}");
    put_many(0, 50, 100, 1);
    for (int i = 0; i < 25; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        put(id, NULL, 200 + (uint64_t)i / 5, (uint64_t)(i % 5 + 1));
    }
    put("7", "{\"n\":77}", 300, 1);
    bed_start(&bed);
    bed_drain(&bed);
    bed_stop(&bed);
    cr_expect_eq(count_documents(), 26);
    snprintf(before, sizeof(before), "%s",
             ask("GET", NULL,
                 "%s/_search?size=100&sort=n&version=true"
                 "&filter_path=hits.hits",
                 index_name));
    sleep_ms(500);
    bed_rewind(&bed, 0);
    bed_start(&bed);
    bed_drain(&bed);
    bed_stop(&bed);
    cr_expect_eq(count_documents(), 26);
    cr_expect_str_eq(ask("GET", NULL,
                         "%s/_search?size=100&sort=n&version=true"
                         "&filter_path=hits.hits",
                         index_name),
                     before);
}

/* Case 4. */
Test(sink_search, refuses_a_source_whose_versions_went_back)
{
    open_with(1);
    make_index("{}");
    ask("PUT", "{\"n\":9}", "%s/_doc/1?version=21474836480&version_type=external", index_name);
    put("1", "{\"n\":1}", 100, 1);
    bed_flush(&bed);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    cr_expect_eq(bed_log_count(&bed, "the target has version 21474836480"), 1);
    expect_source("1", "{\"n\":9}");
}

/* Case 5: what a server refuses for now, item by item. */
static void expect_wait(const char *setting, const char *words)
{
    char body[128];

    open_with(1);
    make_index("{}");
    snprintf(body, sizeof(body), "{\"%s\":true}", setting);
    ask("PUT", body, "%s/_settings", index_name);
    put_many(0, 20, 100, 1);
    bed_flush(&bed);
    bed_start(&bed);
    bed_wait_log(&bed, words);
    sleep_ms(1200);
    cr_expect_eq(bed_log_count(&bed, words), 1, "one line, whatever it lasts");
    cr_expect_eq(bed_committed(&bed, 0), -1);
    snprintf(body, sizeof(body), "{\"%s\":null}", setting);
    ask("PUT", body, "%s/_settings", index_name);
    bed_drain(&bed);
    cr_expect_eq(count_documents(), 20);
    bed_wait_log(&bed, "takes records again");
    bed_stop(&bed);
}

Test(sink_search, waits_for_a_disk_that_is_full)
{
    expect_wait("index.blocks.read_only_allow_delete", "disk usage exceeded");
}

Test(sink_search, waits_for_an_index_that_may_not_be_written_to)
{
    expect_wait("index.blocks.write", "cluster_block_exception");
}

Test(sink_search, waits_for_an_index_that_is_closed)
{
    open_with(1);
    make_index("{}");
    ask("POST", NULL, "%s/_close", index_name);
    put_many(0, 20, 100, 1);
    bed_flush(&bed);
    bed_start(&bed);
    bed_wait_log(&bed, "index_closed_exception");
    ask("POST", NULL, "%s/_open", index_name);
    bed_drain(&bed);
    cr_expect_eq(count_documents(), 20);
    bed_stop(&bed);
}

/* Case 5: requests larger than the server's memory for them (512 MB of heap, a tenth of it). */
Test(sink_search, makes_requests_smaller_until_they_pass)
{
    enum { VALUE_SIZE = 4 << 20, VALUE_COUNT = 20 };
    char *value = malloc(VALUE_SIZE + 64);
    char id[16];

    open_with(1);
    make_index("{\"mappings\":{\"enabled\":false}}");
    bed_set(&bed, ".sink.batch.bytes=200000000");
    bed_set(&bed, ".sink.batch.wait.ms=3000");
    bed_set(&bed, "consumer.queued.max.messages.kbytes=200000");
    for (int i = 0; i < VALUE_COUNT; i++) {
        int size = snprintf(value, 64, "{\"n\":%d,\"t\":\"", i);
        memset(value + size, 'x', VALUE_SIZE);
        memcpy(value + size + VALUE_SIZE, "\"}", 3);
        snprintf(id, sizeof(id), "%d", i);
        put(id, value, 100, (uint64_t)i + 1);
    }
    free(value);
    bed_start(&bed);
    bed_drain(&bed);
    cr_expect_eq(count_documents(), VALUE_COUNT);
    cr_expect_geq(bed_log_count(&bed, "answers 429"), 1);
    bed_stop(&bed);
}

/* Cases 6 and 7: made by walrelay, an index takes what its table may hold. */
Test(sink_search, makes_an_index_that_takes_every_value)
{
#define ODD_TYPES                                                                                  \
    "{\"id\":\"integer\",\"d\":\"text\",\"n\":\"numeric\",\"f\":\"double precision\","             \
    "\"j\":\"jsonb\",\"at\":\"timestamp with time zone\",\"k\":\"uuid\",\"a\":\"text[]\"}"
    static const char *const rows[] = {
        "{\"id\":1,\"d\":\"2024-01-01\",\"n\":1,\"f\":1.5,\"j\":{\"a\":1}}",
        "{\"id\":2,\"d\":\"hello\",\"n\":1.75,\"f\":\"NaN\",\"j\":\"x\"}",
        "{\"id\":3,\"d\":\"1\",\"n\":12345678901234567890,\"j\":{\"a\":{\"b\":[1,\"x\"]}}}",
        "{\"id\":4,\"f\":\"Infinity\",\"at\":\"infinity\",\"n\":\"NaN\",\"j\":[1]}",
        "{\"id\":5,\"f\":1e-300,\"at\":\"-0043-03-15T00:00:00Z\",\"a\":[\"x\",null,\"y\"]}",
        "{\"id\":6,\"at\":\"2024-01-01T10:00:00.123456Z\",\"unknown\":\"stays\"}",
    };
    static char deep[40000];
    char id[16];

    open_with(1);
    bed_set(&bed, ".sink.alias=%s-alias", bed.prefix);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(id, sizeof(id), "%zu", i + 1);
        bed_put(&bed, &(struct bed_record){
                          .key = id, .value = rows[i], .op = 'c', .lsn = 10, .types = ODD_TYPES});
    }
    size_t size = (size_t)snprintf(deep, sizeof(deep), "{\"id\":7,\"j\":{");
    for (int i = 0; i < 1500; i++) { /* more keys than an index may have fields */
        size += (size_t)snprintf(deep + size, sizeof(deep) - size, "\"k%d\":%d,", i, i);
    }
    size += (size_t)snprintf(deep + size, sizeof(deep) - size, "\"deep\":");
    memset(deep + size, '[', 30);
    memset(deep + size + 30, ']', 30);
    snprintf(deep + size + 60, sizeof(deep) - size - 60, "}}");
    bed_put(&bed, &(struct bed_record){
                      .key = "7", .value = deep, .op = 'c', .lsn = 10, .types = ODD_TYPES});
    char *long_text = malloc(40100);
    snprintf(long_text, 40100, "{\"id\":8,\"k\":\"%040000d\"}", 0);
    bed_put(&bed, &(struct bed_record){
                      .key = "8", .value = long_text, .op = 'c', .lsn = 10, .types = ODD_TYPES});
    free(long_text);
    bed_start(&bed);
    bed_drain(&bed);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(id, sizeof(id), "%zu", i + 1);
        expect_source(id, rows[i]);
    }
    cr_expect_eq(count_documents(), 8);
    cr_expect_not_null(
        strstr(ask("GET", NULL, "%s-alias/_count?q=n:%%3E1.7", bed.prefix), "\"count\":2"));
    cr_expect_not_null(strstr(ask("GET", NULL, "%s/_count?q=a:y", index_name), "\"count\":1"));
    bed_stop(&bed);
}

/* Case 12. */
Test(sink_search, gives_new_columns_their_place)
{
    open_with(1);
    put("1", "{\"id\":1,\"n\":1}", 100, 1);
    bed_start(&bed);
    bed_drain(&bed);
    bed_put(&bed, &(struct bed_record){.key = "2",
                                       .value = "{\"id\":2,\"n\":3000000000,\"c\":\"2024-05-05\"}",
                                       .op = 'c',
                                       .lsn = 200,
                                       .types = "{\"id\":\"integer\",\"n\":\"bigint\","
                                                "\"c\":\"text\"}"});
    bed_put(&bed, &(struct bed_record){.key = "3",
                                       .value = "{\"id\":3,\"n\":1,\"c\":\"words\"}",
                                       .op = 'c',
                                       .lsn = 201,
                                       .types = "{\"id\":\"integer\",\"n\":\"bigint\","
                                                "\"c\":\"text\"}"});
    bed_put(&bed, &(struct bed_record){.key = "4",
                                       .value = "{\"id\":4,\"n\":\"now text\"}",
                                       .op = 'c',
                                       .lsn = 202,
                                       .types = "{\"id\":\"integer\",\"n\":\"text\"}"});
    bed_flush(&bed);
    bed_wait_log(&bed, "the index does not fit the table any more");
    cr_expect_eq(bed_wait_exit(&bed), 1, "\"now text\" is no number");
    ask("POST", NULL, "%s/_refresh", index_name);
    cr_expect_not_null(strstr(ask("GET", NULL, "%s/_count?q=c:words", index_name), "\"count\":1"));
    expect_source("2", "{\"id\":2,\"n\":3000000000,\"c\":\"2024-05-05\"}");
}

Test(sink_search, refuses_a_field_that_no_document_can_have)
{
    open_with(1);
    bed_put(&bed, &(struct bed_record){.key = "1",
                                       .value = "{\"a.b\":1}",
                                       .op = 'c',
                                       .lsn = 10,
                                       .types = "{\"a.b\":\"integer\"}"});
    bed_flush(&bed);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    bed_wait_log(&bed, "a field of a document cannot be named \\\"a.b\\\"");
}

Test(sink_search, wants_an_index_unless_it_may_make_one)
{
    open_with(1);
    bed_set(&bed, ".sink.index.create=false");
    put("1", "{\"n\":1}", 100, 1);
    bed_flush(&bed);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    bed_wait_log(&bed, "create it, or set sink.index.create=true");
}

static void put_partial(const char *id, const char *value, uint64_t lsn, uint64_t seq,
                        const char *moved_from)
{
    bed_put(&bed, &(struct bed_record){.key = id,
                                       .value = value,
                                       .op = moved_from == NULL ? 'u' : 'c',
                                       .lsn = lsn,
                                       .seq = seq,
                                       .types = TYPES,
                                       .unavailable = "[\"big\"]",
                                       .moved_from = moved_from});
}

/* Case 9, in one batch and over several. */
static void toast_script(bool in_batches)
{
    put("1", "{\"id\":1,\"n\":1,\"big\":\"B1\"}", 100, 1);
    put("2", "{\"id\":2,\"n\":1,\"big\":\"B2\"}", 100, 2);
    put("3", "{\"id\":3,\"n\":1,\"big\":\"B3\"}", 100, 3);
    put("4", "{\"id\":4,\"n\":1,\"big\":\"B4\"}", 100, 4);
    if (in_batches) {
        bed_drain(&bed);
    }
    put_partial("1", "{\"id\":1,\"n\":2}", 200, 1, NULL);
    put_partial("2", "{\"id\":2,\"n\":2}", 200, 2, NULL);
    put("3", "{\"id\":3,\"n\":1,\"big\":\"C3\"}", 200, 3);
    put("4", "{\"id\":4,\"n\":1,\"big\":null}", 200, 4);
    put("5", "{\"id\":5,\"n\":1,\"big\":\"B5\"}", 300, 1);
    put_partial("5", "{\"id\":5,\"n\":2}", 300, 2, NULL);
    if (in_batches) {
        bed_drain(&bed);
    }
    put_partial("4", "{\"id\":4,\"n\":2}", 400, 1, NULL);
    put("1", NULL, 400, 2);
    put_partial("10", "{\"id\":10,\"n\":2}", 400, 3, "1");
    put_partial("10", "{\"id\":10,\"n\":3}", 400, 4, NULL);
    bed_drain(&bed);
    expect_source("1", "gone");
    expect_source("2", "{\"id\":2,\"n\":2,\"big\":\"B2\"}");
    expect_source("3", "{\"id\":3,\"n\":1,\"big\":\"C3\"}");
    expect_source("4", "{\"id\":4,\"n\":2,\"big\":null}");
    expect_source("5", "{\"id\":5,\"n\":2,\"big\":\"B5\"}");
    expect_source("10", "{\"id\":10,\"n\":3,\"big\":\"B1\"}");
}

Test(sink_search, an_unchanged_toast_value_erases_nothing_within_a_batch)
{
    open_with(1);
    bed_set(&bed, ".sink.batch.wait.ms=2000"); /* all of it is there by then */
    bed_start(&bed);
    bed_wait_log(&bed, "partitions assigned");
    toast_script(false);
    cr_expect_eq(bed_log_count(&bed, "REPLICA IDENTITY FULL"), 0, "nothing had to be read");
    bed_stop(&bed);
}

Test(sink_search, an_unchanged_toast_value_erases_nothing_over_batches)
{
    open_with(1);
    bed_start(&bed);
    toast_script(true);
    cr_expect_eq(bed_log_count(&bed, "REPLICA IDENTITY FULL is the cheaper way"), 1);
    bed_stop(&bed);
    bed_rewind(&bed, 11); /* to the move: the old document is gone now, the new one is there */
    bed_start(&bed);
    bed_drain(&bed);
    expect_source("10", "{\"id\":10,\"n\":3,\"big\":\"B1\"}");
    expect_source("4", "{\"id\":4,\"n\":2,\"big\":null}");
    bed_stop(&bed);
}

Test(sink_search, refuses_half_a_document)
{
    open_with(1);
    make_index("{}");
    put_partial("1", "{\"id\":1,\"n\":2}", 200, 1, NULL);
    bed_flush(&bed);
    bed_start(&bed);
    cr_expect_eq(bed_wait_exit(&bed), 1);
    bed_wait_log(&bed, "has no such document to take the unchanged TOAST values from");
    expect_source("1", "gone");
}

/* Case 11. */
Test(sink_search, truncate_empties_what_is_older_in_every_partition)
{
    open_with(3);
    put_many(0, 1500, 100, 3);
    bed_start(&bed);
    bed_drain(&bed);
    bed_put(
        &bed,
        &(struct bed_record){
            .key = "in-it", .value = "{\"n\":1}", .op = 'c', .lsn = 200, .seq = 1, .types = TYPES});
    bed_put(&bed, &(struct bed_record){.key = "", .op = 't', .lsn = 200, .seq = 2});
    put_many_from(0, 5, 200, 3, 3);
    put_many(2000, 2010, 201, 3);
    bed_drain(&bed);
    cr_expect_eq(count_documents(), 15);
    put_many(1000, 1003, 150, 3); /* from a partition that was slower */
    bed_drain(&bed);
    cr_expect_eq(count_documents(), 15);
    bed_stop(&bed);
    put_many(3000, 3003, 150, 3); /* to a member that has not seen the truncate */
    bed_start(&bed);
    bed_drain(&bed);
    cr_expect_eq(count_documents(), 15);
    bed_stop(&bed);
    bed_rewind(&bed, 0);
    bed_start(&bed);
    bed_drain(&bed);
    cr_expect_eq(count_documents(), 15);
    bed_stop(&bed);
}

Test(sink_search, waits_for_a_server_that_is_away_or_slow)
{
    open_with(1);
    make_index("{}");
    bed_set(&bed, ".sink.timeout.ms=1000");
    put_many(0, 10, 100, 1);
    server_signal(&server, SIGSTOP);
    bed_start(&bed);
    bed_wait_log(&bed, "timed out");
    server_signal(&server, SIGCONT);
    bed_drain(&bed);
    server_signal(&server, SIGSTOP);
    put_many(10, 20, 101, 1);
    bed_flush(&bed);
    sleep_ms(2500);
    cr_expect_eq(bed_committed(&bed, 0), 10);
    server_signal(&server, SIGCONT);
    bed_drain(&bed);
    cr_expect_eq(count_documents(), 20);
    bed_stop(&bed);
    bed_set(&bed, ".sink.url=http://127.0.0.1:1");
    bed_start(&bed);
    bed_wait_log(&bed, "Failed to connect");
    bed_stop(&bed);
}

Test(sink_search, loses_nothing_when_it_is_killed_in_mid_batch)
{
    open_with(1);
    put_many(0, 10, 100, 1);
    bed_start(&bed);
    bed_drain(&bed);
    server_signal(&server, SIGSTOP);
    put_many(10, 3000, 101, 1);
    bed_flush(&bed);
    sleep_ms(500);
    bed_kill(&bed);
    server_signal(&server, SIGCONT);
    cr_expect_eq(bed_committed(&bed, 0), 10);
    bed_set(&bed, ".sink.gzip=true");
    bed_start(&bed);
    bed_drain(&bed);
    cr_expect_eq(count_documents(), 3000);
    bed_stop(&bed);
}

/* Case 26, with members that come and go. */
Test(sink_search, members_come_and_go_in_mid_batch)
{
    enum { DOCUMENT_COUNT = 1000 };

    open_with(4);
    bed_set(&bed, ".sink.batch.records=50");
    bed_set(&bed, ".sink.batch.wait.ms=0");
    bed_start_reading(&bed);
    for (int round = 0; round < 3; round++) {
        put_many(0, DOCUMENT_COUNT, (uint64_t)(100 + round), 4);
        bed_flush(&bed);
        if (round == 0) {
            bed_start_reading(&bed);
        } else if (round == 1) {
            bed_kill(&bed);
            bed_start_reading(&bed);
        } else {
            bed_stop(&bed);
        }
    }
    bed_drain(&bed);
    cr_expect_eq(count_documents(), DOCUMENT_COUNT);
    cr_expect_not_null(strstr(ask("GET", NULL, "%s/_doc/7", index_name), "\"_version\":102"));
    bed_stop(&bed);
}
