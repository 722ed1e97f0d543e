/*
 * The reference is PostgreSQL's own arithmetic wherever there is one (extract, to_char, encode), so
 * that it shares no code and no idea with what it checks.
 */
#include "support/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/base64.h"

/* What the output function prints: unlike ::text, with the blanks of char(n) and without the /32 of
 * a host. */
#define PRINTED "concat(v)"

#define AS_PRINTED                                                                                 \
    {                                                                                              \
        {                                                                                          \
            NULL, FORM_STRING, PRINTED                                                             \
        }                                                                                          \
    }
#define AS_INTEGER                                                                                 \
    {                                                                                              \
        {                                                                                          \
            NULL, FORM_INTEGER, PRINTED                                                            \
        }                                                                                          \
    }
/* Debezium knows no such type: it is left out, or opaque bytes. */
#define AS_UNKNOWN                                                                                 \
    {                                                                                              \
        {"include.unknown.datatypes=false", FORM_ABSENT, "null"},                                  \
            {NULL, FORM_STRING, "reference.binary(convert_to(concat(v), 'UTF8'))"},                \
    }

#define DECIMAL  "decimal.handling.mode="
#define TIME     "time.precision.mode="
#define INTERVAL "interval.handling.mode="
#define HSTORE   "hstore.handling.mode="

#define AS_DOUBLE(expression)                                                                      \
    {                                                                                              \
        DECIMAL "double", FORM_FLOAT8, expression                                                  \
    }
/* With a scale of s, above 0: all digits without the point. */
#define AS_SCALED                                                                                  \
    {                                                                                              \
        {DECIMAL "string", FORM_STRING, PRINTED}, AS_DOUBLE("v::float8::text"),                    \
            {DECIMAL "precise", FORM_UNSCALED, "replace(v::text, '.', '')::numeric::text"},        \
    }

#define SPECIAL_NUMBER                                                                             \
    "case v::text when 'NaN' then 'NAN' when 'Infinity' then 'POSITIVE_INFINITY'"                  \
    " else 'NEGATIVE_INFINITY' end"

#define MICROS "(extract(epoch from v) * 1000000)::numeric(30)::text"
#define MILLIS "floor(extract(epoch from v) * 1000)::text"
#define NANOS  "(extract(epoch from v) * 1000000000)::numeric(30)::text"

/* What Debezium makes of Java's marks for the infinities. */
#define INFINITE(plus, minus, otherwise)                                                           \
    "case v::text when 'infinity' then '" plus "' when '-infinity' then '" minus                   \
    "' else " otherwise " end"
#define INFINITE_US(otherwise) INFINITE("9223372036825200000", "-9223372036832400000", otherwise)
#define INFINITE_MS(otherwise) INFINITE("9223372036825200", "-9223372036832400", otherwise)

#define AS_TIMESTAMP(adaptive)                                                                     \
    {                                                                                              \
        {TIME "adaptive|adaptive_time_microseconds", FORM_INTEGER, adaptive},                      \
            {TIME "connect", FORM_INTEGER, MILLIS}, {TIME "microseconds", FORM_INTEGER, MICROS},   \
            {TIME "nanoseconds", FORM_INTEGER, NANOS},                                             \
            {TIME "isostring", FORM_STRING, "reference.stamp(v, reference.fraction(v))"},          \
    }
#define AS_TIME(adaptive)                                                                          \
    {                                                                                              \
        {TIME "adaptive", FORM_INTEGER, adaptive}, {TIME "connect", FORM_INTEGER, MILLIS},         \
            {TIME "adaptive_time_microseconds|microseconds", FORM_INTEGER, MICROS},                \
            {TIME "nanoseconds", FORM_INTEGER, NANOS},                                             \
            {TIME "isostring", FORM_STRING, "v::text || 'Z'"},                                     \
    }
#define NUMERIC_TIMES TIME "adaptive|adaptive_time_microseconds|connect|microseconds"
#define ZONED(fraction)                                                                            \
    "case when isfinite(v) then reference.stamp(v at time zone 'UTC', " fraction                   \
    ") else v::text end"

static const struct column_kind KINDS[] = {
    {"boolean", value_make_boolean, NULL, {{NULL, FORM_BOOLEAN, "v::text"}}, false},
    {"smallint", value_make_int2, "-32768~32767~0", AS_INTEGER, false},
    {"integer", value_make_int4, "'-2147483648'~2147483647~0", AS_INTEGER, false},
    {"bigint", value_make_int8, "'-9223372036854775808'~9223372036854775807", AS_INTEGER, false},
    {"oid", value_make_oid, "'4294967295'~'0'", AS_INTEGER, false},
    {"real",
     value_make_float4,
     "'NaN'~'Infinity'~'-Infinity'~'-0'~'1e-45'~'3.4028235e38'~16777217~0.1",
     {{NULL, FORM_FLOAT4, "v::text"}},
     false},
    {"double precision",
     value_make_float8,
     "'NaN'~'Infinity'~'-Infinity'~'-0'~'5e-324'~'1.7976931348623157e308'~0.1~100000~1e7~1e-3",
     {{NULL, FORM_FLOAT8, "v::text"}},
     false},
    {"numeric",
     value_make_numeric,
     "0~7000~0.000~'12345678901234567890123456789.000100'~1e130~-1e-130~-0.5",
     {{DECIMAL "string", FORM_STRING, PRINTED},
      AS_DOUBLE("v::float8::text"),
      {DECIMAL "precise", FORM_VARIABLE_SCALE,
       "scale(trim_scale(v)) || ':' || replace(trim_scale(v)::text, '.', '')::numeric"}},
     false},
    {"numeric",
     NULL,
     "'NaN'~'Infinity'~'-Infinity'",
     {{DECIMAL "string", FORM_STRING, SPECIAL_NUMBER}, AS_DOUBLE("v::float8::text")},
     false},
    {"numeric(8,3)", value_make_numeric_8_3, "-99999.999~99999.999~0", AS_SCALED, false},
    {"numeric(38,10)", value_make_numeric_8_3, "-9999999999999999999999999999.9999999999~0",
     AS_SCALED, false},
    {"numeric(6,0)", value_make_numeric_8_3, "-999999~0", AS_SCALED, false},
    {"numeric(5,-3)",
     value_make_numeric_8_3,
     "7000~-12345~99999000",
     {{DECIMAL "string", FORM_STRING, PRINTED},
      AS_DOUBLE("v::float8::text"),
      {DECIMAL "precise", FORM_UNSCALED, "trim_scale(v / 1000)::text"}},
     false},
    {"price", value_make_numeric_8_3, "0", AS_SCALED, false},     /* numeric(8,3) */
    {"offer", value_make_numeric_8_3, "0.001", AS_SCALED, false}, /* a domain over price */
    {"money",
     value_make_money,
     "'-92233720368547758.08'~'92233720368547758.07'~'0'",
     {{DECIMAL "string", FORM_STRING, "v::numeric::text"},
      AS_DOUBLE("v::numeric::float8::text"),
      {DECIMAL "precise", FORM_UNSCALED, "replace(v::numeric::text, '.', '')::numeric::text"}},
     false},

    {"text", value_make_text, "''~' '~'null'~repeat('x', 1500)", AS_PRINTED, false},
    {"text", value_make_large_text, "''", AS_PRINTED, true},
    {"varchar", value_make_text, "''", AS_PRINTED, false},
    {"varchar(10)", value_make_text_10, "''", AS_PRINTED, false},
    {"char(10)", value_make_text_10, "''~'ab'", AS_PRINTED, false},
    {"\"char\"", NULL, "'x'~'\"'~','", AS_PRINTED, false},
    {"name", NULL, "'Ünï \"q\"'~''", AS_PRINTED, false},
    {"shortname", value_make_text_10, "''", AS_PRINTED, false}, /* a domain over varchar(20) */
    {"citext", value_make_text, "'MiXed'", AS_PRINTED, false},
    {"mood", NULL, "'sad'~'ok, \"so\"'~'ha''ppy'", AS_PRINTED, false},
    {"uuid", value_make_uuid, NULL, AS_PRINTED, false},
    {"json", value_make_json, "'null'~'{\"a\":1, \"a\":2.50}'~' [1 ,2] '~'\"\\u0000\"'", AS_PRINTED,
     false},
    {"jsonb", value_make_json, "'null'~'{\"n\":1234567890123456789012,\"e\":1E40}'", AS_PRINTED,
     false},
    {"xml", NULL, "'<a b=\"1\">é&amp;</a>'~'x'", AS_PRINTED, false},
    {"inet", NULL, "'10.0.0.1/24'~'10.0.0.1'~'::1'", AS_PRINTED, false},
    {"cidr", NULL, "'10.0.0.0/8'~'10.0.0.1/32'", AS_PRINTED, false},
    {"macaddr", NULL, "'08:00:2b:01:02:03'", AS_PRINTED, false},
    {"macaddr8", NULL, "'08:00:2b:01:02:03:04:05'", AS_PRINTED, false},
    {"tsvector", NULL, "'''it''''s'':1A b:2'~''", AS_PRINTED, false},
    {"int4range", value_make_int4range, "'empty'~'(,)'", AS_PRINTED, false},
    {"numrange", NULL, "'[1.50,2.5]'~'empty'", AS_PRINTED, false},
    {"tstzrange", NULL, "'[2024-01-01 00:00Z,)'", AS_PRINTED, false},
    {"daterange", NULL, "'[2024-01-01,2024-02-01)'~'[,infinity)'", AS_PRINTED, false},
    {"ltree", NULL, "'Top.Science'~''", AS_PRINTED, false},

    {"bytea", value_make_bytes, "''", {{NULL, FORM_STRING, "reference.binary(v)"}}, false},
    {"bit(1)", NULL, "B'0'~B'1'", {{NULL, FORM_BOOLEAN, "(v = B'1')::text"}}, false},
    {"bit(12)", value_make_bits_12, "B'000000000000'", {{NULL, FORM_BITS, PRINTED}}, false},
    {"varbit", value_make_bits, "B''~B'00'", {{NULL, FORM_BITS, PRINTED}}, false},
    {"point", value_make_point, "'(0.1,-1e300)'", {{NULL, FORM_POINT, PRINTED}}, false},
    {"hstore",
     value_make_hstore,
     "''~'a=>NULL'",
     {{HSTORE "map", FORM_JSON, "hstore_to_json(v)::text"},
      {NULL, FORM_JSON_STRING, "hstore_to_json(v)::text"}},
     false},

    {"date",
     value_make_date,
     "'1582-10-10'~'0001-01-01'~'9999-12-31'",
     {{TIME "isostring", FORM_STRING, "to_char(v, 'YYYY-MM-DD\"Z\"')"},
      {NULL, FORM_INTEGER, "(v - date '1970-01-01')::text"}},
     false},
    {"date",
     NULL,
     "'infinity'~'-infinity'~'4713-01-01 BC'~'5874897-12-31'",
     {{NUMERIC_TIMES "|nanoseconds", FORM_INTEGER,
       INFINITE("-2147472692", "-2147472691", "(v - date '1970-01-01')::text")}},
     false},
    {"time", value_make_time, "'24:00'~'00:00'", AS_TIME(MICROS), false},
    {"time(3)", value_make_time, "'24:00'~'23:59:59.9996'", AS_TIME(MILLIS), false},
    {"time(0)", value_make_time, "'23:59:59.6'", AS_TIME(MILLIS), false},
    {"timetz",
     NULL,
     "'24:00:00+05:30'~'23:59:59.999999-15:59:59'~'00:00-00'~'12:34:56.7+02'",
     {{NULL, FORM_STRING, "(v at time zone 'UTC')::time::text || 'Z'"}},
     false},
    {"timestamp", value_make_timestamp, "'1969-12-31 23:59:59.999999'", AS_TIMESTAMP(MICROS),
     false},
    {"timestamp(3)", value_make_timestamp, "'1969-12-31 23:59:59.9996'", AS_TIMESTAMP(MILLIS),
     false},
    {"timestamp(0)", value_make_timestamp, "'1900-01-01'", AS_TIMESTAMP(MILLIS), false},
    {"timestamp",
     value_make_any_timestamp,
     "'infinity'~'-infinity'~'4713-01-01 BC'~'0001-12-31 23:40:28 BC'",
     {{TIME "connect", FORM_INTEGER, INFINITE_MS(MILLIS)},
      {TIME "adaptive|adaptive_time_microseconds|microseconds", FORM_INTEGER, INFINITE_US(MICROS)}},
     false},
    {"timestamptz",
     value_make_any_timestamp,
     "'infinity'~'-infinity'~'0044-03-15 12:00Z BC'~'1883-11-18 12:00-07:52:58'",
     {{NULL, FORM_STRING, ZONED("to_char(v, '.US')")}},
     false},
    {"timestamptz(3)",
     value_make_timestamp,
     NULL,
     {{NULL, FORM_STRING, ZONED("to_char(v, '.MS')")}},
     false},
    {"timestamptz(0)", value_make_timestamp, NULL, {{NULL, FORM_STRING, ZONED("''")}}, false},
    {"interval",
     value_make_interval,
     "'0'~'838:59:58.999999'~'-1 mon +1 day -00:00:00.000001'",
     {{INTERVAL "string", FORM_STRING, "reference.iso_interval(v)"},
      {NULL, FORM_INTEGER, "reference.interval_us(v)::text"}},
     false},

    {"pair", NULL, "row(1, 'a \"b\", c')~row(null, '')", AS_UNKNOWN, false},
    {"int4multirange", NULL, "'{[1,3),[5,8)}'~'{}'", AS_UNKNOWN, false},
    {"tsquery", NULL, "'fat & cat'", AS_UNKNOWN, false},
    {"pg_lsn", NULL, "'16/B374D848'", AS_UNKNOWN, false},
    {"txid_snapshot", NULL, "'10:20:10,14'", AS_UNKNOWN, false},
};

const struct column_kind *reference_kind(size_t index)
{
    return index < sizeof(KINDS) / sizeof(KINDS[0]) ? &KINDS[index] : NULL;
}

/* "property=value" is one of "property=value|value". */
static bool is_among(const char *setting, const char *when)
{
    size_t name_size = strcspn(when, "=") + 1;
    size_t value_size = strlen(setting) - name_size;

    if (strncmp(setting, when, name_size) != 0) {
        return false;
    }
    for (const char *at = when + name_size; *at != '\0'; at += *at == '|') {
        size_t size = strcspn(at, "|");
        if (size == value_size && strncmp(at, setting + name_size, size) == 0) {
            return true;
        }
        at += size;
    }
    return false;
}

static bool is_chosen(const char *when, const struct modes *modes)
{
    for (size_t i = 0; i < modes->count; i++) {
        if (is_among(modes->settings[i], when)) {
            return true;
        }
    }
    return false;
}

const struct reference *reference_of(const struct column_kind *kind, const struct modes *modes)
{
    for (size_t i = 0; i < REFERENCES_PER_KIND && kind->references[i].sql != NULL; i++) {
        const struct reference *reference = &kind->references[i];
        if (reference->when == NULL || is_chosen(reference->when, modes)) {
            return reference;
        }
    }
    return NULL;
}

void modes_choose(struct random *r, struct modes *out)
{
    static const char *const choices[][7] = {
        {DECIMAL "precise", DECIMAL "string", DECIMAL "double"},
        {TIME "adaptive", TIME "adaptive_time_microseconds", TIME "connect", TIME "isostring",
         TIME "microseconds", TIME "nanoseconds"},
        {"binary.handling.mode=bytes", "binary.handling.mode=base64", "binary.handling.mode=hex",
         "binary.handling.mode=base64-url-safe"},
        {INTERVAL "numeric", INTERVAL "string"},
        {HSTORE "json", HSTORE "map"},
        {"include.unknown.datatypes=false", "include.unknown.datatypes=true"},
    };

    out->count = 0;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        int count = 0;
        while (choices[i][count] != NULL) {
            count++;
        }
        (void)snprintf(out->settings[out->count++], MODE_SIZE_MAX, "%s",
                       choices[i][random_below(r, count)]);
    }
}

static const char *binary_sql(const struct modes *modes)
{
    if (is_chosen("binary.handling.mode=hex", modes)) {
        return "encode($1, 'hex')";
    }
    return is_chosen("binary.handling.mode=base64-url-safe", modes)
               ? "translate(encode($1, 'base64'), E'+/\\n', '-_')"
               : "translate(encode($1, 'base64'), E'\\n', '')";
}

void reference_setup_sql(const struct modes *modes, char *out, size_t size)
{
    (void)snprintf(
        out, size,
        "create extension hstore; create extension citext; create extension ltree;"
        "create domain price as numeric(8,3); create domain offer as price;"
        "create domain shortname as varchar(20);"
        "create type mood as enum ('sad', 'ok, \"so\"', 'ha''ppy');"
        "create type pair as (x int, y text);"
        "create schema reference;"
        "create function reference.binary(bytea) returns text language sql as $$ select %s $$;"
        "create function reference.fraction(timestamp) returns text language sql as"
        " $$ select rtrim(rtrim(to_char($1, '.US'), '0'), '.') $$;"
        /* ISO 8601: a year 0 before the first, a sign before and beyond the four digits. */
        "create function reference.year(int) returns text language sql as"
        " $$ select case when $1 > 9999 then '+' || $1 when $1 < 0 then '-' || lpad((-$1)::text,"
        " 4, '0') else lpad($1::text, 4, '0') end $$;"
        "create function reference.stamp(timestamp, text) returns text language sql as"
        " $$ select reference.year((extract(year from $1) + (extract(year from $1) < 0)::int)::int)"
        " || to_char($1, '-MM-DD\"T\"HH24:MI:SS') || $2 || 'Z' $$;"
        "create function reference.clock_us(interval) returns numeric language sql as"
        " $$ select extract(hour from $1) * 3600000000 + extract(minute from $1) * 60000000"
        " + extract(microseconds from $1) $$;"
        "create function reference.months(interval) returns numeric language sql as"
        " $$ select extract(year from $1) * 12 + extract(month from $1) $$;"
        /* A month is a twelfth of 365.25 days. */
        "create function reference.interval_us(interval) returns numeric language sql as"
        " $$ select trim_scale(reference.months($1) * (365.25 / 12) * 86400000000"
        " + extract(day from $1) * 86400000000 + reference.clock_us($1)) $$;"
        "create function reference.iso_interval(interval) returns text language sql as"
        " $$ select format('P%%sY%%sM%%sDT%%sH%%sM%%sS', extract(year from $1),"
        " extract(month from $1), extract(day from $1), extract(hour from $1),"
        " extract(minute from $1), trim_scale(extract(second from $1))) $$;",
        binary_sql(modes));
}

static bool is_string(const json_t *value, const char *text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static bool matches_integer(const json_t *value, const char *text)
{
    char printed[32];

    (void)snprintf(printed, sizeof(printed), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return json_is_integer(value) && strcmp(printed, text) == 0;
}

/* Bit by bit, so that -0 is not 0. */
static bool matches_float(const json_t *value, const char *text, bool is_float4)
{
    if (strpbrk(text, "Ny") != NULL) { /* NaN, Infinity */
        return is_string(value, text);
    }
    double expected = is_float4 ? (double)strtof(text, NULL) : strtod(text, NULL);
    double published = json_real_value(value);
    published = is_float4 ? (double)(float)published : published;
    return json_is_real(value) && memcmp(&expected, &published, sizeof(expected)) == 0;
}

static bool matches_unscaled(const json_t *value, const char *text)
{
    unsigned char bytes[BASE64_SIZE_MAX];
    char decimal[BASE64_DECIMAL_SIZE];
    size_t size = 0;

    return json_is_string(value) && base64_read(json_string_value(value), bytes, &size) &&
           size > 0 && base64_decimal(bytes, size, decimal) && strcmp(decimal, text) == 0;
}

static bool matches_variable_scale(const json_t *value, const char *text)
{
    char scale[16];
    size_t scale_size = strcspn(text, ":");

    (void)snprintf(scale, sizeof(scale), "%.*s", (int)scale_size, text);
    return json_object_size(value) == 2 &&
           matches_integer(json_object_get(value, "scale"), scale) &&
           matches_unscaled(json_object_get(value, "value"), text + scale_size + 1);
}

/* The last bit of the text is the lowest of the first byte; zero bytes at the end are left out. */
static bool matches_bits(const json_t *value, const char *text)
{
    unsigned char bytes[BASE64_SIZE_MAX];
    size_t length = strlen(text);
    size_t size = 0;

    if (!json_is_string(value) || !base64_read(json_string_value(value), bytes, &size) ||
        (size > 0 && bytes[size - 1] == 0) || size > (length + 7) / 8) {
        return false;
    }
    for (size_t i = 0; i < size * 8; i++) {
        bool is_set = (bytes[i / 8] >> i % 8 & 1) != 0;
        bool is_expected = i < length && text[length - 1 - i] == '1';
        if (is_set != is_expected) {
            return false;
        }
    }
    return strchr(text, '1') == NULL || length - 1 - (size_t)(strchr(text, '1') - text) < size * 8;
}

/* "(x,y)" and well-known binary: little-endian, a point, two doubles. */
static bool matches_point(const json_t *value, const char *text)
{
    static const unsigned char header[] = {1, 1, 0, 0, 0};
    unsigned char bytes[BASE64_SIZE_MAX];
    const json_t *wkb = json_object_get(value, "wkb");
    double numbers[2];
    size_t size = 0;
    char *end = NULL;

    numbers[0] = strtod(text + 1, &end);
    numbers[1] = strtod(end + 1, NULL);
    double x = json_real_value(json_object_get(value, "x"));
    double y = json_real_value(json_object_get(value, "y"));
    return json_object_size(value) == 4 && json_is_null(json_object_get(value, "srid")) &&
           memcmp(&x, &numbers[0], sizeof(x)) == 0 && memcmp(&y, &numbers[1], sizeof(y)) == 0 &&
           json_is_string(wkb) && base64_read(json_string_value(wkb), bytes, &size) &&
           size == sizeof(header) + sizeof(numbers) && memcmp(bytes, header, sizeof(header)) == 0 &&
           memcmp(bytes + sizeof(header), numbers, sizeof(numbers)) == 0;
}

static bool matches_json(const json_t *value, const char *text)
{
    json_t *expected = json_loads(text, JSON_DECODE_ANY, NULL);
    bool is_equal = expected != NULL && json_equal(value, expected) == 1;

    json_decref(expected);
    return is_equal;
}

static bool matches_json_string(const json_t *value, const char *text)
{
    json_t *inner =
        json_is_string(value) ? json_loads(json_string_value(value), JSON_DECODE_ANY, NULL) : NULL;
    bool is_equal = inner != NULL && matches_json(inner, text);

    json_decref(inner);
    return is_equal;
}

static bool matches_one(enum reference_form form, const char *text, const json_t *value)
{
    switch (form) {
    case FORM_ABSENT:
        return false;
    case FORM_STRING:
        return is_string(value, text);
    case FORM_INTEGER:
        return matches_integer(value, text);
    case FORM_BOOLEAN:
        return json_is_boolean(value) && json_is_true(value) == (strcmp(text, "true") == 0);
    case FORM_FLOAT4:
    case FORM_FLOAT8:
        return matches_float(value, text, form == FORM_FLOAT4);
    case FORM_UNSCALED:
        return matches_unscaled(value, text);
    case FORM_VARIABLE_SCALE:
        return matches_variable_scale(value, text);
    case FORM_BITS:
        return matches_bits(value, text);
    case FORM_POINT:
        return matches_point(value, text);
    case FORM_JSON:
        return matches_json(value, text);
    case FORM_JSON_STRING:
        return matches_json_string(value, text);
    }
    return false;
}

static bool matches_or_null(enum reference_form form, const char *text, const json_t *value)
{
    return text == NULL ? json_is_null(value) : matches_one(form, text, value);
}

static bool matches_array(enum reference_form form, const char *text, const json_t *published)
{
    json_t *expected = json_loads(text, JSON_ALLOW_NUL, NULL);
    bool is_equal = json_is_array(expected) && json_is_array(published) &&
                    json_array_size(expected) == json_array_size(published);

    for (size_t i = 0; is_equal && i < json_array_size(expected); i++) {
        is_equal = matches_or_null(form, json_string_value(json_array_get(expected, i)),
                                   json_array_get(published, i));
    }
    json_decref(expected);
    return is_equal;
}

bool reference_matches(enum reference_form form, bool is_array, const char *expected,
                       const json_t *published)
{
    if (published == NULL || form == FORM_ABSENT) {
        return published == NULL && form == FORM_ABSENT;
    }
    return is_array && expected != NULL ? matches_array(form, expected, published)
                                        : matches_or_null(form, expected, published);
}
