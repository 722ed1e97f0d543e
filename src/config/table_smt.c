#include "config/table_rows.h"

/* The options of Kafka's own transforms (smt_config.h). */

#define REPLACE_NULL(of, structure)                                                                \
    {                                                                                              \
        .name = "replace.null.with.default", .scope = (of), .type = PROPERTY_BOOL,                 \
        .default_value = "true", STORED(structure, replace_null_with_default),                     \
        .meaning = "a null of a column that has a default becomes that default"                    \
    }

static const struct property cast[] = {
    {.name = "spec",
     .scope = SCOPE_CAST,
     .is_required = true,
     .set = set_cast_spec,
     .meaning = "list of field:type, or one type for the whole key or value; int8, int16, int32, "
                "int64, float32, float64, boolean or string"},
    REPLACE_NULL(SCOPE_CAST, cast_config),
};
const struct property_group table_cast = {.heading = WR_KAFKA_CLASS("Cast"), ROWS(cast)};

static const struct property drop_headers[] = {
    {.name = "headers",
     .scope = SCOPE_DROP_HEADERS,
     .type = PROPERTY_NAMES,
     .is_required = true,
     STORED(drop_headers_config, headers),
     .meaning = "headers that are taken away"},
};
const struct property_group table_drop_headers = {.heading = WR_KAFKA_CLASS("DropHeaders"),
                                                  ROWS(drop_headers)};

static const struct property extract_field[] = {
    {.name = "field",
     .scope = SCOPE_EXTRACT_FIELD,
     .is_required = true,
     STORED(extract_field_config, field),
     .meaning = "field that becomes the whole key or value"},
    {.name = "field.syntax.version",
     .scope = SCOPE_EXTRACT_FIELD,
     .type = PROPERTY_CHOICE,
     .default_value = "V1",
     .choices = "V1|V2",
     STORED(extract_field_config, syntax),
     .meaning =
         "V2: names of fields in fields with dots between them, and those with dots in backticks"},
    REPLACE_NULL(SCOPE_EXTRACT_FIELD, extract_field_config),
};
const struct property_group table_extract_field = {.heading = WR_KAFKA_CLASS("ExtractField"),
                                                   ROWS(extract_field)};

static const struct property flatten[] = {
    {.name = "delimiter",
     .scope = SCOPE_FLATTEN,
     .default_value = ".",
     STORED(flatten_config, delimiter),
     .meaning = "what stands between the names of an outer and an inner field"},
};
const struct property_group table_flatten = {.heading = WR_KAFKA_CLASS("Flatten"), ROWS(flatten)};

static const struct property header_from[] = {
    {.name = "fields",
     .scope = SCOPE_HEADER_FROM,
     .type = PROPERTY_NAMES,
     .is_required = true,
     STORED(header_from_config, fields),
     .meaning = "fields that become headers"},
    {.name = "headers",
     .scope = SCOPE_HEADER_FROM,
     .type = PROPERTY_NAMES,
     .is_required = true,
     STORED(header_from_config, headers),
     .meaning = "names of the headers, as many"},
    {.name = "operation",
     .scope = SCOPE_HEADER_FROM,
     .type = PROPERTY_CHOICE,
     .choices = "move|copy",
     .is_required = true,
     STORED(header_from_config, operation),
     .meaning = "whether the fields go away"},
    REPLACE_NULL(SCOPE_HEADER_FROM, header_from_config),
};
const struct property_group table_header_from = {.heading = WR_KAFKA_CLASS("HeaderFrom"),
                                                 ROWS(header_from)};

static const struct property hoist_field[] = {
    {.name = "field",
     .scope = SCOPE_HOIST_FIELD,
     .is_required = true,
     STORED(hoist_field_config, field),
     .meaning = "the one field of the structure that the key or value becomes"},
};
const struct property_group table_hoist_field = {.heading = WR_KAFKA_CLASS("HoistField"),
                                                 ROWS(hoist_field)};

static const struct property insert_field[] = {
    {.name = "topic.field",
     .scope = SCOPE_INSERT_FIELD,
     .set = set_topic_field,
     .meaning = "field of the topic; with ! behind it the field is required, else it is optional"},
    {.name = "partition.field",
     .scope = SCOPE_INSERT_FIELD,
     .set = set_partition_field,
     .meaning = "field of the partition, which only a transform before this one may have set"},
    {.name = "offset.field",
     .scope = SCOPE_INSERT_FIELD,
     .set = set_offset_field,
     .meaning = "for sinks: a record on its way to Kafka has no offset"},
    {.name = "timestamp.field",
     .scope = SCOPE_INSERT_FIELD,
     .set = set_timestamp_field,
     .meaning = "field of the timestamp, which only EventRouter sets"},
    {.name = "static.field",
     .scope = SCOPE_INSERT_FIELD,
     .set = set_static_field,
     .meaning = "field of static.value"},
    {.name = "static.value",
     .scope = SCOPE_INSERT_FIELD,
     STORED(insert_field_config, static_value),
     .meaning = "text for static.field"},
    REPLACE_NULL(SCOPE_INSERT_FIELD, insert_field_config),
};
const struct property_group table_insert_field = {.heading = WR_KAFKA_CLASS("InsertField"),
                                                  ROWS(insert_field)};

static const struct property insert_header[] = {
    {.name = "header",
     .scope = SCOPE_INSERT_HEADER,
     .is_required = true,
     STORED(insert_header_config, header),
     .meaning = "name of the header that is added"},
    {.name = "value.literal",
     .scope = SCOPE_INSERT_HEADER,
     .is_required = true,
     STORED(insert_header_config, value_literal),
     .meaning = "its value: true, false, a number, null, or text"},
};
const struct property_group table_insert_header = {.heading = WR_KAFKA_CLASS("InsertHeader"),
                                                   ROWS(insert_header)};

static const struct property mask_field[] = {
    {.name = "fields",
     .scope = SCOPE_MASK_FIELD,
     .type = PROPERTY_NAMES,
     .is_required = true,
     STORED(mask_field_config, fields),
     .meaning = "fields whose values are not shown"},
    {.name = "replacement",
     .scope = SCOPE_MASK_FIELD,
     STORED(mask_field_config, replacement),
     .meaning =
         "what stands there instead, of numbers and text; the empty value of the type where unset"},
    REPLACE_NULL(SCOPE_MASK_FIELD, mask_field_config),
};
const struct property_group table_mask_field = {.heading = WR_KAFKA_CLASS("MaskField"),
                                                ROWS(mask_field)};

static const struct property replace_field[] = {
    {.name = "exclude",
     .scope = SCOPE_REPLACE_FIELD,
     .type = PROPERTY_NAMES,
     STORED(replace_field_config, exclude),
     .meaning = "fields that are left out"},
    {.name = "include",
     .scope = SCOPE_REPLACE_FIELD,
     .type = PROPERTY_NAMES,
     STORED(replace_field_config, include),
     .meaning = "the only fields that stay; all of them where unset"},
    {.name = "renames",
     .scope = SCOPE_REPLACE_FIELD,
     .type = PROPERTY_NAME_PAIRS,
     STORED(replace_field_config, renames),
     .meaning = "list of old:new"},
    REPLACE_NULL(SCOPE_REPLACE_FIELD, replace_field_config),
};
const struct property_group table_replace_field = {.heading = WR_KAFKA_CLASS("ReplaceField"),
                                                   ROWS(replace_field)};

static const struct property set_schema_metadata[] = {
    {.name = "schema.name",
     .scope = SCOPE_SET_SCHEMA_METADATA,
     STORED(set_schema_metadata_config, schema_name),
     .meaning = "name of the schema"},
    {.name = "schema.version",
     .scope = SCOPE_SET_SCHEMA_METADATA,
     .type = PROPERTY_INT,
     .default_value = "-1",
     BETWEEN(-1, INT32_MAX),
     STORED(set_schema_metadata_config, schema_version),
     .meaning = "version of the schema; -1 leaves the one it has"},
    REPLACE_NULL(SCOPE_SET_SCHEMA_METADATA, set_schema_metadata_config),
};
const struct property_group table_set_schema_metadata = {
    .heading = WR_KAFKA_CLASS("SetSchemaMetadata"), ROWS(set_schema_metadata)};

static const struct property timestamp_converter[] = {
    {.name = "field",
     .scope = SCOPE_TIMESTAMP_CONVERTER,
     STORED(timestamp_converter_config, field),
     .meaning = "field with the moment; the whole key or value where unset"},
    {.name = "target.type",
     .scope = SCOPE_TIMESTAMP_CONVERTER,
     .type = PROPERTY_CHOICE,
     .choices = "string|unix|Date|Time|Timestamp",
     .is_required = true,
     STORED(timestamp_converter_config, target_type),
     .meaning = "form that it gets; the last three as those of time.precision.mode=connect"},
    {.name = "format",
     .scope = SCOPE_TIMESTAMP_CONVERTER,
     STORED(timestamp_converter_config, format),
     .set = set_date_format,
     .meaning = "pattern of SimpleDateFormat, to read text and to write it"},
    {.name = "unix.precision",
     .scope = SCOPE_TIMESTAMP_CONVERTER,
     .type = PROPERTY_CHOICE,
     .default_value = "milliseconds",
     .choices = "seconds|milliseconds|microseconds|nanoseconds",
     STORED(timestamp_converter_config, unix_precision),
     .meaning = "unit of whole numbers, read and written"},
    REPLACE_NULL(SCOPE_TIMESTAMP_CONVERTER, timestamp_converter_config),
};
const struct property_group table_timestamp_converter = {
    .heading = WR_KAFKA_CLASS("TimestampConverter"), ROWS(timestamp_converter)};

static const struct property timestamp_router[] = {
    {.name = "topic.format",
     .scope = SCOPE_TIMESTAMP_ROUTER,
     .default_value = "${topic}-${timestamp}",
     STORED(timestamp_router_config, topic_format),
     .meaning = "the new topic, with the old one and the timestamp in it"},
    {.name = "timestamp.format",
     .scope = SCOPE_TIMESTAMP_ROUTER,
     .default_value = "yyyyMMdd",
     STORED(timestamp_router_config, timestamp_format),
     .set = set_date_format,
     .meaning = "pattern of SimpleDateFormat for the timestamp"},
};
const struct property_group table_timestamp_router = {.heading = WR_KAFKA_CLASS("TimestampRouter"),
                                                      ROWS(timestamp_router)};

static const struct property value_to_key[] = {
    {.name = "fields",
     .scope = SCOPE_VALUE_TO_KEY,
     .type = PROPERTY_NAMES,
     .is_required = true,
     STORED(value_to_key_config, fields),
     .meaning = "fields of the value that the key is made of"},
    REPLACE_NULL(SCOPE_VALUE_TO_KEY, value_to_key_config),
};
const struct property_group table_value_to_key = {.heading = WR_KAFKA_CLASS("ValueToKey"),
                                                  ROWS(value_to_key)};
