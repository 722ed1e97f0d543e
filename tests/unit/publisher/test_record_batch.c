#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "publisher/record_batch.h"

static struct record_batch *batch, *other;

static void set_up(void)
{
    batch = record_batch_new();
    other = record_batch_new();
}

static void tear_down(void)
{
    record_batch_free(batch);
    record_batch_free(other);
}

TestSuite(record_batch, .init = set_up, .fini = tear_down);

/* Record `number`: of a size, and with headers and nulls, by its number. */
static void add(struct record_batch *to, unsigned number)
{
    char value[512];
    char name[32];
    struct publisher_header headers[3];
    size_t count = number % 4;

    memset(value, 'a' + (int)(number % 26), sizeof(value));
    snprintf(name, sizeof(name), "header %u", number);
    for (size_t i = 0; i < count; i++) {
        headers[i] = (struct publisher_header){
            .name = name, .value = {value, i * 3}, .is_null = i == 1 && number % 8 == 3};
    }
    record_batch_add(to, &(struct publisher_record){
                             .topic = wr_slice_str("some.topic"),
                             .partition = (int32_t)number % 3 - 1,
                             .timestamp_ms = number,
                             .key = {value, number % 7},
                             .value = {value, number % sizeof(value)},
                             .key_is_null = number % 5 == 0,
                             .value_is_null = number % 11 == 0,
                             .headers = headers,
                             .header_count = count,
                             .ticket = number,
                         });
}

static void expect(const struct batch_record *record, unsigned number)
{
    struct publisher_record r;
    struct publisher_header headers[3];
    char name[32];

    snprintf(name, sizeof(name), "header %u", number);
    batch_record_read(record, &r, headers);
    cr_assert_eq(r.ticket, number);
    cr_expect_eq(r.timestamp_ms, number);
    cr_expect_eq(r.partition, (int32_t)number % 3 - 1);
    cr_expect(wr_slice_is(r.topic, "some.topic"));
    cr_expect_eq(r.key_is_null, number % 5 == 0);
    cr_expect_eq(r.key.size, r.key_is_null ? 0 : number % 7);
    cr_expect_eq(r.value_is_null, number % 11 == 0);
    cr_expect_eq(r.value.size, r.value_is_null ? 0 : number % 512);
    for (size_t i = 0; i < r.value.size; i++) {
        cr_assert_eq(r.value.data[i], 'a' + (int)(number % 26));
    }
    cr_assert_eq(r.header_count, number % 4);
    for (size_t i = 0; i < r.header_count; i++) {
        cr_expect_str_eq(headers[i].name, name);
        cr_expect_eq(headers[i].is_null, i == 1 && number % 8 == 3);
        cr_expect_eq(headers[i].value.size, headers[i].is_null ? 0 : i * 3);
    }
}

Test(record_batch, gives_back_what_was_added)
{
    unsigned number = 0;

    for (unsigned i = 0; i < 2000; i++) {
        add(batch, i);
    }
    for (const struct batch_record *at = record_batch_next(batch, NULL); at != NULL;
         at = record_batch_next(batch, at)) {
        expect(at, number++);
    }
    cr_expect_eq(number, 2000);
    record_batch_reset(batch);
    cr_expect_null(record_batch_next(batch, NULL));
    cr_expect_eq(record_batch_size(batch), 0);
}

Test(record_batch, is_split_anywhere)
{
    for (unsigned first = 0; first <= 20; first++) {
        size_t size = 0;
        unsigned number = 0;
        for (unsigned i = 0; i < 20; i++) {
            size = i == first ? record_batch_size(batch) : size;
            add(batch, i);
        }
        size = first == 20 ? record_batch_size(batch) : size;
        record_batch_split(batch, first, size, other);
        for (const struct batch_record *at = record_batch_next(batch, NULL); at != NULL;
             at = record_batch_next(batch, at)) {
            expect(at, number++);
        }
        cr_expect_eq(number, first);
        for (const struct batch_record *at = record_batch_next(other, NULL); at != NULL;
             at = record_batch_next(other, at)) {
            expect(at, number++);
        }
        cr_expect_eq(number, 20);
        record_batch_reset(batch);
        record_batch_reset(other);
    }
}
