/*
 * bench/latency.c - how long after its insert a row reaches a Kafka consumer.
 *
 * Each row carries the time at which its insert was sent, one row a transaction, with
 * synchronous_commit on: the time measured covers the commit, the relay, Kafka and the way back to
 * a consumer in this process. Writers keep to a timetable of their own, so a slow answer makes the
 * next insert late but does not thin the load out.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libpq-fe.h>

#include "base/clock.h"
#include "base/status.h"
#include "topic.h"

enum {
    WRITER_COUNT_MAX = 32,
    WRITER_RATE_MAX = 500, /* a commit takes a fraction of 2 ms, also while others write */
    RATE_COUNT_MAX = 16,
    START_TIMEOUT_US = 120000000,
    STRAGGLER_TIMEOUT_US = 60000000,
    POLL_TIMEOUT_MS = 100,
};

static const char TITLE[] = "\"title\":\"probe ";

struct options {
    const char *conninfo;
    const char *bootstrap;
    const char *topic;
    int64_t seconds;
    int64_t warm_up_s;
    int64_t rates[RATE_COUNT_MAX];
    size_t rate_count;
};

/* A stretch of time with one rate. Rows of an earlier one may still arrive: they are not counted.
 */
struct phase {
    int number;
    int64_t rate;
    int64_t seconds;
    int64_t *latencies_us;
    size_t expected;
    size_t received;
};

struct writer {
    pthread_t thread;
    PGconn *connection;
    const struct phase *phase;
    int64_t interval_ns;
    int64_t row_count;
    bool failed;
};

static bool insert_row(PGconn *connection, int phase)
{
    char title[64];
    const char *const values[] = {title};

    (void)snprintf(title, sizeof(title), "probe %d %lld", phase,
                   (long long)wr_clock_monotonic_us());
    PGresult *answer = PQexecPrepared(connection, "insert", 1, values, NULL, NULL, 0);
    bool done = PQresultStatus(answer) == PGRES_COMMAND_OK;
    PQclear(answer);
    return done;
}

static enum wr_status writer_open(struct writer *w, const char *conninfo, struct wr_error *err)
{
    w->connection = PQconnectdb(conninfo);
    if (PQstatus(w->connection) != CONNECTION_OK) {
        return wr_fail(err, WR_FATAL, "latency", "%s", PQerrorMessage(w->connection));
    }
    PGresult *answer = PQprepare(w->connection, "insert",
                                 "insert into events (title, venue, starts_at, price, capacity, "
                                 "tags) values ($1, 'Hall 7', now(), 49.50, 1200, "
                                 "'[\"music\", \"live\"]')",
                                 1, NULL);
    bool prepared = PQresultStatus(answer) == PGRES_COMMAND_OK;
    PQclear(answer);
    if (!prepared) {
        return wr_fail(err, WR_FATAL, "latency", "%s", PQerrorMessage(w->connection));
    }
    return WR_OK;
}

static void *writer_run(void *argument)
{
    struct writer *w = argument;
    struct timespec due = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &due);
    for (int64_t i = 0; i < w->row_count && !w->failed; i++) {
        due.tv_nsec += w->interval_ns;
        due.tv_sec += due.tv_nsec / 1000000000;
        due.tv_nsec %= 1000000000;
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        w->failed = !insert_row(w->connection, w->phase->number);
    }
    return NULL;
}

/* "…"title":"probe PHASE TIME"…": the insert's time when it is one of `phase`, else -1. */
static int64_t sent_us(const rd_kafka_message_t *m, int phase)
{
    char text[64] = "";
    char *next = NULL;
    const char *place = m->len > 0 ? memmem(m->payload, m->len, TITLE, sizeof(TITLE) - 1) : NULL;

    if (place == NULL) {
        return -1;
    }
    place += sizeof(TITLE) - 1;
    size_t left = m->len - (size_t)(place - (const char *)m->payload);
    memcpy(text, place, left < sizeof(text) - 1 ? left : sizeof(text) - 1);
    if (strtoll(text, &next, 10) != phase || *next != ' ') {
        return -1;
    }
    return strtoll(next, NULL, 10);
}

static void take_next(struct topic *topic, struct phase *p)
{
    rd_kafka_message_t *m = topic_next(topic, POLL_TIMEOUT_MS);

    if (m == NULL) {
        return;
    }
    int64_t now_us = wr_clock_monotonic_us();
    int64_t then_us = sent_us(m, p->number);
    if (then_us >= 0 && p->received < p->expected) {
        p->latencies_us[p->received++] = now_us - then_us;
    }
    rd_kafka_message_destroy(m);
}

static int compare_int64(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static double percentile_ms(const struct phase *p, double share)
{
    size_t index = (size_t)(share * (double)p->received);

    return (double)p->latencies_us[index < p->received ? index : p->received - 1] / 1e3;
}

static void print_phase(struct phase *p, double elapsed_s)
{
    qsort(p->latencies_us, p->received, sizeof(*p->latencies_us), compare_int64);
    (void)printf("rate=%lld achieved=%.0f p50_ms=%.2f p90_ms=%.2f p99_ms=%.2f p999_ms=%.2f "
                 "max_ms=%.2f\n",
                 (long long)p->rate, (double)p->received / elapsed_s, percentile_ms(p, 0.50),
                 percentile_ms(p, 0.90), percentile_ms(p, 0.99), percentile_ms(p, 0.999),
                 percentile_ms(p, 1.0));
    (void)fflush(stdout);
}

static enum wr_status start_writers(struct writer *writers, size_t count, const struct phase *p,
                                    struct wr_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct writer *w = &writers[i];
        w->phase = p;
        w->failed = false;
        w->interval_ns = 1000000000 * (int64_t)count / p->rate;
        w->row_count = (int64_t)(p->expected / count);
        if (pthread_create(&w->thread, NULL, writer_run, w) != 0) {
            return wr_fail(err, WR_FATAL, "latency", "no thread for a writer");
        }
    }
    return WR_OK;
}

static enum wr_status join_writers(struct writer *writers, size_t count, struct wr_error *err)
{
    enum wr_status status = WR_OK;

    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(writers[i].thread, NULL);
        if (writers[i].failed) {
            status = wr_fail(err, WR_FATAL, "latency", "insert: %s",
                             PQerrorMessage(writers[i].connection));
        }
    }
    return status;
}

/* Writes and reads at the same time; every row written must come. */
static enum wr_status run_phase(struct topic *topic, struct writer *writers, struct phase *p,
                                struct wr_error *err)
{
    size_t count = (size_t)((p->rate + WRITER_RATE_MAX - 1) / WRITER_RATE_MAX);
    int64_t start_us = wr_clock_monotonic_us();
    int64_t deadline_us = start_us + p->seconds * 1000000 + STRAGGLER_TIMEOUT_US;

    p->received = 0;
    p->expected = (size_t)(p->rate * p->seconds) / count * count;
    p->latencies_us = calloc(p->expected, sizeof(*p->latencies_us));
    if (p->latencies_us == NULL) {
        return wr_fail(err, WR_FATAL, "latency", "no memory for %zu times", p->expected);
    }
    enum wr_status status = start_writers(writers, count, p, err);
    while (status == WR_OK && p->received < p->expected && wr_clock_monotonic_us() < deadline_us) {
        take_next(topic, p);
    }
    double elapsed_s = (double)(wr_clock_monotonic_us() - start_us) / 1e6;
    if (status == WR_OK) {
        status = join_writers(writers, count, err);
    }
    if (status == WR_OK && p->received < p->expected) {
        status = wr_fail(err, WR_FATAL, "latency", "%zu of %zu rows came in time", p->received,
                         p->expected);
    }
    if (status == WR_OK && p->number > 0) {
        print_phase(p, elapsed_s);
    }
    free(p->latencies_us);
    return status;
}

/* Inserts a row now and then until the first one arrives: the relay may still be starting. */
static enum wr_status wait_for_relay(struct topic *topic, PGconn *connection, struct wr_error *err)
{
    int64_t latency_us = 0;
    struct phase greeting = {.number = -1, .expected = 1, .latencies_us = &latency_us};
    int64_t deadline_us = wr_clock_monotonic_us() + START_TIMEOUT_US;

    while (greeting.received == 0) {
        if (wr_clock_monotonic_us() > deadline_us) {
            return wr_fail(err, WR_FATAL, "latency", "nothing arrives in %s", topic->name);
        }
        if (!insert_row(connection, greeting.number)) {
            return wr_fail(err, WR_FATAL, "latency", "insert: %s", PQerrorMessage(connection));
        }
        take_next(topic, &greeting);
    }
    return WR_OK;
}

static enum wr_status probe(const struct options *o, struct topic *topic, struct writer *writers,
                            struct wr_error *err)
{
    struct phase warm_up = {
        .number = 0, .rate = o->rates[o->rate_count - 1], .seconds = o->warm_up_s};
    enum wr_status status = topic_create(topic, err);

    if (status == WR_OK) {
        status = topic_seek(topic, 0, err);
    }
    for (size_t i = 0; status == WR_OK && i < WRITER_COUNT_MAX; i++) {
        status = writer_open(&writers[i], o->conninfo, err);
    }
    if (status == WR_OK) {
        status = wait_for_relay(topic, writers[0].connection, err);
    }
    if (status == WR_OK && o->warm_up_s > 0) {
        status = run_phase(topic, writers, &warm_up, err);
    }
    for (size_t i = 0; status == WR_OK && i < o->rate_count; i++) {
        struct phase p = {.number = (int)i + 1, .rate = o->rates[i], .seconds = o->seconds};
        status = run_phase(topic, writers, &p, err);
    }
    topic_delete(topic);
    return status;
}

static bool parse_options(struct options *o, int argc, char **argv)
{
    static const struct option names[] = {
        {"conninfo", required_argument, NULL, 'c'}, {"bootstrap", required_argument, NULL, 'b'},
        {"topic", required_argument, NULL, 't'},    {"seconds", required_argument, NULL, 's'},
        {"warm-up", required_argument, NULL, 'w'},  {NULL, 0, NULL, 0},
    };
    int name = 0;

    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (name) {
        case 'c':
            o->conninfo = optarg;
            break;
        case 'b':
            o->bootstrap = optarg;
            break;
        case 't':
            o->topic = optarg;
            break;
        case 's':
            o->seconds = strtoll(optarg, NULL, 10);
            break;
        case 'w':
            o->warm_up_s = strtoll(optarg, NULL, 10);
            break;
        default:
            return false;
        }
    }
    for (int i = optind; i < argc && o->rate_count < RATE_COUNT_MAX; i++) {
        int64_t rate = strtoll(argv[i], NULL, 10);
        if (rate <= 0 || rate > (int64_t)WRITER_COUNT_MAX * WRITER_RATE_MAX) {
            return false;
        }
        o->rates[o->rate_count++] = rate;
    }
    return o->conninfo != NULL && o->bootstrap != NULL && o->topic != NULL && o->seconds > 0 &&
           o->rate_count > 0;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct wr_error err = {0};
    struct writer writers[WRITER_COUNT_MAX] = {0};
    struct topic topic = {0};

    if (!parse_options(&options, argc, argv)) {
        (void)fprintf(stderr,
                      "usage: bench_latency --conninfo CONNINFO --bootstrap SERVERS --topic "
                      "NAME --seconds S [--warm-up S] ROWS_PER_SECOND…\n");
        return 2;
    }
    enum wr_status status = topic_open(&topic, options.bootstrap, options.topic, &err);
    if (status == WR_OK) {
        status = probe(&options, &topic, writers, &err);
    }
    topic_close(&topic);
    for (size_t i = 0; i < WRITER_COUNT_MAX; i++) {
        PQfinish(writers[i].connection);
    }
    if (status != WR_OK) {
        (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
        return 1;
    }
    return 0;
}
