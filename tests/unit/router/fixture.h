/* fixture.h - changes in, the records they become out as lines of text. */
#ifndef WR_TESTS_UNIT_ROUTER_FIXTURE_H
#define WR_TESTS_UNIT_ROUTER_FIXTURE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/transform_config.h"
#include "decoder/catalog.h"
#include "decoder/relation.h"
#include "router/plan.h"
#include "router/record.h"
#include "router/router.h"
#include "router/routes/document.h"
#include "router/routes/route.h"
#include "router/row.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Oids of pg_type.dat. */
enum {
    BYTEA = 17,
    INT8 = 20,
    INT4 = 23,
    TEXT = 25,
    POINT = 600,
    BOX = 603,
    FLOAT8 = 701,
    DATE = 1082,
    VARCHAR = 1043,
    TIMESTAMP = 1114,
    TIMESTAMPTZ = 1184,
    TEXT_ARRAY = 1009,
    JSONB = 3802,
};

/* A row's cells as text: NULL is SQL NULL, this pointer an unchanged TOAST value. */
static const char UNCHANGED[] = "unchanged";

struct fixture_column {
    const char *name;
    uint32_t type_oid;
    bool is_key; /* part of the replica identity */
};

static struct config config;
static struct router *router;
static struct wr_arena *scratch;
static struct wr_error err;

/* What the catalog says; WR_REJECT until a test fills it. */
static struct table_info catalog_table;
static enum wr_status catalog_status;

/* What came out. */
static char emitted[1 << 16];
static size_t emitted_size;
static char notices[1 << 16];
static size_t notices_size;
static enum wr_status emit_status;
static void (*also_emit)(const struct record *record); /* for what the lines do not say */

static struct relation *relations[64]; /* freed at the end */
static size_t relation_count;

static inline void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int size = vsnprintf(emitted + emitted_size, sizeof(emitted) - emitted_size, format, args);
    va_end(args);
    cr_assert(size >= 0 && (size_t)size < sizeof(emitted) - emitted_size);
    emitted_size += (size_t)size;
}

static inline void say_bytes(struct wr_slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        say("%02x", (unsigned char)bytes.data[i]);
    }
}

static inline void say_datum(const struct datum *datum)
{
    switch (datum->kind) {
    case DATUM_NULL:
        say("NULL");
        break;
    case DATUM_BOOL:
        say(datum->as.boolean ? "true" : "false");
        break;
    case DATUM_INT:
        say("%lld", (long long)datum->as.integer);
        break;
    case DATUM_FLOAT32:
    case DATUM_FLOAT64:
        say("float %.*s", (int)datum->as.bytes.size, datum->as.bytes.data);
        break;
    case DATUM_STRING:
        say("'%.*s'", (int)datum->as.bytes.size, datum->as.bytes.data);
        break;
    case DATUM_BYTES:
        say("bytes ");
        say_bytes(datum->as.bytes);
        break;
    case DATUM_JSON:
        say("json %.*s", (int)datum->as.bytes.size, datum->as.bytes.data);
        break;
    case DATUM_ARRAY:
        say("[");
        for (size_t i = 0; i < datum->as.array.count; i++) {
            say(i == 0 ? "" : ", ");
            say_datum(&datum->as.array.items[i]);
        }
        say("]");
        break;
    case DATUM_STRUCT:
        say("{");
        for (size_t i = 0; i < datum->as.structure.count; i++) {
            const struct datum_field *field = &datum->as.structure.fields[i];
            say("%s%.*s: ", i == 0 ? "" : ", ", (int)field->name.size, field->name.data);
            say_datum(&field->value);
        }
        say("}");
        break;
    }
}

/* WR_OK unless a column has no right form: then that is what emitting returns. */
static inline enum wr_status say_row(const struct row_view *row, struct wr_error *e)
{
    if (row->columns == NULL) {
        say("-");
        return WR_OK;
    }
    say("{");
    for (size_t i = 0; i < row->column_count; i++) {
        struct datum datum;
        enum wr_status status = row_datum(row, row->columns[i], scratch, &datum, e);
        if (status != WR_OK) {
            return status;
        }
        say("%s%s: ", i == 0 ? "" : ", ", row->columns[i]->name);
        say_datum(&datum);
    }
    for (size_t i = 0; i < row->added_count; i++) {
        say(", %.*s: ", (int)row->added[i].name.size, row->added[i].name.data);
        say_datum(&row->added[i].value);
    }
    say("}");
    return WR_OK;
}

static inline enum wr_status say_document(const struct document *shape, const struct row_view *row,
                                          struct wr_error *e)
{
    struct wr_buffer text;

    if (row->columns == NULL) {
        say("-");
        return WR_OK;
    }
    wr_buffer_init(&text, 1 << 16);
    enum wr_status status = document_write(shape, row, scratch, &text, e);
    say("%.*s", (int)text.size, text.data == NULL ? "" : text.data);
    wr_buffer_done(&text);
    return status;
}

static inline enum wr_status say_part(const struct record_part *part, struct wr_error *e)
{
    enum wr_status status = WR_OK;

    switch (part->kind) {
    case PART_NULL:
        say("null");
        break;
    case PART_DATUM:
        say_datum(&part->as.datum);
        break;
    case PART_ROW:
        status = say_row(&part->as.row, e);
        break;
    case PART_ENVELOPE:
        say("%c ", part->as.envelope.op);
        status = say_row(&part->as.envelope.before, e);
        say(" ");
        if (status == WR_OK) {
            status = say_row(&part->as.envelope.after, e);
        }
        break;
    case PART_VERBATIM:
        say("\"%.*s\"", (int)part->as.verbatim.size, part->as.verbatim.data);
        break;
    case PART_DOCUMENT:
        status = say_document(part->as.document.shape, &part->as.document.row, e);
        break;
    case PART_WAREHOUSE:
        say("%c ", part->as.warehouse.rows->op);
        status =
            say_document(&part->as.warehouse.shape->columns, &part->as.warehouse.rows->before, e);
        say(" ");
        if (status == WR_OK) {
            status = say_document(&part->as.warehouse.shape->columns,
                                  &part->as.warehouse.rows->after, e);
        }
        break;
    case PART_MESSAGE:
        say("m '%.*s' ", (int)part->as.message.prefix.size, part->as.message.prefix.data);
        say_bytes(part->as.message.content);
        break;
    }
    return status;
}

/* topic | key | value, then what is set of headers, partition and timestamp. */
static inline enum wr_status fixture_emit(void *context, const struct record *record,
                                          struct wr_error *e)
{
    (void)context;
    say("%.*s | ", (int)record->topic.size, record->topic.data);
    enum wr_status status = say_part(&record->key, e);
    if (status == WR_OK) {
        say(" | ");
        status = say_part(&record->value, e);
    }
    for (size_t i = 0; status == WR_OK && i < record->header_count; i++) {
        say(" %s=", record->headers[i].name);
        status = say_part(&record->headers[i].value, e);
    }
    if (record->partition != -1) {
        say(" partition=%d", record->partition);
    }
    if (record->timestamp_ms != -1) {
        say(" time=%lld", (long long)record->timestamp_ms);
    }
    say("\n");
    if (also_emit != NULL) {
        also_emit(record);
    }
    return status == WR_OK ? emit_status : status;
}

static inline void fixture_notice(void *context, const char *text)
{
    (void)context;
    int size = snprintf(notices + notices_size, sizeof(notices) - notices_size, "%s\n", text);
    cr_assert(size >= 0 && (size_t)size < sizeof(notices) - notices_size);
    notices_size += (size_t)size;
}

/* What cannot be made stands among what was emitted, and the rest goes on. */
static inline enum wr_status fixture_refuse(void *context, const struct change *change,
                                            struct wr_error *e)
{
    (void)context;
    (void)change;
    say("refused: %s\n", e->text);
    return WR_OK;
}

static inline enum wr_status fixture_type(void *context, uint32_t oid, struct wr_arena *arena,
                                          struct type_info *out, struct wr_error *e)
{
    (void)context;
    (void)arena;
    (void)out;
    return wr_fail(e, WR_REJECT, "catalog", "type %u is not there", oid);
}

static inline enum wr_status fixture_table(void *context, uint32_t oid, struct wr_arena *arena,
                                           struct table_info *out, struct wr_error *e)
{
    (void)context;
    (void)arena;
    if (catalog_status != WR_OK) {
        return wr_fail(e, catalog_status, "catalog", "table %u is not there", oid);
    }
    *out = catalog_table;
    return WR_OK;
}

static const struct catalog_source FIXTURE_CATALOG = {.type = fixture_type, .table = fixture_table};

static inline void open_fixture(void)
{
    config = (struct config){
        .database_dbname = "shop",
        .topic_prefix = "shop",
        .topic_delimiter = ".",
        .tombstones_on_delete = true,
        .money_fraction_digits = 2,
        .unavailable_value_placeholder = "gone",
    };
    scratch = wr_arena_new(1 << 20);
    catalog_status = WR_REJECT;
    emit_status = WR_OK;
}

static inline void close_fixture(void)
{
    for (size_t i = 0; i < relation_count; i++) {
        wr_arena_free(relations[i]->arena);
    }
    router_free(router);
    wr_arena_free(scratch);
}

static const struct router_sink FIXTURE_SINK = {
    .emit = fixture_emit, .refuse = fixture_refuse, .notice = fixture_notice};

static inline void start_router(void)
{
    cr_assert_eq(router_new(&config, &FIXTURE_SINK, &router, &err), WR_OK, "%s", err.text);
}

static inline struct relation *make_relation(const char *schema, const char *table, char identity,
                                             const struct fixture_column *columns, size_t count)
{
    struct wr_arena *arena = wr_arena_new(WR_RELATION_SIZE_MAX);
    struct relation *relation = wr_arena_alloc(arena, 1, sizeof(*relation));

    cr_assert(relation != NULL && relation_count < COUNT(relations));
    relations[relation_count++] = relation;
    *relation = (struct relation){
        .arena = arena,
        .oid = 16384 + (uint32_t)relation_count,
        .schema = schema,
        .table = table,
        .replica_identity = identity,
        .column_count = (uint16_t)count,
        .columns = wr_arena_alloc(arena, count, sizeof(struct column)),
    };
    for (size_t i = 0; i < count; i++) {
        relation->columns[i] = (struct column){
            .name = columns[i].name,
            .type_oid = columns[i].type_oid,
            .type_mod = -1,
            .is_key = columns[i].is_key,
        };
    }
    return relation;
}

#define MAKE_RELATION(schema, table, identity, columns)                                            \
    make_relation((schema), (table), (identity), (columns), COUNT(columns))

/* The same, compiled; starts the router when the test has not. */
static inline struct relation *compile(struct relation *relation)
{
    if (router == NULL) {
        start_router();
    }
    cr_assert_eq(router_compile(router, relation, &FIXTURE_CATALOG, &err), WR_OK, "%s", err.text);
    return relation;
}

static inline struct tuple make_tuple(const struct relation *relation, const char *const *texts)
{
    struct tuple tuple = {.column_count = relation->column_count};

    tuple.cells = wr_arena_alloc(relation->arena, relation->column_count, sizeof(*tuple.cells));
    for (size_t i = 0; i < relation->column_count; i++) {
        tuple.cells[i].kind = texts[i] == NULL        ? CELL_NULL
                              : texts[i] == UNCHANGED ? CELL_UNCHANGED
                                                      : CELL_TEXT;
        tuple.cells[i].text = wr_slice_str(texts[i] == NULL ? "" : texts[i]);
    }
    return tuple;
}

/* Routes one change; `before` and `after` may be NULL. What came out is in `emitted`. */
static inline enum wr_status route(enum change_op op, const struct relation *relation,
                                   enum old_kind old_kind, const char *const *before,
                                   const char *const *after)
{
    struct change change = {
        .op = op,
        .relation = relation,
        .old_kind = old_kind,
        .source = {.commit_time_us = 1777665600000000,
                   .lsn = 0x16B3748,
                   .xid = 731,
                   .now_ns = 1777665601234567890},
    };

    if (before != NULL) {
        change.old_tuple = make_tuple(relation, before);
    }
    if (after != NULL) {
        change.new_tuple = make_tuple(relation, after);
    }
    emitted_size = 0;
    emitted[0] = '\0';
    enum wr_status status = router_change(router, &change, scratch, &err);
    wr_arena_reset(scratch);
    return status;
}

#define ROW(...) ((const char *const[]){__VA_ARGS__})

#define EXPECT_EMITTED(text) cr_expect_str_eq(emitted, (text), "emitted:\n%s", emitted)
#define EXPECT_NOTICES(text) cr_expect_str_eq(notices, (text), "notices:\n%s", notices)

static inline void expect_insert(const struct relation *relation, const char *const *row,
                                 const char *expected)
{
    cr_assert_eq(route(OP_CREATE, relation, OLD_NONE, NULL, row), WR_OK, "%s", err.text);
    EXPECT_EMITTED(expected);
}

#endif /* WR_TESTS_UNIT_ROUTER_FIXTURE_H */
