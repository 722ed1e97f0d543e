#include "support/server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "support/process.h"
#include "support/services.h"

enum {
    ARGUMENT_COUNT_MAX = 32,
    PORT_FIRST = 20000,
    PORT_COUNT = 9998,
    PORT_TRIES = 200,
    CONTROL_TIMEOUT_MS = 180000,
};

static bool is_free(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    bool is_bound = bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return is_bound;
}

/* Below the range of outgoing connections, as tests/support/lib.sh; Kafka takes the next one too.
 */
static int choose_port(void)
{
    int start = (int)getpid();

    for (int i = 0; i < PORT_TRIES; i++) {
        int port = PORT_FIRST + (start + 2 * i) % PORT_COUNT;
        if (is_free(port) && is_free(port + 1)) {
            return port;
        }
    }
    cr_assert(false, "no free port");
    return 0;
}

static const char *script_of(const struct server *s)
{
    static const char *const scripts[] = {
        [SERVER_POSTGRES] = "tests/support/postgres",
        [SERVER_KAFKA] = "tests/support/kafka",
        [SERVER_REDIS] = "tests/support/redis",
        [SERVER_OPENSEARCH] = "tests/support/opensearch",
    };

    return services_source_path(scripts[s->kind]);
}

/* Runs the script of tests/support that is for this kind. */
static void control(const struct server *s, const char *verb, const char *argument,
                    const char *const *settings)
{
    char script[512];
    const char *arguments[ARGUMENT_COUNT_MAX] = {script, verb, s->directory, argument};

    snprintf(script, sizeof(script), "%s", script_of(s));
    for (size_t i = 0; settings != NULL && settings[i] != NULL; i++) {
        arguments[i + 4] = settings[i];
    }
    struct process p = process_start(arguments, NULL);
    cr_assert(process_wait(&p, CONTROL_TIMEOUT_MS) && p.exit_code == 0, "%s %s %s", script, verb,
              s->directory);
}

void server_open(struct server *s, enum server_kind kind, const char *const *settings)
{
    const char *parent = getenv("TMPDIR");
    int port = choose_port();

    *s = (struct server){.kind = kind};
    snprintf(s->directory, sizeof(s->directory), "%s/walrelay-server-XXXXXX",
             parent == NULL ? P_tmpdir : parent);
    cr_assert_not_null(mkdtemp(s->directory));
    cr_assert_eq(chmod(s->directory, 0755), 0); /* PostgreSQL's user must get through */
    snprintf(s->port, sizeof(s->port), "%d", port);
    snprintf(s->address, sizeof(s->address), "127.0.0.1:%d", port);
    control(s, "start", s->port, settings);
}

void server_stop(struct server *s, bool at_once)
{
    if (s->kind != SERVER_POSTGRES) {
        control(s, "stop", at_once ? "KILL" : NULL, NULL);
    } else {
        control(s, "stop", at_once ? "immediate" : "fast", NULL);
    }
}

void server_start_again(struct server *s, const char *const *settings)
{
    control(s, "start", s->port, settings);
}

void server_signal(const struct server *s, int number)
{
    char path[300];
    int pid = 0;

    snprintf(path, sizeof(path), "%s/pid", s->directory);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fscanf(file, "%d", &pid), 1);
    fclose(file);
    cr_assert_eq(kill(pid, number), 0);
}

void server_close(struct server *s)
{
    const char *const arguments[] = {"rm", "-rf", s->directory, NULL};

    if (s->directory[0] == '\0') {
        return;
    }
    bool is_postgres = s->kind == SERVER_POSTGRES;
    (void)process_run((const char *const[]){script_of(s), "stop", s->directory,
                                            is_postgres ? "immediate" : "KILL", NULL},
                      NULL);
    (void)process_run(arguments, NULL);
    s->directory[0] = '\0';
}

void server_open_search(struct server *s)
{
    const char *directory = getenv("WALRELAY_TEST_SEARCH_DIR");
    const char *port = getenv("WALRELAY_TEST_SEARCH_PORT");

    if (directory == NULL || port == NULL) {
        cr_assert(getenv("WALRELAY_TEST_REQUIRED") == NULL,
                  "WALRELAY_TEST_SEARCH_DIR and WALRELAY_TEST_SEARCH_PORT must be set");
        fprintf(stderr, "no services: run it through tests/run\n");
        cr_skip_test("no OpenSearch");
    }
    *s = (struct server){.kind = SERVER_OPENSEARCH};
    snprintf(s->directory, sizeof(s->directory), "%s", directory);
    snprintf(s->port, sizeof(s->port), "%s", port);
    snprintf(s->address, sizeof(s->address), "127.0.0.1:%s", port);
}
