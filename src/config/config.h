/* config/config.h - the checked, read-only configuration that every room works from. */
#ifndef WR_CONFIG_CONFIG_H
#define WR_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "config/lists.h"

struct predicate_config;
struct topic_group;
struct route_config;
struct transform_config;
struct wr_arena;

enum publication_autocreate_mode {
    AUTOCREATE_ALL_TABLES,
    AUTOCREATE_DISABLED,
    AUTOCREATE_FILTERED,
    AUTOCREATE_NO_TABLES,
};

enum snapshot_mode {
    SNAPSHOT_INITIAL,
    SNAPSHOT_NO_DATA,
    SNAPSHOT_ALWAYS,
    SNAPSHOT_INITIAL_ONLY,
    SNAPSHOT_WHEN_NEEDED,
    SNAPSHOT_CONFIGURATION_BASED, /* only while loading: its switches say which of the others */
};

enum snapshot_table_order { SNAPSHOT_BY_NAME, SNAPSHOT_ASCENDING, SNAPSHOT_DESCENDING };

/* snapshot.mode.configuration.based.…: only while loading. */
struct snapshot_switches {
    bool data;
    bool stream;
    bool on_data_error;
};

enum decimal_handling_mode {
    DECIMAL_HANDLING_PRECISE,
    DECIMAL_HANDLING_DOUBLE,
    DECIMAL_HANDLING_STRING
};

enum binary_handling_mode {
    BINARY_HANDLING_BYTES,
    BINARY_HANDLING_BASE64,
    BINARY_HANDLING_BASE64_URL_SAFE,
    BINARY_HANDLING_HEX,
};

/* Debezium's, less `structured`, which came later. */
enum time_precision_mode {
    TIME_PRECISION_ADAPTIVE,
    TIME_PRECISION_ADAPTIVE_TIME_MICROSECONDS,
    TIME_PRECISION_CONNECT,
    TIME_PRECISION_ISOSTRING,
    TIME_PRECISION_MICROSECONDS,
    TIME_PRECISION_NANOSECONDS,
};

enum interval_handling_mode { INTERVAL_HANDLING_NUMERIC, INTERVAL_HANDLING_STRING };

enum hstore_handling_mode { HSTORE_HANDLING_JSON, HSTORE_HANDLING_MAP };

/* lsn.flush.mode; the first two are one here. */
enum lsn_flush_mode { LSN_FLUSH_CONNECTOR, LSN_FLUSH_CONNECTOR_AND_DRIVER, LSN_FLUSH_MANUAL };

enum replica_identity {
    REPLICA_IDENTITY_DEFAULT,
    REPLICA_IDENTITY_NOTHING,
    REPLICA_IDENTITY_FULL,
    REPLICA_IDENTITY_INDEX,
};

/* One of replica.identity.autoset.values. */
struct replica_identity_rule {
    const char *table; /* an expression for schema.table, whatever its case */
    enum replica_identity identity;
    const char *index; /* of REPLICA_IDENTITY_INDEX */
};

enum converter_kind {
    CONVERTER_DEFAULT, /* none was given: the readable default of walrelay */
    CONVERTER_JSON,    /* JsonConverter */
    CONVERTER_STRING,
    CONVERTER_BYTE_ARRAY,
    CONVERTER_BINARY_DATA, /* Debezium's BinaryDataConverter */
};

enum header_converter_kind {
    HEADER_CONVERTER_SIMPLE,
    HEADER_CONVERTER_JSON,
    HEADER_CONVERTER_STRING,
    HEADER_CONVERTER_BYTE_ARRAY,
};

/* Connect's, of a connector and of a worker. */
enum exactly_once_support { EXACTLY_ONCE_REQUESTED, EXACTLY_ONCE_REQUIRED };
enum exactly_once_source_support {
    EXACTLY_ONCE_SOURCE_DISABLED,
    EXACTLY_ONCE_SOURCE_PREPARING,
    EXACTLY_ONCE_SOURCE_ENABLED,
};

enum event_failure { EVENT_FAILURE_FAIL, EVENT_FAILURE_WARN, EVENT_FAILURE_SKIP };

enum errors_tolerance { TOLERANCE_NONE, TOLERANCE_ALL };

enum name_adjustment_mode {
    NAME_ADJUSTMENT_NONE,
    NAME_ADJUSTMENT_AVRO,
    NAME_ADJUSTMENT_AVRO_UNICODE,
};

/*
 * column.mask.with.N.chars and column.truncate.to.N.chars: `size` is N, `columns` a regex list; or
 * column.mask.hash[.v2].ALGORITHM.with.salt.SALT.
 */
struct column_rule {
    bool is_mask;
    uint32_t size;
    const char *columns;
    const char *hash_algorithm; /* NULL: no hash */
    const char *salt;
    bool hash_is_v2;
};

/* post.processors: io.debezium.processors.reselect.ReselectColumnsPostProcessor. */
struct reselect_config {
    bool is_enabled;
    const char *include; /* of schema.table:column, a list of expressions; NULL: all */
    const char *exclude;
    bool unavailable_values; /* read what an update did not send */
    bool null_values;        /* and what is null */
    bool fails;              /* where that cannot be read; else it warns */
};

/* Strings are NULL where a property is unset and has no default. All lives as long as the config.
 */
struct config {
    struct wr_arena *arena; /* owns everything here, this struct too */

    /* PostgreSQL */
    struct config_pairs database; /* libpq keywords and values: host, port, user, …; no dbname */
    const char *database_dbname;
    int64_t database_query_timeout_ms;      /* database.query.timeout.ms, 0 is none */
    struct config_pairs initial_statements; /* database.initial.statements, names are NULL */
    const char *slot_name;
    bool slot_drop_on_stop;
    bool slot_failover;
    int64_t slot_max_retries; /* while another process reads it; -1: for ever */
    int64_t slot_retry_delay_ms;
    enum lsn_flush_mode lsn_flush_mode;
    bool flush_lsn_source;                  /* the older name of that: false is manual */
    struct config_pairs slot_stream_params; /* options of pgoutput */
    int64_t xmin_fetch_interval_ms;         /* 0: source.xmin stays null */
    const char *publication_name;
    enum publication_autocreate_mode publication_autocreate_mode;
    bool publish_via_partition_root;
    struct replica_identity_rule *replica_identities;
    size_t replica_identity_count;
    int64_t heartbeat_interval_ms;      /* 0: no heartbeats */
    const char *heartbeat_action_query; /* runs with each of them */
    const char *topic_heartbeat_prefix;
    const char *topic_heartbeat_name; /* instead of the prefix and topic.prefix */
    int64_t status_update_interval_ms;
    int64_t retry_backoff_ms_min; /* errors.retry.delay.initial.ms */
    int64_t retry_backoff_ms_max; /* errors.retry.delay.max.ms */
    int64_t errors_max_retries;   /* -1: for ever */

    /* What is captured. Lists are comma-separated expressions, or NULL. */
    const char *schema_include_list;
    const char *schema_exclude_list;
    const char *table_include_list;
    const char *table_exclude_list;
    const char *column_include_list;
    const char *column_exclude_list;
    const char *message_key_columns;
    const char *message_prefix_include_list;
    const char *message_prefix_exclude_list;
    const char *column_propagate_source_type;
    const char *datatype_propagate_source_type;
    struct reselect_config reselect;
    bool skip_unchanged;               /* skip.messages.without.change */
    int64_t guardrail_collections_max; /* 0: as many tables as there are */
    bool guardrail_fails;              /* above that; else it warns */
    struct column_rule *column_rules;
    size_t column_rule_count;
    bool skip_create, skip_update, skip_delete, skip_truncate; /* skipped.operations */

    /* The initial snapshot */
    enum snapshot_mode snapshot_mode;
    struct snapshot_switches snapshot_switches;
    const char *snapshot_include_list;
    struct config_pairs snapshot_selects; /* schema.table and the SELECT to read it with */
    enum snapshot_table_order snapshot_table_order;
    bool snapshot_locks_tables; /* snapshot.locking.mode = shared */
    int64_t snapshot_lock_timeout_ms;
    int64_t snapshot_thread_count; /* connections that read side by side */
    int64_t snapshot_delay_ms;
    int64_t streaming_delay_ms; /* between the snapshot and the stream */

    int64_t incremental_chunk_size; /* rows; and signal.* and notification.* */
    bool signal_by_table, signal_by_kafka, notifies_topic, notifies_log;
    const char *signal_table, *signal_message_secret, *signal_kafka_group, *notification_topic;
    const char *signal_kafka_topic, *signal_kafka_bootstrap; /* NULL: their defaults */
    struct config_pairs signal_consumer;                     /* librdkafka names */

    /* What is published */
    const char *topic_prefix;
    const char *topic_delimiter;
    bool tombstones_on_delete;
    enum name_adjustment_mode schema_name_adjustment_mode;
    enum name_adjustment_mode field_name_adjustment_mode;
    bool provide_transaction_metadata;
    const char *topic_transaction; /* behind the prefix */
    enum decimal_handling_mode decimal_handling_mode;
    enum time_precision_mode time_precision_mode;
    enum binary_handling_mode binary_handling_mode;
    enum interval_handling_mode interval_handling_mode;
    enum hstore_handling_mode hstore_handling_mode;
    bool include_unknown_datatypes;
    int64_t money_fraction_digits;
    const char *unavailable_value_placeholder;
    bool extended_headers_enabled;
    struct transform_config *transforms; /* transform_config.h */
    size_t transform_count;
    struct predicate_config *predicates;
    size_t predicate_count;
    struct route_config *routes; /* route_config.h */
    size_t route_count;
    enum converter_kind key_converter;
    enum converter_kind value_converter;
    /* BinaryDataConverter's, for what is not bytes; CONVERTER_DEFAULT is none. */
    enum converter_kind key_delegate_converter;
    enum converter_kind value_delegate_converter;
    bool key_schemas_enable; /* of what writes JSON, be it the delegate */
    bool value_schemas_enable;
    enum header_converter_kind header_converter;
    bool header_schemas_enable;

    /* Kafka */
    struct config_pairs kafka;          /* librdkafka names, bootstrap.servers among them */
    struct config_pairs kafka_consumer; /* the same for what sinks read with */
    int64_t inflight_bytes_max;         /* max.queue.size.in.bytes, our default where it is 0 */
    bool topic_creation_enable;
    struct topic_group
        *topic_groups; /* topic_group.h; the first that has a topic counts; the last has all */
    size_t topic_group_count; /* 0: topics are left to the broker */
    enum exactly_once_support exactly_once_support;
    enum exactly_once_source_support exactly_once_source_support;
    bool exactly_once;            /* what the two make of it */
    const char *transactional_id; /* NULL: made of topic.prefix and slot.name */
    int64_t flush_timeout_ms;     /* how long a stop waits for acknowledgements */
    enum errors_tolerance errors_tolerance;
    enum event_failure event_failure; /* event.processing.failure.handling.mode */
    const char *dead_letter_topic;
};

/* Where the parts of a configuration come from, in order: later ones win. */
struct config_source {
    const char *path; /* a file, or NULL */
    const char *set;  /* "KEY=VALUE", or NULL */
};

/*
 * Reads and checks everything. WR_FATAL when anything is wrong; then `report` (may be NULL) was
 * called once for every problem found, in the order of the files, with one line of text each.
 * Free with config_free().
 */
WR_MUST_USE enum wr_status config_load(const struct config_source *sources, size_t count,
                                       bool needs_kafka, void (*report)(const char *problem),
                                       struct config **out, struct wr_error *err);
void config_free(struct config *config);

/*
 * A row that an update moved to another block is known from the update alone: a snapshot may go on
 * in the middle of a table only where none goes unpublished.
 */
bool config_publishes_all_updates(const struct config *config);

/* `walrelay config [KEY]`: the reference, from the table the loader uses. False: no such key. */
bool config_print_reference(const char *key);

#endif /* WR_CONFIG_CONFIG_H */
