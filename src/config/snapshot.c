#include <string.h>

#include "config/loader.h"
#include "config/property.h"

/* What the properties of the initial snapshot mean together. */

static const char LIST_KEY[] = "snapshot.select.statement.overrides";

/* Without blanks around it and without the semicolon behind it, as it becomes part of a COPY. */
void set_snapshot_select(struct loader *l, const struct property_match *match,
                         const struct entry *e, void *base)
{
    struct config *config = base;
    struct wr_slice select = loader_trim(wr_slice_str(e->value));

    while (select.size > 0 && select.data[select.size - 1] == ';') {
        select = loader_trim((struct wr_slice){select.data, select.size - 1});
    }
    loader_pair_set(l, &config->snapshot_selects, loader_copy(l, match->wildcard),
                    loader_copy(l, select));
}

static bool is_listed(const struct entry *list, const char *table)
{
    struct wr_slice left = wr_slice_str(list == NULL ? "" : list->value);
    struct wr_slice item = {0};

    while (loader_take_item(&left, ',', &item)) {
        if (wr_slice_eq(item, wr_slice_str(table))) {
            return true;
        }
    }
    return false;
}

static bool has_select(const struct config *config, struct wr_slice table)
{
    for (size_t i = 0; i < config->snapshot_selects.count; i++) {
        if (wr_slice_eq(wr_slice_str(config->snapshot_selects.items[i].name), table)) {
            return true;
        }
    }
    return false;
}

/* A statement that is not listed has no effect in Debezium, and is no mistake there. */
static void keep_listed_selects(struct loader *l)
{
    struct config_pairs *selects = &l->config->snapshot_selects;
    const struct entry *list = loader_find(l, LIST_KEY);
    struct wr_slice left = wr_slice_str(list == NULL ? "" : list->value);
    struct wr_slice item = {0};
    size_t kept = 0;

    while (loader_take_item(&left, ',', &item)) {
        if (item.size > 0 && !has_select(l->config, item)) {
            loader_problem(l, list, "names %.*s, but %s.%.*s is missing", (int)item.size, item.data,
                           LIST_KEY, (int)item.size, item.data);
        }
    }
    for (size_t i = 0; i < selects->count; i++) {
        if (is_listed(list, selects->items[i].name)) {
            selects->items[kept++] = selects->items[i];
        }
    }
    selects->count = kept;
}

/* configuration_based is one of the other modes, spelled out. */
static void settle_mode(struct loader *l)
{
    const struct snapshot_switches *switches = &l->config->snapshot_switches;

    if (l->config->snapshot_mode != SNAPSHOT_CONFIGURATION_BASED) {
        return;
    }
    if (!switches->stream && !switches->data) {
        loader_problem(l, loader_find(l, "snapshot.mode"),
                       "does nothing without snapshot.mode.configuration.based.snapshot.data=true "
                       "or snapshot.mode.configuration.based.start.stream=true");
        return;
    }
    if (!switches->stream) {
        l->config->snapshot_mode = SNAPSHOT_INITIAL_ONLY;
    } else if (!switches->data) {
        l->config->snapshot_mode = SNAPSHOT_NO_DATA;
    } else {
        l->config->snapshot_mode =
            switches->on_data_error ? SNAPSHOT_WHEN_NEEDED : SNAPSHOT_INITIAL;
    }
}

void snapshot_check(struct loader *l)
{
    keep_listed_selects(l);
    settle_mode(l);
}
