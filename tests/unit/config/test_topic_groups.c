#include "config/topic_group.h"
#include "load.h"

TestSuite(topic_groups, .fini = forget);

#define DEFAULTS                                                                                   \
    REQUIRED "topic.creation.default.replication.factor=3\ntopic.creation.default.partitions=-1\n"

Test(topic_groups, are_none_where_nothing_is_asked_for)
{
    expect_loads(REQUIRED "topic.creation.enable=true\n");
    cr_expect_eq(config->topic_group_count, 0);
}

Test(topic_groups, end_with_the_default_group)
{
    expect_loads(DEFAULTS "topic.creation.groups=x, default,y,x\n"
                          "topic.creation.y.include=a.*,b\ntopic.creation.y.exclude=ab\n"
                          "topic.creation.x.include=c\ntopic.creation.x.partitions=5\n"
                          "topic.creation.x.cleanup.policy=compact\n"
                          "topic.creation.default.retention.ms=1000\n");
    cr_assert_eq(config->topic_group_count, 3);
    const struct topic_group *groups = config->topic_groups;
    expect_text(groups[0].name, "x");
    cr_expect_eq(groups[0].partition_count, 5);
    cr_expect_eq(groups[0].replication_factor, 3);
    expect_text(pair(&groups[0].settings, "cleanup.policy"), "compact");
    expect_text(pair(&groups[0].settings, "retention.ms"), NULL);
    expect_text(groups[1].name, "y");
    expect_text(groups[1].include, "a.*,b");
    expect_text(groups[1].exclude, "ab");
    cr_expect_eq(groups[1].partition_count, -1);
    expect_text(groups[2].name, "default");
    expect_text(pair(&groups[2].settings, "retention.ms"), "1000");
}

Test(topic_groups, need_the_defaults_and_what_they_are_of)
{
    expect_refused(REQUIRED "topic.creation.default.partitions=1\n",
                   "topic.creation.default.replication.factor: is required where topics are to be "
                   "created; -1 is the broker's default");
    expect_refused(REQUIRED "topic.creation.default.replication.factor=1\n",
                   "topic.creation.default.partitions: is required where topics are to be created; "
                   "-1 is the broker's default");
    expect_refused(
        DEFAULTS "topic.creation.groups=g\n",
        "topic.creation.g.include: is required: the topics of the group, as expressions");
    expect_refused(DEFAULTS "topic.creation.h.include=x\n",
                   "5: topic.creation.h.include: there is no group h in topic.creation.groups");
    expect_refused(DEFAULTS "topic.creation.partitions=1\n",
                   "5: topic.creation.partitions: must end with GROUP.SETTING, as "
                   "topic.creation.default.partitions");
    expect_refused(DEFAULTS "topic.creation.default.include=x\n",
                   "5: topic.creation.default.include: the default group has all topics that no "
                   "other group has");
}

Test(topic_groups, have_numbers_that_a_topic_can_have)
{
    static const char *const values[] = {"0", "-2", "x", "1.5", "70000000000", ""};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), DEFAULTS "topic.creation.default.replication.factor=%s\n",
                 values[i]);
        cr_expect_not(load(text), "%s", values[i]);
        cr_expect_not_null(strstr(problem(), "must be a number from 1 to 32767"), "%s", problem());
    }
    cr_expect_not(load(DEFAULTS "topic.creation.groups=g\ntopic.creation.g.include=(\n"));
}

Test(topic_groups, are_checked_and_left_to_the_broker_where_they_are_switched_off)
{
    expect_loads(DEFAULTS "topic.creation.enable=false\n");
    cr_expect_eq(config->topic_group_count, 0);
    cr_expect_not(
        load(DEFAULTS "topic.creation.enable=false\ntopic.creation.default.partitions=x\n"));
}
