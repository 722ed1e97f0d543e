#include "config/route_config.h"
#include "config/table_rows.h"

/* What derived systems follow: documents, cache keys and warehouse rows. */

static const struct property routes[] = {
    {.name = "routes", .type = PROPERTY_NAMES, .meaning = "names of the routes"},
    {.name = "type", /* the places are those of enum route_type */
     .scope = SCOPE_ROUTE,
     .type = PROPERTY_CHOICE,
     .choices = "search|cache|warehouse",
     .is_required = true,
     STORED(route_config, type),
     .meaning = "what the route makes of a row: a document by its id, the keys that are no longer "
                "right, or the typed row itself"},
    {.name = "table.include.list",
     .scope = SCOPE_ROUTE,
     .type = PROPERTY_REGEX_LIST,
     STORED(route_config, table_include_list),
     .meaning = "schema.table names whose rows take the route; every captured table where unset"},
    {.name = "topic",
     .scope = SCOPE_ROUTE,
     .set = set_route_topic,
     .meaning = "where its records go; may hold ${schema} and ${table}; "
                "<topic.prefix>.<name>.<table> where unset"},
    {.name = "only",
     .scope = SCOPE_ROUTE,
     .type = PROPERTY_BOOL,
     .default_value = "false",
     STORED(route_config, only),
     .meaning = "the tables of this route have no change events beside its records"},
    {.name = "where",
     .scope = SCOPE_ROUTE,
     .set = set_route_where,
     .meaning = "which rows take the route: column = literal (or <> < <= > >=), column [NOT] IN "
                "(literal, …), column IS [NOT] NULL, joined by AND; a row that stops to match is "
                "deleted there"},
    {.name = "only.when.changed",
     .scope = SCOPE_ROUTE,
     .type = PROPERTY_NAMES,
     STORED(route_config, only_when_changed),
     .meaning = "an update is passed over when none of these columns changed, as far as the old "
                "row is known (REPLICA IDENTITY FULL)"},
};
const struct property_group table_routes = {.heading = "Routes", ROWS(routes)};

static const struct property search[] = {
    {.name = "document.id",
     .scope = SCOPE_ROUTE_SEARCH,
     .set = set_route_document_id,
     .meaning = "the document's id, as ${id} or ${shop}-${number}; the key's columns joined by _ "
                "where unset"},
    {.name = "document.fields",
     .scope = SCOPE_ROUTE_SEARCH,
     .set = set_route_document_fields,
     .meaning = "what is in the document: a list of column, column:name, or column.path:name of "
                "a JSON column; all columns where unset"},
};
const struct property_group table_route_search = {.heading = "Routes of type search", ROWS(search)};

static const struct property cache[] = {
    {.name = "keys",
     .scope = SCOPE_ROUTE_CACHE,
     .is_required = true,
     .set = set_route_keys,
     .meaning = "the keys that a change makes wrong, a list as event:${id},venue:${venue}:events; "
                "of the old row and the new one, each once"},
    {.name = "value", /* the places are those of enum cache_value */
     .scope = SCOPE_ROUTE_CACHE,
     .type = PROPERTY_CHOICE,
     .default_value = "none",
     .choices = "none|document",
     STORED(route_config, cache_value),
     .meaning = "what stands behind the keys of the new row: nothing, or the row as a document"},
    {.name = "document.fields",
     .scope = SCOPE_ROUTE_CACHE,
     .set = set_route_document_fields,
     .meaning = "what is in the document, as for type search"},
};
const struct property_group table_route_cache = {.heading = "Routes of type cache", ROWS(cache)};

static const struct property warehouse[] = {
    {.name = "value.format", /* the places are those of enum route_format */
     .scope = SCOPE_ROUTE_WAREHOUSE,
     .type = PROPERTY_CHOICE,
     .default_value = "protobuf",
     .choices = "protobuf|json",
     STORED(route_config, format),
     .meaning = "how a row is written: proto/walrelay/v1/change.proto, or natural JSON"},
};
const struct property_group table_route_warehouse = {.heading = "Routes of type warehouse",
                                                     ROWS(warehouse)};
