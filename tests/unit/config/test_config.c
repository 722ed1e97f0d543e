#include <glob.h>

#include "load.h"

TestSuite(config, .fini = forget);

/* The configuration of the system that walrelay was made for, as it was handed over. */
static const char handed_over[] =
    "{\"name\": \"order-outbox\", \"config\": {\"connector.class\": "
    "\"io.debezium.connector.postgresql.PostgresConnector\",\n"
    " \"database.hostname\": \"order-db\", \"database.port\": \"5432\", \"database.user\": "
    "\"debezium\", \"database.password\": \"debezium\", \"database.dbname\": \"order\",\n"
    " \"topic.prefix\": \"order\", \"plugin.name\": \"pgoutput\", \"table.include.list\": "
    "\"public.outbox\", \"transforms\": \"outbox\",\n"
    " \"transforms.outbox.type\": \"io.debezium.transforms.outbox.EventRouter\", "
    "\"transforms.outbox.table.field.event.id\": \"event_id\",\n"
    " \"transforms.outbox.table.field.event.key\": \"aggregate_id\", "
    "\"transforms.outbox.route.by.field\": \"aggregate_type\",\n"
    " \"transforms.outbox.route.topic.replacement\": \"${routedByValue}-events\"}}";

Test(config, loads_what_was_handed_over_unchanged)
{
    expect_loads(handed_over);
    expect_text(pair(&config->database, "host"), "order-db");
    expect_text(pair(&config->database, "port"), "5432");
    expect_text(pair(&config->database, "user"), "debezium");
    expect_text(pair(&config->database, "password"), "debezium");
    expect_text(config->database_dbname, "order");
    expect_text(config->topic_prefix, "order");
    expect_text(config->table_include_list, "public.outbox");
    expect_text(pair(&config->kafka, "bootstrap.servers"), "localhost:9092");
    cr_assert_eq(config->transform_count, 1);
    const struct event_router_config *router = &config->transforms[0].as.event_router;
    expect_text(router->field_event_id, "event_id");
    expect_text(router->field_event_key, "aggregate_id");
    expect_text(router->field_event_payload, "payload");
    expect_text(router->route_by_field, "aggregate_type");
    expect_text(router->route_topic_replacement, "${routedByValue}-events");
}

Test(config, has_debeziums_defaults)
{
    expect_loads(REQUIRED);
    expect_text(config->slot_name, "debezium");
    cr_expect_not(config->slot_drop_on_stop);
    expect_text(config->publication_name, "dbz_publication");
    cr_expect_eq(config->publication_autocreate_mode, AUTOCREATE_ALL_TABLES);
    cr_expect_not(config->publish_via_partition_root);
    cr_expect_eq(config->status_update_interval_ms, 10000);
    cr_expect_eq(config->retry_backoff_ms_min, 300);
    cr_expect_eq(config->retry_backoff_ms_max, 10000);
    cr_expect_eq(config->errors_max_retries, -1);
    cr_expect_eq(config->database_query_timeout_ms, 600000);
    cr_expect_eq(config->snapshot_mode, SNAPSHOT_INITIAL);
    cr_expect(config->skip_truncate);
    cr_expect_not(config->skip_create || config->skip_update || config->skip_delete);
    expect_text(config->topic_delimiter, ".");
    cr_expect(config->tombstones_on_delete);
    cr_expect(config->extended_headers_enabled);
    cr_expect_eq(config->decimal_handling_mode, DECIMAL_HANDLING_PRECISE);
    cr_expect_eq(config->binary_handling_mode, BINARY_HANDLING_BYTES);
    cr_expect_eq(config->time_precision_mode, TIME_PRECISION_ADAPTIVE);
    cr_expect_eq(config->interval_handling_mode, INTERVAL_HANDLING_NUMERIC);
    cr_expect_eq(config->hstore_handling_mode, HSTORE_HANDLING_JSON);
    cr_expect_not(config->include_unknown_datatypes);
    cr_expect_eq(config->money_fraction_digits, 2);
    expect_text(config->unavailable_value_placeholder, "__debezium_unavailable_value");
    cr_expect_eq(config->errors_tolerance, TOLERANCE_NONE);
    expect_text(config->dead_letter_topic, NULL);
    cr_expect_gt(config->inflight_bytes_max, 0); /* never Debezium's "no bound" */
    cr_expect_eq(config->flush_timeout_ms, 30000);
    expect_text(config->table_include_list, NULL);
    expect_text(pair(&config->database, "keepalives"), "1");
}

Test(config, takes_what_differs_from_the_defaults)
{
    expect_loads(REQUIRED "slot.name=s_1\nslot.drop.on.stop=TRUE\npublication.name=pub\n"
                          "publication.autocreate.mode=Filtered\nsnapshot.mode=never\n"
                          "skipped.operations=c, d\ntopic.delimiter=_\n"
                          "decimal.handling.mode=string\nbinary.handling.mode=base64-url-safe\n"
                          "time.precision.mode=isostring\ninterval.handling.mode=string\n"
                          "hstore.handling.mode=map\n"
                          "errors.tolerance=all\nerrors.deadletterqueue.topic.name=dead\n"
                          "max.queue.size.in.bytes=1000\nerrors.max.retries=-1\n"
                          "database.tcpKeepAlive=false\ndatabase.sslmode=VERIFY_FULL\n"
                          "column.mask.with.5.chars=a.b.c\ncolumn.truncate.to.0.chars=d\n"
                          "message.key.columns=a.b:c,d;e.f:g\n"
                          "database.initial.statements=set a = ';;';  select 1;\n");
    expect_text(config->slot_name, "s_1");
    cr_expect(config->slot_drop_on_stop);
    expect_text(config->publication_name, "pub");
    cr_expect_eq(config->publication_autocreate_mode, AUTOCREATE_FILTERED);
    cr_expect_eq(config->snapshot_mode, SNAPSHOT_NO_DATA);
    cr_expect(config->skip_create && config->skip_delete);
    cr_expect_not(config->skip_update || config->skip_truncate);
    expect_text(config->topic_delimiter, "_");
    cr_expect_eq(config->decimal_handling_mode, DECIMAL_HANDLING_STRING);
    cr_expect_eq(config->binary_handling_mode, BINARY_HANDLING_BASE64_URL_SAFE);
    cr_expect_eq(config->time_precision_mode, TIME_PRECISION_ISOSTRING);
    cr_expect_eq(config->interval_handling_mode, INTERVAL_HANDLING_STRING);
    cr_expect_eq(config->hstore_handling_mode, HSTORE_HANDLING_MAP);
    cr_expect_eq(config->errors_tolerance, TOLERANCE_ALL);
    expect_text(config->dead_letter_topic, "dead");
    cr_expect_eq(config->inflight_bytes_max, 1000);
    expect_text(pair(&config->database, "keepalives"), "0");
    expect_text(pair(&config->database, "sslmode"), "verify-full"); /* as libpq spells it */
    cr_assert_eq(config->column_rule_count, 2);
    cr_expect(config->column_rules[0].is_mask);
    cr_expect_eq(config->column_rules[0].size, 5);
    expect_text(config->column_rules[0].columns, "a.b.c");
    cr_expect_not(config->column_rules[1].is_mask);
    cr_expect_eq(config->column_rules[1].size, 0);
    expect_text(config->message_key_columns, "a.b:c,d;e.f:g");
    cr_assert_eq(config->initial_statements.count, 2);
    expect_text(config->initial_statements.items[0].value, "set a = ';'");
    expect_text(config->initial_statements.items[1].value, "select 1");
}

Test(config, reports_all_problems_in_the_order_of_their_lines)
{
    cr_expect_not(load("snapshot.mode=custom\n"
                       "topic.prefx=x\n"
                       "\n"
                       "database.port=70000\n"
                       "table.include.list=public.(\n"));
    static const char *const expected[] = {
        ":1: snapshot.mode=custom: is not supported; use initial, no_data, always, "
        "initial_only, "
        "when_needed or configuration_based",
        ":2: topic.prefx: is not a property; did you mean topic.prefix?",
        ":4: database.port=70000: must be a whole number from 1 to 65535",
        ":5: table.include.list=public.(: \"public.(\" is not a regular expression: missing "
        "closing parenthesis at offset 8",
        "database.dbname: is required: database to read",
        "topic.prefix: is required: first part of the topics of change events: "
        "<prefix>.<schema>.<table>",
    };
    cr_assert_eq(problem_count, sizeof(expected) / sizeof(expected[0]));
    for (size_t i = 0; i < problem_count; i++) {
        cr_expect_not_null(strstr(problems[i], expected[i]), "%s", problems[i]);
    }
}

/* One line each, and the only problem. */
Test(config, says_what_is_wrong_with_a_value)
{
    static const struct {
        const char *line;
        const char *problem;
    } cases[] = {
        {"tombstones.on.delete=yes", "must be true or false"},
        {"shutdown.timeout.ms=six", "must be a whole number from 0 to 2147483647"},
        {"shutdown.timeout.ms=-1", "must be a whole number from 0 to 2147483647"},
        {"shutdown.timeout.ms=99999999999999999999", "must be a whole number from 0 to 2147483647"},
        {"max.batch.size=many", "must be a whole number"},
        {"slot.name=Upper", "must be at most 63 lower-case letters, digits and underscores"},
        {"topic.prefix=a b", "must be of letters, digits, dots, hyphens and underscores"},
        {"topic.delimiter=/", "must be of letters, digits, dots, hyphens and underscores"},
        {"decimal.handling.mode=exact", "must be precise, double or string"},
        {"plugin.name=wal2json", "must be pgoutput"},
        {"plugin.name=decoderbufs", "is not supported; use pgoutput"},
        {"skipped.operations=x", "must be none, or a list of c, u, d and t"},
        {"skipped.operations=none,c",
         "has none and other operations; use none alone or leave it out"},
        {"message.key.columns=a.b", "must be schema.table:column,column and more of them behind ;"},
        {"column.mask.with.99999999999.chars=a",
         "the number in the name must be at most 2147483647"},
        {"max.queue.size.in.bytes=-1", "must be a whole number of bytes from 0 to 2147483647"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512] = {0};
        snprintf(text, sizeof(text), REQUIRED "%s\n", cases[i].line);
        cr_expect_not(load(text), "%s", cases[i].line);
        snprintf(text, sizeof(text), "3: %s: %s", cases[i].line, cases[i].problem);
        cr_expect_str_eq(problem(), text);
    }
}

Test(config, takes_a_placeholder_as_text_or_as_its_bytes)
{
    static const char *const bad[] = {"hex:", "hex:4", "hex:4g", "hex:00", "hex:6100", "hex:ff"};

    expect_loads(REQUIRED "unavailable.value.placeholder=hexagon\n");
    expect_text(config->unavailable_value_placeholder, "hexagon");
    expect_loads(REQUIRED "unavailable.value.placeholder=hex:676F6eC3a9\n");
    expect_text(config->unavailable_value_placeholder, "gon\xc3\xa9");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[512] = {0};
        snprintf(text, sizeof(text), REQUIRED "unavailable.value.placeholder=%s\n", bad[i]);
        cr_expect_not(load(text), "%s", bad[i]);
        cr_expect_not_null(strstr(problem(), "behind hex:"), "%s", problem());
    }
}

Test(config, refuses_what_would_change_the_output_and_is_not_built)
{
    static const char *const lines[] = {
        "snapshot.mode=custom",
        "snapshot.locking.mode=custom",
        "time.precision.mode=structured",
        "converters=c",
        "http.listen=:8080",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[512] = {0};
        snprintf(text, sizeof(text), REQUIRED "%s\n", lines[i]);
        cr_expect_not(load(text), "%s", lines[i]);
        cr_expect_not_null(strstr(problem(), ": is not supported"), "%s", lines[i]);
    }
}

Test(config, is_exactly_once_when_the_connector_or_its_worker_wants_it)
{
    expect_loads(REQUIRED);
    cr_expect_not(config->exactly_once);
    expect_loads(REQUIRED "exactly.once.support=required\nsnapshot.max.threads=4\n"
                          "producer.transactional.id=x\n");
    cr_expect(config->exactly_once);
    cr_expect_str_eq(config->transactional_id, "x");
    cr_expect_eq(config->snapshot_thread_count, 1);
    expect_loads(REQUIRED "exactly.once.source.support=enabled\n");
    cr_expect(config->exactly_once);
    expect_loads(REQUIRED "exactly.once.source.support=preparing\n");
    cr_expect_not(config->exactly_once);
}

Test(config, accepts_what_is_not_built_with_the_value_that_it_has_anyway)
{
    expect_loads(REQUIRED "heartbeat.interval.ms=0\nprovide.transaction.metadata=false\n"
                          "time.precision.mode=adaptive\nexactly.once.support=requested\n"
                          "signal.enabled.channels=source\nskip.messages.without.change=FALSE\n"
                          "converters=\n"
                          "connector.class=io.debezium.connector.postgresql.PostgresConnector\n"
                          "tasks.max=1\nmax.batch.size=2048\nname=x\npoll.interval.ms=1\n"
                          "offset.storage.file.filename=/x\nlisteners=http://:8083\n"
                          "transforms=\n");
    cr_expect_eq(config->transform_count, 0);
}

Test(config, has_include_or_exclude_of_one_kind)
{
    expect_refused(REQUIRED "table.include.list=a.b\ntable.exclude.list=c.d\n",
                   "4: table.exclude.list=c.d: stands beside table.include.list; only one of them "
                   "may be given");
    expect_loads(REQUIRED "table.include.list=a.b\ntable.exclude.list=\nschema.exclude.list=x\n");
}

Test(config, offers_the_nearest_name_or_none)
{
    expect_refused(REQUIRED "databse.hostname=x\n",
                   "3: databse.hostname: is not a property; did you mean database.hostname?");
    expect_refused(REQUIRED "table.includelist=x\n",
                   "3: table.includelist: is not a property; did you mean table.include.list?");
    expect_refused(REQUIRED "entirely.unheard.of=x\n",
                   "3: entirely.unheard.of: is not a property; `walrelay config` lists them all");
    expect_refused(REQUIRED "column.mask.with.x.chars=a\n",
                   "3: column.mask.with.x.chars: is not a property; did you mean "
                   "column.mask.with.<n>.chars?");
}

Test(config, may_not_empty_what_is_needed)
{
    expect_refused(REQUIRED "slot.name=\n",
                   "slot.name: is required: the replication slot, created where it is missing");
    expect_loads(REQUIRED "topic.delimiter=\nerrors.max.retries=\n");
    expect_text(config->topic_delimiter, "");
    cr_expect_eq(config->errors_max_retries, -1);
}

Test(config, lets_later_sources_win)
{
    char path[32] = {0};

    write_file(path, REQUIRED "slot.name=first\nskipped.operations=bad\n");
    const struct config_source sources[] = {
        {.path = path}, {.set = "slot.name=second"}, {.set = "skipped.operations=none"}};
    cr_expect(load_sources(sources, 3), "%s", problem());
    unlink(path);
    expect_text(config->slot_name, "second");
    cr_expect_not(config->skip_truncate);
}

Test(config, does_not_ask_for_what_a_lost_file_may_hold)
{
    const struct config_source sources[] = {{.path = "/nonexistent/worker.properties"}};

    cr_expect_not(load_sources(sources, 1));
    cr_expect_str_eq(problem(),
                     "cannot open /nonexistent/worker.properties: No such file or directory");
}

Test(config, shows_no_secret_in_any_problem)
{
    setenv("WR_TEST_SECRET", "public.(s3cret", 1);
    cr_expect_not(load("database.port=${env:WR_TEST_SECRET}\n"
                       "table.include.list=${env:WR_TEST_SECRET}\n"
                       "snapshot.mode=${env:WR_TEST_SECRET}\n"
                       "slot.name=${env:WR_TEST_SECRET}\n"
                       "message.key.columns=${env:WR_TEST_SECRET}:c\n"
                       "column.mask.with.3.chars=${env:WR_TEST_SECRET}\n"
                       "producer.acks=${env:WR_TEST_SECRET}\n"
                       "database.pasword=s3cret\n"
                       "transforms=r\ntransforms.r.type=${env:WR_TEST_SECRET}\n"
                       "heartbeat.action.query=${env:WR_TEST_SECRET}\n"
                       "replica.identity.autoset.values=${env:WR_TEST_SECRET}:FULL\n"
                       "slot.stream.params=${env:WR_TEST_SECRET}=1\n"
                       "topic.creation.default.partitions=1\n"
                       "topic.creation.default.replication.factor=1\n"
                       "topic.creation.groups=g\n"
                       "topic.creation.g.include=${env:WR_TEST_SECRET}\n"
                       "post.processors=p\n"
                       "p.type=io.debezium.processors.reselect.ReselectColumnsPostProcessor\n"
                       "p.reselect.columns.include.list=${env:WR_TEST_SECRET}\n"));
    cr_expect_geq(problem_count, 11);
    for (size_t i = 0; i < problem_count; i++) {
        cr_expect_null(strstr(problems[i], "s3cret"), "%s", problems[i]);
    }
}

/* The folder of the golden cases, from where this file lies. */
static void golden_path(char out[static 1024], const char *name)
{
    const char *file = __FILE__;
    const char *end = strstr(file, "unit/config/");

    cr_assert_not_null(end);
    snprintf(out, 1024, "%.*sgolden/%s", (int)(end - file), file, name);
}

Test(config, loads_every_golden_case)
{
    char worker[1024], pattern[1024];
    glob_t found = {0};

    golden_path(worker, "worker.properties");
    golden_path(pattern, "*/connector.properties");
    cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
    cr_expect_geq(found.gl_pathc, 21);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *connector = found.gl_pathv[i];
        char own[1024] = {0};
        struct config_source sources[4] = {
            {.path = worker}, {.set = "database.dbname=d"}, {.path = connector}};
        snprintf(own, sizeof(own), "%.*s/worker.properties",
                 (int)(strrchr(connector, '/') - connector), connector);
        sources[3].path = access(own, R_OK) == 0 ? own : NULL;
        cr_expect(load_sources(sources, 4), "%s: %s", connector, problem());
    }
    globfree(&found);
}

Test(config, explains_every_kind_of_key)
{
    cr_expect(config_print_reference("snapshot.mode"));
    cr_expect(config_print_reference("column.mask.with.5.chars"));
    cr_expect(config_print_reference("transforms.outbox.route.by.field"));
    cr_expect(config_print_reference("route.by.field"));
    cr_expect(config_print_reference(NULL));
    cr_expect_not(config_print_reference("nonsense"));
}

Test(config, a_select_counts_where_its_table_is_listed)
{
    cr_assert(load(REQUIRED "snapshot.select.statement.overrides=public.a, public.b\n"
                            "snapshot.select.statement.overrides.public.b= select 1 ; ;\n"
                            "snapshot.select.statement.overrides.public.c=select 3\n"
                            "snapshot.select.statement.overrides.public.a=select 2\n"));
    cr_assert_eq(config->snapshot_selects.count, 2);
    expect_text(config->snapshot_selects.items[0].name, "public.b");
    expect_text(config->snapshot_selects.items[0].value, "select 1");
    expect_text(config->snapshot_selects.items[1].name, "public.a");
}

Test(config, a_listed_table_without_its_select_is_a_problem)
{
    cr_expect_not(load(REQUIRED "snapshot.select.statement.overrides=public.a\n"));
    cr_expect_str_eq(problem(), "3: snapshot.select.statement.overrides=public.a: names public.a, "
                                "but snapshot.select.statement.overrides.public.a is missing");
}

#define BASED        REQUIRED "snapshot.mode=configuration_based\n"
#define SWITCH(name) "snapshot.mode.configuration.based." name "=true\n"

Test(config, configuration_based_is_one_of_the_other_modes)
{
    cr_assert(load(BASED SWITCH("start.stream")));
    cr_expect_eq(config->snapshot_mode, SNAPSHOT_NO_DATA);
    cr_assert(load(BASED SWITCH("snapshot.data")));
    cr_expect_eq(config->snapshot_mode, SNAPSHOT_INITIAL_ONLY);
    cr_assert(load(BASED SWITCH("snapshot.data") SWITCH("start.stream")));
    cr_expect_eq(config->snapshot_mode, SNAPSHOT_INITIAL);
    cr_assert(load(BASED SWITCH("snapshot.data") SWITCH("start.stream")
                       SWITCH("snapshot.on.data.error")));
    cr_expect_eq(config->snapshot_mode, SNAPSHOT_WHEN_NEEDED);
    cr_expect_not(load(BASED SWITCH("snapshot.on.data.error")));
}

Test(config, reads_how_columns_are_hashed)
{
    expect_loads(REQUIRED "column.mask.hash.SHA-256.with.salt.a.b=x.y.z\n"
                          "column.mask.hash.v2.MD5.with.salt.pepper=u.v.w\n");
    cr_assert_eq(config->column_rule_count, 2);
    cr_expect_str_eq(config->column_rules[0].hash_algorithm, "SHA-256");
    cr_expect_str_eq(config->column_rules[0].salt, "a.b");
    cr_expect_not(config->column_rules[0].hash_is_v2);
    cr_expect_str_eq(config->column_rules[0].columns, "x.y.z");
    cr_expect_str_eq(config->column_rules[1].hash_algorithm, "MD5");
    cr_expect_str_eq(config->column_rules[1].salt, "pepper");
    cr_expect(config->column_rules[1].hash_is_v2);
}

Test(config, refuses_hashes_that_nobody_knows)
{
    cr_expect_not(load(REQUIRED "column.mask.hash.ROT13.with.salt.x=a.b.c\n"));
    cr_expect_not_null(strstr(problem(), "ROT13 is no message digest that is known here"));
    cr_expect_not(load(REQUIRED "column.mask.hash.MD5=a.b.c\n"));
    cr_expect_not_null(strstr(problem(), "must end with ALGORITHM.with.salt.SALT"));
    cr_expect_not(load(REQUIRED "column.mask.hash.MD5.with.salt.x=a(b\n"));
}

Test(config, reads_how_names_are_adjusted)
{
    expect_loads(REQUIRED "schema.name.adjustment.mode=avro\n"
                          "field.name.adjustment.mode=avro_unicode\n"
                          "skip.messages.without.change=true\n");
    cr_expect_eq(config->schema_name_adjustment_mode, NAME_ADJUSTMENT_AVRO);
    cr_expect_eq(config->field_name_adjustment_mode, NAME_ADJUSTMENT_AVRO_UNICODE);
    cr_expect(config->skip_unchanged);
}
