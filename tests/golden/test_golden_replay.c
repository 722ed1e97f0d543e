/* Every golden case from its recording: decoder, router and codec alone, in milliseconds. */
#include <stdio.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "config/config.h"
#include "golden/catalog_file.h"
#include "golden/replay.h"
#include "support/golden.h"
#include "support/records.h"

static void report(const char *problem)
{
    fprintf(stderr, "%s\n", problem);
}

/* The configuration of the live test, less what only a connection needs. */
static struct config *load_config(const struct golden_case *c)
{
    char worker[GOLDEN_PATH_SIZE];
    char own_worker[GOLDEN_PATH_SIZE];
    char connector[GOLDEN_PATH_SIZE];
    char dbname[GOLDEN_PATH_SIZE];
    struct config *config = NULL;
    struct wr_error err = {0};

    golden_path(c, "../worker.properties", worker);
    golden_path(c, "worker.properties", own_worker);
    golden_path(c, "connector.properties", connector);
    snprintf(dbname, sizeof(dbname), "database.dbname=%s", c->dbname);
    const struct config_source sources[] = {
        {.path = worker},
        {.path = golden_has(c, "worker.properties") ? own_worker : worker},
        {.path = connector},
        {.set = dbname},
        {.set = "database.hostname=127.0.0.1"},
        {.set = "database.user=postgres"},
    };
    enum wr_status status =
        config_load(sources, sizeof(sources) / sizeof(sources[0]), false, report, &config, &err);

    cr_assert_eq(status, WR_OK, "%s: %s", c->name, err.text);
    return config;
}

static void play(const struct golden_case *c, const struct config *config,
                 struct kafka_records *actual)
{
    char path[GOLDEN_PATH_SIZE];
    struct replay *replay = NULL;
    struct wr_error err = {0};

    golden_path(c, "catalog.ndjson", path);
    struct catalog_file *catalog = catalog_file_open(path);
    cr_assert_not_null(catalog);
    const struct catalog_source source = catalog_file_source(catalog);
    cr_assert_eq(replay_new(config, &source, actual, &replay, &err), WR_OK, "%s", err.text);
    if (golden_has(c, "snapshot.bin")) {
        golden_path(c, "snapshot.bin", path);
        cr_assert_eq(replay_snapshot(replay, path, &err), WR_OK, "%s: %s", c->name, err.text);
    }
    if (!golden_is_snapshot_alone(c)) {
        golden_path(c, "stream.bin", path);
        cr_assert_eq(replay_stream(replay, path, &err), WR_OK, "%s: %s", c->name, err.text);
    }
    replay_free(replay);
    catalog_file_close(catalog);
}

ParameterizedTestParameters(golden_replay, publishes_what_debezium_publishes)
{
    return golden_parameters();
}

ParameterizedTest(struct golden_case *c, golden_replay, publishes_what_debezium_publishes)
{
    struct kafka_records expected = {0};
    struct kafka_records actual = {0};
    char path[GOLDEN_PATH_SIZE];

    if (!golden_is_replayed(c)) {
        return;
    }
    golden_path(c, "expected.ndjson", path);
    cr_assert(records_read(&expected, path));
    struct config *config = load_config(c);
    play(c, config, &actual);
    cr_expect(records_equal(&expected, &actual, stderr), "%s: not what Debezium publishes",
              c->name);
    config_free(config);
    records_done(&expected);
    records_done(&actual);
}
