#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "config/loader.h"
#include "config/secrets.h"

static struct wr_buffer out;
static struct wr_error err;
static bool has_secret;
static char path[] = "/tmp/walrelay-secret-XXXXXX";

static void open_buffer(void)
{
    wr_buffer_init(&out, CONFIG_TEXT_SIZE_MAX);
    close(mkstemp(path));
    cr_assert_eq(setenv("WALRELAY_TEST_SECRET", "swordfish", 1), 0);
}

static void close_buffer(void)
{
    wr_buffer_done(&out);
    unlink(path);
}

TestSuite(secrets, .init = open_buffer, .fini = close_buffer);

static enum wr_status expand(const char *value)
{
    wr_buffer_reset(&out);
    enum wr_status status = secrets_expand(value, &out, &has_secret, &err);
    wr_buffer_add_char(&out, '\0');
    return status;
}

static void write_file(const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "w");

    cr_assert_not_null(stream);
    cr_assert_eq(fwrite(bytes, 1, size, stream), size);
    cr_assert_eq(fclose(stream), 0);
}

static enum wr_status expand_file(const char *key)
{
    char value[128];

    snprintf(value, sizeof(value), "${file:%s%s%s}", path, key == NULL ? "" : ":",
             key == NULL ? "" : key);
    return expand(value);
}

Test(secrets, leaves_what_is_no_reference)
{
    static const char *const values[] = {
        "",       "plain",   "$",           "${",   "${}", "${routedByValue}-events",
        "${env:", "$1.${2}", "event:${id}", "${:x}"};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        cr_assert_eq(expand(values[i]), WR_OK, "%s", values[i]);
        cr_expect_str_eq(out.data, values[i]);
        cr_expect(!has_secret, "%s", values[i]);
    }
}

Test(secrets, fills_in_environment_variables)
{
    cr_assert_eq(expand("${env:WALRELAY_TEST_SECRET}"), WR_OK);
    cr_expect_str_eq(out.data, "swordfish");
    cr_expect(has_secret);
    cr_assert_eq(expand("<${env:WALRELAY_TEST_SECRET}|${env:WALRELAY_TEST_SECRET}>"), WR_OK);
    cr_expect_str_eq(out.data, "<swordfish|swordfish>");
}

Test(secrets, does_not_expand_what_a_secret_holds)
{
    cr_assert_eq(setenv("WALRELAY_TEST_SECRET", "${env:HOME}", 1), 0);
    cr_assert_eq(expand("${env:WALRELAY_TEST_SECRET}"), WR_OK);
    cr_expect_str_eq(out.data, "${env:HOME}");
}

Test(secrets, names_a_variable_that_is_not_set)
{
    unsetenv("WALRELAY_TEST_SECRET");
    cr_expect_eq(expand("${env:WALRELAY_TEST_SECRET}"), WR_FATAL);
    cr_expect_str_eq(err.text, "environment variable WALRELAY_TEST_SECRET is not set");
    cr_expect(has_secret);
}

Test(secrets, reads_one_key_of_a_properties_file)
{
    static const char text[] = "# c\npassword = sword\\u0066ish\nother=1\na\\:b=2\n";

    write_file(text, sizeof(text) - 1);
    cr_assert_eq(expand_file("password"), WR_OK, "%s", err.text);
    cr_expect_str_eq(out.data, "swordfish");
    cr_assert_eq(expand_file("a:b"), WR_OK, "%s", err.text);
    cr_expect_str_eq(out.data, "2");
}

Test(secrets, takes_the_later_of_two_properties)
{
    static const char text[] = "password=old\npassword=swordfish\n";

    write_file(text, sizeof(text) - 1);
    cr_assert_eq(expand_file("password"), WR_OK);
    cr_expect_str_eq(out.data, "swordfish");
}

Test(secrets, reads_a_whole_file_without_the_blanks_around_it)
{
    write_file(" swordfish 2\n\n", 14);
    cr_assert_eq(expand_file(NULL), WR_OK, "%s", err.text);
    cr_expect_str_eq(out.data, "swordfish 2");
    write_file("\n", 1);
    cr_assert_eq(expand_file(NULL), WR_OK, "%s", err.text);
    cr_expect_str_eq(out.data, "");
}

Test(secrets, names_a_missing_key_and_not_what_is_there)
{
    static const char text[] = "password=swordfish\n";

    write_file(text, sizeof(text) - 1);
    cr_expect_eq(expand_file("passwort"), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "has no key passwort"));
    cr_expect_null(strstr(err.text, "swordfish"));
}

Test(secrets, names_a_file_that_cannot_be_read)
{
    cr_expect_eq(expand("${file:/nonexistent/secret:key}"), WR_FATAL);
    cr_expect_str_eq(err.text, "cannot open /nonexistent/secret: No such file or directory");
    cr_expect_eq(expand("${file:/}"), WR_FATAL);
    cr_expect_str_eq(err.text, "cannot read /: Is a directory");
}

Test(secrets, refuses_a_file_that_is_not_text)
{
    write_file("a\0b", 3);
    cr_expect_eq(expand_file(NULL), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "is not a text file"));
}

Test(secrets, refuses_a_file_beyond_the_bound)
{
    char *text = calloc(1, CONFIG_TEXT_SIZE_MAX + 1);

    memset(text, 'x', CONFIG_TEXT_SIZE_MAX + 1);
    write_file(text, CONFIG_TEXT_SIZE_MAX + 1);
    free(text);
    cr_expect_eq(expand_file(NULL), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "has more than 262144 bytes"));
}

Test(secrets, refuses_an_unknown_provider)
{
    cr_expect_eq(expand("${vault:secret/db:password}"), WR_FATAL);
    cr_expect_not_null(strstr(err.text, "unknown secret provider \"vault\""));
}
