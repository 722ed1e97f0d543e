#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/limits.h"
#include "config/loader.h"

static struct loader loader;
static char path[] = "/tmp/walrelay-source-XXXXXX";

static void open_loader(void)
{
    loader = (struct loader){.arena = wr_arena_new(WR_CONFIG_SIZE_MAX)};
    close(mkstemp(path));
}

static void close_loader(void)
{
    wr_arena_free(loader.arena);
    unlink(path);
}

TestSuite(source, .init = open_loader, .fini = close_loader);

static void load_bytes(const char *bytes, size_t size)
{
    struct config_source source = {.path = path};
    FILE *stream = fopen(path, "w");

    cr_assert_not_null(stream);
    cr_assert_eq(fwrite(bytes, 1, size, stream), size);
    cr_assert_eq(fclose(stream), 0);
    source_load(&loader, &source);
}

static void load_text(const char *text)
{
    load_bytes(text, strlen(text));
}

static void load_set(const char *set)
{
    struct config_source source = {.set = set};

    source_load(&loader, &source);
}

static void expect_value(const char *key, const char *value)
{
    const struct entry *e = loader_find(&loader, key);

    cr_assert_not_null(e, "%s", key);
    cr_expect_str_eq(e->value, value);
}

/* That there is one problem, and what it says behind the place. */
static void expect_problem(const char *text)
{
    cr_assert_eq(loader.problem_count, 1);
    cr_expect_not_null(strstr(loader.problems[0].text, text), "\"%s\" is not in \"%s\"", text,
                       loader.problems[0].text);
}

static void expect_nowhere(const char *secret)
{
    for (size_t i = 0; i < loader.problem_count; i++) {
        cr_expect_null(strstr(loader.problems[i].text, secret), "%s", loader.problems[i].text);
    }
    for (size_t i = 0; i < loader.entry_count; i++) {
        cr_expect_null(strstr(loader.entries[i].shown, secret), "%s", loader.entries[i].key);
    }
}

Test(source, reads_properties_with_their_lines)
{
    load_text("# worker\nslot.name = a\n\ntopic.prefix=b\n");
    expect_value("slot.name", "a");
    expect_value("topic.prefix", "b");
    cr_expect_eq(loader_find(&loader, "topic.prefix")->line, 4);
    cr_expect_str_eq(loader_find(&loader, "topic.prefix")->source, path);
    cr_expect_eq(loader.problem_count, 0);
}

Test(source, reads_flat_json)
{
    load_text(" \n{\"slot.name\": \"a\", \"tasks.max\": 1, \"tombstones.on.delete\": false,"
              "\"slot.drop.on.stop\": true, \"transforms\": null}");
    expect_value("slot.name", "a");
    expect_value("tasks.max", "1");
    expect_value("tombstones.on.delete", "false");
    expect_value("slot.drop.on.stop", "true");
    cr_expect_null(loader_find(&loader, "transforms"));
    cr_expect_eq(loader.problem_count, 0);
}

Test(source, reads_json_as_connect_takes_and_shows_it)
{
    load_text("{\"name\": \"order-outbox\", \"config\": {\"slot.name\": \"a\"},"
              "\"tasks\": [], \"type\": \"source\"}");
    expect_value("name", "order-outbox");
    expect_value("slot.name", "a");
    cr_expect_eq(loader.entry_count, 2);
    cr_expect_eq(loader.problem_count, 0);
}

Test(source, reads_a_file_behind_a_byte_order_mark)
{
    load_text("\xef\xbb\xbf{\"slot.name\": \"a\"}");
    expect_value("slot.name", "a");
    load_text("\xef\xbb\xbfslot.name=b");
    expect_value("slot.name", "b");
}

Test(source, reads_an_empty_file)
{
    load_text("");
    cr_expect_eq(loader.entry_count, 0);
    cr_expect_eq(loader.problem_count, 0);
}

Test(source, names_a_property_beside_config)
{
    load_text("{\"config\": {\"slot.name\": \"a\"}, \"topic.prefix\": \"b\"}");
    expect_problem("topic.prefix: stands beside \"config\"; put it inside");
}

Test(source, refuses_json_that_is_nested)
{
    load_text("{\"table.include.list\": [\"a\"], \"slot.name\": \"a\"}");
    expect_problem("table.include.list: must be a string, a number or a boolean");
    expect_value("slot.name", "a");
}

Test(source, refuses_a_json_key_that_stands_twice)
{
    load_text("{\"slot.name\": \"a\", \"slot.name\": \"b\"}");
    expect_problem("is not JSON: duplicate object key");
    cr_expect(loader.is_incomplete);
}

Test(source, shows_where_json_breaks_and_not_what_stands_there)
{
    load_text("{\"database.password\":\n swordfish}");
    expect_problem(":2: is not JSON: ");
    expect_nowhere("swordfish");
    cr_expect(loader.is_incomplete);
}

Test(source, lets_later_sources_win)
{
    load_text("slot.name=a\ntopic.prefix=p\n");
    load_text("{\"slot.name\": \"b\"}");
    load_set("slot.name=c=d");
    expect_value("slot.name", "c=d");
    expect_value("topic.prefix", "p");
    cr_expect(loader.entries[0].is_overridden);
    cr_expect(loader.entries[2].is_overridden);
    cr_expect(!loader_find(&loader, "slot.name")->is_overridden);
}

Test(source, takes_backslashes_of_set_as_they_are)
{
    load_set("table.include.list=public\\.orders");
    expect_value("table.include.list", "public\\.orders");
}

Test(source, refuses_set_without_a_value_and_does_not_show_it)
{
    load_set("swordfish");
    expect_problem("--set: must be followed by KEY=VALUE");
    expect_nowhere("swordfish");
}

Test(source, names_a_file_that_is_not_there_and_one_that_is_not_text)
{
    struct config_source source = {.path = "/nonexistent/order.json"};

    source_load(&loader, &source);
    expect_problem("cannot open /nonexistent/order.json: No such file or directory");
    cr_expect(loader.is_incomplete);
    loader.problem_count = 0;
    load_bytes("a=\0b", 4);
    expect_problem("is not a text file");
}

Test(source, reads_on_behind_a_malformed_escape)
{
    load_text("a=1\nb=\\u00\nc=3\n");
    expect_problem(":2: \\u needs four hexadecimal digits");
    expect_value("c", "3");
}

Test(source, trims_values_but_not_passwords)
{
    load_text("slot.name=a \ndatabase.password=a \n");
    expect_value("slot.name", "a");
    expect_value("database.password", "a ");
}

Test(source, shows_no_secret)
{
    cr_assert_eq(setenv("WALRELAY_TEST_SECRET", "swordfish", 1), 0);
    load_text("database.password=swordfish\n"
              "database.pasword.file.passwd=swordfish\n"
              "producer.sasl.jaas.config=x required password=\"swordfish\";\n"
              "producer.ssl.key.pem=swordfish\n"
              "database.user=${env:WALRELAY_TEST_SECRET}\n");
    for (size_t i = 0; i < loader.entry_count; i++) {
        cr_expect(loader.entries[i].is_secret, "%s", loader.entries[i].key);
        loader_problem(&loader, &loader.entries[i], "must be something else");
    }
    expect_value("database.user", "swordfish");
    cr_expect_eq(loader.problem_count, 5);
    expect_nowhere("swordfish");
}

Test(source, reports_a_secret_that_leads_nowhere_once)
{
    unsetenv("WALRELAY_TEST_SECRET");
    load_text("database.password=${env:WALRELAY_TEST_SECRET}\n");
    expect_problem("environment variable WALRELAY_TEST_SECRET is not set");
    cr_expect(loader_find(&loader, "database.password")->is_overridden);
}

Test(source, cuts_a_long_value_in_a_message)
{
    char text[1200] = "slot.name=";

    memset(text + 10, 'x', 1000);
    load_text(text);
    loader_problem(&loader, &loader.entries[0], "is too long");
    expect_problem("…: is too long");
    cr_expect_lt(strlen(loader.problems[0].text), 400);
}

Test(source, bounds_what_it_takes)
{
    size_t size = CONFIG_TEXT_SIZE_MAX / 2 + 2;
    char *text = calloc(1, size + 1);

    memset(text, 'x', size);
    memcpy(text, "a=", 2);
    load_text(text);
    cr_expect_eq(loader.problem_count, 1); /* the value counts as written and as filled in */
    expect_problem("a configuration of more than 262144 bytes or 10000 properties");
    cr_expect_eq(loader.entry_count, 0);
    free(text);
}
