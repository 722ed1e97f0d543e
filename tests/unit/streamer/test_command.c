#include <string.h>

#include <criterion/criterion.h>

#include "base/buffer.h"
#include "streamer/command.h"

Test(command, retries_only_what_passes_by_itself)
{
    static const char *const passing[] = {"",      "08006", "40001", "40P01", "53300",
                                          "57P01", "57P03", "55006", "55P03"};
    static const char *const lasting[] = {"28P01", "28000", "3D000", "42501", "42704",
                                          "55000", "58P01", "0A000", "XX000", "22023"};

    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        cr_expect_eq(command_sqlstate_status(passing[i]), WR_RETRY, "%s", passing[i]);
    }
    for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++) {
        cr_expect_eq(command_sqlstate_status(lasting[i]), WR_FATAL, "%s", lasting[i]);
    }
}

Test(command, joins_the_lines_of_a_message)
{
    char text[64];

    command_one_line("FATAL:  28P01: no\nLOCATION:  auth.c:338\nHINT:  try\n", text, sizeof(text));
    cr_expect_str_eq(text, "FATAL:  28P01: no; HINT:  try");
    command_one_line("refused\n\tIs it running?\n\t\n", text, sizeof(text));
    cr_expect_str_eq(text, "refused; Is it running?");
    command_one_line("", text, sizeof(text));
    cr_expect_str_eq(text, "");
}

Test(command, cuts_a_message_that_is_too_long)
{
    char text[8];

    command_one_line("0123456789\nmore\n", text, sizeof(text));
    cr_expect_str_eq(text, "0123456");
}

Test(command, adds_a_remedy_and_never_overruns_the_text)
{
    struct wr_error err = {.text = "it is so"};

    command_advise(&err, "run: %s", "CREATE");
    cr_expect_str_eq(err.text, "it is so; run: CREATE");
    for (int i = 0; i < 200; i++) {
        command_advise(&err, "remedy %d", i);
    }
    cr_expect_lt(strlen(err.text), sizeof(err.text));
}

static void expect_quoted(void (*add)(struct wr_buffer *, const char *), const char *text,
                          const char *expected)
{
    struct wr_buffer out = {0};

    wr_buffer_init(&out, 256);
    add(&out, text);
    wr_buffer_add_char(&out, '\0');
    cr_expect_str_eq(out.data, expected);
    wr_buffer_done(&out);
}

Test(command, doubles_quotes_and_leaves_backslashes)
{
    expect_quoted(command_add_identifier, "Wr \"Pub\",'x'", "\"Wr \"\"Pub\"\",'x'\"");
    expect_quoted(command_add_literal, "it's \"so\" \\n", "'it''s \"so\" \\n'");
    expect_quoted(command_add_literal, "", "''");
}
