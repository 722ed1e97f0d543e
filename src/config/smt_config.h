/* config/smt_config.h - the options of Kafka's own transforms
 * (org.apache.kafka.connect.transforms). */
#ifndef WR_CONFIG_SMT_CONFIG_H
#define WR_CONFIG_SMT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

#define WR_KAFKA_CLASS(name) "org.apache.kafka.connect.transforms." name

/* As WR_TRANSFORMS (transform_config.h), of which these are a part. */
#define WR_KAFKA_TRANSFORMS(X)                                                                     \
    X(CAST, cast, WR_KAFKA_CLASS("Cast"), WR_SIDE_ONE)                                             \
    X(DROP_HEADERS, drop_headers, WR_KAFKA_CLASS("DropHeaders"), WR_SIDE_NONE)                     \
    X(EXTRACT_FIELD, extract_field, WR_KAFKA_CLASS("ExtractField"), WR_SIDE_ONE)                   \
    X(FILTER, filter, WR_KAFKA_CLASS("Filter"), WR_SIDE_NONE)                                      \
    X(FLATTEN, flatten, WR_KAFKA_CLASS("Flatten"), WR_SIDE_ONE)                                    \
    X(HEADER_FROM, header_from, WR_KAFKA_CLASS("HeaderFrom"), WR_SIDE_ONE)                         \
    X(HOIST_FIELD, hoist_field, WR_KAFKA_CLASS("HoistField"), WR_SIDE_ONE)                         \
    X(INSERT_FIELD, insert_field, WR_KAFKA_CLASS("InsertField"), WR_SIDE_ONE)                      \
    X(INSERT_HEADER, insert_header, WR_KAFKA_CLASS("InsertHeader"), WR_SIDE_NONE)                  \
    X(MASK_FIELD, mask_field, WR_KAFKA_CLASS("MaskField"), WR_SIDE_ONE)                            \
    X(REPLACE_FIELD, replace_field, WR_KAFKA_CLASS("ReplaceField"), WR_SIDE_ONE)                   \
    X(SET_SCHEMA_METADATA, set_schema_metadata, WR_KAFKA_CLASS("SetSchemaMetadata"), WR_SIDE_ONE)  \
    X(TIMESTAMP_CONVERTER, timestamp_converter, WR_KAFKA_CLASS("TimestampConverter"), WR_SIDE_ONE) \
    X(TIMESTAMP_ROUTER, timestamp_router, WR_KAFKA_CLASS("TimestampRouter"), WR_SIDE_NONE)         \
    X(VALUE_TO_KEY, value_to_key, WR_KAFKA_CLASS("ValueToKey"), WR_SIDE_NONE)

struct value_to_key_config {
    struct config_names fields;
    bool replace_null_with_default; /* of all: in each structure that the transform makes anew */
};

enum field_syntax { FIELD_SYNTAX_V1, FIELD_SYNTAX_V2 };

struct extract_field_config {
    const char *field;
    enum field_syntax syntax; /* V1: the field's name; V2: names with dots between them */
    bool replace_null_with_default;
};

struct replace_field_config {
    struct config_names include;
    struct config_names exclude;
    struct config_pairs renames;
    bool replace_null_with_default;
};

/* A field to be added: NULL is none. */
struct inserted_field {
    const char *name; /* without its ? or ! */
    bool is_required; /* "name!" */
};

struct insert_field_config {
    struct inserted_field topic;
    struct inserted_field partition;
    struct inserted_field timestamp;
    struct inserted_field fixed; /* static.field */
    const char *static_value;
    bool replace_null_with_default;
};

struct insert_header_config {
    const char *header;
    const char *value_literal;
};

enum header_operation { HEADER_MOVE, HEADER_COPY };

struct header_from_config {
    struct config_names fields;
    struct config_names headers; /* as many */
    enum header_operation operation;
    bool replace_null_with_default;
};

struct drop_headers_config {
    struct config_names headers;
};

struct mask_field_config {
    struct config_names fields;
    const char *replacement; /* NULL: the type's empty value */
    bool replace_null_with_default;
};

enum cast_type {
    CAST_INT8,
    CAST_INT16,
    CAST_INT32,
    CAST_INT64,
    CAST_FLOAT32,
    CAST_FLOAT64,
    CAST_BOOLEAN,
    CAST_STRING
};

struct cast_field {
    const char *name; /* NULL: the whole key or value */
    enum cast_type type;
};

struct cast_config {
    struct cast_field *fields;
    size_t field_count;
    bool replace_null_with_default;
};

struct flatten_config {
    const char *delimiter;
};

struct hoist_field_config {
    const char *field;
};

struct timestamp_router_config {
    const char *topic_format;
    const char *timestamp_format; /* for base/date_format.h */
};

enum timestamp_type {
    TIMESTAMP_STRING,
    TIMESTAMP_UNIX,
    TIMESTAMP_DATE,
    TIMESTAMP_TIME,
    TIMESTAMP_TIMESTAMP
};

enum unix_precision { UNIX_SECONDS, UNIX_MILLISECONDS, UNIX_MICROSECONDS, UNIX_NANOSECONDS };

struct timestamp_converter_config {
    const char *field; /* "" or NULL: the whole key or value */
    enum timestamp_type target_type;
    const char *format; /* for base/date_format.h; NULL: none */
    enum unix_precision unix_precision;
    bool replace_null_with_default;
};

struct set_schema_metadata_config {
    const char *schema_name; /* NULL: as it is */
    int64_t schema_version;  /* -1: as it is */
    bool replace_null_with_default;
};

#endif /* WR_CONFIG_SMT_CONFIG_H */
