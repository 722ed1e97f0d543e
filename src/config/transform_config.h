/* config/transform_config.h - the transforms and predicates that are built in, and their options.
 */
#ifndef WR_CONFIG_TRANSFORM_CONFIG_H
#define WR_CONFIG_TRANSFORM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "config/smt_config.h"

/* Whether a class stands for the whole record, or has "$Key" or "$Value" behind it. */
#define WR_SIDE_NONE 0
#define WR_SIDE_ONE  1

/*
 * All transforms, a line each: X(KIND, name, class, side). KIND makes TRANSFORM_KIND, and
 * SCOPE_KIND for the rows of its options; `name` makes name_ops, which one file of src/router
 * defines. A transform that has options has a struct and a member of the union below as well.
 */
#define WR_TRANSFORMS(X)                                                                           \
    X(EVENT_ROUTER, event_router, "io.debezium.transforms.outbox.EventRouter", WR_SIDE_NONE)       \
    X(UNWRAP, unwrap, "io.debezium.transforms.ExtractNewRecordState", WR_SIDE_NONE)                \
    X(LOGICAL_ROUTER, logical_router, "io.debezium.transforms.ByLogicalTableRouter", WR_SIDE_NONE) \
    X(REGEX_ROUTER, regex_router, WR_KAFKA_CLASS("RegexRouter"), WR_SIDE_NONE)                     \
    WR_KAFKA_TRANSFORMS(X)

enum transform_kind {
#define WR_TRANSFORM_KIND(KIND, name, class, side) TRANSFORM_##KIND,
    WR_TRANSFORMS(WR_TRANSFORM_KIND)
#undef WR_TRANSFORM_KIND
};

enum op_invalid_behavior { OP_INVALID_WARN, OP_INVALID_ERROR, OP_INVALID_FATAL };

enum additional_placement { PLACEMENT_HEADER, PLACEMENT_ENVELOPE, PLACEMENT_PARTITION };

struct additional_field {
    const char *column;
    enum additional_placement placement;
    const char *alias; /* the column's name when none was given */
};

/* io.debezium.transforms.outbox.EventRouter: one field an option. */
struct event_router_config {
    const char *field_event_id;        /* table.field.event.id = id */
    const char *field_event_key;       /* table.field.event.key = aggregateid */
    const char *field_event_payload;   /* table.field.event.payload = payload */
    const char *field_event_timestamp; /* table.field.event.timestamp, NULL when unset */
    const char *field_schema_version;  /* table.field.event.schema.version, NULL when unset */
    struct additional_field *additional;
    size_t additional_count;
    bool additional_missing_is_error; /* table.field.additional.missing = error */
    enum op_invalid_behavior op_invalid_behavior;
    bool expand_json_payload;
    bool json_payload_null_is_kept;        /* table.json.payload.null.behavior = optional_bytes */
    bool json_payload_empty_array_is_kept; /* ….empty.array.behavior = optional_string */
    const char *route_by_field;            /* aggregatetype */
    const char *route_topic_regex;         /* (?<routedByValue>.*) */
    const char *route_topic_replacement;   /* outbox.event.${routedByValue} */
    bool tombstone_on_empty_payload;       /* route.tombstone.on.empty.payload = false */
};

enum delete_tombstone_handling_mode {
    DELETE_TO_NULL, /* "tombstone": a null that keeps the row's schema */
    DELETE_DROP,
    DELETE_REWRITE,
    DELETE_REWRITE_WITH_TOMBSTONE,
    DELETE_TO_TOMBSTONE,
};

/* io.debezium.transforms.ExtractNewRecordState */
struct unwrap_config {
    enum delete_tombstone_handling_mode deletes; /* delete.(tombstone.)handling.mode */
    bool drop_tombstones;                        /* of Debezium 2; true */
    const char *route_by_field;                  /* NULL: the topic stays */
    struct config_names add_fields;              /* "op", "source.lsn:position" */
    const char *add_fields_prefix;               /* "__" */
    struct config_names add_headers;
    const char *add_headers_prefix;
    const char *drop_fields_header; /* NULL: none */
    bool drop_fields_from_key;
    bool drop_fields_keep_schema_compatible; /* true */
};

/* io.debezium.transforms.ByLogicalTableRouter */
struct logical_router_config {
    const char *topic_regex;
    const char *topic_replacement;
    bool key_enforce_uniqueness;       /* true */
    const char *key_field_name;        /* __dbz__physicalTableIdentifier */
    const char *key_field_regex;       /* NULL: the old topic itself is the field's value */
    const char *key_field_replacement; /* NULL without the expression */
    enum name_adjustment_mode schema_name_adjustment_mode;
};

struct regex_router_config {
    const char *regex;
    const char *replacement;
};

enum predicate_kind {
    PREDICATE_TOPIC_NAME_MATCHES,
    PREDICATE_RECORD_IS_TOMBSTONE,
    PREDICATE_HAS_HEADER_KEY,
};

/* One of `predicates`. */
struct predicate_config {
    const char *name;
    enum predicate_kind kind;
    const char *pattern; /* TopicNameMatches: of the whole topic */
    const char *header;  /* HasHeaderKey: its name */
};

/* One of `transforms`, in their order. */
struct transform_config {
    const char *name;
    enum transform_kind kind;
    bool is_key;                /* "$Key" */
    const char *predicate_name; /* as written; NULL: every record */
    const struct predicate_config *predicate;
    bool negate; /* the records for which the predicate is not true */
    union {
        struct event_router_config event_router;
        struct unwrap_config unwrap;
        struct logical_router_config logical_router;
        struct regex_router_config regex_router;
        struct cast_config cast;
        struct drop_headers_config drop_headers;
        struct extract_field_config extract_field;
        struct flatten_config flatten;
        struct header_from_config header_from;
        struct hoist_field_config hoist_field;
        struct insert_field_config insert_field;
        struct insert_header_config insert_header;
        struct mask_field_config mask_field;
        struct replace_field_config replace_field;
        struct set_schema_metadata_config set_schema_metadata;
        struct timestamp_converter_config timestamp_converter;
        struct timestamp_router_config timestamp_router;
        struct value_to_key_config value_to_key;
    } as;
};

#endif /* WR_CONFIG_TRANSFORM_CONFIG_H */
