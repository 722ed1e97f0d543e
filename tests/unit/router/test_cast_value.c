#include "router/transforms/cast_value.h"
#include "router/transforms/float_text.h"
#include "smt_fixture.h"

TestSuite(cast_value, .init = open_smt, .fini = close_smt);

static void expect(const struct schema *from, struct datum value, enum schema_type to,
                   const char *text)
{
    struct datum out;
    const char *problem = cast_value(from, &value, to, scratch, &out);

    emitted_size = 0;
    emitted[0] = '\0';
    if (problem != NULL) {
        say("%s", problem);
    } else {
        say_datum(&out);
    }
    cr_expect_str_eq(emitted, text, "to %d: %s, not %s", (int)to, emitted, text);
}

/* Everything as Cast of Kafka 4.3 gives it, less what wraps around there. */
static void expect_all(const struct schema *from, struct datum value, const char *const texts[8])
{
    static const enum schema_type types[] = {SCHEMA_INT8,    SCHEMA_INT16,   SCHEMA_INT32,
                                             SCHEMA_INT64,   SCHEMA_FLOAT32, SCHEMA_FLOAT64,
                                             SCHEMA_BOOLEAN, SCHEMA_STRING};

    for (size_t i = 0; i < COUNT(types); i++) {
        expect(from, value, types[i], texts[i]);
    }
}

#define RANGE  "is out of the range of the type it is cast to"
#define NUMBER "is no number of the type it is cast to"

#define ALL(...) ((const char *const[]){__VA_ARGS__})

Test(cast_value, casts_whole_numbers)
{
    expect_all(of_type(SCHEMA_INT64), an_int(5000000000),
               ALL(RANGE, RANGE, RANGE, "5000000000", "float 5e+09", "float 5e+09", "true",
                   "'5000000000'"));
    expect_all(of_type(SCHEMA_INT32), an_int(300),
               ALL(RANGE, "300", "300", "300", "float 3e+02", "float 3e+02", "true", "'300'"));
    expect_all(of_type(SCHEMA_INT32), an_int(0),
               ALL("0", "0", "0", "0", "float 0", "float 0", "false", "'0'"));
    expect_all(of_type(SCHEMA_INT16), an_int(-128),
               ALL("-128", "-128", "-128", "-128", "float -128", "float -128", "true", "'-128'"));
    expect(of_type(SCHEMA_INT64), an_int(INT64_MIN), SCHEMA_STRING, "'-9223372036854775808'");
    expect(of_type(SCHEMA_INT64), an_int(16777217), SCHEMA_FLOAT32, "float 16777216");
}

Test(cast_value, casts_floats)
{
    expect_all(of_type(SCHEMA_FLOAT32), a_float(DATUM_FLOAT32, "0.1"),
               ALL("0", "0", "0", "0", "float 0.1", "float 0.10000000149011612", "false", "'0.1'"));
    expect_all(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "-1.9e+10"),
               ALL(RANGE, RANGE, RANGE, "-19000000000", "float -1.9e+10", "float -1.9e+10", "true",
                   "'-1.9E10'"));
    expect_all(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "-7.9"),
               ALL("-7", "-7", "-7", "-7", "float -7.9", "float -7.9", "true", "'-7.9'"));
    expect_all(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "NaN"),
               ALL(RANGE, RANGE, RANGE, RANGE, "float NaN", "float NaN", "false", "'NaN'"));
    expect_all(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "-Infinity"),
               ALL(RANGE, RANGE, RANGE, RANGE, "float -Infinity", "float -Infinity", "true",
                   "'-Infinity'"));
    expect(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "1e+300"), SCHEMA_FLOAT32, RANGE);
    expect(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "9.223372036854775807e18"), SCHEMA_INT64,
           RANGE);
    expect(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "-9223372036854775808"), SCHEMA_INT64,
           "-9223372036854775808");
    expect(of_type(SCHEMA_FLOAT64), a_float(DATUM_FLOAT64, "100"), SCHEMA_STRING, "'100.0'");
}

Test(cast_value, casts_booleans)
{
    expect_all(of_type(SCHEMA_BOOLEAN), a_bool(true),
               ALL("1", "1", "1", "1", "float 1", "float 1", "true", "'true'"));
    expect_all(of_type(SCHEMA_BOOLEAN), a_bool(false),
               ALL("0", "0", "0", "0", "float 0", "float 0", "false", "'false'"));
}

Test(cast_value, casts_text)
{
    const struct schema *text = of_type(SCHEMA_STRING);

    expect_all(text, a_text("12"),
               ALL("12", "12", "12", "12", "float 12", "float 12", "false", "'12'"));
    expect_all(text, a_text("+7"), ALL("7", "7", "7", "7", "float 7", "float 7", "false", "'+7'"));
    expect_all(text, a_text(" 1.5 "),
               ALL(NUMBER, NUMBER, NUMBER, NUMBER, "float 1.5", "float 1.5", "false", "' 1.5 '"));
    expect_all(text, a_text("True"),
               ALL(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, "true", "'True'"));
    expect_all(text, a_text(""),
               ALL(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, "false", "''"));
    expect(text, a_text("-9223372036854775808"), SCHEMA_INT64, "-9223372036854775808");
    expect(text, a_text("9223372036854775808"), SCHEMA_INT64, NUMBER);
    expect(text, a_text("-"), SCHEMA_INT64, NUMBER);
    expect(text, a_text("1_0"), SCHEMA_INT32, NUMBER);
    expect(text, a_text("128"), SCHEMA_INT8, RANGE);
}

Test(cast_value, casts_text_to_floats_as_java_reads_them)
{
    static const struct {
        const char *text, *number;
    } cases[] = {
        {"1e3", "float 1000"},
        {"1.5f", "float 1.5"},
        {"1d", "float 1"},
        {".5", "float 0.5"},
        {"5.", "float 5"},
        {"NaN", "float NaN"},
        {"Infinity", "float Infinity"},
        {"-Infinity", "float -Infinity"},
        {"+Infinity", "float Infinity"},
        {"1e400", "float Infinity"},
        {"inf", NUMBER},
        {"nan", NUMBER},
        {"0x10", NUMBER},
        {"1,5", NUMBER},
        {"e5", NUMBER},
        {"1e", NUMBER},
        {".", NUMBER},
        {"1 5", NUMBER},
        {"1.5ff", NUMBER},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct datum out;
        struct datum value = a_text(cases[i].text);
        const char *problem =
            cast_value(of_type(SCHEMA_STRING), &value, SCHEMA_FLOAT64, scratch, &out);
        double expected = 0, got = 0;
        cr_assert_eq(problem == NULL, strncmp(cases[i].number, "float", 5) == 0, "%s",
                     cases[i].text);
        if (problem == NULL) {
            cr_assert(float_read(wr_slice_str(cases[i].number + 6), false, &expected));
            cr_assert(float_read(out.as.bytes, false, &got));
            cr_expect(memcmp(&expected, &got, sizeof(got)) == 0 || expected == got, "%s",
                      cases[i].text);
        }
    }
}

Test(cast_value, casts_decimals)
{
    const struct schema *two = a_decimal("2");

    /* 1234567.89 */
    expect_all(two, some_bytes("\x07\x5b\xcd\x15", 4),
               ALL(RANGE, RANGE, "1234567", "1234567", "float 1234567.9", "float 1234567.89",
                   "true", "'1234567.89'"));
    /* -0.50 */
    expect_all(two, some_bytes("\xce", 1),
               ALL("0", "0", "0", "0", "float -0.5", "float -0.5", "false", "'-0.50'"));
    /* Zero, with an exponent as BigDecimal prints it. */
    expect_all(a_decimal("10"), some_bytes("\0", 1),
               ALL("0", "0", "0", "0", "float 0", "float 0", "false", "'0E-10'"));
    /* 2^64, which no int64 has. */
    expect_all(a_decimal("0"), some_bytes("\1\0\0\0\0\0\0\0\0", 9),
               ALL(RANGE, RANGE, RANGE, RANGE, "float 1.8446744e+19",
                   "float 1.8446744073709552e+19", "true", "'18446744073709551616'"));
}

static void expect_decimal(const char *bytes, size_t size, int32_t scale, const char *text)
{
    struct wr_slice got = decimal_text((struct wr_slice){bytes, size}, scale, scratch);

    cr_expect(wr_slice_is(got, text), "%.*s, not %s", (int)got.size, got.data, text);
}

/* BigDecimal.toString(), checked with Java 17. */
Test(cast_value, prints_decimals_as_java_does)
{
    expect_decimal("\x01", 1, 6, "0.000001");
    expect_decimal("\x01", 1, 7, "1E-7");
    expect_decimal("\x7b", 1, 9, "1.23E-7");
    expect_decimal("\x7b", 1, 3, "0.123");
    expect_decimal("\x7b", 1, 2, "1.23");
    expect_decimal("\x7b", 1, 0, "123");
    expect_decimal("\x7b", 1, -2, "1.23E+4");
    expect_decimal("\x85", 1, 2, "-1.23");
    expect_decimal("\x80", 1, 0, "-128");
    expect_decimal("\xff", 1, 0, "-1");
    expect_decimal("\x00\xff", 2, 1, "25.5");
    expect_decimal("", 0, 2, "0.00");
    expect_decimal("\x3b\x9a\xca\x00", 4, 0, "1000000000");
    expect_decimal("\x00\xde\x0b\x6b\x3a\x76\x40\x00\x00\x00", 10, 0, "4096000000000000000000");
}

Test(cast_value, casts_bytes_to_base64)
{
    expect(of_type(SCHEMA_BYTES), some_bytes("\1\2", 2), SCHEMA_STRING, "'AQI='");
    expect(of_type(SCHEMA_BYTES), some_bytes("\1\2", 2), SCHEMA_INT32,
           "bytes can only be cast to string");
    cr_expect_not(cast_is_possible(of_type(SCHEMA_BYTES), SCHEMA_INT32));
    cr_expect(cast_is_possible(of_type(SCHEMA_BYTES), SCHEMA_STRING));
    cr_expect(cast_is_possible(a_decimal("2"), SCHEMA_INT32));
    cr_expect_not(cast_is_possible(of_type(SCHEMA_STRUCT), SCHEMA_STRING));
    cr_expect_not(cast_is_possible(of_type(SCHEMA_ARRAY), SCHEMA_STRING));
    cr_expect_not(cast_is_possible(of_type(SCHEMA_MAP), SCHEMA_STRING));
}

Test(cast_value, casts_the_times_of_connect)
{
    const struct schema *date = named(SCHEMA_INT32, "org.apache.kafka.connect.data.Date");
    const struct schema *time = named(SCHEMA_INT32, "org.apache.kafka.connect.data.Time");
    const struct schema *timestamp = named(SCHEMA_INT64, "org.apache.kafka.connect.data.Timestamp");
    const struct schema *micro = named(SCHEMA_INT64, "io.debezium.time.MicroTimestamp");

    expect(date, an_int(1), SCHEMA_STRING, "'1970-01-02'");
    expect(date, an_int(-1), SCHEMA_STRING, "'1969-12-31'");
    expect(date, an_int(20000), SCHEMA_INT64, "20000");
    expect(time, an_int(3600000), SCHEMA_STRING, "'01:00:00.000Z'");
    expect(timestamp, an_int(1700000000123), SCHEMA_STRING, "'2023-11-14T22:13:20.123Z'");
    expect(timestamp, an_int(INT64_MIN), SCHEMA_STRING, RANGE);
    expect(micro, an_int(12), SCHEMA_STRING, "'12'");
}
