#include "golden/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "codec/codec.h"
#include "decoder/pgoutput.h"
#include "decoder/relcache.h"
#include "router/router.h"
#include "support/records.h"

struct replay {
    const struct catalog_source *catalog;
    struct kafka_records *out;
    struct router *router;
    struct codec *codec;
    struct relcache *relations;
    struct wr_arena *scratch;
    struct wr_buffer key, value;
    struct wr_buffer headers[RECORD_HEADERS_MAX];
    struct change_source source; /* of the transaction that is open */
    struct pgoutput decoder;
};

static enum wr_status encode_headers(struct replay *replay, const struct record *record,
                                     struct kafka_record *out, struct wr_error *err)
{
    for (size_t i = 0; i < record->header_count; i++) {
        struct kafka_header *header = &out->headers[i];
        struct wr_buffer *bytes = &replay->headers[i];

        wr_buffer_reset(bytes);
        enum wr_status status = codec_header(replay->codec, &record->headers[i], replay->scratch,
                                             bytes, &header->is_null, err);
        if (status != WR_OK) {
            return status;
        }
        header->name = wr_slice_str(record->headers[i].name);
        header->value = wr_buffer_slice(bytes);
    }
    out->header_count = record->header_count;
    return WR_OK;
}

static enum wr_status emit(void *context, const struct record *record, struct wr_error *err)
{
    struct replay *replay = context;
    struct kafka_record out = {
        .topic = record->topic,
        .partition = record->partition == -1 ? 0 : record->partition,
    };

    wr_buffer_reset(&replay->key);
    wr_buffer_reset(&replay->value);
    enum wr_status status =
        codec_key(replay->codec, record, replay->scratch, &replay->key, &out.key_is_null, err);
    if (status == WR_OK) {
        status = codec_value(replay->codec, record, replay->scratch, &replay->value,
                             &out.value_is_null, err);
    }
    if (status == WR_OK) {
        status = encode_headers(replay, record, &out, err);
    }
    if (status == WR_OK) {
        out.key = wr_buffer_slice(&replay->key);
        out.value = wr_buffer_slice(&replay->value);
        records_add(replay->out, &out);
    }
    return status;
}

static void notice(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "notice: %s\n", text);
}

static enum wr_status refuse(void *context, const struct change *change, struct wr_error *err)
{
    (void)context;
    (void)change;
    return err->status;
}

enum wr_status replay_new(const struct config *config, const struct catalog_source *catalog,
                          struct kafka_records *out, struct replay **result, struct wr_error *err)
{
    struct replay *replay = calloc(1, sizeof(*replay));

    if (replay == NULL) {
        abort();
    }
    const struct router_sink sink = {
        .context = replay, .emit = emit, .refuse = refuse, .notice = notice};
    replay->catalog = catalog;
    replay->out = out;
    replay->codec = codec_new(config, WR_VERSION);
    replay->relations = relcache_new();
    replay->scratch = wr_arena_new(WR_MESSAGE_ARENA_SIZE_MAX);
    wr_buffer_init(&replay->key, WR_RECORD_SIZE_MAX);
    wr_buffer_init(&replay->value, WR_RECORD_SIZE_MAX);
    for (size_t i = 0; i < RECORD_HEADERS_MAX; i++) {
        wr_buffer_init(&replay->headers[i], WR_RECORD_SIZE_MAX);
    }
    pgoutput_init(&replay->decoder);
    *result = replay;
    return router_new(config, &sink, &replay->router, err);
}

void replay_free(struct replay *replay)
{
    router_free(replay->router);
    codec_free(replay->codec);
    relcache_free(replay->relations);
    wr_arena_free(replay->scratch);
    wr_buffer_done(&replay->key);
    wr_buffer_done(&replay->value);
    for (size_t i = 0; i < RECORD_HEADERS_MAX; i++) {
        wr_buffer_done(&replay->headers[i]);
    }
    free(replay);
}

/* A recorded stream in memory, and the message at which its reader stands. */
struct recording {
    struct wr_buffer bytes;
    struct wr_cursor in;
};

static enum wr_status recording_open(struct recording *r, const char *path, struct wr_error *err)
{
    FILE *file = fopen(path, "rb");
    char block[4096];
    size_t size;

    wr_buffer_init(&r->bytes, WR_RECORD_SIZE_MAX);
    if (file == NULL) {
        return wr_fail(err, WR_FATAL, "replay", "%s cannot be opened: %m", path);
    }
    while ((size = fread(block, 1, sizeof(block), file)) > 0) {
        wr_buffer_add(&r->bytes, block, size);
    }
    fclose(file);
    wr_cursor_init(&r->in, r->bytes.data, r->bytes.size);
    return WR_OK;
}

static bool recording_next(struct recording *r, struct wr_slice *payload)
{
    size_t size = (size_t)wr_cursor_uint(&r->in, 4);

    if (r->in.failed || size > wr_cursor_left(&r->in)) {
        return false;
    }
    *payload = (struct wr_slice){(const char *)r->in.next, size};
    r->in.next += size;
    return true;
}

static void recording_rewind(struct recording *r)
{
    wr_cursor_init(&r->in, r->bytes.data, r->bytes.size);
}

static enum wr_status take_relation(struct replay *replay, struct relation *relation,
                                    struct wr_error *err)
{
    enum wr_status status = router_compile(replay->router, relation, replay->catalog, err);

    if (status == WR_OK) {
        return relcache_put(replay->relations, relation, err);
    }
    wr_arena_free(relation->arena);
    return status;
}

static enum wr_status change_row(struct replay *replay, const struct message *m, enum change_op op,
                                 struct wr_error *err)
{
    const struct change change = {
        .op = op,
        .relation = relcache_get(replay->relations, m->relation_oid),
        .old_kind = m->old_kind,
        .old_tuple = m->old_tuple,
        .new_tuple = m->new_tuple,
        .source = replay->source,
    };

    if (change.relation == NULL) {
        return wr_fail(err, WR_FATAL, "replay", "a row of unknown relation %u", m->relation_oid);
    }
    return router_change(replay->router, &change, replay->scratch, err);
}

static enum wr_status truncate_tables(struct replay *replay, const struct message *m,
                                      struct wr_error *err)
{
    enum wr_status status = WR_OK;

    for (uint32_t i = 0; status == WR_OK && i < m->truncate.count; i++) {
        const struct message one = {.relation_oid = truncate_oid(m, i)};

        status = change_row(replay, &one, OP_TRUNCATE, err);
    }
    return status;
}

static enum wr_status begin(struct replay *replay, const struct message *m, struct wr_error *err)
{
    replay->source.commit_time_us = m->commit_time_us;
    replay->source.lsn = m->commit_lsn;
    replay->source.xid = m->xid;
    return router_begin(replay->router, &replay->source, replay->scratch, err);
}

static enum wr_status logical(struct replay *replay, const struct message *m, struct wr_error *err)
{
    struct change_source source = replay->source;

    source.lsn = m->logical.lsn;
    source.xid = m->logical.is_transactional ? source.xid : 0;
    return router_message(replay->router, m, &source, replay->scratch, err);
}

static enum wr_status apply(struct replay *replay, const struct message *m, struct wr_error *err)
{
    switch (m->kind) {
    case MESSAGE_BEGIN:
        return begin(replay, m, err);
    case MESSAGE_COMMIT:
        replay->source.last_commit_lsn = m->end_lsn;
        return router_commit(replay->router, &replay->source, replay->scratch, err);
    case MESSAGE_RELATION:
        return take_relation(replay, m->relation, err);
    case MESSAGE_INSERT:
        return change_row(replay, m, OP_CREATE, err);
    case MESSAGE_UPDATE:
        return change_row(replay, m, OP_UPDATE, err);
    case MESSAGE_DELETE:
        return change_row(replay, m, OP_DELETE, err);
    case MESSAGE_TRUNCATE:
        return truncate_tables(replay, m, err);
    case MESSAGE_LOGICAL:
        return logical(replay, m, err);
    case MESSAGE_TYPE:
        return WR_OK;
    case MESSAGE_ORIGIN:
    case MESSAGE_STREAM_START:
    case MESSAGE_STREAM_STOP:
    case MESSAGE_STREAM_COMMIT:
    case MESSAGE_STREAM_ABORT:
    case MESSAGE_BEGIN_PREPARE:
    case MESSAGE_PREPARE:
    case MESSAGE_COMMIT_PREPARED:
    case MESSAGE_ROLLBACK_PREPARED:
    case MESSAGE_STREAM_PREPARE:
        break;
    }
    return wr_fail(err, WR_FATAL, "replay", "message '%c' in a golden case", (char)m->kind);
}

enum wr_status replay_stream(struct replay *replay, const char *path, struct wr_error *err)
{
    struct recording recording = {0};
    struct wr_slice payload;
    enum wr_status status = recording_open(&recording, path, err);

    while (status == WR_OK && recording_next(&recording, &payload)) {
        struct message message = {0};

        wr_arena_reset(replay->scratch);
        status = pgoutput_decode(&replay->decoder, payload, &message, err);
        if (status == WR_OK) {
            status = apply(replay, &message, err);
        }
    }
    if (status == WR_OK && wr_cursor_left(&recording.in) > 0) {
        status = wr_fail(err, WR_FATAL, "replay", "%s ends within a message", path);
    }
    wr_buffer_done(&recording.bytes);
    return status;
}

/* The tables of a snapshot that have rows, by name. */
struct snapshot_table {
    const char *schema;
    const char *table;
    uint32_t oid;
    size_t row_count;
};

enum { SNAPSHOT_TABLE_COUNT_MAX = 64 };

struct snapshot_tables {
    struct snapshot_table items[SNAPSHOT_TABLE_COUNT_MAX];
    size_t count;
};

static int compare_tables(const void *a, const void *b)
{
    const struct snapshot_table *x = a;
    const struct snapshot_table *y = b;
    int schemas = strcmp(x->schema, y->schema);

    return schemas != 0 ? schemas : strcmp(x->table, y->table);
}

static enum wr_status count_row(struct replay *replay, struct snapshot_tables *tables, uint32_t oid,
                                struct wr_error *err)
{
    const struct relation *relation = relcache_get(replay->relations, oid);

    for (size_t i = 0; i < tables->count; i++) {
        if (tables->items[i].oid == oid) {
            tables->items[i].row_count++;
            return WR_OK;
        }
    }
    if (relation == NULL || tables->count == SNAPSHOT_TABLE_COUNT_MAX) {
        return wr_fail(err, WR_FATAL, "replay", "a row of unknown relation %u", oid);
    }
    tables->items[tables->count++] =
        (struct snapshot_table){relation->schema, relation->table, oid, 1};
    return WR_OK;
}

static enum wr_status count_rows(struct replay *replay, struct recording *recording,
                                 struct snapshot_tables *tables, struct wr_error *err)
{
    struct wr_slice payload;
    enum wr_status status = WR_OK;

    while (status == WR_OK && recording_next(recording, &payload)) {
        struct message m = {0};

        status = pgoutput_decode(&replay->decoder, payload, &m, err);
        if (status == WR_OK && m.kind == MESSAGE_RELATION) {
            status = take_relation(replay, m.relation, err);
        } else if (status == WR_OK && m.kind == MESSAGE_INSERT) {
            status = count_row(replay, tables, m.relation_oid, err);
        }
    }
    qsort(tables->items, tables->count, sizeof(tables->items[0]), compare_tables);
    return status;
}

static enum snapshot_marker marker(const struct snapshot_tables *tables, size_t table, size_t row)
{
    bool is_last_of_table = row + 1 == tables->items[table].row_count;

    if (is_last_of_table && table + 1 == tables->count) {
        return SNAPSHOT_MARKER_LAST;
    }
    if (table == 0 && row == 0) {
        return SNAPSHOT_MARKER_FIRST;
    }
    if (is_last_of_table) {
        return SNAPSHOT_MARKER_LAST_IN_DATA_COLLECTION;
    }
    return row == 0 ? SNAPSHOT_MARKER_FIRST_IN_DATA_COLLECTION : SNAPSHOT_MARKER_TRUE;
}

static enum wr_status read_table(struct replay *replay, struct recording *recording,
                                 const struct snapshot_tables *tables, size_t table,
                                 struct wr_error *err)
{
    struct wr_slice payload;
    enum wr_status status = WR_OK;
    size_t row = 0;

    recording_rewind(recording);
    while (status == WR_OK && recording_next(recording, &payload)) {
        struct message m = {0};

        wr_arena_reset(replay->scratch);
        status = pgoutput_decode(&replay->decoder, payload, &m, err);
        if (status == WR_OK && m.kind == MESSAGE_RELATION) {
            wr_arena_free(m.relation->arena); /* the cache has it */
        } else if (status == WR_OK && m.kind == MESSAGE_INSERT &&
                   m.relation_oid == tables->items[table].oid) {
            replay->source.snapshot = marker(tables, table, row++);
            status = change_row(replay, &m, OP_READ, err);
        }
    }
    return status;
}

enum wr_status replay_snapshot(struct replay *replay, const char *path, struct wr_error *err)
{
    struct recording recording = {0};
    struct snapshot_tables tables = {0};
    enum wr_status status = recording_open(&recording, path, err);

    if (status == WR_OK) {
        status = count_rows(replay, &recording, &tables, err);
    }
    for (size_t i = 0; status == WR_OK && i < tables.count; i++) {
        status = read_table(replay, &recording, &tables, i, err);
    }
    replay->source = (struct change_source){0};
    wr_buffer_done(&recording.bytes);
    return status;
}
