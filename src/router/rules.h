/* router/rules.h - the rules of a configuration that name columns. */
#ifndef WR_ROUTER_RULES_H
#define WR_ROUTER_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"
#include "base/status.h"

struct column_hash;
struct column_rule;
struct config;
struct rules;

/* message.key.columns, masks, hashes, truncations and propagated types of columns, compiled. */
WR_MUST_USE enum wr_status rules_new(const struct config *config, struct rules **out,
                                     struct wr_error *err);
void rules_free(struct rules *rules); /* NULL is allowed */

/* The key columns that message.key.columns gives `table` ("schema.table"); false: none. */
bool rules_key(const struct rules *rules, struct wr_slice table, const char ***columns,
               size_t *count);
/* The first mask or truncate rule for `column` ("schema.table.column"); NULL: none. */
const struct column_rule *rules_column(const struct rules *rules, struct wr_slice column);
/* How such a rule, where it is one, hashes; NULL: it does not. Lives as long as the rules. */
const struct column_hash *rules_column_hash(const struct rules *rules,
                                            const struct column_rule *rule);
/* Whether the schema of a column says its type; `datatype` is "schema.table.type". */
bool rules_propagate_type(const struct rules *rules, struct wr_slice column,
                          struct wr_slice datatype);
/* Whether that is so for any column. */
bool rules_ask_types(const struct rules *rules);

#endif /* WR_ROUTER_RULES_H */
