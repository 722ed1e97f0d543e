/*
 * bench/micro.c - what one row costs from its pgoutput bytes to its Kafka bytes, without a service.
 *
 * The same messages pass three times as often as there are rooms: decoded only, decoded and routed,
 * and encoded as well. The best of several rounds counts, since whatever disturbs only adds. One
 * table and its rows as in the full benchmark come first, then wider rows, then more tables.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "codec/codec.h"
#include "config/config.h"
#include "decoder/pgoutput.h"
#include "decoder/relcache.h"
#include "router/router.h"
#include "shape.h"

enum {
    ROWS_PER_TRANSACTION = 10,
    BATCH_TRANSACTION_COUNT = 1000, /* some megabytes: more than a core's own cache holds */
    ROUND_COUNT = 5,
    OID_FIRST = 16384,
    BATCH_SIZE_MAX = 1 << 30,
};

enum stage { STAGE_DECODE, STAGE_ROUTE, STAGE_ENCODE, STAGE_COUNT };

struct workload {
    const char *name;
    struct shape shape;
    uint32_t table_count;
    const char *const *settings; /* beside those of all; ends with a NULL */
};

/* The configuration of the full benchmark, less what has to do with servers. */
static const char *const SETTINGS[] = {
    "database.hostname=127.0.0.1",
    "database.user=postgres",
    "database.password=unused",
    "database.dbname=bench",
    "topic.prefix=bench",
    "key.converter=org.apache.kafka.connect.json.JsonConverter",
    "key.converter.schemas.enable=false",
    "value.converter=org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable=false",
};

static const char *const NONE[] = {NULL};
static const char *const OUTBOX[] = {
    "transforms=outbox",
    "transforms.outbox.type=io.debezium.transforms.outbox.EventRouter",
    "transforms.outbox.table.field.event.id=event_id",
    "transforms.outbox.table.field.event.key=aggregate_id",
    "transforms.outbox.route.by.field=aggregate_type",
    "transforms.outbox.route.topic.replacement=${routedByValue}-events",
    NULL,
};
/* One record a row each, and no change event. */
static const char *const SEARCH[] = {
    "routes=r",
    "routes.r.type=search",
    "routes.r.only=true",
    NULL,
};
static const char *const CACHE[] = {
    "routes=r", "routes.r.type=cache", "routes.r.only=true", "routes.r.keys=event:${id}", NULL,
};
static const char *const CACHE_TWO[] = {
    "routes=r",
    "routes.r.type=cache",
    "routes.r.only=true",
    "routes.r.keys=event:${id},venue:${venue}:events",
    NULL,
};
static const char *const WAREHOUSE_JSON[] = {
    "routes=r", "routes.r.type=warehouse", "routes.r.only=true", "routes.r.value.format=json", NULL,
};
static const char *const WAREHOUSE[] = {
    "routes=r",
    "routes.r.type=warehouse",
    "routes.r.only=true",
    NULL,
};
static const char *const WHERE[] = {
    "routes=r", "routes.r.type=search", "routes.r.only=true", "routes.r.where=capacity < 0", NULL,
};

static const struct workload WORKLOADS[] = {
    {"events", {SHAPE_EVENTS, 0}, 1, NONE},
    {"outbox", {SHAPE_OUTBOX, 0}, 1, OUTBOX},
    {"4 columns", {SHAPE_PLAIN, 4}, 1, NONE},
    {"16 columns", {SHAPE_PLAIN, 16}, 1, NONE},
    {"64 columns", {SHAPE_PLAIN, 64}, 1, NONE},
    {"256 columns", {SHAPE_PLAIN, 256}, 1, NONE},
    {"100 tables", {SHAPE_EVENTS, 0}, 100, NONE},
    {"10,000 tables", {SHAPE_EVENTS, 0}, 10000, NONE},
    {"events → search", {SHAPE_EVENTS, 0}, 1, SEARCH},
    {"events → cache, one key", {SHAPE_EVENTS, 0}, 1, CACHE},
    {"events → cache, two keys", {SHAPE_EVENTS, 0}, 1, CACHE_TWO},
    {"events → warehouse, JSON", {SHAPE_EVENTS, 0}, 1, WAREHOUSE_JSON},
    {"events → warehouse, protobuf", {SHAPE_EVENTS, 0}, 1, WAREHOUSE},
    {"events → search, none matches", {SHAPE_EVENTS, 0}, 1, WHERE},
};

/* Messages end to end, as many transactions as go once through all tables. */
struct batch {
    struct wr_buffer bytes;
    size_t *ends;
    size_t count;
    size_t row_count;
};

struct pipeline {
    const struct workload *workload;
    enum stage last;
    struct config *config;
    struct router *router;
    struct codec *codec;
    struct relcache *relations;
    struct pgoutput *decoder;
    struct wr_arena *scratch;
    struct wr_buffer key, value, header;
    struct change_source source; /* of the open transaction */
    size_t record_count;
    size_t out_size; /* bytes of keys and values */
};

static void report_problem(const char *problem)
{
    (void)fprintf(stderr, "%s\n", problem);
}

static enum wr_status load_config(const char *const *more, struct config **out,
                                  struct wr_error *err)
{
    struct config_source sources[32] = {0};
    size_t count = 0;

    for (size_t i = 0; i < sizeof(SETTINGS) / sizeof(SETTINGS[0]); i++) {
        sources[count++].set = SETTINGS[i];
    }
    for (size_t i = 0; more[i] != NULL; i++) {
        sources[count++].set = more[i];
    }
    return config_load(sources, count, false, report_problem, out, err);
}

static enum wr_status encode(struct pipeline *p, const struct record *record, struct wr_error *err)
{
    bool is_null = false;

    wr_buffer_reset(&p->key);
    wr_buffer_reset(&p->value);
    enum wr_status status = codec_key(p->codec, record, p->scratch, &p->key, &is_null, err);
    if (status == WR_OK) {
        status = codec_value(p->codec, record, p->scratch, &p->value, &is_null, err);
    }
    for (size_t i = 0; status == WR_OK && i < record->header_count; i++) {
        wr_buffer_reset(&p->header);
        status = codec_header(p->codec, &record->headers[i], p->scratch, &p->header, &is_null, err);
    }
    p->out_size += p->key.size + p->value.size;
    return status;
}

static enum wr_status on_record(void *context, const struct record *record, struct wr_error *err)
{
    struct pipeline *p = context;

    p->record_count++;
    return p->last == STAGE_ENCODE ? encode(p, record, err) : WR_OK;
}

static void on_notice(void *context, const char *text)
{
    (void)context;
    report_problem(text);
}

/* Every type here is built in, so nobody should ask. */
static enum wr_status no_type(void *context, uint32_t oid, struct wr_arena *arena,
                              struct type_info *out, struct wr_error *err)
{
    (void)context;
    (void)arena;
    (void)out;
    return wr_fail(err, WR_REJECT, "micro", "type %" PRIu32 " is not known", oid);
}

static enum wr_status table_of(void *context, uint32_t oid, struct wr_arena *arena,
                               struct table_info *out, struct wr_error *err)
{
    const struct pipeline *p = context;

    out->oid = oid;
    return shape_table_info(&p->workload->shape, arena, out, err);
}

static enum wr_status take_relation(struct pipeline *p, struct relation *relation,
                                    struct wr_error *err)
{
    const struct catalog_source catalog = {p, no_type, table_of};
    enum wr_status status = router_compile(p->router, relation, &catalog, err);

    return status == WR_OK ? relcache_put(p->relations, relation, err) : status;
}

static enum wr_status take_insert(struct pipeline *p, const struct message *m, struct wr_error *err)
{
    struct change change = {
        .op = OP_CREATE,
        .relation = relcache_get(p->relations, m->relation_oid),
        .new_tuple = m->new_tuple,
        .source = p->source,
    };

    if (p->last == STAGE_DECODE) {
        return WR_OK;
    }
    enum wr_status status = router_change(p->router, &change, p->scratch, err);
    wr_arena_reset(p->scratch);
    return status;
}

static enum wr_status take_message(struct pipeline *p, struct wr_slice payload,
                                   struct wr_error *err)
{
    struct message m;
    enum wr_status status = pgoutput_decode(p->decoder, payload, &m, err);

    if (status != WR_OK) {
        return status;
    }
    if (m.kind == MESSAGE_INSERT) {
        return take_insert(p, &m, err);
    }
    if (m.kind == MESSAGE_BEGIN) {
        p->source.commit_time_us = m.commit_time_us;
        p->source.lsn = m.commit_lsn;
        p->source.xid = m.xid;
        p->source.now_ns = wr_clock_realtime_ns();
        return WR_OK;
    }
    return m.kind == MESSAGE_RELATION ? take_relation(p, m.relation, err) : WR_OK;
}

static void batch_end_message(struct batch *b)
{
    b->ends[b->count++] = b->bytes.size;
}

static void batch_add_transaction(struct batch *b, const struct workload *w, uint32_t index)
{
    uint64_t lsn = UINT64_C(0x1000000) + index * UINT64_C(4096);

    shape_begin(&b->bytes, lsn, 1000 + index);
    batch_end_message(b);
    for (int i = 0; i < ROWS_PER_TRANSACTION; i++) {
        int64_t number = (int64_t)index * ROWS_PER_TRANSACTION + i;
        shape_insert(&b->bytes, &w->shape, OID_FIRST + index % w->table_count, number);
        batch_end_message(b);
        b->row_count++;
    }
    shape_commit(&b->bytes, lsn);
    batch_end_message(b);
}

static void batch_init(struct batch *b, const struct workload *w)
{
    uint32_t count =
        w->table_count > BATCH_TRANSACTION_COUNT ? w->table_count : BATCH_TRANSACTION_COUNT;

    *b = (struct batch){0};
    wr_buffer_init(&b->bytes, BATCH_SIZE_MAX);
    b->ends = calloc((size_t)count * (ROWS_PER_TRANSACTION + 2), sizeof(*b->ends));
    if (b->ends == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < count; i++) {
        batch_add_transaction(b, w, i);
    }
}

static void batch_done(struct batch *b)
{
    wr_buffer_done(&b->bytes);
    free(b->ends);
}

static enum wr_status run_batch(struct pipeline *p, const struct batch *b, struct wr_error *err)
{
    size_t start = 0;

    for (size_t i = 0; i < b->count; i++) {
        struct wr_slice payload = {b->bytes.data + start, b->ends[i] - start};
        enum wr_status status = take_message(p, payload, err);
        if (status != WR_OK) {
            return status;
        }
        start = b->ends[i];
    }
    return WR_OK;
}

/* Nanoseconds a row of the fastest round, each of at least `row_count` rows. */
static enum wr_status time_stage(struct pipeline *p, const struct batch *b, size_t row_count,
                                 double *best_ns, struct wr_error *err)
{
    size_t repeat_count = (row_count + b->row_count - 1) / b->row_count;

    *best_ns = 0;
    for (int round = 0; round < ROUND_COUNT; round++) {
        int64_t start_us = wr_clock_monotonic_us();
        p->record_count = 0;
        p->out_size = 0;
        for (size_t i = 0; i < repeat_count; i++) {
            enum wr_status status = run_batch(p, b, err);
            if (status != WR_OK) {
                return status;
            }
        }
        double rows = (double)(b->row_count * repeat_count);
        double ns = (double)(wr_clock_monotonic_us() - start_us) * 1e3 / rows;
        if (round == 0 || ns < *best_ns) {
            *best_ns = ns;
        }
    }
    return WR_OK;
}

static enum wr_status send_relations(struct pipeline *p, struct wr_error *err)
{
    enum wr_status status = WR_OK;
    struct wr_buffer message;

    wr_buffer_init(&message, BATCH_SIZE_MAX);
    for (uint32_t i = 0; status == WR_OK && i < p->workload->table_count; i++) {
        wr_buffer_reset(&message);
        shape_relation(&message, &p->workload->shape, OID_FIRST + i);
        status = take_message(p, wr_buffer_slice(&message), err);
    }
    wr_buffer_done(&message);
    return status;
}

static enum wr_status pipeline_init(struct pipeline *p, const struct workload *w,
                                    struct wr_error *err)
{
    const struct router_sink sink = {.context = p, .emit = on_record, .notice = on_notice};

    *p = (struct pipeline){.workload = w};
    p->relations = relcache_new();
    p->scratch = wr_arena_new(WR_MESSAGE_ARENA_SIZE_MAX);
    wr_buffer_init(&p->key, WR_RECORD_SIZE_MAX);
    wr_buffer_init(&p->value, WR_RECORD_SIZE_MAX);
    wr_buffer_init(&p->header, WR_RECORD_SIZE_MAX);
    p->decoder = calloc(1, sizeof(*p->decoder));
    if (p->decoder == NULL) {
        abort();
    }
    pgoutput_init(p->decoder);
    enum wr_status status = load_config(w->settings, &p->config, err);
    if (status == WR_OK) {
        p->codec = codec_new(p->config, WR_VERSION);
        status = router_new(p->config, &sink, &p->router, err);
    }
    return status == WR_OK ? send_relations(p, err) : status;
}

static void pipeline_done(struct pipeline *p)
{
    relcache_free(p->relations);
    router_free(p->router);
    codec_free(p->codec);
    if (p->config != NULL) {
        config_free(p->config);
    }
    free(p->decoder);
    wr_arena_free(p->scratch);
    wr_buffer_done(&p->key);
    wr_buffer_done(&p->value);
    wr_buffer_done(&p->header);
}

static void print_row(const struct pipeline *p, const struct batch *b, const double *ns)
{
    double total = ns[STAGE_ENCODE];

    (void)printf("| %s | %zu | %zu | %.0f | %.0f | %.0f | **%.0f** | %.2f |\n", p->workload->name,
                 b->bytes.size / b->row_count,
                 p->record_count == 0 ? 0 : p->out_size / p->record_count, ns[STAGE_DECODE],
                 ns[STAGE_ROUTE] - ns[STAGE_DECODE], total - ns[STAGE_ROUTE], total, 1e3 / total);
    (void)fflush(stdout);
}

static enum wr_status measure(const struct workload *w, size_t row_count, struct wr_error *err)
{
    struct batch batch;
    struct pipeline pipeline;
    double ns[STAGE_COUNT] = {0};
    enum wr_status status = pipeline_init(&pipeline, w, err);

    batch_init(&batch, w);
    for (int stage = STAGE_DECODE; status == WR_OK && stage < STAGE_COUNT; stage++) {
        pipeline.last = (enum stage)stage;
        status = time_stage(&pipeline, &batch, row_count, &ns[stage], err);
    }
    bool may_be_none = w->settings == WHERE;
    if (status == WR_OK && pipeline.record_count == 0 && !may_be_none) {
        status = wr_fail(err, WR_FATAL, "micro", "%s: no record came out", w->name);
    }
    if (status == WR_OK) {
        print_row(&pipeline, &batch, ns);
    }
    batch_done(&batch);
    pipeline_done(&pipeline);
    return status;
}

int main(int argc, char **argv)
{
    struct wr_error err = {0};
    long long row_count = argc == 1 ? 200000 : strtoll(argv[1], NULL, 10);

    if (argc > 2 || row_count <= 0) {
        (void)fprintf(stderr, "usage: bench_micro [ROWS_A_ROUND]\n");
        return 2;
    }
    (void)printf("**decode + route + encode, ns a row**\n\n"
                 "| | bytes in | bytes out | decode | route | encode | all | million rows/s |\n"
                 "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(WORKLOADS) / sizeof(WORKLOADS[0]); i++) {
        if (measure(&WORKLOADS[i], (size_t)row_count, &err) != WR_OK) {
            (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
            return 1;
        }
    }
    (void)printf("\n");
    return 0;
}
