#include "fixture.h"

TestSuite(left_out, .init = open_fixture, .fini = close_fixture);

static const struct fixture_column COLUMNS[] = {
    {"id", INT4, true}, {"area", BOX, false}, {"name", TEXT, false}, {"hall", BOX, false}};

static struct relation *rooms(const char *table)
{
    return MAKE_RELATION("public", table, 'd', COLUMNS);
}

#define LEFT_OUT(column)                                                                           \
    "column " column " is left out: its type (unknown type, oid 603) is published only with "      \
    "include.unknown.datatypes=true\n"

Test(left_out, is_said_once_of_each_column_of_a_type_that_is_not_published)
{
    (void)compile(rooms("rooms"));
    EXPECT_NOTICES(LEFT_OUT("public.rooms.area") LEFT_OUT("public.rooms.hall"));
    notices_size = 0;
    notices[0] = '\0';
    (void)compile(rooms("rooms"));
    EXPECT_NOTICES("");
    (void)compile(rooms("lofts"));
    EXPECT_NOTICES(LEFT_OUT("public.lofts.area") LEFT_OUT("public.lofts.hall"));
}

Test(left_out, is_not_said_of_what_the_user_has_left_out)
{
    config.column_exclude_list = "public\\.rooms\\.area";
    (void)compile(rooms("rooms"));
    EXPECT_NOTICES(LEFT_OUT("public.rooms.hall"));
}

Test(left_out, is_not_said_of_a_table_that_is_not_captured)
{
    config.table_exclude_list = "public\\.rooms";
    (void)compile(rooms("rooms"));
    EXPECT_NOTICES("");
}

Test(left_out, is_not_said_when_such_types_are_published)
{
    config.include_unknown_datatypes = true;
    (void)compile(rooms("rooms"));
    EXPECT_NOTICES("");
}

Test(left_out, is_not_said_without_end)
{
    enum { TABLE_COUNT = 600 };
    char name[32];
    size_t count = 0;

    for (int i = 0; i < TABLE_COUNT; i++) {
        snprintf(name, sizeof(name), "rooms%d", i);
        struct relation *relation = rooms(name);
        (void)compile(relation);
        notices_size = 0;
        count += notices[0] != '\0';
        notices[0] = '\0';
        wr_arena_free(relation->arena);
        relation_count--;
    }
    cr_expect_eq(count, 500, "%zu tables of two columns each", count);
}
