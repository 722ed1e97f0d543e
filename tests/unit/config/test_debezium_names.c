/* No name that stands in a Debezium configuration is unknown: it loads, or has a line of its own.
 */
#include <stdio.h>

#include "load.h"

TestSuite(debezium_names, .fini = forget);

/* A list beside this file. */
static FILE *open_list(const char *name)
{
    const char *file = __FILE__;
    const char *end = strrchr(file, '/');
    char path[1024] = {0};

    cr_assert_not_null(end);
    snprintf(path, sizeof(path), "%.*s/%s", (int)(end - file), file, name);
    FILE *list = fopen(path, "r");
    cr_assert_not_null(list, "%s", path);
    return list;
}

/* The next line that is no comment, without its end. */
static bool read_line(FILE *list, char line[static 512])
{
    while (fgets(line, 512, list) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0' && line[0] != '#') {
            return true;
        }
    }
    return false;
}

static void expect_known(const char *what)
{
    for (size_t i = 0; i < problem_count; i++) {
        cr_expect_null(strstr(problems[i], "is not a property"), "%s: %s", what, problems[i]);
        cr_expect_null(strstr(problems[i], "did you mean"), "%s: %s", what, problems[i]);
    }
}

Test(debezium_names, are_all_known)
{
    FILE *list = open_list("debezium_names.txt");
    char line[512];
    size_t count = 0;

    for (; read_line(list, line); count++) {
        char text[1024];
        snprintf(text, sizeof(text), REQUIRED "%s\n", line);
        (void)load(text);
        expect_known(line);
    }
    fclose(list);
    cr_expect_gt(count, 190, "%zu names", count);
}

Test(debezium_names, that_are_refused_say_what_to_do)
{
    FILE *list = open_list("debezium_names.txt");
    char line[512];

    while (read_line(list, line)) {
        char text[1024];
        snprintf(text, sizeof(text), REQUIRED "%s\n", line);
        if (!load(text) && strstr(problems[0], "is not supported") != NULL) {
            const char *name = strstr(problems[0], line);
            cr_expect_not_null(name, "%s: %s", line, problems[0]);
            cr_expect_not_null(strchr(problems[0], ';'), "%s", problems[0]);
        }
    }
    fclose(list);
}

Test(debezium_names, of_transforms_are_all_known)
{
    FILE *list = open_list("debezium_transforms.txt");
    char line[512];
    size_t count = 0;

    for (; read_line(list, line); count++) {
        char text[1024];
        snprintf(text, sizeof(text), REQUIRED "transforms=t\ntransforms.t.type=%s\n", line);
        (void)load(text);
        for (size_t i = 0; i < problem_count; i++) {
            cr_expect_null(strstr(problems[i], "lists those that are"), "%s", problems[i]);
        }
    }
    fclose(list);
    cr_expect_gt(count, 40, "%zu transforms", count);
}

/* Their options are theirs: one line is enough. */
Test(debezium_names, of_refused_plugins_bring_no_line_of_their_own)
{
    cr_expect_not(load(REQUIRED "converters=isbn,point\nisbn.type=com.example.Isbn\n"
                                "isbn.schema.name=x\npoint.type=com.example.Point\n"));
    cr_expect_eq(problem_count, 1, "%s", problems[1]);
    cr_expect_not_null(strstr(problem(), "converters=isbn,point: is not supported; "));
}
