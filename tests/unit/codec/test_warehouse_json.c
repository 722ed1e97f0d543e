#include "config/route_config.h"
#include "fixture.h"

/* What the codec makes of the records of a route, whatever the converters are. */
static struct route_config route_config = {
    .name = "dwh", .type = ROUTE_WAREHOUSE, .only = true, .format = ROUTE_FORMAT_JSON};
static const struct fixture_column COLUMNS[] = {
    {"id", INT4, true}, {"note", TEXT, false}, {"day", DATE, false}};

static struct codec *codec;
static char output[1 << 14];
static struct record_position position = {.version = 0x16B3800, .seq = 7};

static void append(struct wr_slice text)
{
    size_t size = strlen(output);

    snprintf(output + size, sizeof(output) - size, "%.*s", (int)text.size,
             text.size == 0 ? "" : text.data);
}

/* key | value | header=value … */
static void write_record(const struct record *record)
{
    struct change_source source = *record->source;
    struct record copy = *record;
    struct wr_arena *arena = wr_arena_new(1 << 20);
    bool is_null = false;

    source.position = &position;
    copy.source = &source;
    wr_buffer_reset(&written);
    cr_assert_eq(codec_key(codec, &copy, arena, &written, &is_null, &err), WR_OK, "%s", err.text);
    append(is_null ? WR_SLICE("NULL") : wr_buffer_slice(&written));
    append(WR_SLICE(" | "));
    wr_buffer_reset(&written);
    cr_assert_eq(codec_value(codec, &copy, arena, &written, &is_null, &err), WR_OK, "%s", err.text);
    append(is_null ? WR_SLICE("NULL") : wr_buffer_slice(&written));
    for (size_t i = 0; i < record->header_count; i++) {
        wr_buffer_reset(&written);
        cr_assert_eq(codec_header(codec, &record->headers[i], arena, &written, &is_null, &err),
                     WR_OK);
        append(WR_SLICE(" "));
        append(wr_slice_str(record->headers[i].name));
        append(WR_SLICE("="));
        append(wr_buffer_slice(&written));
    }
    append(WR_SLICE("\n"));
    wr_arena_free(arena);
}

static void open_warehouse(void)
{
    open_codec();
    config.routes = &route_config;
    config.route_count = 1;
    config.key_converter = config.value_converter = CONVERTER_STRING;
    config.header_converter = HEADER_CONVERTER_JSON;
    codec = codec_new(&config, "1");
    also_emit = write_record;
}

static void close_warehouse(void)
{
    codec_free(codec);
    close_codec();
}

TestSuite(warehouse_json, .init = open_warehouse, .fini = close_warehouse);

#define HEADERS(op)                                                                                \
    " walrelay.op=" op " walrelay.table=public.t walrelay.commit=1777665600000000 "                \
    "walrelay.types={\"id\":\"int4\",\"note\":\"text\",\"day\":\"date\"}"
#define HEAD(op)                                                                                   \
    "{\"version\":1,\"op\":\"" op "\",\"schema\":\"public\",\"table\":\"t\",\"lsn\":23803904,"     \
    "\"seq\":7,\"row_lsn\":23803720,\"xid\":731,\"commit_time\":\"2026-05-01T20:00:00.000000Z\","

static void expect_output(enum change_op op, enum old_kind old, const char *const *before,
                          const char *const *after, const char *expected)
{
    struct relation *relation = compile(MAKE_RELATION("public", "t", 'd', COLUMNS));

    output[0] = '\0';
    cr_assert_eq(route(op, relation, old, before, after), WR_OK, "%s", err.text);
    cr_expect_str_eq(output, expected);
}

Test(warehouse_json, says_all_of_an_insert)
{
    expect_output(OP_CREATE, OLD_NONE, NULL, ROW("1", "a\"b", "infinity"),
                  "{\"id\":1} | " HEAD(
                      "c") "\"key\":{\"id\":1},\"before\":null,"
                           "\"after\":{\"id\":1,\"note\":\"a\\\"b\",\"day\":\"infinity\"}}" HEADERS(
                               "c") "\n");
}

Test(warehouse_json, says_which_values_an_update_left_out)
{
    expect_output(OP_UPDATE, OLD_NONE, NULL, ROW("1", UNCHANGED, NULL),
                  "{\"id\":1} | " HEAD(
                      "u") "\"key\":{\"id\":1},\"before\":null,"
                           "\"after\":{\"id\":1,\"day\":null},\"unavailable\":[\"note\"]}" HEADERS(
                               "u") " walrelay.unavailable=[\"note\"]\n");
}

Test(warehouse_json, says_what_is_known_of_a_deleted_row)
{
    expect_output(OP_DELETE, OLD_KEY, ROW("1", NULL, NULL), NULL,
                  "{\"id\":1} | " HEAD("d") "\"key\":{\"id\":1},\"before\":{\"id\":1},"
                                            "\"after\":null}" HEADERS("d") "\n");
}

Test(warehouse_json, says_that_a_table_was_emptied)
{
    expect_output(OP_TRUNCATE, OLD_NONE, NULL, NULL,
                  " | " HEAD("t") "\"key\":null,\"before\":null,\"after\":null}" HEADERS("t") "\n");
}

Test(warehouse_json, writes_the_old_key_of_a_moved_row)
{
    expect_output(
        OP_UPDATE, OLD_KEY, ROW("1", NULL, NULL), ROW("2", "x", NULL),
        "{\"id\":1} | " HEAD(
            "d") "\"key\":{\"id\":1},\"before\":{\"id\":1},"
                 "\"after\":null}" HEADERS(
                     "d") "\n"
                          "{\"id\":2} | " HEAD(
                              "c") "\"key\":{\"id\":2},\"before\":null,"
                                   "\"after\":{\"id\":2,\"note\":\"x\",\"day\":null}}" HEADERS(
                                       "c") " walrelay.moved.from={\"id\":1}\n");
}
