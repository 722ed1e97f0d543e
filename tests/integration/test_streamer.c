/* The replication connection against a real server: connecting, slot, stream, confirmation. */
#include <stdlib.h>
#include <unistd.h>

#include "integration/streamer_fixture.h"

static struct fixture f;

static enum wr_status connect_once(void)
{
    struct stream *stream = NULL;
    enum wr_status status = stream_connect(&f.config, &stream, &f.err);

    stream_close(stream);
    return status;
}

#define expect_text(part) cr_expect(strstr(f.err.text, (part)) != NULL, "%s", f.err.text)

Test(streamer, reads_the_identity)
{
    fixture_open(&f, "streamer_identity");
    struct stream *stream = NULL;

    cr_assert_eq(stream_connect(&f.config, &stream, &f.err), WR_OK, "%s", f.err.text);
    const struct stream_identity *identity = stream_identity(stream);
    cr_expect_eq(
        identity->system_identifier,
        strtoull(pg_query(f.sql, "select system_identifier from pg_control_system()"), NULL, 10));
    cr_expect_eq(identity->server_version, PQserverVersion(f.sql));
    cr_expect_eq(identity->wal_sender_timeout_ms, 60000);
    cr_expect_eq(identity->timeline, 1);
    cr_expect_gt(identity->wal_lsn, 0);
    stream_close(stream);
    fixture_close(&f);
}

Test(streamer, pins_what_a_database_has_set_otherwise)
{
    fixture_open(&f, "streamer_pins");
    pg_exec(f.sql, "alter database streamer_pins set datestyle = 'SQL, DMY';"
                   "alter database streamer_pins set intervalstyle = 'iso_8601';"
                   "alter database streamer_pins set timezone = 'Asia/Tokyo';"
                   "alter database streamer_pins set bytea_output = 'escape';"
                   "alter database streamer_pins set extra_float_digits = 0;"
                   "alter database streamer_pins set statement_timeout = '200ms';"
                   "create table t(id int primary key, d date, i interval, z timestamptz, b bytea,"
                   " f float8, r regclass);"
                   "create publication wr_pub for table t");
    struct stream *stream = fixture_stream(&f);
    pg_exec(f.sql, "insert into t values (1, '2024-02-03', '1 year 2 days', '2024-02-03 04:05Z',"
                   " '\\x00ff', 0.1::float8 + 0.2::float8, 't')");
    struct stream_event event = next_message(&f, stream, 'I');
    cr_expect(payload_has(&event, "2024-02-03"));
    cr_expect(payload_has(&event, "1 year 2 days"));
    cr_expect(payload_has(&event, "2024-02-03 04:05:00+00"));
    cr_expect(payload_has(&event, "\\x00ff"));
    cr_expect(payload_has(&event, "0.30000000000000004"));
    cr_expect(payload_has(&event, "public.t"));
    stream_close(stream);
    fixture_close(&f);
}

/* A Commit: 'C', flags, commit_lsn, end_lsn, time. */
static wr_lsn commit_end_lsn(const struct stream_event *commit)
{
    wr_lsn lsn = 0;

    for (int i = 0; i < 8; i++) {
        lsn = lsn << 8 | (unsigned char)commit->payload.data[10 + i];
    }
    return lsn;
}

Test(streamer, streams_one_message_an_event_and_starts_again_behind_what_was_confirmed)
{
    fixture_open(&f, "streamer_confirm");
    pg_exec(f.sql, "create table t(id int primary key, v text); create publication wr_pub for "
                   "table t");
    struct stream *stream = fixture_stream(&f);
    int64_t before_us = wr_clock_realtime_ns() / 1000;
    pg_exec(f.sql, "insert into t values (1, 'first-row')");
    struct stream_event event = next_message(&f, stream, 'R');
    cr_expect_eq(event.lsn, 0);
    event = next_message(&f, stream, 'I');
    cr_expect(payload_has(&event, "first-row"));
    cr_expect_gt(event.lsn, 0);
    cr_expect_lt(llabs(event.time_us - before_us), 60 * 1000 * 1000);
    event = next_message(&f, stream, 'C');
    wr_lsn end_lsn = commit_end_lsn(&event);
    cr_assert_eq(stream_confirm(stream, end_lsn, end_lsn, false, &f.err), WR_OK);
    cr_assert_eq(stream_stop(stream, 5000, &f.err), WR_OK, "%s", f.err.text);
    stream_close(stream);

    cr_expect_str_eq(pg_queryf(f.sql,
                               "select confirmed_flush_lsn = '" WR_LSN_FMT "' from"
                               " pg_replication_slots where slot_name = 'streamer_confirm'",
                               WR_LSN_ARGS(end_lsn)),
                     "t");
    pg_exec(f.sql, "insert into t values (2, 'second-row')");
    cr_assert_eq(stream_connect(&f.config, &stream, &f.err), WR_OK, "%s", f.err.text);
    cr_assert_eq(stream_start(stream, 0, true, &f.err), WR_OK, "%s", f.err.text);
    event = next_message(&f, stream, 'I');
    cr_expect(payload_has(&event, "second-row"));
    stream_close(stream);
    fixture_close(&f);
}

Test(streamer, flush_0_confirms_nothing)
{
    fixture_open(&f, "streamer_flush0");
    pg_exec(f.sql, "create table t(id int primary key); create publication wr_pub for table t");
    struct stream *stream = fixture_stream(&f);
    const char *lsn_sql = "select confirmed_flush_lsn from pg_replication_slots"
                          " where slot_name = 'streamer_flush0'";
    char before[64];
    struct stream_event event = {0};
    snprintf(before, sizeof(before), "%s", pg_query(f.sql, lsn_sql));

    pg_exec(f.sql, "insert into t values (1)");
    event = next_message(&f, stream, 'C');
    wr_lsn write = commit_end_lsn(&event);
    for (int i = 0; i < 3; i++) { /* a server that has all it sent written answers only if asked */
        cr_assert_eq(stream_confirm(stream, write, 0, true, &f.err), WR_OK);
        cr_assert_eq(next_event(&f, stream, &event), WR_OK, "no answer: %s", f.err.text);
        cr_assert_eq(event.kind, STREAM_KEEPALIVE);
        write = event.wal_end;
    }
    cr_expect_str_eq(pg_query(f.sql, lsn_sql), before);
    stream_close(stream);
    fixture_close(&f);
}

Test(streamer, keepalives_follow_wal_that_is_not_ours)
{
    fixture_open(&f, "streamer_keepalive");
    pg_exec(f.sql, "create table t(id int); create table noise(v text);"
                   "create publication wr_pub for table t");
    struct stream *stream = fixture_stream(&f);
    struct stream_event event = {0};
    wr_lsn target = 0;
    pg_exec(f.sql, "insert into noise select repeat('n', 100) from generate_series(1, 1000)");
    cr_assert(wr_lsn_parse(pg_query(f.sql, "select pg_current_wal_lsn()"), &target));
    int64_t end_us = wr_clock_monotonic_us() + FIXTURE_WAIT_MS * 1000;

    while (event.wal_end < target && wr_clock_monotonic_us() < end_us) {
        cr_assert_eq(stream_confirm(stream, target, 0, true, &f.err), WR_OK);
        cr_assert_eq(next_event(&f, stream, &event), WR_OK, "%s", f.err.text);
        cr_expect_eq(event.kind, STREAM_KEEPALIVE, "a change of another table came");
    }
    cr_expect_geq(event.wal_end, target);
    stream_close(stream);
    fixture_close(&f);
}

Test(streamer, quotes_the_publication_twice)
{
    fixture_open(&f, "streamer_quotes");
    pg_exec(f.sql, "create table t(id int primary key, v text);"
                   "create publication \"Wr \"\"Pub'\\,x\" for table t");
    f.config.publication_name = "Wr \"Pub'\\,x";
    struct stream *stream = fixture_stream(&f);
    pg_exec(f.sql, "insert into t values (1, 'came')");
    struct stream_event event = next_message(&f, stream, 'I');
    cr_expect(payload_has(&event, "came"));
    stream_close(stream);
    fixture_close(&f);
}

Test(streamer, delivers_logical_messages_only_when_asked)
{
    fixture_open(&f, "streamer_messages");
    pg_exec(f.sql, "create table t(id int primary key); create publication wr_pub for table t");
    struct stream *stream = fixture_stream(&f);
    pg_exec(f.sql, "select pg_logical_emit_message(false, 'p', 'content'); select pg_switch_wal()");
    struct stream_event event = next_message(&f, stream, 'M');
    cr_expect(payload_has(&event, "content"));
    stream_close(stream);

    pg_exec(f.sql, "insert into t values (1)");
    cr_assert_eq(stream_connect(&f.config, &stream, &f.err), WR_OK, "%s", f.err.text);
    cr_assert_eq(stream_start(stream, 0, false, &f.err), WR_OK, "%s", f.err.text);
    do {
        cr_assert_eq(next_event(&f, stream, &event), WR_OK, "%s", f.err.text);
        cr_expect(event.kind == STREAM_KEEPALIVE || event.payload.data[0] != 'M');
    } while (event.kind == STREAM_KEEPALIVE || event.payload.data[0] != 'I');
    stream_close(stream);
    fixture_close(&f);
}

Test(streamer, an_active_slot_is_tried_again_and_a_missing_one_is_not)
{
    fixture_open(&f, "streamer_active");
    pg_exec(f.sql, "create publication wr_pub");
    struct stream *first = fixture_stream(&f);
    struct stream *second = NULL;

    cr_assert_eq(stream_connect(&f.config, &second, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_eq(stream_start(second, 0, false, &f.err), WR_RETRY);
    expect_text("is active for PID");
    stream_close(second);
    f.config.slot_name = "no_such_slot"; /* a stream keeps the name that it was opened with */
    cr_assert_eq(stream_connect(&f.config, &second, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_eq(stream_start(second, 0, false, &f.err), WR_FATAL);
    expect_text("no_such_slot");
    stream_close(second);
    stream_close(first);
    fixture_close(&f);
}

Test(streamer, drops_its_slot)
{
    fixture_open(&f, "streamer_drop");
    pg_exec(f.sql, "create publication wr_pub");
    struct stream *stream = fixture_stream(&f);

    cr_assert_eq(stream_stop(stream, 5000, &f.err), WR_OK, "%s", f.err.text);
    cr_assert_eq(stream_drop_slot(stream, &f.err), WR_OK, "%s", f.err.text);
    cr_expect_str_eq(pg_query(f.sql, "select count(*) from pg_replication_slots where slot_name ="
                                     " 'streamer_drop'"),
                     "0");
    stream_close(stream);
    fixture_close(&f);
}

Test(streamer, a_terminated_stream_is_tried_again)
{
    fixture_open(&f, "streamer_killed");
    pg_exec(f.sql, "create publication wr_pub");
    struct stream *stream = fixture_stream(&f);
    struct stream_event event = {0};
    enum wr_status status = WR_OK;

    pg_exec(f.sql, "select pg_terminate_backend(active_pid) from pg_replication_slots"
                   " where slot_name = 'streamer_killed'");
    while (status == WR_OK) {
        status = next_event(&f, stream, &event);
    }
    cr_expect_eq(status, WR_RETRY);
    expect_text("57P01");
    stream_close(stream);
    fixture_close(&f);
}

Test(streamer, a_publication_that_is_not_there_stops)
{
    fixture_open(&f, "streamer_nopub");
    pg_exec(f.sql, "create table t(id int primary key)");
    struct stream *stream = fixture_stream(&f);
    struct stream_event event = {0};
    enum wr_status status = WR_OK;

    pg_exec(f.sql, "insert into t values (1)");
    while (status == WR_OK) {
        status = next_event(&f, stream, &event);
    }
    cr_expect_eq(status, WR_FATAL);
    expect_text("publication wr_pub");
    stream_close(stream);
    fixture_close(&f);
}

Test(streamer, a_wait_for_old_transactions_can_be_interrupted_and_leaves_no_slot)
{
    fixture_open(&f, "streamer_wait");
    PGconn *old = pg_open(f.services, "streamer_wait");
    struct stream *stream = NULL;
    const char *name = NULL;
    wr_lsn lsn = 0;
    int ends[2];

    pg_exec(old, "begin");
    pg_exec(old, "select txid_current()");
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(stream_connect(&f.config, &stream, &f.err), WR_OK, "%s", f.err.text);
    cr_assert_eq(write(ends[1], "x", 1), 1);
    streamer_abort_fd(ends[0]);
    cr_expect_eq(stream_create_snapshot_slot(stream, SNAPSHOT_SLOT_TEMPORARY, &name, &lsn, &f.err),
                 WR_RETRY);
    cr_expect_str_eq(f.err.text, "interrupted");
    streamer_abort_fd(-1);
    pg_exec(old, "commit");
    cr_expect(pg_query_becomes(f.sql,
                               "select count(*) from pg_replication_slots"
                               " where slot_name = 'streamer_wait'",
                               "0", 5000));
    stream_close(stream);
    PQfinish(old);
    fixture_close(&f);
}

Test(streamer, a_role_without_rights_gets_the_sql_that_helps)
{
    fixture_open(&f, "streamer_rights");
    pg_exec(f.sql, "drop role if exists streamer_low; create role streamer_low login");
    f.pairs[2].value = "streamer_low";
    cr_expect_eq(connect_once(), WR_FATAL);
    expect_text("ALTER ROLE \"streamer_low\" REPLICATION");
    f.pairs[2].value = "streamer_nobody";
    cr_expect_eq(connect_once(), WR_FATAL);
    expect_text("28000");
    f.pairs[2].value = f.services->pg_user;
    f.config.database_dbname = "streamer_no_such_database";
    cr_expect_eq(connect_once(), WR_FATAL);
    expect_text("check database.dbname");
    pg_exec(f.sql, "drop role streamer_low");
    fixture_close(&f);
}

Test(streamer, an_unreachable_server_is_tried_again_and_a_bad_setting_is_not)
{
    fixture_open(&f, "streamer_unreachable");
    f.pairs[1].value = "1";
    cr_expect_eq(connect_once(), WR_RETRY);
    expect_text("refused");
    f.pairs[1].value = f.services->pg_port;
    f.pairs[3] = (struct config_pair){"sslmode", "verify-full"};
    f.config.database.count = 4;
    cr_expect_eq(connect_once(), WR_FATAL, "%s", f.err.text);
    f.pairs[3].value = "sometimes";
    cr_expect_eq(connect_once(), WR_FATAL);
    expect_text("sslmode");
    fixture_close(&f);
}
