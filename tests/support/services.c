#include "support/services.h"

#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

static const char *variable_or(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value == NULL || value[0] == '\0' ? otherwise : value;
}

const struct services *services_or_skip(void)
{
    static struct services services;

    services = (struct services){
        .pg_host = variable_or("WALRELAY_TEST_PGHOST", "127.0.0.1"),
        .pg_port = variable_or("WALRELAY_TEST_PGPORT", NULL),
        .pg_user = variable_or("WALRELAY_TEST_PGUSER", "postgres"),
        .bootstrap = variable_or("WALRELAY_TEST_BOOTSTRAP", NULL),
        .binary = variable_or("WALRELAY_TEST_BINARY", WR_TEST_BINARY),
    };
    if (services.pg_port == NULL || services.bootstrap == NULL) {
        cr_assert(getenv("WALRELAY_TEST_REQUIRED") == NULL,
                  "WALRELAY_TEST_PGPORT and WALRELAY_TEST_BOOTSTRAP must be set");
        /* CTest looks for these words to count the test as skipped. */
        fprintf(stderr, "no services: run it through tests/run\n");
        cr_skip_test("no services");
    }
    return &services;
}

const char *services_source_path(const char *relative)
{
    static char path[4096];

    snprintf(path, sizeof(path), "%s/%s", WR_TEST_SOURCE_DIR, relative);
    return path;
}
