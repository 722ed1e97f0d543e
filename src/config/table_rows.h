/* config/table_rows.h - how the rows of the property table are written down. */
#ifndef WR_CONFIG_TABLE_ROWS_H
#define WR_CONFIG_TABLE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/property.h"
#include "config/transform_config.h"

/* Where a value goes: a field of the struct of the row's scope. */
#define STORED(structure, field) .is_stored = true, .offset = offsetof(struct structure, field)

#define BETWEEN(min, max) .int_min = (min), .int_max = (max)
/* Milliseconds, bytes and counts of Debezium are Java's int. */
#define FROM_ZERO BETWEEN(0, INT32_MAX)

/* Has no meaning here, or none that anyone could see: accepted, without effect. */
#define ACCEPTED(kind, key, value, text)                                                           \
    {                                                                                              \
        .name = (key), .type = PROPERTY_##kind, .default_value = (value), .meaning = (text),       \
        .support = SUPPORT_ACCEPTED, .int_min = INT64_MIN, .int_max = INT64_MAX                    \
    }
#define ACCEPTED_CHOICE(key, value, allowed, text)                                                 \
    {                                                                                              \
        .name = (key), .type = PROPERTY_CHOICE, .choices = (allowed), .default_value = (value),    \
        .meaning = (text), .support = SUPPORT_ACCEPTED                                             \
    }
/* Changes what is published and is not built yet: refused, unless it has its default. */
#define LATER(key, value, advice)                                                                  \
    {                                                                                              \
        .name = (key), .default_value = (value), .meaning = (advice), .support = SUPPORT_LATER     \
    }
/* Never will be: refused, unless it has its default. */
#define REFUSED(key, value, advice)                                                                \
    {                                                                                              \
        .name = (key), .default_value = (value), .meaning = (advice), .support = SUPPORT_REFUSED   \
    }
/* One of its values works and the others do not. */
#define ONLY(key, value, refused, text)                                                            \
    {                                                                                              \
        .name = (key), .type = PROPERTY_CHOICE, .choices = (value), .choices_refused = (refused),  \
        .default_value = (value), .meaning = (text)                                                \
    }

#define ROWS(rows_) .rows = (rows_), .count = sizeof(rows_) / sizeof((rows_)[0])

extern const struct property_group table_connection, table_slot, table_capture, table_snapshot,
    table_signal;
extern const struct property_group table_topics, table_values, table_converters;
extern const struct property_group table_transforms, table_predicates, table_event_router,
    table_unwrap, table_logical_router, table_regex_router;
extern const struct property_group table_cast, table_drop_headers, table_extract_field,
    table_flatten, table_header_from, table_hoist_field, table_insert_field, table_insert_header,
    table_mask_field, table_replace_field, table_set_schema_metadata, table_timestamp_converter,
    table_timestamp_router, table_value_to_key;
extern const struct property_group table_routes, table_route_search, table_route_cache,
    table_route_warehouse;
extern const struct property_group table_sinks, table_sink_search, table_sink_cache;
extern const struct property_group table_kafka, table_errors, table_operation, table_debezium,
    table_former, table_worker;

/* Of transforms (transforms.c, setters.c). */
void set_transform_type(struct loader *l, const struct property_match *match, const struct entry *e,
                        void *base);
void set_additional_fields(struct loader *l, const struct property_match *match,
                           const struct entry *e, void *base);

/* Of routes (routes.c). */
void set_route_topic(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base);
void set_route_document_id(struct loader *l, const struct property_match *match,
                           const struct entry *e, void *base);
void set_route_document_fields(struct loader *l, const struct property_match *match,
                               const struct entry *e, void *base);
void set_route_keys(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base);
void set_route_where(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base);

/* Of the slot's stream (slot_setters.c). */
void set_stream_params(struct loader *l, const struct property_match *match, const struct entry *e,
                       void *base);
void set_replica_identities(struct loader *l, const struct property_match *match,
                            const struct entry *e, void *base);
/* Of signals and notifications (signals.c). */
void set_signal_table(struct loader *l, const struct property_match *match, const struct entry *e,
                      void *base);
void set_signal_channels(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base);
void set_signal_consumer(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base);
void set_notification_channels(struct loader *l, const struct property_match *match,
                               const struct entry *e, void *base);

/* Of sinks (routes.c). */
void set_sink_index(struct loader *l, const struct property_match *match, const struct entry *e,
                    void *base);
void set_sink_mapping(struct loader *l, const struct property_match *match, const struct entry *e,
                      void *base);

/* Of Kafka's own transforms (smt_setters.c). */
void set_cast_spec(struct loader *l, const struct property_match *match, const struct entry *e,
                   void *base);
void set_date_format(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base);
void set_topic_field(struct loader *l, const struct property_match *match, const struct entry *e,
                     void *base);
void set_partition_field(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base);
void set_offset_field(struct loader *l, const struct property_match *match, const struct entry *e,
                      void *base);
void set_timestamp_field(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base);
void set_static_field(struct loader *l, const struct property_match *match, const struct entry *e,
                      void *base);

#endif /* WR_CONFIG_TABLE_ROWS_H */
