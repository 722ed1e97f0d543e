/* config/load.h - a configuration from text, and the problems that were found in it. */
#ifndef WR_TESTS_CONFIG_LOAD_H
#define WR_TESTS_CONFIG_LOAD_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "config/config.h"
#include "config/transform_config.h"

/* What every configuration needs; the tests put their own lines behind it. */
#define REQUIRED "topic.prefix=p\ndatabase.dbname=d\n"

enum { PROBLEM_COUNT_MAX = 64 };

static char *problems[PROBLEM_COUNT_MAX];
static size_t problem_count;
static struct config *config;

static inline void keep_problem(const char *problem)
{
    cr_assert_lt(problem_count, PROBLEM_COUNT_MAX);
    problems[problem_count++] = strdup(problem);
}

static inline void forget(void)
{
    config_free(config);
    config = NULL;
    while (problem_count > 0) {
        free(problems[--problem_count]);
    }
}

/* Writes a file that ends with the process; `path` takes its name. */
static inline void write_file(char path[static 32], const char *text)
{
    strncpy(path, "/tmp/wr-config-XXXXXX", 32);
    int fd = mkstemp(path);

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static inline bool load_sources(const struct config_source *sources, size_t count)
{
    struct wr_error err = {0};

    forget();
    enum wr_status status = config_load(sources, count, true, keep_problem, &config, &err);
    cr_expect_eq(status == WR_OK, problem_count == 0);
    cr_expect_eq(status == WR_OK, config != NULL);
    return status == WR_OK;
}

/* Loads one file of this text. */
static inline bool load(const char *text)
{
    char path[32] = {0};

    write_file(path, text);
    const struct config_source source = {.path = path};
    bool is_loaded = load_sources(&source, 1);
    unlink(path);
    return is_loaded;
}

/* The only problem, less the name of its file; "" when there is none. */
static inline const char *problem(void)
{
    const char *text = problem_count == 0 ? "" : problems[0];
    const char *colon = strchr(text, ':');

    cr_expect_leq(problem_count, 1, "%s", problem_count > 1 ? problems[1] : "");
    return strncmp(text, "/tmp/", 5) == 0 && colon != NULL ? colon + 1 : text;
}

/* The value of a pair; NULL where there is none. */
static inline const char *pair(const struct config_pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->items[i].name, name) == 0) {
            return pairs->items[i].value;
        }
    }
    return NULL;
}

/* Equal, also when both are NULL. */
static inline bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

#define expect_text(actual, expected)                                                              \
    cr_expect(is_same((actual), (expected)), "is %s", (actual) == NULL ? "NULL" : (actual))
#define expect_loads(text)                                                                         \
    cr_assert(load(text), "%s", problem_count > 0 ? problems[0] : "no problem was reported")
#define expect_refused(text, expected)                                                             \
    do {                                                                                           \
        cr_expect_not(load(text));                                                                 \
        cr_expect_str_eq(problem(), (expected));                                                   \
    } while (0)

#endif /* WR_TESTS_CONFIG_LOAD_H */
