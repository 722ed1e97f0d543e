#include "router/filter.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/regex.h"
#include "config/config.h"

/* At most one of the two is set; with neither, everything passes. */
struct pair {
    struct wr_regex_list *include;
    struct wr_regex_list *exclude;
};

struct filter {
    struct pair schemas;
    struct pair tables;
    struct pair columns;
    struct pair prefixes;
    const char *signal_table; /* captured whatever the lists say, as in Debezium; or NULL */
    struct wr_buffer name;    /* the dotted name being matched */
};

static enum wr_status pair_new(struct pair *pair, const char *include, const char *exclude,
                               struct wr_error *err)
{
    enum wr_status status = WR_OK;

    if (include != NULL) {
        status = wr_regex_list_new(include, &pair->include, err);
    }
    if (status == WR_OK && exclude != NULL) {
        status = wr_regex_list_new(exclude, &pair->exclude, err);
    }
    return status;
}

static void pair_done(struct pair *pair)
{
    wr_regex_list_free(pair->include);
    wr_regex_list_free(pair->exclude);
}

static bool pair_passes(const struct pair *pair, struct wr_slice name)
{
    if (pair->include != NULL && !wr_regex_list_matches(pair->include, name)) {
        return false;
    }
    return pair->exclude == NULL || !wr_regex_list_matches(pair->exclude, name);
}

enum wr_status filter_new(const struct config *config, struct filter **out, struct wr_error *err)
{
    struct filter *f = calloc(1, sizeof(*f));

    if (f == NULL) {
        abort();
    }
    f->signal_table = config->signal_by_table ? config->signal_table : NULL;
    wr_buffer_init(&f->name, 4096); /* three identifiers of at most 63 bytes and two dots */
    enum wr_status status =
        pair_new(&f->schemas, config->schema_include_list, config->schema_exclude_list, err);
    if (status == WR_OK) {
        status = pair_new(&f->tables, config->table_include_list, config->table_exclude_list, err);
    }
    if (status == WR_OK) {
        status =
            pair_new(&f->columns, config->column_include_list, config->column_exclude_list, err);
    }
    if (status == WR_OK) {
        status = pair_new(&f->prefixes, config->message_prefix_include_list,
                          config->message_prefix_exclude_list, err);
    }
    if (status != WR_OK) {
        filter_free(f);
        f = NULL;
    }
    *out = f;
    return status;
}

void filter_free(struct filter *filter)
{
    if (filter == NULL) {
        return;
    }
    pair_done(&filter->schemas);
    pair_done(&filter->tables);
    pair_done(&filter->columns);
    pair_done(&filter->prefixes);
    wr_buffer_done(&filter->name);
    free(filter);
}

/* The name buffer is scratch: filling it does not change what the filter is. */
static struct wr_slice dotted(const struct filter *filter, const char *schema, const char *table,
                              const char *column)
{
    struct wr_buffer *name = &((struct filter *)(uintptr_t)filter)->name;

    wr_buffer_reset(name);
    wr_buffer_add_str(name, schema);
    wr_buffer_add_char(name, '.');
    wr_buffer_add_str(name, table);
    if (column != NULL) {
        wr_buffer_add_char(name, '.');
        wr_buffer_add_str(name, column);
    }
    return wr_buffer_slice(name);
}

bool filter_has_table(const struct filter *filter, const char *schema, const char *table)
{
    struct wr_slice name = wr_slice_str(schema);

    if (wr_slice_is(name, "pg_catalog") || wr_slice_is(name, "information_schema")) {
        return false;
    }
    struct wr_slice whole = dotted(filter, schema, table, NULL);
    if (filter->signal_table != NULL && wr_slice_is(whole, filter->signal_table)) {
        return true;
    }
    return pair_passes(&filter->schemas, name) && pair_passes(&filter->tables, whole);
}

bool filter_has_column(const struct filter *filter, const char *schema, const char *table,
                       const char *column)
{
    if (filter->columns.include == NULL && filter->columns.exclude == NULL) {
        return true;
    }
    return pair_passes(&filter->columns, dotted(filter, schema, table, column));
}

bool filter_has_prefix(const struct filter *filter, const char *prefix)
{
    return pair_passes(&filter->prefixes, wr_slice_str(prefix));
}
