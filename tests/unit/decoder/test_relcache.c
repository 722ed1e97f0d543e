#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "../wire.h"
#include "base/arena.h"
#include "base/limits.h"
#include "decoder/pgoutput.h"
#include "decoder/relcache.h"

static struct relcache *cache;
static struct wr_error err;

static void open_cache(void)
{
    cache = relcache_new();
}

static void close_cache(void)
{
    relcache_free(cache);
}

TestSuite(relcache, .init = open_cache, .fini = close_cache);

static struct relation *relation_new(uint32_t oid)
{
    struct wr_arena *arena = wr_arena_new(sizeof(struct relation) + 16);
    struct relation *relation = wr_arena_alloc(arena, 1, sizeof(*relation));

    cr_assert_not_null(relation);
    relation->arena = arena;
    relation->oid = oid;
    return relation;
}

/* A Relation message of one table with `column_count` columns, decoded and put. */
static void put_message(uint32_t oid, size_t column_count)
{
    static const struct wire_column COLUMNS[] = {
        {"id", 23, true}, {"title", 25, false}, {"note", 25, false}};
    static struct pgoutput decoder;
    struct message message;
    struct wr_buffer bytes;

    wr_buffer_init(&bytes, 4096);
    wire_relation(&bytes, oid, "events", 'd', COLUMNS, column_count);
    pgoutput_init(&decoder);
    cr_assert_eq(pgoutput_decode(&decoder, wr_buffer_slice(&bytes), &message, &err), WR_OK);
    wr_buffer_done(&bytes);
    cr_assert_eq(relcache_put(cache, message.relation, &err), WR_OK);
}

Test(relcache, knows_only_what_was_put)
{
    struct relation *relation = relation_new(16385);

    cr_expect_null(relcache_get(cache, 16385));
    cr_assert_eq(relcache_put(cache, relation, &err), WR_OK);
    cr_expect_eq(relcache_get(cache, 16385), relation);
    cr_expect_null(relcache_get(cache, 16386));
    cr_expect_null(relcache_get(cache, 16385 + 64)); /* the same slot of a small table */
    cr_expect_null(relcache_get(cache, 0));
}

/* pgcopydb skips a Relation whose oid it knows, and loses the columns that ALTER TABLE added. */
Test(relcache, replaces_a_relation_that_comes_again_with_more_columns)
{
    put_message(16385, 2);
    cr_expect_eq(relcache_get(cache, 16385)->column_count, 2);
    put_message(16385, 3);
    cr_assert_eq(relcache_get(cache, 16385)->column_count, 3);
    cr_expect_str_eq(relcache_get(cache, 16385)->columns[2].name, "note");
    put_message(16385, 1);
    cr_expect_eq(relcache_get(cache, 16385)->column_count, 1);
}

Test(relcache, replaces_even_when_nothing_changed)
{
    struct relation *second = relation_new(7);

    cr_assert_eq(relcache_put(cache, relation_new(7), &err), WR_OK);
    cr_assert_eq(relcache_put(cache, second, &err), WR_OK);
    cr_expect_eq(relcache_get(cache, 7), second);
}

/* Strides too: oids of tables stand a few apart, since each takes some for its indexes. */
Test(relcache, finds_each_of_many_tables)
{
    static const uint32_t STRIDES[] = {1, 4, 64, 4096, 65536};

    for (size_t s = 0; s < sizeof(STRIDES) / sizeof(STRIDES[0]); s++) {
        for (uint32_t i = 0; i < 1000; i++) {
            cr_assert_eq(relcache_put(cache, relation_new(16384 + i * STRIDES[s]), &err), WR_OK);
        }
        for (uint32_t i = 0; i < 1000; i++) {
            struct relation *found = relcache_get(cache, 16384 + i * STRIDES[s]);
            cr_assert_not_null(found);
            cr_expect_eq(found->oid, 16384 + i * STRIDES[s]);
        }
        cr_expect_null(relcache_get(cache, 16384 + 1000 * STRIDES[s]));
        relcache_clear(cache);
    }
}

Test(relcache, forgets_everything_for_a_new_connection)
{
    for (uint32_t oid = 1; oid <= 100; oid++) {
        cr_assert_eq(relcache_put(cache, relation_new(oid), &err), WR_OK);
    }
    relcache_clear(cache);
    for (uint32_t oid = 1; oid <= 100; oid++) {
        cr_expect_null(relcache_get(cache, oid));
    }
    cr_assert_eq(relcache_put(cache, relation_new(5), &err), WR_OK);
    cr_expect_not_null(relcache_get(cache, 5));
}

Test(relcache, is_bounded)
{
    for (uint32_t oid = 1; oid <= WR_RELATION_COUNT_MAX; oid++) {
        cr_assert_eq(relcache_put(cache, relation_new(oid), &err), WR_OK);
    }
    cr_expect_eq(relcache_put(cache, relation_new(WR_RELATION_COUNT_MAX + 1), &err), WR_FATAL);
    cr_expect_str_eq(err.text, "more than 100000 tables (WR_RELATION_COUNT_MAX)");
    /* One that comes again takes no new place. */
    cr_expect_eq(relcache_put(cache, relation_new(1), &err), WR_OK);
}
