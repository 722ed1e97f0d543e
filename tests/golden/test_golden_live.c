/*
 * Every golden case, as its recording was made: a fresh database, walrelay in the place of
 * Debezium, the script, and what then stands in Kafka.
 */
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "support/golden.h"
#include "support/kafka.h"
#include "support/postgres.h"
#include "support/process.h"
#include "support/records.h"
#include "support/services.h"
#include "support/topic.h"

enum { STREAMING_TIMEOUT_MS = 60000, CONFIRMED_TIMEOUT_MS = 60000, STOP_TIMEOUT_MS = 60000 };

/* One running walrelay. */
struct run {
    const struct services *services;
    const struct golden_case *golden;
    struct process process;
    PGconn *connection;
    char log_path[64];
};

/* The command line that a user of this case would type. */
struct command_line {
    const char *arguments[PROCESS_ARGUMENT_COUNT_MAX];
    size_t count;
    char texts[24][GOLDEN_PATH_SIZE];
    size_t text_count;
};

static void add(struct command_line *line, const char *argument)
{
    cr_assert_lt(line->count, PROCESS_ARGUMENT_COUNT_MAX - 1);
    line->arguments[line->count++] = argument;
}

static void add_file(struct command_line *line, const struct golden_case *c, const char *file)
{
    char *path = line->texts[line->text_count++];

    golden_path(c, file, path);
    add(line, "-c");
    add(line, path);
}

static void add_setting(struct command_line *line, const char *name, const char *value)
{
    char *text = line->texts[line->text_count++];

    snprintf(text, GOLDEN_PATH_SIZE, "%s=%s", name, value);
    add(line, "--set");
    add(line, text);
}

static void start(struct run *run)
{
    struct command_line line = {0};
    const struct services *s = run->services;

    add(&line, s->binary);
    add(&line, "run");
    add_file(&line, run->golden, "../worker.properties");
    if (golden_has(run->golden, "worker.properties")) {
        add_file(&line, run->golden, "worker.properties");
    }
    add_file(&line, run->golden, "connector.properties");
    add_setting(&line, "name", run->golden->name);
    add_setting(&line, "connector.class", "io.debezium.connector.postgresql.PostgresConnector");
    add_setting(&line, "tasks.max", "1");
    add_setting(&line, "bootstrap.servers", s->bootstrap);
    add_setting(&line, "database.hostname", s->pg_host);
    add_setting(&line, "database.port", s->pg_port);
    add_setting(&line, "database.user", s->pg_user);
    add_setting(&line, "database.dbname", run->golden->dbname);
    add_setting(&line, "slot.name", run->golden->dbname);
    add_setting(&line, "publication.name", run->golden->dbname);
    run->process = process_start(line.arguments, run->log_path);
}

static void fail_with_log(struct run *run, const char *what)
{
    process_signal(&run->process, SIGKILL);
    process_print_log(run->log_path);
    unlink(run->log_path);
    cr_assert(false, "%s: %s", run->golden->name, what);
}

/* Waits until `sql` answers t, as long as walrelay runs. */
static void wait_until(struct run *run, const char *sql, int timeout_ms, const char *otherwise)
{
    for (int waited_ms = 0; waited_ms < timeout_ms; waited_ms += 100) {
        if (strcmp(pg_query(run->connection, sql), "t") == 0) {
            return;
        }
        if (process_wait(&run->process, 50)) {
            fail_with_log(run, "walrelay ended by itself");
        }
    }
    fail_with_log(run, otherwise);
}

static void wait_until_it_streams(struct run *run)
{
    char sql[512];

    snprintf(sql, sizeof(sql),
             "select coalesce(bool_or(active), false) from pg_replication_slots"
             " where slot_name = '%s' and exists (select from pg_stat_replication r"
             " where r.pid = active_pid and r.state in ('catchup', 'streaming'))",
             run->golden->dbname);
    wait_until(run, sql, STREAMING_TIMEOUT_MS, "walrelay does not stream");
}

static void wait_until_all_is_confirmed(struct run *run)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "select coalesce(bool_or(confirmed_flush_lsn >= '%s'), false)"
             " from pg_replication_slots where slot_name = '%s'",
             pg_query(run->connection, "select pg_current_wal_flush_lsn()"), run->golden->dbname);
    wait_until(run, sql, CONFIRMED_TIMEOUT_MS, "walrelay does not confirm the script's end");
}

/* A second slot, left from a snapshot, would hold the WAL for as long as walrelay runs. */
static void expect_one_slot(struct run *run)
{
    const char *others = pg_queryf(run->connection,
                                   "select 'left a slot beside its own: '"
                                   " || string_agg(slot_name, ', ') from pg_replication_slots"
                                   " where database = '%s' and slot_name <> '%s'",
                                   run->golden->dbname, run->golden->dbname);

    if (others[0] != '\0') {
        fail_with_log(run, others);
    }
}

static void stop_cleanly(struct run *run)
{
    process_signal(&run->process, SIGTERM);
    if (!process_wait(&run->process, STOP_TIMEOUT_MS)) {
        fail_with_log(run, "walrelay does not stop");
    }
    if (run->process.exit_code != 0) {
        fail_with_log(run, "walrelay did not end with exit code 0");
    }
}

/* snapshot.mode=initial_only: the script comes too late. */
static void wait_until_it_ends(struct run *run)
{
    if (!process_wait(&run->process, STOP_TIMEOUT_MS)) {
        fail_with_log(run, "walrelay does not end behind its snapshot");
    }
    if (run->process.exit_code != 0) {
        fail_with_log(run, "walrelay did not end with exit code 0");
    }
}

/* The bytes behind `name`, up to `end`, become `*`: the same on both sides. */
static struct wr_slice masked(struct wr_slice text, const char *name, char end, char *out)
{
    const char *at = memmem(text.data, text.size, name, strlen(name));
    const char *stop = at == NULL ? NULL : memchr(at + strlen(name), end, text.size);

    if (stop == NULL) {
        return text;
    }
    size_t head = (size_t)(at - text.data) + strlen(name);
    size_t tail = (size_t)(text.data + text.size - stop);
    memcpy(out, text.data, head);
    out[head] = '*';
    memcpy(out + head + 1, stop, tail);
    return (struct wr_slice){out, head + 1 + tail};
}

/* A notification less its time, and an id that is none of a signal. */
static void add_notification(struct kafka_records *list, const struct kafka_record *record)
{
    static char value[4096], key[512], once[4096];
    struct kafka_record copy = *record;
    bool is_of_signal = memmem(record->value.data, record->value.size, "Incremental", 11) != NULL;

    cr_assert(record->value.size < sizeof(value) && record->key.size < sizeof(key));
    copy.value = masked(record->value, "\"timestamp\":", '}', value);
    if (!is_of_signal) {
        copy.key = masked(record->key, "\"id\":\"", '"', key);
        copy.value = masked(copy.value, "{\"id\":\"", '"', once);
    }
    records_add(list, &copy);
}

/* The compare-topics of a case: what of `list` is compared. */
static void keep_compared(const struct golden_case *c, struct kafka_records *list)
{
    char notifications[256];
    char pattern[256] = "";
    char path[GOLDEN_PATH_SIZE];
    struct kafka_records kept = {0};
    regex_t regex;

    if (!golden_has(c, "compare-topics")) {
        return;
    }
    golden_path(c, "compare-topics", path);
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL && fgets(pattern, sizeof(pattern), file) != NULL);
    fclose(file);
    pattern[strcspn(pattern, "\n")] = '\0';
    cr_assert_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0, "%s", pattern);
    snprintf(notifications, sizeof(notifications), "%s",
             golden_property(c, "notification.sink.topic.name", ""));
    for (size_t i = 0; i < list->count; i++) {
        const struct kafka_record *record = &list->items[i];
        char *topic = strndup(record->topic.data, record->topic.size);
        if (strcmp(topic, notifications) == 0) {
            add_notification(&kept, record);
        } else if (regexec(&regex, topic, 0, NULL, 0) == 0) {
            records_add(&kept, record);
        }
        free(topic);
    }
    regfree(&regex);
    records_done(list);
    *list = kept;
}

static void compare(struct run *run, struct kafka_reader *reader)
{
    struct kafka_records expected = {0};
    struct kafka_records actual = {0};
    char path[GOLDEN_PATH_SIZE];

    golden_path(run->golden, "expected.ndjson", path);
    cr_assert(records_read(&expected, path));
    kafka_reader_read(reader, &actual);
    keep_compared(run->golden, &expected);
    keep_compared(run->golden, &actual);
    cr_assert_gt(expected.count, 0);
    if (!records_equal(&expected, &actual, stderr)) {
        fail_with_log(run, "not what Debezium publishes");
    }
    records_done(&expected);
    records_done(&actual);
}

/* PostGIS is a package of its own, which only the server of PostgreSQL 15 has beside it. */
static void skip_without_extensions(const struct run *run)
{
    static const char CREATE[] = "create extension ";
    static char sql[1 << 16];
    char path[GOLDEN_PATH_SIZE];

    golden_path(run->golden, "setup.sql", path);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s cannot be read", path);
    sql[fread(sql, 1, sizeof(sql) - 1, file)] = '\0';
    fclose(file);
    PGconn *connection = pg_open(run->services, NULL);
    for (const char *p = strstr(sql, CREATE); p != NULL; p = strstr(p, CREATE)) {
        p += strlen(CREATE);
        int size = (int)strcspn(p, "; \n");
        const char *count =
            pg_queryf(connection,
                      "select count(*) from pg_available_extensions where name = '%.*s'", size, p);
        if (strcmp(count, "0") == 0) {
            fprintf(stderr, "no services: the server lacks the extension %.*s\n", size, p);
            cr_skip_test("the server lacks the extension %.*s", size, p);
        }
    }
    PQfinish(connection);
}

static void run_case(const struct golden_case *c)
{
    struct run run = {.services = services_or_skip(), .golden = c};
    char path[GOLDEN_PATH_SIZE];
    char state_topic[128];

    skip_without_extensions(&run);
    snprintf(run.log_path, sizeof(run.log_path), "/tmp/walrelay-golden-%d.log", (int)getpid());
    pg_create_database(run.services, c->dbname);
    snprintf(state_topic, sizeof(state_topic), "walrelay.state.%s", c->dbname);
    topic_delete(run.services->bootstrap, state_topic);
    golden_path(c, "setup.sql", path);
    pg_run_file(run.services, c->dbname, path);
    run.connection = pg_open(run.services, c->dbname);
    struct kafka_reader *reader = kafka_reader_new(run.services->bootstrap);

    start(&run);
    if (golden_is_snapshot_alone(c)) {
        wait_until_it_ends(&run);
    } else {
        wait_until_it_streams(&run);
    }
    golden_path(c, "script.sql", path);
    pg_run_file(run.services, c->dbname, path);
    if (!golden_is_snapshot_alone(c)) {
        wait_until_all_is_confirmed(&run);
        expect_one_slot(&run);
        stop_cleanly(&run);
    }
    compare(&run, reader);

    kafka_reader_free(reader);
    PQfinish(run.connection);
    pg_drop_database(run.services, c->dbname);
    unlink(run.log_path);
}

ParameterizedTestParameters(golden_live, publishes_what_debezium_publishes)
{
    return golden_parameters();
}

ParameterizedTest(struct golden_case *c, golden_live, publishes_what_debezium_publishes)
{
    run_case(c);
}
