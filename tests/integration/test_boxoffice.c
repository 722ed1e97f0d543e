/*
 * The configuration that BoxOffice runs through Debezium, handed over as it is (deploy/): only
 * where the servers are differs here, by --set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/records.h"

static struct live l;
static struct kafka_records records;

static void drop_role(void)
{
    PGconn *connection = pg_open(services_or_skip(), NULL);

    pg_exec(connection, "drop role if exists debezium");
    PQfinish(connection);
}

static void set_up(void)
{
    l.services = *services_or_skip();
    live_open(&l, "order");
    l.slot = "debezium"; /* Debezium's default: the configuration names none */
    drop_role();
    pg_run_file(&l.services, "order", services_source_path("deploy/boxoffice-order.sql"));
}

static void tear_down(void)
{
    if (l.sql != NULL) {
        live_close(&l);
        drop_role();
    }
    records_done(&records);
}

TestSuite(boxoffice, .init = set_up, .fini = tear_down);

static void start(const char *option)
{
    char json[LIVE_PATH_SIZE * 2];
    char bootstrap[LIVE_SETTING_SIZE];
    char host[LIVE_SETTING_SIZE];
    char port[LIVE_SETTING_SIZE];
    const char *const arguments[] = {"-c", json,    "--set", bootstrap, "--set",
                                     host, "--set", port,    option,    NULL};

    snprintf(json, sizeof(json), "%s", services_source_path("deploy/order-outbox.json"));
    snprintf(bootstrap, sizeof(bootstrap), "bootstrap.servers=%s", l.services.bootstrap);
    snprintf(host, sizeof(host), "database.hostname=%s", l.services.pg_host);
    snprintf(port, sizeof(port), "database.port=%s", l.services.pg_port);
    live_start_with(&l, arguments);
    live_wait_streaming(&l);
}

/* A uuid that ends in `n`. */
#define EVENT(n) "00000000-0000-4000-8000-00000000000" n

#define PLACE(n, type)                                                                             \
    "insert into orders (id, customer, seats, total) values ('ord-" n "', 'ana', '{A1}', 10)"      \
    " on conflict (id) do update set status = 'CONFIRMED';"                                        \
    "insert into outbox (event_id, aggregate_type, aggregate_id, type, payload) values"            \
    " ('" EVENT(n) "', 'order', 'ord-" n "', '" type "', '{\"orderId\": \"ord-" n "\"}');"

#define PLACED(n) "ord-" n " {\"orderId\": \"ord-" n "\"} [id=" EVENT(n) "]\n"

/* One that commits, one that is rolled back, one with a savepoint; then what a publisher and the
 * upkeep do to rows that were relayed. */
static void place_orders(void)
{
    static const char *const scripts[] = {
        "begin;" PLACE("2", "OrderPlaced") "commit;",
        "begin;" PLACE("3", "OrderPlaced") "rollback;",
        "begin;" PLACE("4", "OrderPlaced") "savepoint s;",
        PLACE("5", "OrderPlaced") "rollback to s;",
        PLACE("6", "OrderPlaced") "commit;",
        "update outbox set published_at = now() where aggregate_id = 'ord-4';",
        "delete from outbox where aggregate_id = 'ord-2';",
    };

    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        pg_exec(l.sql, scripts[i]);
    }
}

Test(boxoffice, order_events_have_key_id_and_payload_and_rolled_back_rows_are_none)
{
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);

    live_run(&l, "begin;" PLACE("1", "OrderPlaced") "commit;"); /* for the snapshot */
    start(NULL);
    place_orders();
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    expect_events(&records, "order-events", PLACED("1") PLACED("2") PLACED("4") PLACED("6"));
    cr_expect_str_eq(events_topics(&records), "order-events\n");
}

Test(boxoffice, standard_output_has_what_kafka_has)
{
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);
    struct kafka_records printed = {0};

    pg_exec(l.sql, "select pg_create_logical_replication_slot('debezium', 'pgoutput')");
    pg_exec(l.sql, "select pg_copy_logical_replication_slot('debezium', 'debezium_again')");
    place_orders();
    start("--accept-gap"); /* the slot of the test before had the same name */
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);

    /* The same changes once more, from a slot that has not moved. */
    pg_exec(l.sql, "select pg_drop_replication_slot('debezium')");
    pg_exec(l.sql, "select pg_copy_logical_replication_slot('debezium_again', 'debezium')");
    start("--stdout");
    live_wait_confirmed(&l);
    live_stop(&l);
    cr_assert(records_read(&printed, l.stdout_path));
    cr_expect_eq(printed.count, 3);
    cr_expect(records_equal(&records, &printed, stderr));
    records_done(&printed);
}
