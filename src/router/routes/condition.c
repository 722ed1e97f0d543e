#include "router/routes/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "config/route_config.h"
#include "decoder/datetime.h"
#include "decoder/decimal.h"
#include "decoder/moment.h"
#include "decoder/oid.h"
#include "decoder/relation.h"
#include "decoder/schema.h"
#include "router/row.h"

enum {
    FLOAT_SIZE_MAX = 64, /* of PostgreSQL's shortest text, and more */
};

/* How a column is compared with a literal. */
enum comparison {
    COMPARE_TEXT,    /* byte by byte */
    COMPARE_LABEL,   /* of an enum: alike or not, since its order is PostgreSQL's */
    COMPARE_PADDED,  /* bpchar: blanks at the end mean nothing */
    COMPARE_UUID,    /* in small letters */
    COMPARE_BOOL,    /* alike or not */
    COMPARE_DECIMAL, /* exactly */
    COMPARE_FLOAT4,  /* in the column's precision */
    COMPARE_FLOAT8,
    COMPARE_DATE,
    COMPARE_MOMENT, /* in microseconds */
    COMPARE_NOTHING,
};

/* A literal as its column's comparison wants it. */
struct operand {
    struct wr_slice text;
    double number;
    int64_t moment;
};

struct term {
    struct route_value value;
    enum condition_op op;
    enum comparison comparison;
    struct operand *operands;
    size_t operand_count;
};

struct condition {
    struct term *terms;
    size_t term_count;
};

static enum comparison comparison_of(const struct natural_type *natural)
{
    const struct column_type *type = natural->type;
    const char *schema = type->schema == NULL ? NULL : type->schema->name;

    switch (natural->kind) {
    case NATURAL_BOOL:
        return COMPARE_BOOL;
    case NATURAL_INT:
    case NATURAL_NUMERIC:
        return COMPARE_DECIMAL;
    case NATURAL_FLOAT4:
        return COMPARE_FLOAT4;
    case NATURAL_FLOAT8:
        return COMPARE_FLOAT8;
    case NATURAL_DATE:
        return COMPARE_DATE;
    case NATURAL_TIMESTAMP:
    case NATURAL_TIMESTAMPTZ:
        return COMPARE_MOMENT;
    case NATURAL_TEXT:
        if (schema != NULL && strcmp(schema, "io.debezium.data.Enum") == 0) {
            return COMPARE_LABEL;
        }
        return type->oid == OID_BPCHAR ? COMPARE_PADDED
               : type->oid == OID_UUID ? COMPARE_UUID
                                       : COMPARE_TEXT;
    case NATURAL_MONEY:
    case NATURAL_JSON:
    case NATURAL_BYTES:
    case NATURAL_TIMETZ:
    case NATURAL_INTERVAL:
    case NATURAL_HSTORE:
    case NATURAL_VECTOR:
    case NATURAL_ARRAY:
        break;
    }
    return COMPARE_NOTHING;
}

static struct wr_slice unpadded(struct wr_slice text)
{
    while (text.size > 0 && text.data[text.size - 1] == ' ') {
        text.size--;
    }
    return text;
}

static double float_of(struct wr_slice text, bool is_float4)
{
    char copy[FLOAT_SIZE_MAX] = {0};

    if (text.size >= sizeof(copy)) {
        return NAN;
    }
    memcpy(copy, text.data, text.size);
    return is_float4 ? (double)strtof(copy, NULL) : strtod(copy, NULL);
}

static bool infinity_of(struct wr_slice text, int64_t *out)
{
    *out = wr_slice_is(text, "-infinity") ? INT64_MIN : INT64_MAX;
    return wr_slice_is(text, "infinity") || wr_slice_is(text, "-infinity");
}

static bool date_of(struct wr_slice text, int64_t *out)
{
    struct moment m;

    if (infinity_of(text, out)) {
        return true;
    }
    if (!moment_read_date(text, &m)) {
        return false;
    }
    *out = moment_days(&m);
    return true;
}

static bool moment_of(struct wr_slice text, int64_t *out)
{
    return infinity_of(text, out) || datetime_to_us(text, out);
}

/* "2026-05-01T20:00:00Z" and "2026-05-01", too, as PostgreSQL would print them. */
static bool moment_literal(const struct term *term, struct wr_slice text, int64_t *out)
{
    char copy[MOMENT_SIZE_MAX + sizeof("+00:00:00")] = {0};

    if (text.size + sizeof("+00") > sizeof(copy)) {
        return false;
    }
    memcpy(copy, text.data, text.size);
    if (date_of(text, out)) {
        if (*out != INT64_MIN && *out != INT64_MAX) {
            return !__builtin_mul_overflow(*out, US_PER_DAY, out);
        }
        return true;
    }
    if (text.size > 10 && copy[10] == 'T') {
        copy[10] = ' ';
    }
    if (text.size > 0 && copy[text.size - 1] == 'Z') {
        memcpy(copy + text.size - 1, "+00", sizeof("+00"));
    }
    struct moment m;
    struct wr_slice plain = wr_slice_str(copy);
    return moment_read_timestamp(plain, &m) &&
           (!m.has_offset || term->value.type->kind == NATURAL_TIMESTAMPTZ) &&
           moment_of(plain, out);
}

static struct wr_slice in_small_letters(struct wr_slice text, struct wr_arena *arena)
{
    char *copy = wr_arena_alloc(arena, text.size + 1, 1);

    for (size_t i = 0; copy != NULL && i < text.size; i++) {
        copy[i] = (char)tolower((unsigned char)text.data[i]);
    }
    return (struct wr_slice){copy, copy == NULL ? 0 : text.size};
}

/* False: the literal is none that the column could be compared with. */
static bool operand_make(const struct term *term, const struct condition_literal *literal,
                         struct wr_arena *arena, struct operand *out)
{
    *out = (struct operand){.text = literal->text};
    switch (term->comparison) {
    case COMPARE_TEXT:
    case COMPARE_LABEL:
        return literal->kind == LITERAL_TEXT;
    case COMPARE_PADDED:
        out->text = unpadded(literal->text);
        return literal->kind == LITERAL_TEXT;
    case COMPARE_UUID:
        out->text = in_small_letters(literal->text, arena);
        return literal->kind == LITERAL_TEXT;
    case COMPARE_BOOL:
        return literal->kind == LITERAL_BOOL;
    case COMPARE_DECIMAL:
        return literal->kind == LITERAL_NUMBER;
    case COMPARE_FLOAT4:
    case COMPARE_FLOAT8:
        out->number = float_of(literal->text, term->comparison == COMPARE_FLOAT4);
        return literal->kind == LITERAL_NUMBER;
    case COMPARE_DATE:
        return literal->kind == LITERAL_TEXT && date_of(literal->text, &out->moment);
    case COMPARE_MOMENT:
        return literal->kind == LITERAL_TEXT && moment_literal(term, literal->text, &out->moment);
    case COMPARE_NOTHING:
        break;
    }
    return false;
}

static bool has_order(enum condition_op op)
{
    return op == CONDITION_LESS || op == CONDITION_LESS_EQUAL || op == CONDITION_GREATER ||
           op == CONDITION_GREATER_EQUAL;
}

static enum wr_status refuse(const struct route_source *source, const struct term *term,
                             const char *why, struct wr_slice literal, struct wr_error *err)
{
    const struct relation *relation = source->relation;

    return wr_fail(err, WR_REJECT, "router", "where: %s.%s.%s is of type %s: %s%.*s",
                   relation->schema, relation->table,
                   relation->columns[term->value.column->index].name, term->value.type->name, why,
                   (int)literal.size, literal.size == 0 ? "" : literal.data);
}

static enum wr_status term_compile(const struct condition_term *config,
                                   const struct route_source *source, struct term *out,
                                   struct wr_error *err)
{
    struct wr_arena *arena = source->relation->arena;
    enum wr_status status = route_value_find(source, config->column, &out->value, err);

    if (status != WR_OK) {
        return status;
    }
    out->op = config->op;
    out->comparison = comparison_of(out->value.type);
    out->operand_count = config->literal_count;
    out->operands = wr_arena_alloc(arena, config->literal_count + 1, sizeof(*out->operands));
    if (out->operands == NULL) {
        return wr_fail(err, WR_FATAL, "router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                       source->relation->schema, source->relation->table);
    }
    if (out->value.path_count > 0 ||
        (config->literal_count > 0 && out->comparison == COMPARE_NOTHING)) {
        return refuse(source, out, "only IS NULL and IS NOT NULL work there", (struct wr_slice){0},
                      err);
    }
    bool is_alike_only = out->comparison == COMPARE_BOOL || out->comparison == COMPARE_LABEL;
    if (has_order(config->op) && is_alike_only) {
        return refuse(source, out, "only =, <> and IN work there", (struct wr_slice){0}, err);
    }
    for (size_t i = 0; i < config->literal_count; i++) {
        if (!operand_make(out, &config->literals[i], arena, &out->operands[i])) {
            return refuse(source, out, "cannot be compared with ", config->literals[i].text, err);
        }
    }
    return WR_OK;
}

enum wr_status condition_compile(const struct condition_config *config,
                                 const struct route_source *source, const struct condition **out,
                                 struct wr_error *err)
{
    struct wr_arena *arena = source->relation->arena;

    *out = NULL;
    if (config->term_count == 0) {
        return WR_OK;
    }
    struct condition *condition = wr_arena_alloc(arena, 1, sizeof(*condition));
    struct term *terms = wr_arena_alloc(arena, config->term_count, sizeof(*terms));
    if (condition == NULL || terms == NULL) {
        return wr_fail(err, WR_FATAL, "router", "%s.%s does not fit WR_RELATION_SIZE_MAX",
                       source->relation->schema, source->relation->table);
    }
    *condition = (struct condition){terms, config->term_count};
    for (size_t i = 0; i < config->term_count; i++) {
        enum wr_status status = term_compile(&config->terms[i], source, &terms[i], err);
        if (status != WR_OK) {
            return status;
        }
    }
    *out = condition;
    return WR_OK;
}

static int sign_of(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_bytes(struct wr_slice a, struct wr_slice b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size == 0 ? 0 : memcmp(a.data, b.data, size);

    return order != 0 ? order : sign_of((int64_t)a.size, (int64_t)b.size);
}

static struct wr_slice without_zeros(struct wr_slice digits)
{
    while (digits.size > 1 && digits.data[0] == '0') {
        digits.data++;
        digits.size--;
    }
    return digits;
}

/* -1 and 1: infinite; 2: NaN, which is greater than everything, as for PostgreSQL; 0: a number. */
static int special_rank(struct wr_slice text)
{
    return wr_slice_is(text, "NaN")         ? 2
           : wr_slice_is(text, "Infinity")  ? 1
           : wr_slice_is(text, "-Infinity") ? -1
                                            : 0;
}

static int compare_decimals(struct wr_slice a_text, struct wr_slice b_text)
{
    struct decimal a, b;
    int rank = special_rank(a_text);

    if (rank != 0 || !decimal_split(a_text, &a) || !decimal_split(b_text, &b)) {
        return rank;
    }
    decimal_trim(&a);
    decimal_trim(&b);
    a.whole = without_zeros(a.whole);
    b.whole = without_zeros(b.whole);
    int magnitude = a.whole.size != b.whole.size
                        ? sign_of((int64_t)a.whole.size, (int64_t)b.whole.size)
                        : compare_bytes(a.whole, b.whole);
    if (magnitude == 0) {
        magnitude = compare_bytes(a.fraction, b.fraction);
    }
    bool a_is_zero = wr_slice_is(a.whole, "0") && a.fraction.size == 0;
    bool b_is_zero = wr_slice_is(b.whole, "0") && b.fraction.size == 0;
    bool a_is_negative = a.is_negative && !a_is_zero;
    bool b_is_negative = b.is_negative && !b_is_zero;
    if (a_is_negative != b_is_negative) {
        return a_is_negative ? -1 : 1;
    }
    return a_is_negative ? -magnitude : magnitude;
}

static int compare_floats(double a, double b)
{
    if (isnan(a)) {
        return 1;
    }
    return a < b ? -1 : a > b;
}

static int compare(const struct term *term, struct wr_slice text, const struct operand *operand)
{
    int64_t moment = 0;

    switch (term->comparison) {
    case COMPARE_PADDED:
        text = unpadded(text);
        break;
    case COMPARE_DECIMAL:
        return compare_decimals(text, operand->text);
    case COMPARE_FLOAT4:
    case COMPARE_FLOAT8:
        return compare_floats(float_of(text, term->comparison == COMPARE_FLOAT4), operand->number);
    case COMPARE_DATE:
        return date_of(text, &moment) ? sign_of(moment, operand->moment) : -1;
    case COMPARE_MOMENT:
        return moment_of(text, &moment) ? sign_of(moment, operand->moment) : -1;
    case COMPARE_TEXT:
    case COMPARE_LABEL:
    case COMPARE_UUID:
    case COMPARE_BOOL:
    case COMPARE_NOTHING:
        break;
    }
    return compare_bytes(text, operand->text);
}

static bool is_in(const struct term *term, struct wr_slice text)
{
    for (size_t i = 0; i < term->operand_count; i++) {
        if (compare(term, text, &term->operands[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool holds(const struct term *term, struct wr_slice text)
{
    switch (term->op) {
    case CONDITION_EQUAL:
    case CONDITION_IN:
        return is_in(term, text);
    case CONDITION_UNEQUAL:
    case CONDITION_NOT_IN:
        return !is_in(term, text);
    case CONDITION_LESS:
        return compare(term, text, term->operands) < 0;
    case CONDITION_LESS_EQUAL:
        return compare(term, text, term->operands) <= 0;
    case CONDITION_GREATER:
        return compare(term, text, term->operands) > 0;
    case CONDITION_GREATER_EQUAL:
        return compare(term, text, term->operands) >= 0;
    case CONDITION_NULL:
    case CONDITION_NOT_NULL:
        break;
    }
    return term->op == CONDITION_NOT_NULL;
}

enum truth condition_holds(const struct condition *condition, const struct row_view *row)
{
    enum truth all = TRUTH_YES;

    for (size_t i = 0; condition != NULL && i < condition->term_count; i++) {
        const struct term *term = &condition->terms[i];
        struct wr_slice text;
        enum value_state state = route_value_cell(&term->value, row, &text);
        bool is_held = state == VALUE_NULL ? term->op == CONDITION_NULL : holds(term, text);
        bool asks_null = term->op == CONDITION_NULL || term->op == CONDITION_NOT_NULL;
        bool is_toasted = row_cell(row, term->value.column)->kind == CELL_UNCHANGED;
        if (state == VALUE_UNKNOWN && !(asks_null && is_toasted)) { /* what is TOASTed is there */
            all = TRUTH_UNKNOWN;
        } else if (!is_held) {
            return TRUTH_NO;
        }
    }
    return all;
}
