#include "relay/reselect.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/regex.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "router/change.h"
#include "router/plan.h"
#include "streamer/catalog_pg.h"

struct reselect {
    const struct reselect_config *config;
    struct catalog *catalog;
    struct wr_regex_list *include, *exclude; /* NULL: none */
    /* Of the change at hand. */
    struct row_query query;
    const char *columns[WR_COLUMN_COUNT_MAX];
    const char *keys[WR_COLUMN_COUNT_MAX];
    const char *key_values[WR_COLUMN_COUNT_MAX];
    struct cell *cells[WR_COLUMN_COUNT_MAX]; /* that the answer goes to */
    struct row_value values[WR_COLUMN_COUNT_MAX];
};

enum wr_status reselect_new(const struct config *config, struct catalog *catalog,
                            struct reselect **out, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    *out = NULL;
    if (!config->reselect.is_enabled) {
        return WR_OK;
    }
    struct reselect *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        abort();
    }
    r->config = &config->reselect;
    r->catalog = catalog;
    if (r->config->include != NULL) {
        status = wr_regex_list_new(r->config->include, &r->include, err);
    }
    if (status == WR_OK && r->config->exclude != NULL) {
        status = wr_regex_list_new(r->config->exclude, &r->exclude, err);
    }
    if (status != WR_OK) {
        reselect_free(r);
        return status;
    }
    *out = r;
    return WR_OK;
}

void reselect_free(struct reselect *r)
{
    if (r != NULL) {
        wr_regex_list_free(r->include);
        wr_regex_list_free(r->exclude);
        free(r);
    }
}

/* By "schema.table:column", as Debezium spells it. */
static bool is_selected(const struct reselect *r, const struct relation *relation,
                        const char *column)
{
    char name[3 * 64 + 3];

    (void)snprintf(name, sizeof(name), "%s.%s:%s", relation->schema, relation->table, column);
    if (r->include != NULL) {
        return wr_regex_list_matches(r->include, wr_slice_str(name));
    }
    return r->exclude == NULL || !wr_regex_list_matches(r->exclude, wr_slice_str(name));
}

/* Nobody has the value: neither this row nor, under replica identity FULL, the old one. */
static bool is_unavailable(const struct change *change, uint16_t index)
{
    return change->new_tuple.cells[index].kind == CELL_UNCHANGED &&
           (change->old_kind != OLD_ROW || change->old_tuple.cells[index].kind == CELL_UNCHANGED);
}

static void choose_columns(struct reselect *r, const struct change *change)
{
    const struct route_plan *plan = change->relation->plan;

    r->query.column_count = 0;
    for (size_t i = 0; i < plan->value_column_count; i++) {
        uint16_t index = plan->value_columns[i]->index;
        struct cell *cell = &change->new_tuple.cells[index];
        const char *name = change->relation->columns[index].name;
        bool is_wanted = (r->config->unavailable_values && is_unavailable(change, index)) ||
                         (r->config->null_values && cell->kind == CELL_NULL);
        if (is_wanted && is_selected(r, change->relation, name)) {
            r->columns[r->query.column_count] = name;
            r->cells[r->query.column_count++] = cell;
        }
    }
}

/* False: the row has no key that could be asked for. WR_FATAL in `status`: no room. */
static bool make_key(struct reselect *r, const struct change *change, struct wr_arena *scratch)
{
    const struct route_plan *plan = change->relation->plan;

    for (size_t i = 0; i < plan->key_column_count; i++) {
        uint16_t index = plan->key_columns[i]->index;
        const struct cell *cell = &change->new_tuple.cells[index];
        if (cell->kind != CELL_TEXT) {
            return false;
        }
        r->keys[i] = change->relation->columns[index].name;
        r->key_values[i] = wr_arena_strndup(scratch, cell->text.data, cell->text.size);
        if (r->key_values[i] == NULL) {
            return false;
        }
    }
    r->query.key_count = plan->key_column_count;
    return plan->key_column_count > 0;
}

/* What could not be read stays as it was sent. */
static enum wr_status miss(const struct reselect *r, const struct change *change,
                           const char *reason, struct wr_error *err)
{
    if (r->config->fails) {
        return wr_fail(err, WR_REJECT, "reselect", "%s.%s: %s", change->relation->schema,
                       change->relation->table, reason);
    }
    wr_log(WR_LOG_WARN, "reselect", WR_MSG("columns could not be read again"),
           WR_STR("table", change->relation->table), WR_STR("reason", reason),
           WR_LSN("lsn", change->source.lsn));
    return WR_OK;
}

static void take_values(struct reselect *r)
{
    for (size_t i = 0; i < r->query.column_count; i++) {
        const struct row_value *value = &r->values[i];
        *r->cells[i] =
            (struct cell){.kind = value->is_null ? CELL_NULL : CELL_TEXT, .text = value->text};
    }
}

enum wr_status reselect_fill(struct reselect *r, const struct change *change,
                             struct wr_arena *scratch, struct wr_error *err)
{
    bool is_found = false;

    if (r == NULL || !change->relation->plan->is_captured ||
        (change->op != OP_CREATE && change->op != OP_UPDATE)) {
        return WR_OK;
    }
    choose_columns(r, change);
    if (r->query.column_count == 0 || !make_key(r, change, scratch)) {
        return WR_OK;
    }
    r->query.schema = change->relation->schema;
    r->query.table = change->relation->table;
    r->query.columns = r->columns;
    r->query.keys = r->keys;
    r->query.key_values = r->key_values;
    enum wr_status status =
        catalog_select_row(r->catalog, &r->query, scratch, r->values, &is_found, err);
    if (status == WR_FATAL) {
        struct wr_error inner = *err;
        return miss(r, change, inner.text, err);
    }
    if (status != WR_OK) {
        return status;
    }
    if (!is_found) {
        return miss(r, change, "there is no such row any more", err);
    }
    take_values(r);
    return WR_OK;
}
