#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "../wire.h"
#include "base/arena.h"
#include "decoder/pgoutput.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* 2026-05-01 20:00:00 UTC, in microseconds since 2000 and since 1970. */
#define PG_TIME_US   UINT64_C(830980800000000)
#define UNIX_TIME_US INT64_C(1777665600000000)

static struct pgoutput decoder;
static struct message message;
static struct wr_error err;
static struct wr_buffer bytes;
static char *held; /* what `message` borrows from */

static void open_decoder(void)
{
    pgoutput_init(&decoder);
    wr_buffer_init(&bytes, 1 << 20);
}

static void close_decoder(void)
{
    free(held);
    wr_buffer_done(&bytes);
}

TestSuite(pgoutput, .init = open_decoder, .fini = close_decoder);

/* Decodes a heap copy of the first `size` bytes, so that AddressSanitizer sees any over-read. */
static enum wr_status decode_prefix(size_t size)
{
    free(held);
    held = malloc(size == 0 ? 1 : size);
    memcpy(held, bytes.size == 0 ? "" : bytes.data, size);
    return pgoutput_decode(&decoder, (struct wr_slice){held, size}, &message, &err);
}

static enum wr_status decode(void)
{
    return decode_prefix(bytes.size);
}

static void build_begin(void)
{
    wr_buffer_add_char(&bytes, 'B');
    wire_int(&bytes, 0x16B3748, 8);
    wire_int(&bytes, PG_TIME_US, 8);
    wire_int(&bytes, 731, 4);
}

static void build_commit(void)
{
    wr_buffer_add_char(&bytes, 'C');
    wire_int(&bytes, 0, 1);
    wire_int(&bytes, 0x16B3748, 8);
    wire_int(&bytes, 0x16B3778, 8);
    wire_int(&bytes, PG_TIME_US, 8);
}

static void build_origin(void)
{
    wr_buffer_add_char(&bytes, 'O');
    wire_int(&bytes, 0x2A, 8);
    wire_str(&bytes, "berlin");
}

static void build_relation(void)
{
    static const struct wire_column COLUMNS[] = {{"id", 23, true}, {"title", 25, false}};

    wire_relation(&bytes, 16385, "events", 'd', COLUMNS, COUNT(COLUMNS));
}

static void build_type(void)
{
    wr_buffer_add_char(&bytes, 'Y');
    wire_int(&bytes, 16500, 4);
    wire_str(&bytes, "public");
    wire_str(&bytes, "mood");
}

static void build_insert(void)
{
    static const char *const CELLS[] = {"7", NULL, "", "two words"};

    wire_change(&bytes, 'I', 16385);
    wire_tuple(&bytes, 'N', CELLS, COUNT(CELLS));
}

static void build_update(void)
{
    static const char *const CELLS[] = {"7", WIRE_UNCHANGED};

    wire_change(&bytes, 'U', 16385);
    wire_tuple(&bytes, 'N', CELLS, COUNT(CELLS));
}

static void build_update_of_key(void)
{
    static const char *const OLD[] = {"7", NULL};
    static const char *const NEW[] = {"8", "b"};

    wire_change(&bytes, 'U', 16385);
    wire_tuple(&bytes, 'K', OLD, COUNT(OLD));
    wire_tuple(&bytes, 'N', NEW, COUNT(NEW));
}

static void build_update_of_row(void)
{
    static const char *const OLD[] = {"7", "a"};
    static const char *const NEW[] = {"7", WIRE_UNCHANGED};

    wire_change(&bytes, 'U', 16385);
    wire_tuple(&bytes, 'O', OLD, COUNT(OLD));
    wire_tuple(&bytes, 'N', NEW, COUNT(NEW));
}

static void build_delete_of_key(void)
{
    static const char *const OLD[] = {"7", NULL};

    wire_change(&bytes, 'D', 16385);
    wire_tuple(&bytes, 'K', OLD, COUNT(OLD));
}

static void build_delete_of_row(void)
{
    static const char *const OLD[] = {"7", "a"};

    wire_change(&bytes, 'D', 16385);
    wire_tuple(&bytes, 'O', OLD, COUNT(OLD));
}

static void build_truncate(void)
{
    wr_buffer_add_char(&bytes, 'T');
    wire_int(&bytes, 2, 4);
    wire_int(&bytes, 3, 1);
    wire_int(&bytes, 16385, 4);
    wire_int(&bytes, 0xFEDCBA98, 4);
}

static void build_logical(void)
{
    wr_buffer_add_char(&bytes, 'M');
    wire_int(&bytes, 1, 1);
    wire_int(&bytes, 0x16B3700, 8);
    wire_str(&bytes, "audit");
    wire_int(&bytes, 5, 4);
    wr_buffer_add(&bytes, "a\0b\0c", 5);
}

static void build_stream_abort(void)
{
    wr_buffer_add_char(&bytes, 'A');
    wire_int(&bytes, 731, 4);
    wire_int(&bytes, 732, 4);
}

/* Every kind that is decoded, in each of its forms. */
static const struct {
    const char *name;
    void (*build)(void);
    bool is_in_transaction;
} MESSAGES[] = {
    {"Begin", build_begin, false},
    {"Commit", build_commit, true},
    {"Origin", build_origin, true},
    {"Relation", build_relation, true},
    {"Type", build_type, true},
    {"Insert", build_insert, true},
    {"Update", build_update, true},
    {"Update with an old key", build_update_of_key, true},
    {"Update with an old row", build_update_of_row, true},
    {"Delete with a key", build_delete_of_key, true},
    {"Delete with a row", build_delete_of_row, true},
    {"Truncate", build_truncate, true},
    {"Message", build_logical, true},
    {"Stream Abort", build_stream_abort, false},
};

static void build(size_t index)
{
    wr_buffer_reset(&bytes);
    MESSAGES[index].build();
    decoder.in_transaction = MESSAGES[index].is_in_transaction;
}

static void drop_relation(void)
{
    if (message.relation != NULL) {
        wr_arena_free(message.relation->arena);
    }
}

static void expect_cell(const struct tuple *tuple, size_t index, enum cell_kind kind,
                        const char *text)
{
    const struct cell *cell = &tuple->cells[index];

    cr_assert_lt(index, tuple->column_count);
    cr_expect_eq(cell->kind, kind, "cell %zu is %c", index, cell->kind);
    cr_expect(text == NULL || wr_slice_is(cell->text, text), "cell %zu is not %s", index, text);
}

Test(pgoutput, reads_begin)
{
    build_begin();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_BEGIN);
    cr_expect_eq(message.commit_lsn, 0x16B3748);
    cr_expect_eq(message.commit_time_us, UNIX_TIME_US);
    cr_expect_eq(message.xid, 731);
    cr_expect(decoder.in_transaction);
}

Test(pgoutput, reads_commit)
{
    decoder.in_transaction = true;
    build_commit();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_COMMIT);
    cr_expect_eq(message.commit_lsn, 0x16B3748);
    cr_expect_eq(message.end_lsn, 0x16B3778);
    cr_expect_eq(message.commit_time_us, UNIX_TIME_US);
    cr_expect(!decoder.in_transaction);
}

Test(pgoutput, reads_origin)
{
    build_origin();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_ORIGIN);
    cr_expect_eq(message.origin_lsn, 0x2A);
    cr_expect_str_eq(message.origin, "berlin");
}

Test(pgoutput, reads_relation)
{
    build_relation();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_RELATION);
    cr_assert_not_null(message.relation);
    cr_expect_eq(message.relation->oid, 16385);
    cr_expect_str_eq(message.relation->table, "events");
    cr_expect_eq(message.relation->column_count, 2);
    drop_relation();
}

Test(pgoutput, passes_over_type)
{
    build_type();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_TYPE);
}

Test(pgoutput, reads_insert)
{
    decoder.in_transaction = true;
    build_insert();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_INSERT);
    cr_expect_eq(message.relation_oid, 16385);
    cr_expect_eq(message.old_kind, OLD_NONE);
    cr_expect_eq(message.new_tuple.column_count, 4);
    expect_cell(&message.new_tuple, 0, CELL_TEXT, "7");
    expect_cell(&message.new_tuple, 1, CELL_NULL, NULL);
    expect_cell(&message.new_tuple, 2, CELL_TEXT, "");
    expect_cell(&message.new_tuple, 3, CELL_TEXT, "two words");
}

Test(pgoutput, reads_update)
{
    decoder.in_transaction = true;
    build_update();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_UPDATE);
    cr_expect_eq(message.old_kind, OLD_NONE);
    expect_cell(&message.new_tuple, 0, CELL_TEXT, "7");
    expect_cell(&message.new_tuple, 1, CELL_UNCHANGED, NULL);
}

Test(pgoutput, reads_update_with_an_old_key)
{
    decoder.in_transaction = true;
    build_update_of_key();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.old_kind, OLD_KEY);
    expect_cell(&message.old_tuple, 0, CELL_TEXT, "7");
    expect_cell(&message.old_tuple, 1, CELL_NULL, NULL);
    expect_cell(&message.new_tuple, 0, CELL_TEXT, "8");
    expect_cell(&message.new_tuple, 1, CELL_TEXT, "b");
}

Test(pgoutput, reads_update_with_an_old_row)
{
    decoder.in_transaction = true;
    build_update_of_row();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.relation_oid, 16385);
    cr_expect_eq(message.old_kind, OLD_ROW);
    expect_cell(&message.old_tuple, 1, CELL_TEXT, "a");
    expect_cell(&message.new_tuple, 1, CELL_UNCHANGED, NULL);
}

Test(pgoutput, reads_delete)
{
    decoder.in_transaction = true;
    build_delete_of_key();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_DELETE);
    cr_expect_eq(message.relation_oid, 16385);
    cr_expect_eq(message.old_kind, OLD_KEY);
    expect_cell(&message.old_tuple, 0, CELL_TEXT, "7");
    wr_buffer_reset(&bytes);
    build_delete_of_row();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.old_kind, OLD_ROW);
    expect_cell(&message.old_tuple, 1, CELL_TEXT, "a");
}

Test(pgoutput, reads_truncate_of_several_tables)
{
    decoder.in_transaction = true;
    build_truncate();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_TRUNCATE);
    cr_expect_eq(message.truncate.count, 2);
    cr_expect_eq(message.truncate.flags, 3);
    cr_expect_eq(truncate_oid(&message, 0), 16385);
    cr_expect_eq(truncate_oid(&message, 1), 0xFEDCBA98);
}

Test(pgoutput, reads_a_logical_message_also_outside_a_transaction)
{
    build_logical();
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_LOGICAL);
    cr_expect(message.logical.is_transactional);
    cr_expect_eq(message.logical.lsn, 0x16B3700);
    cr_expect_str_eq(message.logical.prefix, "audit");
    cr_expect_eq(message.logical.content.size, 5);
    cr_expect_arr_eq(message.logical.content.data, "a\0b\0c", 5);
    bytes.data[1] = 0;
    cr_assert_eq(decode(), WR_OK);
    cr_expect(!message.logical.is_transactional);
}

/* PostgreSQL 18 sends it to clients that never asked for streaming; with two more fields in 16. */
Test(pgoutput, reads_stream_abort_in_both_forms)
{
    build_stream_abort();
    cr_expect_eq(decode(), WR_OK);
    cr_expect_eq(message.kind, MESSAGE_STREAM_ABORT);
    cr_expect_eq(message.xid, 731);
    wire_int(&bytes, 1, 8);
    wire_int(&bytes, 2, 8);
    cr_expect_eq(decode(), WR_OK);
    for (size_t size = 10; size < bytes.size; size++) {
        cr_expect_eq(decode_prefix(size), WR_FATAL, "%zu bytes", size);
    }
}

Test(pgoutput, refuses_every_prefix_of_every_message)
{
    for (size_t i = 0; i < COUNT(MESSAGES); i++) {
        build(i);
        size_t size_full = bytes.size;
        for (size_t size = 0; size < size_full; size++) {
            build(i);
            cr_expect_eq(decode_prefix(size), WR_FATAL, "%s of %zu bytes", MESSAGES[i].name, size);
        }
        build(i);
        cr_expect_eq(decode(), WR_OK, "%s: %s", MESSAGES[i].name, err.text);
        drop_relation();
    }
}

Test(pgoutput, refuses_bytes_left_over_behind_every_message)
{
    for (size_t i = 0; i < COUNT(MESSAGES); i++) {
        build(i);
        wr_buffer_add_char(&bytes, 0);
        cr_expect_eq(decode(), WR_FATAL, "%s", MESSAGES[i].name);
    }
}

Test(pgoutput, says_what_is_wrong_with_a_message)
{
    build_begin();
    cr_assert_eq(decode_prefix(20), WR_FATAL);
    cr_expect_str_eq(err.text, "message B of 20 bytes is truncated");
    pgoutput_init(&decoder);
    wr_buffer_add_char(&bytes, 0);
    cr_assert_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "message B of 22 bytes has bytes left over");
    cr_assert_eq(decode_prefix(0), WR_FATAL);
    cr_expect_str_eq(err.text, "an empty message");
}

Test(pgoutput, refuses_more_columns_than_there_can_be)
{
    decoder.in_transaction = true;
    wire_change(&bytes, 'I', 1);
    wr_buffer_add_str(&bytes, "N\x06\x81"); /* 1665 */
    for (int i = 0; i < 1665; i++) {
        wr_buffer_add_char(&bytes, 'n');
    }
    cr_expect_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "a tuple of 1665 columns, more than 1664");
    bytes.data[7] = (char)0x80;
    bytes.size--;
    cr_expect_eq(decode(), WR_OK);
    cr_expect_eq(message.new_tuple.column_count, 1664);
}

Test(pgoutput, refuses_sizes_and_counts_beyond_the_message)
{
    decoder.in_transaction = true;
    wire_change(&bytes, 'I', 1);
    wr_buffer_add(&bytes, "N\0\1t\xff\xff\xff\xff", 8);
    cr_expect_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "message I of 13 bytes is truncated");
    wr_buffer_reset(&bytes);
    wr_buffer_add(&bytes, "T\xff\xff\xff\xff\0\0\0\0\1", 10);
    cr_expect_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "a Truncate of 4294967295 relations is cut short");
    wr_buffer_reset(&bytes);
    wr_buffer_add(&bytes, "T\x40\0\0\1\0\0\0\0\1", 10); /* times four, it is four in 32 bits */
    cr_expect_eq(decode(), WR_FATAL);
    wr_buffer_reset(&bytes);
    wr_buffer_add(&bytes, "M\0\0\0\0\0\0\0\0\1p\0\xff\xff\xff\xff", 16);
    cr_expect_eq(decode(), WR_FATAL);
}

/* pgcopydb takes a binary column for an unchanged one. */
Test(pgoutput, refuses_binary_cells_by_name)
{
    decoder.in_transaction = true;
    wire_change(&bytes, 'I', 1);
    wr_buffer_add(&bytes, "N\0\2nb\0\0\0\1x", 10);
    cr_expect_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "column 1 has the unknown kind 0x62 (binary was not asked for)");
}

Test(pgoutput, knows_three_kinds_of_cells_and_no_other)
{
    decoder.in_transaction = true;
    for (unsigned kind = 0; kind < 256; kind++) {
        if (kind == 'n' || kind == 'u' || kind == 't') {
            continue;
        }
        wr_buffer_reset(&bytes);
        wire_change(&bytes, 'I', 1);
        wr_buffer_add(&bytes, "N\0\1", 3);
        wr_buffer_add_char(&bytes, (char)kind);
        cr_expect_eq(decode(), WR_FATAL, "kind 0x%02x", kind);
    }
}

Test(pgoutput, refuses_tuples_with_another_mark)
{
    static const struct {
        char kind;
        char mark;
    } CASES[] = {{'I', 'K'}, {'I', 'O'}, {'I', 0}, {'U', 'X'}, {'D', 'N'}, {'D', 0}};
    static const char *const CELLS[] = {"1"};

    decoder.in_transaction = true;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        wr_buffer_reset(&bytes);
        wire_change(&bytes, CASES[i].kind, 1);
        wire_tuple(&bytes, CASES[i].mark, CELLS, 1);
        if (CASES[i].kind == 'U') {
            wire_tuple(&bytes, 'N', CELLS, 1); /* so that only the mark is wrong */
        }
        cr_expect_eq(decode(), WR_FATAL, "%c with %c", CASES[i].kind, CASES[i].mark);
    }
    cr_expect_str_eq(err.text, "a deleted tuple is marked 0x00 instead of K or O");
}

Test(pgoutput, refuses_two_old_tuples)
{
    static const char *const CELLS[] = {"1"};

    decoder.in_transaction = true;
    wire_change(&bytes, 'U', 1);
    wire_tuple(&bytes, 'K', CELLS, 1);
    wire_tuple(&bytes, 'O', CELLS, 1);
    cr_expect_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "a new tuple is marked 0x4f instead of N");
}

Test(pgoutput, refuses_the_kinds_of_streaming_by_name)
{
    for (const char *kind = "SEc"; *kind != '\0'; kind++) {
        wr_buffer_reset(&bytes);
        wr_buffer_add_char(&bytes, *kind);
        wire_int(&bytes, 1, 8);
        cr_expect_eq(decode(), WR_FATAL);
        cr_expect_not_null(strstr(err.text, "streams a transaction in progress"), "%s", err.text);
        cr_expect_eq(err.text[8], *kind);
    }
}

Test(pgoutput, refuses_the_kinds_of_two_phase_commit_by_name)
{
    for (const char *kind = "bPKrp"; *kind != '\0'; kind++) {
        wr_buffer_reset(&bytes);
        wr_buffer_add_char(&bytes, *kind);
        wire_int(&bytes, 1, 8);
        cr_expect_eq(decode(), WR_FATAL);
        cr_expect_not_null(strstr(err.text, "two-phase slot"), "%s", err.text);
        cr_expect_eq(err.text[8], *kind);
    }
}

Test(pgoutput, refuses_every_other_kind)
{
    for (unsigned kind = 0; kind < 256; kind++) {
        if (kind != 0 && strchr("BCORYIUDTMASEcbPKrp", (int)kind) != NULL) {
            continue;
        }
        wr_buffer_reset(&bytes);
        wr_buffer_add_char(&bytes, (char)kind);
        cr_expect_eq(decode(), WR_FATAL, "kind 0x%02x", kind);
    }
    cr_expect_str_eq(err.text, "unknown message kind 0xff");
}

Test(pgoutput, refuses_changes_outside_a_transaction)
{
    static void (*const BUILDS[])(void) = {build_insert, build_update, build_delete_of_key,
                                           build_truncate};

    for (size_t i = 0; i < COUNT(BUILDS); i++) {
        wr_buffer_reset(&bytes);
        BUILDS[i]();
        cr_expect_eq(decode(), WR_FATAL);
        cr_expect_not_null(strstr(err.text, "outside a transaction"), "%s", err.text);
    }
}

Test(pgoutput, refuses_begin_inside_and_commit_outside_a_transaction)
{
    build_begin();
    cr_expect_eq(decode(), WR_OK);
    cr_expect_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "Begin of xid 731 inside a transaction");
    wr_buffer_reset(&bytes);
    build_commit();
    cr_expect_eq(decode(), WR_OK);
    cr_expect_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "Commit at 0/16B3748 outside a transaction");
}

/* Passing over a flag would be reading a message whose meaning is not known. */
Test(pgoutput, refuses_flags_that_it_does_not_know)
{
    static const struct {
        void (*build)(void);
        size_t index; /* of the flags */
        unsigned known;
    } CASES[] = {{build_commit, 1, 0}, {build_truncate, 5, 3}, {build_logical, 1, 1}};

    for (size_t i = 0; i < COUNT(CASES); i++) {
        for (unsigned flags = 0; flags < 256; flags++) {
            decoder.in_transaction = true;
            wr_buffer_reset(&bytes);
            CASES[i].build();
            bytes.data[CASES[i].index] = (char)flags;
            bool is_known = (flags & ~CASES[i].known) == 0;
            cr_expect_eq(decode(), is_known ? WR_OK : WR_FATAL, "%c with 0x%02x", bytes.data[0],
                         flags);
        }
    }
}

/* The ledger counts on it: confirming up to nothing would be no place at all. */
Test(pgoutput, refuses_a_commit_or_a_message_that_stands_nowhere)
{
    decoder.in_transaction = true;
    build_commit();
    memset(bytes.data + 10, 0, 8);
    cr_expect_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "Commit at 0/16B3748 has no end");
    wr_buffer_reset(&bytes);
    build_logical();
    memset(bytes.data + 2, 0, 8);
    cr_expect_eq(decode(), WR_FATAL);
    cr_expect_str_eq(err.text, "a logical message without an LSN");
}

Test(pgoutput, takes_any_time_without_overflow)
{
    build_begin();
    memset(bytes.data + 9, 0xff, 8);
    cr_assert_eq(decode(), WR_OK);
    cr_expect_eq(message.commit_time_us, INT64_C(946684799999999)); /* -1 before 2000 */
    decoder.in_transaction = false;
    memset(bytes.data + 9, 0x7f, 8);
    cr_expect_eq(decode(), WR_OK);
}

Test(pgoutput, starts_anew_on_a_new_connection)
{
    build_begin();
    cr_assert_eq(decode(), WR_OK);
    pgoutput_init(&decoder);
    cr_expect_eq(decode(), WR_OK);
}
