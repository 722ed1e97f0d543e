/*
 * The values that stand for ones that are not there (types.h). Debezium publishes them in place of
 * null where a column is NOT NULL, and so they have to be its own: the column's default as far as
 * it understands it, else an empty value of the type.
 */
#include <string.h>

#include "base/arena.h"
#include "decoder/binary.h"
#include "decoder/datetime.h"
#include "decoder/geometry.h"
#include "decoder/hstore.h"
#include "decoder/numeric.h"
#include "decoder/oid.h"
#include "decoder/postgis.h"
#include "decoder/scalar.h"
#include "decoder/types.h"
#include "decoder/vector.h"

/* Text of an empty value, by type. */
struct empty {
    uint32_t oid;
    const char *text;      /* of a column without a default */
    const char *generated; /* of one whose default is a function; NULL: Debezium reads no default */
};

static const struct empty EMPTIES[] = {
    {OID_BOOL, "f", "f"},
    {OID_BYTEA, "\\x", NULL},
    {OID_INT2, "0", "0"},
    {OID_INT4, "0", "0"},
    {OID_INT8, "0", "0"},
    {OID_OID, "0", NULL},
    {OID_FLOAT4, "0", "0"},
    {OID_FLOAT8, "0", "0"},
    {OID_NUMERIC, "0", "0"},
    {OID_MONEY, "$0.00", NULL},
    {OID_TEXT, "", ""},
    {OID_VARCHAR, "", ""},
    {OID_BPCHAR, "", ""},
    {OID_XML, "", ""},
    {OID_JSON, "", "{}"},
    {OID_JSONB, "", "{}"},
    {OID_UUID, "", "00000000-0000-0000-0000-000000000000"},
    {OID_BIT, "", ""},
    {OID_VARBIT, "", ""},
    {OID_DATE, "1970-01-01", "1970-01-01"},
    {OID_TIME, "00:00:00", "00:00:00"},
    {OID_TIMETZ, "00:00:00+00", NULL},
    {OID_TIMESTAMP, "1970-01-01 00:00:00", "1970-01-01 00:00:00"},
    {OID_TIMESTAMPTZ, "1970-01-01 00:00:00+00", "1970-01-01 00:00:00+00"},
    {OID_INTERVAL, "00:00:00", "00:00:00"},
    {OID_POINT, "(0,0)", NULL},
};

/* Of types without a fixed oid. */
static const struct {
    type_parse parse;
    struct empty empty;
} NAMED_EMPTIES[] = {
    {postgis_parse, {0, "010700000000000000", NULL}}, /* a collection of no geometry */
    {vector_parse, {0, "[]", NULL}},
    {halfvec_parse, {0, "[]", NULL}},
    {sparsevec_parse, {0, "{}/0", NULL}},
};

static const struct empty *find_empty(const struct column_type *type)
{
    static const struct empty ARRAY = {0, "{}", NULL};
    static const struct empty OTHER = {0, "", NULL}; /* strings, hstore, opaque bytes */

    if (type->element != NULL) {
        return &ARRAY;
    }
    for (size_t i = 0; i < sizeof(NAMED_EMPTIES) / sizeof(NAMED_EMPTIES[0]); i++) {
        if (NAMED_EMPTIES[i].parse == type->parse) {
            return &NAMED_EMPTIES[i].empty;
        }
    }
    for (size_t i = 0; i < sizeof(EMPTIES) / sizeof(EMPTIES[0]); i++) {
        if (EMPTIES[i].oid == type->oid) {
            return &EMPTIES[i];
        }
    }
    return &OTHER;
}

/* "now()", "nextval('s'::regclass)", "(gen_random_uuid())::text": a bare name and a bracket. */
static bool is_function(const char *text)
{
    static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

    text += text[0] == '(';
    size_t size = strspn(text, NAME);
    return size > 0 && text[size] == '(';
}

/* The inside of 'it''s', with its quotes undone in place. The cast behind it may follow. */
static bool read_quoted(char *text, struct wr_slice *out)
{
    const char *p = text;
    size_t size = 0;

    for (; *p != '\0'; p++) {
        if (*p == '\'' && *++p != '\'') {
            *out = (struct wr_slice){text, size};
            return *p == '\0' || strncmp(p, "::", 2) == 0;
        }
        text[size++] = *p;
    }
    return false;
}

/*
 * The constant in pg_get_expr's text of a default: 7, 1.5, true, 'text'::type, B'101'::"bit".
 * `text` is changed. False for expressions and for NULL::type.
 */
static bool read_constant(char *text, struct wr_slice *out)
{
    if (strncmp(text, "B'", 2) == 0) {
        return read_quoted(text + 2, out);
    }
    if (text[0] == '\'') {
        return read_quoted(text + 1, out);
    }
    *out = wr_slice_str(text);
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        out->size = 1; /* as PostgreSQL prints a bool: "t", "f" */
        return true;
    }
    return out->size > 0 && strspn(text, "0123456789.") == out->size;
}

static enum wr_status parse_static(const struct column_type *type, const char *text,
                                   struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    return type->parse(type, wr_slice_str(text), arena, out, err);
}

static enum wr_status set_empty(const struct column_type *type, const struct empty *empty,
                                struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    /* Here, and only here, Debezium leaves the fraction away. */
    if (empty->oid == OID_TIMESTAMPTZ) {
        *out = (struct datum){.kind = DATUM_STRING, .as.bytes = WR_SLICE("1970-01-01T00:00:00Z")};
        return WR_OK;
    }
    /* No shape is empty, but the bytes that stand for one are. */
    if (type->parse == shape_parse) {
        return opaque_parse(type, WR_SLICE(""), arena, out, err);
    }
    return parse_static(type, empty->text, arena, out, err);
}

enum wr_status type_default(const struct column_type *type, const char *default_text,
                            struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    const struct empty *empty = find_empty(type);
    struct wr_slice constant;

    *out = (struct datum){.kind = DATUM_NULL};
    if (default_text == NULL || empty->generated == NULL) {
        return WR_OK;
    }
    if (is_function(default_text)) {
        return parse_static(type, empty->generated, arena, out, err);
    }
    char *copy = wr_arena_alloc_raw(arena, strlen(default_text) + 1, 1);
    if (copy == NULL) {
        return type_no_room(type, err);
    }
    memcpy(copy, default_text, strlen(default_text) + 1);
    if (!read_constant(copy, &constant) || type->parse(type, constant, arena, out, err) != WR_OK) {
        *out = (struct datum){.kind = DATUM_NULL};
    }
    return WR_OK;
}

enum wr_status type_absent(const struct column_type *type, const char *default_text,
                           struct wr_arena *arena, struct datum *out, struct wr_error *err)
{
    enum wr_status status = type_default(type, default_text, arena, out, err);

    if (status != WR_OK || out->kind != DATUM_NULL) {
        return status;
    }
    return set_empty(type, find_empty(type), arena, out, err);
}

/* Arrays of integers, and of dates that are such, have each byte of the placeholder as an element.
 */
static enum wr_status unavailable_ints(const struct column_type *type, struct wr_arena *arena,
                                       struct datum *out, struct wr_error *err)
{
    struct wr_slice placeholder = type->options->unavailable_value_placeholder;
    struct datum *items = wr_arena_alloc(arena, placeholder.size + 1, sizeof(*items));

    if (items == NULL) {
        return type_no_room(type, err);
    }
    for (size_t i = 0; i < placeholder.size; i++) {
        items[i] =
            (struct datum){.kind = DATUM_INT, .as.integer = (signed char)placeholder.data[i]};
    }
    *out = (struct datum){.kind = DATUM_ARRAY, .as.array = {items, placeholder.size}};
    return WR_OK;
}

/* One key and its value, both of them the placeholder. */
static enum wr_status unavailable_map(const struct column_type *type, struct wr_arena *arena,
                                      struct datum *out, struct wr_error *err)
{
    struct wr_slice placeholder = type->options->unavailable_value_placeholder;
    struct datum_field *field = wr_arena_alloc(arena, 1, sizeof(*field));

    if (field == NULL) {
        return type_no_room(type, err);
    }
    *field = (struct datum_field){placeholder, {.kind = DATUM_STRING, .as.bytes = placeholder}};
    *out = (struct datum){.kind = DATUM_STRUCT, .as.structure = {field, 1}};
    return WR_OK;
}

static enum wr_status unavailable_array(const struct column_type *type, struct wr_arena *arena,
                                        struct datum *out, struct wr_error *err)
{
    uint32_t element_oid = type->element->oid;

    if (element_oid == OID_INT2 || element_oid == OID_INT4 || element_oid == OID_INT8 ||
        type->element->parse == date_parse) {
        return unavailable_ints(type, arena, out, err);
    }
    struct datum *item = wr_arena_alloc(arena, 1, sizeof(*item));
    if (item == NULL) {
        return type_no_room(type, err);
    }
    enum wr_status status = type_unavailable(type->element, arena, item, err);
    if (status == WR_OK && item->kind != DATUM_NULL) {
        *out = (struct datum){.kind = DATUM_ARRAY, .as.array = {item, 1}};
    }
    return status;
}

enum wr_status type_unavailable(const struct column_type *type, struct wr_arena *arena,
                                struct datum *out, struct wr_error *err)
{
    struct wr_slice placeholder = type->options->unavailable_value_placeholder;

    *out = (struct datum){.kind = DATUM_NULL};
    if (type->element != NULL) {
        return unavailable_array(type, arena, out, err);
    }
    if (type->parse == hstore_parse_map) {
        return unavailable_map(type, arena, out, err);
    }
    if (type->parse == bytea_parse || type->parse == opaque_parse || type->parse == shape_parse) {
        return opaque_parse(type, placeholder, arena, out, err);
    }
    if (type->parse == text_parse || type->parse == hstore_parse_json ||
        type->parse == numeric_parse_string) {
        return text_parse(type, placeholder, arena, out, err);
    }
    return WR_OK;
}
