/*
 * bench/measure.c - runs one command and says how fast it filled a topic, and at what cost.
 *
 * The times of the first and the last record are the broker's own times of appending, so no
 * observer has to be faster than what it observes. CPU time and memory are sampled from outside:
 * the same for C and Java. What a run must be is checked too: fewer records than rows is a failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "result.h"
#include "topic.h"

enum {
    SAMPLE_INTERVAL_NS = 20000000,
    SAMPLE_COUNT_MAX = 1 << 17, /* 43 minutes */
    COUNT_INTERVAL_US = 100000,
    STOP_TIMEOUT_US = 30000000,
    EXEC_FAILED = 127,
};

struct sample {
    int64_t time_us;
    int64_t cpu_us;
    int64_t rss_bytes;
};

struct options {
    const char *bootstrap;
    const char *topic;
    const char *log_path; /* the command's standard output and error */
    const char *rss_path; /* NULL, or where the memory samples go */
    int64_t row_count;    /* 0: nothing is counted */
    int64_t timeout_s;    /* after which the run has failed */
    int64_t idle_s;       /* 0, or how long it runs for before its memory is read */
    bool stops_by_itself; /* else it gets SIGTERM once the rows are there */
    char **command;
};

struct run {
    const struct options *options;
    struct topic topic;
    pid_t pid;
    clockid_t cpu_clock; /* of all its threads, also of those that ended */
    struct sample *samples;
    size_t sample_count;
    struct result result;
};

static int64_t now_us(void)
{
    return wr_clock_realtime_ns() / 1000;
}

static enum wr_status start_command(struct run *run, struct wr_error *err)
{
    run->result.start_us = now_us();
    run->pid = fork();
    if (run->pid < 0) {
        return wr_fail(err, WR_FATAL, "measure", "fork: %s", strerror(errno));
    }
    if (run->pid > 0) {
        (void)clock_getcpuclockid(run->pid, &run->cpu_clock);
        return WR_OK;
    }
    /* Whoever kills the observer must not leave a relay behind. */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    int log = open(run->options->log_path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (log >= 0) {
        (void)dup2(log, STDOUT_FILENO);
        (void)dup2(log, STDERR_FILENO);
    }
    (void)execvp(run->options->command[0], run->options->command);
    _exit(EXEC_FAILED);
}

static void take_sample(struct run *run)
{
    struct timespec cpu = {0};
    int64_t peak = process_rss_peak_bytes(run->pid);

    if (run->sample_count == SAMPLE_COUNT_MAX || clock_gettime(run->cpu_clock, &cpu) != 0) {
        return;
    }
    run->samples[run->sample_count++] = (struct sample){
        .time_us = now_us(),
        .cpu_us = (int64_t)cpu.tv_sec * 1000000 + cpu.tv_nsec / 1000,
        .rss_bytes = process_rss_bytes(run->pid),
    };
    if (peak > run->result.rss_peak_bytes) {
        run->result.rss_peak_bytes = peak;
    }
}

/* CPU time at a moment between two samples, taken as even there. */
static int64_t cpu_at(const struct run *run, int64_t time_us)
{
    const struct sample *before = &run->samples[0];

    for (size_t i = 0; i < run->sample_count; i++) {
        const struct sample *after = &run->samples[i];
        if (after->time_us >= time_us) {
            int64_t span = after->time_us - before->time_us;
            return span > 0 ? before->cpu_us + (after->cpu_us - before->cpu_us) *
                                                   (time_us - before->time_us) / span
                            : after->cpu_us;
        }
        before = after;
    }
    return before->cpu_us;
}

/* Asks it to stop when its work is done; true once that was asked. */
static bool is_complete(struct run *run)
{
    const struct options *o = run->options;

    if (o->idle_s > 0) {
        return now_us() - run->result.start_us > o->idle_s * 1000000;
    }
    return !o->stops_by_itself && topic_count(&run->topic) >= o->row_count;
}

/* Samples until the command has ended, by itself or because its rows are there. */
static enum wr_status watch(struct run *run, struct wr_error *err)
{
    const struct timespec interval = {.tv_nsec = SAMPLE_INTERVAL_NS};
    int64_t deadline_us = run->result.start_us + run->options->timeout_s * 1000000;
    int64_t count_due_us = 0;
    bool stopping = false;
    int state = 0;

    while (waitpid(run->pid, &state, WNOHANG) == 0) {
        take_sample(run);
        if (!stopping && now_us() >= count_due_us) {
            count_due_us = now_us() + COUNT_INTERVAL_US;
            stopping = is_complete(run);
            if (stopping) {
                (void)kill(run->pid, SIGTERM);
                deadline_us = now_us() + STOP_TIMEOUT_US;
            }
        }
        if (now_us() > deadline_us) {
            (void)kill(run->pid, SIGKILL);
            (void)waitpid(run->pid, &state, 0);
            return stopping ? WR_OK
                            : wr_fail(err, WR_FATAL, "measure", "not done after %lld s, see %s",
                                      (long long)run->options->timeout_s, run->options->log_path);
        }
        (void)nanosleep(&interval, NULL);
    }
    if (!stopping && (!WIFEXITED(state) || WEXITSTATUS(state) != 0)) {
        return wr_fail(err, WR_FATAL, "measure", "%s ended with %s %d, see %s",
                       run->options->command[0], WIFEXITED(state) ? "exit code" : "signal",
                       WIFEXITED(state) ? WEXITSTATUS(state) : WTERMSIG(state),
                       run->options->log_path);
    }
    return WR_OK;
}

static enum wr_status evaluate(struct run *run, struct wr_error *err)
{
    struct result *r = &run->result;
    int64_t count = topic_count(&run->topic);
    int64_t first_ms = 0;
    int64_t last_ms = 0;

    if (count < run->options->row_count) {
        return wr_fail(err, WR_FATAL, "measure", "%lld of %lld rows arrived in %s",
                       (long long)count, (long long)run->options->row_count, run->topic.name);
    }
    enum wr_status status = topic_append_time_ms(&run->topic, 0, &first_ms, err);
    if (status == WR_OK) {
        status = topic_append_time_ms(&run->topic, count - 1, &last_ms, err);
    }
    r->row_count = count;
    r->first_us = first_ms * 1000;
    r->last_us = last_ms * 1000;
    r->stream_cpu_us = cpu_at(run, r->last_us) - cpu_at(run, r->first_us);
    r->total_cpu_us = cpu_at(run, r->last_us);
    return status;
}

/* Seconds since the start, megabytes: one line a sample. */
static void write_rss(const struct run *run)
{
    FILE *file = fopen(run->options->rss_path, "we");

    for (size_t i = 0; file != NULL && i < run->sample_count; i++) {
        (void)fprintf(file, "%.2f %.1f\n",
                      (double)(run->samples[i].time_us - run->result.start_us) / 1e6,
                      (double)run->samples[i].rss_bytes / 1e6);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

static enum wr_status measure_topic(struct run *run, struct wr_error *err)
{
    enum wr_status status = topic_create(&run->topic, err);

    if (status == WR_OK) {
        status = start_command(run, err);
    }
    if (status == WR_OK) {
        status = watch(run, err);
    }
    if (status == WR_OK) {
        status = evaluate(run, err);
    }
    if (status == WR_OK) {
        result_print(&run->result);
    }
    topic_delete(&run->topic);
    return status;
}

static enum wr_status measure_idle(struct run *run, struct wr_error *err)
{
    enum wr_status status = start_command(run, err);

    if (status == WR_OK) {
        status = watch(run, err);
    }
    if (status == WR_OK && run->sample_count == 0) {
        status = wr_fail(err, WR_FATAL, "measure", "gone before the first sample");
    }
    if (status == WR_OK) {
        int64_t asked_us = run->result.start_us + run->options->idle_s * 1000000;
        const struct sample *last = &run->samples[0];
        for (size_t i = 0; i < run->sample_count && run->samples[i].time_us < asked_us; i++) {
            last = &run->samples[i];
        }
        (void)printf("rss_idle_mb=%.1f cpu_idle_s=%.2f\n", (double)last->rss_bytes / 1e6,
                     (double)last->cpu_us / 1e6);
    }
    return status;
}

static int usage(void)
{
    (void)fprintf(stderr,
                  "usage: bench_measure --log FILE --timeout S (--idle S | --bootstrap SERVERS "
                  "--topic NAME --rows N [--until-exit])\n"
                  "                     [--rss FILE] -- COMMAND…\n");
    return 2;
}

static bool parse_options(struct options *o, int argc, char **argv)
{
    static const struct option names[] = {
        {"bootstrap", required_argument, NULL, 'b'},
        {"topic", required_argument, NULL, 't'},
        {"rows", required_argument, NULL, 'n'},
        {"log", required_argument, NULL, 'l'},
        {"rss", required_argument, NULL, 'r'},
        {"timeout", required_argument, NULL, 'w'},
        {"idle", required_argument, NULL, 'i'},
        {"until-exit", no_argument, NULL, 'e'},
        {NULL, 0, NULL, 0},
    };
    int name = 0;

    while ((name = getopt_long(argc, argv, "+", names, NULL)) != -1) {
        switch (name) {
        case 'b':
            o->bootstrap = optarg;
            break;
        case 't':
            o->topic = optarg;
            break;
        case 'n':
            o->row_count = strtoll(optarg, NULL, 10);
            break;
        case 'l':
            o->log_path = optarg;
            break;
        case 'r':
            o->rss_path = optarg;
            break;
        case 'w':
            o->timeout_s = strtoll(optarg, NULL, 10);
            break;
        case 'i':
            o->idle_s = strtoll(optarg, NULL, 10);
            break;
        case 'e':
            o->stops_by_itself = true;
            break;
        default:
            return false;
        }
    }
    o->command = argv + optind;
    bool has_topic = o->bootstrap != NULL && o->topic != NULL && o->row_count > 0;
    return optind < argc && o->log_path != NULL && o->timeout_s > 0 && (o->idle_s > 0 || has_topic);
}

static enum wr_status measure(struct run *run, struct wr_error *err)
{
    const struct options *o = run->options;

    if (o->idle_s > 0) {
        return measure_idle(run, err);
    }
    enum wr_status status = topic_open(&run->topic, o->bootstrap, o->topic, err);
    if (status == WR_OK) {
        status = measure_topic(run, err);
    }
    topic_close(&run->topic);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct wr_error err = {0};
    struct run run = {.options = &options};

    if (!parse_options(&options, argc, argv)) {
        return usage();
    }
    run.samples = calloc(SAMPLE_COUNT_MAX, sizeof(*run.samples));
    if (run.samples == NULL) {
        abort();
    }
    enum wr_status status = measure(&run, &err);
    if (options.rss_path != NULL) {
        write_rss(&run);
    }
    free(run.samples);
    if (status != WR_OK) {
        (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
        return 1;
    }
    return 0;
}
