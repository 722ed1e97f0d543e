/* A table of an incremental snapshot, from its name to its end. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/log.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "relay/incremental_run.h"
#include "relay/state.h"
#include "relay/table_tags.h"
#include "streamer/chunk_reader.h"

void incremental_forget_table(struct incremental *inc)
{
    chunk_table_free(inc->table.chunks);
    if (inc->table.relation != NULL) {
        wr_arena_free(inc->table.relation->arena);
    }
    inc->table = (struct incremental_table){.row_limit = inc->r->config->incremental_chunk_size,
                                            .has_failed = inc->table.has_failed,
                                            .nulls_read = inc->table.nulls_read};
}

/* The name that was asked for, among those that are published and captured. */
struct lookup {
    struct incremental *inc;
    const struct incremental_item *item;
    bool is_found;
    struct wr_error err;
    enum wr_status status;
    struct wr_arena *arena;
    struct chunk_target target;
};

static bool is_wanted(void *context, const char *schema, const char *table)
{
    const struct lookup *lookup = context;
    size_t size = strlen(schema);

    return relay_captures(lookup->inc->r, schema, table) &&
           strncmp(lookup->item->name, schema, size) == 0 && lookup->item->name[size] == '.' &&
           strcmp(lookup->item->name + size + 1, table) == 0;
}

static void take_found(void *context, const struct chunk_found *found)
{
    struct lookup *lookup = context;

    lookup->is_found = true;
    lookup->target = (struct chunk_target){
        .oid = found->oid,
        .qualified = wr_arena_strdup(lookup->arena, found->qualified),
        .row_filter =
            found->row_filter == NULL ? NULL : wr_arena_strdup(lookup->arena, found->row_filter),
        .condition = lookup->item->condition,
        .surrogate_key = lookup->item->surrogate_key,
    };
}

static enum wr_status describe(struct incremental *inc, const struct chunk_target *target,
                               struct wr_error *err)
{
    struct incremental_table *table = &inc->table;
    enum wr_status status =
        chunk_reader_describe(inc->reader, target, &table->chunks, &table->relation, err);

    if (status == WR_OK) {
        status = intake_incremental_table(inc->r->intake, table->relation, err);
    }
    if (status != WR_OK) {
        incremental_forget_table(inc);
        return status;
    }
    table->oid = target->oid;
    table->tag = table->relation->tag;
    return table->tag == 0
               ? wr_fail(err, WR_REJECT, "incremental", "table %s: more tables than %d have passed",
                         target->qualified, TABLE_TAG_COUNT_MAX)
               : WR_OK;
}

enum wr_status incremental_table_refuse(struct incremental *inc, const char *status_text,
                                        const struct wr_error *cause, struct wr_error *err)
{
    wr_log(WR_LOG_ERROR, "incremental", WR_MSG("a table is left out of its snapshot"),
           WR_STR("table", incremental_current(inc)->name), WR_STR("reason", cause->text));
    return incremental_table_over(inc, status_text, err);
}

enum wr_status incremental_table_open(struct incremental *inc, struct wr_error *err)
{
    struct lookup lookup = {.inc = inc, .item = incremental_current(inc)};
    struct table_filter filter = {.context = &lookup, .is_captured = is_wanted};
    bool is_of_key = false;

    incremental_forget_table(inc);
    lookup.arena = wr_arena_new(WR_RELATION_SIZE_MAX);
    enum wr_status status = chunk_reader_list(inc->reader, &filter, &lookup, take_found, err);
    if (status == WR_OK && lookup.is_found) {
        is_of_key = true;
        status = lookup.target.qualified == NULL
                     ? wr_fail(err, WR_REJECT, "incremental", "its name is too large")
                     : describe(inc, &lookup.target, err);
    } else if (status == WR_OK) {
        struct wr_error cause;
        (void)wr_fail(&cause, WR_REJECT, "incremental",
                      "it is not captured, or not in the publication");
        wr_arena_free(lookup.arena);
        return incremental_table_refuse(inc, "UNKNOWN_SCHEMA", &cause, err);
    }
    wr_arena_free(lookup.arena);
    if (status == WR_REJECT || status == WR_FATAL) {
        struct wr_error cause = *err;
        return incremental_table_refuse(
            inc, is_of_key && status == WR_REJECT ? "NO_PRIMARY_KEY" : "SQL_EXCEPTION", &cause,
            err);
    }
    if (status == WR_OK && inc->progress.max.count == 0) {
        wr_log(WR_LOG_INFO, "incremental", WR_MSG("table begins"),
               WR_STR("table", lookup.item->name), WR_STR("signal", lookup.item->id));
    }
    return status;
}

enum wr_status incremental_table_over(struct incremental *inc, const char *status_text,
                                      struct wr_error *err)
{
    const struct incremental_item *item = incremental_current(inc);
    uint64_t serial = item->serial;
    uint64_t run = item->run;

    wr_log(WR_LOG_INFO, "incremental", WR_MSG("table is complete"), WR_STR("table", item->name),
           WR_STR("status", status_text), WR_INT("rows", inc->progress.row_count));
    enum wr_status status = incremental_tell_table(inc, status_text, err);
    if (status != WR_OK) {
        return status;
    }
    incremental_forget_table(inc);
    inc->table.has_failed = inc->table.nulls_read = false;
    incremental_progress_done(&inc->progress);
    inc->progress.serial = serial + 1;
    const struct incremental_item *next = incremental_current(inc);
    if (next == NULL || next->run != run) {
        status = incremental_tell_run(inc, "COMPLETED", item->id, run, false, err);
    }
    return status == WR_OK ? incremental_note_with_rows(inc, err) : status;
}
