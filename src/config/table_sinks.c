#include "config/route_config.h"
#include "config/table_rows.h"

/* Where the records of routes are delivered: behind "routes.<name>.". */

/* A number that the target knows best. */
#define AS_SUITS(key, field, most, text)                                                           \
    {                                                                                              \
        .name = (key), .scope = SCOPE_ROUTE, .type = PROPERTY_INT, .default_value = "-1",          \
        BETWEEN(-1, most), STORED(route_config, sink.field), .meaning = (text)                     \
    }

static const struct property sinks[] = {
    {.name = "sink.url",
     .scope = SCOPE_ROUTE,
     STORED(route_config, sink.url),
     .meaning = "the server that `walrelay sink` or `run --sinks` delivers the route's records to: "
                "http(s):// of OpenSearch or Elasticsearch, redis(s)://HOST:PORT/DATABASE"},
    {.name = "sink.user",
     .scope = SCOPE_ROUTE,
     STORED(route_config, sink.user),
     .meaning = "whom to log in as there, over the one in the URL"},
    {.name = "sink.password",
     .scope = SCOPE_ROUTE,
     .type = PROPERTY_PASSWORD,
     STORED(route_config, sink.password),
     .meaning = "the password, over the one in the URL"},
    {.name = "sink.group.id",
     .scope = SCOPE_ROUTE,
     STORED(route_config, sink.group),
     .meaning = "the consumer group; walrelay.<topic.prefix>.<name> where unset"},
    AS_SUITS("sink.batch.records", batch_count, 1000000,
             "the most records of one request; -1 is what suits the server"),
    AS_SUITS("sink.batch.bytes", batch_bytes, INT32_MAX,
             "the most bytes of one request; -1 is what suits the server"),
    AS_SUITS("sink.batch.wait.ms", wait_ms, 3600000,
             "how long records may wait for more of them; -1 is what suits the server"),
    {.name = "sink.timeout.ms",
     .scope = SCOPE_ROUTE,
     .type = PROPERTY_INT,
     .default_value = "30000",
     BETWEEN(1, INT32_MAX),
     STORED(route_config, sink.timeout_ms),
     .meaning = "how long a request may take before it is tried again"},
    {.name = "sink.report.interval.ms",
     .scope = SCOPE_ROUTE,
     .type = PROPERTY_INT,
     .default_value = "30000",
     FROM_ZERO,
     STORED(route_config, sink.report_ms),
     .meaning =
         "how often the log says how far the sink is behind, while records come; 0 is never"},
    {.name = "sink.tls.ca.location",
     .scope = SCOPE_ROUTE,
     STORED(route_config, sink.tls_ca),
     .meaning = "a PEM file with the certificates to trust; the system's where unset"},
    {.name = "sink.tls.verify",
     .scope = SCOPE_ROUTE,
     .type = PROPERTY_BOOL,
     .default_value = "true",
     STORED(route_config, sink.tls_verify),
     .meaning = "whether the server's certificate and name must be right"},
};
const struct property_group table_sinks = {.heading = "Sinks", ROWS(sinks)};

static const struct property search[] = {
    {.name = "sink.api.key",
     .scope = SCOPE_ROUTE_SEARCH,
     .type = PROPERTY_PASSWORD,
     STORED(route_config, sink.api_key),
     .meaning = "an API key of Elasticsearch, in place of user and password"},
    {.name = "sink.index",
     .scope = SCOPE_ROUTE_SEARCH,
     .set = set_sink_index,
     .meaning = "the index of a table, may hold ${schema} and ${table}; the table's name where "
                "unset"},
    {.name = "sink.index.create",
     .scope = SCOPE_ROUTE_SEARCH,
     .type = PROPERTY_BOOL,
     .default_value = "false",
     STORED(route_config, sink.index_create),
     .meaning = "make an index that is not there, with a mapping from the table's columns, and "
                "widen it when columns come"},
    {.name = "sink.mapping.file",
     .scope = SCOPE_ROUTE_SEARCH,
     .set = set_sink_mapping,
     .meaning = "JSON to make an index with (settings, mappings), in place of a mapping from the "
                "columns"},
    {.name = "sink.alias",
     .scope = SCOPE_ROUTE_SEARCH,
     STORED(route_config, sink.alias),
     .meaning = "an alias for an index that is made, unless it stands for another one already"},
    {.name = "sink.gzip",
     .scope = SCOPE_ROUTE_SEARCH,
     .type = PROPERTY_BOOL,
     .default_value = "false",
     STORED(route_config, sink.is_gzip),
     .meaning = "compress requests"},
};
const struct property_group table_sink_search = {.heading = "Sinks of type search", ROWS(search)};

static const struct property cache[] = {
    {.name = "sink.key.prefix",
     .scope = SCOPE_ROUTE_CACHE,
     STORED(route_config, sink.key_prefix),
     .meaning = "stands before every key"},
    {.name = "sink.ttl.ms",
     .scope = SCOPE_ROUTE_CACHE,
     .type = PROPERTY_INT,
     BETWEEN(1, INT64_C(1) << 50),
     STORED(route_config, sink.ttl_ms),
     .meaning = "with value=document: how long a row stays; for ever where unset"},
    {.name = "sink.tombstone.ttl.ms",
     .scope = SCOPE_ROUTE_CACHE,
     .type = PROPERTY_INT,
     BETWEEN(1, INT64_C(1) << 50),
     STORED(route_config, sink.tombstone_ms),
     .meaning = "how long a key's version is kept beside it, against readers that fill in what "
                "they read before; where unset not at all, with value=document a day"},
    {.name = "sink.notify.channel",
     .scope = SCOPE_ROUTE_CACHE,
     STORED(route_config, sink.channel),
     .meaning = "a channel where each changed key is published, for caches in processes"},
};
const struct property_group table_sink_cache = {.heading = "Sinks of type cache", ROWS(cache)};
