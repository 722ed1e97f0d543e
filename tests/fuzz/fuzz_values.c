/*
 * Any text at all, in the place of one column's value, of any type in any mode: refused, or a value
 * that its type's schema describes. The first bytes choose the type, the modes and the typmod.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_scan.h"
#include "decoder/natural.h"
#include "decoder/schema.h"
#include "decoder/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_SIZE = 5, OID_EXTENSION = 20000, ARENA_SIZE = 1 << 24 };

static const uint32_t BUILTINS[] = {
    16,   17,   18,   19,   20,   21,   23,   25,   26,   114,  142,  600,  650,  700,
    701,  774,  790,  829,  869,  1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1560,
    1562, 1700, 2950, 3614, 3802, 3904, 601,  602,  603,  628,  718,  1000, 1001, 1007,
    1009, 1017, 1182, 1183, 1115, 1185, 1187, 1270, 1561, 1231, 791,  2951, 1020, 3220};

static const char *const EXTENSIONS[] = {"hstore",    "citext", "ltree",   "isbn",      "geometry",
                                         "geography", "vector", "halfvec", "sparsevec", "other"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Oids above OID_EXTENSION: an extension's type, and behind them all an array of each. */
static enum wr_status find_type(void *context, uint32_t oid, struct wr_arena *arena,
                                struct type_info *out, struct wr_error *err)
{
    uint32_t index = oid - OID_EXTENSION;

    (void)context;
    (void)arena;
    (void)err;
    *out = (struct type_info){.oid = oid, .schema = "public", .name = "other", .typtype = 'b'};
    out->delimiter = oid == 603 ? ';' : ',';
    out->labels = "";
    if (oid < OID_EXTENSION) {
        out->element_oid = oid == 1020 ? 603 : 0;
    } else if (index < COUNT(EXTENSIONS)) {
        out->name = EXTENSIONS[index];
        out->delimiter = index == 4 || index == 5 ? ':' : ',';
    } else {
        out->element_oid = oid - (uint32_t)COUNT(EXTENSIONS);
    }
    return WR_OK;
}

static uint32_t choose_oid(uint8_t byte)
{
    size_t index = byte % (COUNT(BUILTINS) + 2 * COUNT(EXTENSIONS));

    return index < COUNT(BUILTINS) ? BUILTINS[index]
                                   : OID_EXTENSION + (uint32_t)(index - COUNT(BUILTINS));
}

static void check(const struct schema *schema, const struct datum *value);

static void check_bytes(struct wr_slice bytes)
{
    static volatile unsigned char sink;

    for (size_t i = 0; i < bytes.size; i++) {
        sink ^= (unsigned char)bytes.data[i]; /* so that AddressSanitizer sees where it points */
    }
}

static void check_integer(const struct schema *schema, int64_t value)
{
    switch (schema->type) {
    case SCHEMA_INT16:
        assert(value >= INT16_MIN && value <= INT16_MAX);
        return;
    case SCHEMA_INT32:
        assert(value >= INT32_MIN && value <= INT32_MAX);
        return;
    default:
        assert(schema->type == SCHEMA_INT64);
    }
}

static void check_struct(const struct schema *schema, const struct datum *value)
{
    for (size_t i = 0; i < value->as.structure.count; i++) {
        const struct datum_field *field = &value->as.structure.fields[i];

        if (schema->type == SCHEMA_MAP) {
            check_bytes(field->name);
            check(schema->element, &field->value);
            continue;
        }
        assert(schema->type == SCHEMA_STRUCT && value->as.structure.count == schema->field_count);
        assert(wr_slice_eq(field->name, schema->fields[i].name));
        check(schema->fields[i].schema, &field->value);
    }
}

/* Arrays of several dimensions are arrays in arrays, which Connect's schemas cannot say. */
static void check_array(const struct schema *schema, const struct datum *value)
{
    for (size_t i = 0; i < value->as.array.count; i++) {
        const struct datum *item = &value->as.array.items[i];

        if (schema->type == SCHEMA_MAP) {
            assert(item->kind == DATUM_ARRAY && item->as.array.count == 2);
            check(schema->key, &item->as.array.items[0]);
            check(schema->element, &item->as.array.items[1]);
        } else if (item->kind == DATUM_ARRAY && schema->element->type != SCHEMA_ARRAY) {
            check_array(schema, item);
        } else if (item->kind != DATUM_NULL) {
            check(schema->element, item);
        }
    }
}

static void check(const struct schema *schema, const struct datum *value)
{
    switch (value->kind) {
    case DATUM_NULL:
        assert(schema->is_optional);
        return;
    case DATUM_BOOL:
        assert(schema->type == SCHEMA_BOOLEAN);
        return;
    case DATUM_INT:
        check_integer(schema, value->as.integer);
        return;
    case DATUM_FLOAT32:
    case DATUM_FLOAT64:
        assert(schema->type == (value->kind == DATUM_FLOAT32 ? SCHEMA_FLOAT32 : SCHEMA_FLOAT64));
        check_bytes(value->as.bytes);
        return;
    case DATUM_STRING:
    case DATUM_BYTES:
        assert(schema->type == (value->kind == DATUM_STRING ? SCHEMA_STRING : SCHEMA_BYTES));
        check_bytes(value->as.bytes);
        return;
    case DATUM_ARRAY:
        assert(schema->type == SCHEMA_ARRAY || schema->type == SCHEMA_MAP);
        check_array(schema, value);
        return;
    case DATUM_STRUCT:
        check_struct(schema, value);
        return;
    case DATUM_JSON:
        break;
    }
    abort();
}

/* What is embedded as it is may be any text here; PostgreSQL has read it as JSON before. */
static bool is_embedded(const struct natural_type *type)
{
    return type->kind == NATURAL_JSON || type->kind == NATURAL_VECTOR ||
           (type->element != NULL && is_embedded(type->element));
}

/* Natural JSON is JSON, and has a plain text where it has a form. */
static void check_natural(const struct column_type *type, struct wr_slice text,
                          struct wr_arena *arena)
{
    const struct natural_type *natural = natural_type_new(type, arena);
    struct wr_buffer json, plain;
    struct wr_error err = {0};

    assert(natural != NULL);
    wr_buffer_init(&json, ARENA_SIZE);
    wr_buffer_init(&plain, ARENA_SIZE);
    enum wr_status status = natural_json(natural, text, arena, &json, &err);
    assert(natural_text(natural, text, arena, &plain, &err) == status);
    assert(status != WR_OK || is_embedded(natural) || json.failed ||
           wr_json_is_valid(wr_buffer_slice(&json)));
    wr_buffer_done(&json);
    wr_buffer_done(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wr_arena *arena;
    const struct catalog_source catalog = {.type = find_type};
    struct wr_error err = {0};
    struct column_type type;
    struct datum value = {0};

    if (size < HEAD_SIZE) {
        return 0;
    }
    const struct type_options options = {
        .decimal_handling_mode = data[1] % 3,
        .time_precision_mode = data[1] / 3 % 6,
        .binary_handling_mode = data[2] % 4,
        .interval_handling_mode = data[2] / 4 % 2,
        .hstore_handling_mode = data[2] / 8 % 2,
        .include_unknown_datatypes = data[2] / 16 % 2 == 1,
        .money_fraction_digits = data[2] / 32,
        .unavailable_value_placeholder = WR_SLICE("gone"),
    };
    int32_t typmod = data[3] == 0 ? -1 : data[3] << 16 | data[4];
    if (data[3] == 1) {
        typmod = data[4];
    }
    if (arena == NULL) {
        arena = wr_arena_new(ARENA_SIZE);
    }
    wr_arena_reset(arena);
    assert(type_compile(&options, &catalog, choose_oid(data[0]), typmod, arena, &type, &err) ==
           WR_OK);
    assert((type.parse == NULL) == (type.schema == NULL));
    const struct wr_slice text = {(const char *)data + HEAD_SIZE, size - HEAD_SIZE};
    if (type.parse != NULL && type.parse(&type, text, arena, &value, &err) == WR_OK) {
        check(type.schema, &value);
    }
    check_natural(&type, text, arena);
    return 0;
}
