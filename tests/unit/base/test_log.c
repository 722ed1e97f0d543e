#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/log.h"

static int reader = -1;

/* Criterion runs each test in a process of its own, so standard error can be replaced. */
static void open_log(void)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    reader = ends[0];
    wr_log_level_set(WR_LOG_INFO);
}

TestSuite(log, .init = open_log);

/* The line without its time stamp; "" when there is none. */
static const char *line(void)
{
    static char text[8192];

    cr_assert_eq(write(STDERR_FILENO, "\n", 1), 1); /* so that the read never waits */
    ssize_t size = read(reader, text, sizeof(text) - 1);
    cr_assert_gt(size, 0);
    text[size - 1] = '\0';
    const char *start = strstr(text, " level=");
    return start == NULL ? "" : start + 1;
}

Test(log, writes_logfmt)
{
    wr_log(WR_LOG_WARN, "publisher", WR_MSG("queue full"), WR_STR("topic", "order-events"),
           WR_INT("waiting", -5), WR_LSN("lsn", 0x16b3748));
    cr_expect_str_eq(line(), "level=warn at=publisher msg=\"queue full\" topic=order-events "
                             "waiting=-5 lsn=0/16B3748\n");
}

Test(log, starts_with_the_time)
{
    char text[64] = {0};

    wr_log(WR_LOG_INFO, "main", WR_MSG("x"));
    cr_assert_gt(read(reader, text, sizeof(text) - 1), 0);
    cr_expect_eq(strncmp(text, "time=2", 6), 0);
    cr_expect_eq(text[15], 'T', "%s", text);
    cr_expect_eq(text[28], 'Z', "%s", text);
}

Test(log, quotes_where_logfmt_needs_it)
{
    wr_log(WR_LOG_ERROR, "main", WR_STR("a", ""), WR_STR("b", NULL), WR_STR("c", "x=y"),
           WR_STR("d", "say \"hi\"\\\n\t\x7f"), WR_STR("e", "\xc3\xa4"));
    cr_expect_str_eq(line(), "level=error at=main a=\"\" b=\"\" c=\"x=y\" "
                             "d=\"say \\\"hi\\\"\\\\\\n??\" e=\xc3\xa4\n");
}

Test(log, leaves_out_what_is_below_its_level)
{
    wr_log(WR_LOG_DEBUG, "main", WR_MSG("quiet"));
    cr_expect_str_eq(line(), "");
    wr_log_level_set(WR_LOG_DEBUG);
    wr_log(WR_LOG_DEBUG, "main", WR_MSG("loud"));
    cr_expect_str_eq(line(), "level=debug at=main msg=loud\n");
}

Test(log, cuts_a_line_that_is_too_long)
{
    char text[10000];

    for (int quoted = 0; quoted < 2; quoted++) {
        memset(text, 'x', sizeof(text));
        text[0] = quoted ? ' ' : 'x';
        text[sizeof(text) - 1] = '\0';
        wr_log(WR_LOG_INFO, "main", WR_MSG(text), WR_STR("more", " "), WR_STR("and", text));
        const char *written = line();
        size_t size = strlen(written);
        cr_expect_gt(size, 3900);
        cr_expect_leq(size, 4096);
        cr_expect_eq(written[size - 1], '\n');
    }
}
