/* Read with what protoc-c makes of the same file, and written again to the same bytes. */
#include <math.h>
#include <walrelay/v1/change.pb-c.h>

#include "codec/proto_write.h"
#include "config/route_config.h"
#include "fixture.h"

/* Oids of pg_type.dat beyond those of the fixture. */
enum {
    BOOL = 16,
    INT2 = 21,
    OID = 26,
    FLOAT4 = 700,
    MONEY = 790,
    BYTEA_ARRAY = 1001,
    INT4_ARRAY = 1007,
    INTERVAL = 1186,
    TIMETZ = 1266,
    NUMERIC = 1700,
    UUID = 2950,
};

static struct route_config route_config = {
    .name = "dwh", .type = ROUTE_WAREHOUSE, .only = true, .format = ROUTE_FORMAT_PROTOBUF};
static struct record_position position = {.version = UINT64_C(0x7fffffffffffff01), .seq = 300};
static struct codec *codec;
static Walrelay__V1__Change *changes[8];
static size_t change_count;

static void read_record(const struct record *record)
{
    struct change_source source = *record->source;
    struct record copy = *record;
    struct wr_arena *arena = wr_arena_new(1 << 20);
    bool is_null = true;

    source.position = &position;
    copy.source = &source;
    wr_buffer_reset(&written);
    cr_assert_eq(codec_value(codec, &copy, arena, &written, &is_null, &err), WR_OK, "%s", err.text);
    cr_expect_not(is_null);
    wr_arena_free(arena);

    uint8_t *exact = malloc(written.size);
    memcpy(exact, written.data, written.size);
    Walrelay__V1__Change *change = walrelay__v1__change__unpack(NULL, written.size, exact);
    cr_assert_not_null(change, "protobuf-c cannot read it");
    cr_expect_eq(change->base.n_unknown_fields, 0);
    cr_assert_eq(walrelay__v1__change__get_packed_size(change), written.size);
    uint8_t *again = malloc(written.size);
    walrelay__v1__change__pack(change, again);
    cr_expect_eq(memcmp(again, exact, written.size), 0, "protobuf-c writes other bytes");
    free(again);
    free(exact);
    changes[change_count++] = change;
}

static void open_proto(void)
{
    open_codec();
    config.routes = &route_config;
    config.route_count = 1;
    config.value_converter = CONVERTER_STRING;
    codec = codec_new(&config, "1");
    also_emit = read_record;
}

static void close_proto(void)
{
    while (change_count > 0) {
        walrelay__v1__change__free_unpacked(changes[--change_count], NULL);
    }
    codec_free(codec);
    close_codec();
}

TestSuite(warehouse_proto, .init = open_proto, .fini = close_proto);

static char text[1 << 14];
static size_t text_size;

static void __attribute__((format(printf, 1, 2))) put(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int size = vsnprintf(text + text_size, sizeof(text) - text_size, format, args);
    va_end(args);
    cr_assert(size >= 0 && (size_t)size < sizeof(text) - text_size);
    text_size += (size_t)size;
}

static void put_value(const Walrelay__V1__Value *value)
{
    switch ((int)value->kind_case) {
    case WALRELAY__V1__VALUE__KIND_ABSENCE:
        put(value->absence == WALRELAY__V1__ABSENCE__ABSENCE_NULL ? "null" : "unavailable");
        break;
    case WALRELAY__V1__VALUE__KIND_BOOLEAN:
        put(value->boolean ? "true" : "false");
        break;
    case WALRELAY__V1__VALUE__KIND_INTEGER:
        put("%lld", (long long)value->integer);
        break;
    case WALRELAY__V1__VALUE__KIND_DECIMAL:
        put("decimal %s", value->decimal);
        break;
    case WALRELAY__V1__VALUE__KIND_FLOAT32:
        put("float %.9g", (double)value->float32);
        break;
    case WALRELAY__V1__VALUE__KIND_FLOAT64:
        put("double %.17g", value->float64);
        break;
    case WALRELAY__V1__VALUE__KIND_TEXT:
        put("'%s'", value->text);
        break;
    case WALRELAY__V1__VALUE__KIND_BINARY:
        put("x");
        for (size_t i = 0; i < value->binary.len; i++) {
            put("%02x", value->binary.data[i]);
        }
        break;
    case WALRELAY__V1__VALUE__KIND_JSON:
        put("json %s", value->json);
        break;
    case WALRELAY__V1__VALUE__KIND_DATE_DAYS:
        put("day %d", value->date_days);
        break;
    case WALRELAY__V1__VALUE__KIND_TIMESTAMP_US:
        put("local %lld", (long long)value->timestamp_us);
        break;
    case WALRELAY__V1__VALUE__KIND_TIMESTAMPTZ_US:
        put("at %lld", (long long)value->timestamptz_us);
        break;
    case WALRELAY__V1__VALUE__KIND_ARRAY:
        put("[");
        for (size_t i = 0; i < value->array->n_values; i++) {
            put(i == 0 ? "" : ", ");
            put_value(value->array->values[i]);
        }
        put("]");
        break;
    default:
        put("nothing");
    }
}

static const char *columns(Walrelay__V1__Column *const *list, size_t count)
{
    text_size = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        put("%s%s %s=", i == 0 ? "" : ", ", list[i]->name, list[i]->type);
        put_value(list[i]->value);
    }
    return text;
}

#define expect_columns(change, list, expected)                                                     \
    cr_expect_str_eq(columns((change)->list, (change)->n_##list), (expected))

/* One value of a type, beside a key. */
static const char *show(uint32_t oid, const char *cell)
{
    const struct fixture_column both[] = {{"id", INT4, true}, {"v", oid, false}};
    struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', both));

    if (route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", cell)) != WR_OK) {
        return err.text;
    }
    Walrelay__V1__Change *change = changes[--change_count];
    const char *all = columns(change->after, change->n_after);
    walrelay__v1__change__free_unpacked(change, NULL);
    return strstr(all, "v ") + 2;
}

#define expect_value(oid, cell, expected) cr_expect_str_eq(show((oid), (cell)), (expected))

Test(warehouse_proto, says_all_of_an_insert)
{
    static const struct fixture_column two[] = {{"id", INT4, true}, {"note", TEXT, false}};
    struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', two));

    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", NULL)), WR_OK);
    cr_assert_eq(change_count, 1);
    const Walrelay__V1__Change *c = changes[0];
    cr_expect_eq(c->version, 1);
    cr_expect_eq(c->op, WALRELAY__V1__OP__OP_CREATE);
    cr_expect_str_eq(c->schema, "public");
    cr_expect_str_eq(c->table, "t");
    cr_expect_eq(c->lsn, UINT64_C(0x7fffffffffffff01));
    cr_expect_eq(c->seq, 300);
    cr_expect_eq(c->row_lsn, 0x16B3748);
    cr_expect_eq(c->xid, 731);
    cr_expect_eq(c->commit_us, INT64_C(1777665600000000));
    expect_columns(c, key, "id int4=1");
    expect_columns(c, after, "id int4=1, note text=null");
    expect_columns(c, before, "");
}

Test(warehouse_proto, says_what_is_known_of_old_rows)
{
    static const struct fixture_column two[] = {{"id", INT4, true}, {"note", TEXT, false}};
    static const struct fixture_column full[] = {{"id", INT4, true}, {"note", TEXT, true}};
    static const char *keys[] = {"id"};
    static struct column_info infos[] = {{"id", true, NULL}, {"note", false, NULL}};
    struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', two));

    cr_assert_eq(route(OP_UPDATE, relation, OLD_NONE, NULL, ROW("1", UNCHANGED)), WR_OK);
    cr_expect_eq(changes[0]->op, WALRELAY__V1__OP__OP_UPDATE);
    expect_columns(changes[0], after, "id int4=1, note text=unavailable");
    expect_columns(changes[0], before, "");

    cr_assert_eq(route(OP_DELETE, relation, OLD_KEY, ROW("1", NULL), NULL), WR_OK);
    cr_expect_eq(changes[1]->op, WALRELAY__V1__OP__OP_DELETE);
    expect_columns(changes[1], key, "id int4=1");
    expect_columns(changes[1], after, "");
    expect_columns(changes[1], before, "id int4=1");

    catalog_status = WR_OK;
    catalog_table = (struct table_info){
        .columns = infos, .column_count = 2, .key_columns = keys, .key_column_count = 1};
    relation = compile(MAKE_RELATION("public", "t", 'f', full));
    cr_assert_eq(route(OP_UPDATE, relation, OLD_ROW, ROW("1", NULL), ROW("2", "b")), WR_OK);
    cr_assert_eq(change_count, 4);
    cr_expect_eq(changes[2]->op, WALRELAY__V1__OP__OP_DELETE);
    expect_columns(changes[2], key, "id int4=1");
    expect_columns(changes[2], before, "id int4=1, note text=null");
    cr_expect_eq(changes[3]->op, WALRELAY__V1__OP__OP_CREATE);
    expect_columns(changes[3], key, "id int4=2");

    cr_assert_eq(route(OP_TRUNCATE, relation, OLD_NONE, NULL, NULL), WR_OK);
    cr_expect_eq(changes[4]->op, WALRELAY__V1__OP__OP_TRUNCATE);
    expect_columns(changes[4], key, "");
    cr_assert_eq(route(OP_READ, relation, OLD_NONE, NULL, ROW("3", "")), WR_OK);
    cr_expect_eq(changes[5]->op, WALRELAY__V1__OP__OP_READ);
    expect_columns(changes[5], after, "id int4=3, note text=''");
}

Test(warehouse_proto, numbers_are_exact)
{
    expect_value(INT2, "-32768", "int2=-32768");
    expect_value(INT8, "9223372036854775807", "int8=9223372036854775807");
    expect_value(INT8, "-9223372036854775808", "int8=-9223372036854775808");
    expect_value(INT8, "999999999999999999", "int8=999999999999999999");
    expect_value(INT4, "0", "int4=0");
    expect_value(OID, "4294967295", "oid=4294967295");
    expect_value(NUMERIC, "12345678901234567890123456789.0123456789000",
                 "numeric=decimal 12345678901234567890123456789.0123456789000");
    expect_value(NUMERIC, "NaN", "numeric=decimal NaN");
    expect_value(NUMERIC, "-Infinity", "numeric=decimal -Infinity");
    expect_value(MONEY, "-$1,234.56", "money=decimal -1234.56");
    expect_value(FLOAT8, "0.30000000000000004", "float8=double 0.30000000000000004");
    expect_value(FLOAT8, "5e-324", "float8=double 4.9406564584124654e-324");
    expect_value(FLOAT8, "Infinity", "float8=double inf");
    expect_value(FLOAT8, "-Infinity", "float8=double -inf");
    expect_value(FLOAT8, "-0", "float8=double -0");
    expect_value(FLOAT8, "NaN", "float8=double nan");
    expect_value(FLOAT4, "0.1", "float4=float 0.100000001");
    expect_value(FLOAT4, "1e-45", "float4=float 1.40129846e-45");
    expect_value(BOOL, "t", "bool=true");
    expect_value(BOOL, "f", "bool=false");
}

Test(warehouse_proto, times_are_numbers_from_one_end_to_the_other)
{
    expect_value(DATE, "1970-01-01", "date=day 0");
    expect_value(DATE, "1969-12-31", "date=day -1");
    expect_value(DATE, "5874897-12-31", "date=day 2145042905");
    expect_value(DATE, "4714-11-24 BC", "date=day -2440588");
    expect_value(DATE, "infinity", "date=day 2147483647");
    expect_value(DATE, "-infinity", "date=day -2147483648");
    expect_value(TIMESTAMP, "2026-05-01 20:00:00.000001", "timestamp=local 1777665600000001");
    expect_value(TIMESTAMP, "infinity", "timestamp=local 9223372036854775807");
    expect_value(TIMESTAMP, "-infinity", "timestamp=local -9223372036854775808");
    expect_value(TIMESTAMPTZ, "2026-05-01 22:00:00+02", "timestamptz=at 1777665600000000");
    expect_value(TIMESTAMPTZ, "1969-12-31 23:59:59.999999+00", "timestamptz=at -1");
    expect_value(INTERVAL, "1 day 02:00:00", "interval='P0Y0M1DT2H0M0S'");
    expect_value(TIMETZ, "12:34:56+02", "timetz='10:34:56Z'");
}

Test(warehouse_proto, everything_else_is_bytes_json_or_text)
{
    expect_value(TEXT, "", "text=''");
    expect_value(TEXT, "a\"b\né", "text='a\"b\né'");
    expect_value(BYTEA, "\\x00ff", "bytea=x00ff");
    expect_value(BYTEA, "\\x", "bytea=x");
    expect_value(JSONB, "{\"a\": [1.50]}", "jsonb=json {\"a\": [1.50]}");
    expect_value(UUID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                 "uuid='a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'");
    expect_value(BOX, "(1,1),(0,0)", "text='(1,1),(0,0)'");
    expect_value(TEXT_ARRAY, "{a,NULL,\"b,c\"}", "text[]=['a', null, 'b,c']");
    expect_value(TEXT_ARRAY, "{}", "text[]=[]");
    expect_value(INT4_ARRAY, "{{1,2},{3,NULL}}", "int4[]=[[1, 2], [3, null]]");
    expect_value(INT4_ARRAY, "{{{{{{7}}}}}}", "int4[]=[[[[[[7]]]]]]");
    expect_value(BYTEA_ARRAY, "{\"\\\\xff\"}", "bytea[]=[xff]");
}

/* Sizes on both sides of where they need another byte, in all the messages around. */
Test(warehouse_proto, messages_of_any_size_are_closed)
{
    static const size_t sizes[] = {100, 110, 112,   115,   118,   120,   122,   124,   126,  127,
                                   128, 129, 16360, 16370, 16375, 16380, 16383, 16384, 16390};

    for (size_t i = 0; i < COUNT(sizes); i++) {
        char *cell = calloc(1, sizes[i] + 1);
        memset(cell, 'x', sizes[i]);
        also_emit = read_record;
        const struct fixture_column both[] = {{"id", INT4, true}, {"v", TEXT, false}};
        struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', both));
        cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, ROW("1", cell)), WR_OK);
        Walrelay__V1__Change *change = changes[--change_count];
        cr_expect_str_eq(change->after[1]->value->text, cell);
        walrelay__v1__change__free_unpacked(change, NULL);
        free(cell);
    }
}

Test(warehouse_proto, values_without_a_right_form_are_refused)
{
    static const struct {
        uint32_t oid;
        const char *cell;
    } cases[] = {
        {BOOL, "x"},
        {INT4, "1.5"},
        {INT4, "1e3"},
        {INT4, ""},
        {INT8, "123456789012345678901234567"},
        {FLOAT8, "x"},
        {FLOAT8, "1x"},
        {FLOAT4, ""},
        {DATE, "never"},
        {TIMESTAMP, "x"},
        {BYTEA, "x"},
        {INT4_ARRAY, "{1"},
        {INT4_ARRAY, "{x}"},
    };

    also_emit = NULL;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wr_arena *arena = wr_arena_new(1 << 20);
        const struct fixture_column both[] = {{"id", INT4, true}, {"v", cases[i].oid, false}};
        struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', both));
        struct tuple tuple = make_tuple(relation, ROW("1", cases[i].cell));
        struct change change = {.op = OP_CREATE, .relation = relation, .new_tuple = tuple};
        struct row_view row = {
            .relation = relation, .columns = relation->plan->value_columns, .tuple = &tuple};
        const struct warehouse_rows rows = {.op = OP_CREATE, .key_row = row, .after = row};
        struct record record = {.change = &change, .source = &change.source};
        bool is_null = false;
        record.value.kind = PART_WAREHOUSE;
        record.value.as.warehouse.shape = &relation->plan->routes[0].warehouse;
        record.value.as.warehouse.rows = &rows;
        wr_buffer_reset(&written);
        cr_expect_eq(codec_value(codec, &record, arena, &written, &is_null, &err), WR_REJECT, "%s",
                     cases[i].cell);
        cr_expect_not_null(strstr(err.text, "public.t.v: "), "%s", err.text);
        wr_arena_free(arena);
    }
}

/* What an old reader makes of a record of the future: it sees the version, and keeps the rest. */
Test(warehouse_proto, a_reader_sees_a_version_that_it_does_not_know)
{
    struct wr_buffer future;

    wr_buffer_init(&future, 1000);
    proto_uint(&future, 1, 2);
    proto_uint(&future, 2, 9);
    proto_text(&future, 3, "public");
    proto_text(&future, 99, "something new");
    Walrelay__V1__Change *change =
        walrelay__v1__change__unpack(NULL, future.size, (const uint8_t *)future.data);
    cr_assert_not_null(change);
    cr_expect_eq(change->version, 2);
    cr_expect_eq(change->base.n_unknown_fields, 1);
    walrelay__v1__change__free_unpacked(change, NULL);
    wr_buffer_done(&future);
}

Test(warehouse_proto, a_buffer_that_is_full_says_so)
{
    for (size_t size_max = 0; size_max < 60; size_max++) {
        struct wr_buffer out;
        wr_buffer_init(&out, size_max);
        size_t outer = proto_open(&out, 1);
        size_t inner = proto_open(&out, 2);
        proto_bytes(&out, 3, WR_SLICE("0123456789012345678901234567890123456789"));
        proto_close(&out, inner);
        proto_close(&out, outer);
        cr_expect(out.size <= size_max);
        wr_buffer_done(&out);
    }
}
