/* config/route_config.h - the routes of a configuration, their templates and conditions read. */
#ifndef WR_CONFIG_ROUTE_CONFIG_H
#define WR_CONFIG_ROUTE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "config/config.h"

enum route_type { ROUTE_SEARCH, ROUTE_CACHE, ROUTE_WAREHOUSE };

enum route_format { ROUTE_FORMAT_PROTOBUF, ROUTE_FORMAT_JSON };

enum cache_value { CACHE_VALUE_NONE, CACHE_VALUE_DOCUMENT };

/*
 * Text with columns in it. Every piece is a literal, or the name of a column (with a path behind
 * it, where the column is JSON).
 */
struct template_piece {
    bool is_column;
    struct wr_slice text;
};

struct template_config {
    const char *text; /* as written, for notices */
    const struct template_piece *pieces;
    size_t piece_count;
};

/* "starts_at:startsAt": where the value comes from, and its name in the document. */
struct document_field {
    struct wr_slice source;
    struct wr_slice name;
};

enum condition_op {
    CONDITION_EQUAL,
    CONDITION_UNEQUAL,
    CONDITION_LESS,
    CONDITION_LESS_EQUAL,
    CONDITION_GREATER,
    CONDITION_GREATER_EQUAL,
    CONDITION_IN,
    CONDITION_NOT_IN,
    CONDITION_NULL,
    CONDITION_NOT_NULL,
};

enum literal_kind { LITERAL_TEXT, LITERAL_NUMBER, LITERAL_BOOL };

struct condition_literal {
    enum literal_kind kind;
    struct wr_slice text; /* without quotes; "t" or "f" of a boolean */
};

struct condition_term {
    struct wr_slice column;
    enum condition_op op;
    const struct condition_literal *literals; /* one; some of IN; none of IS NULL */
    size_t literal_count;
};

/* All of them have to hold. */
struct condition_config {
    const struct condition_term *terms;
    size_t term_count;
};

/* Where a route's records are delivered, and how: sink.… of a route. */
struct sink_config {
    const char *url;
    const char *user, *password;
    const char *group;   /* NULL: walrelay.<topic.prefix>.<route> */
    int64_t batch_count; /* this, batch_bytes and wait_ms: -1 for what suits the target */
    int64_t batch_bytes;
    int64_t wait_ms;
    int64_t timeout_ms; /* of a request */
    int64_t report_ms;  /* between two lines about the lag; 0: never */
    const char *tls_ca; /* a PEM file; NULL: what the system trusts */
    bool tls_verify;
    bool is_gzip;
    /* cache */
    const char *key_prefix;
    int64_t ttl_ms;       /* of stored rows; 0: none */
    int64_t tombstone_ms; /* of a key's version; 0: none, or a day where rows are stored */
    const char *channel;  /* where changed keys are announced; NULL: nowhere */
    /* search */
    const char *api_key;
    const struct template_config *index; /* NULL: the table's name */
    bool index_create;
    const char *mapping; /* what an index is created with; NULL: made from the table */
    const char *alias;
};

/* One of `routes`. */
struct route_config {
    const char *name;
    enum route_type type;
    const char *table_include_list;      /* NULL: every table that is captured */
    const struct template_config *topic; /* of "schema" and "table"; NULL: prefix.route.table */
    bool only;                           /* no change events of these tables beside it */
    struct condition_config where;
    struct config_names only_when_changed; /* count 0: every update */

    const struct template_config *document_id; /* search; NULL: the key */
    struct document_field *document_fields;    /* search, cache; count 0: all columns */
    size_t document_field_count;
    const struct template_config *keys; /* cache */
    size_t key_count;
    enum cache_value cache_value;
    enum route_format format; /* warehouse */
    struct sink_config sink;
};

#endif /* WR_CONFIG_ROUTE_CONFIG_H */
