/*
 * The initial snapshot: COPY after COPY, on one connection or several, inside transactions that
 * have taken over the snapshot exported with the slot, so that a row is either here or in the
 * stream.
 *
 * Tables are read in parts, ranges of blocks, which are given out in order: a later run can go on
 * where this one stopped, and several connections can share a large table. Their rows are joined
 * into one sequence, whoever has some first.
 *
 * Rows are read one ahead. A row's marker says whether more rows of its table, and of any table,
 * follow, and the last table may be empty: so a row waits until the next one is there, or until
 * there is none, be it tables further on. Two lines of COPY are all that is ever held.
 */
#include "streamer/snapshot.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "base/arena.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "config/config.h"
#include "decoder/relation.h"
#include "streamer/command.h"
#include "streamer/copy_text.h"
#include "streamer/snapshot_reader.h"
#include "streamer/snapshot_tables.h"

enum {
    TIMEOUT_MS = 60 * 1000,
    SQL_SIZE_MAX = 16 << 20,
    READER_COUNT_MAX = 64,          /* of snapshot.max.threads */
    PART_BLOCKS_MAX = 4096,         /* 32 MB: the most that is read again after a crash */
    PART_BLOCKS_EXACTLY_ONCE = 256, /* it ends a Kafka transaction, which others wait for */
    PART_BLOCKS_MIN = 128,          /* below 1 MB a COPY more costs more than it brings */
    PARTS_A_READER = 4, /* of one table, so that no reader is left with much at its end */
};

/* A table from the moment its first part is given out until its last one is handed out. */
struct open_table {
    const struct snapshot_table *table;
    struct relation *relation; /* until its TABLE event gives it away */
    struct wr_buffer select;
    uint16_t column_count;
    bool has_rows;
};

struct part { /* in the order in which they are given out */
    struct open_table *table;
    struct snapshot_mark mark; /* the table's, once this part and all before it are published */
    uint64_t number;
    uint64_t size; /* of its blocks, as the table was when the snapshot began */
    bool has_ended;
};

/* A line of COPY. libpq makes the copy, PQfreemem lets go of it. */
struct line {
    char *data; /* NULL: there is none */
    size_t size;
    struct open_table *table;
    uint64_t part;
    bool is_first; /* of its table */
};

struct worker {
    struct snapshot_reader reader;
    bool is_busy;
    uint64_t part; /* that is being read */
};

struct snapshot {
    const struct config *config;
    uint32_t xid;
    struct snapshot_tables tables;
    size_t table_index;      /* of the next part */
    uint32_t next_block;     /* of the next part */
    struct open_table *open; /* whose parts are being given out, NULL: a new table is due */
    struct worker workers[READER_COUNT_MAX];
    size_t worker_count;
    size_t worker_index; /* whose lines are being read */
    int epoll_fd;
    struct part *parts; /* given out, and not yet handed out */
    size_t part_count, part_capacity;
    uint64_t part_next; /* number of the next part */
    uint64_t size_read; /* of parts that have ended */
    bool has_begun;     /* a row was handed out */
    struct line ahead;  /* read, and nothing decided */
    struct line held;   /* to be handed out as soon as `ahead` is known */
    struct line lent;   /* handed out */
    struct wr_buffer sql;
    struct cell cells[WR_COLUMN_COUNT_MAX];
};

/* Opening. */

/* The first xid that the snapshot does not see. Debezium takes a new one (txid_current), which
 * would keep every slot made meanwhile waiting for the end of the snapshot. */
static enum wr_status read_xid(struct snapshot *s, struct wr_error *err)
{
    PGresult *result = NULL;
    enum wr_status status = snapshot_reader_run(
        &s->workers[0].reader,
        "SELECT pg_catalog.txid_snapshot_xmax(pg_catalog.txid_current_snapshot())", TIMEOUT_MS,
        &result, err);

    if (status == WR_OK) {
        s->xid = (uint32_t)strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    }
    PQclear(result);
    return status;
}

static enum wr_status run_and_forget(struct snapshot *s, struct wr_error *err)
{
    PGresult *result = NULL;

    wr_buffer_add_char(&s->sql, '\0');
    if (s->sql.failed) {
        return wr_fail(err, WR_FATAL, "snapshot", "more tables than a command of %d bytes can name",
                       SQL_SIZE_MAX);
    }
    enum wr_status status =
        snapshot_reader_run(&s->workers[0].reader, s->sql.data, 0, &result, err);
    PQclear(result);
    return status;
}

/* snapshot.locking.mode=shared: as a COPY would, but all at once and from the start. */
static enum wr_status lock_tables(struct snapshot *s, struct wr_error *err)
{
    if (!s->config->snapshot_locks_tables || s->tables.count == 0) {
        return WR_OK;
    }
    wr_buffer_reset(&s->sql);
    WR_BUFFER_LITERAL(&s->sql, "SET LOCAL lock_timeout = ");
    wr_json_int(&s->sql, s->config->snapshot_lock_timeout_ms);
    WR_BUFFER_LITERAL(&s->sql, "; LOCK TABLE ");
    for (size_t i = 0; i < s->tables.count; i++) {
        wr_buffer_add_str(&s->sql, i == 0 ? "" : ", ");
        wr_buffer_add_str(&s->sql, s->tables.items[i].qualified);
    }
    WR_BUFFER_LITERAL(&s->sql, " IN ACCESS SHARE MODE; SET LOCAL lock_timeout = 0");
    return run_and_forget(s, err);
}

static uint32_t part_blocks(const struct snapshot *s, const struct snapshot_table *table)
{
    uint32_t count = (uint32_t)s->config->snapshot_thread_count;
    uint32_t blocks = table->block_count / (count * PARTS_A_READER);

    if (count == 1 || blocks > PART_BLOCKS_MAX) {
        return s->config->exactly_once ? PART_BLOCKS_EXACTLY_ONCE : PART_BLOCKS_MAX;
    }
    return blocks < PART_BLOCKS_MIN ? PART_BLOCKS_MIN : blocks;
}

/* No more connections than there are parts. */
static size_t wanted_workers(const struct snapshot *s)
{
    size_t wanted = (size_t)s->config->snapshot_thread_count;
    size_t parts = 0;

    for (size_t i = 0; i < s->tables.count && parts < wanted; i++) {
        const struct snapshot_table *table = &s->tables.items[i];
        parts += table->is_divisible ? table->block_count / part_blocks(s, table) + 1 : 1;
    }
    return parts < wanted ? parts : wanted;
}

static enum wr_status open_worker(struct snapshot *s, const char *snapshot_name,
                                  struct wr_error *err)
{
    size_t index = s->worker_count;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = index};
    struct snapshot_reader *reader = &s->workers[index].reader;

    s->worker_count++;
    enum wr_status status = snapshot_reader_open(reader, s->config, snapshot_name, err);
    if (status == WR_OK &&
        epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, PQsocket(reader->conn), &event) != 0) {
        status = wr_fail(err, WR_FATAL, "snapshot", "epoll_ctl: %s", strerror(errno));
    }
    return status;
}

static enum wr_status open_all(struct snapshot *s, const struct snapshot_options *options,
                               struct wr_error *err)
{
    enum wr_status status = open_worker(s, options->snapshot_name, err);

    if (status == WR_OK) {
        status = read_xid(s, err);
    }
    if (status == WR_OK) {
        status =
            snapshot_tables_list(&s->tables, s->workers[0].reader.conn, s->config, options, err);
    }
    if (status == WR_OK) {
        status = lock_tables(s, err);
    }
    size_t wanted = wanted_workers(s);
    while (status == WR_OK && s->worker_count < wanted) {
        status = open_worker(s, options->snapshot_name, err);
    }
    return status;
}

enum wr_status snapshot_open(const struct config *config, const struct snapshot_options *options,
                             struct snapshot **out, struct wr_error *err)
{
    struct snapshot *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        abort();
    }
    *out = NULL;
    s->config = config;
    wr_buffer_init(&s->sql, SQL_SIZE_MAX);
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    enum wr_status status =
        s->epoll_fd < 0 ? wr_fail(err, WR_FATAL, "snapshot", "epoll_create1: %s", strerror(errno))
                        : open_all(s, options, err);
    if (status != WR_OK) {
        snapshot_close(s);
        return status;
    }
    *out = s;
    return WR_OK;
}

uint32_t snapshot_xid(const struct snapshot *s)
{
    return s->xid;
}

int snapshot_fd(const struct snapshot *s)
{
    return s->epoll_fd;
}

/* Parts. */

static struct part *part_of(const struct snapshot *s, uint64_t number)
{
    assert(s->part_count > 0 && number - s->parts[0].number < s->part_count);
    return &s->parts[number - s->parts[0].number];
}

static struct part *part_new(struct snapshot *s)
{
    if (s->part_count == s->part_capacity) {
        s->part_capacity = s->part_capacity == 0 ? READER_COUNT_MAX : s->part_capacity * 2;
        s->parts = realloc(s->parts, s->part_capacity * sizeof(*s->parts));
        if (s->parts == NULL) {
            abort();
        }
    }
    struct part *part = &s->parts[s->part_count++];
    *part = (struct part){.number = s->part_next++, .table = s->open};
    return part;
}

static void open_table_free(struct open_table *open)
{
    if (open != NULL) {
        if (open->relation != NULL) { /* an empty table: nobody was told of it */
            wr_arena_free(open->relation->arena);
        }
        wr_buffer_done(&open->select);
        free(open);
    }
}

static enum wr_status open_table(struct snapshot *s, struct worker *worker, struct wr_error *err)
{
    struct open_table *open = calloc(1, sizeof(*open));

    if (open == NULL) {
        abort();
    }
    open->table = &s->tables.items[s->table_index];
    wr_buffer_init(&open->select, SQL_SIZE_MAX);
    enum wr_status status = snapshot_table_describe(open->table, worker->reader.conn, s->config,
                                                    &open->relation, &open->select, err);
    if (status != WR_OK) {
        open_table_free(open);
        return status;
    }
    open->column_count = open->relation->column_count;
    s->next_block = open->table->first_block;
    s->open = open;
    return WR_OK;
}

/* The next part of the table whose turn it is. */
static struct snapshot_range take_range(struct snapshot *s)
{
    const struct snapshot_table *table = s->open->table;
    uint32_t blocks = part_blocks(s, table);
    struct snapshot_range range = {.first = s->next_block, .end = SNAPSHOT_TO_THE_END};
    bool has_more = table->is_divisible && table->block_count > range.first &&
                    table->block_count - range.first > blocks;

    if (has_more) {
        range.end = range.first + blocks;
    }
    s->next_block = range.end;
    return range;
}

static uint64_t range_size(const struct snapshot *s, const struct snapshot_range *range)
{
    uint32_t block_count = s->open->table->block_count;
    uint32_t end = range->end < block_count ? range->end : block_count;

    return end > range->first ? (uint64_t)(end - range->first) * s->tables.block_size : 0;
}

static enum wr_status begin_part(struct snapshot *s, struct worker *worker, struct wr_error *err)
{
    enum wr_status status = s->open == NULL ? open_table(s, worker, err) : WR_OK;

    if (status != WR_OK) {
        return status;
    }
    struct snapshot_range range = take_range(s);
    const struct snapshot_table *table = s->open->table;
    struct part *part = part_new(s);
    part->size = range_size(s, &range);
    part->mark = (struct snapshot_mark){
        .oid = table->oid, .file_node = table->file_node, .block_count = range.end};
    worker->part = part->number;
    worker->is_busy = true;
    wr_buffer_reset(&s->sql);
    snapshot_table_copy(table, wr_buffer_slice(&s->open->select), &range, &s->sql);
    if (s->sql.failed) {
        return wr_fail(err, WR_FATAL, "snapshot", "table %s: its COPY is larger than %d bytes",
                       table->qualified, SQL_SIZE_MAX);
    }
    if (range.end == SNAPSHOT_TO_THE_END) {
        s->open = NULL;
        s->table_index++;
    }
    return snapshot_reader_copy(&worker->reader, s->sql.data, err);
}

static void end_part(struct snapshot *s, struct worker *worker)
{
    struct part *part = part_of(s, worker->part);

    part->has_ended = true;
    s->size_read += part->size;
    worker->is_busy = false;
}

static bool line_is_of(const struct line *line, uint64_t part)
{
    return line->data != NULL && line->part == part;
}

/* The oldest part, once it has ended and all its rows are handed out. */
static bool hand_out_part(struct snapshot *s, struct snapshot_event *out)
{
    if (s->part_count == 0 || !s->parts[0].has_ended || line_is_of(&s->ahead, s->parts[0].number) ||
        line_is_of(&s->held, s->parts[0].number)) {
        return false;
    }
    *out = (struct snapshot_event){.kind = SNAPSHOT_PART, .mark = s->parts[0].mark};
    if (s->parts[0].mark.block_count == SNAPSHOT_TABLE_DONE) {
        open_table_free(s->parts[0].table);
    }
    s->part_count--;
    memmove(&s->parts[0], &s->parts[1], s->part_count * sizeof(*s->parts));
    return true;
}

void snapshot_progress_read(const struct snapshot *s, struct snapshot_progress *out)
{
    *out = (struct snapshot_progress){
        .table = s->part_count == 0 ? "" : s->parts[s->part_count - 1].table->table->qualified,
        .size = s->tables.size,
        .size_read = s->size_read,
        .table_count = s->tables.count,
        .resumed_count = s->tables.resumed_count,
    };
    for (size_t i = 0; i < s->worker_count; i++) {
        const struct worker *worker = &s->workers[i];
        if (worker->is_busy) {
            uint64_t size = part_of(s, worker->part)->size;
            out->size_read += worker->reader.size < size ? worker->reader.size : size;
        }
    }
}

/* Lines. */

enum wr_status snapshot_consume(struct snapshot *s, struct wr_error *err)
{
    struct epoll_event events[READER_COUNT_MAX];
    int count = epoll_wait(s->epoll_fd, events, READER_COUNT_MAX, 0);
    enum wr_status status = WR_OK;

    for (int i = 0; status == WR_OK && i < count; i++) {
        status = snapshot_reader_consume(&s->workers[events[i].data.u64].reader, err);
    }
    return status;
}

static void take_line(struct snapshot *s, const struct worker *worker, char *data, size_t size)
{
    struct open_table *table = part_of(s, worker->part)->table;

    s->ahead = (struct line){.data = data,
                             .size = size,
                             .table = table,
                             .part = worker->part,
                             .is_first = !table->has_rows};
    table->has_rows = true;
}

/* A table that is gone may be gone from a new snapshot too, but not from a SELECT of the user. */
static enum wr_status explain(const struct snapshot *s, const struct worker *worker,
                              struct wr_error *err)
{
    if (!worker->is_busy) {
        return err->status;
    }
    const struct snapshot_table *table = part_of(s, worker->part)->table->table;
    command_advise(err, "while copying %s", table->qualified);
    if (table->select != NULL && strcmp(worker->reader.sqlstate, "42P01") == 0) {
        command_advise(err, "name tables with their schema");
        err->status = WR_FATAL;
    }
    return err->status;
}

/* Until there is a line from this worker, or it has to wait, or nothing is left for it (WR_AGAIN).
 */
static enum wr_status read_worker(struct snapshot *s, struct worker *worker, struct wr_error *err)
{
    for (;;) {
        if (!worker->is_busy && s->table_index == s->tables.count) {
            return WR_AGAIN;
        }
        char *data = NULL;
        size_t size = 0;
        enum wr_status status = worker->is_busy ? WR_OK : begin_part(s, worker, err);
        if (status == WR_OK) {
            status = snapshot_reader_line(&worker->reader, &data, &size, err);
        }
        if (status != WR_OK) {
            return status == WR_AGAIN ? status : explain(s, worker, err);
        }
        if (data != NULL) {
            take_line(s, worker, data, size);
            return WR_OK;
        }
        end_part(s, worker);
    }
}

static bool is_over(const struct snapshot *s)
{
    for (size_t i = 0; i < s->worker_count; i++) {
        if (s->workers[i].is_busy) {
            return false;
        }
    }
    return s->table_index == s->tables.count;
}

/* Until `ahead` is a line, or no table is left. One connection's rows are taken as long as it has
 * any. */
static enum wr_status read_ahead(struct snapshot *s, struct wr_error *err)
{
    if (s->ahead.data != NULL) {
        return WR_OK;
    }
    for (size_t i = 0; i < s->worker_count; i++) {
        size_t index = (s->worker_index + i) % s->worker_count;
        enum wr_status status = read_worker(s, &s->workers[index], err);
        if (status != WR_AGAIN) {
            s->worker_index = index;
            return status;
        }
    }
    return is_over(s) ? WR_OK : WR_AGAIN;
}

/* Where several connections mix the rows of tables, nobody knows which is the last of its table. */
static enum snapshot_marker held_marker(const struct snapshot *s)
{
    if (s->ahead.data == NULL) {
        return SNAPSHOT_MARKER_LAST;
    }
    if (!s->has_begun) {
        return SNAPSHOT_MARKER_FIRST;
    }
    if (s->ahead.table != s->held.table && s->worker_count == 1) {
        return SNAPSHOT_MARKER_LAST_IN_DATA_COLLECTION;
    }
    return s->held.is_first ? SNAPSHOT_MARKER_FIRST_IN_DATA_COLLECTION : SNAPSHOT_MARKER_TRUE;
}

static enum wr_status hand_out_row(struct snapshot *s, struct snapshot_event *out,
                                   struct wr_error *err)
{
    const struct open_table *table = s->held.table;

    *out = (struct snapshot_event){
        .kind = SNAPSHOT_ROW,
        .relation_oid = table->table->oid,
        .row = {.column_count = table->column_count, .cells = s->cells},
        .marker = held_marker(s),
    };
    s->has_begun = true;
    s->lent = s->held;
    s->held = (struct line){0};
    enum wr_status status =
        copy_text_split(s->lent.data, s->lent.size, s->cells, table->column_count, err);
    if (status != WR_OK) {
        command_advise(err, "in the COPY of %s", table->table->qualified);
    }
    return status;
}

/* Before the first row of a table. The relation is the caller's from here on. */
static void hand_out_table(struct open_table *table, struct snapshot_event *out)
{
    *out = (struct snapshot_event){.kind = SNAPSHOT_TABLE, .relation = table->relation};
    table->relation = NULL;
}

enum wr_status snapshot_next(struct snapshot *s, struct snapshot_event *out, struct wr_error *err)
{
    PQfreemem(s->lent.data);
    s->lent = (struct line){0};
    for (;;) {
        enum wr_status status = read_ahead(s, err);
        bool goes_well = status == WR_OK || status == WR_AGAIN;
        if (goes_well && hand_out_part(s, out)) {
            return WR_OK;
        }
        if (status != WR_OK) {
            return status;
        }
        if (s->held.data != NULL) {
            return hand_out_row(s, out, err);
        }
        if (s->ahead.data == NULL) {
            *out = (struct snapshot_event){.kind = SNAPSHOT_DONE};
            return WR_OK;
        }
        if (s->ahead.table->relation != NULL) {
            hand_out_table(s->ahead.table, out);
            return WR_OK;
        }
        s->held = s->ahead;
        s->ahead = (struct line){0};
    }
}

static void close_parts(struct snapshot *s)
{
    for (size_t i = 0; i < s->part_count; i++) {
        bool is_last_of_table =
            i + 1 == s->part_count || s->parts[i + 1].table != s->parts[i].table;
        if (is_last_of_table && s->parts[i].table != s->open) {
            open_table_free(s->parts[i].table);
        }
    }
    open_table_free(s->open);
    free(s->parts);
}

void snapshot_close(struct snapshot *s)
{
    if (s == NULL) {
        return;
    }
    PQfreemem(s->ahead.data);
    PQfreemem(s->held.data);
    PQfreemem(s->lent.data);
    close_parts(s);
    for (size_t i = 0; i < s->worker_count; i++) {
        snapshot_reader_close(&s->workers[i].reader);
    }
    if (s->epoll_fd >= 0) {
        (void)close(s->epoll_fd);
    }
    snapshot_tables_done(&s->tables);
    wr_buffer_done(&s->sql);
    free(s);
}
