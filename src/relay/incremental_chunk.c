/* A chunk, from the changes that pass while it is read to the rows of it that are published. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "relay/incremental_run.h"
#include "relay/state.h"
#include "relay/window.h"
#include "router/plan.h"
#include "router/record.h"
#include "streamer/chunk_reader.h"

enum {
    CHUNK_SIZE_WANTED = 8 << 20, /* bytes: fewer rows are asked for where they are large */
    REREAD_COUNT_MAX = 1 << 20,
};

static void add_reread(struct incremental *inc, const struct incremental_key *key)
{
    if (inc->progress.reread.count == REREAD_COUNT_MAX) {
        wr_log(WR_LOG_WARN, "incremental",
               WR_MSG("more rows have to be read again than can be remembered: large values of "
                      "some are missing"),
               WR_INT("rows", REREAD_COUNT_MAX));
        return;
    }
    incremental_keys_add(&inc->progress.reread, key);
}

/* Changes. */

/* What identifies the row of a tuple; `older` has what it leaves out as unchanged, or is NULL. */
static uint64_t key_of(const struct incremental *inc, const struct relation *relation,
                       const struct tuple *tuple, const struct tuple *older)
{
    uint64_t key = window_key_begin(inc->window);

    for (uint16_t i = 0; i < relation->column_count && i < tuple->column_count; i++) {
        const struct cell *cell = &tuple->cells[i];
        if (!relation->columns[i].is_key) {
            continue;
        }
        if (cell->kind == CELL_UNCHANGED && older != NULL) {
            cell = &older->cells[i];
        }
        key = window_key_add(key, cell->text, cell->kind != CELL_TEXT);
    }
    return key;
}

static bool leaves_out(const struct change *change)
{
    if (change->old_kind == OLD_ROW) {
        return false; /* the old row has it */
    }
    for (uint16_t i = 0; i < change->new_tuple.column_count; i++) {
        if (change->new_tuple.cells[i].kind == CELL_UNCHANGED) {
            return true;
        }
    }
    return false;
}

/* Nobody can say of every change that its record is published. Then a row is rather read again. */
static bool may_be_passed_over(const struct config *config)
{
    return config->skip_unchanged || config->transform_count > 0;
}

/* Where the column of that name stands; column_count: nowhere. */
static uint16_t place_of(const struct relation *relation, const char *name)
{
    uint16_t at = 0;

    while (at < relation->column_count && strcmp(relation->columns[at].name, name) != 0) {
        at++;
    }
    return at;
}

/* The place of each column to go by. Before the table is looked up it is known by its plan. */
static uint16_t find_key(const struct incremental *inc, const struct relation *relation,
                         uint16_t places[INCREMENTAL_KEY_MAX])
{
    const struct incremental_item *item = incremental_current(inc);
    const struct route_plan *plan = relation->plan;
    uint16_t count = 0;

    if (inc->table.chunks != NULL) {
        for (; count < chunk_table_key_count(inc->table.chunks); count++) {
            places[count] = place_of(relation, chunk_table_key_name(inc->table.chunks, count));
        }
    } else if (item->surrogate_key != NULL) {
        places[count++] = place_of(relation, item->surrogate_key);
    } else {
        for (; count < plan->key_column_count && count < INCREMENTAL_KEY_MAX; count++) {
            places[count] = plan->key_columns[count]->index;
        }
    }
    return count;
}

/* The values of the columns to go by, where the row has them all. */
static bool key_texts(const struct incremental *inc, const struct change *change,
                      struct incremental_key *out)
{
    uint16_t places[INCREMENTAL_KEY_MAX];
    uint16_t count = find_key(inc, change->relation, places);

    for (uint16_t i = 0; i < count; i++) {
        if (places[i] >= change->new_tuple.column_count ||
            change->new_tuple.cells[places[i]].kind != CELL_TEXT) {
            incremental_key_done(out);
            return false;
        }
        struct wr_slice text = change->new_tuple.cells[places[i]].text;
        out->texts[out->count] = strndup(text.data, text.size);
        if (out->texts[out->count++] == NULL) {
            abort();
        }
    }
    return count > 0;
}

/*
 * A row that moved, without a large value that did not change: its record under the new key lacks
 * that value, and no chunk may come by there any more. That is noted in the transaction of the
 * change, which does not come again.
 */
static enum wr_status reread_moved(struct incremental *inc, const struct change *change,
                                   struct wr_error *err)
{
    struct incremental_key key = {.count = 0};

    const struct incremental_item *item = incremental_current(inc);

    if (item == NULL || intake_tag_of(inc->r->intake, item->name) != change->relation->tag ||
        !key_texts(inc, change, &key)) {
        return WR_OK;
    }
    add_reread(inc, &key);
    incremental_key_done(&key);
    return incremental_remember(inc, err);
}

static enum wr_status note_update(struct incremental *inc, const struct change *change,
                                  bool is_certain, struct wr_error *err)
{
    const struct relation *relation = change->relation;
    const struct tuple *old = change->old_kind == OLD_NONE ? NULL : &change->old_tuple;
    uint64_t key = key_of(inc, relation, &change->new_tuple, old);
    bool is_whole = is_certain && !leaves_out(change);

    window_note(inc->window, change->source.xid, relation->tag, key, is_whole);
    if (old == NULL) {
        return WR_OK;
    }
    uint64_t old_key = key_of(inc, relation, old, NULL);
    if (old_key == key) {
        return WR_OK;
    }
    window_note(inc->window, change->source.xid, relation->tag, old_key, is_certain);
    return leaves_out(change) ? reread_moved(inc, change, err) : WR_OK;
}

enum wr_status incremental_note_change(struct incremental *inc, const struct change *change,
                                       struct wr_error *err)
{
    const struct config *config = inc->r->config;
    const struct relation *relation = change->relation;
    bool is_certain = !may_be_passed_over(config);
    uint32_t xid = change->source.xid;

    if (!inc->is_watched[relation->tag]) {
        return WR_OK;
    }
    switch (change->op) {
    case OP_CREATE:
        if (!config->skip_create) {
            window_note(inc->window, xid, relation->tag,
                        key_of(inc, relation, &change->new_tuple, NULL), is_certain);
        }
        break;
    case OP_UPDATE:
        if (!config->skip_update) {
            return note_update(inc, change, is_certain, err);
        }
        break;
    case OP_DELETE:
        if (!config->skip_delete) {
            window_note(inc->window, xid, relation->tag,
                        key_of(inc, relation, &change->old_tuple, NULL), is_certain);
        }
        break;
    case OP_TRUNCATE:
        window_note_truncate(inc->window, xid, relation->tag);
        break;
    case OP_READ:
        break;
    }
    return WR_OK;
}

/* Publishing. */

/* Of a row of the chunk, from the columns behind those of the relation; nothing for a null. */
static void key_of_row(const struct incremental *inc, size_t row, struct incremental_key *out)
{
    uint16_t column = chunk_table_column_count(inc->table.chunks);
    uint16_t count = chunk_table_key_count(inc->table.chunks);
    struct incremental_key key = {.count = 0};

    for (uint16_t i = 0; i < count; i++) {
        const char *text = chunk_reader_value(inc->reader, row, (uint16_t)(column + i));
        if (text == NULL) {
            incremental_key_done(&key);
            break;
        }
        key.texts[key.count] = strdup(text);
        if (key.texts[key.count++] == NULL) {
            abort();
        }
    }
    incremental_key_done(out);
    *out = key;
}

static void add_rows(struct incremental *inc)
{
    const struct relation *relation = inc->table.relation;
    struct tuple row = {.column_count = relation->column_count, .cells = inc->cells};

    window_chunk_begin(inc->window, inc->table.tag);
    for (size_t i = 0; i < chunk_reader_row_count(inc->reader); i++) {
        chunk_reader_cells(inc->reader, i, row.column_count, row.cells);
        window_chunk_add(inc->window, key_of(inc, relation, &row, NULL));
    }
}

static bool judge(struct incremental *inc)
{
    struct window_snapshot snapshot;

    if (!window_snapshot_parse(chunk_reader_snapshot(inc->reader), &snapshot)) {
        return false;
    }
    add_rows(inc);
    bool is_judged = window_chunk_judge(inc->window, &snapshot);
    window_snapshot_done(&snapshot);
    return is_judged;
}

static enum wr_status publish_rows(struct incremental *inc, struct wr_error *err)
{
    struct tuple row = {.column_count = inc->table.relation->column_count, .cells = inc->cells};
    enum wr_status status = WR_OK;
    struct incremental_key key = {.count = 0};

    for (size_t i = 0; status == WR_OK && i < chunk_reader_row_count(inc->reader); i++) {
        switch (window_chunk_verdict(inc->window, i)) {
        case WINDOW_KEEP:
            chunk_reader_cells(inc->reader, i, row.column_count, row.cells);
            status = intake_incremental_row(inc->r->intake, inc->table.relation, &row, err);
            break;
        case WINDOW_DROP:
            break;
        case WINDOW_REREAD:
            key_of_row(inc, i, &key);
            add_reread(inc, &key);
            break;
        }
    }
    incremental_key_done(&key);
    return status;
}

/* How many rows fit what a chunk may be. */
static int64_t next_limit(const struct incremental *inc)
{
    size_t rows = chunk_reader_row_count(inc->reader);
    int64_t most = inc->r->config->incremental_chunk_size;

    if (rows == 0) {
        return most;
    }
    int64_t fitting = (int64_t)(CHUNK_SIZE_WANTED / (chunk_reader_size(inc->reader) / rows + 1));
    return fitting > most ? most : fitting < 1 ? 1 : fitting;
}

static bool keys_equal(const struct incremental_key *a, const struct incremental_key *b)
{
    for (uint16_t i = 0; i < a->count; i++) {
        if (i >= b->count || strcmp(a->texts[i], b->texts[i]) != 0) {
            return false;
        }
    }
    return a->count == b->count;
}

/* The place behind the chunk, and whether another one can follow. */
static void advance(struct incremental *inc, size_t row_count)
{
    struct incremental_progress *progress = &inc->progress;

    inc->was_reread = inc->reread_count > 0;
    inc->reread_count = 0;
    if (inc->was_reread) {
        return;
    }
    if (progress->is_behind_max) {
        inc->table.nulls_read = true;
        return;
    }
    if (row_count > 0) {
        key_of_row(inc, row_count - 1, &progress->last);
    }
    progress->is_behind_max =
        row_count < (size_t)inc->table.row_limit || keys_equal(&progress->last, &progress->max);
    inc->table.row_limit = next_limit(inc);
}

static enum wr_status publish(struct incremental *inc, struct wr_error *err)
{
    size_t row_count = chunk_reader_row_count(inc->reader);
    size_t asked = inc->reread_count;
    struct incremental_key last = {.count = 0};
    enum wr_status status = WR_OK;

    if (row_count > 0 && asked == 0) {
        inc->progress.row_count += row_count;
        key_of_row(inc, row_count - 1, &last);
        status = incremental_tell_progress(inc, &last, err);
        incremental_key_done(&last);
    }
    if (status == WR_OK) {
        status = publish_rows(inc, err);
    }
    if (status != WR_OK) {
        return status;
    }
    incremental_keys_drop(&inc->progress.reread, asked);
    advance(inc, row_count);
    inc->table.has_failed = false;
    return incremental_note_with_rows(inc, err);
}

/* The table looks otherwise than what the rows were read as. */
static bool has_changed(const struct incremental *inc)
{
    return inc->table.has_changed ||
           strcmp(chunk_reader_shape(inc->reader), chunk_table_shape(inc->table.chunks)) != 0;
}

static enum wr_status finish_reading(struct incremental *inc, struct wr_error *err)
{
    return chunk_reader_is_busy(inc->reader) ? chunk_reader_finish(inc->reader, err) : WR_OK;
}

enum wr_status incremental_publish(struct incremental *inc, struct wr_error *err)
{
    enum wr_status status = finish_reading(inc, err);

    inc->mark[0] = '\0';
    inc->phase = INCREMENTAL_IDLE;
    if (status == WR_RETRY) {
        incremental_lose_reader(inc, err);
        return WR_OK;
    }
    if (status != WR_OK) {
        return status;
    }
    if (has_changed(inc)) {
        wr_log(WR_LOG_INFO, "incremental", WR_MSG("the table was changed: a chunk is read again"),
               WR_STR("table", incremental_current(inc)->name));
        incremental_void_chunk(inc);
        incremental_forget_table(inc);
        return WR_OK;
    }
    if (!judge(inc)) {
        incremental_void_chunk(inc);
        return WR_OK;
    }
    return publish(inc, err);
}
