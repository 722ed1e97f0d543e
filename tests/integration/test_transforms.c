/* Many transforms in one chain, each with a predicate, between real servers. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/records.h"
#include "support/topic.h"

static struct live l;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&l);
    records_done(&records);
}

TestSuite(transforms, .fini = tear_down);

/* A transform of Kafka for the records that `predicate` holds for. */
static void add(const char *name, const char *class, const char *predicate)
{
    live_set(&l, "transforms.%s.type=%s", name, class);
    if (predicate[0] == '!') {
        live_set(&l, "transforms.%s.negate=true", name);
        predicate++;
    }
    live_set(&l, "transforms.%s.predicate=%s", name, predicate);
}

static void set_predicates(void)
{
    live_set(&l, "predicates=isOutbox,isOrder,isTombstone,isRow");
    live_set(&l, "predicates.isOutbox.type="
                 "org.apache.kafka.connect.transforms.predicates.TopicNameMatches");
    live_set(&l, "predicates.isOutbox.pattern=.*public\\.outbox");
    live_set(&l, "predicates.isOrder.type=TopicNameMatches");
    live_set(&l, "predicates.isOrder.pattern=.*public\\.orders");
    live_set(&l, "predicates.isTombstone.type=RecordIsTombstone");
    live_set(&l, "predicates.isRow.type=HasHeaderKey");
    live_set(&l, "predicates.isRow.name=__op");
}

static void set_chain(void)
{
    set_predicates();
    live_set(&l, "transforms=outbox,unwrap,dead,key,id,clean,cast,mask,when,origin,tag,lift,wrap,"
                 "flat,tidy,name");
    add("outbox", "io.debezium.transforms.outbox.EventRouter", "isOutbox");
    live_set(&l, "transforms.outbox.route.topic.replacement=%s.${routedByValue}", l.prefix);
    add("unwrap", "io.debezium.transforms.ExtractNewRecordState", "isOrder");
    live_set(&l, "transforms.unwrap.delete.tombstone.handling.mode=tombstone");
    live_set(&l, "transforms.unwrap.add.headers=op");
    add("dead", "org.apache.kafka.connect.transforms.Filter", "isTombstone");
    add("key", "org.apache.kafka.connect.transforms.ValueToKey", "isRow");
    live_set(&l, "transforms.key.fields=code,id");
    add("id", "ExtractField$Key", "isRow");
    live_set(&l, "transforms.id.field=code");
    add("clean", "ReplaceField$Value", "isRow");
    live_set(&l, "transforms.clean.exclude=id");
    live_set(&l, "transforms.clean.renames=code:number");
    add("cast", "Cast$Value", "isRow");
    live_set(&l, "transforms.cast.spec=price:float64,quantity:int16");
    add("mask", "MaskField$Value", "isRow");
    live_set(&l, "transforms.mask.fields=card");
    live_set(&l, "transforms.mask.replacement=****");
    add("when", "TimestampConverter$Value", "isRow");
    live_set(&l, "transforms.when.field=placed");
    live_set(&l, "transforms.when.target.type=string");
    live_set(&l, "transforms.when.unix.precision=microseconds");
    live_set(&l, "transforms.when.format=yyyy-MM-dd'T'HH:mm:ss.SSS'Z'");
    add("origin", "InsertField$Value", "isRow");
    live_set(&l, "transforms.origin.static.field=origin");
    live_set(&l, "transforms.origin.static.value=boxoffice");
    add("tag", "InsertHeader", "!isRow");
    live_set(&l, "transforms.tag.header=kind");
    live_set(&l, "transforms.tag.value.literal=event");
    add("lift", "HeaderFrom$Value", "isRow");
    live_set(&l, "transforms.lift.fields=quantity");
    live_set(&l, "transforms.lift.headers=seats");
    live_set(&l, "transforms.lift.operation=move");
    add("wrap", "HoistField$Value", "isRow");
    live_set(&l, "transforms.wrap.field=order");
    add("flat", "Flatten$Value", "isRow");
    live_set(&l, "transforms.flat.delimiter=_");
    add("tidy", "DropHeaders", "isRow");
    live_set(&l, "transforms.tidy.headers=__op");
    add("name", "RegexRouter", "!isOutbox");
    live_set(&l, "transforms.name.regex=(.*)\\.public\\.(.*)");
    live_set(&l, "transforms.name.replacement=$1.all.$2");
}

static const char *topic(const char *rest)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.%s", l.prefix, rest);
    return name;
}

static void publish(const char *script)
{
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);

    live_stream(&l);
    live_run(&l, script);
    live_wait_confirmed(&l);
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
}

static void make_tables(void)
{
    live_run(&l, "create table orders (id int primary key, code text not null,"
                 " price numeric(8,2), quantity bigint, card text, placed timestamp,"
                 " note text default 'none');"
                 "create table outbox (id int primary key, aggregatetype text, aggregateid text,"
                 " type text, payload text);"
                 "create publication wr_pub for all tables;");
}

Test(transforms, run_one_behind_the_other_for_the_records_of_their_predicates)
{
    live_open(&l, "transforms_chain");
    make_tables();
    set_chain();
    topic_create(l.services.bootstrap, topic("all.orders"), 1, NULL);
    topic_create(l.services.bootstrap, topic("sale"), 1, NULL);
    publish("insert into orders values"
            " (1, 'A-1', 12.50, 2, '4000 1234', '2026-01-02 03:04:05.006789', 'aisle'),"
            " (2, 'B-2', null, null, null, null, null);"
            "insert into outbox values (1, 'sale', 'k', 'Sold', '{\"a\": 1}');"
            "update orders set price = 100, quantity = -3 where id = 1;"
            "update orders set id = 3 where id = 2;"
            "delete from orders where id = 1;"
            "alter table orders add column row_number smallint default 7;"
            "insert into orders (id, code) values (4, 'C-4');");
    expect_events(&records, topic("all.orders"),
                  "A-1 {\"order_number\":\"A-1\",\"order_price\":12.5,\"order_card\":\"****\","
                  "\"order_placed\":\"2026-01-02T03:04:05.006Z\",\"order_note\":\"aisle\","
                  "\"order_origin\":\"boxoffice\"} [seats=2]\n"
                  "B-2 {\"order_number\":\"B-2\",\"order_price\":null,\"order_card\":null,"
                  "\"order_placed\":null,\"order_note\":\"none\",\"order_origin\":\"boxoffice\"}"
                  " [seats=null]\n"
                  "A-1 {\"order_number\":\"A-1\",\"order_price\":100.0,\"order_card\":\"****\","
                  "\"order_placed\":\"2026-01-02T03:04:05.006Z\",\"order_note\":\"aisle\","
                  "\"order_origin\":\"boxoffice\"} [seats=-3]\n"
                  "B-2 {\"order_number\":\"B-2\",\"order_price\":null,\"order_card\":null,"
                  "\"order_placed\":null,\"order_note\":\"none\",\"order_origin\":\"boxoffice\"}"
                  " [__debezium.oldkey={\"id\":2} seats=null]\n"
                  "C-4 {\"order_number\":\"C-4\",\"order_price\":null,\"order_card\":null,"
                  "\"order_placed\":null,\"order_note\":\"none\",\"order_row_number\":7,"
                  "\"order_origin\":\"boxoffice\"} [seats=null]\n");
    expect_events(&records, topic("sale"), "k {\"a\": 1} [id=1 kind=event]\n");
}

Test(transforms, stop_before_a_row_that_one_of_them_cannot_change)
{
    live_open(&l, "transforms_reject");
    make_tables();
    set_chain();
    live_stream(&l);
    live_run(&l, "insert into orders values (1, 'A-1', 1, 40000, null, null, null);");
    cr_expect_neq(live_wait_exit(&l), 0);
    expect_log(&l, "public.orders: transforms.cast: field quantity of the value, 40000: is out of "
                   "the range of the type it is cast to");
}
