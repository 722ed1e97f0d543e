#include "support/golden.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "support/services.h"

void golden_path(const struct golden_case *c, const char *file, char out[GOLDEN_PATH_SIZE])
{
    snprintf(out, GOLDEN_PATH_SIZE, "%.*s/%s", GOLDEN_PATH_SIZE - 80, c->directory, file);
}

bool golden_has(const struct golden_case *c, const char *file)
{
    char path[GOLDEN_PATH_SIZE];

    golden_path(c, file, path);
    return access(path, R_OK) == 0;
}

static struct golden_case case_of(const char *root, const char *name)
{
    struct golden_case c = {0};

    snprintf(c.name, sizeof(c.name), "%s", name);
    snprintf(c.dbname, sizeof(c.dbname), "g_%s", c.name);
    for (char *p = c.dbname; *p != '\0'; p++) {
        *p = *p == '-' ? '_' : *p;
    }
    snprintf(c.directory, sizeof(c.directory), "%s/%s", root, c.name);
    return c;
}

static void free_cases(struct criterion_test_params *parameters)
{
    cr_free(parameters->params);
}

struct criterion_test_params golden_parameters(void)
{
    const char *root = services_source_path("tests/golden");
    const char *only = getenv("WALRELAY_TEST_CASE");
    struct dirent **entries = NULL;
    int entry_count = scandir(root, &entries, NULL, alphasort);
    struct golden_case *cases =
        cr_calloc((size_t)(entry_count < 0 ? 0 : entry_count) + 1, sizeof(*cases));
    size_t count = 0;

    for (int i = 0; i < entry_count; i++) {
        struct golden_case c = case_of(root, entries[i]->d_name);

        if (golden_has(&c, "expected.ndjson") && (only == NULL || strcmp(only, c.name) == 0)) {
            cases[count++] = c;
        }
        free(entries[i]);
    }
    free(entries);
    return cr_make_param_array(struct golden_case, cases, count, free_cases);
}

const char *golden_property(const struct golden_case *c, const char *name, const char *otherwise)
{
    static char line[4096];
    char path[GOLDEN_PATH_SIZE];
    size_t name_size = strlen(name);

    golden_path(c, "connector.properties", path);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, name_size) == 0 && line[name_size] == '=') {
            line[strcspn(line, "\n")] = '\0';
            fclose(file);
            return line + name_size + 1;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return otherwise;
}

bool golden_is_replayed(const struct golden_case *c)
{
    return golden_property(c, "snapshot.select.statement.overrides", "")[0] == '\0' &&
           golden_property(c, "snapshot.include.collection.list", "")[0] == '\0' &&
           golden_property(c, "signal.data.collection", "")[0] == '\0';
}

bool golden_is_snapshot_alone(const struct golden_case *c)
{
    return strcmp(golden_property(c, "snapshot.mode", "initial"), "initial_only") == 0;
}
