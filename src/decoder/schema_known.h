/* decoder/schema_known.h - schemas that are the same for every column of a type. */
#ifndef WR_DECODER_SCHEMA_KNOWN_H
#define WR_DECODER_SCHEMA_KNOWN_H

struct schema;

/* Also their ids: schemas that are made later have larger ones. */
enum schema_known {
    SCHEMA_KNOWN_NONE = 0,
    KNOWN_BOOLEAN,
    KNOWN_INT16,
    KNOWN_INT32,
    KNOWN_INT64,
    KNOWN_FLOAT32,
    KNOWN_FLOAT64,
    KNOWN_STRING,
    KNOWN_BYTES,
    KNOWN_OPTIONAL_INT32,
    KNOWN_OPTIONAL_STRING,
    KNOWN_OPTIONAL_BYTES,
    /* io.debezium.data */
    KNOWN_JSON,
    KNOWN_XML,
    KNOWN_UUID,
    KNOWN_LTREE,
    KNOWN_TSVECTOR,
    KNOWN_VARIABLE_SCALE_DECIMAL,
    KNOWN_POINT,
    KNOWN_GEOMETRY,
    KNOWN_GEOGRAPHY,
    KNOWN_DOUBLE_VECTOR,
    KNOWN_FLOAT_VECTOR,
    KNOWN_SPARSE_DOUBLE_VECTOR,
    KNOWN_SPARSE_DOUBLE_MAP, /* inside the last */
    KNOWN_HSTORE_MAP,
    /* io.debezium.time */
    KNOWN_DATE,
    KNOWN_TIME,
    KNOWN_MICRO_TIME,
    KNOWN_NANO_TIME,
    KNOWN_TIMESTAMP,
    KNOWN_MICRO_TIMESTAMP,
    KNOWN_NANO_TIMESTAMP,
    KNOWN_ISO_DATE,
    KNOWN_ISO_TIME,
    KNOWN_ISO_TIMESTAMP,
    KNOWN_ZONED_TIME,
    KNOWN_ZONED_TIMESTAMP,
    KNOWN_MICRO_DURATION,
    KNOWN_INTERVAL,
    /* org.apache.kafka.connect.data */
    KNOWN_CONNECT_DATE,
    KNOWN_CONNECT_TIME,
    KNOWN_CONNECT_TIMESTAMP,
    SCHEMA_KNOWN_COUNT,
};

/* Constant, for ever; required but for those whose name says otherwise. */
const struct schema *schema_known(enum schema_known known);

#endif /* WR_DECODER_SCHEMA_KNOWN_H */
