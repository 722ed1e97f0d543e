/* router/record.h - the record that a change becomes. */
#ifndef WR_ROUTER_RECORD_H
#define WR_ROUTER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"
#include "decoder/datum.h"
#include "decoder/pgoutput.h"
#include "router/change.h"

struct relation;
struct column_plan;
struct document;
struct route_config;
struct schema;
struct warehouse_shape;

/*
 * Some columns of one tuple, not yet typed: the plain envelope goes from here straight to bytes.
 * Behind them stand the fields that transforms added.
 */
struct row_view {
    const struct relation *relation;
    const struct column_plan *const *columns; /* NULL: there is no row here */
    size_t column_count;
    const struct tuple *tuple;
    const struct tuple *older; /* holds the value of an unchanged TOAST cell; NULL: nobody does */
    bool is_key_only;          /* cells outside the replica identity are unknown, not NULL */
    const struct datum_field *added;
    size_t added_count;
};

/* What a warehouse gets of a change. */
struct warehouse_rows {
    enum change_op op; /* of this record: a moved key is a delete and a create */
    struct row_view key_row, before, after;
};

enum part_kind {
    PART_NULL = 0, /* Kafka's null: a tombstone, or no key */
    PART_DATUM,    /* `datum`; DATUM_NULL in here is a typed null, which a converter may spell */
    PART_ROW,      /* `row` as a structure */
    PART_ENVELOPE, /* before, after and the record's change as Debezium's envelope */
    PART_MESSAGE,  /* a logical message as Debezium's envelope with op m */
    /* From here on of routes: no transform sees them, no configured converter writes them. */
    PART_VERBATIM,  /* `verbatim` */
    PART_DOCUMENT,  /* a row as a JSON object, natural JSON */
    PART_WAREHOUSE, /* a typed row with what happened to it, in the route's format */
};

struct record_part {
    enum part_kind kind;
    const struct schema *schema; /* of the value; NULL: Connect would have none either */
    union {
        struct datum datum;
        struct row_view row;
        struct {
            enum change_op op; /* of this record: a moved key is a delete and a create */
            struct row_view before, after;
        } envelope;
        struct {
            struct wr_slice prefix, content;
        } message;
        struct wr_slice verbatim;
        struct {
            const struct document *shape;
            struct row_view row;
        } document;
        struct {
            const struct warehouse_shape *shape;
            const struct warehouse_rows *rows;
        } warehouse;
    } as;
};

enum { RECORD_HEADERS_MAX = 32 };

struct record_header {
    const char *name;
    struct record_part value; /* PART_NULL, PART_DATUM, PART_ROW or PART_VERBATIM */
};

/* Everything is borrowed, and lives until the emit callback returns. */
struct record {
    const struct change *change; /* NULL for a logical message */
    const struct change_source *source;
    const struct route_config *route; /* whose record it is; NULL: a change event's */
    struct wr_slice topic;
    int32_t partition;    /* -1: by the key */
    int64_t timestamp_ms; /* -1: the producer's clock */
    struct record_part key;
    struct record_part value;
    struct record_header headers[RECORD_HEADERS_MAX];
    size_t header_count;
};

/* Kafka's: a value that is null, with or without a schema. */
bool record_is_tombstone(const struct record *record);

/* The last header of that name; NULL: there is none. Kafka may have several of one name. */
const struct record_header *record_header_find(const struct record *record, const char *name);
/* Behind those that are there. `name` is borrowed. WR_REJECT: there are RECORD_HEADERS_MAX. */
WR_MUST_USE enum wr_status record_header_add(struct record *record, const char *name,
                                             const struct record_part *value, struct wr_error *err);
/* All of that name. */
void record_header_drop(struct record *record, const char *name);
/* Drops all of that name, then adds. */
WR_MUST_USE enum wr_status record_header_replace(struct record *record, const char *name,
                                                 const struct record_part *value,
                                                 struct wr_error *err);

#endif /* WR_ROUTER_RECORD_H */
