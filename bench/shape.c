#include "shape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"

/* pg_type.dat */
enum {
    OID_INT8 = 20,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_TIMESTAMPTZ = 1184,
    OID_NUMERIC = 1700,
    OID_UUID = 2950,
    OID_JSONB = 3802,
};

enum {
    TYPMOD_NONE = -1,
    TYPMOD_NUMERIC_10_2 = (10 << 16 | 2) + 4,
    NAME_SIZE_MAX = 64,
    COMMIT_TIME_US = 1000000, /* any: one second after PostgreSQL's epoch */
};

struct shape_column {
    const char *name;
    uint32_t type_oid;
    int32_t type_mod;
};

static const struct shape_column EVENTS[] = {
    {"id", OID_INT8, TYPMOD_NONE},
    {"title", OID_TEXT, TYPMOD_NONE},
    {"venue", OID_TEXT, TYPMOD_NONE},
    {"starts_at", OID_TIMESTAMPTZ, TYPMOD_NONE},
    {"price", OID_NUMERIC, TYPMOD_NUMERIC_10_2},
    {"capacity", OID_INT4, TYPMOD_NONE},
    {"tags", OID_JSONB, TYPMOD_NONE},
    {"updated_at", OID_TIMESTAMPTZ, TYPMOD_NONE},
};

static const struct shape_column OUTBOX[] = {
    {"id", OID_INT8, TYPMOD_NONE},
    {"event_id", OID_UUID, TYPMOD_NONE},
    {"aggregate_type", OID_TEXT, TYPMOD_NONE},
    {"aggregate_id", OID_TEXT, TYPMOD_NONE},
    {"type", OID_TEXT, TYPMOD_NONE},
    {"payload", OID_JSONB, TYPMOD_NONE},
    {"created_at", OID_TIMESTAMPTZ, TYPMOD_NONE},
    {"published_at", OID_TIMESTAMPTZ, TYPMOD_NONE},
};

uint16_t shape_column_count(const struct shape *shape)
{
    switch (shape->kind) {
    case SHAPE_EVENTS:
        return sizeof(EVENTS) / sizeof(EVENTS[0]);
    case SHAPE_OUTBOX:
        return sizeof(OUTBOX) / sizeof(OUTBOX[0]);
    case SHAPE_PLAIN:
        return shape->column_count;
    }
    return 0;
}

/* `name` is room for a name that has to be made, NAME_SIZE_MAX bytes. */
static struct shape_column column_at(const struct shape *shape, uint16_t index, char *name)
{
    switch (shape->kind) {
    case SHAPE_EVENTS:
        return EVENTS[index];
    case SHAPE_OUTBOX:
        return OUTBOX[index];
    case SHAPE_PLAIN:
        break;
    }
    (void)snprintf(name, NAME_SIZE_MAX, "column_%u", index);
    uint32_t plain_oid = index % 2 == 0 ? OID_INT4 : OID_TEXT;
    return (struct shape_column){index == 0 ? "id" : name, index == 0 ? OID_INT8 : plain_oid,
                                 TYPMOD_NONE};
}

static void put_uint(struct wr_buffer *out, uint64_t value, size_t size)
{
    for (size_t i = size; i > 0; i--) {
        wr_buffer_add_char(out, (char)(unsigned char)(value >> (8 * (i - 1))));
    }
}

static void put_str(struct wr_buffer *out, const char *text)
{
    wr_buffer_add(out, text, strlen(text) + 1);
}

/* One cell of a tuple. */
static void put_text(struct wr_buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put_text(struct wr_buffer *out, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    int size = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    wr_buffer_add_char(out, 't');
    put_uint(out, (uint64_t)size, 4);
    wr_buffer_add(out, text, (size_t)size);
}

void shape_begin(struct wr_buffer *out, uint64_t commit_lsn, uint32_t xid)
{
    wr_buffer_add_char(out, 'B');
    put_uint(out, commit_lsn, 8);
    put_uint(out, COMMIT_TIME_US, 8);
    put_uint(out, xid, 4);
}

void shape_commit(struct wr_buffer *out, uint64_t commit_lsn)
{
    wr_buffer_add_char(out, 'C');
    put_uint(out, 0, 1);
    put_uint(out, commit_lsn, 8);
    put_uint(out, commit_lsn + 48, 8);
    put_uint(out, COMMIT_TIME_US, 8);
}

void shape_relation(struct wr_buffer *out, const struct shape *shape, uint32_t oid)
{
    char name[NAME_SIZE_MAX];

    wr_buffer_add_char(out, 'R');
    put_uint(out, oid, 4);
    put_str(out, "public");
    (void)snprintf(name, sizeof(name), "table_%" PRIu32, oid);
    put_str(out, shape->kind == SHAPE_OUTBOX ? "outbox" : name);
    wr_buffer_add_char(out, 'd');
    put_uint(out, shape_column_count(shape), 2);
    for (uint16_t i = 0; i < shape_column_count(shape); i++) {
        struct shape_column column = column_at(shape, i, name);
        put_uint(out, i == 0, 1);
        put_str(out, column.name);
        put_uint(out, column.type_oid, 4);
        put_uint(out, (uint32_t)column.type_mod, 4);
    }
}

static void put_event(struct wr_buffer *out, int64_t number)
{
    put_text(out, "%" PRId64, number);
    put_text(out, "Season opening concert number %" PRId64, number);
    put_text(out, "Hall %" PRId64, number % 50);
    put_text(out, "2027-01-01 %02" PRId64 ":%02" PRId64 ":00+00", number / 60 % 24, number % 60);
    put_text(out, "%" PRId64 ".%02" PRId64, 20 + number % 90, number % 100);
    put_text(out, "%" PRId64, 100 + number % 5000);
    put_text(out, "[\"music\", \"live\", \"season-%" PRId64 "\"]", number % 12);
    put_text(out, "2026-11-30 12:34:56.%06" PRId64 "+00", number % 1000000);
}

static void put_outbox(struct wr_buffer *out, int64_t number)
{
    put_text(out, "%" PRId64, number);
    put_text(out, "5f0c1a3e-8d2b-4c4f-9a6e-%012" PRId64, number);
    put_text(out, "order");
    put_text(out, "ord-%" PRId64, number % 100000);
    put_text(out, "OrderPlaced");
    put_text(out,
             "{\"note\": \"Two seats on the aisle, please, and one close to the stage; the tickets "
             "are collected at the counter before the show begins.\", \"seats\": [\"A1\", \"A2\", "
             "\"B1\"], \"total\": \"%" PRId64 ".00\", \"orderId\": \"ord-%" PRId64
             "\", \"currency\": \"EUR\", \"customer\": {\"id\": \"cus-%" PRId64
             "\", \"name\": \"Ada Lovelace\", \"email\": \"ada@example.org\"}}",
             20 + number % 90, number % 100000, number % 7919);
    put_text(out, "2026-11-30 12:34:56.%06" PRId64 "+00", number % 1000000);
    wr_buffer_add_char(out, 'n');
}

static void put_plain(struct wr_buffer *out, uint16_t column_count, int64_t number)
{
    for (uint16_t i = 0; i < column_count; i++) {
        if (i % 2 == 0) {
            put_text(out, "%" PRId64, number);
        } else {
            put_text(out, "a text of twenty-five, %02" PRId64, number % 100);
        }
    }
}

void shape_insert(struct wr_buffer *out, const struct shape *shape, uint32_t oid, int64_t number)
{
    wr_buffer_add_char(out, 'I');
    put_uint(out, oid, 4);
    wr_buffer_add_char(out, 'N');
    put_uint(out, shape_column_count(shape), 2);
    switch (shape->kind) {
    case SHAPE_EVENTS:
        put_event(out, number);
        return;
    case SHAPE_OUTBOX:
        put_outbox(out, number);
        return;
    case SHAPE_PLAIN:
        put_plain(out, shape->column_count, number);
        return;
    }
}

enum wr_status shape_table_info(const struct shape *shape, struct wr_arena *arena,
                                struct table_info *out, struct wr_error *err)
{
    char name[NAME_SIZE_MAX];
    uint16_t count = shape_column_count(shape);

    out->columns = wr_arena_alloc(arena, count, sizeof(*out->columns));
    out->key_columns = wr_arena_alloc(arena, 1, sizeof(*out->key_columns));
    if (out->columns == NULL || out->key_columns == NULL) {
        return wr_fail(err, WR_FATAL, "shape", "%u columns do not fit the arena", count);
    }
    out->column_count = count;
    for (uint16_t i = 0; i < count; i++) {
        out->columns[i].name = wr_arena_strdup(arena, column_at(shape, i, name).name);
        out->columns[i].is_not_null = true;
    }
    out->key_columns[0] = out->columns[0].name;
    out->key_column_count = 1;
    return WR_OK;
}
