/* router/transforms/unwrap.h - the parts of ExtractNewRecordState (unwrap.c, unwrap_fields.c). */
#ifndef WR_ROUTER_TRANSFORMS_UNWRAP_H
#define WR_ROUTER_TRANSFORMS_UNWRAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "base/status.h"
#include "config/transform_config.h"
#include "router/fact.h"

struct config_names;
struct record;
struct schema;
struct transform;
struct wr_arena;

enum { UNWRAP_REFERENCES_SIZE_MAX = 1 << 20 };

/* One of add.fields or add.headers: what it points to, and what it is called. */
struct reference {
    const char *name; /* of the new field or header */
    struct wr_slice field;
    enum fact fact; /* FACT_COUNT: there is none of that name */
    bool is_column; /* of the row before or after; where the table has none, `fact` */
    bool is_before;
};

struct references {
    struct reference *items;
    size_t count;
};

/* State of one such transform. */
struct unwrap {
    struct wr_arena *arena;
    struct references fields;
    struct references headers;
};

/* Reads `option`, "op,source.lsn:position". WR_FATAL: it cannot be meant. */
WR_MUST_USE enum wr_status references_read(const struct transform *transform, const char *option,
                                           const struct config_names *names, const char *prefix,
                                           struct references *out, struct wr_error *err);

/* The same schema, optional and without a default. NULL: the arena is full. */
const struct schema *unwrap_optional(struct wr_arena *arena, const struct schema *schema);

/* Sends the record to the topic `name`, made fit for Kafka; a blank one changes nothing. */
WR_MUST_USE enum wr_status unwrap_route(struct record *record, struct wr_slice name,
                                        struct wr_arena *scratch, struct wr_error *err);

/*
 * drop.fields.header.name: takes the fields that the header lists from the value, and from the key
 * where so configured. WR_REJECT: the header is no list of names.
 */
WR_MUST_USE enum wr_status unwrap_drop_fields(const struct unwrap_config *config,
                                              struct record *record, struct wr_arena *scratch,
                                              struct wr_error *err);

#endif /* WR_ROUTER_TRANSFORMS_UNWRAP_H */
