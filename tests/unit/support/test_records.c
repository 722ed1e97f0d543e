#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "support/records.h"

static struct kafka_records expected;
static struct kafka_records actual;
static char *report;
static size_t report_size;

static void forget(void)
{
    records_done(&expected);
    records_done(&actual);
    free(report);
}

TestSuite(records, .fini = forget);

/* A heap copy sized to the byte, so that AddressSanitizer sees any over-read. */
static struct wr_slice heap(const char *text, size_t size)
{
    char *copy = malloc(size == 0 ? 1 : size);

    memcpy(copy, text, size);
    return (struct wr_slice){copy, size};
}

static void add_bytes(struct kafka_records *list, const char *topic, const char *value, size_t size)
{
    struct wr_slice bytes = heap(value, size);
    struct kafka_record record = {
        .topic = wr_slice_str(topic), .key = WR_SLICE("k"), .value = bytes};

    records_add(list, &record);
    free((void *)(uintptr_t)bytes.data);
}

static void add(struct kafka_records *list, const char *topic, const char *value)
{
    add_bytes(list, topic, value, strlen(value));
}

static bool are_equal(void)
{
    free(report);
    FILE *out = open_memstream(&report, &report_size);
    bool answer = records_equal(&expected, &actual, out);

    fclose(out);
    return answer;
}

static const char *kept_value(void)
{
    return actual.items[actual.count - 1].value.data;
}

Test(records, are_compared_topic_by_topic)
{
    add(&expected, "a", "1");
    add(&expected, "b", "2");
    add(&actual, "b", "2");
    add(&actual, "a", "1");
    cr_expect(are_equal());
}

Test(records, differ_in_another_order_within_a_topic)
{
    add(&expected, "a", "1");
    add(&expected, "a", "2");
    add(&actual, "a", "2");
    add(&actual, "a", "1");
    cr_expect(!are_equal());
    cr_expect(strstr(report, "topic a, record 0 differs") != NULL, "%s", report);
}

Test(records, differ_when_one_is_missing)
{
    add(&expected, "a", "1");
    add(&expected, "a", "2");
    add(&actual, "a", "1");
    cr_expect(!are_equal());
    cr_expect(strstr(report, "actual: no record") != NULL, "%s", report);
}

Test(records, differ_when_one_is_too_many)
{
    add(&expected, "a", "1");
    add(&actual, "a", "1");
    add(&actual, "surprise", "1");
    cr_expect(!are_equal());
    cr_expect(strstr(report, "topic surprise") != NULL, "%s", report);
}

Test(records, tell_null_from_empty)
{
    struct kafka_record record = {
        .topic = WR_SLICE("a"), .key_is_null = true, .value = WR_SLICE("")};

    records_add(&expected, &record);
    record.value_is_null = true;
    records_add(&actual, &record);
    cr_expect(!are_equal());
}

Test(records, compare_headers_less_the_internal_ones)
{
    struct kafka_record record = {
        .topic = WR_SLICE("a"),
        .headers = {{WR_SLICE("id"), WR_SLICE("1"), false}},
        .header_count = 1,
    };

    records_add(&expected, &record);
    record.headers[1] = (struct kafka_header){WR_SLICE("walrelay.lsn"), WR_SLICE("99"), false};
    record.headers[2] =
        (struct kafka_header){WR_SLICE("__debezium.context.taskId"), WR_SLICE("0"), false};
    record.header_count = 3;
    records_add(&actual, &record);
    cr_expect(are_equal());
    record.headers[3] = (struct kafka_header){WR_SLICE("other"), WR_SLICE(""), true};
    record.header_count = 4;
    records_add(&expected, &record);
    record.headers[3].is_null = false;
    records_add(&actual, &record);
    cr_expect(!are_equal());
}

Test(records, blot_out_what_varies_in_an_envelope_and_nothing_else)
{
    add(&actual, "t",
        "{\"before\":null,\"after\":{\"ts_ms\":1,\"lsn\":\"}\\\"\"},\"source\":{\"version\":\"3\","
        "\"name\":\"n\",\"ts_ms\":5,\"sequence\":\"[null,\\\"7\\\"]\",\"txId\":null,\"table\":"
        "\"t\"},"
        "\"transaction\":{\"id\":\"7:8\",\"total_order\":1},\"op\":\"c\",\"ts_ms\":12,\"ts_us\":"
        "3}");
    cr_expect_str_eq(
        kept_value(),
        "{\"before\":null,\"after\":{\"ts_ms\":1,\"lsn\":\"}\\\"\"},\"source\":{\"version\":*,"
        "\"name\":\"n\",\"ts_ms\":*,\"sequence\":*,\"txId\":*,\"table\":\"t\"},"
        "\"transaction\":{\"id\":*,\"total_order\":1},\"op\":\"c\",\"ts_ms\":*,\"ts_us\":*}");
}

Test(records, blot_out_inside_a_payload_with_schema)
{
    add(&actual, "t",
        "{\"schema\":{\"ts_ms\":1},\"payload\":{\"source\":{\"lsn\":5},\"op\":\"c\",\"ts_ns\":1}}");
    cr_expect_str_eq(
        kept_value(),
        "{\"schema\":{\"ts_ms\":1},\"payload\":{\"source\":{\"lsn\":*},\"op\":\"c\",\"ts_ns\":*}}");
}

Test(records, keep_what_is_not_an_envelope)
{
    add(&actual, "t", "{\"ts_ms\":1,\"source\":{\"lsn\":2}}");
    cr_expect_str_eq(kept_value(), "{\"ts_ms\":1,\"source\":{\"lsn\":2}}");
    add(&actual, "t", "{\"op\":\"c\",\"source\":");
    cr_expect_str_eq(kept_value(), "{\"op\":\"c\",\"source\":");
}

Test(records, replace_bytes_that_are_not_utf8)
{
    add_bytes(&actual, "t", "a\0\xff\xf0\x9f\x98\x80\xc3", 8);
    cr_expect_eq(actual.items[0].value.size, 2 + 3 + 4 + 3);
    cr_expect_arr_eq(kept_value(), "a\0\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd", 12);
}

Test(records, read_the_form_of_a_golden_case)
{
    static const char LINES[] =
        "{\"topic\":\"t\",\"partition\":0,\"key\":null,\"headers\":{\"h\":null},\"value\":"
        "\"\\u0000\"}\n"
        "{\"topic\":\"t\",\"partition\":2,\"key\":\"k\",\"headers\":{},\"value\":null}\n";
    char path[] = "/tmp/walrelay-records-XXXXXX";
    int fd = mkstemp(path);

    cr_assert_eq(write(fd, LINES, sizeof(LINES) - 1), (ssize_t)sizeof(LINES) - 1);
    close(fd);
    cr_expect(records_read(&actual, path));
    unlink(path);
    cr_assert_eq(actual.count, 2);
    cr_expect(actual.items[0].key_is_null);
    cr_expect(actual.items[0].headers[0].is_null);
    cr_expect_eq(actual.items[0].value.size, 1);
    cr_expect_eq(actual.items[1].partition, 2);
    cr_expect(actual.items[1].value_is_null);
}
