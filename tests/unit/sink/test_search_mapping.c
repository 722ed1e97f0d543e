#include <criterion/criterion.h>

#include "base/json_scan.h"
#include "config/route_config.h"
#include "sink/search_mapping.h"

static struct wr_buffer out;
static struct wr_error err;

static void set_up(void)
{
    wr_buffer_init(&out, 1 << 16);
}

static void tear_down(void)
{
    wr_buffer_done(&out);
}

TestSuite(search_mapping, .init = set_up, .fini = tear_down);

static const char *properties(const char *types)
{
    wr_buffer_reset(&out);
    cr_assert_eq(search_properties(wr_slice_str(types), &out, &err), WR_OK, "%s", err.text);
    cr_assert(wr_json_is_valid(wr_buffer_slice(&out)));
    wr_buffer_add_char(&out, '\0');
    return out.data;
}

Test(search_mapping, follows_the_types_of_columns)
{
    cr_expect_str_eq(properties("{\"a\":\"integer\",\"b\\\"\":\"bigint[]\"}"),
                     "{\"a\":{\"type\":\"integer\"},\"b\\\"\":{\"type\":\"long\"}}");
    cr_expect_str_eq(properties("{\"n\":\"numeric(10,2)[]\"}"),
                     "{\"n\":{\"type\":\"double\",\"ignore_malformed\":true}}");
    cr_expect_str_eq(properties("{\"t\":\"timestamp(3) with time zone\"}"),
                     "{\"t\":{\"type\":\"date\",\"ignore_malformed\":true}}");
    cr_expect_str_eq(properties("{\"j\":\"jsonb\"}"),
                     "{\"j\":{\"type\":\"object\",\"enabled\":false}}");
    cr_expect_str_eq(properties("{\"v\":\"character varying(20)\"}"),
                     "{\"v\":{\"type\":\"text\",\"fields\":{\"keyword\":{\"type\":\"keyword\","
                     "\"ignore_above\":8191}}}}");
    cr_expect_str_eq(properties("{\"m\":\"mood\"}"),
                     "{\"m\":{\"type\":\"keyword\",\"ignore_above\":8191}}");
    cr_expect_str_eq(properties("{}"), "{}");
}

Test(search_mapping, refuses_names_that_mean_something_else)
{
    static const char *const types[] = {"{\"a.b\":\"text\"}", "{\"_id\":\"text\"}",
                                        "{\"_source\":\"text\"}", "{\"\":\"text\"}",
                                        "{\"a\":\"text\",\"..\":\"text\"}"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        cr_expect_eq(search_properties(wr_slice_str(types[i]), &out, &err), WR_REJECT, "%s",
                     types[i]);
    }
    cr_expect_str_eq(properties("{\"a b\":\"integer\",\"_x\":\"integer\"}"),
                     "{\"a b\":{\"type\":\"integer\"},\"_x\":{\"type\":\"integer\"}}");
}

static const char *name(const struct template_config *index, const char *table)
{
    wr_buffer_reset(&out);
    search_index_name(index, wr_slice_str(table), &out);
    wr_buffer_add_char(&out, '\0');
    return out.data;
}

Test(search_mapping, makes_a_name_for_an_index)
{
    const struct template_piece pieces[] = {{false, WR_SLICE("shop-")},
                                            {true, WR_SLICE("schema")},
                                            {false, WR_SLICE(".")},
                                            {true, WR_SLICE("table")}};
    const struct template_config index = {"", pieces, 4};

    cr_expect_str_eq(name(NULL, "public.shows"), "shows");
    cr_expect_str_eq(name(NULL, "public.Order Items"), "order_items");
    cr_expect_str_eq(name(NULL, "public._x/*?"), "xx___");
    cr_expect_str_eq(name(NULL, "public.a.b"), "a.b");
    cr_expect_str_eq(name(&index, "public.Shows"), "shop-public.shows");
}
