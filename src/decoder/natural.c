#include "decoder/natural.h"

#include <string.h>

#include "base/arena.h"
#include "base/json_path.h"
#include "base/json_write.h"
#include "decoder/datetime.h"
#include "decoder/hstore.h"
#include "decoder/interval.h"
#include "decoder/moment.h"
#include "decoder/numeric.h"
#include "decoder/oid.h"
#include "decoder/vector.h"

/* What has an oid of its own; the others are text. */
static const struct {
    uint32_t oid;
    enum natural_kind kind;
} KINDS[] = {
    {OID_BOOL, NATURAL_BOOL},
    {OID_BYTEA, NATURAL_BYTES},
    {OID_INT8, NATURAL_INT},
    {OID_INT2, NATURAL_INT},
    {OID_INT4, NATURAL_INT},
    {OID_OID, NATURAL_INT},
    {OID_JSON, NATURAL_JSON},
    {OID_JSONB, NATURAL_JSON},
    {OID_FLOAT4, NATURAL_FLOAT4},
    {OID_FLOAT8, NATURAL_FLOAT8},
    {OID_MONEY, NATURAL_MONEY},
    {OID_DATE, NATURAL_DATE},
    {OID_TIMESTAMP, NATURAL_TIMESTAMP},
    {OID_TIMESTAMPTZ, NATURAL_TIMESTAMPTZ},
    {OID_INTERVAL, NATURAL_INTERVAL},
    {OID_TIMETZ, NATURAL_TIMETZ},
    {OID_NUMERIC, NATURAL_NUMERIC},
};

static enum natural_kind kind_of(const struct column_type *type)
{
    if (type->element != NULL) {
        return NATURAL_ARRAY;
    }
    if (type->parse == hstore_parse_json || type->parse == hstore_parse_map) {
        return NATURAL_HSTORE;
    }
    if (type->parse == vector_parse || type->parse == halfvec_parse) {
        return NATURAL_VECTOR;
    }
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        if (KINDS[i].oid == type->oid) {
            return KINDS[i].kind;
        }
    }
    return NATURAL_TEXT;
}

/* numeric keeps precision and scale, of 11 bits with a sign, in one number behind a header of 4. */
static const char *numeric_name(const struct column_type *type, struct wr_arena *arena)
{
    int32_t packed = type->typmod - 4;
    int scale = ((packed & 0x7ff) ^ 0x400) - 0x400;

    return wr_arena_printf(arena, "numeric(%d,%d)", (packed >> 16) & 0xffff, scale);
}

static const char *name_of(const struct column_type *type, struct wr_arena *arena)
{
    if (type->element != NULL) {
        const char *element = name_of(type->element, arena);
        return element == NULL ? NULL : wr_arena_printf(arena, "%s[]", element);
    }
    if (strchr(type->name, ' ') != NULL) { /* not a name: of a type that is unknown, or gone */
        return "text";
    }
    if (type->typmod < 0) {
        return wr_arena_strdup(arena, type->name);
    }
    switch (type->oid) {
    case OID_NUMERIC:
        return type->typmod < 4 ? "numeric" : numeric_name(type, arena);
    case OID_BPCHAR:
    case OID_VARCHAR:
        return wr_arena_printf(arena, "%s(%d)", type->name, type->typmod - 4);
    case OID_TIME:
    case OID_TIMETZ:
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
    case OID_BIT:
    case OID_VARBIT:
        return wr_arena_printf(arena, "%s(%d)", type->name, type->typmod);
    default:
        return wr_arena_strdup(arena, type->name);
    }
}

const struct natural_type *natural_type_new(const struct column_type *type, struct wr_arena *arena)
{
    struct natural_type *out = wr_arena_alloc(arena, 1, sizeof(*out));

    if (out == NULL) {
        return NULL;
    }
    out->kind = kind_of(type);
    out->type = type;
    out->name = name_of(type, arena);
    if (type->element != NULL) {
        out->element = natural_type_new(type->element, arena);
    }
    return out->name == NULL || (type->element != NULL && out->element == NULL) ? NULL : out;
}

static size_t count_digits(const char *p, const char *end)
{
    const char *start = p;

    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }
    return (size_t)(p - start);
}

bool natural_is_number(struct wr_slice text)
{
    const char *p = text.data;
    const char *end = p + text.size;
    size_t count;

    p += p < end && *p == '-';
    count = count_digits(p, end);
    if (count == 0 || (count > 1 && *p == '0')) {
        return false;
    }
    p += count;
    if (p < end && *p == '.') {
        count = count_digits(++p, end);
        p += count;
    }
    if (count > 0 && p < end && *p == 'e') {
        p++;
        p += p < end && (*p == '-' || *p == '+');
        count = count_digits(p, end);
        p += count;
    }
    return count > 0 && p == end;
}

static bool is_number_word(struct wr_slice text)
{
    return wr_slice_is(text, "NaN") || wr_slice_is(text, "Infinity") ||
           wr_slice_is(text, "-Infinity");
}

static bool is_infinity(struct wr_slice text)
{
    return wr_slice_is(text, "infinity") || wr_slice_is(text, "-infinity");
}

static enum wr_status number_json(const struct natural_type *t, struct wr_slice text, bool quoted,
                                  struct wr_buffer *out, struct wr_error *err)
{
    if (natural_is_number(text)) {
        wr_buffer_add_slice(out, text);
        return WR_OK;
    }
    if (t->kind == NATURAL_INT || !is_number_word(text)) {
        return type_reject(t->type, text, err);
    }
    if (quoted) {
        wr_json_string(out, text);
    } else {
        wr_buffer_add_slice(out, text);
    }
    return WR_OK;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum wr_status natural_bytes(const struct natural_type *t, struct wr_slice text,
                             struct wr_arena *arena, struct wr_slice *out, struct wr_error *err)
{
    size_t size = text.size / 2;
    char *bytes = NULL;

    if (text.size < 2 || text.size % 2 != 0 || text.data[0] != '\\' || text.data[1] != 'x') {
        return type_reject(t->type, text, err);
    }
    bytes = wr_arena_alloc_raw(arena, size, 1);
    if (bytes == NULL) {
        return type_no_room(t->type, err);
    }
    for (size_t i = 1; i < size; i++) {
        int high = hex_value(text.data[2 * i]);
        int low = hex_value(text.data[2 * i + 1]);
        if (high < 0 || low < 0) {
            return type_reject(t->type, text, err);
        }
        bytes[i - 1] = (char)(high * 16 + low);
    }
    *out = (struct wr_slice){bytes, size - 1};
    return WR_OK;
}

enum wr_status natural_money(const struct natural_type *t, struct wr_slice text,
                             struct wr_arena *arena, struct wr_slice *out, struct wr_error *err)
{
    struct datum datum;
    enum wr_status status = money_parse_string(t->type, text, arena, &datum, err);

    if (status != WR_OK) {
        return status;
    }
    *out = datum.as.bytes;
    return natural_is_number(*out) ? WR_OK : type_reject(t->type, text, err);
}

/*
 * "2026-05-01 12:34:56[.789]", of four digits in the year and after Christ: all but very odd ones.
 * `text` is without the offset.
 */
static bool is_plain_timestamp(struct wr_slice text)
{
    static const char form[] = "0000-00-00 00:00:00";
    size_t fraction = sizeof(form); /* behind its point */

    if (text.size < sizeof(form) - 1) {
        return false;
    }
    for (size_t i = 0; i < sizeof(form) - 1; i++) {
        bool is_right =
            form[i] == '0' ? text.data[i] >= '0' && text.data[i] <= '9' : text.data[i] == form[i];
        if (!is_right) {
            return false;
        }
    }
    const char *end = text.data + text.size;
    return text.size == sizeof(form) - 1 ||
           (text.data[fraction - 1] == '.' && text.size > fraction &&
            count_digits(text.data + fraction, end) == text.size - fraction);
}

static enum wr_status date_text(const struct natural_type *t, struct wr_slice text,
                                struct wr_buffer *out, struct wr_error *err)
{
    char iso[MOMENT_SIZE_MAX];
    struct moment m;

    if (is_infinity(text)) {
        wr_buffer_add_slice(out, text);
        return WR_OK;
    }
    if (!moment_read_date(text, &m)) {
        return type_reject(t->type, text, err);
    }
    wr_buffer_add(out, iso, (size_t)(moment_put_date(iso, &m) - iso));
    return WR_OK;
}

static enum wr_status odd_timestamp_text(const struct natural_type *t, struct wr_slice text,
                                         struct wr_buffer *out, struct wr_error *err)
{
    char iso[MOMENT_SIZE_MAX];
    struct moment m;

    if (is_infinity(text)) {
        wr_buffer_add_slice(out, text);
        return WR_OK;
    }
    if (!moment_read_timestamp(text, &m) || m.has_offset != (t->kind == NATURAL_TIMESTAMPTZ)) {
        return type_reject(t->type, text, err);
    }
    moment_to_utc(&m);
    char *end = moment_put(iso, &m, moment_fraction_digits(m.time_us));
    end -= t->kind == NATURAL_TIMESTAMP; /* its Z */
    wr_buffer_add(out, iso, (size_t)(end - iso));
    return WR_OK;
}

/* The server speaks ISO in UTC, so that nearly always only the T and the Z are changed. */
static enum wr_status timestamp_text(const struct natural_type *t, struct wr_slice text,
                                     struct wr_buffer *out, struct wr_error *err)
{
    enum { DATE_SIZE = 10, UTC_SIZE = 3 };
    struct wr_slice plain = text;

    if (t->kind == NATURAL_TIMESTAMPTZ && text.size > UTC_SIZE &&
        memcmp(text.data + text.size - UTC_SIZE, "+00", UTC_SIZE) == 0) {
        plain.size -= UTC_SIZE;
    }
    bool has_offset = plain.size < text.size;
    if (!is_plain_timestamp(plain) || has_offset != (t->kind == NATURAL_TIMESTAMPTZ)) {
        return odd_timestamp_text(t, text, out, err);
    }
    wr_buffer_add(out, plain.data, DATE_SIZE);
    wr_buffer_add_char(out, 'T');
    wr_buffer_add(out, plain.data + DATE_SIZE + 1, plain.size - DATE_SIZE - 1);
    if (has_offset) {
        wr_buffer_add_char(out, 'Z');
    }
    return WR_OK;
}

/* By one of the parse functions that makes a string. */
static enum wr_status parsed_text(const struct natural_type *t, type_parse parse,
                                  struct wr_slice text, struct wr_arena *arena,
                                  struct wr_buffer *out, struct wr_error *err)
{
    struct datum datum;
    enum wr_status status = parse(t->type, text, arena, &datum, err);

    if (status == WR_OK) {
        wr_buffer_add_slice(out, datum.as.bytes);
    }
    return status;
}

static enum wr_status iso_text(const struct natural_type *t, struct wr_slice text,
                               struct wr_arena *arena, struct wr_buffer *out, struct wr_error *err)
{
    switch ((int)t->kind) {
    case NATURAL_DATE:
        return date_text(t, text, out, err);
    case NATURAL_TIMETZ:
        return parsed_text(t, timetz_parse, text, arena, out, err);
    case NATURAL_INTERVAL:
        if (is_infinity(text)) {
            wr_buffer_add_slice(out, text);
            return WR_OK;
        }
        return parsed_text(t, interval_parse_iso, text, arena, out, err);
    default:
        return timestamp_text(t, text, out, err);
    }
}

/* An array on its way to JSON. */
struct array_writer {
    const struct natural_type *element;
    struct wr_arena *arena;
    struct wr_buffer *out;
    bool is_first; /* of its level */
};

static void separate(struct array_writer *w)
{
    if (!w->is_first) {
        wr_buffer_add_char(w->out, ',');
    }
    w->is_first = false;
}

static enum wr_status array_begin(void *context, struct wr_error *err)
{
    struct array_writer *w = context;

    (void)err;
    separate(w);
    wr_buffer_add_char(w->out, '[');
    w->is_first = true;
    return WR_OK;
}

static enum wr_status array_element(void *context, const struct wr_slice *text,
                                    struct wr_error *err)
{
    struct array_writer *w = context;

    separate(w);
    if (text == NULL) {
        WR_BUFFER_LITERAL(w->out, "null");
        return WR_OK;
    }
    return natural_json(w->element, *text, w->arena, w->out, err);
}

static enum wr_status array_end(void *context, struct wr_error *err)
{
    struct array_writer *w = context;

    (void)err;
    wr_buffer_add_char(w->out, ']');
    w->is_first = false;
    return WR_OK;
}

static enum wr_status array_json(const struct natural_type *t, struct wr_slice text,
                                 struct wr_arena *arena, struct wr_buffer *out,
                                 struct wr_error *err)
{
    struct array_writer writer = {t->element, arena, out, true};
    const struct natural_visitor visitor = {&writer, array_begin, array_element, array_end};

    return natural_visit(t, text, arena, &visitor, err);
}

static enum wr_status bool_text(const struct natural_type *t, struct wr_slice text,
                                struct wr_buffer *out, struct wr_error *err)
{
    if (!wr_slice_is(text, "t") && !wr_slice_is(text, "f")) {
        return type_reject(t->type, text, err);
    }
    wr_json_bool(out, text.data[0] == 't');
    return WR_OK;
}

static enum wr_status money_text(const struct natural_type *t, struct wr_slice text,
                                 struct wr_arena *arena, struct wr_buffer *out,
                                 struct wr_error *err)
{
    struct wr_slice digits = {0};
    enum wr_status status = natural_money(t, text, arena, &digits, err);

    if (status == WR_OK) {
        wr_buffer_add_slice(out, digits);
    }
    return status;
}

static enum wr_status bytes_json(const struct natural_type *t, struct wr_slice text,
                                 struct wr_arena *arena, struct wr_buffer *out,
                                 struct wr_error *err)
{
    struct wr_slice bytes = {0};
    enum wr_status status = natural_bytes(t, text, arena, &bytes, err);

    if (status == WR_OK) {
        wr_json_base64(out, bytes);
    }
    return status;
}

static enum wr_status hstore_json(const struct natural_type *t, struct wr_slice text,
                                  struct wr_arena *arena, struct wr_buffer *out,
                                  struct wr_error *err)
{
    struct datum map = {0};
    enum wr_status status = hstore_parse_map(t->type, text, arena, &map, err);

    if (status != WR_OK) {
        return status;
    }
    wr_buffer_add_char(out, '{');
    for (size_t i = 0; i < map.as.structure.count; i++) {
        const struct datum_field *field = &map.as.structure.fields[i];
        if (i > 0) {
            wr_buffer_add_char(out, ',');
        }
        wr_json_string(out, field->name);
        wr_buffer_add_char(out, ':');
        if (field->value.kind == DATUM_NULL) {
            WR_BUFFER_LITERAL(out, "null");
        } else {
            wr_json_string(out, field->value.as.bytes);
        }
    }
    wr_buffer_add_char(out, '}');
    return WR_OK;
}

enum wr_status natural_json(const struct natural_type *t, struct wr_slice text,
                            struct wr_arena *arena, struct wr_buffer *out, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    switch (t->kind) {
    case NATURAL_TEXT:
        wr_json_string(out, text);
        return WR_OK;
    case NATURAL_BOOL:
        return bool_text(t, text, out, err);
    case NATURAL_INT:
    case NATURAL_NUMERIC:
    case NATURAL_FLOAT4:
    case NATURAL_FLOAT8:
        return number_json(t, text, true, out, err);
    case NATURAL_MONEY:
        return money_text(t, text, arena, out, err);
    case NATURAL_JSON:
    case NATURAL_VECTOR:
        wr_buffer_add_slice(out, text);
        return text.size > 0 ? WR_OK : type_reject(t->type, text, err);
    case NATURAL_BYTES:
        return bytes_json(t, text, arena, out, err);
    case NATURAL_HSTORE:
        return hstore_json(t, text, arena, out, err);
    case NATURAL_ARRAY:
        return array_json(t, text, arena, out, err);
    case NATURAL_DATE:
    case NATURAL_TIMESTAMP:
    case NATURAL_TIMESTAMPTZ:
    case NATURAL_TIMETZ:
    case NATURAL_INTERVAL:
        wr_buffer_add_char(out, '"');
        status = iso_text(t, text, arena, out, err);
        wr_buffer_add_char(out, '"');
        return status;
    }
    return type_reject(t->type, text, err);
}

/* A quoted string of plain ASCII, less its quotes. */
static void drop_quotes(struct wr_buffer *out, size_t start)
{
    if (!out->failed) {
        memmove(out->data + start, out->data + start + 1, out->size - start - 2);
        out->size -= 2;
    }
}

enum wr_status natural_text(const struct natural_type *t, struct wr_slice text,
                            struct wr_arena *arena, struct wr_buffer *out, struct wr_error *err)
{
    size_t start = out->size;
    enum wr_status status = WR_OK;

    switch ((int)t->kind) {
    case NATURAL_TEXT:
        wr_buffer_add_slice(out, text);
        return WR_OK;
    case NATURAL_INT:
    case NATURAL_NUMERIC:
    case NATURAL_FLOAT4:
    case NATURAL_FLOAT8:
        return number_json(t, text, false, out, err);
    case NATURAL_JSON:
        wr_json_plain(out, text);
        return text.size > 0 ? WR_OK : type_reject(t->type, text, err);
    case NATURAL_BYTES:
        status = bytes_json(t, text, arena, out, err);
        if (status == WR_OK) {
            drop_quotes(out, start);
        }
        return status;
    case NATURAL_DATE:
    case NATURAL_TIMESTAMP:
    case NATURAL_TIMESTAMPTZ:
    case NATURAL_TIMETZ:
    case NATURAL_INTERVAL:
        return iso_text(t, text, arena, out, err);
    default: /* the same as JSON */
        return natural_json(t, text, arena, out, err);
    }
}
