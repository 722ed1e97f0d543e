/*
 * Values that relays of this kind get wrong in the field, on real servers: each row is published
 * once by the snapshot and once by the stream, and both have to be the same.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/events.h"
#include "support/kafka.h"
#include "support/live.h"
#include "support/postgres.h"
#include "support/records.h"

static struct live l;
static struct kafka_records records;

static void tear_down(void)
{
    live_close(&l);
    records_done(&records);
}

TestSuite(types, .fini = tear_down);

static const char *topic(const char *table)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s.public.%s", l.prefix, table);
    return name;
}

static void open_types(const char *name, const char *setup)
{
    live_open(&l, name);
    live_set(&l, "snapshot.mode=initial");
    live_run(&l, setup);
    live_run(&l, "create publication wr_pub for all tables");
}

/* Streams while `script` runs, until all of it is confirmed; then its records are in `records`. */
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

struct text {
    char data[1 << 15];
    size_t size;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int size = vsnprintf(text->data + text->size, sizeof(text->data) - text->size, format, args);
    va_end(args);
    cr_assert(size >= 0 && (size_t)size < sizeof(text->data) - text->size);
    text->size += (size_t)size;
}

enum { STREAM_ID = 100 }; /* what is added to the ids of the stream's rows */

/* A row of a table that begins with its id: the values behind it, and what `after` has of them. */
struct row {
    const char *values;
    const char *after;
};

static void expect_rows(const char *table, const struct row *rows, size_t count)
{
    static struct text inserts[2], lines[2];

    for (size_t i = 0; i < count; i++) {
        for (size_t part = 0; part < 2; part++) {
            size_t id = i + 1 + part * STREAM_ID;
            add(&inserts[part], "insert into %s values (%zu, %s);", table, id, rows[i].values);
            add(&lines[part], "{\"id\":%zu} %s null -> {\"id\":%zu,%s}\n", id,
                part == 0 ? "r" : "c", id, rows[i].after);
        }
    }
    live_run(&l, inserts[0].data);
    publish(inserts[1].data);
    add(&lines[0], "%s", lines[1].data);
    expect_events(&records, topic(table), lines[0].data);
}

#define EXPECT_ROWS(table, rows) expect_rows((table), (rows), sizeof(rows) / sizeof((rows)[0]))

/* Infinity, BC and the far future. */

#define TIMES                                                                                      \
    "create table tt (id int primary key, ts timestamp, tz timestamptz, d date, ts3 timestamp(3))"

Test(types, dates_of_all_centuries_are_proleptic_gregorian_in_utc)
{
    static const struct row rows[] = {
        {"'infinity', '-infinity', 'infinity', '-infinity'",
         "\"ts\":9223372036825200000,\"tz\":\"-infinity\",\"d\":-2147472692,"
         "\"ts3\":-9223372036832400"},
        {"'0001-12-31 23:40:28 BC', '0044-03-15 12:00Z BC', '4713-01-01 BC', null",
         "\"ts\":-62135597972000000,\"tz\":\"-0043-03-15T12:00:00.000000Z\",\"d\":-2440550,"
         "\"ts3\":null"},
        {"'0001-01-01', '0001-01-01Z', '0001-01-01', null",
         "\"ts\":-62135596800000000,\"tz\":\"0001-01-01T00:00:00.000000Z\",\"d\":-719162,"
         "\"ts3\":null"},
        {"null, '294276-12-31 23:59:59.999999Z', '5874897-12-31', '15000-01-01'",
         "\"ts\":null,\"tz\":\"+294276-12-31T23:59:59.999999Z\",\"d\":2145042905,"
         "\"ts3\":411187104000000"},
        {"'1969-12-31 23:59:59.999999', '1883-11-18 12:00-07:52:58', '1582-10-10',"
         " '1969-12-31 23:59:59.9996'",
         "\"ts\":-1,\"tz\":\"1883-11-18T19:52:58.000000Z\",\"d\":-141432,\"ts3\":0"},
    };

    open_types("types_times", TIMES);
    EXPECT_ROWS("tt", rows);
}

static void expect_refused(const char *mode, const char *value)
{
    open_types("types_far", TIMES);
    live_set(&l, "time.precision.mode=%s", mode);
    live_stream(&l);
    pg_execf(l.sql, "insert into tt (id, ts) values (1, '%s')", value);
    cr_expect_eq(live_wait_exit(&l), 1);
    expect_log(&l, "public.tt.ts: timestamp: no right form for the value");
    cr_expect_str_eq(pg_query(l.sql, "select pg_current_wal_lsn() > confirmed_flush_lsn"
                                     " from pg_replication_slots where slot_name = 'types_far'"),
                     "t", "the row is confirmed");
}

Test(types, a_timestamp_beyond_microseconds_stops_the_relay_and_its_column_is_named)
{
    expect_refused("adaptive", "294276-12-31 23:59:59.999999");
}

Test(types, a_timestamp_beyond_nanoseconds_stops_the_relay_and_its_column_is_named)
{
    expect_refused("nanoseconds", "2262-04-12");
}

/* 24:00, and offsets. */

#define TIMES_OF_DAY "create table tm (id int primary key, t time, t0 time(0), tz timetz)"

Test(types, the_end_of_the_day_is_not_its_beginning)
{
    static const struct row rows[] = {
        {"'24:00', '24:00', '24:00:00+05:30'",
         "\"t\":86400000000,\"t0\":86400000,\"tz\":\"18:30:00Z\""},
        {"'00:00', '23:59:59.6', '23:59:59.999999-15:59:59'",
         "\"t\":0,\"t0\":86400000,\"tz\":\"15:59:58.999999Z\""},
        {"'12:00:00.000001', null, '00:00-00'",
         "\"t\":43200000001,\"t0\":null,\"tz\":\"00:00:00Z\""},
        {"null, null, '24:00:00+00'", "\"t\":null,\"t0\":null,\"tz\":\"24:00:00Z\""},
    };

    open_types("types_day", TIMES_OF_DAY);
    EXPECT_ROWS("tm", rows);
}

Test(types, the_end_of_the_day_is_not_its_beginning_as_text_either)
{
    static const struct row rows[] = {
        {"'24:00', '23:59:59.6', '24:00:00+00'",
         "\"t\":\"24:00:00Z\",\"t0\":\"24:00:00Z\",\"tz\":\"24:00:00Z\""},
        {"'00:00', null, '24:00:00-01'", "\"t\":\"00:00:00Z\",\"t0\":null,\"tz\":\"01:00:00Z\""},
    };

    open_types("types_day_text", TIMES_OF_DAY);
    live_set(&l, "time.precision.mode=isostring");
    EXPECT_ROWS("tm", rows);
}

/* Extensions, and domains. */

Test(types, of_extensions_and_domains_are_what_they_are_made_of)
{
    static const struct row rows[] = {
        {"'a=>1, \"k \\\"q\\\" =>\"=>\"v, w\", n=>NULL, \"NULL\"=>\"NULL\"', 'x=>NULL',"
         " array['a=>1', null]::hstore[], 'MiXed', '{MiXed,NULL}', 'Top.Science', '{a.b,c}', 7,"
         " '{1,2}', '{a,NULL}'",
         "\"h\":\"{\\\"a\\\":\\\"1\\\",\\\"n\\\":null,\\\"NULL\\\":\\\"NULL\\\","
         "\\\"k \\\\\\\"q\\\\\\\" =>\\\":\\\"v, w\\\"}\",\"dh\":\"{\\\"x\\\":null}\","
         "\"ha\":[\"{\\\"a\\\":\\\"1\\\"}\",null],\"c\":\"MiXed\",\"ca\":[\"MiXed\",null],"
         "\"l\":\"Top.Science\",\"la\":[\"a.b\",\"c\"],\"p\":7,\"pa\":[1,2],\"dt\":[\"a\",null]"},
        {"'', null, '{}', null, null, '', null, null, null, null",
         "\"h\":\"{}\",\"dh\":null,\"ha\":[],\"c\":null,\"ca\":null,\"l\":\"\",\"la\":null,"
         "\"p\":null,\"pa\":null,\"dt\":null"},
    };

    open_types("types_extensions",
               "create extension hstore; create extension citext; create extension ltree;"
               "create domain d_hs as hstore; create domain posint as int check (value > 0);"
               "create domain posint2 as posint; create domain tags as text[];"
               "create table ext (id int primary key, h hstore, dh d_hs, ha hstore[], c citext,"
               " ca citext[], l ltree, la ltree[], p posint2, pa posint[], dt tags)");
    EXPECT_ROWS("ext", rows);
}

Test(types, an_hstore_is_a_map_where_that_is_asked_for)
{
    static const struct row rows[] = {
        {"'a=>1, \"k \\\"q\\\" =>\"=>\"v, w\", n=>NULL', 'x=>NULL', array['a=>1', null]::hstore[]",
         "\"h\":{\"a\":\"1\",\"n\":null,\"k \\\"q\\\" =>\":\"v, w\"},\"dh\":{\"x\":null},"
         "\"ha\":[{\"a\":\"1\"},null]"},
        {"'', null, '{}'", "\"h\":{},\"dh\":null,\"ha\":[]"},
    };

    open_types("types_hstore", "create extension hstore; create domain d_hs as hstore;"
                               "create table ext (id int primary key, h hstore, dh d_hs,"
                               " ha hstore[])");
    live_set(&l, "hstore.handling.mode=map");
    EXPECT_ROWS("ext", rows);
}

/* Bit strings. Debezium's bytes keep no zeros on the left: the length stands in the schema. */

Test(types, bit_strings_are_little_endian_bytes_of_any_length)
{
    static const struct row rows[] = {
        {"B'1', B'10000000', B'000000010010', B'0010', B'00', B'0'",
         "\"b1\":true,\"b8\":\"gA==\",\"b12\":\"Eg==\",\"v\":\"Ag==\",\"v5\":\"\",\"v1\":false"},
        {"B'0', B'11111111', B'111111111111', B'', null, B'1'",
         "\"b1\":false,\"b8\":\"/w==\",\"b12\":\"/w8=\",\"v\":\"\",\"v5\":null,\"v1\":true"},
        {"null, null, null, repeat('10', 50)::varbit, B'00001', B''",
         "\"b1\":null,\"b8\":null,\"b12\":null,\"v\":\"qqqqqqqqqqqqqqqqCg==\",\"v5\":\"AQ==\","
         "\"v1\":false"},
    };

    open_types("types_bits", "create table bits (id int primary key, b1 bit(1), b8 bit(8),"
                             " b12 bit(12), v varbit, v5 varbit(5), v1 varbit(1))");
    EXPECT_ROWS("bits", rows);
}

/* Types that Debezium does not know. */

#define ADDRESS "create type addr as (street text, \"zip code\" int, note text);"

Test(types, that_nobody_knows_are_left_out_and_named_once)
{
    static const struct row rows[] = {
        {"row('a \"q\" \\ b', 123, null), array[row('x, y', 1, '')::addr, null], '(0,10]',"
         " '{[2024-01-01,2024-02-01),[2025-01-01,)}', '[2024-01-01 00:00Z,)', '(0.1,-1e300)',"
         " '((2,2),(0,0))', '10.0.0.1/24', '10.0.0.0/8', '08:00:2b:01:02:03',"
         " '<a b=\"1\">\xc3\xa9&amp;</a>', '''it''''s'':1A b:2', '16/B374D848', 'x',"
         " '\xc3\x9cn\xc3\xaf'",
         "\"r\":\"[1,11)\",\"tr\":\"[\\\"2024-01-01 00:00:00+00\\\",)\",\"p\":{\"x\":0.1,"
         "\"y\":-1.0E300,\"wkb\":\"AQEAAACamZmZmZm5P5x1AIg85Df+\",\"srid\":null},"
         "\"ip\":\"10.0.0.1/24\",\"ci\":\"10.0.0.0/8\",\"mac\":\"08:00:2b:01:02:03\","
         "\"x\":\"<a b=\\\"1\\\">\xc3\xa9&amp;</a>\",\"tv\":\"'b':2 'it''s':1A\",\"ch\":\"x\","
         "\"nm\":\"\xc3\x9cn\xc3\xaf\""},
        {"null, null, 'empty', '{}', '(,)', null, null, '::1', null, null, null, '', null, '',"
         " null",
         "\"r\":\"empty\",\"tr\":\"(,)\",\"p\":null,\"ip\":\"::1\",\"ci\":null,\"mac\":null,"
         "\"x\":null,\"tv\":\"\",\"ch\":\"\",\"nm\":null"},
    };
    static const char *const left_out[] = {"misc.a is", "misc.aa is", "misc.mr is", "misc.bx is",
                                           "misc.l is"};

    open_types("types_unknown",
               ADDRESS "create table misc (id int primary key, a addr, aa addr[], r int4range,"
                       " mr datemultirange, tr tstzrange, p point, bx box, ip inet, ci cidr,"
                       " mac macaddr, x xml, tv tsvector, l pg_lsn, ch \"char\", nm name)");
    EXPECT_ROWS("misc", rows);
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        cr_expect_eq(live_log_count(&l, left_out[i]), 1, "%s: %s", left_out[i], live_log(&l));
    }
}

/* SELECT encode(convert_to(a::text, 'UTF8'), 'hex') */
Test(types, that_nobody_knows_are_the_bytes_of_their_text_where_that_is_asked_for)
{
    static const struct row rows[] = {
        {"row('\"', 1, null), array[row('x, y', 1, '')::addr, null], '{[1,3),[5,8)}',"
         " '16/B374D848'",
         "\"a\":\"28222222222c312c29\","
         "\"aa\":[\"2822782c2079222c312c222229\",null],"
         "\"mr\":\"7b5b312c33292c5b352c38297d\",\"l\":\"31362f4233373444383438\""},
        {"null, null, '{}', null", "\"a\":null,\"aa\":null,\"mr\":\"7b7d\",\"l\":null"},
    };

    open_types("types_opaque", ADDRESS "create table misc (id int primary key, a addr, aa addr[],"
                                       " mr int4multirange, l pg_lsn)");
    live_set(&l, "include.unknown.datatypes=true");
    live_set(&l, "binary.handling.mode=hex");
    EXPECT_ROWS("misc", rows);
    expect_no_log(&l, "left out");
}

Test(types, of_isn_are_known_as_far_as_debezium_knows_them)
{
    static const struct row rows[] = {
        {"'978-0-393-04002-9', '978-0-393-04002-9'", "\"ib\":\"0-393-04002-X\""},
    };

    open_types("types_isn", "create extension isn;"
                            "create table books (id int primary key, ib isbn, en ean13)");
    EXPECT_ROWS("books", rows);
    cr_expect_eq(live_log_count(&l, "books.en is left out"), 1, "%s", live_log(&l));
}

/* JSON stays as it is, to the byte, and is valid where it is published. */

Test(types, json_is_the_text_of_the_column)
{
    static const struct row rows[] = {
        {"9223372036854775807,"
         " '{\"n\":1234567890123456789012,\"f\":0.1000,\"u\":\"\\u00e9\\ud83d\\ude00\","
         "\"s\":\"\\\\u0000\"}', '{\"z\":\"\\u0000\",\"a\":1, \"a\":2.50}',"
         " E'q\"b\\\\ \\x01\\x1f\\x7f\\t\\n\xe2\x80\xa8 \xc3\xa9\xf0\x9f\x98\x80', ''",
         "\"big\":9223372036854775807,"
         "\"jb\":\"{\\\"f\\\": 0.1000, \\\"n\\\": 1234567890123456789012,"
         " \\\"s\\\": \\\"\\\\\\\\u0000\\\", \\\"u\\\": \\\"\xc3\xa9\\uD83D\\uDE00\\\"}\","
         "\"j\":\"{\\\"z\\\":\\\"\\\\u0000\\\",\\\"a\\\":1, \\\"a\\\":2.50}\","
         "\"t\":\"q\\\"b\\\\ \\u0001\\u001F\x7f\\t\\n\xe2\x80\xa8 \xc3\xa9\\uD83D\\uDE00\","
         "\"v\":\"\""},
        {"-9223372036854775808, 'null', 'null', 'null', null",
         "\"big\":-9223372036854775808,\"jb\":\"null\",\"j\":\"null\",\"t\":\"null\",\"v\":null"},
        {"3, '\"x\"', ' [1 ,2] ', '</script>', ' '",
         "\"big\":3,\"jb\":\"\\\"x\\\"\",\"j\":\" [1 ,2] \",\"t\":\"</script>\",\"v\":\" \""},
        {"4, null, null, null, null", "\"big\":4,\"jb\":null,\"j\":null,\"t\":null,\"v\":null"},
    };

    open_types("types_json", "create table js (id int primary key, big bigint, jb jsonb, j json,"
                             " t text, v varchar)");
    EXPECT_ROWS("js", rows);
}

Test(types, a_number_of_jsonb_keeps_all_its_digits)
{
    char zeros[401];
    static struct text expected;

    memset(zeros, '0', sizeof(zeros) - 1);
    zeros[sizeof(zeros) - 1] = '\0';
    add(&expected, "\"jb\":\"{\\\"e\\\": 1%s}\"", zeros);
    const struct row rows[] = {{"'{\"e\":1E400}'", expected.data}};
    open_types("types_digits", "create table js (id int primary key, jb jsonb)");
    EXPECT_ROWS("js", rows);
}

/* Types that change or come while walrelay streams. */

#define CHANGING                                                                                   \
    "create type st as enum ('a', 'b'); create table e (id int primary key, s st, sa st[]);"       \
    "create publication wr_pub for all tables"

/* So that walrelay looks at each step's types before the next one changes them. */
static void run_and_confirm(const char *script)
{
    live_run(&l, script);
    live_wait_confirmed(&l);
}

Test(types, that_change_or_come_while_it_streams_are_looked_up)
{
    live_open(&l, "types_changing");
    live_run(&l, CHANGING);
    struct kafka_reader *reader = kafka_reader_new(l.services.bootstrap);

    live_stream(&l);
    run_and_confirm("insert into e values (1, 'a', '{a}')");
    run_and_confirm("alter type st add value 'c'");
    run_and_confirm("insert into e values (2, 'c', '{a,c}')");
    run_and_confirm("drop table e; drop type st; create type st as enum ('z');"
                    "create table e (id int primary key, s st, sa st[]);"
                    "insert into e values (3, 'z', '{z}')");
    run_and_confirm("create extension hstore; create table late (id int primary key, h hstore);"
                    "insert into late values (1, 'k=>v')");
    live_stop(&l);
    kafka_reader_read(reader, &records);
    kafka_reader_free(reader);
    expect_events(&records, topic("e"),
                  "{\"id\":1} c null -> {\"id\":1,\"s\":\"a\",\"sa\":[\"a\"]}\n"
                  "{\"id\":2} c null -> {\"id\":2,\"s\":\"c\",\"sa\":[\"a\",\"c\"]}\n"
                  "{\"id\":3} c null -> {\"id\":3,\"s\":\"z\",\"sa\":[\"z\"]}\n");
    expect_events(&records, topic("late"),
                  "{\"id\":1} c null -> {\"id\":1,\"h\":\"{\\\"k\\\":\\\"v\\\"}\"}\n");
}

Test(types, that_are_dropped_before_their_rows_are_read_are_text)
{
    live_open(&l, "types_dropped");
    live_run(&l, CHANGING);
    live_stream(&l);
    live_stop(&l);
    live_run(&l, "insert into e values (1, 'a', '{a,b}'); drop table e; drop type st");
    publish("");
    expect_events(&records, topic("e"),
                  "{\"id\":1} c null -> {\"id\":1,\"s\":\"a\",\"sa\":\"{a,b}\"}\n");
}
