#include <stdio.h>

#include <criterion/criterion.h>

#include "router/topic_owners.h"

static struct topic_owners *owners;

static void open_owners(void)
{
    owners = topic_owners_new();
}

static void close_owners(void)
{
    topic_owners_free(owners);
}

TestSuite(topic_owners, .init = open_owners, .fini = close_owners);

Test(topic_owners, tell_of_another_table_with_the_topic)
{
    const char *other = "unset";

    cr_expect(topic_owners_add(owners, "shop.public.a_b", "public.a b", &other));
    cr_expect_null(other);
    cr_expect(topic_owners_add(owners, "shop.public.a_b", "public.a_b", &other));
    cr_expect_str_eq(other, "public.a b");
    cr_expect(topic_owners_add(owners, "shop.public.c", "public.c", &other));
    cr_expect_null(other);
}

Test(topic_owners, say_each_thing_once)
{
    const char *other = NULL;

    (void)topic_owners_add(owners, "t", "public.a", &other);
    (void)topic_owners_add(owners, "t", "public.b", &other);
    cr_expect(!topic_owners_add(owners, "t", "public.a", &other));
    cr_expect_null(other);
    cr_expect(!topic_owners_add(owners, "t", "public.b", &other));
    cr_expect_null(other);
}

Test(topic_owners, keep_more_topics_than_buckets)
{
    char topic[32];
    const char *other = NULL;

    for (int i = 0; i < 10000; i++) {
        snprintf(topic, sizeof(topic), "shop.public.t%d", i);
        cr_assert(topic_owners_add(owners, topic, topic, &other));
        cr_assert_null(other);
    }
    for (int i = 0; i < 10000; i++) {
        snprintf(topic, sizeof(topic), "shop.public.t%d", i);
        cr_assert(!topic_owners_add(owners, topic, topic, &other));
    }
}
