#include "config/table_rows.h"

const struct property_group *const property_table[] = {
    &table_connection,
    &table_slot,
    &table_capture,
    &table_snapshot,
    &table_signal,
    &table_topics,
    &table_values,
    &table_converters,
    &table_transforms,
    &table_predicates,
    &table_event_router,
    &table_unwrap,
    &table_logical_router,
    &table_regex_router,
    &table_cast,
    &table_drop_headers,
    &table_extract_field,
    &table_flatten,
    &table_header_from,
    &table_hoist_field,
    &table_insert_field,
    &table_insert_header,
    &table_mask_field,
    &table_replace_field,
    &table_set_schema_metadata,
    &table_timestamp_converter,
    &table_timestamp_router,
    &table_value_to_key,
    &table_routes,
    &table_route_search,
    &table_route_cache,
    &table_route_warehouse,
    &table_sinks,
    &table_sink_search,
    &table_sink_cache,
    &table_kafka,
    &table_errors,
    &table_operation,
    &table_debezium,
    &table_former,
    &table_worker,
    NULL,
};

const struct property *property_at(size_t index)
{
    for (size_t i = 0; property_table[i] != NULL; i++) {
        if (index < property_table[i]->count) {
            return &property_table[i]->rows[index];
        }
        index -= property_table[i]->count;
    }
    return NULL;
}
