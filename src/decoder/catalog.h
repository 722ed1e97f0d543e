/* decoder/catalog.h - what the WAL does not say of a table or type, as plain data from pg_catalog.
 */
#ifndef WR_DECODER_CATALOG_H
#define WR_DECODER_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct wr_arena;

/* pg_type of one oid. */
struct type_info {
    uint32_t oid;
    const char *schema;
    const char *name;
    char typtype;      /* b base, c composite, d domain, e enum, p pseudo, r range, m multirange */
    uint32_t base_oid; /* typbasetype: of a domain, else 0 */
    int32_t base_typmod;  /* typtypmod: of a domain, else -1 */
    uint32_t element_oid; /* typelem where typcategory is 'A' (a true array), else 0 */
    char delimiter;       /* typdelim: between the elements of an array of it */
    const char *labels;   /* of an enum: "sad,ok,happy", in their order; else "" */
};

struct column_info {
    const char *name;
    bool is_not_null;
    const char *default_text; /* pg_get_expr of the default, NULL when there is none */
};

/* pg_class, pg_attribute and pg_index of one table, as they are now: never used to rename or drop.
 */
struct table_info {
    uint32_t oid;
    struct column_info *columns; /* live ones, by attnum */
    size_t column_count;
    const char **key_columns; /* primary key, in the index's order; count 0 when there is none */
    size_t key_column_count;
};

/*
 * How pure rooms ask the catalog. Results are allocated in `arena`. WR_REJECT when the table or
 * type is not there (dropped meanwhile); WR_RETRY when the connection is lost.
 */
struct catalog_source {
    void *context;
    enum wr_status (*type)(void *context, uint32_t oid, struct wr_arena *arena,
                           struct type_info *out, struct wr_error *err);
    enum wr_status (*table)(void *context, uint32_t oid, struct wr_arena *arena,
                            struct table_info *out, struct wr_error *err);
};

#endif /* WR_DECODER_CATALOG_H */
