#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "decoder/relation.h"

#define BYTES(literal) (literal), sizeof(literal) - 1

/* public.outbox, oid 16385, identity 'd': id uuid (key), code varchar(5). */
#define OUTBOX                                                                                     \
    "\0\0\x40\x01public\0outbox\0d\0\2"                                                            \
    "\1id\0\0\0\x0b\x86\xff\xff\xff\xff"                                                           \
    "\0code\0\0\0\x04\x13\0\0\0\x09"

static struct wr_arena *arena;
static struct relation rel;
static struct wr_error err;

static void open_arena(void)
{
    arena = wr_arena_new(4096);
}

static void close_arena(void)
{
    wr_arena_free(arena);
}

TestSuite(relation, .init = open_arena, .fini = close_arena);

/* Decodes a heap copy sized to the byte, so that AddressSanitizer sees any over-read. */
static enum wr_status decode(const char *bytes, size_t size)
{
    char *message = malloc(size == 0 ? 1 : size);
    struct wr_cursor in;

    memcpy(message, bytes, size);
    wr_cursor_init(&in, message, size);
    enum wr_status status = relation_decode(&in, arena, &rel, &err);
    free(message);
    return status;
}

Test(relation, outlives_its_message)
{
    cr_assert_eq(decode(BYTES(OUTBOX)), WR_OK);
    cr_expect_eq(rel.oid, 16385);
    cr_expect_str_eq(rel.schema, "public");
    cr_expect_str_eq(rel.table, "outbox");
    cr_expect_eq(rel.replica_identity, 'd');
    cr_expect_eq(rel.column_count, 2);
    cr_expect(rel.columns[0].is_key);
    cr_expect(!rel.columns[1].is_key);
    cr_expect_str_eq(rel.columns[0].name, "id");
    cr_expect_str_eq(rel.columns[1].name, "code");
    cr_expect_eq(rel.columns[0].type_oid, 2950);
    cr_expect_eq(rel.columns[0].type_mod, -1);
    cr_expect_eq(rel.columns[1].type_oid, 1043);
    cr_expect_eq(rel.columns[1].type_mod, 9);
}

Test(relation, owns_its_arena_and_has_no_plan_yet)
{
    rel.plan = (struct route_plan *)&rel;
    rel.tag = 7;
    cr_assert_eq(decode(BYTES(OUTBOX)), WR_OK);
    cr_expect_eq(rel.arena, arena);
    cr_expect_null(rel.plan);
    cr_expect_eq(rel.tag, 0);
}

Test(relation, reads_an_empty_schema_as_pg_catalog)
{
    cr_assert_eq(decode(BYTES("\0\0\0\1\0t\0n\0\0")), WR_OK);
    cr_expect_str_eq(rel.schema, "pg_catalog");
    cr_expect_eq(rel.column_count, 0);
}

Test(relation, knows_the_four_replica_identities_and_no_other)
{
    char message[] = "\0\0\0\1s\0t\0?\0\0";

    for (unsigned identity = 0; identity < 256; identity++) {
        bool is_known = identity == 'd' || identity == 'i' || identity == 'f' || identity == 'n';
        message[8] = (char)identity;
        wr_arena_reset(arena);
        enum wr_status status = decode(message, sizeof(message) - 1);
        cr_expect_eq(status, is_known ? WR_OK : WR_FATAL, "identity 0x%02x", identity);
        cr_expect(!is_known || rel.replica_identity == (char)identity);
    }
    cr_expect_str_eq(err.text, "oid 1: unknown replica identity 0xff");
}

Test(relation, refuses_a_column_flag_that_it_does_not_know)
{
    cr_expect_eq(decode(BYTES("\0\0\0\1s\0t\0d\0\1\3c\0\0\0\0\x19\xff\xff\xff\xff")), WR_FATAL);
    cr_expect_str_eq(err.text, "oid 1: column c has unknown flags 0x03");
}

Test(relation, refuses_every_truncation)
{
    for (size_t size = 0; size < sizeof(OUTBOX) - 1; size++) {
        wr_arena_reset(arena);
        cr_expect_eq(decode(OUTBOX, size), WR_FATAL, "prefix of %zu bytes", size);
    }
}

Test(relation, refuses_bytes_left_over)
{
    cr_expect_eq(decode(BYTES(OUTBOX "\0")), WR_FATAL);
    cr_expect_str_eq(err.text, "oid 16385: bytes left over");
}

Test(relation, refuses_a_column_count_the_message_cannot_hold)
{
    cr_expect_eq(decode(BYTES("\0\0\0\1\0t\0n\xff\xff")), WR_FATAL);
    cr_expect_str_eq(err.text, "oid 1: header truncated");
}

Test(relation, refuses_more_columns_than_a_tuple_may_have)
{
    static const char HEAD[] = "\0\0\0\1s\0t\0d\x06\x81"; /* 1665 */
    static const char COLUMN[] = "\0\0\0\0\0\x19\xff\xff\xff\xff";
    size_t size = sizeof(HEAD) - 1;
    char *message = malloc(size + 1665 * (sizeof(COLUMN) - 1));

    wr_arena_free(arena);
    arena = wr_arena_new(1 << 20);
    memcpy(message, HEAD, size);
    for (int i = 0; i < 1665; i++) {
        memcpy(message + size, COLUMN, sizeof(COLUMN) - 1);
        size += sizeof(COLUMN) - 1;
    }
    cr_expect_eq(decode(message, size), WR_FATAL);
    cr_expect_str_eq(err.text, "oid 1: 1665 columns, more than 1664 (WR_COLUMN_COUNT_MAX)");
    message[10] = (char)0x80;
    cr_expect_eq(decode(message, size - (sizeof(COLUMN) - 1)), WR_OK);
    cr_expect_eq(rel.column_count, 1664);
    free(message);
}

Test(relation, refuses_what_its_arena_cannot_hold)
{
    char message[5000] = {0};

    message[3] = 9;
    memset(message + 4, 's', 4100); /* the schema's name; the rest reads as empty */
    wr_arena_reset(arena);
    message[4106] = 'd';
    cr_expect_eq(decode(message, 4109), WR_FATAL);
    cr_expect_str_eq(err.text, "oid 9: larger than the arena");
}
