#include <criterion/criterion.h>

#include "base/arena.h"
#include "decoder/schema.h"

static struct wr_arena *arena;

static void set_up(void)
{
    arena = wr_arena_new(1 << 16);
}

static void tear_down(void)
{
    wr_arena_free(arena);
}

TestSuite(schema, .init = set_up, .fini = tear_down);

Test(schema, has_an_id_of_its_own_also_as_a_copy)
{
    struct schema *first = schema_new(arena, SCHEMA_INT32);
    struct schema *copy = schema_copy(arena, first);

    cr_expect_neq(first->id, 0);
    cr_expect_neq(copy->id, first->id);
    cr_expect_eq(copy->type, SCHEMA_INT32);
    cr_expect_not(first->is_optional);
}

Test(schema, is_copied_only_where_it_is_not_optional_already)
{
    struct schema *required = schema_new(arena, SCHEMA_STRING);
    required->name = "io.debezium.data.Json";
    const struct schema *optional = schema_with_optional(arena, required, true);

    cr_expect(optional->is_optional);
    cr_expect_not(required->is_optional);
    cr_expect_str_eq(optional->name, required->name);
    cr_expect_eq(schema_with_optional(arena, optional, true), optional);
}

Test(schema, finds_its_fields_by_name)
{
    struct schema *row = schema_new(arena, SCHEMA_STRUCT);
    struct schema_field fields[] = {{WR_SLICE("a"), schema_new(arena, SCHEMA_INT32)},
                                    {WR_SLICE("b"), schema_new(arena, SCHEMA_STRING)}};
    row->fields = fields;
    row->field_count = 2;

    cr_expect_eq(schema_field(row, WR_SLICE("b")), &fields[1]);
    cr_expect_null(schema_field(row, WR_SLICE("c")));
}

Test(schema, is_the_same_one_for_each_simple_type)
{
    for (enum schema_type type = SCHEMA_INT8; type <= SCHEMA_BYTES; type++) {
        for (int optional = 0; optional <= 1; optional++) {
            const struct schema *plain = schema_plain(type, optional != 0);
            cr_expect_eq(plain, schema_plain(type, optional != 0));
            cr_expect_eq(plain->type, type);
            cr_expect_eq(plain->is_optional, optional != 0);
            cr_expect(plain->id > 0 && plain->id < schema_new(arena, type)->id);
        }
    }
    cr_expect_neq(schema_plain(SCHEMA_INT8, true)->id, schema_plain(SCHEMA_INT8, false)->id);
}

Test(schema, of_a_struct_keeps_its_own_fields)
{
    struct schema_field fields[] = {{WR_SLICE("a"), schema_plain(SCHEMA_INT32, false)}};
    const struct schema *schema = schema_struct(arena, "shop.Key", 1, fields, 1);

    fields[0].name = WR_SLICE("b");
    cr_expect_not_null(schema_field(schema, WR_SLICE("a")));
    cr_expect_null(schema_field(schema, WR_SLICE("b")));
    cr_expect_str_eq(schema->name, "shop.Key");
    cr_expect_eq(schema->version, 1);
    cr_expect_eq(schema_struct(arena, NULL, 0, NULL, 0)->field_count, 0);
}
