#include "decoder/schema_known.h"

#include <assert.h>

#include "decoder/schema.h"

#define PLAIN(known, type_)    [known] = {.id = (known), .type = (type_)}
#define OPTIONAL(known, type_) [known] = {.id = (known), .type = (type_), .is_optional = true}
#define NAMED(known, type_, name_)                                                                 \
    [known] = {.id = (known), .type = (type_), .name = (name_), .version = 1}
#define STRUCT(known, name_, doc_, fields_)                                                        \
    [known] = {                                                                                    \
        .id = (known),                                                                             \
        .type = SCHEMA_STRUCT,                                                                     \
        .name = (name_),                                                                           \
        .version = 1,                                                                              \
        .doc = (doc_),                                                                             \
        .fields = (fields_),                                                                       \
        .field_count = sizeof(fields_) / sizeof((fields_)[0]),                                     \
    }
#define VECTOR(known, name_, element_)                                                             \
    [known] = {                                                                                    \
        .id = (known),                                                                             \
        .type = SCHEMA_ARRAY,                                                                      \
        .name = (name_),                                                                           \
        .version = 1,                                                                              \
        .element = &KNOWN[element_],                                                               \
    }
#define MAP(known, key_, element_)                                                                 \
    [known] = {                                                                                    \
        .id = (known),                                                                             \
        .type = SCHEMA_MAP,                                                                        \
        .key = &KNOWN[key_],                                                                       \
        .element = &KNOWN[element_],                                                               \
    }
#define FIELD(name_, known)                                                                        \
    {                                                                                              \
        {(name_), sizeof(name_) - 1}, &KNOWN[known]                                                \
    }

static const struct schema KNOWN[SCHEMA_KNOWN_COUNT];

static const struct schema_field DECIMAL_FIELDS[] = {
    FIELD("scale", KNOWN_INT32),
    FIELD("value", KNOWN_BYTES),
};
static const struct schema_field POINT_FIELDS[] = {
    FIELD("x", KNOWN_FLOAT64),
    FIELD("y", KNOWN_FLOAT64),
    FIELD("wkb", KNOWN_OPTIONAL_BYTES),
    FIELD("srid", KNOWN_OPTIONAL_INT32),
};
static const struct schema_field GEOMETRY_FIELDS[] = {
    FIELD("wkb", KNOWN_BYTES),
    FIELD("srid", KNOWN_OPTIONAL_INT32),
};
static const struct schema_field SPARSE_VECTOR_FIELDS[] = {
    FIELD("dimensions", KNOWN_INT16),
    FIELD("vector", KNOWN_SPARSE_DOUBLE_MAP),
};

static const struct schema KNOWN[SCHEMA_KNOWN_COUNT] = {
    PLAIN(KNOWN_BOOLEAN, SCHEMA_BOOLEAN),
    PLAIN(KNOWN_INT16, SCHEMA_INT16),
    PLAIN(KNOWN_INT32, SCHEMA_INT32),
    PLAIN(KNOWN_INT64, SCHEMA_INT64),
    PLAIN(KNOWN_FLOAT32, SCHEMA_FLOAT32),
    PLAIN(KNOWN_FLOAT64, SCHEMA_FLOAT64),
    PLAIN(KNOWN_STRING, SCHEMA_STRING),
    PLAIN(KNOWN_BYTES, SCHEMA_BYTES),
    OPTIONAL(KNOWN_OPTIONAL_INT32, SCHEMA_INT32),
    OPTIONAL(KNOWN_OPTIONAL_STRING, SCHEMA_STRING),
    OPTIONAL(KNOWN_OPTIONAL_BYTES, SCHEMA_BYTES),
    NAMED(KNOWN_JSON, SCHEMA_STRING, "io.debezium.data.Json"),
    NAMED(KNOWN_XML, SCHEMA_STRING, "io.debezium.data.Xml"),
    NAMED(KNOWN_UUID, SCHEMA_STRING, "io.debezium.data.Uuid"),
    NAMED(KNOWN_LTREE, SCHEMA_STRING, "io.debezium.data.Ltree"),
    NAMED(KNOWN_TSVECTOR, SCHEMA_STRING, "io.debezium.data.Tsvector"),
    STRUCT(KNOWN_VARIABLE_SCALE_DECIMAL, "io.debezium.data.VariableScaleDecimal",
           "Variable scaled decimal", DECIMAL_FIELDS),
    STRUCT(KNOWN_POINT, "io.debezium.data.geometry.Point", "Geometry (POINT)", POINT_FIELDS),
    STRUCT(KNOWN_GEOMETRY, "io.debezium.data.geometry.Geometry", "Geometry", GEOMETRY_FIELDS),
    STRUCT(KNOWN_GEOGRAPHY, "io.debezium.data.geometry.Geography", "Geography", GEOMETRY_FIELDS),
    VECTOR(KNOWN_DOUBLE_VECTOR, "io.debezium.data.DoubleVector", KNOWN_FLOAT64),
    VECTOR(KNOWN_FLOAT_VECTOR, "io.debezium.data.FloatVector", KNOWN_FLOAT32),
    STRUCT(KNOWN_SPARSE_DOUBLE_VECTOR, "io.debezium.data.SparseDoubleVector",
           "Sparse double vector", SPARSE_VECTOR_FIELDS),
    MAP(KNOWN_SPARSE_DOUBLE_MAP, KNOWN_INT16, KNOWN_FLOAT64),
    MAP(KNOWN_HSTORE_MAP, KNOWN_STRING, KNOWN_OPTIONAL_STRING),
    NAMED(KNOWN_DATE, SCHEMA_INT32, "io.debezium.time.Date"),
    NAMED(KNOWN_TIME, SCHEMA_INT32, "io.debezium.time.Time"),
    NAMED(KNOWN_MICRO_TIME, SCHEMA_INT64, "io.debezium.time.MicroTime"),
    NAMED(KNOWN_NANO_TIME, SCHEMA_INT64, "io.debezium.time.NanoTime"),
    NAMED(KNOWN_TIMESTAMP, SCHEMA_INT64, "io.debezium.time.Timestamp"),
    NAMED(KNOWN_MICRO_TIMESTAMP, SCHEMA_INT64, "io.debezium.time.MicroTimestamp"),
    NAMED(KNOWN_NANO_TIMESTAMP, SCHEMA_INT64, "io.debezium.time.NanoTimestamp"),
    NAMED(KNOWN_ISO_DATE, SCHEMA_STRING, "io.debezium.time.IsoDate"),
    NAMED(KNOWN_ISO_TIME, SCHEMA_STRING, "io.debezium.time.IsoTime"),
    NAMED(KNOWN_ISO_TIMESTAMP, SCHEMA_STRING, "io.debezium.time.IsoTimestamp"),
    NAMED(KNOWN_ZONED_TIME, SCHEMA_STRING, "io.debezium.time.ZonedTime"),
    NAMED(KNOWN_ZONED_TIMESTAMP, SCHEMA_STRING, "io.debezium.time.ZonedTimestamp"),
    NAMED(KNOWN_MICRO_DURATION, SCHEMA_INT64, "io.debezium.time.MicroDuration"),
    NAMED(KNOWN_INTERVAL, SCHEMA_STRING, "io.debezium.time.Interval"),
    NAMED(KNOWN_CONNECT_DATE, SCHEMA_INT32, "org.apache.kafka.connect.data.Date"),
    NAMED(KNOWN_CONNECT_TIME, SCHEMA_INT32, "org.apache.kafka.connect.data.Time"),
    NAMED(KNOWN_CONNECT_TIMESTAMP, SCHEMA_INT64, "org.apache.kafka.connect.data.Timestamp"),
};

const struct schema *schema_known(enum schema_known known)
{
    assert(known > SCHEMA_KNOWN_NONE && known < SCHEMA_KNOWN_COUNT);
    return &KNOWN[known];
}
