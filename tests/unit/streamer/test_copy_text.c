#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "decoder/pgoutput.h"
#include "streamer/copy_text.h"

enum { CELL_COUNT_MAX = 8 };

static char *line;
static struct cell cells[CELL_COUNT_MAX];
static struct wr_error err;

static void forget(void)
{
    free(line);
    line = NULL;
}

TestSuite(copy_text, .fini = forget);

/* On the heap and sized to the byte, so that a sanitizer sees a read beyond it. */
static enum wr_status split(const char *bytes, size_t size, uint16_t count)
{
    free(line);
    line = malloc(size > 0 ? size : 1);
    memcpy(line, bytes, size);
    return copy_text_split(line, size, cells, count, &err);
}

#define BYTES(literal) (literal), sizeof(literal) - 1
#define CELL_IS(i, literal)                                                                        \
    (cells[i].kind == CELL_TEXT && cells[i].text.size == sizeof(literal) - 1 &&                    \
     memcmp(cells[i].text.data, literal, sizeof(literal) - 1) == 0)

Test(copy_text, splits_at_tabs_and_tells_null_from_empty)
{
    cr_assert_eq(split(BYTES("1\t\\N\t\tab\n"), 4), WR_OK, "%s", err.text);
    cr_expect(CELL_IS(0, "1"));
    cr_expect_eq(cells[1].kind, CELL_NULL);
    cr_expect(CELL_IS(2, ""));
    cr_expect(CELL_IS(3, "ab"));
}

Test(copy_text, takes_a_null_in_the_last_cell_and_an_empty_last_cell)
{
    cr_assert_eq(split(BYTES("a\t\\N\n"), 2), WR_OK);
    cr_expect_eq(cells[1].kind, CELL_NULL);
    cr_assert_eq(split(BYTES("a\t\n"), 2), WR_OK);
    cr_expect(CELL_IS(1, ""));
    cr_assert_eq(split(BYTES("\n"), 1), WR_OK);
    cr_expect(CELL_IS(0, ""));
}

Test(copy_text, unescapes_every_escape_that_the_server_writes)
{
    cr_assert_eq(split(BYTES("\\b\\f\\n\\r\\t\\v\\\\\tx\\\\N\n"), 2), WR_OK, "%s", err.text);
    cr_expect(CELL_IS(0, "\b\f\n\r\t\v\\"));
    cr_expect(CELL_IS(1, "x\\N"));
}

Test(copy_text, keeps_a_text_that_looks_like_null)
{
    cr_assert_eq(split(BYTES("\\\\N\tNULL\n"), 2), WR_OK);
    cr_expect(CELL_IS(0, "\\N"));
    cr_expect(CELL_IS(1, "NULL"));
}

Test(copy_text, reads_a_row_without_columns)
{
    cr_expect_eq(split(BYTES("\n"), 0), WR_OK);
    cr_expect_eq(split(BYTES("1\n"), 0), WR_FATAL);
}

Test(copy_text, refuses_another_number_of_cells)
{
    cr_expect_eq(split(BYTES("1\t2\n"), 3), WR_FATAL);
    cr_expect_str_eq(err.text, "fewer than 3 cells");
    cr_expect_eq(split(BYTES("1\t2\t3\n"), 2), WR_FATAL);
    cr_expect_str_eq(err.text, "more than 2 cells");
}

Test(copy_text, refuses_every_truncation)
{
    static const char whole[] = "1\t\\N\ta\\\\b\tzz\n";

    cr_assert_eq(split(whole, sizeof(whole) - 1, 4), WR_OK);
    for (size_t size = 0; size < sizeof(whole) - 1; size++) {
        cr_expect_eq(split(whole, size, 4), WR_FATAL, "prefix of %zu bytes", size);
    }
}

Test(copy_text, refuses_escapes_that_the_server_does_not_write)
{
    static const char *const lines[] = {"\\x41\n", "\\101\n", "\\N1\n", "a\\\n", "1\\.\n"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        cr_expect_eq(split(lines[i], strlen(lines[i]), 1), WR_FATAL, "%s", lines[i]);
        cr_expect_str_eq(err.text, "cell 1: a malformed escape");
    }
}
