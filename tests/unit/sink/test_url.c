#include <criterion/criterion.h>

#include "base/arena.h"
#include "sink/url.h"

static struct wr_arena *arena;
static struct sink_url url;
static struct wr_error err;

static void set_up(void)
{
    arena = wr_arena_new(1 << 16);
}

static void tear_down(void)
{
    wr_arena_free(arena);
}

TestSuite(url, .init = set_up, .fini = tear_down);

Test(url, is_taken_apart)
{
    cr_assert_eq(sink_url_parse("Clickhouse+HTTPS://a%40b:p%3A%2f%@[::1]:8443/dwh/x?y=1&z", arena,
                                &url, &err),
                 WR_OK);
    cr_expect_str_eq(url.scheme, "clickhouse+https");
    cr_expect_str_eq(url.user, "a@b");
    cr_expect_str_eq(url.password, "p:/%");
    cr_expect_str_eq(url.host, "::1");
    cr_expect_eq(url.port, 8443);
    cr_expect_str_eq(url.path, "/dwh/x");
    cr_expect_str_eq(url.query, "y=1&z");
}

Test(url, may_be_short)
{
    cr_assert_eq(sink_url_parse("redis://h", arena, &url, &err), WR_OK);
    cr_expect_str_eq(url.host, "h");
    cr_expect_eq(url.port, 0);
    cr_expect_str_eq(url.user, "");
    cr_expect_str_eq(url.password, "");
    cr_expect_str_eq(url.path, "");
    cr_expect_str_eq(url.query, "");
    cr_assert_eq(sink_url_parse("redis://:p@w@h?q", arena, &url, &err), WR_OK);
    cr_expect_str_eq(url.password, "p@w", "the last @ ends it");
    cr_expect_str_eq(url.query, "q");
}

Test(url, that_is_none_is_refused_and_never_shown)
{
    static const char *const texts[] = {
        "",
        "h:1",
        "://secret",
        "http://",
        "http://:secret@:1",
        "http://[::1",
        "http://h:0",
        "http://h:65536",
        "http://h:1x",
        "http://h:",
        "http://h:99999999999999",
        "http://[::1]secret",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_expect_eq(sink_url_parse(texts[i], arena, &url, &err), WR_FATAL, "%s", texts[i]);
        cr_expect_null(strstr(err.text, "secret"), "%s", err.text);
    }
}
