#include <string.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "router/source_type.h"

struct type_case {
    uint32_t oid;
    int32_t typmod;
    const char *length;
    const char *scale;
};

static void expect_parameters(const struct type_case *c, const struct column_type *type)
{
    struct wr_arena *arena = wr_arena_new(1 << 16);
    struct schema_parameter said[SOURCE_TYPE_PARAMETER_COUNT];

    cr_assert(source_type_parameters(type, "int4", "id", arena, said));
    cr_expect_str_eq(said[0].value, "INT4");
    cr_expect_str_eq(said[1].value, c->length, "type %u(%d)", c->oid, c->typmod);
    cr_expect_str_eq(said[2].value, c->scale, "type %u(%d)", c->oid, c->typmod);
    cr_expect_str_eq(said[3].value, "id");
    wr_arena_free(arena);
}

/* The first lines are what Debezium published; the others what its driver says. */
Test(source_type, is_said_with_the_length_and_scale_of_the_jdbc_driver)
{
    static const struct type_case cases[] = {
        {23, -1, "10", "0"},
        {25, -1, "2147483647", "0"},
        {1700, (6 << 16 | 2) + 4, "6", "2"},
        {1184, -1, "35", "6"},
        {1043, 44, "40", "0"},
        {3802, -1, "2147483647", "0"},
        {1042, 7, "3", "0"},
        {1114, 3, "26", "3"},
        {16, -1, "1", "0"},
        {21, -1, "5", "0"},
        {20, -1, "19", "0"},
        {700, -1, "8", "8"},
        {701, -1, "17", "17"},
        {1700, -1, "131089", "0"},
        {1082, -1, "13", "0"},
        {1083, 0, "8", "0"},
        {1266, -1, "21", "6"},
        {1114, 1, "25", "1"},
        {1186, -1, "49", "6"},
        {1560, 8, "8", "0"},
        {1562, -1, "2147483647", "0"},
        {1043, -1, "2147483647", "0"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct column_type type = {.oid = cases[i].oid, .typmod = cases[i].typmod};
        const struct column_type array = {.oid = 1, .typmod = -1, .element = &type};
        expect_parameters(&cases[i], &type);
        expect_parameters(&cases[i], &array);
    }
}

Test(source_type, knows_how_long_a_text_may_be)
{
    cr_expect_eq(source_type_text_size_max(&(struct column_type){.oid = 1043, .typmod = 44}), 40);
    cr_expect_eq(source_type_text_size_max(&(struct column_type){.oid = 1043, .typmod = -1}), 0);
    cr_expect_eq(source_type_text_size_max(&(struct column_type){.oid = 25, .typmod = -1}), 0);
}
