#include "decoder/vector.h"
#include "show_schema.h"

TestSuite(vector, .init = open_values, .fini = close_values);

static const struct value_case VECTORS[] = {
    {OID_VECTOR, -1, "[1,2.5,-3e-07]", "[double 1, double 2.5, double -3e-07]"},
    {OID_VECTOR, 3, "[0.1]", "[double 0.1]"},
    {OID_HALFVEC, -1, "[1,0.33325195]", "[float 1, float 0.33325195]"},
    {OID_SPARSEVEC, -1, "{1:1.5,3:2}/5",
     "{dimensions: 5, vector: [[1, double 1.5], [3, double 2]]}"},
    {OID_SPARSEVEC, -1, "{}/5", "{dimensions: 5, vector: []}"},
    {OID_SPARSEVEC, -1, "{32767:-1}/32767", "{dimensions: 32767, vector: [[32767, double -1]]}"},
};

Test(vector, is_an_array_and_a_sparse_one_a_map_of_its_places)
{
    EXPECT_VALUES(VECTORS);
    FEED_PREFIXES(VECTORS);
}

Test(vector, refuses_what_pgvector_does_not_print)
{
    EXPECT_REJECTS(OID_VECTOR, -1, "", "[", "1,2", "[1,2", "[1,,2]", "[1,2]x", "{1,2}", "[a]");
    EXPECT_REJECTS(OID_SPARSEVEC, -1, "", "{}", "{}/", "{1}/2", "{1:}/2", "{:1}/2", "{1:1}/2x",
                   "{1:1,}/2", "[1,2]");
}

Test(vector, refuses_places_that_int16_cannot_hold)
{
    EXPECT_REJECTS(OID_SPARSEVEC, -1, "{32768:1}/32767", "{1:1}/32768", "{1:1}/1000000000");
}

Test(vector, is_known_by_name_only_where_it_is_a_base_type)
{
    cr_expect_str_eq(show_value(OID_OWN_VECTOR, -1, "(1,2)"), "not published");
}

Test(vector, has_the_schemas_of_debezium)
{
    static const struct schema_case cases[] = {
        {OID_VECTOR, -1, "array io.debezium.data.DoubleVector:1 [double]"},
        {OID_HALFVEC, -1, "array io.debezium.data.FloatVector:1 [float]"},
        {OID_SPARSEVEC, -1,
         "struct io.debezium.data.SparseDoubleVector:1 'Sparse double vector' {dimensions: int16, "
         "vector: map <int16> [double]}"},
    };

    EXPECT_SCHEMAS(cases);
}
