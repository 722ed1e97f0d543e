/* A server of the test's own, which refuses: passwords, wal_level, connections, a lost slot. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "integration/streamer_fixture.h"
#include "support/process.h"

static char directory[256];
static char port[16];
static struct services server;
static struct fixture f;
static PGconn *sql;

/* A port that nobody listens on just now. */
static void choose_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    cr_assert_eq(bind(fd, (const struct sockaddr *)&address, size), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    snprintf(port, sizeof(port), "%d", ntohs(address.sin_port));
    close(fd);
}

static int control(const char *verb, const char *argument, const char *setting)
{
    const char *const arguments[] = {services_source_path("tests/support/postgres"),
                                     verb,
                                     directory,
                                     argument,
                                     setting,
                                     "max_slot_wal_keep_size=1MB",
                                     NULL};

    return process_run(arguments, NULL);
}

static void start(const char *wal_level)
{
    cr_assert_eq(control("start", port, wal_level), 0, "the server does not start");
    sql = pg_open(&server, NULL);
}

static void stop(void)
{
    PQfinish(sql);
    sql = NULL;
    (void)control("stop", "fast", NULL);
}

static void set_up(void)
{
    const char *parent = getenv("TMPDIR");

    server = *services_or_skip();
    snprintf(directory, sizeof(directory), "%s/walrelay-refusals-XXXXXX",
             parent == NULL ? P_tmpdir : parent);
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chmod(directory, 0755), 0);
    choose_port();
    server.pg_port = port;
    f.pairs[0] = (struct config_pair){"host", server.pg_host};
    f.pairs[1] = (struct config_pair){"port", port};
    f.pairs[2] = (struct config_pair){"user", "low"};
    f.pairs[3] = (struct config_pair){"password", "wrong-secret"};
    f.config = (struct config){.database = {f.pairs, 4},
                               .database_dbname = "postgres",
                               .slot_name = "refused",
                               .publication_name = "wr_pub"};
}

static void tear_down(void)
{
    const char *const arguments[] = {"rm", "-rf", directory, NULL};

    if (sql != NULL) {
        stop();
    }
    if (directory[0] != '\0') {
        (void)process_run(arguments, NULL);
    }
}

TestSuite(refusals, .init = set_up, .fini = tear_down);

static enum wr_status connect_once(void)
{
    struct stream *stream = NULL;
    enum wr_status status = stream_connect(&f.config, &stream, &f.err);

    stream_close(stream);
    return status;
}

#define expect_text(part) cr_expect(strstr(f.err.text, (part)) != NULL, "%s", f.err.text)

/* Everybody but the superuser is asked for a password from now on. */
static void ask_for_passwords(void)
{
    char rules[512];

    snprintf(rules, sizeof(rules),
             "copy (values ('host all postgres 127.0.0.1/32 trust'),"
             " ('host all low 127.0.0.1/32 scram-sha-256')) to '%s/data/pg_hba.conf'",
             directory);
    pg_exec(sql, rules);
    pg_exec(sql, "select pg_reload_conf()");
    sleep_ms(200);
}

Test(refusals, a_wrong_password_stops_and_is_never_repeated)
{
    start("wal_level=logical");
    pg_exec(sql, "create role low login replication password 'a b%I\\Gy:g''q\"=#é'");
    ask_for_passwords();
    cr_expect_eq(connect_once(), WR_FATAL);
    expect_text("28P01");
    expect_text("check database.user and database.password");
    cr_expect_null(strstr(f.err.text, "wrong-secret"));
    f.config.database.count = 3;
    unsetenv("PGPASSWORD");
    cr_expect_eq(connect_once(), WR_FATAL);
    expect_text("set database.password");
    f.config.database.count = 4;
    f.pairs[3].value = "a b%I\\Gy:g'q\"=#é";
    cr_expect_eq(connect_once(), WR_OK, "%s", f.err.text);
    f.pairs[2].value = "stranger";
    cr_expect_eq(connect_once(), WR_FATAL);
    expect_text("pg_hba.conf");
}

Test(refusals, another_wal_level_stops_with_the_setting_that_helps)
{
    start("wal_level=replica");
    f.pairs[2].value = "postgres";
    cr_expect_eq(connect_once(), WR_FATAL);
    expect_text("wal_level is replica");
    expect_text("ALTER SYSTEM SET wal_level = logical;");
}

Test(refusals, no_connection_left_is_tried_again)
{
    start("max_wal_senders=1");
    f.pairs[2].value = "postgres";
    struct stream *stream = NULL;
    cr_assert_eq(stream_connect(&f.config, &stream, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_eq(connect_once(), WR_RETRY);
    expect_text("53300");
    stream_close(stream);
}

Test(refusals, a_lost_slot_stops)
{
    start("wal_level=logical");
    f.pairs[2].value = "postgres";
    struct catalog *catalog = catalog_new(&f.config);
    struct slot_state slot = {0};
    struct stream *stream = NULL;
    pg_exec(sql, "create publication wr_pub; create table t(v text)");
    pg_exec(sql, "select pg_create_logical_replication_slot('refused', 'pgoutput')");
    for (int i = 0; i < 6; i++) {
        pg_exec(sql, "insert into t select repeat('w', 1000) from generate_series(1, 1000)");
        pg_exec(sql, "select pg_switch_wal()");
    }
    pg_exec(sql, "checkpoint");
    cr_assert_eq(catalog_slot(catalog, &slot, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(slot.wal_status, "lost");
    cr_assert_eq(stream_connect(&f.config, &stream, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_eq(stream_start(stream, 0, false, &f.err), WR_FATAL);
    expect_text("55000");
    expect_text("only dropping it and a new snapshot help");
    stream_close(stream);
    catalog_free(catalog);
}

Test(refusals, a_server_that_stops_is_tried_again)
{
    start("wal_level=logical");
    f.pairs[2].value = "postgres";
    struct stream_event event = {0};
    enum wr_status status = WR_OK;
    pg_exec(sql, "create publication wr_pub");
    struct stream *stream = fixture_stream(&f);
    PQfinish(sql);
    sql = NULL;
    (void)control("stop", "immediate", NULL);
    while (status == WR_OK) {
        status = next_event(&f, stream, &event);
    }
    cr_expect_eq(status, WR_RETRY, "%s", f.err.text);
    cr_expect_eq(connect_once(), WR_RETRY, "%s", f.err.text);
    stream_close(stream);
}
