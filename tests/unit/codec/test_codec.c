#include "decoder/schema.h"
#include "fixture.h"

static struct codec *codec;
static bool is_null;

static void close_all(void)
{
    codec_free(codec);
    close_codec();
}

TestSuite(codec, .init = open_codec, .fini = close_all);

static const struct fixture_column COLUMNS[] = {{"id", INT4, true}, {"name", TEXT, false}};

static struct record record;

/* Writes `part` as value and as key, which must be the same; WR_OK's text is in `written`. */
static enum wr_status write_part(enum converter_kind converter, struct record_part part)
{
    bool key_is_null = false;

    config.key_converter = config.value_converter = converter;
    codec_free(codec);
    codec = codec_new(&config, "1.2.3");
    record.key = record.value = part;
    wr_buffer_reset(&written);
    enum wr_status key_status = codec_key(codec, &record, scratch, &written, &key_is_null, &err);
    size_t key_size = written.size;
    wr_buffer_reset(&written);
    is_null = !key_is_null;
    enum wr_status status = codec_value(codec, &record, scratch, &written, &is_null, &err);
    cr_expect_eq(status, key_status);
    cr_expect(status != WR_OK || (is_null == key_is_null && written.size == key_size));
    return status;
}

static struct record_part part_of(struct datum datum)
{
    return (struct record_part){.kind = PART_DATUM, .as.datum = datum};
}

static struct tuple tuple; /* of row_part() */

static struct record_part row_part(void)
{
    struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', COLUMNS));

    tuple = make_tuple(relation, ROW("7", "a"));
    return (struct record_part){.kind = PART_ROW,
                                .as.row = {.relation = relation,
                                           .columns = relation->plan->value_columns,
                                           .column_count = relation->plan->value_column_count,
                                           .tuple = &tuple}};
}

/* A truncate's, which is the shortest. */
static struct record_part envelope_part(void)
{
    static struct change change;

    change.relation = compile(MAKE_RELATION("public", "t", 'd', COLUMNS));
    record.change = &change;
    record.source = &change.source;
    return (struct record_part){.kind = PART_ENVELOPE, .as.envelope.op = OP_TRUNCATE};
}

static void expect_text(enum converter_kind converter, struct record_part part, const char *text)
{
    cr_assert_eq(write_part(converter, part), WR_OK, "converter %d: %s", converter, err.text);
    cr_expect(!is_null, "converter %d", converter);
    EXPECT_WRITTEN(text);
}

static void expect_null(enum converter_kind converter, struct record_part part)
{
    cr_assert_eq(write_part(converter, part), WR_OK, "converter %d: %s", converter, err.text);
    cr_expect(is_null, "converter %d", converter);
    cr_expect_eq(written.size, 0);
}

static void expect_reject(enum converter_kind converter, struct record_part part)
{
    cr_expect_eq(write_part(converter, part), WR_REJECT, "converter %d", converter);
}

Test(codec, writes_a_tombstone_as_null_whatever_the_converter)
{
    struct record_part nothing = {.kind = PART_NULL};

    for (int converter = CONVERTER_DEFAULT; converter <= CONVERTER_BINARY_DATA; converter++) {
        expect_null((enum converter_kind)converter, nothing);
    }
}

/* A schema stands behind it in Connect, so JsonConverter writes four bytes. */
Test(codec, writes_a_typed_null_as_json_only_under_the_json_converter)
{
    struct record_part typed_null = part_of((struct datum){0});

    expect_text(CONVERTER_JSON, typed_null, "null");
    expect_null(CONVERTER_DEFAULT, typed_null);
    expect_null(CONVERTER_STRING, typed_null);
    expect_null(CONVERTER_BYTE_ARRAY, typed_null);
    expect_null(CONVERTER_BINARY_DATA, typed_null);
}

Test(codec, writes_readably_without_a_converter)
{
    expect_text(CONVERTER_DEFAULT, part_of(a_string("{\"a\": 1}")), "{\"a\": 1}");
    expect_text(CONVERTER_DEFAULT, part_of(an_int(7)), "7");
    expect_text(CONVERTER_DEFAULT, part_of(some_bytes("\x01\xff")), "\x01\xff");
    expect_text(CONVERTER_DEFAULT, part_of(a_json("[1]")), "[1]");
    expect_text(CONVERTER_DEFAULT, part_of(an_array()), "[1,null,\"x\"]");
    expect_text(CONVERTER_DEFAULT, part_of(a_struct()), "{\"a\":1,\"n\\\"\":null,\"b\":\"x\"}");
    expect_text(CONVERTER_DEFAULT, row_part(), "{\"id\":7,\"name\":\"a\"}");
}

Test(codec, writes_json)
{
    expect_text(CONVERTER_JSON, part_of(a_string("a\"")), "\"a\\\"\"");
    expect_text(CONVERTER_JSON, part_of(an_int(7)), "7");
    expect_text(CONVERTER_JSON, part_of(some_bytes("abcd")), "\"YWJjZA==\"");
    expect_text(CONVERTER_JSON, part_of(a_json("[1]")), "[1]");
    expect_text(CONVERTER_JSON, part_of(an_array()), "[1,null,\"x\"]");
    expect_text(CONVERTER_JSON, row_part(), "{\"id\":7,\"name\":\"a\"}");
}

Test(codec, writes_strings)
{
    expect_text(CONVERTER_STRING, part_of(a_string("a\"")), "a\"");
    expect_text(CONVERTER_STRING, part_of(an_int(7)), "7");
    expect_text(CONVERTER_STRING, part_of(an_array()), "[1, null, x]");
    expect_text(CONVERTER_STRING, part_of(a_struct()), "Struct{a=1,b=x}");
    expect_text(CONVERTER_STRING, row_part(), "Struct{id=7,name=a}");
}

Test(codec, writes_bytes_only_as_they_are)
{
    expect_text(CONVERTER_BYTE_ARRAY, part_of(some_bytes("\x01\xff")), "\x01\xff");
    expect_text(CONVERTER_BYTE_ARRAY, part_of(some_bytes("")), "");
    expect_reject(CONVERTER_BYTE_ARRAY, part_of(a_string("text")));
    cr_expect_str_eq(err.text,
                     "ByteArrayConverter writes only bytes, and this value is of another type");
    expect_reject(CONVERTER_BYTE_ARRAY, part_of(an_int(7)));
    expect_reject(CONVERTER_BYTE_ARRAY, part_of(a_json("{}")));
    expect_reject(CONVERTER_BYTE_ARRAY, part_of(an_array()));
    expect_reject(CONVERTER_BYTE_ARRAY, row_part());
    expect_reject(CONVERTER_BYTE_ARRAY, envelope_part());
}

Test(codec, leaves_to_a_delegate_what_is_not_bytes)
{
    expect_text(CONVERTER_BINARY_DATA, part_of(some_bytes("\x01\xff")), "\x01\xff");
    expect_text(CONVERTER_BINARY_DATA, part_of(a_string("a\"")), "a\"");
    config.key_delegate_converter = config.value_delegate_converter = CONVERTER_JSON;
    expect_text(CONVERTER_BINARY_DATA, part_of(some_bytes("\x01\xff")), "\x01\xff");
    expect_text(CONVERTER_BINARY_DATA, part_of(a_string("a\"")), "\"a\\\"\"");
    expect_text(CONVERTER_BINARY_DATA, row_part(), "{\"id\":7,\"name\":\"a\"}");
}

Test(codec, writes_change_events_as_json_unless_told_otherwise)
{
    struct record_part part = envelope_part();
    static const enum converter_kind KINDS[] = {CONVERTER_DEFAULT, CONVERTER_JSON,
                                                CONVERTER_BINARY_DATA};

    for (size_t i = 0; i < COUNT(KINDS); i++) {
        cr_assert_eq(write_part(KINDS[i], part), WR_OK, "%s", err.text);
        cr_expect(!is_null);
        cr_expect_eq(strncmp(written.data, "{\"before\":null,\"after\":null,\"source\":{", 38), 0);
    }
}

/* As Java's Struct.toString(), which leaves out what is null. */
Test(codec, writes_change_events_as_java_prints_them_where_they_are_to_be_text)
{
    cr_assert_eq(write_part(CONVERTER_STRING, envelope_part()), WR_OK, "%s", err.text);
    EXPECT_WRITTEN("Struct{source=Struct{connector=postgresql,ts_ms=0,snapshot=false,"
                   "sequence=[null,\"0\"],ts_us=0,ts_ns=0,schema=public,table=t,lsn=0},op=t,"
                   "ts_ms=0,ts_us=0,ts_ns=0}");
}

Test(codec, chooses_for_key_and_value_each)
{
    config.key_converter = CONVERTER_STRING;
    config.value_converter = CONVERTER_JSON;
    codec = codec_new(&config, "1.2.3");
    record.key = record.value = part_of(a_string("a"));
    cr_assert_eq(codec_key(codec, &record, scratch, &written, &is_null, &err), WR_OK);
    EXPECT_WRITTEN("a");
    cr_assert_eq(codec_value(codec, &record, scratch, &written, &is_null, &err), WR_OK);
    EXPECT_WRITTEN("a\"a\"");
    codec_free(codec);
    config.key_converter = config.value_converter = CONVERTER_BINARY_DATA;
    config.value_delegate_converter = CONVERTER_JSON;
    codec = codec_new(&config, "1.2.3");
    wr_buffer_reset(&written);
    cr_assert_eq(codec_key(codec, &record, scratch, &written, &is_null, &err), WR_OK);
    EXPECT_WRITTEN("a");
    cr_assert_eq(codec_value(codec, &record, scratch, &written, &is_null, &err), WR_OK);
    EXPECT_WRITTEN("a\"a\"");
}

Test(codec, refuses_what_is_larger_than_a_record_may_be)
{
    struct wr_buffer small;

    codec = codec_new(&config, "1.2.3");
    record.value = part_of(a_string("12345"));
    wr_buffer_init(&small, 4);
    cr_expect_eq(codec_value(codec, &record, scratch, &small, &is_null, &err), WR_REJECT);
    cr_expect_str_eq(err.text, "larger than WR_RECORD_SIZE_MAX (4 bytes)");
    struct record_header header = {.name = "h", .value = record.value};
    wr_buffer_reset(&small);
    cr_expect_eq(codec_header(codec, &header, scratch, &small, &is_null, &err), WR_REJECT);
    cr_expect_str_eq(err.text, "header h is too large");
    wr_buffer_done(&small);
}

Test(codec, writes_headers_as_text)
{
    struct record_header header = {.name = "h", .value = part_of(a_string("a\""))};

    codec = codec_new(&config, "1.2.3");
    cr_assert_eq(codec_header(codec, &header, scratch, &written, &is_null, &err), WR_OK);
    cr_expect(!is_null);
    EXPECT_WRITTEN("a\"");
    wr_buffer_reset(&written);
    header.value = row_part(); /* __debezium.newkey */
    cr_assert_eq(codec_header(codec, &header, scratch, &written, &is_null, &err), WR_OK);
    EXPECT_WRITTEN("{\"id\":7,\"name\":\"a\"}");
}

Test(codec, writes_null_headers_as_null)
{
    struct record_header header = {.name = "h", .value = {.kind = PART_NULL}};

    codec = codec_new(&config, "1.2.3");
    cr_assert_eq(codec_header(codec, &header, scratch, &written, &is_null, &err), WR_OK);
    cr_expect(is_null);
    is_null = false;
    header.value = part_of((struct datum){0});
    cr_assert_eq(codec_header(codec, &header, scratch, &written, &is_null, &err), WR_OK);
    cr_expect(is_null);
    cr_expect_eq(written.size, 0);
}

Test(codec, hands_on_that_a_value_has_no_right_form)
{
    struct record_part part = row_part();

    tuple.cells[0].text = WR_SLICE("x");
    expect_reject(CONVERTER_JSON, part);
    expect_reject(CONVERTER_STRING, part);
    struct record_header header = {.name = "h", .value = part};
    cr_expect_eq(codec_header(codec, &header, scratch, &written, &is_null, &err), WR_REJECT);
}

static enum wr_status write_header(enum header_converter_kind converter, struct record_part value)
{
    struct record_header header = {.name = "h", .value = value};

    config.header_converter = converter;
    codec_free(codec);
    codec = codec_new(&config, "1.2.3");
    wr_buffer_reset(&written);
    return codec_header(codec, &header, scratch, &written, &is_null, &err);
}

Test(codec, writes_headers_as_their_converter_does)
{
    struct record_part text = part_of(a_string("a"));

    cr_assert_eq(write_header(HEADER_CONVERTER_STRING, row_part()), WR_OK);
    EXPECT_WRITTEN("Struct{id=7,name=a}");
    cr_assert_eq(write_header(HEADER_CONVERTER_JSON, text), WR_OK);
    EXPECT_WRITTEN("\"a\"");
    config.header_schemas_enable = true;
    text.schema = schema_plain(SCHEMA_STRING, false);
    cr_assert_eq(write_header(HEADER_CONVERTER_JSON, text), WR_OK);
    EXPECT_WRITTEN("{\"schema\":{\"type\":\"string\",\"optional\":false},\"payload\":\"a\"}");
    cr_assert_eq(write_header(HEADER_CONVERTER_BYTE_ARRAY, part_of(some_bytes("ab"))), WR_OK);
    EXPECT_WRITTEN("ab");
    cr_assert_eq(write_header(HEADER_CONVERTER_BYTE_ARRAY, text), WR_REJECT);
    cr_expect_str_eq(err.text, "header h: ByteArrayConverter writes only bytes, and this value is "
                               "of another type");
}

Test(codec, writes_the_schema_beside_the_payload_where_it_is_enabled)
{
    struct record_part part = part_of(an_int(7));

    config.key_schemas_enable = config.value_schemas_enable = true;
    part.schema = schema_plain(SCHEMA_INT32, true);
    cr_assert_eq(write_part(CONVERTER_JSON, part), WR_OK);
    EXPECT_WRITTEN("{\"schema\":{\"type\":\"int32\",\"optional\":true},\"payload\":7}");
    part.as.datum = (struct datum){0};
    cr_assert_eq(write_part(CONVERTER_JSON, part), WR_OK);
    cr_expect_not(is_null);
    EXPECT_WRITTEN("{\"schema\":{\"type\":\"int32\",\"optional\":true},\"payload\":null}");
    part.schema = NULL;
    part.as.datum = a_json("{}");
    cr_assert_eq(write_part(CONVERTER_JSON, part), WR_OK);
    EXPECT_WRITTEN("{\"schema\":null,\"payload\":{}}");
    cr_assert_eq(write_part(CONVERTER_JSON, (struct record_part){.kind = PART_NULL}), WR_OK);
    cr_expect(is_null, "a tombstone stays one");
}

Test(codec, writes_the_schema_of_keys_alone_where_only_they_are_to_have_it)
{
    config.key_converter = config.value_converter = CONVERTER_JSON;
    config.key_schemas_enable = true;
    codec = codec_new(&config, "1.2.3");
    record.key = record.value = part_of(an_int(7));
    record.key.schema = record.value.schema = schema_plain(SCHEMA_INT32, false);
    cr_assert_eq(codec_key(codec, &record, scratch, &written, &is_null, &err), WR_OK);
    EXPECT_WRITTEN("{\"schema\":{\"type\":\"int32\",\"optional\":false},\"payload\":7}");
    wr_buffer_reset(&written);
    cr_assert_eq(codec_value(codec, &record, scratch, &written, &is_null, &err), WR_OK);
    EXPECT_WRITTEN("7");
}

static const struct fixture_column WIDER[] = {
    {"id", INT4, true}, {"name", TEXT, false}, {"born", DATE, false}};

static void expect_fields(const struct relation *relation, const char *const *row,
                          const char *fields)
{
    struct tuple values = make_tuple(relation, row);
    struct record_part part = {.kind = PART_ROW,
                               .schema = relation->plan->row_schema,
                               .as.row = {.relation = relation,
                                          .columns = relation->plan->value_columns,
                                          .column_count = relation->plan->value_column_count,
                                          .tuple = &values}};

    record.value = part;
    wr_buffer_reset(&written);
    cr_assert_eq(codec_value(codec, &record, scratch, &written, &is_null, &err), WR_OK);
    wr_buffer_add_char(&written, '\0');
    cr_expect_not_null(strstr(written.data, fields), "%s", written.data);
}

/* ALTER TABLE between two rows: a new Relation message, a new plan, and so a new schema. */
Test(codec, writes_the_schema_of_the_table_as_it_was_when_the_row_was_written)
{
    static const char NAME_LAST[] = "\"field\":\"name\"}],\"optional\":true";
    static const char BORN_LAST[] = "\"field\":\"name\"},{\"type\":\"int32\",\"optional\":true,"
                                    "\"name\":\"io.debezium.time.Date\",\"version\":1,"
                                    "\"field\":\"born\"}],\"optional\":true";

    config.value_converter = CONVERTER_JSON;
    config.value_schemas_enable = true;
    codec = codec_new(&config, "1.2.3");
    const struct relation *before = compile(MAKE_RELATION("public", "t", 'd', COLUMNS));
    expect_fields(before, ROW("1", "a"), NAME_LAST);
    expect_fields(before, ROW("2", "b"), NAME_LAST);
    const struct relation *after = compile(MAKE_RELATION("public", "t", 'd', WIDER));
    expect_fields(after, ROW("3", "c", "2026-05-01"), BORN_LAST);
    expect_fields(after, ROW("4", "d", NULL), BORN_LAST);
}
