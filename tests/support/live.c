#include "support/live.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/clock.h"
#include "support/postgres.h"
#include "support/topic.h"

enum { LOG_SIZE_MAX = 1 << 20, POLL_MS = 50 };

static void make_directory(struct live *l)
{
    const char *parent = getenv("TMPDIR");

    snprintf(l->directory, sizeof(l->directory), "%s/walrelay-live-XXXXXX",
             parent == NULL ? P_tmpdir : parent);
    cr_assert_not_null(mkdtemp(l->directory));
    snprintf(l->log_path, sizeof(l->log_path), "%s/log", l->directory);
    snprintf(l->stdout_path, sizeof(l->stdout_path), "%s/stdout", l->directory);
}

static void set_defaults(struct live *l)
{
    live_set(l, "bootstrap.servers=%s", l->services.bootstrap);
    live_set(l, "database.hostname=%s", l->services.pg_host);
    live_set(l, "database.port=%s", l->services.pg_port);
    live_set(l, "database.user=%s", l->services.pg_user);
    live_set(l, "database.dbname=%s", l->name);
    live_set(l, "slot.name=%s", l->name);
    live_set(l, "publication.name=wr_pub");
    live_set(l, "topic.prefix=%s", l->prefix);
    live_set(l, "snapshot.mode=no_data");
    live_set(l, "status.update.interval.ms=500");
    live_set(l, "errors.retry.delay.max.ms=1000");
}

void live_open(struct live *l, const char *name)
{
    struct services services = l->services;
    char state_topic[128];

    if (services.pg_port == NULL) {
        services = *services_or_skip();
    }
    *l = (struct live){
        .services = services, .name = name, .slot = name, .process = {.has_ended = true}};
    snprintf(l->prefix, sizeof(l->prefix), "%s_%llx", name,
             (unsigned long long)wr_clock_realtime_ns());
    make_directory(l);
    set_defaults(l);
    /* All is new: Kafka must not remember a slot of that name. */
    snprintf(state_topic, sizeof(state_topic), "walrelay.state.%s", name);
    pg_create_database(&l->services, name);
    topic_delete(l->services.bootstrap, state_topic);
    l->sql = pg_open(&l->services, name);
}

void live_close(struct live *l)
{
    const char *const arguments[] = {"rm", "-rf", l->directory, NULL};

    if (l->sql == NULL) {
        return;
    }
    live_kill(l);
    PQfinish(l->sql);
    l->sql = NULL;
    if (strcmp(l->services.pg_port, services_or_skip()->pg_port) == 0) {
        pg_drop_database(&l->services, l->name); /* a server of its own goes as a whole */
    }
    (void)process_run(arguments, NULL);
}

static char *place_of(struct live *l, const char *setting)
{
    size_t name_size = strcspn(setting, "=") + 1;

    for (size_t i = 0; i < l->setting_count; i++) {
        if (strncmp(l->settings[i], setting, name_size) == 0) {
            return l->settings[i];
        }
    }
    cr_assert_lt(l->setting_count, LIVE_SETTING_COUNT_MAX);
    return l->settings[l->setting_count++];
}

void live_set(struct live *l, const char *format, ...)
{
    char setting[LIVE_SETTING_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(setting, sizeof(setting), format, arguments);
    va_end(arguments);
    memcpy(place_of(l, setting), setting, sizeof(setting));
}

void live_start_with(struct live *l, const char *const *arguments)
{
    /* The records are apart from the log, as a shell's > would have it. */
    const char *all[PROCESS_ARGUMENT_COUNT_MAX] = {
        "sh", "-c",           "out=$1; shift; exec \"$@\" >>\"$out\"",
        "sh", l->stdout_path, l->services.binary,
        "run"};
    size_t count = 7;

    for (size_t i = 0; arguments[i] != NULL; i++) {
        cr_assert_lt(count, PROCESS_ARGUMENT_COUNT_MAX - 1);
        all[count++] = arguments[i];
    }
    l->process = process_start(all, l->log_path);
}

void live_start(struct live *l, const char *option)
{
    static char settings[LIVE_PATH_SIZE + 32];
    const char *const arguments[] = {"-c", settings, option, NULL};

    snprintf(settings, sizeof(settings), "%s/relay.properties", l->directory);
    FILE *file = fopen(settings, "w");
    cr_assert_not_null(file, "%s", settings);
    for (size_t i = 0; i < l->setting_count; i++) {
        for (const char *c = l->settings[i]; *c != '\0'; c++) {
            fprintf(file, *c == '\\' ? "\\\\" : "%c", *c); /* Java's escape */
        }
        fputc('\n', file);
    }
    fclose(file);
    live_start_with(l, arguments);
}

void live_stream(struct live *l)
{
    live_start(l, NULL);
    live_wait_streaming(l);
}

void live_fail(const struct live *l, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    process_print_log(l->log_path);
    cr_assert(false, "%s: %s", l->name, text);
}

void live_run(const struct live *l, const char *sql)
{
    char path[LIVE_PATH_SIZE + 16];

    snprintf(path, sizeof(path), "%s/script.sql", l->directory);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(sql, file);
    fclose(file);
    pg_run_file(&l->services, l->name, path);
}

/* Waits until `sql` answers t, as long as walrelay runs. */
static void wait_until(struct live *l, const char *sql, const char *otherwise)
{
    int64_t end_us = wr_clock_monotonic_us() + LIVE_WAIT_MS * 1000;

    while (strcmp(pg_query(l->sql, sql), "t") != 0) {
        if (process_wait(&l->process, POLL_MS)) {
            live_fail(l, "walrelay ended by itself with exit code %d", l->process.exit_code);
        }
        if (wr_clock_monotonic_us() >= end_us) {
            live_fail(l, "%s", otherwise);
        }
    }
}

void live_wait_streaming(struct live *l)
{
    char sql[512];

    snprintf(sql, sizeof(sql),
             "select coalesce(bool_or(active), false) from pg_replication_slots"
             " where slot_name = '%s' and exists (select from pg_stat_replication r"
             " where r.pid = active_pid and r.state in ('catchup', 'streaming'))",
             l->slot);
    wait_until(l, sql, "walrelay does not stream");
}

void live_wait_confirmed(struct live *l)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "select coalesce(bool_or(confirmed_flush_lsn >= '%s'), false)"
             " from pg_replication_slots where slot_name = '%s'",
             pg_query(l->sql, "select pg_current_wal_flush_lsn()"), l->slot);
    wait_until(l, sql, "walrelay does not confirm the end of the WAL");
}

void live_wait_log(struct live *l, const char *text)
{
    int64_t end_us = wr_clock_monotonic_us() + LIVE_WAIT_MS * 1000;

    while (strstr(live_log(l), text) == NULL) {
        bool has_ended = process_wait(&l->process, POLL_MS);
        if (strstr(live_log(l), text) != NULL) {
            return;
        }
        if (has_ended || wr_clock_monotonic_us() >= end_us) {
            live_fail(l, "the log does not say \"%s\"", text);
        }
    }
}

int live_wait_exit(struct live *l)
{
    if (!process_wait(&l->process, LIVE_WAIT_MS)) {
        live_fail(l, "walrelay does not end");
    }
    return l->process.exit_code;
}

void live_stop(struct live *l)
{
    process_signal(&l->process, SIGTERM);
    int exit_code = live_wait_exit(l);
    if (exit_code != 0) {
        live_fail(l, "SIGTERM ended it with exit code %d", exit_code);
    }
}

void live_kill(struct live *l)
{
    process_signal(&l->process, SIGKILL);
    (void)live_wait_exit(l);
}

const char *live_log(const struct live *l)
{
    static char text[LOG_SIZE_MAX];
    FILE *log = fopen(l->log_path, "r");
    size_t size = log == NULL ? 0 : fread(text, 1, sizeof(text) - 1, log);

    text[size] = '\0';
    if (log != NULL) {
        fclose(log);
    }
    return text;
}

size_t live_log_count(const struct live *l, const char *text)
{
    size_t count = 0;

    for (const char *at = strstr(live_log(l), text); at != NULL; at = strstr(at, text)) {
        at += strcspn(at, "\n");
        count++;
    }
    return count;
}
