#include "decoder/postgis.h"
#include "show_schema.h"

TestSuite(postgis, .init = open_values, .fini = close_values);

/* SELECT 'SRID=4326;POINT(1.5 -2)'::geometry, and so on. */
#define POINT_4326   "0101000020E6100000000000000000F83F00000000000000C0"
#define LINE         "01020000000200000000000000000000000000000000000000000000000000F03F000000000000F03F"
#define POINT_NDR    "0101000000000000000000F83F00000000000000C0"
#define POINT_XDR    "0020000001000010E63FF8000000000000C000000000000000"
#define POINT_Z_SRID "01010000A0110F0000000000000000F03F00000000000000400000000000000840"

static const struct value_case SHAPES[] = {
    {OID_GEOMETRY, -1, POINT_4326, "{wkb: bytes AQEAACDmEAAAAAAAAAAA+D8AAAAAAAAAwA==, srid: 4326}"},
    {OID_GEOGRAPHY, -1, POINT_4326,
     "{wkb: bytes AQEAACDmEAAAAAAAAAAA+D8AAAAAAAAAwA==, srid: 4326}"},
    {OID_GEOMETRY, -1, LINE,
     "{wkb: bytes AQIAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAA8D8=, srid: null}"},
    {OID_GEOMETRY, -1, POINT_NDR, "{wkb: bytes AQEAAAAAAAAAAAD4PwAAAAAAAADA, srid: null}"},
    {OID_GEOMETRY, -1, POINT_XDR, "{wkb: bytes ACAAAAEAABDmP/gAAAAAAADAAAAAAAAAAA==, srid: 4326}"},
    {OID_GEOMETRY, -1, POINT_Z_SRID,
     "{wkb: bytes AQEAAKARDwAAAAAAAAAA8D8AAAAAAAAAQAAAAAAAAAhA, srid: 3857}"},
};

Test(postgis, keeps_the_bytes_and_reads_the_reference_system_from_their_head)
{
    EXPECT_VALUES(SHAPES);
    FEED_PREFIXES(SHAPES);
}

Test(postgis, has_arrays_that_are_delimited_by_colons)
{
    cr_expect_str_eq(show_value(OID_GEOMETRY_ARRAY, -1, "{" POINT_NDR ":NULL:" POINT_NDR "}"),
                     "[{wkb: bytes AQEAAAAAAAAAAAD4PwAAAAAAAADA, srid: null}, null, "
                     "{wkb: bytes AQEAAAAAAAAAAAD4PwAAAAAAAADA, srid: null}]");
}

Test(postgis, refuses_what_has_no_head)
{
    EXPECT_REJECTS(OID_GEOMETRY, -1, "", "01", "01010000", "0201000000", "010100002", "01010000200",
                   "0101000020E61000", "POINT(1 2)", "01010000G0", "0101000020e6100000");
}

Test(postgis, has_the_schemas_of_debezium)
{
    static const struct schema_case cases[] = {
        {OID_GEOMETRY, -1,
         "struct io.debezium.data.geometry.Geometry:1 'Geometry' {wkb: bytes, srid: int32?}"},
        {OID_GEOGRAPHY, -1,
         "struct io.debezium.data.geometry.Geography:1 'Geography' {wkb: bytes, srid: int32?}"},
        {OID_GEOMETRY_ARRAY, -1,
         "array [struct? io.debezium.data.geometry.Geometry:1 'Geometry' {wkb: bytes, srid: "
         "int32?}]"},
    };

    EXPECT_SCHEMAS(cases);
}
