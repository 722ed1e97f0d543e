/* router/filter.h - which tables and columns are captured. */
#ifndef WR_ROUTER_FILTER_H
#define WR_ROUTER_FILTER_H

#include <stdbool.h>

#include "base/slice.h"
#include "base/status.h"

struct config;
struct filter;

/*
 * Compiles schema.*, table.*, column.* and message.prefix.* include and exclude lists: comma-
 * separated expressions that must match the whole of "schema", "schema.table",
 * "schema.table.column" or the prefix, in any case of letters, as in Debezium.
 */
WR_MUST_USE enum wr_status filter_new(const struct config *config, struct filter **out,
                                      struct wr_error *err);
void filter_free(struct filter *filter); /* NULL is allowed */

/* Tables of pg_catalog and information_schema never are. */
bool filter_has_table(const struct filter *filter, const char *schema, const char *table);
bool filter_has_column(const struct filter *filter, const char *schema, const char *table,
                       const char *column);
bool filter_has_prefix(const struct filter *filter, const char *prefix);

#endif /* WR_ROUTER_FILTER_H */
