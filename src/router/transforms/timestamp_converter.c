/*
 * org.apache.kafka.connect.transforms.TimestampConverter: a moment in another form. Between the
 * forms it is a number of milliseconds since 1970, so that what is finer is cut off.
 */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/date_format.h"
#include "config/transform_config.h"
#include "decoder/schema.h"
#include "router/transform.h"
#include "router/transforms/connect_time.h"
#include "router/transforms/reshape.h"
#include "router/transforms/smt.h"

enum { TEXT_SIZE_MAX = 4096 };

struct converter_plan {
    struct reshape reshape;
    ptrdiff_t index; /* of the field; SMT_NO_FIELD: it is not there, and nothing is converted */
    enum timestamp_type from;
};

static enum wr_status timestamp_converter_make(const struct transform_config *config,
                                               struct transform *t, struct wr_error *err)
{
    const struct timestamp_converter_config *c = &config->as.timestamp_converter;
    struct wr_date_format *format = NULL;
    enum wr_status status = WR_OK;

    if (c->format != NULL && c->format[0] != '\0') {
        status = wr_date_format_new(c->format, &format, err);
    } else if (c->target_type == TIMESTAMP_STRING) {
        status = wr_fail(err, WR_FATAL, "transform",
                         "transforms.%s.format is required with target.type=string", config->name);
    }
    t->state = format;
    return status;
}

static void timestamp_converter_free(struct transform *t)
{
    wr_date_format_free(t->state);
}

static enum connect_time connect_type(enum timestamp_type type)
{
    switch (type) {
    case TIMESTAMP_DATE:
        return CONNECT_TIME_DATE;
    case TIMESTAMP_TIME:
        return CONNECT_TIME_TIME;
    case TIMESTAMP_TIMESTAMP:
        return CONNECT_TIME_TIMESTAMP;
    case TIMESTAMP_STRING:
    case TIMESTAMP_UNIX:
        break;
    }
    return CONNECT_TIME_NONE;
}

/* The form that values of this schema are in; false: in none. */
static bool source_type(const struct schema *schema, enum timestamp_type *out)
{
    switch (connect_time_of(schema)) {
    case CONNECT_TIME_DATE:
        *out = TIMESTAMP_DATE;
        return true;
    case CONNECT_TIME_TIME:
        *out = TIMESTAMP_TIME;
        return true;
    case CONNECT_TIME_TIMESTAMP:
        *out = TIMESTAMP_TIMESTAMP;
        return true;
    case CONNECT_TIME_NONE:
        break;
    }
    *out = schema->type == SCHEMA_STRING ? TIMESTAMP_STRING : TIMESTAMP_UNIX;
    return schema->type == SCHEMA_STRING || schema->type == SCHEMA_INT64;
}

static const struct schema *target_schema(const struct smt_call *call, bool is_optional,
                                          struct wr_arena *arena)
{
    enum timestamp_type type = call->transform->config->as.timestamp_converter.target_type;

    if (connect_type(type) != CONNECT_TIME_NONE) {
        return connect_time_schema(connect_type(type), is_optional, arena);
    }
    struct schema *schema =
        schema_new(arena, type == TIMESTAMP_STRING ? SCHEMA_STRING : SCHEMA_INT64);
    if (schema != NULL) {
        schema->is_optional = is_optional;
    }
    return schema;
}

static enum wr_status no_timestamp(const struct smt_call *call, const char *field,
                                   struct wr_error *err)
{
    return smt_reject(call, err,
                      "%s%sit is neither text nor an int64 nor a Date, Time or Timestamp of "
                      "Connect (time.precision.mode=connect)",
                      field, field[0] == '\0' ? "" : ": ");
}

static enum wr_status field_plan(const struct smt_call *call, struct wr_arena *arena, void **out,
                                 struct wr_error *err)
{
    const struct timestamp_converter_config *c = &call->transform->config->as.timestamp_converter;
    const struct schema *old = call->schema;
    struct converter_plan *plan = wr_arena_alloc(arena, 1, sizeof(*plan));

    if (plan == NULL || !reshape_init(&plan->reshape, old, old, old->field_count, arena)) {
        return smt_no_room(call, err);
    }
    plan->reshape.schema->is_optional = old->is_optional;
    for (size_t i = 0; i < old->field_count; i++) {
        (void)reshape_keep(&plan->reshape, i, c->replace_null_with_default);
    }
    *out = plan;
    plan->index = smt_field_index(old, wr_slice_str(c->field));
    if (plan->index == SMT_NO_FIELD) {
        return WR_OK;
    }
    const struct schema *field = old->fields[plan->index].schema;
    if (!source_type(field, &plan->from)) {
        return no_timestamp(call, c->field, err);
    }
    const struct schema *schema = target_schema(call, field->is_optional, arena);
    plan->reshape.fields[plan->index].schema = schema;
    return schema == NULL ? smt_no_room(call, err) : WR_OK;
}

/* The schema that the whole key or value gets. */
static enum wr_status whole_plan(const struct smt_call *call, struct wr_arena *arena, void **out,
                                 struct wr_error *err)
{
    struct converter_plan *plan = wr_arena_alloc(arena, 1, sizeof(*plan));

    if (plan == NULL || !reshape_init(&plan->reshape, call->schema, NULL, 0, arena)) {
        return smt_no_room(call, err);
    }
    if (!source_type(call->schema, &plan->from)) {
        return no_timestamp(call, "", err);
    }
    const struct schema *schema = target_schema(call, call->schema->is_optional, arena);
    if (schema == NULL) {
        return smt_no_room(call, err);
    }
    *plan->reshape.schema = *schema;
    *out = plan;
    return WR_OK;
}

/* Units of a second, or of a millisecond where they are smaller than that. */
static int64_t units_per_ms(enum unix_precision precision)
{
    return precision == UNIX_NANOSECONDS ? 1000000 : precision == UNIX_MICROSECONDS ? 1000 : 1;
}

/* As TimeUnit.toMillis(), which cuts off. False: out of range. */
static bool unix_to_ms(enum unix_precision precision, int64_t value, int64_t *time_ms)
{
    if (precision == UNIX_SECONDS) {
        return !__builtin_mul_overflow(value, 1000, time_ms);
    }
    *time_ms = value / units_per_ms(precision);
    return true;
}

static bool unix_from_ms(enum unix_precision precision, int64_t time_ms, int64_t *out)
{
    if (precision == UNIX_SECONDS) {
        *out = time_ms / 1000;
        return true;
    }
    return !__builtin_mul_overflow(time_ms, units_per_ms(precision), out);
}

/* NULL on success, else what is wrong. */
static const char *read_time(const struct transform *t, enum timestamp_type from,
                             const struct datum *value, int64_t *time_ms)
{
    bool is_right = true;

    if (value->kind != (from == TIMESTAMP_STRING ? DATUM_STRING : DATUM_INT)) {
        return "is no timestamp";
    }
    if (from == TIMESTAMP_STRING && t->state == NULL) {
        return "text is read after a format, and none is set";
    }
    if (from == TIMESTAMP_STRING) {
        return wr_date_format_read(t->state, value->as.bytes, time_ms)
                   ? NULL
                   : "does not match the format";
    }
    if (from == TIMESTAMP_UNIX) {
        is_right = unix_to_ms(t->config->as.timestamp_converter.unix_precision, value->as.integer,
                              time_ms);
    } else {
        is_right = connect_time_ms(connect_type(from), value->as.integer, time_ms);
    }
    return is_right ? NULL : "is out of range";
}

static const char *write_text(const struct transform *t, int64_t time_ms, struct wr_arena *scratch,
                              struct datum *out)
{
    struct wr_buffer text;

    wr_buffer_init(&text, TEXT_SIZE_MAX);
    bool is_written = wr_date_format_write(t->state, time_ms, &text) && !text.failed;
    out->kind = DATUM_STRING;
    out->as.bytes = (struct wr_slice){wr_arena_strndup(scratch, text.data, text.size), text.size};
    wr_buffer_done(&text);
    return is_written && out->as.bytes.data != NULL ? NULL : "has no text in this format";
}

static const char *convert(const struct transform *t, enum timestamp_type from, struct datum *value,
                           struct wr_arena *scratch)
{
    const struct timestamp_converter_config *c = &t->config->as.timestamp_converter;
    int64_t time_ms = 0;
    int64_t number = 0;
    const char *problem = read_time(t, from, value, &time_ms);

    if (problem != NULL) {
        return problem;
    }
    if (c->target_type == TIMESTAMP_STRING) {
        return write_text(t, time_ms, scratch, value);
    }
    if (c->target_type != TIMESTAMP_UNIX) {
        number = connect_time_value(connect_type(c->target_type), time_ms);
    } else if (!unix_from_ms(c->unix_precision, time_ms, &number)) {
        return "is out of range";
    }
    *value = (struct datum){.kind = DATUM_INT, .as.integer = number};
    return NULL;
}

static enum wr_status convert_whole(const struct smt_call *call, struct wr_error *err)
{
    const void *made = NULL;
    enum wr_status status = smt_plan(call, whole_plan, &made, err);

    if (status != WR_OK) {
        return status;
    }
    const struct converter_plan *plan = made;
    struct datum value = call->part->as.datum;
    const char *problem =
        call->is_null ? NULL : convert(call->transform, plan->from, &value, call->scratch);
    if (problem != NULL) {
        return smt_reject_value(call, (struct wr_slice){0}, &call->part->as.datum, problem, err);
    }
    *call->part = smt_part(call, plan->reshape.schema, value);
    return WR_OK;
}

static enum wr_status convert_field(struct smt_call *call, struct wr_error *err)
{
    struct datum_field *fields = NULL;
    const void *made = NULL;
    enum wr_status status = smt_reshape(call, field_plan, &made, &fields, err);

    if (status != WR_OK || fields == NULL) {
        return status;
    }
    const struct converter_plan *plan = made;
    if (plan->index == SMT_NO_FIELD || fields[plan->index].value.kind == DATUM_NULL) {
        return WR_OK;
    }
    struct datum_field *field = &fields[plan->index];
    struct datum value = field->value;
    const char *problem = convert(call->transform, plan->from, &value, call->scratch);
    if (problem != NULL) {
        return smt_reject_value(call, field->name, &field->value, problem, err);
    }
    field->value = value;
    return WR_OK;
}

static enum wr_status timestamp_converter_apply(const struct transform *t, const void *compiled,
                                                struct record *record, struct wr_arena *scratch,
                                                bool *keep, struct wr_error *err)
{
    const char *field = t->config->as.timestamp_converter.field;
    struct smt_call call;
    enum wr_status status = smt_open(&call, t, compiled, record, t->config->is_key, scratch, err);

    *keep = true;
    if (status != WR_OK || call.schema == NULL) {
        return status;
    }
    return field == NULL || field[0] == '\0' ? convert_whole(&call, err)
                                             : convert_field(&call, err);
}

const struct transform_ops timestamp_converter_ops = {
    .make = timestamp_converter_make,
    .free = timestamp_converter_free,
    .compile = smt_compile,
    .apply = timestamp_converter_apply,
};
