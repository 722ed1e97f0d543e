#include "config/table_rows.h"

/* What walrelay publishes: topics and records, values, converters. */

static const struct property topics[] = {
    {.name = "topic.prefix",
     .is_required = true,
     .set = set_topic_part,
     STORED(config, topic_prefix),
     .meaning = "first part of the topics of change events: <prefix>.<schema>.<table>"},
    {.name = "topic.delimiter",
     .default_value = ".",
     .set = set_topic_part,
     STORED(config, topic_delimiter),
     .meaning = "what stands between the parts of a topic"},
    {.name = "tombstones.on.delete",
     .type = PROPERTY_BOOL,
     .default_value = "true",
     STORED(config, tombstones_on_delete),
     .meaning = "a record with a null value behind each delete, for compacted topics"},
    {.name = "extended.headers.enabled",
     .type = PROPERTY_BOOL,
     .default_value = "true",
     STORED(config, extended_headers_enabled),
     .meaning = "headers walrelay.lsn and walrelay.seq, for consumers to tell repetitions by"},
    {.name = "provide.transaction.metadata",
     .type = PROPERTY_BOOL,
     .default_value = "false",
     STORED(config, provide_transaction_metadata),
     .meaning = "a record when a transaction begins and one when it ends, with how many events of "
                "which table it holds, and each event's place among them"},
    {.name = "topic.transaction",
     .default_value = "transaction",
     .set = set_topic_part,
     STORED(config, topic_transaction),
     .meaning = "the topic of these records, behind topic.prefix"},
    REFUSED("transaction.metadata.factory",
            "io.debezium.pipeline.txmetadata.DefaultTransactionMetadataFactory",
            "leave it out: nothing of Java runs here"),
    {.name = "schema.name.adjustment.mode",
     .type = PROPERTY_CHOICE,
     .default_value = "none",
     .choices = "none|avro|avro_unicode",
     STORED(config, schema_name_adjustment_mode),
     .meaning = "names of schemas: as they are, or such that Avro takes them, with _ or _uXXXX in "
                "place of other characters"},
    {.name = "field.name.adjustment.mode",
     .type = PROPERTY_CHOICE,
     .default_value = "none",
     .choices = "none|avro|avro_unicode",
     STORED(config, field_name_adjustment_mode),
     .meaning = "the same for names of columns"},
    {.name = "column.propagate.source.type",
     .type = PROPERTY_REGEX_LIST,
     STORED(config, column_propagate_source_type),
     .meaning = "columns, as schema.table.column, whose schema names type, length and scale of the "
                "source"},
    {.name = "datatype.propagate.source.type",
     .type = PROPERTY_REGEX_LIST,
     STORED(config, datatype_propagate_source_type),
     .meaning = "the same by type, as schema.table.type"},
    ACCEPTED(BOOL, "include.schema.comments", "false", "seen in schemas only"),
    REFUSED("topic.naming.strategy", "io.debezium.schema.SchemaTopicNamingStrategy",
            "leave it out, and use RegexRouter for other names"),
    ACCEPTED(INT, "topic.cache.size", "10000", "a topic's name is made once a table"),
    REFUSED("sourceinfo.struct.maker",
            "io.debezium.connector.postgresql.PostgresSourceInfoStructMaker",
            "leave it out: nothing of Java runs here"),
    REFUSED("custom.sanitize.pattern", NULL,
            "leave it out, and use RegexRouter for other names of topics"),
};
const struct property_group table_topics = {.heading = "Topics and records", ROWS(topics)};

static const struct property values[] = {
    {.name = "decimal.handling.mode",
     .type = PROPERTY_CHOICE,
     .default_value = "precise",
     .choices = "precise|double|string",
     STORED(config, decimal_handling_mode),
     .meaning = "numeric and money: exact (bytes and scale), as a double, or as text"},
    {.name = "time.precision.mode",
     .type = PROPERTY_CHOICE,
     .default_value = "adaptive",
     .choices = "adaptive|adaptive_time_microseconds|connect|isostring|microseconds|nanoseconds",
     .choices_refused = "structured",
     STORED(config, time_precision_mode),
     .meaning =
         "dates and times: numbers in the unit that the column's precision needs, in a fixed "
         "one, or text; connect: Kafka Connect's own types, in milliseconds"},
    {.name = "binary.handling.mode",
     .type = PROPERTY_CHOICE,
     .default_value = "bytes",
     .choices = "bytes|base64|base64-url-safe|hex",
     STORED(config, binary_handling_mode),
     .meaning = "bytea: as bytes, or as text in one of three forms"},
    {.name = "hstore.handling.mode",
     .type = PROPERTY_CHOICE,
     .default_value = "json",
     .choices = "json|map",
     STORED(config, hstore_handling_mode),
     .meaning = "hstore: as JSON text, or as a map of texts"},
    {.name = "interval.handling.mode",
     .type = PROPERTY_CHOICE,
     .default_value = "numeric",
     .choices = "numeric|string",
     STORED(config, interval_handling_mode),
     .meaning = "interval: microseconds, a month as 30.4375 days, or text as P1Y2M3DT4H5M6.789S"},
    {.name = "money.fraction.digits",
     .type = PROPERTY_INT,
     .default_value = "2",
     BETWEEN(0, 18),
     STORED(config, money_fraction_digits),
     .meaning = "digits behind the point of money, as lc_monetary has them"},
    {.name = "unavailable.value.placeholder",
     .default_value = "__debezium_unavailable_value",
     .set = set_placeholder,
     STORED(config, unavailable_value_placeholder),
     .meaning = "stands for a large value that an update did not change and PostgreSQL does not "
                "send; hex: and its bytes is another way to write it"},
    {.name = "include.unknown.datatypes",
     .type = PROPERTY_BOOL,
     .default_value = "false",
     STORED(config, include_unknown_datatypes),
     .meaning = "columns of types that nobody knows: as bytes of their text, instead of left out "
                "with a warning"},
    ACCEPTED_CHOICE("schema.refresh.mode", "columns_diff",
                    "columns_diff|columns_diff_exclude_unchanged_toast",
                    "columns are always those that the WAL tells"),
    REFUSED("converters", NULL,
            "leave it out: nothing of Java runs here; Kafka's Cast and TimestampConverter, and the "
            "handling modes, change how values are written"),
    {.name = "post.processors",
     .meaning = "name of a post-processor; <name>.type is io.debezium.processors.reselect."
                "ReselectColumnsPostProcessor, whose <name>.reselect.* say which columns are read "
                "from the table where an update did not send them, or they are null"},
    ACCEPTED_CHOICE("event.converting.failure.handling.mode", "warn", "warn|fail|skip",
                    "a value is published right or its row is refused: see errors.tolerance"),
    {.name = "event.processing.failure.handling.mode",
     .type = PROPERTY_CHOICE,
     .default_value = "fail",
     .choices = "fail|warn|skip,ignore",
     STORED(config, event_failure),
     .meaning = "a change that cannot be told as a record: stop before it, or pass it over with a "
                "line in the log, which with skip is one of --verbose; what Kafka refuses is the "
                "business of errors.tolerance"},
};
const struct property_group table_values = {.heading = "Values", ROWS(values)};

/* The places are those of enum converter_kind. */
#define CONVERTERS                                                                                 \
    "default|org.apache.kafka.connect.json.JsonConverter|"                                         \
    "org.apache.kafka.connect.storage.StringConverter|"                                            \
    "org.apache.kafka.connect.converters.ByteArrayConverter|"                                      \
    "io.debezium.converters.BinaryDataConverter"
#define CONVERTERS_REFUSED "io.confluent.connect.*|io.apicurio.*|io.debezium.converters.*"
#define DELEGATES                                                                                  \
    "none|org.apache.kafka.connect.json.JsonConverter|"                                            \
    "org.apache.kafka.connect.storage.StringConverter|"                                            \
    "org.apache.kafka.connect.converters.ByteArrayConverter"
#define DELEGATES_REFUSED "org.apache.kafka.connect.*|io.confluent.connect.*"

/* Options of one of the two converters; `schemas.enable` belongs to converters_apply(). */
#define CONVERTER_OPTIONS(prefix, delegate)                                                        \
    {                                                                                              \
        .name = prefix ".schemas.enable",                                                          \
        .type = PROPERTY_BOOL,                                                                     \
        .default_value = "true",                                                                   \
        .meaning = "JsonConverter writes each schema beside what it is of; what is written "       \
                   "without a converter has schemas only where this is set to true",               \
    },                                                                                             \
        {                                                                                          \
            .name = prefix ".delegate.converter.type",                                             \
            .type = PROPERTY_CHOICE,                                                               \
            .default_value = "none",                                                               \
            .choices = DELEGATES,                                                                  \
            .choices_refused = DELEGATES_REFUSED,                                                  \
            STORED(config, delegate),                                                              \
            .meaning = "what BinaryDataConverter leaves to others: all that is not bytes",         \
        },                                                                                         \
        {                                                                                          \
            .name = prefix ".delegate.converter.type.schemas.enable",                              \
            .type = PROPERTY_BOOL,                                                                 \
            .default_value = "true",                                                               \
            .meaning = "of BinaryDataConverter's JsonConverter",                                   \
        },                                                                                         \
        ONLY(prefix ".decimal.format", "BASE64", "NUMERIC", "of JsonConverter"),                   \
        ACCEPTED(BOOL, prefix ".replace.null.with.default", "true",                                \
                 "a NULL is published as null, also where its column has a default"),              \
        ACCEPTED(INT, prefix ".schemas.cache.size", "1000", "16 MB of schemas are kept"),          \
        ONLY(prefix ".encoding", "UTF-8", "*", "of StringConverter"),                              \
        ONLY(prefix ".converter.encoding", "UTF-8", "*", "of StringConverter")

static const struct property converters[] = {
    {.name = "key.converter",
     .type = PROPERTY_CHOICE,
     .default_value = "default",
     .choices = CONVERTERS,
     .choices_refused = CONVERTERS_REFUSED,
     STORED(config, key_converter),
     .meaning = "how keys become bytes; default: text as it is, and JSON without schemas"},
    CONVERTER_OPTIONS("key.converter", key_delegate_converter),
    {.name = "value.converter",
     .type = PROPERTY_CHOICE,
     .default_value = "default",
     .choices = CONVERTERS,
     .choices_refused = CONVERTERS_REFUSED,
     STORED(config, value_converter),
     .meaning = "how values become bytes; default: an outbox payload as it is, change events as "
                "JSON without schemas"},
    CONVERTER_OPTIONS("value.converter", value_delegate_converter),
    {.name = "header.converter",
     .type = PROPERTY_CHOICE,
     .default_value = "org.apache.kafka.connect.storage.SimpleHeaderConverter",
     .choices = "org.apache.kafka.connect.storage.SimpleHeaderConverter|"
                "org.apache.kafka.connect.json.JsonConverter|"
                "org.apache.kafka.connect.storage.StringConverter|"
                "org.apache.kafka.connect.converters.ByteArrayConverter",
     .choices_refused = "org.apache.kafka.connect.*|io.confluent.connect.*",
     STORED(config, header_converter),
     .meaning =
         "how headers become bytes; SimpleHeaderConverter: text as it is, structures as JSON"},
    {.name = "header.converter.schemas.enable",
     .type = PROPERTY_BOOL,
     .default_value = "true",
     STORED(config, header_schemas_enable),
     .meaning = "JsonConverter writes each header's schema beside it"},
    ACCEPTED(STRING, "header.converter.<rest>", NULL, "of the converter of headers"),
};
const struct property_group table_converters = {.heading = "Converters", ROWS(converters)};
