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
    wr_arena_free(inc->table.arena);
    if (inc->table.relation != NULL) {
        wr_arena_free(inc->table.relation->arena);
    }
    inc->table = (struct incremental_table){.row_limit = inc->r->config->incremental_chunk_size,
                                            .has_failed = inc->table.has_failed,
                                            .nulls_read = inc->table.nulls_read};
}

enum wr_status incremental_table_refuse(struct incremental *inc, const char *status_text,
                                        const struct wr_error *cause, struct wr_error *err)
{
    wr_log(WR_LOG_ERROR, "incremental", WR_MSG("a table is left out of its snapshot"),
           WR_STR("table", incremental_current(inc)->name), WR_STR("reason", cause->text));
    return incremental_table_over(inc, status_text, err);
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

static enum wr_status look_up(struct incremental *inc, struct wr_error *err)
{
    const struct incremental_item *item = incremental_current(inc);
    struct wr_error cause = {.status = WR_OK};
    enum wr_status status = describe(inc, &inc->table.target, &cause);

    if (status == WR_REJECT || status == WR_FATAL) {
        return incremental_table_refuse(
            inc, status == WR_REJECT ? "NO_PRIMARY_KEY" : "SQL_EXCEPTION", &cause, err);
    }
    if (status == WR_OK && inc->progress.max.count == 0) {
        wr_log(WR_LOG_INFO, "incremental", WR_MSG("table begins"), WR_STR("table", item->name),
               WR_STR("signal", item->id));
    }
    *err = cause;
    return status;
}

enum wr_status incremental_table_open(struct incremental *inc, struct wr_error *err)
{
    if (inc->table.arena == NULL) {
        inc->phase = INCREMENTAL_FINDING;
        return chunk_reader_list(inc->reader, err);
    }
    if (!inc->table.is_free) {
        inc->phase = INCREMENTAL_LOCKING;
        return chunk_reader_lock(inc->reader, inc->table.target.qualified, err);
    }
    return look_up(inc, err);
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
