/* What signals ask for; and the stream, as it passes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/regex.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "relay/incremental_run.h"
#include "relay/message_signal.h"
#include "relay/signal.h"
#include "relay/state.h"
#include "router/record.h"
#include "streamer/chunk_reader.h"

enum { SIGNAL_SIZE_MAX = 16 << 20, NAME_SIZE_MAX = 256 };

static void free_patterns(struct wr_regex **patterns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wr_regex_free(patterns[i]);
    }
    free(patterns);
}

/* The collections of a signal as expressions. One that is none is an error of who sent it. */
static enum wr_status make_patterns(const struct signal *signal, struct wr_regex ***out,
                                    struct wr_error *err)
{
    enum wr_status status = WR_OK;

    *out = calloc(signal->collection_count + 1, sizeof(**out));
    if (*out == NULL) {
        abort();
    }
    for (size_t i = 0; status == WR_OK && i < signal->collection_count; i++) {
        status = wr_regex_new(signal->collections[i], false, &(*out)[i], err);
    }
    if (status == WR_OK) {
        return WR_OK;
    }
    free_patterns(*out, signal->collection_count);
    err->status = WR_REJECT;
    return WR_REJECT;
}

/* The conditions are an expression's text until it is known which tables there are. */
static void write_conditions(const struct signal *signal, struct wr_buffer *out)
{
    wr_buffer_add_char(out, '[');
    for (size_t i = 0; i < signal->condition_count; i++) {
        wr_buffer_add_str(out, i == 0 ? "[" : ",[");
        wr_json_string(out, wr_slice_str(signal->conditions[i].collection));
        wr_buffer_add_char(out, ',');
        wr_json_string(out, wr_slice_str(signal->conditions[i].filter));
        wr_buffer_add_char(out, ']');
    }
    WR_BUFFER_LITERAL(out, "]");
    wr_buffer_add_char(out, '\0');
}

static enum wr_status check_conditions(const struct signal *signal, struct wr_error *err)
{
    for (size_t i = 0; i < signal->condition_count; i++) {
        struct wr_regex *regex = NULL;
        enum wr_status status = wr_regex_new(signal->conditions[i].collection, true, &regex, err);
        wr_regex_free(regex);
        if (status != WR_OK) {
            err->status = WR_REJECT;
            return WR_REJECT;
        }
    }
    return WR_OK;
}

static void queue(struct incremental *inc, const struct signal *signal, const char *conditions)
{
    uint64_t run = ++inc->next_run;

    for (size_t i = 0; i < signal->collection_count; i++) {
        incremental_state_add(&inc->state, &(struct incremental_item){
                                               .run = run,
                                               .is_expression = true,
                                               .id = signal->id,
                                               .name = signal->collections[i],
                                               .condition = conditions,
                                               .surrogate_key = signal->surrogate_key,
                                           });
    }
}

/* Which tables there are is asked for when it is its turn: here nothing may wait. */
static enum wr_status execute(struct incremental *inc, const struct signal *signal,
                              struct wr_error *err)
{
    struct wr_regex **patterns = NULL;
    struct wr_buffer conditions = {0};

    if (signal->is_blocking) {
        return wr_fail(err, WR_REJECT, "signal",
                       "execute-snapshot: a blocking snapshot is not supported; an incremental one "
                       "reads tables without a primary key with surrogate-key");
    }
    enum wr_status status = make_patterns(signal, &patterns, err);
    if (status != WR_OK) {
        return status;
    }
    free_patterns(patterns, signal->collection_count);
    status = check_conditions(signal, err);
    if (status != WR_OK) {
        return status;
    }
    wr_buffer_init(&conditions, SIGNAL_SIZE_MAX);
    write_conditions(signal, &conditions);
    queue(inc, signal, conditions.data);
    wr_buffer_done(&conditions);
    wr_log(WR_LOG_INFO, "incremental", WR_MSG("snapshot is asked for"),
           WR_STR("signal", signal->id), WR_INT("expressions", signal->collection_count));
    return incremental_remember(inc, err);
}

/* The table that is being read goes, too. */
static void drop_item(struct incremental *inc, const struct incremental_item *item)
{
    if (item == incremental_current(inc)) {
        incremental_void_chunk(inc);
        incremental_forget_table(inc);
        inc->table.has_failed = inc->table.nulls_read = false;
        uint64_t serial = item->serial;
        incremental_progress_done(&inc->progress);
        inc->progress.serial = serial + 1;
    }
    incremental_state_drop(&inc->state, item->serial);
}

static char *join_collections(const struct signal *signal)
{
    size_t size = 1;

    for (size_t i = 0; i < signal->collection_count; i++) {
        size += strlen(signal->collections[i]) + 1;
    }
    char *text = calloc(size, 1);
    if (text == NULL) {
        abort();
    }
    for (size_t i = 0, at = 0; i < signal->collection_count; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s%s", i == 0 ? "" : ",",
                               signal->collections[i]);
    }
    return text;
}

static bool matches_any(const struct signal *signal, struct wr_regex **patterns, const char *name)
{
    for (size_t i = 0; i < signal->collection_count; i++) {
        if (strcmp(signal->collections[i], name) == 0 ||
            wr_regex_matches(patterns[i], wr_slice_str(name))) {
            return true;
        }
    }
    return false;
}

static enum wr_status stop(struct incremental *inc, const struct signal *signal,
                           struct wr_error *err)
{
    const struct incremental_item *current = incremental_current(inc);
    struct wr_regex **patterns = NULL;

    if (current == NULL) {
        return wr_fail(err, WR_REJECT, "signal", "stop-snapshot: no snapshot is under way");
    }
    enum wr_status status = make_patterns(signal, &patterns, err);
    if (status != WR_OK) {
        return status;
    }
    char *id = strdup(current->id);
    char *tables = signal->collection_count == 0 ? NULL : join_collections(signal);
    for (size_t i = inc->state.count; i > 0; i--) {
        const struct incremental_item *item = &inc->state.items[i - 1];
        if (item->serial >= inc->progress.serial &&
            (signal->collection_count == 0 || matches_any(signal, patterns, item->name))) {
            drop_item(inc, item);
        }
    }
    inc->state.is_paused = inc->state.is_paused && incremental_current(inc) != NULL;
    inc->note.is_wanted = true;
    wr_log(WR_LOG_INFO, "incremental", WR_MSG("snapshot is stopped"), WR_STR("signal", signal->id),
           WR_STR("tables", tables == NULL ? "all" : tables));
    status = incremental_remember(inc, err);
    if (status == WR_OK) {
        status = incremental_tell_aborted(inc, id, tables, err);
    }
    free(id);
    free(tables);
    free_patterns(patterns, signal->collection_count);
    return status;
}

static enum wr_status set_paused(struct incremental *inc, bool is_paused, struct wr_error *err)
{
    const struct incremental_item *current = incremental_current(inc);

    if (current == NULL || inc->state.is_paused == is_paused) {
        return wr_fail(err, WR_REJECT, "signal", "%s: %s",
                       is_paused ? "pause-snapshot" : "resume-snapshot",
                       current == NULL ? "no snapshot is under way"
                                       : (is_paused ? "it is paused" : "it is not paused"));
    }
    inc->state.is_paused = is_paused;
    inc->wait_until_us = 0;
    wr_log(WR_LOG_INFO, "incremental",
           WR_MSG(is_paused ? "snapshot is paused" : "snapshot goes on"),
           WR_STR("table", current->name));
    enum wr_status status = incremental_remember(inc, err);
    return status == WR_OK ? incremental_tell_run(inc, is_paused ? "PAUSED" : "RESUMED",
                                                  current->id, current->run, true, err)
                           : status;
}

static enum wr_status carry_out(struct incremental *inc, const struct signal *signal,
                                struct wr_error *err)
{
    enum wr_status status = incremental_need_note(inc, err);

    if (status != WR_OK) {
        return status;
    }
    switch (signal->kind) {
    case SIGNAL_EXECUTE_SNAPSHOT:
        return execute(inc, signal, err);
    case SIGNAL_STOP_SNAPSHOT:
        return stop(inc, signal, err);
    case SIGNAL_PAUSE_SNAPSHOT:
        return set_paused(inc, true, err);
    case SIGNAL_RESUME_SNAPSHOT:
        return set_paused(inc, false, err);
    case SIGNAL_LOG:
        wr_log(WR_LOG_INFO, "signal", WR_MSG(signal->message), WR_STR("id", signal->id));
        return WR_OK;
    case SIGNAL_NONE:
        break;
    }
    return WR_OK;
}

static enum wr_status log_refusal(const char *id, struct wr_error *err)
{
    wr_log(WR_LOG_ERROR, "signal", WR_MSG("a signal is passed over"), WR_STR("id", id),
           WR_STR("reason", err->text));
    return WR_OK;
}

enum wr_status incremental_signal(struct incremental *inc, const struct signal *signal,
                                  struct wr_error *err)
{
    enum wr_status status = carry_out(inc, signal, err);

    return status == WR_REJECT ? log_refusal(signal->id, err) : status;
}

/* The stream. */

/*
 * A signal whose transaction was not confirmed before a crash comes again, and was carried out, for
 * that was noted. False: so it is.
 */
static bool is_news(const struct incremental *inc, wr_lsn lsn)
{
    wr_lsn commit_lsn = intake_commit_lsn(inc->r->intake);
    const struct incremental_state *state = &inc->state;

    if (commit_lsn < state->signal_commit_lsn ||
        (commit_lsn == state->signal_commit_lsn && lsn <= state->signal_lsn)) {
        wr_log(WR_LOG_INFO, "signal", WR_MSG("a signal comes again, and was carried out"),
               WR_LSN("lsn", lsn));
        return false;
    }
    return true;
}

/* What was carried out is noted with its place; what could not be comes again, and is none. */
static enum wr_status carry_out_at(struct incremental *inc, wr_lsn lsn, const struct signal *signal,
                                   struct wr_error *err)
{
    struct incremental_state *state = &inc->state;
    wr_lsn commit_lsn_before = state->signal_commit_lsn;
    wr_lsn lsn_before = state->signal_lsn;

    state->signal_commit_lsn = intake_commit_lsn(inc->r->intake);
    state->signal_lsn = lsn;
    enum wr_status status = incremental_signal(inc, signal, err);
    if (status != WR_OK) {
        state->signal_commit_lsn = commit_lsn_before;
        state->signal_lsn = lsn_before;
    }
    return status;
}

static bool is_signal_table(void *context, const char *schema, const char *table)
{
    const struct incremental *inc = context;
    const struct config *config = inc->r->config;
    char name[NAME_SIZE_MAX];

    (void)snprintf(name, sizeof(name), "%s.%s", schema, table);
    return config->signal_by_table && config->signal_table != NULL &&
           strcmp(config->signal_table, name) == 0;
}

static struct wr_slice cell_of(const struct change *change, const char *name)
{
    const struct relation *relation = change->relation;

    for (uint16_t i = 0; i < relation->column_count; i++) {
        const struct cell *cell = &change->new_tuple.cells[i];
        if (strcmp(relation->columns[i].name, name) == 0 && cell->kind == CELL_TEXT) {
            return cell->text;
        }
    }
    return (struct wr_slice){NULL, 0};
}

static enum wr_status take_signal_row(void *context, const struct change *change,
                                      struct wr_error *err)
{
    struct incremental *inc = context;
    if (!is_news(inc, change->source.lsn)) {
        return WR_OK;
    }
    struct wr_arena *arena = wr_arena_new(SIGNAL_SIZE_MAX);
    struct wr_slice id = cell_of(change, "id");
    struct wr_slice type = cell_of(change, "type");
    const char *id_text = wr_arena_strndup(arena, id.data, id.size);
    const char *type_text = wr_arena_strndup(arena, type.data, type.size);
    struct signal signal;
    enum wr_status status = WR_REJECT;

    if (id_text == NULL || type_text == NULL) {
        (void)wr_fail(err, WR_REJECT, "signal", "a row larger than %d bytes", SIGNAL_SIZE_MAX);
    } else {
        status = signal_read(id_text, type_text, cell_of(change, "data"), arena, &signal, err);
    }
    if (status == WR_OK) {
        status = carry_out_at(inc, change->source.lsn, &signal, err);
    } else {
        status = log_refusal(id_text == NULL ? "" : id_text, err);
    }
    wr_arena_free(arena);
    return status;
}

/* Both are transactional, and stand in a transaction of their own. */
static bool take_message(void *context, const struct message *message, enum wr_status *status,
                         struct wr_error *err)
{
    struct incremental *inc = context;
    struct wr_slice content = message->logical.content;
    struct wr_arena *arena = NULL;
    struct signal signal;

    if (strcmp(message->logical.prefix, CHUNK_MARK_PREFIX) == 0) {
        if (inc->mark[0] != '\0' && wr_slice_is(content, inc->mark)) {
            *status = incremental_publish(inc, err);
        }
        return true;
    }
    if (strcmp(message->logical.prefix, MESSAGE_SIGNAL_PREFIX) != 0) {
        return false;
    }
    if (!is_news(inc, message->logical.lsn)) {
        return true;
    }
    arena = wr_arena_new(SIGNAL_SIZE_MAX);
    *status = message_signal_read(inc->r->config, content, arena, &signal, err);
    if (*status == WR_OK) {
        *status = carry_out_at(inc, message->logical.lsn, &signal, err);
    } else if (*status == WR_REJECT) {
        *status = log_refusal("", err);
    }
    wr_arena_free(arena);
    return true;
}

static enum wr_status take_row(void *context, const struct change *change, struct wr_error *err)
{
    return incremental_note_change(context, change, err);
}

static bool columns_equal(const struct column *a, const struct column *b)
{
    return strcmp(a->name, b->name) == 0 && a->type_oid == b->type_oid &&
           a->type_mod == b->type_mod && a->is_key == b->is_key;
}

/* It comes with the first change on a connection, too: then it says what is known. */
static void take_relation(void *context, const struct relation *relation)
{
    struct incremental *inc = context;
    const struct relation *own = inc->table.relation;

    if (own == NULL || relation->oid != own->oid) {
        return;
    }
    bool is_same = relation->column_count == own->column_count &&
                   relation->replica_identity == own->replica_identity &&
                   strcmp(relation->schema, own->schema) == 0 &&
                   strcmp(relation->table, own->table) == 0;
    for (uint16_t i = 0; is_same && i < own->column_count; i++) {
        is_same = columns_equal(&relation->columns[i], &own->columns[i]);
    }
    inc->table.has_changed = inc->table.has_changed || !is_same;
}

struct intake_watch incremental_watch(struct incremental *inc)
{
    return (struct intake_watch){
        .context = inc,
        .message = take_message,
        .is_signal_table = is_signal_table,
        .signal = take_signal_row,
        .row = take_row,
        .relation = take_relation,
    };
}
