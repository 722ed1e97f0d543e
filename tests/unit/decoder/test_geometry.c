#include "show_value.h"

enum { POINT = 600, BOX = 603, BOX_ARRAY = 1020 };

TestSuite(geometry, .init = open_values, .fini = close_values);

static const struct value_case POINTS[] = {
    {POINT, -1, "(1.5,-2)",
     "{x: double 1.5, y: double -2, wkb: bytes AQEAAAAAAAAAAAD4PwAAAAAAAADA, srid: null}"},
    {POINT, -1, "(0.1,-1e+300)",
     "{x: double 0.1, y: double -1e+300, wkb: bytes AQEAAACamZmZmZm5P5x1AIg85Df+, srid: null}"},
};

Test(geometry, point_is_a_struct)
{
    EXPECT_VALUES(POINTS);
    FEED_PREFIXES(POINTS);
}

Test(geometry, refuses_malformed_points)
{
    EXPECT_REJECTS(POINT, -1, "", "(", "(1", "(1,", "(1,2", "1,2", "(1,2))", "(a,b)", "(1,2,3)",
                   "(1.0000000000000000000000000000000001,2)");
}

/* Bytes in base64, as they stand in the golden case of unknown types. */
static const struct value_case SHAPES[] = {
    {BOX, -1, "(1,1),(0,0)", "bytes KDEuMCwxLjApLCgwLjAsMC4wKQ=="},
    {628, -1, "{1,2,3}", "bytes ezEuMCwyLjAsMy4wfQ=="},
    {718, -1, "<(0,0),5>", "bytes PCgwLjAsMC4wKSw1LjA+"},
    {601, -1, "[(0,0),(1.5,-2)]", "bytes WygwLjAsMC4wKSwoMS41LC0yLjApXQ=="},
    {602, -1, "((0,0),(NaN,-Infinity))", "bytes KCgwLjAsMC4wKSwoTmFOLC1JbmZpbml0eSkp"},
    {604, -1, "((1e+20,0))", "bytes KCgxLjBFMjAsMC4wKSk="},
    {BOX_ARRAY, -1, "{(1,1),(0,0);(3,3),(2,2)}",
     "[bytes KDEuMCwxLjApLCgwLjAsMC4wKQ==, bytes KDMuMCwzLjApLCgyLjAsMi4wKQ==]"},
};

Test(geometry, shapes_are_bytes_of_their_text_in_the_spelling_of_java)
{
    options.include_unknown_datatypes = true;
    EXPECT_VALUES(SHAPES);
    FEED_PREFIXES(SHAPES);
}

Test(geometry, refuses_malformed_shapes)
{
    options.include_unknown_datatypes = true;
    EXPECT_REJECTS(BOX, -1, "", "x", "(1,1) (0,0)", "(1,.)", "(1,1e)", "(-,1)");
    cr_expect_str_eq(show_sized(BOX, -1, "(1,\0)", 5), "reject");
}
