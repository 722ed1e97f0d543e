#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/buffer.h"
#include "config/config.h"
#include "relay/snapshot_state.h"

enum { CLUSTER = 7 };

static const struct config config = {
    .slot_name = "s", .publication_name = "p", .topic_prefix = "x", .database_dbname = "d"};
static struct snapshot_state *written;
static struct snapshot_state *found;
static struct wr_buffer key, value;

static void set_up(void)
{
    written = snapshot_state_new(&config, CLUSTER);
    found = snapshot_state_new(&config, CLUSTER);
    wr_buffer_init(&key, 4096);
    wr_buffer_init(&value, 4096);
}

static void tear_down(void)
{
    snapshot_state_free(written);
    snapshot_state_free(found);
    wr_buffer_done(&key);
    wr_buffer_done(&value);
}

TestSuite(snapshot_state, .init = set_up, .fini = tear_down);

/* One record on its way through Kafka. */
static void pass_on(struct snapshot_state *to)
{
    snapshot_state_take(to, wr_buffer_slice(&key), wr_buffer_slice(&value));
    wr_buffer_reset(&key);
    wr_buffer_reset(&value);
}

static void begin(wr_lsn lsn)
{
    snapshot_state_begin(written, lsn);
    snapshot_state_write_head(written, &key, &value);
    pass_on(found);
}

static void note(uint32_t oid, uint32_t file_node, uint32_t block_count)
{
    struct snapshot_mark mark = {oid, file_node, block_count};

    snapshot_state_write_mark(written, &mark, &key, &value);
    pass_on(found);
}

Test(snapshot_state, says_what_was_noted_last_of_each_table)
{
    struct snapshot_mark mark = {0};

    begin(UINT64_MAX);
    note(30, 31, 4096);
    note(10, 11, SNAPSHOT_TABLE_DONE);
    note(20, 21, 1);
    note(30, 32, 8192);
    cr_expect_eq(snapshot_state_lsn(found), UINT64_MAX);
    cr_assert(snapshot_state_find(found, 30, &mark));
    cr_expect_eq(mark.oid, 30);
    cr_expect_eq(mark.file_node, 32);
    cr_expect_eq(mark.block_count, 8192);
    cr_assert(snapshot_state_find(found, 10, &mark));
    cr_expect_eq(mark.block_count, SNAPSHOT_TABLE_DONE);
    cr_expect(snapshot_state_find(found, 20, &mark));
    cr_expect_not(snapshot_state_find(found, 11, &mark));
    cr_expect_not(snapshot_state_find(found, 40, &mark));
}

Test(snapshot_state, what_belongs_to_another_snapshot_is_not_there)
{
    struct snapshot_mark mark = {0};

    begin(100);
    note(1, 1, SNAPSHOT_TABLE_DONE);
    begin(0);
    cr_expect_eq(snapshot_state_lsn(found), 0);
    cr_expect_not(snapshot_state_find(found, 1, &mark));
    begin(200);
    cr_expect_not(snapshot_state_find(found, 1, &mark));
    begin(100);
    cr_expect(snapshot_state_find(found, 1, &mark), "notes may come before their head");
}

Test(snapshot_state, what_belongs_to_another_cluster_slot_publication_or_prefix_is_not_there)
{
    const struct config others[] = {
        {.slot_name = "s2", .publication_name = "p", .topic_prefix = "x"},
        {.slot_name = "s", .publication_name = "p2", .topic_prefix = "x"},
        {.slot_name = "s", .publication_name = "p", .topic_prefix = "x2"},
        {.slot_name = "s", .publication_name = "p", .topic_prefix = "x"},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct snapshot_state *other = snapshot_state_new(&others[i], CLUSTER + (i == 3));
        snapshot_state_begin(written, 100);
        snapshot_state_write_head(written, &key, &value);
        pass_on(other);
        cr_expect_eq(snapshot_state_lsn(other), 0, "other %zu", i);
        snapshot_state_free(other);
    }
}

Test(snapshot_state, what_is_not_of_its_form_is_passed_over)
{
    static const char *const values[] = {"", "null", "{}", "{\"snapshot\":}",
                                         "{\"snapshot\":\"1\"}"};
    char long_value[1000];

    snapshot_state_begin(written, 100);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        snapshot_state_write_head(written, &key, &value);
        snapshot_state_take(found, wr_buffer_slice(&key), wr_slice_str(values[i]));
        wr_buffer_reset(&key);
    }
    memset(long_value, '9', sizeof(long_value));
    snapshot_state_write_head(written, &key, &value);
    snapshot_state_take(found, wr_buffer_slice(&key),
                        (struct wr_slice){long_value, sizeof(long_value)});
    snapshot_state_take(found, wr_buffer_slice(&key), (struct wr_slice){NULL, 0});
    snapshot_state_take(found, (struct wr_slice){NULL, 0}, wr_buffer_slice(&value));
    cr_expect_eq(snapshot_state_lsn(found), 0);
}
