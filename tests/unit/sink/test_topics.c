#include <criterion/criterion.h>

#include "base/arena.h"
#include "config/config.h"
#include "config/route_config.h"
#include "sink/topics.h"

TestSuite(topics);

Test(topics, of_a_route_are_a_pattern)
{
    struct wr_arena *arena = wr_arena_new(1 << 16);
    const struct template_piece pieces[] = {
        {false, WR_SLICE("a.b c.")}, {true, WR_SLICE("table")}, {false, WR_SLICE("-x")}};
    const struct template_config topic = {"", pieces, 3};
    const struct config config = {.topic_prefix = "my shop", .topic_delimiter = "."};
    struct route_config route = {.name = "search"};

    cr_expect_str_eq(sink_topic_pattern(&config, &route, arena), "^my_shop\\.search\\..+$");
    route.topic = &topic;
    cr_expect_str_eq(sink_topic_pattern(&config, &route, arena), "^a\\.b_c\\..+-x$");
    wr_arena_free(arena);
}
