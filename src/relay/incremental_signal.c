/* What signals ask for; and the stream, as it passes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
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

/* What a signal is carried out with. */
struct request {
    struct incremental *inc;
    const struct signal *signal;
    struct wr_arena *arena;
    struct wr_regex **patterns; /* of the signal's collections, then of its conditions */
    const char **names;         /* captured tables that match a collection, by name */
    size_t name_count;
};

static void request_done(struct request *request)
{
    size_t count = request->signal->collection_count + request->signal->condition_count;

    for (size_t i = 0; request->patterns != NULL && i < count; i++) {
        wr_regex_free(request->patterns[i]);
    }
    free(request->patterns);
    free(request->names);
    wr_arena_free(request->arena);
}

/* An expression that is none is an error of who sent it. */
static enum wr_status request_init(struct request *request, struct incremental *inc,
                                   const struct signal *signal, struct wr_error *err)
{
    size_t count = signal->collection_count + signal->condition_count;
    enum wr_status status = WR_OK;

    *request = (struct request){.inc = inc,
                                .signal = signal,
                                .arena = wr_arena_new(SIGNAL_SIZE_MAX),
                                .patterns = calloc(count + 1, sizeof(*request->patterns))};
    if (request->patterns == NULL) {
        abort();
    }
    for (size_t i = 0; status == WR_OK && i < count; i++) {
        bool is_condition = i >= signal->collection_count;
        const char *text = is_condition
                               ? signal->conditions[i - signal->collection_count].collection
                               : signal->collections[i];
        status = wr_regex_new(text, is_condition, &request->patterns[i], err);
    }
    if (status != WR_OK) {
        err->status = WR_REJECT;
        return WR_REJECT;
    }
    return WR_OK;
}

static bool matches(const struct request *request, size_t pattern, const char *name)
{
    return wr_regex_matches(request->patterns[pattern], wr_slice_str(name));
}

static bool matches_any(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->signal->collection_count; i++) {
        if (matches(request, i, name)) {
            return true;
        }
    }
    return false;
}

static bool is_asked_for(void *context, const char *schema, const char *table)
{
    const struct request *request = context;
    const struct relay *r = request->inc->r;
    char name[NAME_SIZE_MAX];

    (void)snprintf(name, sizeof(name), "%s.%s", schema, table);
    bool is_signal_table =
        r->config->signal_table != NULL && strcmp(r->config->signal_table, name) == 0;
    return !is_signal_table && relay_captures(request->inc->r, schema, table) &&
           matches_any(request, name);
}

static void take_name(void *context, const struct chunk_found *found)
{
    struct request *request = context;

    request->names = reallocarray(request->names, request->name_count + 1, sizeof(*request->names));
    if (request->names == NULL) {
        abort();
    }
    const char *name = wr_arena_printf(request->arena, "%s.%s", found->schema, found->table);
    if (name != NULL) {
        request->names[request->name_count++] = name;
    }
}

/* On a connection of its own: the other one may be waiting for a chunk. */
static enum wr_status list_names(struct request *request, struct wr_error *err)
{
    struct table_filter filter = {.context = request, .is_captured = is_asked_for};
    struct chunk_reader *reader = NULL;
    enum wr_status status = chunk_reader_open(request->inc->r->config, &reader, err);

    if (status == WR_OK) {
        status = chunk_reader_list(reader, &filter, request, take_name, err);
    }
    chunk_reader_close(reader);
    return status;
}

static const char *condition_of(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->signal->condition_count; i++) {
        if (matches(request, request->signal->collection_count + i, name)) {
            return request->signal->conditions[i].filter;
        }
    }
    return NULL;
}

static bool is_queued(const struct incremental *inc, uint64_t run, const char *name)
{
    for (size_t i = 0; i < inc->state.count; i++) {
        if (inc->state.items[i].run == run && strcmp(inc->state.items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void queue_name(const struct request *request, uint64_t run, const char *name)
{
    struct incremental *inc = request->inc;

    if (!is_queued(inc, run, name)) {
        incremental_state_add(&inc->state, run, request->signal->id, name,
                              condition_of(request, name), request->signal->surrogate_key);
    }
}

/* In the order of the expressions. One that nothing matches stays, to be told of as unknown. */
static void queue_names(const struct request *request, uint64_t run)
{
    for (size_t i = 0; i < request->signal->collection_count; i++) {
        bool is_matched = false;
        for (size_t j = 0; j < request->name_count; j++) {
            if (matches(request, i, request->names[j])) {
                queue_name(request, run, request->names[j]);
                is_matched = true;
            }
        }
        if (!is_matched) {
            queue_name(request, run, request->signal->collections[i]);
        }
    }
}

static enum wr_status begin_run(struct request *request, struct wr_error *err)
{
    struct incremental *inc = request->inc;
    uint64_t run = ++inc->next_run;

    queue_names(request, run);
    wr_log(WR_LOG_INFO, "incremental", WR_MSG("snapshot is asked for"),
           WR_STR("signal", request->signal->id), WR_INT("tables", request->name_count));
    if (inc->is_running) { /* changes of the new tables were not noted until now */
        incremental_void_chunk(inc);
        incremental_begin_notes(inc);
    }
    enum wr_status status = incremental_remember(inc, err);
    return status == WR_OK
               ? incremental_tell_run(inc, "STARTED", request->signal->id, run, true, err)
               : status;
}

static enum wr_status execute(struct incremental *inc, const struct signal *signal,
                              struct wr_error *err)
{
    struct request request;

    if (signal->is_blocking) {
        return wr_fail(err, WR_REJECT, "signal",
                       "execute-snapshot: a blocking snapshot is not supported; an incremental one "
                       "reads tables without a primary key with surrogate-key");
    }
    enum wr_status status = request_init(&request, inc, signal, err);
    if (status == WR_OK) {
        status = list_names(&request, err);
    }
    if (status == WR_OK) {
        status = begin_run(&request, err);
    }
    request_done(&request);
    return status;
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

static enum wr_status stop(struct incremental *inc, const struct signal *signal,
                           struct wr_error *err)
{
    const struct incremental_item *current = incremental_current(inc);
    struct request request;
    enum wr_status status = request_init(&request, inc, signal, err);

    if (status != WR_OK || current == NULL) {
        request_done(&request);
        return status != WR_OK
                   ? status
                   : wr_fail(err, WR_REJECT, "signal", "stop-snapshot: no snapshot is under way");
    }
    char *id = strdup(current->id);
    char *tables = signal->collection_count == 0 ? NULL : join_collections(signal);
    for (size_t i = inc->state.count; i > 0; i--) {
        const struct incremental_item *item = &inc->state.items[i - 1];
        if (item->serial >= inc->progress.serial &&
            (signal->collection_count == 0 || matches_any(&request, item->name))) {
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
    request_done(&request);
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
