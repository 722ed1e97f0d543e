#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "publisher/publisher.h"

enum { TICKETS_MAX = 20000 };

static struct wr_error err;
static struct publisher *publisher;
static uint64_t tickets[TICKETS_MAX]; /* acknowledged, in their order */
static size_t ticket_count;
static int reader = -1; /* the other end of standard output */

static void on_acknowledged(void *context, uint64_t ticket)
{
    cr_assert_eq(context, &ticket_count);
    cr_assert_lt(ticket_count, TICKETS_MAX);
    tickets[ticket_count++] = ticket;
}

static void on_failed(void *context, uint64_t ticket, const struct publisher_failure *failure)
{
    (void)context;
    (void)failure;
    cr_assert_fail("ticket %llu failed", (unsigned long long)ticket);
}

static void open_publisher(void)
{
    const struct publisher_events events = {&ticket_count, on_acknowledged, on_failed};

    cr_assert_eq(publisher_stdout_open(&events, &publisher, &err), WR_OK);
}

/* Criterion runs each test in a process of its own, so standard output can be replaced. */
static void open_pipe(void)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    close(ends[1]);
    reader = ends[0];
    open_publisher();
}

static void close_publisher(void)
{
    publisher_close(publisher);
}

TestSuite(stdout, .init = open_pipe, .fini = close_publisher);

static enum wr_status produce(const char *value, uint64_t ticket)
{
    struct publisher_record record = {
        .topic = WR_SLICE("t"),
        .partition = -1,
        .timestamp_ms = -1,
        .key_is_null = true,
        .value = wr_slice_str(value),
        .ticket = ticket,
    };

    return publisher_produce(publisher, &record, &err);
}

/* What stands in the pipe. */
static const char *read_output(void)
{
    static char text[1 << 16];
    ssize_t size = read(reader, text, sizeof(text) - 1);

    cr_assert_geq(size, 0);
    text[size] = '\0';
    return text;
}

Test(stdout, writes_one_json_line_a_record)
{
    const struct publisher_header headers[] = {
        {.name = "id", .value = WR_SLICE("1\"2")},
        {.name = "none", .is_null = true},
    };
    struct publisher_record record = {
        .topic = WR_SLICE("order-events"),
        .partition = 3,
        .key = WR_SLICE("k\xff"),
        .value = WR_SLICE("{\"a\":1}"),
        .headers = headers,
        .header_count = 2,
        .ticket = 7,
    };

    cr_assert_eq(publisher_produce(publisher, &record, &err), WR_OK);
    record = (struct publisher_record){
        .topic = WR_SLICE("x"),
        .partition = -1,
        .key_is_null = true,
        .value_is_null = true,
        .ticket = 8,
    };
    cr_assert_eq(publisher_produce(publisher, &record, &err), WR_OK);
    cr_assert_eq(publisher_flush(publisher, 1000, &err), WR_OK);
    cr_expect_str_eq(
        read_output(),
        "{\"topic\":\"order-events\",\"partition\":3,\"key\":\"k\xef\xbf\xbd\","
        "\"headers\":{\"id\":\"1\\\"2\",\"none\":null},\"value\":\"{\\\"a\\\":1}\"}\n"
        "{\"topic\":\"x\",\"partition\":0,\"key\":null,\"headers\":{},\"value\":null}\n");
    cr_expect_eq(ticket_count, 2);
    cr_expect_eq(tickets[0], 7);
    cr_expect_eq(tickets[1], 8);
}

Test(stdout, acknowledges_nothing_before_it_is_written)
{
    cr_assert_eq(produce("abc", 1), WR_OK);
    cr_expect_eq(ticket_count, 0);
    cr_expect_eq(publisher_inflight_count(publisher), 1);
    cr_expect_eq(publisher_inflight_bytes(publisher), 3);
    cr_assert_eq(publisher_poll(publisher, &err), WR_OK);
    cr_expect_eq(ticket_count, 1);
    cr_expect_eq(publisher_inflight_count(publisher), 0);
    cr_expect_eq(publisher_inflight_bytes(publisher), 0);
}

/* Fills pipe and buffer; returns how many records went in. */
static uint64_t fill(const char *value)
{
    uint64_t count = 0;
    enum wr_status status = WR_OK;

    for (int round = 0; round < 3; round++) {
        while ((status = produce(value, count)) == WR_OK) {
            count++;
        }
        cr_assert_eq(status, WR_AGAIN);
        cr_assert_eq(publisher_poll(publisher, &err), WR_OK);
    }
    return count;
}

Test(stdout, waits_for_a_slow_reader_without_blocking)
{
    char value[1000];

    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    uint64_t count = fill(value);
    cr_expect_gt(publisher_inflight_count(publisher), 0);
    cr_expect_lt(publisher_inflight_bytes(publisher), 1 << 19);
    cr_expect_eq(publisher_flush(publisher, 10, &err), WR_AGAIN);
    cr_expect_not_null(strstr(err.text, "not written within 10 ms"), "%s", err.text);
    while (publisher_inflight_count(publisher) > 0) {
        (void)read_output();
        cr_assert_neq(publisher_flush(publisher, 0, &err), WR_FATAL);
    }
    cr_assert_eq(ticket_count, count);
    for (uint64_t i = 0; i < count; i++) {
        cr_assert_eq(tickets[i], i);
    }
}

Test(stdout, says_that_the_reader_has_gone)
{
    close(reader);
    cr_assert_eq(produce("abc", 1), WR_OK);
    cr_expect_eq(publisher_poll(publisher, &err), WR_FATAL);
    cr_expect_str_eq(err.text, "cannot write to standard output: Broken pipe");
    cr_expect_eq(ticket_count, 0);
}

Test(stdout, rejects_an_invalid_topic)
{
    struct publisher_record record = {.topic = WR_SLICE("a b"), .key_is_null = true};

    cr_expect_eq(publisher_produce(publisher, &record, &err), WR_REJECT);
    cr_expect_eq(publisher_inflight_count(publisher), 0);
}

Test(stdout, has_no_descriptor_to_wait_for)
{
    cr_expect_eq(publisher_fd(publisher), -1);
}

Test(stdout_file, writes_many_records_in_order, .fini = close_publisher)
{
    FILE *file = tmpfile();
    char line[200];
    uint64_t number = 0;

    cr_assert_not_null(file);
    cr_assert_eq(dup2(fileno(file), STDOUT_FILENO), STDOUT_FILENO);
    open_publisher();
    for (uint64_t i = 0; i < 10000; i++) {
        char value[32];
        snprintf(value, sizeof(value), "%llu", (unsigned long long)i);
        if (produce(value, i) == WR_AGAIN) {
            cr_assert_eq(publisher_poll(publisher, &err), WR_OK);
            cr_assert_eq(produce(value, i), WR_OK);
        }
    }
    cr_assert_eq(publisher_flush(publisher, 1000, &err), WR_OK);
    cr_assert_eq(ticket_count, 10000);
    rewind(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        char expected[200];
        snprintf(
            expected, sizeof(expected),
            "{\"topic\":\"t\",\"partition\":0,\"key\":null,\"headers\":{},\"value\":\"%llu\"}\n",
            (unsigned long long)number);
        cr_assert_str_eq(line, expected);
        number++;
    }
    cr_expect_eq(number, 10000);
}

Test(stdout_file, says_that_the_disk_is_full, .fini = close_publisher)
{
    int full = open("/dev/full", O_WRONLY);

    cr_assert_eq(dup2(full, STDOUT_FILENO), STDOUT_FILENO);
    open_publisher();
    cr_assert_eq(produce("abc", 1), WR_OK);
    cr_expect_eq(publisher_flush(publisher, 1000, &err), WR_FATAL);
    cr_expect_str_eq(err.text, "cannot write to standard output: No space left on device");
}
