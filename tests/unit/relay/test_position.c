/* The record of the position, and what a start refuses by it. */
#include <string.h>

#include <criterion/criterion.h>

#include "relay/position.h"

static struct position position;
static struct position_server server;
static struct wr_error err;

static void set_up(void)
{
    position = (struct position){.is_known = true,
                                 .system_identifier = UINT64_C(7714317548000204047),
                                 .timeline = 2,
                                 .acked_lsn = 0x5000,
                                 .last_end_lsn = 0x4000,
                                 .txn_no = 12};
    server = (struct position_server){.system_identifier = position.system_identifier,
                                      .timeline = 2,
                                      .wal_lsn = 0x9000,
                                      .slot_name = "s",
                                      .has_slot = true,
                                      .confirmed_lsn = 0x5000};
}

TestSuite(position, .init = set_up);

static bool is_refused_with(const char *text)
{
    enum wr_status status = position_check(&position, &server, &err);

    return status == WR_FATAL && strstr(err.text, text) != NULL &&
           strstr(err.text, "--accept-gap") != NULL;
}

Test(position, comes_back_as_it_was_written)
{
    char text[POSITION_VALUE_SIZE];
    struct position read;

    position.partial_lsn = 0x6000;
    position.partial_count = UINT64_MAX;
    size_t size = position_write(&position, text);
    cr_assert(position_read((struct wr_slice){text, size}, &read));
    cr_expect_arr_eq(&read, &position, sizeof(read));
}

Test(position, is_not_read_from_anything_else)
{
    char text[POSITION_VALUE_SIZE];
    struct position read;
    size_t size = position_write(&position, text);

    for (size_t i = 0; i < size; i++) {
        cr_expect_not(position_read((struct wr_slice){text, i}, &read), "%zu bytes", i);
    }
    text[size] = '}';
    cr_expect_not(position_read((struct wr_slice){text, size + 1}, &read));
    cr_expect_not(position_read((struct wr_slice){NULL, 0}, &read));
    position.last_end_lsn = position.acked_lsn + 1;
    size = position_write(&position, text);
    cr_expect_not(position_read((struct wr_slice){text, size}, &read), "it contradicts itself");
}

Test(position, lets_go_on_what_fits)
{
    cr_expect_eq(position_check(&position, &server, &err), WR_OK);
    server.confirmed_lsn = 0x1000; /* it may be behind: a crash of the server does that */
    cr_expect_eq(position_check(&position, &server, &err), WR_OK);
    server.timeline = 3; /* a failover behind all that was published */
    server.switch_lsn = 0x4000;
    cr_expect_eq(position_check(&position, &server, &err), WR_OK);
    server.has_slot = false;
    server.has_snapshot_slot = true;
    cr_expect_eq(position_check(&position, &server, &err), WR_OK);
    position.is_known = false;
    server = (struct position_server){.slot_name = "s"};
    cr_expect_eq(position_check(&position, &server, &err), WR_OK);
}

Test(position, refuses_another_cluster)
{
    server.system_identifier++;
    cr_expect(is_refused_with("another cluster"), "%s", err.text);
}

Test(position, refuses_an_older_server)
{
    server.wal_lsn = 0x3fff;
    cr_expect(is_refused_with("an older server"), "%s", err.text);
    server.wal_lsn = 0x9000;
    server.timeline = 1;
    cr_expect(is_refused_with("an older server"), "%s", err.text);
}

Test(position, refuses_a_failover_before_what_was_published)
{
    server.timeline = 3;
    server.switch_lsn = 0x3fff;
    cr_expect(is_refused_with("has left timeline 2 at 0/3FFF"), "%s", err.text);
}

Test(position, refuses_a_slot_that_is_ahead)
{
    server.confirmed_lsn = 0x5001;
    cr_expect(is_refused_with("slot s is ahead"), "%s", err.text);
}

Test(position, refuses_a_slot_that_is_missing)
{
    server.has_slot = false;
    cr_expect(is_refused_with("slot s is missing"), "%s", err.text);
}
