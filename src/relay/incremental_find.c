/* From what a signal names to the tables that there are, once the server has listed them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/regex.h"
#include "config/config.h"
#include "config/json_tree.h"
#include "relay/incremental_run.h"
#include "relay/state.h"
#include "streamer/chunk_reader.h"

enum { NAME_SIZE_MAX = 256, CONDITIONS_SIZE_MAX = 32 << 20, GRANTS_SIZE_MAX = 4096 };

/* Of a table that may be read; false for one that may not. */
static bool name_of(const struct incremental *inc, const struct chunk_found *found,
                    char out[NAME_SIZE_MAX])
{
    const char *signal_table = inc->r->config->signal_table;

    (void)snprintf(out, NAME_SIZE_MAX, "%s.%s", found->schema, found->table);
    return relay_captures(inc->r, found->schema, found->table) &&
           (signal_table == NULL || strcmp(signal_table, out) != 0);
}

/* One table. */

static const char *copy_of(struct wr_arena *arena, const char *text)
{
    const char *copy = text == NULL ? NULL : wr_arena_strdup(arena, text);

    if (copy == NULL && text != NULL) {
        abort(); /* PostgreSQL's own texts of a table fit what a table's plan may be */
    }
    return copy;
}

static void take_target(struct incremental *inc, const struct chunk_found *found)
{
    const struct incremental_item *item = incremental_current(inc);
    struct wr_arena *arena = wr_arena_new(WR_RELATION_SIZE_MAX);

    incremental_forget_table(inc);
    inc->table.arena = arena;
    inc->table.target = (struct chunk_target){
        .oid = found->oid,
        .qualified = copy_of(arena, found->qualified),
        .row_filter = copy_of(arena, found->row_filter),
        .condition = item->condition,
        .surrogate_key = item->surrogate_key,
    };
}

static enum wr_status find_table(struct incremental *inc, struct wr_error *err)
{
    const char *wanted = incremental_current(inc)->name;
    struct wr_error cause;
    char name[NAME_SIZE_MAX];

    for (size_t i = 0; i < chunk_reader_row_count(inc->reader); i++) {
        struct chunk_found found = chunk_reader_found(inc->reader, i);
        if (!name_of(inc, &found, name) || strcmp(name, wanted) != 0) {
            continue;
        }
        if (found.grants[0] == '\0') {
            take_target(inc, &found);
            return WR_OK;
        }
        (void)wr_fail(&cause, WR_REJECT, "incremental", "it may not be read; run: %s",
                      found.grants);
        return incremental_table_refuse(inc, "SQL_EXCEPTION", &cause, err);
    }
    (void)wr_fail(&cause, WR_REJECT, "incremental",
                  "it is not captured, or not in the publication");
    return incremental_table_refuse(inc, "UNKNOWN_SCHEMA", &cause, err);
}

/* Expressions. */

struct expansion {
    struct incremental *inc;
    struct wr_arena *arena;
    const struct incremental_item *first; /* of the run: its texts are those of all */
    struct json_tree conditions;
    struct incremental_item *items;
    size_t count;
};

/* The first condition whose expression, of any case, is the table. */
static const char *condition_of(const struct expansion *e, const char *name)
{
    for (size_t i = 0; i < e->conditions.count; i++) {
        const struct json_tree *pair = &e->conditions.items[i];
        struct wr_regex *regex = NULL;
        struct wr_error err;
        if (pair->count != 2 || wr_regex_new(pair->items[0].string, true, &regex, &err) != WR_OK) {
            continue; /* it was checked when the signal came */
        }
        bool is_match = wr_regex_matches(regex, wr_slice_str(name));
        wr_regex_free(regex);
        if (is_match) {
            return pair->items[1].string;
        }
    }
    return NULL;
}

static void add(struct expansion *e, const char *name)
{
    for (size_t i = 0; i < e->count; i++) {
        if (strcmp(e->items[i].name, name) == 0) {
            return;
        }
    }
    e->items = reallocarray(e->items, e->count + 1, sizeof(*e->items));
    const char *copy = wr_arena_strdup(e->arena, name);
    if (e->items == NULL || copy == NULL) {
        abort();
    }
    e->items[e->count++] = (struct incremental_item){
        .run = e->first->run,
        .id = e->first->id,
        .name = copy,
        .condition = condition_of(e, name),
        .surrogate_key = e->first->surrogate_key,
    };
}

/* One that nothing matches stays as it is, to be told of as unknown. */
static void expand_one(struct expansion *e, const char *expression)
{
    struct wr_regex *regex = NULL;
    struct wr_error err;
    char name[NAME_SIZE_MAX];
    bool is_matched = false;

    if (wr_regex_new(expression, false, &regex, &err) == WR_OK) {
        for (size_t i = 0; i < chunk_reader_row_count(e->inc->reader); i++) {
            struct chunk_found found = chunk_reader_found(e->inc->reader, i);
            if (name_of(e->inc, &found, name) && wr_regex_matches(regex, wr_slice_str(name))) {
                add(e, name);
                is_matched = true;
            }
        }
    }
    wr_regex_free(regex);
    if (!is_matched) {
        add(e, expression);
    }
}

/* From here on the changes of these tables have to be noted. */
static enum wr_status expand(struct incremental *inc, struct wr_error *err)
{
    struct expansion e = {
        .inc = inc, .arena = wr_arena_new(CONDITIONS_SIZE_MAX), .first = incremental_current(inc)};
    uint64_t run = e.first->run;

    if (e.first->condition != NULL) {
        (void)json_tree_read(wr_slice_str(e.first->condition), e.arena, &e.conditions);
    }
    for (size_t i = 0; i < inc->state.count; i++) {
        if (inc->state.items[i].run == run && inc->state.items[i].is_expression &&
            inc->state.items[i].serial >= inc->progress.serial) {
            expand_one(&e, inc->state.items[i].name);
        }
    }
    wr_log(WR_LOG_INFO, "incremental", WR_MSG("snapshot begins"), WR_STR("signal", e.first->id),
           WR_INT("tables", e.count));
    incremental_state_expand(&inc->state, inc->progress.serial, e.items, e.count);
    free(e.items);
    wr_arena_free(e.arena);
    const struct incremental_item *item = incremental_current(inc);
    incremental_begin_notes(inc);
    enum wr_status status = incremental_remember(inc, err);
    return status == WR_OK ? incremental_tell_run(inc, "STARTED", item->id, run, true, err)
                           : status;
}

enum wr_status incremental_found(struct incremental *inc, struct wr_error *err)
{
    return incremental_current(inc)->is_expression ? expand(inc, err) : find_table(inc, err);
}
