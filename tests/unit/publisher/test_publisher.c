#include <string.h>

#include <criterion/criterion.h>

#include "publisher/backend.h"
#include "publisher/publisher.h"

static bool is_valid(const char *name)
{
    return publisher_topic_is_valid(name, strlen(name));
}

Test(publisher, takes_the_topic_names_that_kafka_takes)
{
    char longest[250];

    memset(longest, 'x', sizeof(longest));
    cr_expect(is_valid("order-events"));
    cr_expect(is_valid("Shop_1.public.a"));
    cr_expect(is_valid("..."));
    cr_expect(is_valid(".a"));
    cr_expect(publisher_topic_is_valid(longest, 249));
    cr_expect_not(publisher_topic_is_valid(longest, 250));
    cr_expect_not(publisher_topic_is_valid(NULL, 0));
    cr_expect_not(is_valid("."));
    cr_expect_not(is_valid(".."));
    cr_expect_not(is_valid("or der"));
    cr_expect_not(is_valid("a/b"));
    cr_expect_not(is_valid("\xc3\xa4"));
    cr_expect_not(publisher_topic_is_valid("a\0b", 3));
}

Test(publisher, names_topic_key_and_size_of_a_rejected_record)
{
    struct wr_error err = {0};
    struct publisher_record record = {
        .topic = WR_SLICE("order events"),
        .key = WR_SLICE("k\n1"),
        .value = WR_SLICE("12345"),
    };

    cr_expect_eq(publisher_reject(&record, "kafka", "invalid topic name", &err), WR_REJECT);
    cr_expect_str_eq(err.text, "topic \"order events\", key k?1, 8 bytes: invalid topic name");
    record.key_is_null = true;
    cr_expect_eq(publisher_reject(&record, "kafka", "no", &err), WR_REJECT);
    cr_expect_str_eq(err.text, "topic \"order events\", key null, 5 bytes: no");
}

Test(publisher, shortens_long_keys_and_topics)
{
    char text[1000];
    struct wr_error err = {0};

    memset(text, 'k', sizeof(text));
    struct publisher_record record = {
        .topic = {text, sizeof(text)},
        .key = {text, 65},
        .value_is_null = true,
    };
    cr_expect_eq(publisher_reject(&record, "kafka", "no", &err), WR_REJECT);
    cr_expect_not_null(strstr(err.text, "k..., 65 bytes: no"), "%s", err.text);
    record.key.size = 64;
    cr_expect_eq(publisher_reject(&record, "kafka", "no", &err), WR_REJECT);
    cr_expect_null(strstr(err.text, "..."), "%s", err.text);
}
